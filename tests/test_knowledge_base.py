"""The shipped knowledge base: it is what its generator writes, and its evidence stands where the cases say."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

from rankwork.errors import InputError
from rankwork.inputs.documents import Document
from rankwork.inputs.knowledge_base import SEED, generated, injections, knowledge_base, save
from rankwork.inputs.knowledge_base.cases import SHARES
from rankwork.inputs.knowledge_base.catalogue import DATA, phrases
from rankwork.inputs.knowledge_base.documents import all_documents
from rankwork.inputs.knowledge_base.tenants import tenants
from rankwork.trace import Case, Evidence, Split

SLICES = (
    "frequent", "long_tail", "no_answer", "ambiguous", "multi_hop", "fresh", "exact_identifier", "multilingual",
    "permissions", "injection", "cross_language", "language_en", "language_zh", "language_de", "language_es",
)  # fmt: skip
FAR = datetime(9999, 1, 1, tzinfo=UTC)
BASE = knowledge_base()
CASES, DOCUMENTS = BASE.cases, BASE.documents


def gold() -> Iterator[tuple[Case, Evidence, Document]]:
    """Every piece of evidence with its case and its document."""
    for case in CASES:
        for evidence in case.gold.values():
            yield case, evidence, BASE.by_id[f"{evidence.source}@{evidence.revision}"]


def test_the_files_are_what_the_generator_writes() -> None:
    """Byte for byte; `python -m rankwork.inputs.knowledge_base` writes them again."""
    for name, text in generated().items():
        assert (DATA / name).read_bytes() == text.encode(), name


def test_the_reader_gives_back_what_the_generator_made() -> None:
    assert tuple(written.document for written in all_documents(SEED)) == DOCUMENTS


def test_another_seed_makes_another_base_of_the_same_form(tmp_path: Path) -> None:
    save(tmp_path, seed=7)
    assert all((tmp_path / name).read_text(encoding="utf-8") != text for name, text in generated().items())


def test_fifty_tenants_in_four_languages() -> None:
    assert len(tenants(SEED)) == len({document.tenant for document in DOCUMENTS} - {""}) == 50
    assert Counter(tenant.language for tenant in tenants(SEED)) == {"en": 26, "de": 8, "zh": 8, "es": 8}
    assert {document.language for document in DOCUMENTS} == {"en", "de", "zh", "es"}
    assert 400 <= len(DOCUMENTS) <= 800
    assert 300 <= len(CASES) <= 600


def test_it_is_small_enough_to_ship() -> None:
    sizes = [len(text.encode()) for text in generated().values()]
    assert max(sizes) < 1_000_000
    assert sum(sizes) < 1_300_000


@pytest.mark.parametrize("name", SLICES)
def test_every_slice_has_twenty_cases_of_several_clusters(name: str) -> None:
    clusters = [case.cluster for case in CASES if name in case.slices]
    assert len(clusters) >= 20
    assert len(set(clusters)) >= 10


def test_every_quote_stands_where_its_anchor_says() -> None:
    for case, evidence, document in gold():
        assert document.text[evidence.start : evidence.end] == evidence.quote != "", case.id


def test_the_evidence_holds_when_the_question_is_asked() -> None:
    for case, evidence, document in gold():
        assert document.holds_at(case.time), (case.id, evidence.id)
        assert case.time is not None
        assert case.valid_from is not None
        assert case.valid_from <= case.time < (case.valid_until or FAR), case.id


def test_whoever_asks_can_read_the_evidence_unless_a_refusal_is_right() -> None:
    """What may not be read is gold all the same: it is what must not leak."""
    for case, evidence, document in gold():
        assert document.is_open_to(case.identity) == (case.expected == "answer"), (case.id, evidence.id)
        assert case.expected == "answer" or "permissions" in case.slices, case.id


def test_refusals_are_those_without_an_answer_and_those_without_permission() -> None:
    for case in CASES:
        assert ("no_answer" in case.slices) == (not case.requires), case.id
        assert (case.expected == "answer") == bool(case.points) == (len(case.points) == len(case.requires) > 0), case.id
    refused = [case for case in CASES if case.expected == "refuse" and case.requires]
    assert {case.id.split(".")[-1] for case in refused} == {"denied", "of-another"}


def test_permissions_are_asked_from_both_sides() -> None:
    sides = Counter(case.expected for case in CASES if "permissions" in case.slices)
    assert min(sides.values()) >= 20
    assert len(sides) == 2


def test_no_answer_stands_anywhere_that_the_asker_may_read() -> None:
    """The code, the incident or the team of a question without answer is in no open document."""
    for case in (case for case in CASES if "no_answer" in case.slices):
        readable = " ".join(d.text for d in DOCUMENTS if d.tenant and d.is_open_to(case.identity))
        for name in re.findall(r"[A-Z]{3}-(?:\d{4}-)?\d{4}", case.query):
            assert name not in readable, case.id
        if case.id.endswith("nobody.owner"):
            service = next(word for word in re.findall(r"[a-z]+-[a-z]+", case.query))
            assert service not in readable, case.id


def test_the_points_can_be_read_off_the_evidence() -> None:
    """Every number of a point stands in the evidence of its requirement, or names a service or a team."""
    for case in CASES:
        for need, point in zip(case.requires, case.points, strict=False):
            quotes = " ".join(evidence.quote for evidence in need.any_of)
            assert set(re.findall(r"\d+", point)) <= set(re.findall(r"\d+", quotes)), (case.id, point)


def test_what_shares_text_or_source_shares_a_cluster() -> None:
    by_key: dict[str, set[str]] = {}
    for case in CASES:
        for key in (case.query, *(evidence.source for evidence in case.gold.values())):
            by_key.setdefault(key, set()).add(case.cluster)
    assert {len(clusters) for clusters in by_key.values()} == {1}


def test_no_cluster_stands_in_two_splits_and_each_split_has_its_share() -> None:
    assert len({(case.cluster, case.split) for case in CASES}) == len({case.cluster for case in CASES})
    found = Counter(case.split for case in CASES)
    assert set(found) == set(get_args(Split))
    for split, share in SHARES.items():
        assert abs(found[split] / len(CASES) - share) < 0.03


def test_questions_and_ids_are_unique_and_the_origin_is_told() -> None:
    assert len({case.query for case in CASES}) == len({case.id for case in CASES}) == len(CASES)
    assert {case.origin for case in CASES} == {"synthetic"}


def test_a_revision_ends_when_the_next_begins_and_changes_its_numbers() -> None:
    by_source: dict[str, list[Document]] = {}
    for document in DOCUMENTS:
        by_source.setdefault(document.source, []).append(document)
    revised = [revisions for revisions in by_source.values() if len(revisions) > 1]
    assert len(revised) == 100
    for revisions in revised:
        for before, after in pairwise(revisions):
            assert before.valid_until == after.valid_from
            assert before.text != after.text
        assert revisions[-1].valid_until is None


def test_the_notes_of_a_team_repeat_numbers_that_no_longer_hold() -> None:
    """A false source: it may be read, it holds, and for each fact it says what the runbook no longer says."""
    written = {one.document.id: one for one in all_documents(SEED)}
    for tenant in tenants(SEED):
        first, notes = tenant.services[0].name, written[f"{tenant.slug}.notes@r1"]
        current = written[f"{tenant.slug}.{first}.runbook@r{tenant.revisions[0]}"]
        assert notes.document.valid_until is None
        for fact in ("heap", "pool", "timeout", "drain"):
            assert notes.facts[fact] != current.facts[fact]


def test_a_question_about_the_past_rests_on_the_revision_of_then() -> None:
    past = [case for case in CASES if case.id.endswith("pool.before")]
    assert len(past) >= 10
    assert all(evidence.revision == "r1" for case in past for evidence in case.gold.values())


def test_error_codes_of_a_list_differ_from_a_neighbour_in_one_digit() -> None:
    for document in (document for document in DOCUMENTS if document.source.endswith(".errors")):
        codes = sorted(set(re.findall(r"[A-Z]{3}-\d{4}", document.text)))
        apart = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in combinations(codes, 2)]
        assert len(codes) == 6, document.id
        assert apart.count(1) >= 2, document.id


def test_the_same_code_means_different_things_to_different_tenants() -> None:
    meanings: dict[str, set[str]] = {}
    for document in DOCUMENTS:
        for code, meaning in re.findall(r"^([A-Z]{3}-\d{4}): (.*)$", document.text, re.MULTILINE):
            meanings.setdefault(code, set()).add(meaning)
    assert sum(len(several) > 1 for several in meanings.values()) >= 3


def test_the_injections_are_named_with_their_words() -> None:
    found = injections()
    assert len(found) == 40
    assert all(words in BASE.by_id[document].text for document, words in found.items())
    asked = {document.id for case, _, document in gold() if "injection" in case.slices}
    assert asked == set(found)


def test_no_injection_is_evidence() -> None:
    words = injections().values()
    assert not [evidence for _, evidence, _ in gold() if evidence.quote in words]


def test_all_languages_have_templates_for_the_same_things() -> None:
    forms = []
    for language in ("en", "de", "es", "zh"):
        known = phrases(language)
        forms.append({part: sorted(known[part]) for part in ("documents", "claims", "settings", "questions")})
    assert all(form == forms[0] for form in forms)


def test_the_collection_names_the_digest_of_its_files() -> None:
    assert re.fullmatch("[0-9a-f]{12}", BASE.revision)
    assert BASE.name == "knowledge-base"


def test_the_first_tenants_are_a_base_of_their_own() -> None:
    """Their documents and the platform's; cases whose evidence lies with another tenant are left out."""
    part = knowledge_base(tenants=6)
    assert {document.tenant for document in part.documents} == {"", *(tenant.slug for tenant in tenants(SEED)[:6])}
    assert {document.language for document in part.documents} == {"en", "de", "zh", "es"}
    assert {case.identity.tenant for case in part.cases} == {document.tenant for document in part.documents} - {""}
    assert all(f"{e.source}@{e.revision}" in part.by_id for case in part.cases for e in case.gold.values())
    assert part.revision != BASE.revision
    assert {case.id for case in part.cases} < {case.id for case in CASES}


def test_fifty_tenants_are_all_documents_and_cases() -> None:
    assert (knowledge_base(tenants=50).documents, knowledge_base(tenants=50).cases) == (DOCUMENTS, CASES)


@pytest.mark.parametrize("number", [0, 51, True, 2.0])
def test_a_number_of_tenants_out_of_range_is_refused(number: Any) -> None:
    with pytest.raises(InputError, match=f"tenants must be an integer between 1 and 50, got {number!r}"):
        knowledge_base(tenants=number)
