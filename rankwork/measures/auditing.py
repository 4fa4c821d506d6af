"""An audit: a run and its judgements give every measure's value under the contract, with its exact range.

>>> run = {"q": {"A": 9.0, "B": 8.0, "C": 8.0, "D": 8.0, "E": 7.0, "F": 6.0}}
>>> print(audit(run, {"q": {"A": 1, "B": 1, "D": 1}}, ["R@3"]))
protocol rankwork, order id_asc, scores float64
measure  resolved    queries  contract     min  expected     max     std
R@3      R(rel=1)@3        1    0.6667  0.6667    0.7778  1.0000  0.1571
R@3: the cut splits a tie group in 1 of 1 queries; 1 have a range, the widest .3333 (q).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.errors import ContractError, InputError
from rankwork.measures.distributions import distribution_of
from rankwork.measures.evaluating import evaluated
from rankwork.measures.joining import Joined
from rankwork.measures.means import Mean, Slices, Weights, mean_of, slices_of, weights_of
from rankwork.measures.names import Measure, definition_of, parse
from rankwork.measures.values import FIELDS, Bools, Setting, Values, by_protocol, examples
from rankwork.protocol import Protocol
from rankwork.rankings import Duplicates, Judgements, Negatives, Rankings, check_order

if TYPE_CHECKING:
    import pandas as pd

AUDIT_ORDERS = ("id_asc", "id_desc", "rank", "input", "inclusive")
_PARTS = ("above", "tied", "slots", "relevant_above", "relevant_tied", "retrieved", "returned")

Run = Any  # Rankings, a dict of dicts, a table, or a file's path: see rankwork.inputs.sources
Judged = Any  # Judgements, a dict of dicts, a table, or the path of a file or of a BEIR folder


def audit(
    run: Run,
    judgements: Judged,
    measures: Iterable[str | Measure] | str | Measure,
    *,
    protocol: str | Protocol = "rankwork",
    order: str | None = None,
    depth: int | None = None,
) -> "Audit":
    """Every measure for every judged query: contract, min, expected, max and std over all orders of equal scores.

    `run` and `judgements` are `Rankings` and `Judgements`, dicts of dicts, tables, or files: see
    `rankwork.inputs.sources`. `order` says how ties are ordered (`id_asc`, `id_desc`, `rank`, `input`, `inclusive`),
    None as the protocol does. `depth` declares that lists of that length were cut there: what the cut hides is then
    null, with its bounds.

    ContractError for an unknown measure, protocol, order or depth; InputError for a file that cannot be read, for what
    the protocol refuses, and where run and judgements have no query in common.

    >>> audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, ["R@1"]).to_json()["per_query"]["q"]["R@1"]
    {'contract': 1.0, 'min': 0.0, 'expected': 0.5, 'max': 1.0, 'std': 0.5, 'reason': None}
    """
    asked = parsed(measures)
    setting = setting_of(joined_run(run, judgements, protocol, order), protocol, order, depth)
    return Audit(setting, {name: _result(name, measure, setting) for name, measure in asked.items()})


def joined_run(run: Run, judgements: Judged, protocol: str | Protocol, order: str | None) -> Joined:
    """The run and the judgements, read as the protocol reads them, and joined. Errors as for `audit`."""
    conventions, chosen = conventions_of(protocol, order)
    return Joined.of(_rankings(run, conventions, chosen), _judgements(judgements, conventions))


def read_judged(judgements: Judged, protocol: str | Protocol) -> Judgements:
    """The judgements as the protocol reads them, to be used for several runs. Errors as for `audit`."""
    return _judgements(judgements, conventions_of(protocol, None)[0])


def read_ranked(run: Run, protocol: str | Protocol, order: str | None) -> Rankings:
    """The run as the protocol reads it, with its rank column where the order needs it. Errors as for `audit`."""
    return _rankings(run, *conventions_of(protocol, order))


def setting_of(joined: Joined, protocol: str | Protocol, order: str | None, depth: int | None) -> Setting:
    """What measures are evaluated on. Errors as for `audit`."""
    conventions, chosen = conventions_of(protocol, order)
    _check_depth(depth, joined)
    return Setting(joined, conventions, chosen, depth)


def conventions_of(protocol: str | Protocol, order: str | None) -> tuple[Protocol, str]:
    """The protocol by its name, and the order of ties: its own, or the one asked for. Errors as for `audit`."""
    conventions = Protocol.named(protocol) if isinstance(protocol, str) else protocol
    chosen = conventions.order if order is None else order
    check_order(chosen, AUDIT_ORDERS)
    return conventions, chosen


@dataclass(frozen=True, eq=False)
class Result:
    """One measure's values by query and their mean. `resolved` is the measure with every convention filled in."""

    name: str
    resolved: Measure
    values: Values
    mean: Mean

    @property
    def splits(self) -> Bools:
        """The averaged queries whose cut splits a tie group."""
        slots, tied = (self.values.details[part] for part in ("slots", "tied"))
        return np.asarray(self.values.averaged & (slots < tied))

    @property
    def widths(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Maximum minus minimum of each judged query (of a cut list: of the outer bounds); 0 where not averaged."""
        width = self.values.outer_max - self.values.outer_min
        return np.where(self.values.averaged, width, 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What `audit` found. `str()` is a table for the terminal, `to_pandas()` the means, `per_query` every query."""

    setting: Setting
    results: Mapping[str, Result]

    @property
    def order(self) -> str:
        """The order of ties that the contract column follows."""
        return self.setting.order

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries."""
        return self.setting.joined.judgements.queries

    @property
    def has_ranges(self) -> bool:
        """Whether the order of ties, or what a cut hides, moves any of the values that are averaged."""
        return any(result.widths.any() for result in self.results.values())

    @property
    def score_type(self) -> str:
        """The type in which scores were compared: narrow types tie more."""
        return self.setting.joined.run.scores.dtype.name

    def result(self, name: str) -> Result:
        """The result of a measure, by the name it was asked for. ContractError for any other."""
        if name not in self.results:
            raise ContractError(f"this audit has {', '.join(self.results)}, not {name!r}")
        return self.results[name]

    def reordered(self, order: str) -> "Audit":
        """The same audit with ties in another order; only the contract column differs. Errors as for `audit`."""
        setting = setting_of(self.setting.joined, self.setting.protocol, order, self.setting.depth)
        asked = {name: parse(name) for name in self.results}
        return self if order == self.order else Audit(setting, {n: _result(n, m, setting) for n, m in asked.items()})

    def of_run(self, run: Rankings) -> "Audit":
        """The same measures, judgements and conventions for other rankings. Errors as for `audit`."""
        judgements, protocol = self.setting.joined.judgements, self.setting.protocol
        return audit(run, judgements, list(self.results), protocol=protocol, order=self.order, depth=self.setting.depth)

    def mean(self, name: str, *, weights: Weights | None = None, among: Iterable[str] | None = None) -> Mean:
        """The mean of a measure: each query alike, or by `weights`, such as how often it is asked.

        It is that of all judged queries, or of those `among` them.
        `weights` gives a number for each judged query; other queries in it lower the coverage. ContractError for a
        judged query without a weight, a weight that is negative or not finite, and a query in `among` that is not
        judged.

        >>> found = audit({"a": {"x": 1.0}, "b": {"y": 1.0}}, {"a": {"x": 1}, "b": {"z": 1}}, ["R@1"])
        >>> found.mean("R@1").contract, found.mean("R@1", weights={"a": 3, "b": 1}).contract
        (0.5, 0.75)
        """
        inside = None if among is None else slices_of(self.queries, {"among": list(among)})["among"]
        weight, beyond = (None, 0.0) if weights is None else weights_of(self.queries, weights)
        return mean_of(self.result(name).values, weight, inside, beyond if among is None else 0.0)

    def by_slice(self, name: str, slices: Slices, *, weights: Weights | None = None) -> dict[str, Mean]:
        """The mean of a measure in each slice; `slices` is `{query: slice}`, or `{slice: queries}`, which may overlap.

        ContractError for a judged query without a slice, a slice that names one that is not judged, and as `mean`.
        """
        weight = None if weights is None else weights_of(self.queries, weights)[0]
        members = slices_of(self.queries, slices)
        return {label: mean_of(self.result(name).values, weight, inside) for label, inside in members.items()}

    def means(self, name: str, *, weights: Weights, slices: Slices) -> "pd.DataFrame":
        """The means of a measure, one row each: each query alike, by `weights`, and each slice alike.

        Errors as for `mean` and `by_slice`.

        >>> found = audit({"a": {"x": 1.0}, "b": {"y": 1.0}}, {"a": {"x": 1}, "b": {"z": 1}}, ["R@1"])
        >>> found.means("R@1", weights={"a": 3, "b": 1}, slices={"tail": ["b"]})["contract"].to_dict()
        {'each query alike': 0.5, 'by weight': 0.75, 'slice tail': 0.0}
        """
        import pandas as pd

        rows = {"each query alike": self.mean(name), "by weight": self.mean(name, weights=weights)}
        rows |= {f"slice {label}": mean for label, mean in self.by_slice(name, slices).items()}
        columns = ["queries", "contract", "min", "expected", "max", "coverage"]
        return pd.DataFrame({label: vars(mean) for label, mean in rows.items()}).T[columns].astype(float)

    def distribution(self, name: str, query: str) -> dict[Fraction, Fraction]:
        """The exact chance of each value of a measure for a query, all orders of equal scores being equally likely.

        For measures of the number of hits alone: P, R, Success, F, R-precision, judged. ContractError for another
        measure, for a query that is not judged or has no value, and where a cut list hides it.

        >>> from rankwork.inputs.toy import six
        >>> {str(value): str(chance) for value, chance in audit(*six(), ["R@3"]).distribution("R@3", "q").items()}
        {'2/3': '2/3', '1': '1/3'}
        """
        index = self.setting.joined.judgements.query_index
        if query not in index:
            raise ContractError(f"query {query!r} is not judged")
        result = self.result(name)
        return distribution_of(result.resolved, result.values, index[query])

    def to_pandas(self) -> "pd.DataFrame":
        """One row a measure: its mean and range, and in how many queries the cut splits a tie group."""
        import pandas as pd

        return pd.DataFrame([_summary(result) for result in self.results.values()])

    @property
    def per_query(self) -> "pd.DataFrame":
        """One row a judged query and measure: five numbers, the reason if one is missing, and what lies at the cut."""
        import pandas as pd

        return pd.concat([self._frame(result) for result in self.results.values()], ignore_index=True)

    def _frame(self, result: Result) -> "pd.DataFrame":
        import pandas as pd

        values = result.values
        numbers = {name: getattr(values, name) for name in (*FIELDS, "outer_min", "outer_max")}
        columns = {"reason": values.reason, "averaged": values.averaged, "relevant": values.relevant, **values.details}
        cut = {"splits": result.splits, "touches_end": _touches_end(result, self.setting)}
        return pd.DataFrame({"query": list(self.queries), "measure": result.name, **numbers, **columns, **cut})

    def to_json(self) -> dict[str, Any]:
        """The audit as JSON holds it: protocol, order, the means of each measure, and the values of each query.

        Unknown numbers are None, with the reason; a query that the protocol leaves out is None. The outer bounds of a
        cut list stand beside what it hides.
        """
        return {
            "protocol": {**self.setting.protocol.to_dict(), "scores": self.score_type, "depth": self.setting.depth},
            "order": self.order,
            "measures": {name: _mean_json(result) for name, result in self.results.items()},
            "per_query": self._queries_json(),
        }

    def _queries_json(self) -> dict[str, Any]:
        columns = {name: _query_json(result.values) for name, result in self.results.items()}
        return {
            query: {name: column[place] for name, column in columns.items()} for place, query in enumerate(self.queries)
        }

    @property
    def notes(self) -> list[str]:
        """What a reader must know besides the numbers, a sentence each."""
        return [*self.notes_on_input, *(note for name in self.results for note in self._notes_on(name))]

    @property
    def notes_on_input(self) -> list[str]:
        """Of the notes, those that are on the run and the judgements, whatever is measured."""
        return _notes_on_input(self.setting)

    def _notes_on(self, name: str) -> list[str]:
        result = self.results[name]
        notes = (_note_on_ties, _note_on_undefined, _note_on_end, _note_on_censored, _note_on_inclusive)
        return [f"{name}: {text}" for note in notes if (text := note(result, self))]

    def __str__(self) -> str:
        rows = [_table_row(result) for result in self.results.values()]
        head = f"protocol {self.setting.protocol.name}, order {self.order}, scores {self.score_type}"
        return "\n".join([head, *_aligned([_HEAD, *rows]), *self.notes])

    def __repr__(self) -> str:
        return str(self)


_HEAD = ("measure", "resolved", "queries", *FIELDS)


def parsed(measures: Iterable[str | Measure] | str | Measure) -> dict[str, Measure]:
    """The measures by the names they were asked for. Errors as for `audit`."""
    asked = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not asked:
        raise ContractError("there must be at least one measure, such as R@10")
    return {str(measure): parse(str(measure)) for measure in asked}


def _rankings(run: Run, protocol: Protocol, order: str) -> Rankings:
    from rankwork.inputs.sources import read_run

    duplicates: Duplicates = "keep_first" if protocol.duplicates == "keep_first" else "refuse"
    return read_run(run, ranks=order == "rank", duplicates=duplicates)


def _judgements(judgements: Judged, protocol: Protocol) -> Judgements:
    from rankwork.inputs.sources import read_judgements

    duplicates: Duplicates = "keep_first" if protocol.duplicates == "keep_first" else "refuse"
    everywhere: dict[str, Negatives] = {"unjudged": "unjudged", "refuse": "refuse"}
    return read_judgements(judgements, negative=everywhere.get(protocol.negative_grade), duplicates=duplicates)


def _check_depth(depth: int | None, joined: Joined) -> None:
    if depth is None:
        return
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise ContractError(f"depth must be an integer of at least 1, got {depth!r}")
    longest = int(np.argmax(joined.run.lengths))
    if joined.run.lengths[longest] > depth:
        length, query = int(joined.run.lengths[longest]), joined.run.queries[longest]
        raise InputError(f"depth {depth} was declared, but the list of query {query!r} holds {length} documents")


def _result(name: str, measure: Measure, setting: Setting) -> Result:
    resolved = definition_of(measure).resolve(measure, setting)
    always = definition_of(resolved).always_defined
    values = by_protocol(evaluated(resolved, setting), str(resolved), resolved.cutoff, setting, always_defined=always)
    return Result(name, resolved, values, mean_of(values))


def _summary(result: Result) -> dict[str, Any]:
    mean, widths = result.mean, result.widths
    row = {"measure": result.name, "resolved": str(result.resolved), "queries": mean.queries}
    row |= {"undefined": mean.undefined, "censored": mean.censored}
    numbers = {name: np.nan if getattr(mean, name) is None else getattr(mean, name) for name in FIELDS}
    ties = {"splits": int(result.splits.sum()), "ranges": int((widths > 0).sum()), "widest": float(widths.max())}
    return {**row, **numbers, **ties}


def _mean_json(result: Result) -> dict[str, Any]:
    mean = result.mean
    counts = {"queries": mean.queries, "undefined": mean.undefined, "censored": mean.censored}
    numbers = {name: getattr(mean, name) for name in FIELDS}
    outer = {"outer_min": mean.outer_min, "outer_max": mean.outer_max} if mean.censored else {}
    reason = {"reason": mean.reason} if mean.reason else {}
    return {"resolved": str(result.resolved), **counts, **numbers, **outer, **reason}


def _query_json(values: Values) -> list[dict[str, Any] | None]:
    names = (*FIELDS, "outer_min", "outer_max")
    columns = zip(*(getattr(values, name).tolist() for name in names), values.reason.tolist(), strict=True)
    left_out = np.zeros(len(values.reason), bool) if values.left_out is None else values.left_out
    entries: list[dict[str, Any] | None] = []
    for out, bounded, (*numbers, reason) in zip(left_out.tolist(), values.bounded.tolist(), columns, strict=True):
        entry = {name: None if number != number else number for name, number in zip(names, numbers, strict=True)}
        kept = names if bounded else FIELDS
        entries.append(None if out else {**{name: entry[name] for name in kept}, "reason": reason})
    return entries


def _notes_on_input(setting: Setting) -> list[str]:
    joined, protocol = setting.joined, setting.protocol
    missing = [query for query, n in zip(joined.judgements.queries, joined.retrieved.tolist(), strict=True) if not n]
    judged = joined.judgements.query_index
    unjudged = [query for query in joined.run.queries if query not in judged]
    notes = []
    if missing:
        counted = {"zero": "counted as 0", "undefined": "undefined", "left_out": "left out"}[protocol.missing_query]
        notes.append(f"Judged queries missing from the run, {counted}: {len(missing)} ({examples(missing)}).")
    if unjudged:
        notes.append(f"Queries of the run without judgements, left out: {len(unjudged)} ({examples(unjudged)}).")
    if joined.judgements.negatives:
        notes.append(f"Judgements with a negative grade, taken as unjudged: {joined.judgements.negatives}.")
    if not len(joined.hit_row) and len(joined.judgements):
        run, judged_documents = (
            repr(lists.documents[lists.codes[:1]].tolist()[0]) for lists in (joined.run, joined.judgements)
        )
        notes.append(
            f"No judged document was retrieved: the run has, for example, {run}, the judgements {judged_documents}."
        )
    if setting.depth is not None:
        cut = int((joined.run.lengths == setting.depth).sum())
        notes.append(f"Lists of {setting.depth} documents were taken as cut there ({cut}), shorter ones as complete.")
    return notes


def _note_on_ties(result: Result, audit: Audit) -> str:
    splits, widths = int(result.splits.sum()), result.widths
    if not splits and not widths.any():
        return ""
    ranges, widest = int((widths > 0).sum()), int(np.argmax(widths))
    text = f"the cut splits a tie group in {splits} of {result.mean.queries} queries"
    shown = f"{widths[widest]:.4f}".removeprefix("0")
    return f"{text}; {ranges} have a range" + (f", the widest {shown} ({audit.queries[widest]})." if ranges else ".")


def _note_on_undefined(result: Result, audit: Audit) -> str:
    mean = result.mean
    if not mean.undefined:
        return ""
    named = examples([audit.queries[place] for place in np.flatnonzero(result.values.undefined)])
    text = f"undefined, left out of the mean: {mean.undefined} ({named})"
    if mean.contract is None:
        return f"{text}."
    return f"{text}; were they all 0 or all 1, it would be {mean.if_all_0:.4f} or {mean.if_all_1:.4f}."


def _touches_end(result: Result, setting: Setting) -> Bools:
    """The queries whose cut group reaches the end of a list that is at least as long as k."""
    above, tied, retrieved = (result.values.details[part] for part in ("above", "tied", "retrieved"))
    long_enough = retrieved >= (result.resolved.cutoff or 1)
    return np.asarray((retrieved > 0) & (above + tied == retrieved) & long_enough & (setting.depth is None))


def _note_on_end(result: Result, audit: Audit) -> str:
    touching = np.flatnonzero(_touches_end(result, audit.setting) & result.values.averaged)
    if not len(touching):
        return ""
    named = examples([audit.queries[place] for place in touching])
    share = f"{len(touching)} of {result.mean.queries} queries ({named})"
    text = f"the group at the cut reaches the end of the list in {share}"
    if result.resolved.cutoff is None:
        text = f"it reads the list to its end in {share}"
    return f"{text}; if their lists were cut there, declare the depth: the range can be wider."


def _note_on_censored(result: Result, audit: Audit) -> str:
    mean = result.mean
    if not mean.censored:
        return ""
    named = examples([audit.queries[place] for place in np.flatnonzero(result.values.censored)])
    bounds = f"{mean.outer_min:.4f} and {mean.outer_max:.4f}"
    return f"the cut of the list hides what decides {mean.censored} queries ({named}); the mean lies between {bounds}."


def _note_on_inclusive(result: Result, audit: Audit) -> str:
    """What `inclusive` returns beyond the cutoff, or beyond R; a measure of whole lists returns no more than those."""
    details, cutoff = result.values.details, result.resolved.cutoff
    if audit.order != "inclusive" or (cutoff is None and not (details["returned"] > details["places"]).any()):
        return ""
    returned = details["returned"][result.values.averaged]
    mean, most = (returned.mean(), returned.max()) if len(returned) else (0, 0)
    text = f"order inclusive returns every document at or above the k-th score, {mean:.1f} on average, {most} at most"
    return f"{text}, not {cutoff or 'R'}; min, expected and max are those of exactly {'k' if cutoff else 'R'}."


def _table_row(result: Result) -> tuple[str, ...]:
    numbers = (getattr(result.mean, name) for name in FIELDS)
    shown = ("-" if number is None else f"{number:.4f}" for number in numbers)
    return (result.name, str(result.resolved), str(result.mean.queries), *shown)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines: two columns of text to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    aligned = [
        [
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    return ["  ".join(row) for row in aligned]
