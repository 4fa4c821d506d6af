"""The diagnosis matrix: for one piece of gold evidence the first row that holds, from the corpus to the answer.

What the lists show decides. A drop reason that was written down speaks where the lists are silent: so a trace without
reasons gets the same row, or `unknown`, never another one. In the order of the matrix:

- snapshots differ: the comparison is invalid, and nothing is diagnosed (`comparability`);
- `not_in_corpus`: parsing, revision or time; `id_unmapped`: its source was cut anew;
- `filtered_rightly`: no defect; `filtered_wrongly`: the access rule;
- `in_no_route`: query, chunk, embedding or filter; `in_one_route_only`: the other route;
- `lost_in_fusion`, `lost_in_rerank`, `lost_in_context`;
- `generation`, `citation_mapping`, `source_false`, `over_refusal`, `false_answer`: in the context, and then;
- `unauthorised`: stop the release; `reached`: nothing is wrong with it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rankwork.diagnosis.facts import BELOW, TIED, Facts, Standing
from rankwork.diagnosis.sentences import sentence

UNKNOWN = "unknown"
LOOK_AT = {
    "snapshots_differ": "the experiment: baseline and candidate did not see the same data",
    "not_in_corpus": "parsing, revision or time",
    "id_unmapped": "the mapping of IDs: the source was cut anew",
    "filtered_rightly": "nothing: the filter did what it should",
    "filtered_wrongly": "the access rule",
    "in_no_route": "query, chunk, embedding or filter",
    "in_one_route_only": "the other route",
    "lost_in_fusion": "depth, weights, IDs, deduplication, or a tie at the cut",
    "lost_in_rerank": "window, cut, timeout or model",
    "lost_in_context": "deduplication, parents, quota or token budget",
    "generation": "the generator: its evidence was there",
    "citation_mapping": "the mapping from claims to sources",
    "source_false": "the source",
    "over_refusal": "the refusal rule",
    "false_answer": "the refusal rule: the evidence was not there",
    "unauthorised": "access control: stop the release",
    "reached": "nothing",
    "unknown": "the trace: it does not show what happened",
}
ROWS = tuple(LOOK_AT)
CAUSES_OF_RETRIEVAL = ("not_retrieved", "below_route_k", "tie_cut", "route_timeout")
_FROM_THE_LISTS = {TIED: "tie_cut", BELOW: "below_route_k"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The row of the matrix that holds for one piece of evidence, and its cause within the row.

    The cause is a drop reason of `rankwork.trace`, one of a few further words, or `unknown`.
    """

    facts: Facts
    row: str
    cause: str

    @property
    def case(self) -> str:
        """The case."""
        return self.facts.case

    @property
    def evidence(self) -> str:
        """The ID of the gold evidence."""
        return self.facts.evidence

    @property
    def look_at(self) -> str:
        """What to look at, as the matrix says it."""
        return LOOK_AT[self.row]

    @property
    def sentence(self) -> str:
        """What happened, with the numbers of the trace, so that it can be checked there."""
        return sentence(self.facts, self.row, self.cause)


def diagnose(facts: Facts) -> Diagnosis:
    r"""The first row of the matrix that holds.

    >>> dense = Standing("retrieve:dense", "retrieve", rank=31, requested=50, returned=50)
    >>> bm25 = Standing("retrieve:bm25", "retrieve", requested=50, returned=50)
    >>> fused = Standing("fuse:rrf", "fuse", rank=43, requested=100, returned=77)
    >>> rerank = Standing("rerank", "rerank", requested=10, returned=10, window=40)
    >>> found = diagnose(Facts("q", "numpy.linalg.norm#2", (dense, bm25, fused, rerank)))
    >>> print(found.row, found.sentence, sep="\n")
    in_one_route_only
    gold numpy.linalg.norm#2: 31st of dense top 50, absent from bm25, 43rd after RRF, outside the rerank window of 40
    """
    for row in _MATRIX:
        found = row(facts)
        if found is not None:
            return Diagnosis(facts, *found)
    return Diagnosis(facts, "reached", "none") if facts.standings else Diagnosis(facts, UNKNOWN, UNKNOWN)


Found = tuple[str, str] | None


def _written(facts: Facts) -> set[str]:
    """The reasons that the routes wrote down, where their lists do not show that it was the rank."""
    return {s.reason for s in facts.routes if s.reason not in (None, UNKNOWN) and (s.denied or not _by_rank(s))}


def _by_rank(standing: Standing) -> bool:
    return standing.dropped and bool(standing.cut_by_rank)


