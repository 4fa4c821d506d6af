"""A selection is every entry that is all that is asked, and nothing else."""

from typing import Any

import pytest

from rankwork.errors import InputError
from rankwork.evidence.selecting import selection
from rankwork.evidence.store import Entry


def entry(**said: Any) -> Entry:
    given = {
        "record_id": "a" * 64,
        "notebook": "05_audit",
        "status": "complete",
        "started": "2026-11-10T12:00:00+00:00",
    }
    return Entry(**{**given, "recipe_digest": None, "result_digest": None, "path": "x", **said})


def test_a_selection_that_asks_for_nothing_is_met_by_all_and_is_false() -> None:
    assert not selection()
    assert selection().meets(entry())


@pytest.mark.parametrize(("name", "met"), [("05", True), ("05_audit", True), ("05_audits", False), ("audit", False)])
def test_a_notebook_is_named_by_its_beginning(name: str, met: bool) -> None:
    assert selection(notebook=name).meets(entry()) is met


@pytest.mark.parametrize(
    ("value", "text", "met"),
    [
        (3, "3", True),
        (3, "4", False),
        (3, "true", False),
        (1, "true", False),
        (True, "true", True),
        (True, "1", False),
        (0.5, ".5", True),
        (2.0, "2", True),
        ("007", "007", True),
        ("3", "3", True),
        ("true", "true", True),
        (["R@1", "R@5"], "[R@1, R@5]", True),
        (["R@1"], "R@1", False),
        (None, "null", True),
    ],
)
def test_a_parameter_is_compared_as_the_type_that_it_has(value: Any, text: str, met: bool) -> None:
    assert selection(assignments=(f"x={text}",)).meets(entry(parameters={"x": value})) is met


def test_an_entry_without_the_parameter_does_not_meet_it() -> None:
    assert not selection(assignments=("x=null",)).meets(entry(parameters={"y": 1}))


def test_several_parameters_must_all_agree_and_of_several_statuses_one() -> None:
    both = selection(assignments=("x=1", "y=2"), statuses=("failed", "complete"))
    assert both.meets(entry(parameters={"x": 1, "y": 2}))
    assert not both.meets(entry(parameters={"x": 1, "y": 3}))
    assert not both.meets(entry(parameters={"x": 1, "y": 2}, status="killed"))


@pytest.mark.parametrize(
    ("asked", "met"),
    [
        ({"since": "2026-11-10"}, True),
        ({"since": "2026-11-11"}, False),
        ({"until": "2026-11-10"}, True),
        ({"until": "2026-11-09"}, False),
        ({"before": "2026-11-10"}, False),
        ({"before": "2026-11-11"}, True),
        ({"before": "2026-11-10T12:00"}, False),
        ({"before": "2026-11-10T12:01"}, True),
        ({"since": "2026-11-10T12:00:00+00:00"}, True),
        ({"since": "2026-11-10T12:00:00-01:00"}, False),
        ({"until": "2026-11-10", "before": "2026-11-10T01:00"}, False),
    ],
)
def test_dates_are_days_and_moments_in_utc(asked: dict[str, str], met: bool) -> None:
    assert selection(**asked).meets(entry()) is met  # type: ignore[arg-type]


def test_an_entry_without_a_date_meets_no_date() -> None:
    assert not selection(before="2999-01-01").meets(entry(started=""))
    assert not selection(before="2999-01-01").meets(entry(started="yesterday"))


def test_all_tags_must_be_there() -> None:
    assert selection(tags=("a", "b")).meets(entry(tags=("a", "b", "c")))
    assert not selection(tags=("a", "b")).meets(entry(tags=("a",)))


def test_scratch_means_what_has_no_record() -> None:
    assert selection(scratch=True).meets(entry(record_id=None))
    assert not selection(scratch=True).meets(entry())


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"assignments": ("x",)}, "-p x: 'name=value' was expected"),
        ({"assignments": ("=3",)}, "-p =3: 'name=value' was expected"),
        ({"statuses": ("done",)}, "status must be one of complete, failed, .*, got 'done'"),
        ({"since": "soon"}, "a date such as 2026-11-30 .* was expected, got 'soon'"),
        ({"until": "2026-02-30"}, "got '2026-02-30'"),
        ({"before": "30.11.2026"}, "got '30.11.2026'"),
    ],
)
def test_what_is_no_assignment_status_or_date_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        selection(**asked)
