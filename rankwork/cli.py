"""The command line: `rankwork run`, `list`, `verify`, `compare`, `audit`, `gate`, `fix` and the others of `--help`.

Exit codes: 0 fine; 1 checked and found wanting; 2 bad input; 130 interrupted. Libraries are imported inside the
commands, so that `rankwork --help` answers at once.
"""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from rankwork import __version__
from rankwork.errors import InputError, RankworkError

if TYPE_CHECKING:
    from rankwork.decision.pseudonyms import Texts
    from rankwork.evidence.alarm import Alarm
    from rankwork.evidence.diagnosis import Comparison
    from rankwork.evidence.runner import Finished
    from rankwork.evidence.store import Entry, Store
    from rankwork.evidence.verifying import Verification

AUDIT_ORDERS = ("id_asc", "id_desc", "rank", "input", "inclusive")
FOUND_WANTING, BAD_INPUT, INTERRUPTED = 1, 2, 130
_MOST_LINES = 10


def main() -> None:
    """Run the command line and exit with its code; a user's mistake is one sentence on standard error."""
    try:
        code = commands(standalone_mode=False)
    except click.exceptions.Abort:
        code = _complain("interrupted", INTERRUPTED)
    except KeyboardInterrupt:
        code = _complain("interrupted", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except RankworkError as error:
        code = _complain(f"error: {error}", BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code or 0)


def _complain(sentence: str, code: int) -> int:
    click.echo(sentence, err=True)
    return code


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def commands() -> None:
    """See which documents were selected, whether others could have been, and what that does to the numbers."""


_evidence = click.option(
    "--evidence", type=click.Path(path_type=Path), help="The evidence folder (default: evidence/ of the workbook)."
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_SELECTING = (
    click.option("--notebook", metavar="NAME", help="Of this notebook, by name or beginning."),
    click.option(
        "-p", "assignments", multiple=True, metavar="NAME=VALUE", help="With this parameter; may be repeated."
    ),
    click.option("--status", "statuses", multiple=True, help="complete, failed, ...; may be repeated."),
    click.option("--since", metavar="DATE", help="Started on this day or later (UTC)."),
    click.option("--until", metavar="DATE", help="Started on this day or earlier."),
    click.option("--before", metavar="DATE", help="Started before this day or moment."),
    click.option("--tag", "tags", multiple=True, help="With this tag; may be repeated."),
)


def _selecting(command: Any) -> Any:
    """The options that say which records are meant."""
    for option in reversed(_SELECTING):
        command = option(command)
    return command


def _store(folder: Path | None) -> "Store":
    from rankwork.evidence.runner import workbook
    from rankwork.evidence.store import Store

    return Store(folder or workbook(Path.cwd()) / "evidence")


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


@commands.command()
@click.argument("notebooks", nargs=-1, required=True)
@click.option("--params", "chosen", metavar="smoke|full|FILE", help="A named set of values, or a YAML file of them.")
@click.option("-p", "assignments", multiple=True, metavar="NAME=VALUE", help="One parameter; may be repeated.")
@_evidence
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Notebooks at a time.")
@click.option("--timeout", type=click.FloatRange(min=1), help="Seconds for each notebook (default: no limit).")
@click.option(
    "--sweep", "grid", type=click.Path(path_type=Path), metavar="FILE", help="Run all combinations of FILE's grid."
)
@click.option("--scheduler", metavar="ADDRESS", help="Run a sweep on the Dask cluster at this address.")
@click.option(
    "--privacy",
    type=click.Choice(["plain", "digest"]),
    help="digest: keep texts and IDs as digests under the key in RANKWORK_PRIVACY_KEY.",
)
@_as_json
def run(
    notebooks: tuple[str, ...],
    chosen: str | None,
    assignments: tuple[str, ...],
    evidence: Path | None,
    jobs: int,
    timeout: float | None,
    grid: Path | None,
    scheduler: str | None,
    privacy: str | None,
    as_json: bool,
) -> int:
    """Execute NOTEBOOKS (names, beginnings of names, paths, or `all`) and keep a record of each."""
    if grid or scheduler:
        return _run_sweep(
            notebooks, grid, scheduler, chosen, assignments, privacy, _store(evidence), jobs, timeout, as_json
        )
    from rankwork.evidence import runner
    from rankwork.evidence.alarm import alarms as alarms_of
    from rankwork.evidence.verifying import verify as verify_record

    store = _store(evidence)
    paths = runner.find_notebooks(notebooks, runner.workbook(Path.cwd()))
    requests = [runner.prepare(path, chosen=chosen, assignments=assignments, privacy=privacy) for path in paths]
    runner.check_writable(store)
    finished = runner.run(requests, store, jobs=jobs, timeout=timeout, progress=_progress())
    verdicts = [verify_record(item.path) for item in finished]
    alarms = alarms_of((item.path for item in finished), store)
    if as_json:
        _print_json(_all_json(finished, verdicts, alarms))
    else:
        for item, verdict, raised in zip(finished, verdicts, alarms, strict=True):
            _print_finished(item, verdict.sentence)
            if raised:
                click.echo(f"  {raised}\n  {raised.diagnosis}")
    return 0 if all(verdicts) and not any(alarms) else FOUND_WANTING


def _run_sweep(
    notebooks: tuple[str, ...],
    grid: Path | None,
    scheduler: str | None,
    chosen: str | None,
    assignments: tuple[str, ...],
    privacy: str | None,
    store: "Store",
    jobs: int,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Run what is missing of a sweep, then the record over all of it."""
    from rankwork.evidence import runner, sweeping
    from rankwork.evidence.alarm import alarms as alarms_of
    from rankwork.evidence.cluster import Cluster
    from rankwork.evidence.verifying import verify as verify_record

    if grid is None:
        raise click.UsageError("--scheduler runs a sweep: say --sweep FILE")
    if chosen is not None:
        raise click.UsageError("--sweep and --params exclude each other: the values that stay belong into its file")
    paths = runner.find_notebooks(notebooks, runner.workbook(Path.cwd()))
    if len(paths) != 1:
        raise click.UsageError(f"--sweep takes one notebook, got {len(paths)}")
    sweep = sweeping.prepare(paths[0], grid, assignments, privacy)
    runner.check_writable(store)
    place: sweeping.Place = Cluster(scheduler, store, timeout) if scheduler else sweeping.Here(store, jobs, timeout)
    show = _progress(unit="")
    finished = sweeping.run(sweep, store, place, show and partial(show, sweep.notebook))
    over_all = sweeping.over_all(sweep, finished, store)
    verdicts = [verify_record(item.path) for item in (*finished, over_all)]
    alarms = alarms_of((item.path for item in (*finished, over_all)), store)
    if as_json:
        _print_json(_all_json((*finished, over_all), verdicts, alarms))
    else:
        for request, item in zip(sweep.requests, finished, strict=True):
            asked = ", ".join(f"{name}={request.values[name]}" for name in sweep.names)
            click.echo(f"{item.record_id[:12]}  {item.status:11}  {asked}")
        _print_finished(over_all, verdicts[-1].sentence)
        for raised in filter(None, alarms):
            click.echo(f"  {raised}\n  {raised.diagnosis}")
    return 0 if all(verdicts) and not any(alarms) else FOUND_WANTING


def _all_json(
    finished: Sequence["Finished"], verdicts: Sequence["Verification"], alarms: Sequence["Alarm | None"]
) -> list[dict[str, Any]]:
    return [
        _finished_json(item, bool(verdict)) | {"alarm": asdict(raised) if raised else None}
        for item, verdict, raised in zip(finished, verdicts, alarms, strict=True)
    ]


def _progress(unit: str = "cell ") -> Any:
    """Show how far it is, where somebody is looking; elsewhere say nothing until the end."""
    if not sys.stderr.isatty():
        return None

    def show(name: str, done: int, of: int) -> None:
        click.echo(f"\r\033[K{name}: {unit}{done} of {of}", nl=done == of, err=True)

    return show


def _finished_json(item: "Finished", verified: bool) -> dict[str, Any]:
    return {
        "record_id": item.record_id,
        "notebook": item.notebook,
        "status": item.status,
        "reason": item.reason,
        "verified": verified,
        "path": str(item.path),
        "report": str(item.path / "report.html"),
    }


def _print_finished(item: "Finished", verdict: str) -> None:
    click.echo(f"{item.notebook}: {item.status}")
    if item.reason:
        where = f" in cell {item.reason['cell']}" if item.reason["cell"] is not None else ""
        click.echo(f"  {item.reason['type']}{where}: {item.reason['message']}")
    for line in _figures(item.path):
        click.echo(f"  {line}")
    click.echo(f"  {verdict}")
    click.echo(f"  report: {item.path / 'report.html'}")


def _figures(folder: Path) -> list[str]:
    """The recorded numbers of a record, one a line; longer values are left to `show` and the report."""
    from rankwork.evidence.summary import lines

    return lines(json.loads((folder / "results.json").read_bytes()))


@commands.command()
@click.argument("kind", type=click.Choice(["case", "trace"]))
def schema(kind: str) -> int:
    """Print the JSON Schema of a line in a file of cases or traces."""
    from rankwork.trace import schema as schema_of

    _print_json(schema_of("case" if kind == "case" else "trace"))
    return 0


@commands.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--fewest", type=click.IntRange(min=1), default=10, show_default=True, help="Clusters a slice needs.")
@click.option(
    "--similarity", type=float, default=0.8, show_default=True, help="Share of shingles that makes a near duplicate."
)
@_as_json
def cases(file: Path, fewest: int, similarity: float, as_json: bool) -> int:
    """Check a FILE of cases: slices with too few, clusters and near duplicates in two splits, looks at the holdout."""
    from rankwork.diagnosis.case_report import case_report

    report = case_report(file, fewest=fewest, similarity=similarity)
    if as_json:
        _print_json(report.to_json())
    else:
        click.echo(str(report))
    return 0 if report.sound else FOUND_WANTING


@commands.command()
@click.argument("form", type=click.Choice(["runs", "spans", "ragas"]))
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The traces: .jsonl, .jsonl.gz or .parquet."
)
@click.option("--cases", "cases_out", type=click.Path(path_type=Path), help="The cases too, for ragas.")
@click.option("--run", "run_name", default="", help="The name of the run that left them.")
@click.option("--order", type=click.Choice(["id_asc", "id_desc", "rank", "input"]), default="input", show_default=True)
@click.option("--case-attribute", default="", metavar="NAME", help="The span attribute that names the case.")
@click.option("--need", type=click.Choice(["any", "each"]), help="For ragas: is any reference enough, or each needed?")
def traces(form: str, sources: tuple[str, ...], out: Path, cases_out: Path | None, **options: Any) -> int:
    """Make traces of what other tools left: STAGE=FILE runs, OpenInference spans, or a file with ragas' columns.

    Stages of runs are named retrieve:ROUTE, fuse, rerank or context.
    """
    from rankwork.inputs.importing import imported
    from rankwork.inputs.traces import write_cases, write_traces

    found = imported(form, sources, **options)
    click.echo(str(found))
    write_traces(out, found.traces)
    if cases_out is not None:
        write_cases(cases_out, found.cases)
    return 0


@commands.command(name="list")
@_selecting
@_evidence
@_as_json
def list_records(evidence: Path | None, as_json: bool, **asked: Any) -> int:
    """List the records, and the executions that are running or were killed: all, or those that are meant."""
    from rankwork.evidence.selecting import selection

    store, wanted = _store(evidence), selection(**asked)
    entries = [entry for entry in store.entries() if wanted.meets(entry)]
    if as_json:
        _print_json([vars(entry) for entry in entries])
    elif entries:
        click.echo("\n".join(map(_entry_line, entries)))
    else:
        click.echo("no such record" if wanted else "no records yet: rankwork run all --params smoke")
    return 0


def _entry_line(entry: "Entry") -> str:
    name = entry.record_id[:12] if entry.record_id else f"{'-':12}"
    result, tags = (entry.result_digest or "")[:12], "".join(f"  #{tag}" for tag in entry.tags)
    return f"{name}  {entry.status:11}  {entry.notebook:18}  {entry.started[:19]}  {result}{tags}"


@commands.command()
@click.argument("record")
@click.argument("tags", nargs=-1, required=True)
@_evidence
def tag(record: str, tags: tuple[str, ...], evidence: Path | None) -> int:
    """Put TAGS on RECORD: words to find it by, which also keep it from being pruned."""
    from rankwork.evidence.tags import Tags

    folder = _store(evidence).find(record)
    click.echo(f"{folder.name[:12]}: {', '.join(Tags(folder.parent).add(folder.name, tags))}")
    return 0


@commands.command()
@click.argument("record")
@click.argument("tags", nargs=-1, required=True)
@_evidence
def untag(record: str, tags: tuple[str, ...], evidence: Path | None) -> int:
    """Take TAGS off RECORD."""
    from rankwork.evidence.tags import Tags

    folder = _store(evidence).find(record)
    click.echo(f"{folder.name[:12]}: {', '.join(Tags(folder.parent).remove(folder.name, tags)) or 'no tags'}")
    return 0


@commands.command()
@_selecting
@click.option("--scratch", is_flag=True, help="Only folders that killed runners left.")
@click.option("--yes", is_flag=True, help="Remove them; without it, only say what would be removed.")
@_evidence
@_as_json
def prune(yes: bool, evidence: Path | None, as_json: bool, **asked: Any) -> int:
    """Remove the records that are meant. Tagged records and running executions always stay."""
    from rankwork.evidence import pruning
    from rankwork.evidence.selecting import selection

    store, wanted = _store(evidence), selection(**asked)
    plan = pruning.plan(store, wanted)
    entries = pruning.prune(store, wanted) if yes else list(plan.doomed)
    if as_json:
        _print_json({"removed": yes, "entries": [vars(entry) for entry in entries], "protected": len(plan.protected)})
        return 0
    for entry in entries:
        click.echo(_entry_line(entry))
    kept = f"; {len(plan.protected)} with tags stay" if plan.protected else ""
    verb = f"removed {len(entries)}" if yes else f"{len(entries)} would be removed ({plan.size / 1e6:.1f} MB)"
    click.echo(f"{verb}{kept}" + ("" if yes or not entries else "; say --yes to remove them"))
    return 0


@commands.command()
@click.argument("record")
@_evidence
@_as_json
def show(record: str, evidence: Path | None, as_json: bool) -> int:
    """Show what RECORD asked, what came out and on what machine."""
    from rankwork.evidence.store import read_manifest

    folder = _record_folder(record, evidence)
    kept = read_manifest(folder)
    if as_json:
        _print_json({"record_id": folder.name, **kept, "path": str(folder)})
        return 0
    click.echo(
        f"{folder.name}\n{kept['notebook']}: {kept['status']}, {kept['time']['started']}, {kept['time']['seconds']} s"
    )
    if kept["reason"]:
        click.echo(f"stopped by {kept['reason']['type']}: {kept['reason']['message']}")
    click.echo(f"recipe {kept['recipe_digest']}\nresult {kept['result_digest']}")
    for title, values in (
        ("parameters", kept["recipe"]["parameters"]),
        ("inputs", kept["recipe"]["inputs"]),
        ("versions", kept["recipe"]["versions"]),
    ):
        click.echo(f"{title}: {', '.join(f'{name}={value}' for name, value in values.items()) or 'none'}")
    for line in _figures(folder):
        click.echo(f"  {line}")
    click.echo(f"report: {folder / 'report.html'}")
    return 0


def _record_folder(record: str, evidence: Path | None) -> Path:
    """A record by its folder, or by the beginning of its ID."""
    path = Path(record)
    return path.resolve() if (path / "manifest.json").is_file() else _store(evidence).find(record)


@commands.command()
@click.argument("records", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every record of the evidence folder.")
@click.option("--current", is_flag=True, help="Also require that the workbook's notebook has not changed since.")
@_evidence
@_as_json
def verify(records: tuple[str, ...], everything: bool, current: bool, evidence: Path | None, as_json: bool) -> int:
    """Check that RECORDS are what their executions left: every byte, the seal, the source, the results."""
    from rankwork.evidence import verifying
    from rankwork.evidence.runner import workbook

    if not records and not everything:
        raise click.UsageError("name the records to verify, or say --all")
    folders = [_record_folder(record, evidence) for record in records] + (
        _store(evidence).records() if everything else []
    )
    fine, facts = True, []
    for folder in folders:
        verdict = verifying.verify(folder)
        source = verifying.current_source(folder, workbook(Path.cwd()))
        holds = bool(verdict) and (source.holds or not current)
        fine &= holds
        facts.append(
            {
                "record_id": folder.name,
                "verified": holds,
                "status": verdict.status,
                "checks": [asdict(check) for check in (*verdict.checks, source)],
            }
        )
        if not as_json:
            click.echo(verdict.sentence + ("" if source.holds else f" ({source.found})"))
    if as_json:
        _print_json(facts)
    return 0 if fine else FOUND_WANTING


@commands.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.argument("judgements", type=click.Path(path_type=Path))
@click.option("-m", "measures", multiple=True, required=True, metavar="NAME", help="Such as R@10; may be repeated.")
@click.option("--order", type=click.Choice(AUDIT_ORDERS), help="Of ties, for the contract's value.")
@click.option("--protocol", default="rankwork", show_default=True, help="rankwork, article, handbook, java or trec.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Lists of N items were cut there.")
@click.option("--round", "digits", type=click.IntRange(min=0), metavar="N", help="Scores as N decimals show them.")
@click.option("--dtype", type=click.Choice(["float32", "float16", "bfloat16", "int8"]), help="Scores in this type.")
@click.option("--in-parts", is_flag=True, help="Read RUN some queries at a time: for files larger than memory.")
@click.option("--max-width", type=click.FloatRange(min=0), metavar="X", help="Exit with 1 if a mean's range is wider.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def audit(
    runs: tuple[Path, ...],
    judgements: Path,
    measures: tuple[str, ...],
    order: str | None,
    protocol: str,
    depth: int | None,
    digits: int | None,
    dtype: str | None,
    in_parts: bool,
    max_width: float | None,
    form: str,
) -> int:
    """Measure each RUN against JUDGEMENTS: every number with its range over the ties.

    Several runs are compared: a leaderboard with the ranks that ties allow, and the differences of all pairs.
    """
    from rankwork.measures import telling

    asked = telling.Asked(measures, protocol, order, depth, digits, dtype, in_parts)
    found = asked.audit(telling.named(runs), judgements)
    if form == "json":
        _print_json(telling.json_of(found, asked))
    else:
        click.echo(telling.text_of(found, asked))
    return FOUND_WANTING if max_width is not None and not telling.within(found, max_width) else 0


@commands.command()
@click.argument("cases", type=click.Path(path_type=Path))
@click.argument("traces", type=click.Path(path_type=Path))
@click.option(
    "--verdicts", type=click.Path(path_type=Path), help="A judge's labels of the claims, item CASE RUN CLAIM."
)
@click.option("--unlabelled", type=click.Choice(["refuse", "bound"]), default="refuse", show_default=True)
@click.option("--compound", type=click.Choice(["parts", "whole"]), default="parts", show_default=True)
@click.option(
    "--partial", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Worth of partial support."
)
@_as_json
def answers(
    cases: Path,
    traces: Path,
    verdicts: Path | None,
    unlabelled: Any,
    compound: Any,
    partial: float,
    as_json: bool,
) -> int:
    """Score the answers in TRACES against CASES from their labels: claims, citations, refusals. No model is called.

    Each run has a report of its own. Claims without a label are refused, or bound the scores. Files are JSON lines,
    plain or gzip, or parquet.
    """
    from rankwork.diagnosis.answer_report import reports_by_run
    from rankwork.diagnosis.citations import CitationRules
    from rankwork.diagnosis.generation import Rules
    from rankwork.diagnosis.labelling import labelled
    from rankwork.inputs.traces import read_cases, read_traces
    from rankwork.inputs.verdicts import read_verdicts

    given = list(read_traces(traces))
    found = reports_by_run(
        read_cases(cases),
        given if verdicts is None else labelled(given, read_verdicts(verdicts)),
        rules=Rules(unlabelled=unlabelled, compound=compound),
        citation_rules=CitationRules(partial=partial, compound=compound),
    )
    if as_json:
        _print_json({run: report.to_json() for run, report in found.items()})
    else:
        click.echo("\n\n".join(f"run {run or '(no name)'}\n{report}" for run, report in found.items()))
    return 0


@commands.command()
@click.argument("verdicts", type=click.Path(path_type=Path))
@click.argument("people", required=False, type=click.Path(path_type=Path))
@click.option("--scale", "values", metavar="A,B,...", help="From lowest to highest (default: the values that occur).")
@click.option("--level", type=click.Choice(["nominal", "ordinal", "interval"]), default="ordinal", show_default=True)
@click.option("--weights", type=click.Choice(["none", "linear", "quadratic"]), default="quadratic", show_default=True)
@click.option("--across", multiple=True, metavar="PART", help="Compare judges that differ in it; may be repeated.")
@click.option("--margin", type=float, metavar="X", help="Verdicts with a margin below X go to a person.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the resamples.")
@click.option("--min-kappa", type=float, metavar="X", help="Exit with 1 if a lower limit of kappa is below X.")
@_as_json
def judge(
    verdicts: Path,
    people: Path | None,
    values: str | None,
    level: Any,
    weights: Any,
    across: tuple[str, ...],
    margin: float | None,
    seed: int,
    min_kappa: float | None,
    as_json: bool,
) -> int:
    """See how far the judges of VERDICTS agree: with PEOPLE, among themselves, and with what they said before.

    Files are JSON lines, CSV with a header, or TREC judgements, plain or gzip. Judges that differ in a part of their
    key (model, prompt, rubric, version, field_order) are compared among themselves only --across it.
    """
    from rankwork.diagnosis.judge_report import judge_report
    from rankwork.inputs.verdicts import Scale, read_verdicts

    if min_kappa is not None and people is None:
        raise click.UsageError("--min-kappa is about the agreement with PEOPLE: name their file")
    found = judge_report(
        read_verdicts(verdicts),
        None if people is None else read_verdicts(people),
        scale=None if values is None else Scale.parse(values, level),
        level=level,
        weights=None if weights == "none" else weights,
        across=across,
        margin=margin,
        seed=seed,
    )
    if as_json:
        _print_json(found.to_json())
    else:
        click.echo(str(found))
    least = found.least_kappa
    return FOUND_WANTING if min_kappa is not None and (least is None or least < min_kappa) else 0


@commands.command()
@click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to write (default: standard output).")
@click.option("--order", type=click.Choice(AUDIT_ORDERS[:4]), default="id_asc", show_default=True, help="Of ties.")
def fix(run_file: Path, output: Path | None, order: str) -> int:
    """Rewrite RUN so that any evaluator orders it alike: new scores n..1, no strict order changed.

    Ties take the contract's order, or another; gzip where the output's name ends in .gz.
    """
    from rankwork.inputs.trec import read_run, run_lines, write_run
    from rankwork.measures.fixing import fixed

    run = fixed(read_run(run_file, ranks=order == "rank"), order=order)
    if output is None:
        click.echo("".join(run_lines(run)), nl=False)
    else:
        write_run(run, output)
    return 0


def _write_example(context: click.Context, parameter: click.Parameter, folder: Path | None) -> None:
    if folder is None:
        return
    from rankwork.decision.policy import shipped
    from rankwork.diagnosis import scenario

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from None
    _write(folder / "policy.yaml", shipped("example").read_text(encoding="utf-8").rstrip())
    names = [shlex.quote(str(path)) for path in (folder / "policy.yaml", *scenario.save(folder))]
    policy, old, cases, new, candidate_cases = names
    click.echo(f"rankwork gate {policy} {old} {new} --cases {cases} --candidate-cases {candidate_cases}")
    context.exit()


@commands.command()
@click.argument("policy", type=click.Path(path_type=Path))
@click.argument("baseline", type=click.Path(path_type=Path))
@click.argument("candidate", type=click.Path(path_type=Path))
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Questions with gold evidence, slices and expected refusals (default: the file that POLICY names).",
)
@click.option(
    "--candidate-cases",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The same cases, with the gold evidence in the candidate's chunks: where the chunker changed.",
)
@click.option("--format", "form", type=click.Choice(["table", "json", "html"]), default="table", show_default=True)
@click.option(
    "--example",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    is_eager=True,
    expose_value=False,
    callback=_write_example,
    help="Write a policy, two systems' traces and their cases into FOLDER, say how to decide by them, and exit.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE; print the decision alone.")
def gate(
    policy: Path,
    baseline: Path,
    candidate: Path,
    cases: Path | None,
    candidate_cases: Path | None,
    form: str,
    as_json: bool,
    out: Path | None,
) -> int:
    """Decide by POLICY whether CANDIDATE may replace BASELINE: release, hold or reject, with every reason.

    BASELINE and CANDIDATE are traces (JSON lines or parquet), the JSON of `rankwork audit`, or CSV with the columns
    query,measure,value. Exit code 0 is a release, 1 a hold or a reject, 2 bad input.

    To begin, write an example with --example FOLDER. Its policy.yaml has every section, each with a comment.
    """
    from rankwork.decision.gate import gate as decide
    from rankwork.decision.page import told

    found = decide(policy, baseline, candidate, cases=cases, candidate_cases=candidate_cases)
    text = told(found, "json" if as_json else form)
    if out is None:
        click.echo(text)
    else:
        _write(out, text)
        click.echo(found.headline)
    return 0 if found else FOUND_WANTING


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


@commands.command()
@click.argument("traces", type=click.Path(path_type=Path))
@click.option("--after", type=click.Path(path_type=Path), metavar="TRACES", help="Also what moved since this window.")
@click.option(
    "--budget",
    "budgets",
    type=(str, str, click.FloatRange(min=0)),
    multiple=True,
    metavar="STAGE QUANTILE MS",
    help="Such as total P99 2000: exit with 1 unless it is shown to be kept; may be repeated.",
)
@_as_json
def monitor(traces: Path, after: Path | None, budgets: tuple[tuple[str, str, float], ...], as_json: bool) -> int:
    """Tell what a window of TRACES shows: stages, refusals, caches, costs, versions, hard events and proxies.

    Exits with 1 for a hard event, and for a budget that is not shown to be kept.
    """
    from rankwork.decision import drift, monitoring, quantiles
    from rankwork.inputs.traces import read_traces

    found = monitoring.monitor(read_traces(traces))
    moved = drift.drift(monitoring.monitor(read_traces(after)), found) if after else None
    kept = [(stage, found.budget(stage, quantiles.parse(level), limit)) for stage, level, limit in budgets]
    if as_json:
        told = [{"stage": stage, **asdict(each)} for stage, each in kept]
        _print_json(found.to_json() | {"budgets": told, "drift": moved and asdict(moved)})
    else:
        lines = [str(found), *(f"budget of {stage}: {each}" for stage, each in kept), *([str(moved)] if moved else [])]
        click.echo("\n".join(lines))
    fine = not found.hard.events and all(each.verdict == "within" for _, each in kept)
    return 0 if fine else FOUND_WANTING


@commands.command()
@click.argument("traces", type=click.Path(path_type=Path))
@click.argument("case")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The file to write.")
@click.option("--cases", type=click.Path(path_type=Path), help="The cases that the traces are of.")
@click.option("--run", "run_name", metavar="NAME", help="The run, where the file holds several.")
@click.option(
    "--texts",
    type=click.Choice(["digest", "redacted", "plain"]),
    default="digest",
    show_default=True,
    help="digest: under the key in RANKWORK_PRIVACY_KEY.",
)
@click.option("--hide-ids", is_flag=True, help="Keep the IDs of documents as digests too.")
@click.option("--keep-tenants", is_flag=True, help="Keep the names of tenants.")
@click.option("--word", "words", multiple=True, help="A name to redact; may be repeated.")
def pack(
    traces: Path,
    case: str,
    output: Path,
    cases: Path | None,
    run_name: str | None,
    texts: "Texts",
    hide_ids: bool,
    keep_tenants: bool,
    words: tuple[str, ...],
) -> int:
    """Write the trace of CASE in TRACES as one file that can be replayed; sealed where there is a key."""
    from rankwork.decision import replay as packages
    from rankwork.decision.pseudonyms import Privacy
    from rankwork.evidence.tokens import if_any
    from rankwork.inputs.traces import read_cases, read_traces

    trace = packages.chosen(read_traces(traces), case, run_name)
    known = {each.id: each for each in read_cases(cases)} if cases else {}
    tokens = if_any()
    privacy = Privacy(texts, tenants=not keep_tenants, ids=hide_ids)
    package = packages.pack(trace, known.get(case), privacy=privacy, tokens=tokens, words=words)
    packages.save(package, output, tokens=tokens)
    click.echo(f"{output}: package {package.digest}{', sealed' if tokens else ''}")
    return 0


@commands.command()
@click.argument("file", type=click.Path(path_type=Path))
@_as_json
def replay(file: Path, as_json: bool) -> int:
    """Look again at the failure in FILE: every stage, the path of the gold evidence, and what was answered.

    A file that was changed is refused; its seal is checked where RANKWORK_PRIVACY_KEY holds the key.
    """
    from rankwork.decision.replay import load
    from rankwork.decision.replayed import replayed
    from rankwork.evidence.tokens import if_any

    found = replayed(load(file, tokens=if_any()))
    if as_json:
        _print_json(found.to_json())
    else:
        click.echo(str(found))
    return 0


@commands.group()
def regress() -> None:
    """Keep reviewed failures as cases, and run them."""


@regress.command(name="add")
@click.argument("package", type=click.Path(path_type=Path))
@click.option("--to", "target", type=click.Path(path_type=Path), required=True, help="The regression set.")
@click.option("--by", required=True, metavar="WHO", help="Who reviewed the failure: a role or a team will do.")
@click.option("--why", required=True, metavar="TEXT", help="Why it is a failure.")
@click.option(
    "--held-out",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="CASES",
    help="Cases of which the holdout and blind ones must not be given away; may be repeated.",
)
@click.option("--no-held-out", is_flag=True, help="There are none.")
@click.option("--expected", type=click.Choice(["answer", "refuse"]), help="What it should have done.")
@click.option("--evidence", multiple=True, metavar="ID", help="What the answer needs; may be repeated.")
@click.option("--query", metavar="TEXT", help="The question, where the package holds its digest.")
@click.option("--tenant", help="The tenant to ask as, where the package hides it.")
@_as_json
def regress_add(
    package: Path,
    target: Path,
    by: str,
    why: str,
    held_out: tuple[Path, ...],
    no_held_out: bool,
    expected: Literal["answer", "refuse"] | None,
    evidence: tuple[str, ...],
    query: str | None,
    tenant: str | None,
    as_json: bool,
) -> int:
    """Make the reviewed failure in PACKAGE a case of a regression set.

    Near duplicates and held-out questions are refused.
    """
    from rankwork.decision import regressions
    from rankwork.decision.replay import load
    from rankwork.evidence.tokens import if_any
    from rankwork.inputs.traces import read_cases

    if bool(held_out) == no_held_out:
        raise click.UsageError("name the held-out cases with --held-out CASES, or say --no-held-out")
    tokens = if_any()
    review = regressions.Review(by, why, expected, evidence, query, tenant)
    hidden = [case for path in held_out for case in read_cases(path)]
    case = regressions.add(load(package, tokens=tokens), target, review, held_out=hidden, tokens=tokens)
    if as_json:
        _print_json(case.model_dump(mode="json", exclude_defaults=True))
    else:
        click.echo(f"{target}: case {case.id} added; its review stands in {regressions.ledger(target).name}")
    return 0


@regress.command(name="run")
@click.argument("cases", type=click.Path(path_type=Path))
@click.argument("traces", type=click.Path(path_type=Path))
@_as_json
def regress_run(cases: Path, traces: Path, as_json: bool) -> int:
    """Check the TRACES of one run against a regression set; exits with 1 unless every case passes."""
    from rankwork.decision.regression_checks import check_all
    from rankwork.inputs.traces import read_cases, read_traces

    outcomes = check_all(read_cases(cases), read_traces(traces))
    passed = sum(outcome.verdict == "pass" for outcome in outcomes)
    if as_json:
        _print_json([asdict(outcome) for outcome in outcomes])
    else:
        click.echo("\n".join([*map(str, outcomes), f"{passed} of {len(outcomes)} pass"]))
    return 0 if passed == len(outcomes) else FOUND_WANTING


@commands.command()
@_evidence
@_as_json
def doctor(evidence: Path | None, as_json: bool) -> int:
    """Look at what this workbook needs here: Python, packages, a kernel, the evidence folder, a GPU."""
    from rankwork.evidence.doctor import examine

    findings = examine(_store(evidence))
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{'ok ' if finding.holds else 'BAD'}  {finding.name}: {finding.found}")
    return 0 if all(finding.holds for finding in findings) else FOUND_WANTING


@commands.command()
@click.option(
    "--only",
    "names",
    multiple=True,
    metavar="NAME",
    help="Engines whose names begin so; may be repeated (default: all).",
)
@click.option(
    "--compare", "files", nargs=2, type=click.Path(path_type=Path), metavar="A B", help="Compare two reports instead."
)
@_as_json
def engines(names: tuple[str, ...], files: tuple[Path, Path] | None, as_json: bool) -> int:
    """Observe what other libraries return as the top k: asked again, in other arrivals, under other conditions.

    --json prints the whole report, which another machine or another version can be compared with.
    """
    from rankwork.engines import matching, run_experiments, table

    if files and names:
        raise click.UsageError("--only chooses the engines to run, and --compare runs none")
    if files:
        return _compare_engines(*files, as_json=as_json)
    report = run_experiments(matching(names), progress=_progress(""))
    click.echo(json.dumps(report) if as_json else table(report))
    return 0


def _compare_engines(first: Path, second: Path, *, as_json: bool) -> int:
    from rankwork.engines import compare_reports, describe, read_report

    comparison = compare_reports(read_report(first), read_report(second))
    if as_json:
        _print_json(comparison)
    else:
        click.echo(describe(comparison))
    return 0 if comparison["same_behaviour"] else FOUND_WANTING


@commands.command(name="funnel")
@click.argument("cases", type=click.Path(path_type=Path))
@click.argument("traces", type=click.Path(path_type=Path))
@click.option("-k", "k", type=click.IntRange(min=1), help="Cut every stage here (default: each at its own cut).")
@click.option(
    "--independent", is_flag=True, help="The reranker scores a document by itself and the query alone (cross-encoder)."
)
@click.option("--leaks", "leaks_only", is_flag=True, help="Print what was where it must not be, layer by layer.")
@_as_json
def funnel_command(cases: Path, traces: Path, k: int | None, independent: bool, leaks_only: bool, as_json: bool) -> int:
    """Follow the gold evidence of CASES through the stages of TRACES, one run (JSON lines or parquet).

    Prints each stage's measures with their ranges, where gold was lost, and why. Exit code 1 if a document was found
    where its reader may not see it.
    """
    from rankwork.diagnosis.funnel import funnel

    found = funnel(cases, traces, k=k, independent=independent)
    if as_json:
        _print_json(found.leaks.to_json() if leaks_only else found.to_json())
    else:
        click.echo("\n".join(found.leaks.lines) if leaks_only else str(found))
    return FOUND_WANTING if found.leaks else 0


@commands.command()
@click.argument("name")
def new(name: str) -> int:
    """Begin a notebook NAME: a notebook, its schema and its two parameter sets, ready to run."""
    from rankwork.evidence.runner import workbook
    from rankwork.evidence.scaffold import create

    for path in create(workbook(Path.cwd()), name):
        click.echo(f"made {path}")
    return 0


@commands.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def lab(options: tuple[str, ...]) -> int:
    """Open JupyterLab at the first notebook; OPTIONS are JupyterLab's own, such as --no-browser."""
    from rankwork.evidence.runner import workbook

    opened = (
        f"--ServerApp.root_dir={workbook(Path.cwd())}",
        "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
        f"--LabApp.app_settings_dir={Path(__file__).with_name('lab_settings')}",  # no question about news
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    )
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *opened, *options])


@commands.command()
@click.argument("a")
@click.argument("b")
@_evidence
@_as_json
def compare(a: str, b: str, evidence: Path | None, as_json: bool) -> int:
    """Compare two records (IDs, folders or exported files): what was asked, what came out, on what machine."""
    from rankwork.evidence import comparing
    from rankwork.evidence.crate import opened

    store = _store(evidence)
    with opened(a, store) as one, opened(b, store) as two:
        found = comparing.compare(one, two)
    if as_json:
        _print_json(found.to_json())
    else:
        _print_comparison(found)
    return 0 if found else FOUND_WANTING


def _print_comparison(found: "Comparison") -> None:
    """The verdict, the diagnosis, then the first differences one by one."""
    for name, side in (("A", found.a), ("B", found.b)):
        kept = side.manifest
        click.echo(f"{name}  {side.record_id[:12]}  {kept['notebook']}  {kept['status']}  {kept['time']['started']}")
    click.echo(f"{'same' if found else 'DIFFERENT'}: {found.diagnosis}")
    groups = {
        "asked": (*found.deciding, *found.asked),
        "came out": (*found.found.differences, *found.figures),
        "environment": found.environment,
        "also": found.informative,
    }
    for title, differences in groups.items():
        for difference in differences[:_MOST_LINES]:
            click.echo(f"  {title}: {difference if title == 'came out' else difference.plain}")
        if len(differences) > _MOST_LINES:
            click.echo(f"  {title}: {len(differences) - _MOST_LINES} more, see --json")
    if found.found.measured:
        click.echo(f"  measured, not compared: {', '.join(found.found.measured)}")


@commands.command()
@click.argument("record")
@click.argument("file", type=click.Path(path_type=Path))
@_evidence
def export(record: str, file: Path, evidence: Path | None) -> int:
    """Write RECORD as one zip, FILE, that is also an RO-Crate: readable without rankwork."""
    from rankwork.evidence.crate import export as export_record

    record_id = export_record(_record_folder(record, evidence), file)
    click.echo(f"{file}: record {record_id}")
    return 0


@commands.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@_evidence
@_as_json
def import_record(file: Path, evidence: Path | None, as_json: bool) -> int:
    """Verify the record in an exported FILE and store it."""
    from rankwork.evidence import crate

    folder, new = crate.import_record(file, _store(evidence))
    if as_json:
        _print_json({"record_id": folder.name, "new": new, "path": str(folder)})
    else:
        click.echo(
            f"record {folder.name} {'stored' if new else 'was here already'}\n  compare this ID with the sender's"
        )
    return 0


@commands.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The page (default: index.html in the folder).")
@_evidence
def index(output: Path | None, evidence: Path | None) -> int:
    """Write one HTML page over all records, with small pictures."""
    from rankwork.evidence.index import write

    click.echo(f"index: {write(_store(evidence), output)}")
    return 0


@commands.command()
@click.option("--renew", is_flag=True, help="Replace the references of this device by what comes out now.")
@_evidence
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Notebooks at a time.")
@_as_json
def reference(renew: bool, evidence: Path | None, jobs: int, as_json: bool) -> int:
    """Run every notebook with smoke parameters and compare with evidence/reference; adds a line to its log."""
    from rankwork.evidence import reproducing, runner

    store, book = _store(evidence), runner.workbook(Path.cwd())
    folder = book / "evidence" / "reference"
    requests = [runner.prepare(path, chosen="smoke") for path in runner.find_notebooks(("all",), book)]
    runner.check_writable(store)
    finished = runner.run(requests, store, jobs=jobs, progress=_progress())
    if renew:
        lines = reproducing.renew(finished, folder)
        _print_json(lines) if as_json else click.echo("\n".join(lines))
        return 0
    outcomes = reproducing.reproduce(finished, folder)
    logged = reproducing.log(outcomes, folder, book)
    if as_json:
        _print_json([{"notebook": each.notebook, "same": bool(each), "sentence": each.sentence} for each in outcomes])
    else:
        click.echo("\n".join([*(each.sentence for each in outcomes), f"logged: {logged}"]))
    return 0 if all(outcomes) else FOUND_WANTING


if __name__ == "__main__":
    main()
