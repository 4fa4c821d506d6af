"""A case, and the trace that one run of a staged system left for it: the schema of both.

One line of JSON (or one row of parquet) holds one object. Unknown fields, unknown reasons and items that contradict
themselves are refused with their place; what was not measured is None, never 0.

A trace lists its stages in the order in which they ran: one `retrieve` for each route, then `fuse`, `rerank`,
`context`. A stage lists what it looked at: the items that it kept, by rank from 1, then those that it dropped, each
with its reason where one was written down.
"""

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

StageKind = Literal["retrieve", "fuse", "rerank", "context"]
DropReason = Literal[
    "not_in_corpus", "superseded_revision", "id_unmapped", "acl_filtered", "acl_filtered_wrongly", "time_filtered",
    "not_retrieved", "below_route_k", "tie_cut", "route_timeout", "fusion_cut", "duplicate_id", "near_duplicate",
    "rerank_window", "rerank_cut", "rerank_timeout", "quota", "token_budget", "parent_replaced", "unknown",
]  # fmt: skip
CUTS: tuple[DropReason, ...] = ("below_route_k", "tie_cut", "fusion_cut", "rerank_cut")  # at `requested`
Split = Literal["dev", "holdout", "blind"]
Origin = Literal["traffic", "expert", "replay", "support", "synthetic"]
Label = Literal["supported", "contradicted", "not_enough_information"]
Text = Annotated[str, Field(min_length=1)]


def moment(value: datetime) -> datetime:
    """The same moment in UTC; a time without an offset is UTC, so that any two can be compared.

    >>> moment(datetime(2026, 3, 1, 12)).isoformat()
    '2026-03-01T12:00:00+00:00'
    """
    try:
        return value.replace(tzinfo=UTC) if value.utcoffset() is None else value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{value.isoformat()} lies outside the years 1 to 9999 in UTC") from error


def _plain(value: Any) -> Any:
    """What JSON makes of a value, so that it is the same after it was written and read: tuples become lists."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"must be what JSON can hold: {error}") from error


Moment = Annotated[datetime, AfterValidator(moment)]
Amount = Annotated[FiniteFloat, Field(ge=0)]


class _Strict(BaseModel):
    """No unknown field, and nothing changes after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Identity(_Strict):
    """Who asks: a class of users within a tenant, never a person."""

    tenant: str = ""
    role: str = ""


