"""How far two judges agree, and how much of that is more than chance.

A judge is an instrument: high agreement on items of which nearly all have one grade says little, which is what the
coefficients correct for. Where all verdicts are the same nothing can be corrected, and they are undefined.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwork.diagnosis.bounded_shares import BoundedShare
from rankwork.diagnosis.ratings import Paired, Ratings, paired
from rankwork.errors import InputError
from rankwork.inputs.verdicts import JudgeKey, Scale

if TYPE_CHECKING:
    import pandas as pd

Weights = Literal["linear", "quadratic"] | None
ONE_VALUE = "all verdicts have one value: chance cannot be told from agreement"
NO_ITEMS = "no item has a verdict of both"
NOT_ORDERED = "the scale has no order"


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement: 1 is perfect, 0 what chance gives; None where it is undefined, with the reason."""

    value: float | None
    reason: str | None = None

    def __str__(self) -> str:
        return f"undefined: {self.reason}" if self.value is None else f"{self.value:.4f}"


@dataclass(frozen=True)
class Agreement:
    """Two judges' agreement on the items that both were asked about.

    `matrix[i][j]` counts items to which the reference gave the scale's value i and the judge value j. `agreed` is the
    share of equal verdicts, with bounds where verdicts failed; the coefficients are over the `items` that both know.
    `alone` counts the items that only one of the two was asked about: they are left out.
    """

    judge: JudgeKey
    reference: JudgeKey
    scale: Scale
    items: int
    failed: int
    alone: int
    matrix: tuple[tuple[int, ...], ...]
    agreed: BoundedShare
    kappa: Coefficient
    linear_kappa: Coefficient
    quadratic_kappa: Coefficient
    alpha: Coefficient

    @property
    def within_one(self) -> float | None:
        """The share of known items whose verdicts differ by at most one step; None without one or without an order."""
        counts = np.array(self.matrix)
        if not self.items or self.scale.level == "nominal":
            return None
        steps = np.abs(np.subtract.outer(np.arange(len(counts)), np.arange(len(counts))))
        return float(counts[steps <= 1].sum() / counts.sum())

    def to_pandas(self) -> "pd.DataFrame":
        """The confusion matrix: a row for each value of the reference, a column for each of the judge."""
        import pandas as pd

        rows = pd.Index(self.scale.values, name="reference")
        return pd.DataFrame(self.matrix, index=rows, columns=pd.Index(self.scale.values, name="judge"))

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        names = ("kappa", "linear_kappa", "quadratic_kappa", "alpha")
        return {
            "judge": vars(self.judge),
            "reference": vars(self.reference),
            "scale": list(self.scale.values),
            "level": self.scale.level,
            "items": self.items,
            "failed": self.failed,
            "alone": self.alone,
            "matrix": [list(row) for row in self.matrix],
            "agreed": self.agreed.to_json(),
            "within_one": self.within_one,
            **{name: vars(getattr(self, name)) for name in names},
        }

    def __str__(self) -> str:
        rows = [" ".join(f"{count:>7}" for count in row) for row in self.matrix]
        names = [str(value) for value in self.scale.values]
        width = max(map(len, names))
        lines = [
            f"judge {self.judge}, reference {self.reference}",
            f"{self.items} items that both know, {self.failed} failed, {self.alone} that only one was asked about",
            f"agreed: {self.agreed}",
        ]
        for name in ("kappa", "linear_kappa", "quadratic_kappa"):
            lines.append(f"Cohen's {name.replace('_', ' ')}: {getattr(self, name)}")
        lines.append(f"Krippendorff's alpha ({self.scale.level}): {self.alpha}")
        lines.append(f"{'':{width}}  {' '.join(f'{name:>7}' for name in names)}  <- judge")
        lines += [f"{name:>{width}}  {row}" for name, row in zip(names, rows, strict=True)]
        return "\n".join(lines)


