"""Documents, the chunks that they are cut into, and the collection that holds them with its cases."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal

from rankwork.errors import InputError
from rankwork.trace import Case, Identity, moment


@dataclass(frozen=True)
class Document:
    """A document, or a chunk of one; who may read it, and when it holds.

    `source` names what it is a revision of, the same for all its revisions ("" where it is its own). A chunk has the
    source and the `revision` of the document that it was cut from, that document's ID as `parent`, and the characters
    `start` to `end`. `tenant` is the owner ("" for everyone's); `roles` may read it (none: every
    role of the tenant). It holds from `valid_from` up to, not including, `valid_until`; None is no limit.

    >>> handbook = Document("hr-1", "Leave is 30 days.", tenant="acme", roles=frozenset({"hr"}))
    >>> [handbook.is_open_to(Identity(tenant="acme", role=role)) for role in ("hr", "dev")]
    [True, False]
    """

    id: str
    text: str
    title: str = ""
    source: str = ""
    revision: str = ""
    start: int = 0
    end: int | None = None
    tenant: str = ""
    roles: frozenset[str] = frozenset()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    language: str = ""
    parent: str = ""

    def is_open_to(self, identity: Identity) -> bool:
        """Whether this identity may read it."""
        return (not self.tenant or self.tenant == identity.tenant) and (not self.roles or identity.role in self.roles)

    def holds_at(self, time: datetime | None) -> bool:
        """Whether it holds at that moment; at no moment in particular, everything does."""
        if time is None:
            return True
        return (self.valid_from is None or moment(self.valid_from) <= moment(time)) and (
            self.valid_until is None or moment(time) < moment(self.valid_until)
        )


@dataclass(frozen=True)
class Collection:
    """Documents (or chunks) of one revision, and the cases that are asked of them.

    `unit` says which of both they are; chunks come with the `chunker` that cut them and with their `parents`, the whole
    documents. `parser` is what read the documents.

    InputError for no document at all, or an ID that stands twice.
    """

    name: str
    revision: str
    documents: tuple[Document, ...]
    cases: tuple[Case, ...] = field(default=())
    unit: Literal["document", "chunk"] = "document"
    chunker: str = "none"
    parser: str = "none"
    parents: tuple[Document, ...] = ()

    def __post_init__(self) -> None:
        if not self.documents:
            raise InputError(f"collection {self.name}: it holds no document")
        if len(self.by_id) < len(self.documents):
            seen: set[str] = set()
            twice = next(d.id for d in self.documents if d.id in seen or seen.add(d.id))  # type: ignore[func-returns-value]
            raise InputError(f"collection {self.name}: document ID {twice!r} stands twice")

    @cached_property
    def by_id(self) -> dict[str, Document]:
        """Every document by its ID."""
        return {document.id: document for document in self.documents}
