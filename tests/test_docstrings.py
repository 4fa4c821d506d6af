"""The docstring collection: what is public, what a docstring's parts are, what is relevant to what."""

import os
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


def test_a_part_in_bold_is_taken_out_up_to_the_next_section() -> None:
    text = "Sum.\n\nNotes\n-----\nExact.\n\n**Backends**\n\nA table of 3.\n\nReferences\n----------\n.. [1] A book."
    assert Docstring(text).without("Backends") == text.replace("**Backends**\n\nA table of 3.\n\n", "")
    assert Docstring(text).without("Backends", "References").endswith("Exact.")


def test_without_taking_out_anything_the_text_stays() -> None:
    assert Docstring(NORM).without() == NORM.strip()


SIGNATURES = (
    "add(x1, x2, /,\n    out=None)", "ndarray.sum(axis=None)", "f(x) -> int", "y = f(x)",
    "a, b = f(x)\n\ng(x, y=(1, 2))",
)  # fmt: skip


@pytest.mark.parametrize("signature", SIGNATURES)
def test_the_summary_is_what_follows_the_signatures(signature: str) -> None:
    assert Docstring(f"{signature}\n\nAdd things.\nAnd more.").summary == "Add things."


@pytest.mark.parametrize("summary", ["Add (element-wise) things.", "cos(x) - 1 for small x.", "f(x) of a (matrix)."])
def test_a_sentence_is_no_signature(summary: str) -> None:
    assert Docstring(summary).summary == summary


def test_a_docstring_of_signatures_says_nothing() -> None:
    assert Docstring("f(x)\n\ng(y)").summary == ""


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
    case = next(case for case in collection.cases if case.id == "numpy.linalg.slogdet")
    document = collection.by_id["numpy.linalg.slogdet"]
    assert document.text.startswith(case.query)
    assert "numpy.linalg.slogdet" in case.excludes
    assert "numpy.linalg.slogdet" not in case.gold
    assert len(case.requires) == len(case.gold) > 0
    for evidence in case.gold.values():
        target = collection.by_id[evidence.id]
        assert (evidence.source, evidence.revision) == (target.source, target.revision)
        assert (evidence.start, evidence.end) == (0, len(target.text))


def test_every_case_holds_together(collection: Collection) -> None:
    for case in collection.cases:
        assert case.requires
        assert case.query
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
    assert judged.grades_of("numpy.linalg.slogdet") == dict.fromkeys(
        next(case for case in collection.cases if case.id == "numpy.linalg.slogdet").gold, 1
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


DIGEST = """
{before}
from rankwork.digest import digest
from rankwork.retrieval.collection import docstrings
c = docstrings(queries=50)
print(digest([[d.id, d.text] for d in c.documents] + [case.model_dump(mode="json") for case in c.cases]))
"""


@pytest.mark.slow
def test_the_collection_is_the_same_under_every_hash_seed_and_whatever_was_imported() -> None:
    """Scipy writes into numpy's docstrings once parts of it are loaded: that must not show."""
    found = set()
    for seed, before in (("1", ""), ("2", "import scipy.signal, scipy.stats, sklearn.decomposition")):
        own = {**os.environ, "PYTHONHASHSEED": seed}
        code = DIGEST.format(before=before)
        done = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1
