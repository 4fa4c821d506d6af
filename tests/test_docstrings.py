"""The docstring collection: what is public, what a docstring's parts are, what is relevant to what."""

import subprocess
import sys
from collections import defaultdict

import pytest

from rankwork.errors import InputError
from rankwork.inputs.documents import Collection
from rankwork.retrieval.collection import docstrings, judgements
from rankwork.retrieval.public_names import public
from rankwork.retrieval.sections import Docstring

NORM = """\
Vector norm.

Longer text
with `See Also` inside.

Parameters
----------
x : array

See Also
--------
scipy.linalg.norm : Its sibling,
    with a second line, not a name : really.
dot, vdot : Two at once.
:func:`numpy.linalg.svd`, `cond`
eigvals() : A call.

Notes
-----
See Also is a title only on a line of its own.

Examples
--------
>>> norm([3, 4])
"""


def test_see_also_names_are_read_in_all_their_forms() -> None:
    assert Docstring(NORM).see_also == ("scipy.linalg.norm", "dot", "vdot", "numpy.linalg.svd", "cond", "eigvals")


def test_sections_are_taken_out_whole_and_nothing_else() -> None:
    text = Docstring(NORM).without("See Also", "References", "Examples")
    assert "scipy.linalg.norm" not in text
    assert ">>> norm" not in text
    assert "See Also is a title only" in text
    assert "x : array" in text
    assert text.startswith("Vector norm.")


def test_without_taking_out_anything_the_text_stays() -> None:
    assert Docstring(NORM).without() == NORM.strip()


@pytest.mark.parametrize("line", ["add(x1, x2, /, out=None)", "ndarray.sum(axis=None)", "f (x)"])
def test_a_signature_line_is_told_from_a_sentence(line: str) -> None:
    assert Docstring(f"{line}\n\nAdd things.").opens_with_signature
    assert not Docstring("Add (element-wise) things.").opens_with_signature


def test_an_empty_docstring_has_nothing() -> None:
    assert (Docstring("").summary, Docstring("").see_also, Docstring("").without("Notes")) == ("", (), "")


@pytest.fixture(scope="module")
def collection() -> Collection:
    return docstrings(libraries=("numpy",))


def test_what_several_names_lead_to_is_there_once() -> None:
    """numpy.absolute and numpy.abs are one function; so are DataFrame's inherited methods and those of its base."""
    entries = {name: entry for entry in public("numpy") for name in entry.names}
    assert entries["numpy.abs"] is entries["numpy.absolute"]
    assert entries["numpy.abs"].name == "numpy.abs"


def test_private_names_and_foreign_things_are_left_out() -> None:
    names = [name for entry in public("numpy") for name in entry.names]
    assert len(names) == len(set(names))
    assert not [name for name in names if any(part.startswith("_") for part in name.split("."))]
    assert not [name for name in names if ".tests." in name]


def test_links_become_requirements(collection: Collection) -> None:
    case = next(case for case in collection.cases if case.id == "numpy.linalg.norm")
    document = collection.by_id["numpy.linalg.norm"]
    assert document.text.startswith(case.query)
    assert "numpy.linalg.norm" in case.excludes
    assert "numpy.linalg.norm" not in case.gold
    assert len(case.requires) == len(case.gold) > 0
    for evidence in case.gold.values():
        target = collection.by_id[evidence.id]
        assert (evidence.source, evidence.revision) == (target.source, target.revision)
        assert (evidence.start, evidence.end) == (0, len(target.text))


def test_every_case_holds_together(collection: Collection) -> None:
    for case in collection.cases:
        assert case.requires
        assert case.query
        assert not Docstring(case.query).opens_with_signature
        assert set(case.gold) <= collection.by_id.keys()
    for document in collection.documents:
        for title in ("See Also", "References", "Examples"):
            assert f"\n{title}\n---" not in f"\n{document.text}"


def test_cases_of_one_text_share_a_cluster_and_a_split(collection: Collection) -> None:
    by_text = defaultdict(set)
    for case in collection.cases:
        by_text[" ".join(case.query.lower().split())].add((case.cluster, case.split))
    assert all(len(clusters) == 1 for clusters in by_text.values())
    assert len({cluster for clusters in by_text.values() for cluster, _ in clusters}) == len(by_text)
    assert {case.split for case in collection.cases} == {"dev", "holdout"}


def test_a_draw_is_part_of_the_whole(collection: Collection) -> None:
    some = docstrings(libraries=("numpy",), queries=30, seed=3)
    assert len(some.cases) == 30
    assert some.documents == collection.documents
    whole = {case.id: case for case in docstrings(libraries=("numpy",), seed=3).cases}
    assert all(whole[case.id] == case for case in some.cases)
    assert some.cases != docstrings(libraries=("numpy",), queries=30, seed=4).cases


def test_judgements_hold_each_link(collection: Collection) -> None:
    judged = judgements(collection.cases)
    assert judged.grades_of("numpy.linalg.norm") == dict.fromkeys(
        next(case for case in collection.cases if case.id == "numpy.linalg.norm").gold, 1
    )


@pytest.mark.parametrize("queries", [0, -1, 10**6, True, 2.0])
def test_a_number_of_queries_out_of_range_is_refused(queries: int) -> None:
    with pytest.raises(InputError, match="queries must be an integer between 1 and"):
        docstrings(libraries=("numpy",), queries=queries)


def test_a_library_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="library 'no_such_library' cannot be imported"):
        docstrings(libraries=("no_such_library",))
    with pytest.raises(InputError, match=r"library 'numpy\.version' offers no docstring"):
        docstrings(libraries=("numpy.version",))


@pytest.mark.slow
def test_the_collection_is_the_same_under_every_hash_seed() -> None:
    code = (
        "from rankwork.retrieval.collection import docstrings; from rankwork.digest import digest;"
        "c = docstrings(libraries=('numpy',), queries=50);"
        "print(digest([[d.id, d.text] for d in c.documents] + [x.model_dump(mode='json') for x in c.cases]))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
