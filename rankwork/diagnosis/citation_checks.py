"""One citation: whether its source exists, may be read, was shown to the model and is up to date."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self, get_args

from rankwork.trace import Case, Citation, Item, Trace

Fault = Literal[
    "fabricated", "unauthorised", "not_in_prompt", "outdated", "ambiguous", "does_not_support", "partial", "unjudged"
]
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass(frozen=True)
class CheckedCitation:
    """A citation with what was found out about it; None is what could not be checked, and is not held against it."""

    citation: Citation
    fabricated: bool | None
    unauthorised: bool | None
    in_prompt: bool | None
    outdated: bool | None

    @property
    def valid(self) -> bool:
        """Whether nothing is known against the source: it exists, may be read, was shown, and is up to date."""
        return not (self.fabricated or self.unauthorised or self.in_prompt is False or self.outdated)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What could not be checked."""
        return tuple(name for name in ("fabricated", "unauthorised", "in_prompt", "outdated") if self._is_open(name))

    def _is_open(self, name: str) -> bool:
        return getattr(self, name) is None

    @property
    def fault(self) -> Fault | None:
        """The first thing that is wrong with it, in the order of `FAULTS`; None if it supports its claim."""
        wrong: dict[Fault, bool] = {
            "fabricated": bool(self.fabricated),
            "unauthorised": bool(self.unauthorised),
            "not_in_prompt": self.in_prompt is False,
            "outdated": bool(self.outdated),
            "ambiguous": self.citation.claim is None,
            "does_not_support": self.citation.supports == "no",
            "partial": self.citation.supports == "partial",
            "unjudged": self.citation.supports is None,
        }
        return next((name for name, holds in wrong.items() if holds), None)


@dataclass(frozen=True)
class Sources:
    """What is known of the sources: which exist, which were shown, and in which revision."""

    known: Collection[str] | None
    shown: Collection[str] | None
    items: Mapping[str, Item]
    by_id: Mapping[str, str]
    current: Mapping[str, str]
    denied: Collection[str] = field(default_factory=frozenset)

    @classmethod
    def of(
        cls,
        case: Case,
        trace: Trace,
        *,
        known: Collection[str] | None = None,
        current: Mapping[str, str] | None = None,
    ) -> Self:
        """What a trace and its case tell; `known` and `current` as in `CitationRules`."""
        items = {item.id: item for stage in trace.stages for item in stage.items}
        shown = None if trace.prompt is None else set(trace.prompt.ids)
        earlier = {item.previous_id for item in items.values() if item.previous_id}
        listed = {*items, *earlier, *(shown or ()), *case.gold} if items or shown is not None else None
        by_source = {each.source: each.revision for each in case.gold.values() if each.source and each.revision}
        return cls(
            known=listed if known is None else known,
            shown=shown,
            items=items,
            by_id={name: each.revision for name, each in case.gold.items() if each.revision},
            current=by_source if current is None else current,
            denied={item.id for stage in trace.stages for item in stage.items if item.acl == "denied"},
        )

    def check(self, citation: Citation) -> CheckedCitation:
        """A citation with what its source is."""
        item = self.items.get(citation.id)
        return CheckedCitation(
            citation,
            fabricated=None if self.known is None else citation.id not in self.known,
            unauthorised=True if citation.id in self.denied else None if item is None or item.acl is None else False,
            in_prompt=None if self.shown is None else citation.id in self.shown,
            outdated=self._is_outdated(citation, item),
        )

    def _is_outdated(self, citation: Citation, item: Item | None) -> bool | None:
        revision = citation.revision or (item.revision if item else None)
        source = citation.source or (item.source if item else None)
        right = self.current.get(source) if source else None
        right = right or self.by_id.get(citation.id)
        return revision != right if revision and right else None
