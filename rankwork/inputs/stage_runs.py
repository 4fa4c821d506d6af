"""One run a stage becomes one trace a query: the lists that a staged system left behind in TREC files or tables.

A run says what a stage returned, in which order and with which scores; nothing about what it dropped, why, or how long
it took: that stays None, and a stage is not taken as complete.

>>> runs = {"retrieve:bm25": {"q": {"a": 2.0, "b": 1.0}}, "rerank": {"q": {"b": 0.9}}}
>>> (trace,) = traces_of_runs(runs)
>>> [(stage.name, [item.id for item in stage.kept]) for stage in trace.stages]
[('retrieve:bm25', ['a', 'b']), ('rerank', ['b'])]
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from pydantic import ValidationError

from rankwork.errors import InputError
from rankwork.inputs.refusals import refusal
from rankwork.inputs.sources import read_run
from rankwork.rankings import Rankings
from rankwork.trace import Item, Stage, StageKind, Trace

Order = Literal["id_asc", "id_desc", "rank", "input"]
_KINDS: tuple[StageKind, ...] = get_args(StageKind)


def traces_of_runs(
    runs: Mapping[str, Any],
    *,
    queries: Mapping[str, str] | None = None,
    run: str = "",
    order: Order = "input",
    requested: Mapping[str, int] | None = None,
    snapshot: Mapping[str, str] | None = None,
    unit: Literal["chunk", "document"] = "chunk",
) -> Iterator[Trace]:
    """The traces of stages that are given by name: `retrieve:ROUTE`, `fuse`, `rerank` or `context`, in any order.

    A run is whatever `rankwork.inputs.sources.read_run` takes: a file's path, a table, a dict, `Rankings`. `order`
    breaks its ties; `rank` is the file's rank column, which then must agree with the scores. `requested` is the k of
    a stage by its name; `queries` the text of a query by its ID. A query that a stage's run lacks got nothing from it.

    InputError for a name that is no stage, no route at all, ranks that contradict the scores, a stage that returned
    what no stage before it did, or more than was requested, and as the reader raises.
    """
    stages = _in_order(runs)
    _check_names(requested or {}, stages)
    lists = {name: _Lists(name, read_run(runs[name], ranks=order == "rank"), order) for name in stages}
    for query in dict.fromkeys(query for found in lists.values() for query in found.run.queries):
        made = [(found, (requested or {}).get(name)) for name, found in lists.items()]
        try:
            yield Trace(
                case=query,
                run=run,
                query=(queries or {}).get(query, ""),
                unit=unit,
                snapshot=dict(snapshot or {}),
                stages=tuple(found.stage(query, asked) for found, asked in made),
            )
        except ValidationError as error:
            raise InputError(f"query {query!r}: {refusal(error)}") from error


def _in_order(runs: Mapping[str, Any]) -> list[str]:
    for name in runs:
        if _kind(name) not in _KINDS:
            raise InputError(f"{name!r} is no stage: expected retrieve:ROUTE, fuse, rerank or context")
    stages = sorted(runs, key=lambda name: _KINDS.index(_kind(name)))
    if not stages or _kind(stages[0]) != "retrieve":
        raise InputError("there must be the run of at least one stage that retrieves, such as retrieve:bm25")
    return stages


def _check_names(requested: Mapping[str, int], stages: Sequence[str]) -> None:
    for name in requested:
        if name not in stages:
            raise InputError(f"k is given for {name!r}, and the stages are {', '.join(stages)}")


def _kind(name: str) -> Any:
    return name.partition(":")[0]


class _Lists:
    """The lists of one stage, each in its order."""

    def __init__(self, name: str, run: Rankings, order: Order) -> None:
        self.run = run
        self._name, self._order = name, order
        self._rows = run.order(order)
        if order == "rank":
            self._check_ranks()

    def stage(self, query: str, requested: int | None) -> Stage:
        kind, _, route = self._name.partition(":")
        items = self._items(query) if query in self.run.query_index else ()
        fields: dict[str, Any] = {"kind": kind, "route": route, "requested": requested, "returned": len(items)}
        return Stage(**fields, order=self._order, items=items)

    def _items(self, query: str) -> tuple[Item, ...]:
        rows = self._rows[self.run.slice_of(query)]
        documents = self.run.documents[self.run.codes[rows]].tolist()
        scores = self._exact(query, rows)
        return tuple(
            Item(id=str(document), rank=rank, score=score)
            for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
        )

    def _exact(self, query: str, rows: Any) -> list[float]:
        scores = self.run.scores[rows]
        wide = scores.astype(np.float64)
        if scores.dtype.kind in "iu" and (beyond := [int(s) for s in scores if int(float(s)) != int(s)]):
            raise InputError(f"{self._name}, query {query!r}: score {beyond[0]} needs more digits than a float has")
        found: list[float] = wide.tolist()
        return found

    def _check_ranks(self) -> None:
        """The rank column must be an order that the scores allow."""
        run = self.run
        if run.ranks is None:
            return
        rows = np.lexsort((run.ranks, run.query_of_row))
        scores, query = run.scores[rows], run.query_of_row[rows]
        wrong = np.flatnonzero((scores[1:] > scores[:-1]) & (query[1:] == query[:-1]))
        if len(wrong):
            row = int(rows[int(wrong[0]) + 1])
            document, score = run.documents[run.codes[[row]]].tolist()[0], run.scores[row].item()
            raise InputError(
                f"{self._name}, query {run.queries[run.query_of_row[row]]!r}: document {document!r} of rank "
                f"{run.ranks[row]} has score {score}, more than the document before it"
            )
