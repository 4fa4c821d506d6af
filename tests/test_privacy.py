"""What names this machine leaves a text; what does not stays to the letter."""

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankwork.evidence import privacy
from rankwork.evidence.privacy import places_of, scrub, scrubbed


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An environment that a test may change, looked at anew."""
    privacy._replacements.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    privacy._replacements.cache_clear()


def test_paths_host_and_addresses_give_way_to_what_they_stand_for() -> None:
    text = f"{sys.prefix}/lib {Path.home()}/x <function f at 0x7f3a5c0d2e10> {platform.node()}"
    clean = scrub(text)
    assert clean.startswith("<environment>/lib ")
    assert clean.split(" <function")[1].startswith(" f at 0x...>")
    assert str(Path.home()) + "/" not in clean
    assert scrub(clean) == clean


def test_a_cell_is_named_as_a_cell_and_not_by_its_temporary_file() -> None:
    assert scrub('File "/tmp/ipykernel_4711/1234567.py", line 3') == 'File "<cell>", line 3'


def test_keys_are_scrubbed_as_values_are() -> None:
    assert scrubbed({"at 0x7f3a5c0d2e10": ["at 0x7f3a5c0d2e10", 7, None]}) == {"at 0x...": ["at 0x...", 7, None]}


def test_a_long_text_without_a_space_stays_and_does_not_hold_up_a_run() -> None:
    """An image or the bits of an array: looking for a file's name at each of its places would take minutes."""
    bits = "iVBORw0KGgo" * 200_000
    assert scrub(bits) == bits


def test_the_user_gives_way_as_a_whole_word(planted: pytest.MonkeyPatch) -> None:
    planted.setenv("LOGNAME", "jane")
    assert scrub("jane, JANE, janet, jane@host, by_jane") == "<user>, JANE, janet, <user>@host, by_jane"


@pytest.mark.parametrize("name", ["root", "test", "jovyan", "ab"])
def test_a_user_name_that_names_no_person_stays(planted: pytest.MonkeyPatch, name: str) -> None:
    planted.setenv("LOGNAME", name)
    assert scrub(f"the {name} of it") == f"the {name} of it"


def test_values_of_variables_give_way_where_they_are_long_enough(planted: pytest.MonkeyPatch) -> None:
    planted.setenv("MY_TOKEN", "s3cr3t-enough")
    planted.setenv("MY_SWITCH", "on")
    planted.setenv("LC_ALL", "en_GB.UTF-8")
    assert scrub("s3cr3t-enough is on in en_GB.UTF-8") == "<$MY_TOKEN> is on in en_GB.UTF-8"


def test_folders_in_use_and_those_above_them_give_way_the_longest_first() -> None:
    places = places_of({"evidence": Path("/srv/team/book/evidence"), "workbook": Path("/srv/team/book")})
    text = "/srv/team/book/evidence/x /srv/team/book/y /srv/team/z /srv/w /srv/team/bookshop"
    assert scrub(text, places) == "<evidence>/x <workbook>/y <above>/z /srv/w <above>/bookshop"


def test_folders_that_all_machines_have_are_not_taken_for_ones_own() -> None:
    assert set(places_of({"folder": Path("/usr/local/share/book")})) == {"/usr/local/share/book"}
    assert str(Path(sys.base_prefix).parent) not in places_of({"folder": Path(sys.base_prefix) / "book"})


def test_the_home_of_the_environment_gives_way(planted: pytest.MonkeyPatch) -> None:
    planted.setenv("HOME", "/nowhere/at/home")
    assert scrub(f"{os.path.expanduser('~')}/x") == "<home>/x"
