"""R-precision: precision at R, the number of the query's relevant documents, where it is recall as well.

C. Buckley and E. Voorhees, "Retrieval System Evaluation", in TREC: Experiment and Evaluation in Information Retrieval,
2005. A list shorter than R is not complete: the denominator stays R.
"""

from fractions import Fraction

from rankwork.measures.evaluating import by_relevance
from rankwork.measures.hits import total_of
from rankwork.measures.names import Definition, relevance_threshold, resolve_relevance
from rankwork.measures.precision import moments, score

DEFINITION = Definition(
    name="Rprec",
    aliases=("RPrec", "rprec", "R-precision", "R-Precision", "R-Prec"),
    parameters={"rel": relevance_threshold},
    cutoff="none",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=total_of,
    of_hits=lambda measure, hits, k, total: Fraction(hits, total),
)