def _not_in_corpus(facts: Facts) -> Found:
    if facts.lost_at != "retrieve":
        return None
    place = facts.place
    if place is None:
        written = [r for r in ("not_in_corpus", "superseded_revision", "time_filtered") if r in _written(facts)]
        return ("not_in_corpus", written[0]) if written else None
    if place.present:
        return ("not_in_corpus", "time_filtered") if place.holds is False else None
    if place.other_ids:
        return None
    return ("not_in_corpus", "superseded_revision" if place.other_revisions else "not_in_corpus")


def _id_unmapped(facts: Facts) -> Found:
    if facts.lost_at != "retrieve":
        return None
    if facts.place is not None:
        return None if facts.place.present else ("id_unmapped", "id_unmapped")
    return ("id_unmapped", "id_unmapped") if "id_unmapped" in _written(facts) else None


def _filtered_rightly(facts: Facts) -> Found:
    if facts.lost_at != "retrieve":
        return None
    if facts.place is not None and facts.place.open is not None:
        return None if facts.place.open else ("filtered_rightly", "acl_filtered")
    return ("filtered_rightly", "acl_filtered") if "acl_filtered" in _written(facts) else None


def _filtered_wrongly(facts: Facts) -> Found:
    if facts.lost_at != "retrieve":
        return None
    wrongly = ("filtered_wrongly", "acl_filtered_wrongly")
    if "acl_filtered_wrongly" in _written(facts):
        return wrongly
    denied = any(standing.denied for standing in facts.routes) or "acl_filtered" in _written(facts)
    if denied:  # what may be read was not: whether rightly, only the collection can say
        return wrongly if facts.place is not None and facts.place.open else (UNKNOWN, UNKNOWN)
    return None


def _in_no_route(facts: Facts) -> Found:
    if facts.lost_at != "retrieve":
        return None
    ranked = {_FROM_THE_LISTS[standing.side] for standing in facts.routes if _by_rank(standing)}
    for cause in ("tie_cut", "below_route_k"):
        if cause in ranked:
            return ("in_no_route", cause)
    written = sorted(_written(facts), key=lambda reason: reason not in CAUSES_OF_RETRIEVAL)
    dropped_in_silence = any(standing.dropped for standing in facts.routes)
    if not written and (facts.place is None or dropped_in_silence):
        return (UNKNOWN, UNKNOWN)  # without the collection, it may not even be there
    if any(standing.status in ("timeout", "error") for standing in facts.routes):
        return ("in_no_route", "route_timeout")
    return ("in_no_route", written[0] if written else "not_retrieved")


def _in_one_route_only(facts: Facts) -> Found:
    """Some routes did not return it, and its fused rank then was too low: for the fusion's cut or for the window."""
    missing = [standing for standing in facts.routes if standing.rank is None]
    if not missing or not _rank_decided(facts):
        return None
    ways = {_missed_by(standing) for standing in missing}
    for cause in ("id_unmapped", "route_timeout", "tie_cut", "below_route_k"):
        if cause in ways:
            return ("in_one_route_only", cause)
    return ("in_one_route_only", "not_retrieved")


def _missed_by(standing: Standing) -> str:
    if standing.other_ids:
        return "id_unmapped"
    if standing.status in ("timeout", "error"):
        return "route_timeout"
    return _FROM_THE_LISTS.get(standing.side, "not_retrieved") if standing.dropped else "not_retrieved"


def _rank_decided(facts: Facts) -> bool:
    """Whether its fused rank is what lost it."""
    fused, rerank = facts.of("fuse"), facts.of("rerank")
    if fused is None:
        return False
    if facts.lost_at == "fuse":
        written = fused.dropped and fused.cut_by_rank is None and fused.reason in ("fusion_cut", "tie_cut")
        return (bool(fused.cut_by_rank) or written) and _unread(facts, fused) is None
    return facts.lost_at == "rerank" and rerank is not None and _outside_window(facts, rerank)


def _lost_in_fusion(facts: Facts) -> Found:
    fused = facts.of("fuse")
    if facts.lost_at != "fuse" or fused is None:
        return None
    unread = _unread(facts, fused)
    if unread is not None:
        return ("lost_in_fusion", unread)
    if fused.cut_by_rank is None and fused.dropped and any(standing.rank is None for standing in facts.routes):
        return ("lost_in_fusion", fused.reason) if fused.reason not in (None, UNKNOWN) else (UNKNOWN, UNKNOWN)
    return ("lost_in_fusion", _by_lists(fused, "fusion_cut"))


