"""Who may be ranked at all: permissions, validity and exclusions, decided before any score is looked at.

A document that may not be read takes no place in a list, so that it can neither be shown nor push another one out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from rankwork.inputs.documents import Document
from rankwork.trace import Case, DropReason, Identity

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Eligibility:
    """For one case, which documents are candidates; one flag for each document of the collection.

    `readable`: the identity may read it. `valid`: it holds at the time of the case. `excluded` are the positions that
    the case itself takes out. A document that is neither readable nor valid counts as filtered by permission.
    """

    readable: Flags
    valid: Flags
    excluded: tuple[int, ...] = ()

    @property
    def candidates(self) -> Flags:
        """Which documents may be ranked."""
        found = self.readable & self.valid
        found[list(self.excluded)] = False
        return found

    def reason(self, position: int) -> DropReason | None:
        """Why a document is no candidate by permission or time; None where it is one, or is excluded by the case."""
        if not self.readable[position]:
            return "acl_filtered"
        return None if self.valid[position] else "time_filtered"

    def counts(self) -> dict[str, int]:
        """How many documents were taken out for each reason, and how many are left."""
        return {
            "candidates": int(self.candidates.sum()),
            "acl_filtered": int((~self.readable).sum()),
            "time_filtered": int((self.readable & ~self.valid).sum()),
            "excluded": int((self.readable & self.valid)[list(self.excluded)].sum()),
        }


class Gate:
    """The eligibility of documents, in their order, for cases; each identity and each time is looked at once.

    >>> gate = Gate([Document("a", "x", tenant="acme"), Document("b", "y")])
    >>> gate.of(Case(id="q", query="?", identity=Identity(tenant="other"))).counts()
    {'candidates': 1, 'acl_filtered': 1, 'time_filtered': 0, 'excluded': 0}
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = tuple(documents)
        self._place = {document.id: place for place, document in enumerate(self._documents)}
        self._readable: dict[Identity, Flags] = {}
        self._valid: dict[datetime | None, Flags] = {}

    def of(self, case: Case) -> Eligibility:
        """Which documents are candidates for this case; excluded IDs that the collection lacks are passed over."""
        if case.identity not in self._readable:
            flags = (document.is_open_to(case.identity) for document in self._documents)
            self._readable[case.identity] = np.fromiter(flags, np.bool_, len(self._documents))
        if case.time not in self._valid:
            flags = (document.holds_at(case.time) for document in self._documents)
            self._valid[case.time] = np.fromiter(flags, np.bool_, len(self._documents))
        excluded = tuple(self._place[name] for name in case.excludes if name in self._place)
        return Eligibility(self._readable[case.identity], self._valid[case.time], excluded)
