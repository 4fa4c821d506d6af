"""Candidates first: who may read, what holds now, what the case itself takes out."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from rankwork.inputs.documents import Document
from rankwork.retrieval.eligibility import Gate
from rankwork.trace import Case, Identity

TIMES = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3)]
limits = st.sampled_from([None, *TIMES])
documents = st.builds(
    Document,
    id=st.uuids().map(str),
    text=st.just(""),
    tenant=st.sampled_from(["", "acme", "other"]),
    roles=st.frozensets(st.sampled_from(["hr", "dev"])),
    valid_from=limits,
    valid_until=limits,
)


@given(
    held=st.lists(documents, max_size=6, unique_by=lambda document: document.id),
    tenant=st.sampled_from(["", "acme"]),
    role=st.sampled_from(["", "hr", "dev"]),
    time=limits,
    data=st.data(),
)
def test_each_document_is_counted_once_and_for_one_reason(
    held: list[Document], tenant: str, role: str, time: datetime | None, data: st.DataObject
) -> None:
    """Spelled out: permission first, then time, then the case's own exclusions."""
    excludes = data.draw(st.lists(st.sampled_from([document.id for document in held] or ["gone"]), unique=True))
    identity = Identity(tenant=tenant, role=role)
    case = Case(id="q", query="?", identity=identity, time=time, excludes=tuple(excludes))
    found = Gate(held).of(case)
    counts = {"candidates": 0, "acl_filtered": 0, "time_filtered": 0, "excluded": 0}
    for place, document in enumerate(held):
        mine = document.tenant in ("", tenant) and (not document.roles or role in document.roles)
        begun = time is None or document.valid_from is None or document.valid_from <= time
        over = time is not None and document.valid_until is not None and document.valid_until <= time
        reason = None if mine and begun and not over else "time_filtered" if mine else "acl_filtered"
        assert found.reason(place) == reason
        counts[reason or ("excluded" if document.id in excludes else "candidates")] += 1
        assert found.candidates[place] == (reason is None and document.id not in excludes)
    assert found.counts() == counts


def test_looking_once_does_not_leak_into_the_next_case() -> None:
    """Two identities of one gate, in turn; and an exclusion of one case is not one of the next."""
    gate = Gate([Document("a", "", tenant="acme"), Document("b", "", tenant="other")])
    cases = [Case(id="q", query="?", identity=Identity(tenant=tenant)) for tenant in ("acme", "other", "acme")]
    assert [gate.of(case).candidates.tolist() for case in cases] == [[True, False], [False, True], [True, False]]
    assert not gate.of(cases[0].model_copy(update={"excludes": ("a",)})).candidates.any()
    assert gate.of(cases[0]).candidates.tolist() == [True, False]


def test_a_time_without_a_zone_is_utc() -> None:
    gate = Gate(
        [Document("a", "", valid_from=datetime(2026, 1, 1)), Document("b", "", valid_until=datetime(2026, 1, 1))]
    )
    assert gate.of(Case(id="q", query="?", time=TIMES[0])).valid.tolist() == [True, False]
