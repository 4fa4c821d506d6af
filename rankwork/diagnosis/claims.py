"""The claims of an answer and the atoms that they are made of.

A compound claim has parts, each a claim of its own. Counted in part, its weight is spread over its parts in proportion
to theirs; counted as a whole, it holds only if all of it holds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from rankwork.diagnosis.bounded_shares import BoundedShare
from rankwork.errors import ContractError, InputError
from rankwork.trace import Claim, Label, Trace

Compound = Literal["parts", "whole"]
Test = Callable[[Claim], bool | None]


@dataclass(frozen=True)
class Atom:
    """A claim without parts, the weight that it has in the answer, and the claims that it is a part of."""

    claim: Claim
    weight: float
    within: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Its own ID and those of the claims around it: a citation of any of them is one of it."""
        return (self.claim.id, *self.within)


def atoms(claim: Claim) -> tuple[Atom, ...]:
    """What a claim is made of; itself where it has no parts. InputError for parts that weigh nothing together.

    >>> two = Claim(id="c", weight=3, parts=(Claim(id="c.a", weight=1), Claim(id="c.b", weight=2)))
    >>> [(atom.claim.id, atom.weight) for atom in atoms(two)]
    [('c.a', 1.0), ('c.b', 2.0)]
    """
    return tuple(_spread(claim, claim.weight, ()))


def _spread(claim: Claim, weight: float, within: tuple[str, ...]) -> Iterator[Atom]:
    if not claim.parts:
        yield Atom(claim, weight, within)
        return
    total = sum(part.weight for part in claim.parts)
    if not total:
        raise InputError(f"the parts of claim {claim.id!r} have weights that add up to 0")
    for part in claim.parts:
        yield from _spread(part, weight * part.weight / total, (*within, claim.id))


def share_of(claims: Iterable[Claim], holds: Test, *, compound: Compound, why: str) -> BoundedShare:
    """The share of the claims' weight for which `holds` is true; None is unknown. `why`: why there may be none."""
    if compound == "parts":
        return BoundedShare.of(((holds(atom.claim), atom.weight) for claim in claims for atom in atoms(claim)), why=why)
    if compound != "whole":
        raise ContractError(f"compound must be 'parts' or 'whole', got {compound!r}")
    wholes = ((all_of(holds(atom.claim) for atom in atoms(claim)), claim.weight) for claim in claims)
    return BoundedShare.of(wholes, why=why)


def all_of(parts: Iterable[bool | None]) -> bool | None:
    """Whether all hold, None where that is not known.

    >>> all_of([True, None]), all_of([False, None]), all_of([True, True])
    (None, False, True)
    """
    found = set(parts)
    return False if False in found else None if None in found else True


def label_of(claim: Claim) -> Label | None:
    """The label of a claim as a whole: contradicted if a part is, supported if all parts are; None if not known.

    >>> parts = (Claim(id="a", label="supported"), Claim(id="b", label="not_enough_information"))
    >>> label_of(Claim(id="c", parts=parts))
    'not_enough_information'
    """
    if not claim.parts:
        return claim.label
    labels = {label_of(part) for part in claim.parts}
    if "contradicted" in labels:
        return "contradicted"
    if None in labels:
        return None
    return "supported" if labels == {"supported"} else "not_enough_information"


def checked_claims(trace: Trace) -> tuple[Claim, ...]:
    """The claims of an answer, none if it has none. InputError for an ID twice and a whole that denies its parts."""
    claims = trace.claims or ()
    place = f"case {trace.case!r}"
    everyone = [inner for claim in claims for inner in every(claim)]
    twice = [name for name, count in Counter(claim.id for claim in everyone).items() if count > 1]
    if twice:
        raise InputError(f"{place}: two claims have the ID {twice[0]!r}")
    for claim in everyone:
        made = label_of(claim)
        if claim.parts and claim.label and made and claim.label != made:
            raise InputError(f"{place}: claim {claim.id!r} is labelled {claim.label!r}, and its parts make it {made!r}")
    return claims


def every(claim: Claim) -> Iterator[Claim]:
    """A claim, its parts and theirs."""
    yield claim
    for part in claim.parts:
        yield from every(part)
