"""What a gate costs, beside scipy's permutation test for one measure on all queries, both in one run."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np

from rankwork.decision.gate import gate
from rankwork.decision.outcomes import Column, Outcomes
from rankwork.decision.policy import Policy, Rule
from rankwork.trace import Case


@dataclass(frozen=True)
class GateTimes:
    """CPU seconds, the least of `repeats`: a whole gate over all queries and every slice, and scipy's test alone."""

    queries: int
    slices: int
    resamples: int
    gate_s: float
    scipy_s: float
    repeats: int

    @property
    def ratio(self) -> float:
        """The gate's time over scipy's."""
        return self.gate_s / self.scipy_s


def measure_gate(
    *,
    queries: int = 2742,
    slices: int = 10,
    resamples: int = 10_000,
    repeats: int = 3,
    ties: bool = False,
    seed: int = 0,
) -> GateTimes:
    """Time a gate on made-up differences of nDCG@10, a fifth of them 0, against `scipy.stats.permutation_test`.

    `ties` gives every tenth query a range, so that each verdict is checked at both ends. Times are processor seconds,
    the least of `repeats`.

    >>> found = measure_gate(queries=60, slices=2, resamples=1000, repeats=1)
    >>> (found.queries, found.slices), found.gate_s > 0
    ((60, 2), True)
    """
    from scipy.stats import permutation_test

    policy, baseline, candidate, cases = _input(queries, slices, resamples, ties, seed)
    difference = candidate.columns["nDCG@10"].value - baseline.columns["nDCG@10"].value

    def ours() -> object:
        return gate(policy, baseline, candidate, cases=cases)

    def scipys() -> object:
        return permutation_test(
            (difference,),
            lambda x, axis: np.mean(x, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=resamples,
            batch=1000,
            rng=np.random.default_rng(seed),
        )

    times = [(_seconds(ours), _seconds(scipys)) for _ in range(repeats)]
    gate_s, scipy_s = (min(column) for column in zip(*times, strict=True))
    return GateTimes(queries, slices, resamples, gate_s, scipy_s, repeats)


def _seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


def _input(
    queries: int, slices: int, resamples: int, ties: bool, seed: int
) -> tuple[Policy, Outcomes, Outcomes, list[Case]]:
    draw = np.random.default_rng(seed)
    names = tuple(f"q{number}" for number in range(queries))
    before = draw.random(queries)
    after = np.where(draw.random(queries) < 0.2, before, draw.random(queries))
    width = np.where(ties & (np.arange(queries) % 10 == 0), 0.05, 0.0)
    systems = [
        Outcomes(name, names, {"nDCG@10": Column(values, np.clip(values - width, 0, 1), np.clip(values + width, 0, 1))})
        for name, values in (("baseline", before), ("candidate", after))
    ]
    labels = [f"slice {number}" for number in range(slices)]
    cases = [Case(id=name, query=name, slices=(labels[place % slices],)) for place, name in enumerate(names)]
    rule = Rule(measure="nDCG@10", margin=0.01, slices=("all", *labels))
    policy = Policy(name="speed", alpha=0.05, minimum_clusters=20, rules=(rule,), resamples=resamples, seed=seed)
    return policy, systems[0], systems[1], cases