class Evidence(_Strict):
    """A piece of evidence, anchored where it stands, so that it can be found again after a re-chunking.

    `start` and `end` are character offsets into the source at `revision`; `quote` is the text between them.
    """

    id: Text
    source: str = ""
    revision: str = ""
    start: NonNegativeInt | None = None
    end: NonNegativeInt | None = None
    quote: str = ""
    grade: NonNegativeInt = 1

    @model_validator(mode="after")
    def _is_anchored_or_not(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError(f"evidence {self.id!r} has a start or an end, but not both")
        if self.start is not None and self.end is not None:
            if self.end <= self.start:
                raise ValueError(f"evidence {self.id!r} ends at {self.end}, where or before it starts ({self.start})")
            if self.quote and len(self.quote) != self.end - self.start:
                raise ValueError(
                    f"evidence {self.id!r} spans {self.end - self.start} characters, its quote has {len(self.quote)}"
                )
        return self


class Requirement(_Strict):
    """A need that any one of these pieces of evidence meets."""

    any_of: tuple[Evidence, ...]
    name: str = ""


class Case(_Strict):
    """A question with what a right answer rests on: every requirement met (all of), each by any of its evidence.

    `time` is the moment at which the question is asked; `valid_from` and `valid_until` bound the moments for which the
    evidence is gold. `points` are what a complete answer states, `variants` whole answers that are right too. `cluster`
    names what shares text or source and counts once where queries are resampled. `excludes` are documents that are no
    candidates for it, such as the one that its text was taken from. Times are kept in UTC.
    """

    id: Text
    query: str
    time: Moment | None = None
    identity: Identity = Identity()
    requires: tuple[Requirement, ...] = ()
    points: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    expected: Literal["answer", "refuse"] = "answer"
    slices: tuple[str, ...] = ()
    split: Split = "dev"
    origin: Origin = "expert"
    cluster: str = ""
    excludes: tuple[str, ...] = ()
    valid_from: Moment | None = None
    valid_until: Moment | None = None

    @property
    def gold(self) -> dict[str, Evidence]:
        """Every piece of evidence by its ID, in the order of the requirements."""
        return {evidence.id: evidence for need in self.requires for evidence in need.any_of}

    def holds_at(self, time: datetime | None) -> bool:
        """Whether the evidence is gold at that moment: from `valid_from` up to, not including, `valid_until`.

        At no moment in particular it is.
        """
        if time is None:
            return True
        return (self.valid_from is None or self.valid_from <= moment(time)) and (
            self.valid_until is None or moment(time) < self.valid_until
        )

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise ValueError(
                f"case {self.id!r} is valid until {self.valid_until}, which is not after {self.valid_from}"
            )
        known: dict[str, Evidence] = {}
        for evidence in (evidence for need in self.requires for evidence in need.any_of):
            other = known.setdefault(evidence.id, evidence)
            for field in ("source", "revision", "grade"):  # one chunk may hold two spans, at two places
                if getattr(other, field) != getattr(evidence, field):
                    values = f"{getattr(other, field)!r} and {getattr(evidence, field)!r}"
                    raise ValueError(f"case {self.id!r} gives evidence {evidence.id!r} two values of {field}: {values}")
        return self


class Item(_Strict):
    """One document or chunk that a stage looked at.

    `rank` counts from 1 and is None for what the stage dropped; `previous_id` is the ID that the stage before knew it
    by, where that was another. `source` and `revision` say what it is part of.
    """

    id: Text
    rank: PositiveInt | None = None
    score: FiniteFloat | None = None
    previous_id: str | None = None
    kept: bool = True
    drop_reason: DropReason | None = None
    acl: Literal["allowed", "denied"] | None = None
    tenant: str | None = None
    source: str | None = None
    revision: str | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.kept and self.drop_reason:
            raise ValueError(f"item {self.id!r} is kept, yet has the drop reason {self.drop_reason!r}")
        if self.kept and self.rank is None:
            raise ValueError(f"item {self.id!r} is kept and has no rank")
        if not self.kept and self.rank is not None:
            raise ValueError(f"item {self.id!r} is dropped, yet has rank {self.rank}")
        return self


class Stage(_Strict):
    """What one stage was asked for, what it returned and by which rule.

    `requested` is its k; `returned` counts the kept items and must agree with them; `complete` says whether they are
    all that there was (False: cut at `requested`, or nobody knows). `window` is how many items a reranker looked at.
    `order` names the rule for equal scores; None where nobody knows it.
    """

    kind: StageKind
    route: str = ""
    requested: PositiveInt | None = None
    returned: NonNegativeInt
    complete: bool = False
    window: PositiveInt | None = None
    dtype: str | None = None
    order: Literal["id_asc", "id_desc", "rank", "input", "inclusive"] | None = None
    latency_ms: Amount | None = None
    status: Literal["ok", "timeout", "error", "skipped", "degraded"] = "ok"
    parameters: Annotated[dict[str, Any], BeforeValidator(_plain)] = {}
    items: tuple[Item, ...] = ()

    @property
    def kept(self) -> tuple[Item, ...]:
        """The items that go on to the next stage, by rank."""
        return tuple(item for item in self.items if item.kept)

    @property
    def name(self) -> str:
        """The kind, with its route where it has one: `retrieve:bm25`."""
        return f"{self.kind}:{self.route}" if self.route else self.kind

    @model_validator(mode="after")
    def _agrees_with_its_items(self) -> Self:
        if len(self.kept) != self.returned:
            raise ValueError(f"stage {self.name}: {self.returned} items claimed, {len(self.kept)} kept items listed")
        if self.requested is not None and self.returned > self.requested and self.order != "inclusive":
            raise ValueError(f"stage {self.name}: {self.returned} items returned where {self.requested} were asked for")
        self._check_complete()
        self._check_ranks()
        self._check_scores()
        return self

    def _check_complete(self) -> None:
        if self.complete and self.status in ("timeout", "error"):
            raise ValueError(f"stage {self.name}: it is said to be complete, yet its status is {self.status!r}")
        cut = next((item for item in self.items if item.drop_reason in CUTS), None)
        if self.complete and cut:
            raise ValueError(
                f"stage {self.name}: it is said to be complete, yet item {cut.id!r} was cut off ({cut.drop_reason})"
            )

    def _check_ranks(self) -> None:
        seen: set[str] = set()
        for place, item in enumerate(self.kept, 1):
            if item.rank != place:
                raise ValueError(f"stage {self.name}: item {item.id!r} at place {place} has rank {item.rank}")
            if item.id in seen:
                raise ValueError(f"stage {self.name}: item {item.id!r} stands at two ranks")
            seen.add(item.id)

    def _check_scores(self) -> None:
        scored = [(item, item.score) for item in self.kept if item.score is not None]
        for (before, higher), (after, lower) in pairwise(scored):
            if higher < lower:
                raise ValueError(
                    f"stage {self.name}: item {after.id!r} at rank {after.rank} has score {lower}, more than "
                    f"{higher} of rank {before.rank}"
                )


class Prompt(_Strict):
    """What the model was shown: the IDs in their order, and how many tokens they took."""

    ids: tuple[str, ...] = ()
    tokens: NonNegativeInt | None = None


class Citation(_Strict):
    """A source that the answer names, and the claim that it stands beside.

    `claim` None: nobody can tell for which claim it stands, as where several are piled at the end of a paragraph.
    `supports` is a person's or a judge's verdict on whether the source supports its claim.
    """

    id: Text
    claim: str | None = None
    source: str | None = None
    revision: str | None = None
    supports: Literal["full", "partial", "no"] | None = None


class Claim(_Strict):
    """One atomic statement of the answer, with its verdict against the context that the model was given.

    `correct` is about the world, not the context. A compound claim has `parts`, each a claim of its own. `point` names
    the expected point of the case that it makes.
    """

    id: Text
    text: str = ""
    label: Label | None = None
    weight: Amount = 1.0
    needs_evidence: bool = True
    correct: bool | None = None
    relevant: bool | None = None
    point: str | None = None
    parts: tuple["Claim", ...] = ()


class Usage(_Strict):
    """The calls and tokens of one model, and what they cost; None is not known, which is not 0."""

    model: Text
    calls: NonNegativeInt | None = None
    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None
    cost: Amount | None = None
    currency: str | None = None


class CacheHit(_Strict):
    """A cached value that was used, and the tenant for whom it had been made."""

    key: Text
    tenant: str | None = None
    ids: tuple[str, ...] = ()


class ToolCall(_Strict):
    """A tool that the model asked for, and whether this identity may use it."""

    tool: Text
    permitted: bool
    executed: bool
    injected: bool = False


class Signal(_Strict):
    """What the user did afterwards: a proxy of quality, never a verdict."""

    kind: Literal["source_click", "follow_up", "rewrite", "correction", "abandoned", "thumbs_up", "thumbs_down"]
    id: str | None = None


class Events(_Strict):
    """What happened around the ranking: injected text, tools, caches, signals, how the index was built."""

    injected_ids: tuple[str, ...] | None = None
    injection_flagged: bool | None = None
    tools: tuple[ToolCall, ...] | None = None
    cache_hits: tuple[CacheHit, ...] | None = None
    cache_lookups: NonNegativeInt | None = None
    signals: tuple[Signal, ...] | None = None
    index_build_s: Amount | None = None
    index_bytes: NonNegativeInt | None = None


class Trace(_Strict):
    """What one run did for one case.

    `snapshot` names the version of everything that took part: data, parser, chunker, embedding, index, retriever,
    reranker, prompt, generator, judge. `protocol` names how it is to be scored. Two traces are compared only where
    query, identity, data time and protocol are the same.
    """

    case: Text
    run: str = ""
    query: str = ""
    time: Moment | None = None
    identity: Identity = Identity()
    unit: Literal["chunk", "document"] = "chunk"
    snapshot: dict[str, str] = {}
    protocol: str = "rankwork"
    stages: tuple[Stage, ...] = ()
    prompt: Prompt | None = None
    answer: str | None = None
    refused: bool | None = None
    claims: tuple[Claim, ...] | None = None
    citations: tuple[Citation, ...] | None = None
    usage: tuple[Usage, ...] | None = None
    events: Events = Events()
    latency_ms: Amount | None = None

    @property
    def routes(self) -> tuple[Stage, ...]:
        """The stages that retrieve."""
        return tuple(stage for stage in self.stages if stage.kind == "retrieve")

    def stage(self, kind: StageKind) -> Stage | None:
        """The one stage of a kind other than `retrieve`; None where it did not run."""
        return next((stage for stage in self.stages if stage.kind == kind), None)

    @property
    def _place(self) -> str:
        return f"trace of case {self.case!r}"

    @model_validator(mode="after")
    def _no_stage_invents(self) -> Self:
        known: set[str] = set()
        order = ("retrieve", "fuse", "rerank", "context")
        names = [stage.name for stage in self.stages]
        if len(set(names)) < len(names):
            raise ValueError(f"{self._place}: a stage stands twice: {', '.join(names)}")
        kinds = [order.index(stage.kind) for stage in self.stages]
        if kinds != sorted(kinds):
            raise ValueError(f"{self._place}: stages out of their order: {', '.join(names)}")
        for stage in self.stages:
            if stage.kind != "retrieve":
                for item in stage.items:
                    if (item.previous_id or item.id) not in known:
                        raise ValueError(
                            f"{self._place}: stage {stage.name} holds {item.id!r}, which no stage before returned"
                        )
            if stage.kind == "retrieve":
                known |= {item.id for item in stage.kept}
            else:
                known = {item.id for item in stage.kept}
        return self


def schema(kind: Literal["case", "trace"]) -> dict[str, Any]:
    """The JSON Schema of one line of a file of cases or traces. It cannot say that items agree with their stage.

    >>> schema("case")["required"]
    ['id', 'query']
    """
    model = Case if kind == "case" else Trace
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
