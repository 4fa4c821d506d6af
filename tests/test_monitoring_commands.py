"""The commands: monitor, pack, replay, regress; facts as text and as JSON, and exit codes."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rankwork.cli import commands
from rankwork.evidence.tokens import KEY, KEY_FILE
from rankwork.inputs.traces import read_cases, write_cases, write_traces
from rankwork.trace import (
    CacheHit,
    Case,
    Events,
    Evidence,
    Identity,
    Item,
    Prompt,
    Requirement,
    Stage,
    Trace,
)

QUERY = "What changed in the March release?"
AGENT = Identity(tenant="Acme", role="agent")
NEEDED = (Requirement(any_of=(Evidence(id="gold"),)),)
CASE = Case(id="q", query=QUERY, identity=AGENT, requires=NEEDED)
ITEMS = (Item(id="other", rank=1), Item(id="gold", kept=False, drop_reason="quota"))
STAGES = (
    Stage(kind="retrieve", returned=2, latency_ms=4.0, items=(Item(id="other", rank=1), Item(id="gold", rank=2))),
    Stage(kind="context", returned=1, items=ITEMS),
)
TRACE = Trace(case="q", query=QUERY, time=datetime(2026, 3, 1, tzinfo=UTC), identity=AGENT, stages=STAGES,
              snapshot={"index": "7"}, prompt=Prompt(ids=("other",)), answer="None.", refused=False)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (KEY, KEY_FILE):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: Any, code: int = 0) -> str:
    """The output of a command, which exits so."""
    from rankwork.errors import RankworkError

    result = CliRunner().invoke(commands, list(map(str, arguments)), standalone_mode=False)
    if isinstance(result.exception, RankworkError):
        assert code == 2
        return str(result.exception)
    if result.exception is not None:
        assert code == 2
        return str(getattr(result.exception, "message", result.exception))
    assert (result.return_value or 0) == code, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_traces(tmp_path / "traces.jsonl", [TRACE])
    write_cases(tmp_path / "held.jsonl", [Case(id="h", query="Who may sign?", split="holdout")])
    write_cases(tmp_path / "q.jsonl", [CASE])
    return tmp_path


def packed(folder: Path, *options: Any) -> Path:
    run("pack", folder / "traces.jsonl", "q", "--cases", folder / "q.jsonl", "-o", folder / "p.json", *options)
    return folder / "p.json"


def test_monitor_tells_a_window_and_its_budgets(folder: Path) -> None:
    ok = Stage(kind="retrieve", returned=0, latency_ms=4.0)
    write_traces(folder / "many.jsonl", [Trace(case=str(n), stages=(ok,)) for n in range(300)])
    text = run("monitor", folder / "many.jsonl", "--budget", "retrieve", "P99", 5)
    assert "retrieve (300 calls): P50 4 [4, 4]; P95 4 [4, 4]; P99 4 [4, -]; candidates P5 0, P50 0, P95 0" in text
    assert "cross_tenant_cache_hit: no trace can show it" in text
    assert "budget of retrieve: P99 <= 5: within (0 of 300 above 5; it takes 299)" in text
    told = json.loads(run("monitor", folder / "many.jsonl", "--budget", "retrieve", "P99", 3, "--json", code=1))
    assert [(kept["stage"], kept["verdict"]) for kept in told["budgets"]] == [("retrieve", "exceeded")]
    assert told["traces"] == 300
    message = run("monitor", folder / "many.jsonl", "--budget", "retrieve", "99th", 3, code=2)
    assert message == "a quantile is named as P50 or P99.9, got '99th'"


def test_monitor_exits_with_1_for_a_hard_event_and_tells_what_moved(folder: Path) -> None:
    leaked = Events(cache_hits=(CacheHit(key="k", tenant="Other"),))
    write_traces(folder / "leak.jsonl", [TRACE.model_copy(update={"events": leaked})])
    text = run("monitor", folder / "leak.jsonl", "--after", folder / "traces.jsonl", code=1)
    assert "HARD EVENT cross_tenant_cache_hit in case 'q': k of Other" in text
    assert "figures moved; all limits hold together at 95%" in text


def test_a_failure_is_packed_replayed_and_becomes_a_test(folder: Path) -> None:
    """The whole way in four commands."""
    package = packed(folder, "--texts", "redacted")
    text = run("replay", package)
    assert "gold gold: " in text
    assert "look at deduplication, parents, quota or token budget" in text
    told = json.loads(run("replay", package, "--json"))
    assert told["stages"][1]["items"][1] == {"id": "gold", "kept": False, "drop_reason": "quota"}
    assert told["funnel"]["diagnoses"][0]["row"] == "lost_in_context"
    assert told["identity"] == {"tenant": "tenant 1", "role": "agent"}
    target = folder / "cases.jsonl"
    options = ("--to", target, "--by", "search team", "--why", "not shown", "--tenant", "Acme")
    run("regress", "add", package, *options, "--held-out", folder / "held.jsonl")
    case = read_cases(target)[0]
    write_traces(folder / "again.jsonl", [TRACE.model_copy(update={"case": case.id})])
    assert "0 of 1 pass" in run("regress", "run", target, folder / "again.jsonl", code=1)
    repaired = TRACE.model_copy(update={"case": case.id, "prompt": Prompt(ids=("gold",))})
    write_traces(folder / "repaired.jsonl", [repaired])
    assert json.loads(run("regress", "run", target, folder / "repaired.jsonl", "--json"))[0]["verdict"] == "pass"


def test_digests_need_a_key_and_are_sealed_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("pack", folder / "traces.jsonl", "q", "-o", folder / "p.json")
    assert "digests need a key" in run(*arguments, code=2)
    monkeypatch.setenv(KEY, "a key of sixteen or more")
    assert "sealed" in run(*arguments)
    assert "seal right" in run("replay", folder / "p.json")
    assert QUERY not in (folder / "p.json").read_text()


def test_a_changed_file_is_bad_input(folder: Path) -> None:
    package = packed(folder, "--texts", "plain", "--keep-tenants")
    package.write_text(package.read_text().replace('"quota"', '"tie_cut"'))
    assert run("replay", package, code=2).endswith("it was changed")
    assert "cannot be read" in run("replay", folder / "none.json", code=2)


def test_what_is_held_out_must_be_said(folder: Path) -> None:
    package, options = packed(folder, "--texts", "redacted"), ("--to", folder / "c.jsonl", "--by", "me", "--why", "x")
    assert "say --no-held-out" in run("regress", "add", package, *options, code=2)
    both = (*options, "--no-held-out", "--held-out", folder / "held.jsonl")
    assert "say --no-held-out" in run("regress", "add", package, *both, code=2)
    assert json.loads(run("regress", "add", package, *options, "--no-held-out", "--json"))["origin"] == "replay"


def test_a_trace_must_be_one(folder: Path) -> None:
    options = ("-o", folder / "p.json", "--texts", "plain")
    assert run("pack", folder / "traces.jsonl", "r", *options, code=2) == "no trace of case 'r'"
    write_traces(folder / "two.jsonl", [TRACE, TRACE.model_copy(update={"run": "b"})])
    message = run("pack", folder / "two.jsonl", "q", *options, code=2)
    assert message == "case 'q' has traces of the runs '', 'b': name one"
    run("pack", folder / "two.jsonl", "q", *options, "--run", "b")


def test_a_package_whose_trace_its_case_cannot_score_says_so(folder: Path) -> None:
    other = TRACE.model_copy(update={"query": "Another question?"})
    write_traces(folder / "other.jsonl", [other])
    options = ("--cases", folder / "q.jsonl", "-o", folder / "p.json", "--texts", "plain")
    run("pack", folder / "other.jsonl", "q", *options)
    assert "missing: no funnel: " in run("replay", folder / "p.json")