def _unread(facts: Facts, fused: Standing) -> str | None:
    """Why the fusion did not look at it at all: beyond the depth that it reads, or in a route of no weight."""
    depth, weights = fused.parameters.get("depth"), fused.parameters.get("weights") or {}
    read = [s for s in facts.found_by if not isinstance(weights, dict) or weights.get(s.route, 1) != 0]
    if not read:
        return "fusion_weight"
    if isinstance(depth, int) and all((standing.rank or 0) > depth for standing in read):
        return "fusion_depth"
    return None


def _by_lists(standing: Standing, cut: str) -> str:
    """What the list shows, else what was written, else that nobody knows."""
    if standing.status in ("timeout", "error"):
        return {"fuse": "unknown", "rerank": "rerank_timeout"}.get(standing.kind, UNKNOWN)
    if standing.cut_by_rank:
        return "tie_cut" if standing.dropped and standing.side == TIED else cut
    return standing.reason or UNKNOWN


def _lost_in_rerank(facts: Facts) -> Found:
    rerank = facts.of("rerank")
    if facts.lost_at != "rerank" or rerank is None:
        return None
    if rerank.status in ("timeout", "error"):
        return ("lost_in_rerank", "rerank_timeout")
    if _outside_window(facts, rerank):
        return ("lost_in_rerank", "rerank_window")
    return ("lost_in_rerank", _by_lists(rerank, "rerank_cut"))


def _outside_window(facts: Facts, rerank: Standing) -> bool:
    before = facts.rank_before("rerank")
    return rerank.status not in ("timeout", "error") and (
        rerank.window is not None and before is not None and before > rerank.window
    )


def _lost_in_context(facts: Facts) -> Found:
    context = facts.of("context")
    if facts.lost_at == "prompt":
        return ("lost_in_context", "prompt")
    if facts.lost_at != "context" or context is None:
        return None
    if context.reason and context.reason != UNKNOWN:
        return ("lost_in_context", context.reason)
    return ("lost_in_context", _limit_reached(context))


def _limit_reached(context: Standing) -> str:
    """Without a reason: the source's quota, if it is the only limit that was set and it was used up."""
    quota, others = context.parameters.get("quota"), ("token_budget", "deduplicate", "near_duplicates", "parents")
    used_up = isinstance(quota, int) and context.source_kept is not None and context.source_kept >= quota
    alone = not any(context.parameters.get(name) for name in others)
    return "quota" if used_up and alone and not context.full else UNKNOWN


def _generation(facts: Facts) -> Found:
    answer = facts.answer
    unsupported = answer.supported is not None and answer.claims is not None and answer.supported < answer.claims
    return ("generation", "unsupported") if not answer.refused and unsupported else None


def _citation_mapping(facts: Facts) -> Found:
    return ("citation_mapping", "wrong_citation") if facts.answer.wrong_citations else None


def _source_false(facts: Facts) -> Found:
    answer = facts.answer
    supported = answer.claims and answer.supported == answer.claims
    return ("source_false", "false_source") if supported and answer.incorrect else None


def _over_refusal(facts: Facts) -> Found:
    answer = facts.answer
    refused = answer.refused and answer.expected == "answer"
    return ("over_refusal", "over_refusal") if refused and answer.covered else None


def _false_answer(facts: Facts) -> Found:
    answer = facts.answer
    answered = answer.refused is False
    uncovered = answer.covered is False or (answer.covered is None and answer.expected == "refuse")
    return ("false_answer", "false_answer") if answered and uncovered else None


def _unauthorised(facts: Facts) -> Found:
    return ("unauthorised", "unauthorised") if facts.answer.authorised is False else None


ANSWER_ROWS: tuple[Callable[[Facts], Found], ...] = (
    _generation, _citation_mapping, _source_false, _over_refusal, _false_answer, _unauthorised,
)  # fmt: skip
_MATRIX: tuple[Callable[[Facts], Found], ...] = (
    _not_in_corpus, _id_unmapped, _filtered_rightly, _filtered_wrongly, _in_no_route, _in_one_route_only,
    _lost_in_fusion, _lost_in_rerank, _lost_in_context, *ANSWER_ROWS,
)  # fmt: skip


def diagnose_answer(facts: Facts) -> Diagnosis | None:
    """The first row that holds for the answer of a whole case; None where nothing is wrong with it.

    A case without gold is diagnosed by this alone: there, an answer is false.
    """
    found = next((row for rule in ANSWER_ROWS if (row := rule(facts))), None)
    return Diagnosis(facts, *found) if found else None
