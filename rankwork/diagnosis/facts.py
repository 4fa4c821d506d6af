"""What a trace shows about one piece of gold evidence: the material of its diagnosis, stage by stage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from rankwork.diagnosis.tracking import ABOVE, BELOW, NO_SCORE, TIED

__all__ = ["ABOVE", "BELOW", "NO_SCORE", "TIED", "AnswerFacts", "Facts", "Place", "Standing"]


class Standing(NamedTuple):
    """One piece of evidence in one stage that ran: its rank there, or how it was dropped, and what the stage did.

    `rank` None: not kept. `dropped`: it is listed among what the stage left out, with the `reason` that was written
    (None: none was), `denied` by an access decision, on which `side` of the last kept score. `listed` counts the items
    that the stage lists, `source_kept` the kept ones of the evidence's source (None: not known).
    """

    name: str
    kind: str
    rank: int | None = None
    dropped: bool = False
    reason: str | None = None
    denied: bool = False
    side: int = NO_SCORE
    requested: int | None = None
    returned: int = 0
    window: int | None = None
    listed: int = 0
    status: str = "ok"
    parameters: Mapping[str, Any] = MappingProxyType({})
    source_kept: int | None = None
    other_ids: tuple[str, ...] = ()

    @property
    def route(self) -> str:
        """The name of the route, or of the kind where it has none."""
        return self.name.partition(":")[2] or self.kind

    @property
    def full(self) -> bool:
        """Whether it returned as many as were asked for, so that a lower rank alone leaves an item out."""
        return self.requested is not None and self.returned >= self.requested

    @property
    def cut_by_rank(self) -> bool | None:
        """Whether its rank left the evidence out; None where the lists do not say."""
        if self.dropped and self.side == NO_SCORE:
            return None
        if self.dropped:
            return self.full and self.side in (BELOW, TIED)
        return True if self.full else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a collection holds the evidence: `present` under its ID, else under `other_ids` or in `other_revisions`.

    `open` says whether the identity may read it, `holds` whether it holds at the time of the question; None: unknown.
    """

    present: bool
    other_ids: tuple[str, ...] = ()
    other_revisions: tuple[str, ...] = ()
    open: bool | None = None
    holds: bool | None = None


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """What the answer of the case did: counts of its claims by verdict, and of its citations; None: not judged.

    `covered`: every requirement is met by what is in the context; None where there is none. `authorised` False: an
    unauthorised document was found in some layer of the trace.
    """

    refused: bool | None = None
    expected: str = "answer"
    covered: bool | None = None
    claims: int | None = None
    supported: int | None = None
    incorrect: int = 0
    citations: int | None = None
    wrong_citations: tuple[str, ...] = ()
    authorised: bool | None = None


@dataclass(frozen=True)
class Facts:
    """All that is known of one piece of evidence in one trace.

    `place` None: no collection was given. `in_prompt` None: the trace holds no prompt. `routes` are the stages that
    retrieve, `found_by` those of them that kept it, `lost_at` the kind of stage that did not hand it on (`prompt` after
    the context), None for one that arrived.
    """

    case: str
    evidence: str
    standings: tuple[Standing, ...]
    place: Place | None = None
    in_prompt: bool | None = None
    answer: AnswerFacts = field(default_factory=AnswerFacts)

    routes: tuple[Standing, ...] = field(init=False, repr=False, compare=False)
    found_by: tuple[Standing, ...] = field(init=False, repr=False, compare=False)
    lost_at: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        routes = tuple([standing for standing in self.standings if standing.kind == "retrieve"])
        found_by = tuple([standing for standing in routes if standing.rank is not None])
        for name, value in (("routes", routes), ("found_by", found_by), ("lost_at", self._lost(routes, found_by))):
            object.__setattr__(self, name, value)

    def _lost(self, routes: tuple[Standing, ...], found_by: tuple[Standing, ...]) -> str | None:
        if routes and not found_by:
            return "retrieve"
        for standing in self.standings:
            if standing.rank is None and standing.kind != "retrieve":
                return standing.kind
        return "prompt" if self.in_prompt is False else None

    def of(self, kind: str) -> Standing | None:
        """The stage of a kind other than `retrieve`; None where it did not run."""
        return next((standing for standing in self.standings if standing.kind == kind), None)

    def rank_before(self, kind: str) -> int | None:
        """Its rank in the stage before that kind; the best rank of the routes where none stands between."""
        before = None
        for standing in self.standings:
            if standing.kind == kind:
                break
            if standing.rank is not None:
                best = before is None or standing.kind != "retrieve" or standing.rank < before
                before = standing.rank if best else before
        return before
