"""A case and its trace without texts and tenants that give somebody away: digests, redacted texts, or as they are.

Every field of the schema that can hold text has its role here; a test walks the schema, so that a new field cannot
leave the house unnoticed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from rankwork.decision.redaction import redacted
from rankwork.errors import InputError
from rankwork.evidence.tokens import Tokens
from rankwork.trace import Case, Trace

Texts = Literal["digest", "redacted", "plain"]
Role = Literal["text", "quote", "tenant", "id", "name", "settings"]
T = TypeVar("T", Case, Trace)

ROLES: dict[str, Role] = {
    **dict.fromkeys(
        ("Case.query", "Case.points", "Case.variants", "Requirement.name", "Trace.query", "Trace.answer", "Claim.text",
         "Claim.point", "CacheHit.key"), "text",
    ),
    "Evidence.quote": "quote",
    **dict.fromkeys(("Identity.tenant", "Item.tenant", "CacheHit.tenant"), "tenant"),
    **dict.fromkeys(
        ("Case.excludes", "Evidence.id", "Evidence.source", "Item.id", "Item.previous_id", "Item.source", "Citation.id",
         "Citation.source", "Prompt.ids", "CacheHit.ids", "Events.injected_ids", "Signal.id"), "id",
    ),
    **dict.fromkeys(
        ("Case.id", "Case.slices", "Case.cluster", "Identity.role", "Evidence.revision", "Item.revision", "Stage.route",
         "Stage.dtype", "Citation.claim", "Citation.revision", "Claim.id", "Usage.model", "Usage.currency",
         "ToolCall.tool", "Trace.case", "Trace.run", "Trace.snapshot", "Trace.protocol"), "name",
    ),
    "Stage.parameters": "settings",
}  # fmt: skip


@dataclass(frozen=True)
class Privacy:
    """What is hidden: texts (as keyed digests, redacted, or plain), the names of tenants, the IDs of documents.

    A digest keeps equal texts equal and can be tested against a guess only by who has the key. Hidden IDs lose their
    order: what ties by ID did is then told by the recorded ranks alone.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    texts: Texts = "digest"
    tenants: bool = True
    ids: bool = False


@dataclass
class Pseudonyms:
    """What stands for texts, tenants and IDs, the same for the same within one package (with a key: everywhere).

    InputError where digests are asked for without a key.
    """

    privacy: Privacy
    tokens: Tokens | None = None
    words: tuple[str, ...] = ()
    _numbers: dict[str, str] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.tokens is None and (self.privacy.texts == "digest" or self.privacy.ids):
            raise InputError("digests need a key; redacted or plain texts, with IDs as they are, need none")

    def of(self, value: T) -> T:
        """The case or trace with everything replaced that its privacy hides, checked as any other."""
        self._ids = set(_ids(value))
        return type(value).model_validate(self._fields(value))

    def _fields(self, model: BaseModel) -> dict[str, Any]:
        kind = type(model).__name__
        fields = ((name, getattr(model, name)) for name in type(model).model_fields)
        return {name: self._value(value, ROLES.get(f"{kind}.{name}")) for name, value in fields}

    def _value(self, value: Any, role: Role | None) -> Any:
        if isinstance(value, BaseModel):
            return self._fields(value)
        if isinstance(value, tuple | list):
            return [self._value(item, role) for item in value]
        if isinstance(value, dict):
            return {self._value(name, role): self._value(item, role) for name, item in value.items()}
        return self._text(value, role) if isinstance(value, str) and value and role else value

    def _text(self, value: str, role: Role) -> str:
        if role == "tenant":
            return self._tenant(value) if self.privacy.tenants else value
        if role == "id":
            return self._token(value) if self.privacy.ids else value
        if role == "name" or (role != "settings" and self.privacy.texts == "plain"):
            return value
        if role == "quote":
            return ""  # its length must stay that of its anchor, and the anchor finds it again
        if role == "settings" and not any(map(str.isspace, value)):
            return self._token(value) if self.privacy.ids and value in self._ids else value
        if self.privacy.texts == "plain":
            return value
        return self._token(value) if self.privacy.texts == "digest" else redacted(value, self.words)

    def _tenant(self, value: str) -> str:
        if self.tokens:
            return self._token(value)
        return self._numbers.setdefault(value, f"tenant {len(self._numbers) + 1}")

    def _token(self, value: str) -> str:
        if self.tokens is None:
            raise InputError("digests need a key")
        return self.tokens.of(value)


def _ids(value: Any, role: Role | None = None) -> Iterator[str]:
    """Every ID of a document that a case or a trace names: they can stand in the parameters of a stage too."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _ids(getattr(value, name), ROLES.get(f"{type(value).__name__}.{name}"))
    elif isinstance(value, tuple):
        for item in value:
            yield from _ids(item, role)
    elif role == "id" and isinstance(value, str):
        yield value


def pseudonyms(privacy: Privacy, tokens: Tokens | None = None, words: Iterable[str] = ()) -> Pseudonyms:
    """Those of a privacy, under a key where there is one; `words` are redacted as names.

    >>> hidden = pseudonyms(Privacy(texts="redacted"), words=["Acme"])
    >>> hidden.of(Case(id="q", query="Does Acme bill ann@example.org?")).query
    'Does [name] bill [email]?'
    """
    return Pseudonyms(privacy, tokens, tuple(words))
