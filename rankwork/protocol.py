"""Every convention that a number depends on, declared: what a measure's name leaves open, the protocol fills.

>>> Protocol.named("trec").order
'id_desc'
>>> Protocol.named("java").no_relevant
'zero'
"""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from rankwork.errors import ContractError

_ALLOWED: dict[str, tuple[Any, ...]] = {
    "order": ("id_asc", "id_desc", "rank", "input", "inclusive"),
    "duplicates": ("refuse", "keep_first"),
    "no_relevant": ("undefined", "refuse", "zero"),
    "missing_query": ("zero", "refuse", "undefined", "left_out"),
    "beyond_list": ("clip", "refuse"),
    "gain": ("linear", "exponential", None),
    "rr_alias": ("cut", "uncut", None),
    "relevant_from": (1, "positive", "set"),
    "p_denominator": ("k",),
    "negative_grade": ("unjudged_in_file", "unjudged", "refuse"),
}


@dataclass(frozen=True)
class Protocol:
    """Ten conventions. ContractError for a value that a field does not know.

    - `order`: how equal scores are ordered
    - `duplicates`: a document twice in one list: refused, or the first in the ranking kept
    - `no_relevant`: a query without a relevant document
    - `missing_query`: a judged query without a result: 0, refused, undefined, or left out and counted
    - `beyond_list`: k greater than the list: clipped to it, or refused
    - `gain`: of nDCG, the grade or 2^grade - 1
    - `rr_alias`: whether MRR@k looks at k documents only
    - `relevant_from`: grade 1, any positive grade, or a set without grades (read as any positive grade)
    - `p_denominator`: what P@k divides by
    - `negative_grade`: unjudged (gain 0, counted) in files and refused in memory, unjudged everywhere, or refused
    """

    name: str = "rankwork"
    order: str = "id_asc"
    duplicates: str = "refuse"
    no_relevant: str = "undefined"
    missing_query: str = "zero"
    beyond_list: str = "clip"
    gain: str | None = "linear"
    rr_alias: str | None = "cut"
    relevant_from: int | str = 1
    p_denominator: str = "k"
    negative_grade: str = "unjudged_in_file"

    def __post_init__(self) -> None:
        for field, allowed in _ALLOWED.items():
            value = getattr(self, field)
            if value not in allowed or isinstance(value, bool):
                known = ", ".join(repr(choice) for choice in allowed)
                raise ContractError(f"protocol field {field} must be one of {known}, got {value!r}")

    @classmethod
    def named(cls, name: str) -> "Protocol":
        """One of the five protocols. ContractError, with their names, for any other."""
        if name not in _NAMED:
            raise ContractError(f"protocol must be one of {', '.join(_NAMED)}, got {name!r}")
        return _NAMED[name]

    def replace(self, **changes: Any) -> Self:
        """The same protocol with some conventions changed; unless renamed, its name says which it departs from.

        >>> Protocol.named("trec").replace(order="id_asc").name
        'trec, changed'
        """
        unknown = sorted(changes.keys() - {field.name for field in fields(self)})
        if unknown:
            known = ", ".join(_ALLOWED)
            raise ContractError(f"a protocol has the fields {known}; there is no {unknown[0]!r}")
        return replace(self, **{"name": f"{self.name.removesuffix(', changed')}, changed", **changes})

    def to_dict(self) -> dict[str, Any]:
        """The name and the ten conventions, ready for JSON."""
        return asdict(self)


_NAMED = {
    protocol.name: protocol
    for protocol in (
        Protocol(),
        Protocol("article", "id_asc", "refuse", "refuse", "refuse", "refuse", None, None, "set", "k", "refuse"),
        Protocol("handbook", "id_asc", "keep_first", "undefined", "undefined", "clip", "exponential", "cut", "positive",
                 "k", "refuse"),
        Protocol("java", "input", "refuse", "zero", "zero", "clip", "exponential", "uncut", "positive", "k", "refuse"),
        Protocol("trec", "id_desc", "refuse", "zero", "left_out", "clip", "linear", "cut", 1, "k", "unjudged"),
    )
}  # fmt: skip
NAMES = tuple(_NAMED)
