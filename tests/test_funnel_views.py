"""What a funnel shows: figures that are the same bytes twice, the command with its exit codes, tables of losses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankwork import plots
from rankwork.cli import commands
from rankwork.diagnosis.chosen_collection import chosen_collection
from rankwork.diagnosis.funnel import Funnel, funnel
from rankwork.errors import ContractError, InputError
from rankwork.inputs.traces import write_cases, write_traces
from rankwork.plots.canvas import as_png
from rankwork.trace import Case, Evidence, Identity, Item, Requirement, Stage, Trace
from tests.staged import drawn

CASES, TRACES = drawn(40, seed=9)


def found() -> Funnel:
    return funnel(CASES, TRACES)


def test_the_figures_are_the_same_bytes_twice() -> None:
    for figure in (plots.rank_flow, plots.losses):
        assert as_png(figure(found())) == as_png(figure(found())) != b""
    assert as_png(plots.losses(found(), among="multi-hop")) != as_png(plots.losses(found()))


def test_a_flow_shows_every_piece_once_and_counts_what_is_absent() -> None:
    """Each piece that a stage kept has a mark at its end; below the scale stand the counts of the table."""
    axes = plots.rank_flow(found()).axes[0]
    table = found().evidence
    kept = table[list(found().table.stages)].notna().any(axis=1).sum()
    assert sum(line.get_marker() in ("o", "x") for line in axes.lines) == kept + 2  # two of the legend
    counts = [int(text.get_text()) for text in axes.texts]
    assert counts == [int(table[stage].isna().sum()) for stage in found().table.stages]


def test_what_cannot_be_drawn_is_refused() -> None:
    case = Case(id="q", query="?", requires=(Requirement(any_of=(Evidence(id="a"),)),))
    nothing = funnel([case], [Trace(case="q", stages=(Stage(kind="retrieve", returned=0),))])
    with pytest.raises(ContractError, match="no stage kept any gold evidence"):
        plots.rank_flow(nothing)
    with pytest.raises(ContractError, match="there is no slice 'rare'; there are all"):
        plots.losses(found(), among="rare")


def test_the_table_of_losses_adds_up() -> None:
    table = found().losses.to_pandas()
    whole = table[table["slice"] == "all"]
    assert whole["lost"].sum() + found().losses.rows["all", "reached"] == len(found().evidence)
    assert list(whole["share"]) == list(whole["lost"] / whole["entered"])


def test_a_slice_says_how_much_arrives_and_where_most_is_lost() -> None:
    line = next(line for line in str(found()).splitlines() if line.startswith("slice multi-hop: "))
    table = found().losses.to_pandas().query("slice == 'multi-hop'").sort_values("lost")
    entered = table[table["step"] == "retrieve"]["entered"].iloc[0]
    assert f": {entered - table['lost'].sum()} of {entered} pieces of gold arrive; most are lost at" in line
    assert line.endswith(f"{table['reason'].iloc[-1]} {table['lost'].iloc[-1]}")


def invoked(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(commands, ["funnel", *map(str, arguments)], standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.return_value, result.output


def test_the_command_prints_stages_losses_and_sentences(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases.jsonl", CASES)
    write_traces(tmp_path / "traces.parquet", TRACES)
    files = (tmp_path / "cases.jsonl", tmp_path / "traces.parquet")
    code, text = invoked(*files)
    assert code == 0
    assert text.rstrip("\n") == str(found())
    assert "in_one_route_only" in text
    code, text = invoked(*files, "--json", "-k", "2")
    assert (code, json.loads(text)) == (0, json.loads(json.dumps(funnel(CASES, TRACES, k=2).to_json())))
    code, text = invoked(*files, "--leaks")
    assert (code, text.splitlines()) == (0, found().leaks.lines)


def test_the_command_ends_with_1_where_a_document_leaked(tmp_path: Path) -> None:
    who = Identity(tenant="acme")
    case = Case(id="q", query="?", identity=who, requires=(Requirement(any_of=(Evidence(id="a"),)),))
    stage = Stage(kind="retrieve", returned=1, items=(Item(id="a", rank=1, tenant="globex"),))
    write_cases(tmp_path / "cases.jsonl", [case])
    write_traces(tmp_path / "traces.jsonl", [Trace(case="q", identity=who, stages=(stage,))])
    code, text = invoked(tmp_path / "cases.jsonl", tmp_path / "traces.jsonl", "--leaks", "--json")
    assert code == 1
    assert json.loads(text)["list"]["leaks"][0]["why"] == "it belongs to tenant 'globex'"
    code, text = invoked(tmp_path / "cases.jsonl", tmp_path / "traces.jsonl")
    assert code == 1
    assert "unauthorised documents: 1; stop the release" in text
    with pytest.raises(InputError, match=r"none\.jsonl"):
        invoked(tmp_path / "none.jsonl", tmp_path / "traces.jsonl")


def test_a_beir_folder_is_chosen_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "one"}\n{"_id": "b", "text": "two"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "one"}\n{"_id": "r", "text": "two"}\n')
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\nr\tb\t1\n")
    files = {"corpus": "corpus.jsonl", "questions": "queries.jsonl", "qrels": "test.tsv"}
    paths = {name: str(tmp_path / path) for name, path in files.items()}
    collection = chosen_collection("beir", queries=1, **paths)
    assert ([d.id for d in collection.documents], [case.id for case in collection.cases]) == (["a", "b"], ["q"])
    with pytest.raises(ContractError, match=r"'beir' needs its three files; queries\.jsonl is not given"):
        chosen_collection("beir", queries=1, **{**paths, "questions": ""})
    with pytest.raises(ContractError, match="collection must be one of docstrings, digits, knowledge_base, beir"):
        chosen_collection("wiki", queries=1)
