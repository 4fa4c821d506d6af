"""What names this machine leaves a text; what does not stays to the letter."""

import platform
import sys
from pathlib import Path

from rankwork.evidence.privacy import scrub, scrubbed


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