def agreement(judge: Ratings, reference: Ratings, *, across: Sequence[str] = ()) -> Agreement:
    """How far a judge agrees with a reference; `across` names the parts of the key in which the two may differ.

    Cohen's kappa, unweighted and with linear and quadratic weights of the steps between values (scikit-learn), and
    Krippendorff's alpha at the scale's level (krippendorff). Errors as `paired`.

    >>> from rankwork.inputs.verdicts import Verdict
    >>> grades = {"person": (0, 0, 1, 1), "m": (0, 0, 1, 0)}
    >>> scale = Scale((0, 1))
    >>> person, model = (
    ...     Ratings.of([Verdict(item=str(n), value=grade, model=name) for n, grade in enumerate(given)], scale)
    ...     for name, given in grades.items()
    ... )
    >>> found = agreement(model, person, across=("model",))
    >>> found.matrix, found.agreed.value, found.kappa.value
    (((2, 0), (1, 1)), 0.75, 0.5)
    """
    return agreement_of(paired(judge, reference, across=across))


def agreement_of(pair: Paired) -> Agreement:
    """The agreement of two judges, the first of them the judge and the second the reference."""
    scale, (first, second) = pair.first.scale, pair.places
    equal = int((first == second).sum())
    return Agreement(
        judge=pair.first.key,
        reference=pair.second.key,
        scale=scale,
        items=len(pair.items),
        failed=len(pair.failed),
        alone=len(pair.alone),
        matrix=tuple(map(tuple, confusion(first, second, len(scale.values)).tolist())),
        agreed=BoundedShare(equal, len(first) - equal, len(pair.failed), why=NO_ITEMS),
        kappa=kappa(first, second, scale),
        linear_kappa=kappa(first, second, scale, weights="linear"),
        quadratic_kappa=kappa(first, second, scale, weights="quadratic"),
        alpha=alpha([first.tolist(), second.tolist()], scale),
    )


def confusion(judge: NDArray[np.int64], reference: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The counts int64[size, size] of pairs of places: a row for each of the reference, a column for the judge."""
    from sklearn.metrics import confusion_matrix

    if not len(judge):
        return np.zeros((size, size), np.int64)
    return np.asarray(confusion_matrix(reference, judge, labels=range(size)), np.int64)


def kappa(first: NDArray[np.int64], second: NDArray[np.int64], scale: Scale, *, weights: Weights = None) -> Coefficient:
    """Cohen's kappa of two columns of places; undefined without an item, and where all verdicts have one value.

    J. Cohen, "A coefficient of agreement for nominal scales", 1960; weighted: "Weighted kappa", 1968. The weights count
    steps of the scale, whatever its numbers are.
    """
    from sklearn.metrics import cohen_kappa_score

    if not len(first):
        return Coefficient(None, NO_ITEMS)
    if weights and scale.level == "nominal":
        return Coefficient(None, NOT_ORDERED)
    if len({*first.tolist(), *second.tolist()}) == 1:
        return Coefficient(None, ONE_VALUE)
    return Coefficient(float(cohen_kappa_score(first, second, labels=range(len(scale.values)), weights=weights)))


def alpha(ratings: Sequence[Sequence[int | None]], scale: Scale) -> Coefficient:
    """Krippendorff's alpha of any number of judges, a row of places each, None where one has no verdict.

    Undefined where no item has two verdicts, and where all of those have one value. K. Krippendorff, "Content
    Analysis", 2004. InputError for rows of different length.

    >>> print(alpha([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, None, 1]], Scale((0, 1), "nominal")))
    0.6667
    """
    import krippendorff

    if len({len(row) for row in ratings}) > 1:
        raise InputError(f"judges have rows of {', '.join(str(len(row)) for row in ratings)} items: one place an item")
    table = np.array([[np.nan if place is None else place for place in row] for row in ratings], np.float64)
    shared = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    found = np.unique(shared[~np.isnan(shared)])
    if not len(found):
        return Coefficient(None, "no item has two verdicts")
    if len(found) == 1:
        return Coefficient(None, ONE_VALUE)
    domain = np.array(scale.values if scale.level == "interval" else range(len(scale.values)), np.float64)
    at = np.where(np.isnan(shared), np.nan, domain[np.nan_to_num(shared).astype(np.int64)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = krippendorff.alpha(reliability_data=at, value_domain=domain, level_of_measurement=scale.level)
    return Coefficient(float(value))
