"""What an audit costs: from two files to its numbers in a whole process, beside other evaluators; and its parts.

Every process is measured from its start to its end, in CPU seconds, so that waiting for others does not count. What is
compared takes turns, and medians are told. Times of children are read as Linux and macOS give them; peaks of memory as
Linux does, elsewhere they are None.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from shutil import which
from statistics import median
from typing import Any

import numpy as np

from rankwork.engines.base import without_paths
from rankwork.errors import InputError

Record = dict[str, Any]

MEASURES = ("nDCG@10", "R@100", "RR@10", "AP@1000")
OURS = "rankwork"
LEAST = 2_000_000  # rows from which on the goals hold: below, starting Python is most of what is measured
IN_MEMORY = 0.25  # the goals: of pytrec_eval's evaluate,
PEAK = 4.0  # times the run file,
IMPORT = 2.0  # times importing numpy,
HELP, SMALL_AUDIT = 0.5, 1.5  # seconds
_CORPUS = 8_841_823
_JUDGED = 50


# ------------------------------------------------------------------------------ the files


@dataclass(frozen=True)
class Files:
    """A run and its judgements as TREC files, `rows` of them in the run."""

    run: Path
    judgements: Path
    queries: int
    rows: int

    @property
    def bytes(self) -> int:
        """The size of the run."""
        return self.run.stat().st_size


def write_files(folder: Path, queries: int, *, depth: int = 1000, seed: int = 0) -> Files:
    """A generated run of `depth` documents for each query, and judgements, the same for the same seed.

    Scores have four decimals and fall from about 40 to 0, so that a list has some tied pairs, and none that only a
    narrower type makes. About 100 documents of a query are judged, with grades 0 to 3, half of them retrieved, more of
    those at the top.
    """
    name = f"{queries}x{depth}"
    files = Files(folder / f"{name}.run", folder / f"{name}.qrels", queries, queries * depth)
    rng = np.random.default_rng(seed)
    with files.run.open("w") as run, files.judgements.open("w") as judgements:
        for query in range(1, queries + 1):
            documents = rng.choice(_CORPUS, depth + _JUDGED, replace=False)
            scores = np.sort(rng.gamma(2.0, 4.0, depth))[::-1]
            run.writelines(_run_lines(query, documents[:depth].tolist(), scores.tolist()))
            places = (depth * rng.random(_JUDGED) ** 2).astype(int).tolist()
            judged = documents[[*dict.fromkeys(places), *range(depth, depth + _JUDGED)]].tolist()
            grades = rng.choice(4, len(judged), p=(0.5, 0.3, 0.15, 0.05)).tolist()
            pairs = zip(judged, grades, strict=True)
            judgements.writelines(f"{query} 0 D{document:07d} {grade}\n" for document, grade in pairs)
    return files


def _run_lines(query: int, documents: Sequence[int], scores: Sequence[float]) -> Iterable[str]:
    pairs = zip(documents, scores, strict=True)
    return (
        f"{query} Q0 D{document:07d} {place} {score:.4f} generated\n"
        for place, (document, score) in enumerate(pairs, 1)
    )


# ------------------------------------------------------------------------- the evaluators

_PEAK = """
import json, re
from pathlib import Path
status = Path("/proc/self/status")
peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) if status.exists() else None
print(json.dumps({"values": values, "peak": peak}))
"""
_RANKWORK = f"""
import sys
from rankwork import audit
found = audit(sys.argv[1], sys.argv[2], {MEASURES}, protocol="trec")
numbers = ("contract", "min", "expected", "max", "std")
values = {{name: {{n: getattr(found.result(name).mean, n) for n in numbers}} for name in {MEASURES}}}
"""
_PYTREC_EVAL = """
import sys
import pytrec_eval
with open(sys.argv[1]) as file:
    run = pytrec_eval.parse_run(file)
with open(sys.argv[2]) as file:
    judged = pytrec_eval.parse_qrel(file)
names = {"ndcg_cut_10": "nDCG@10", "recall_100": "R@100", "recip_rank": "RR", "map_cut_1000": "AP@1000"}
evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "recall.100", "recip_rank", "map_cut.1000"})
found = evaluator.evaluate(run)
values = {name: sum(query[theirs] for query in found.values()) / len(found) for theirs, name in names.items()}
"""
_IR_MEASURES = f"""
import sys
import ir_measures
asked = [ir_measures.parse_measure(name) for name in {MEASURES}]
run, judged = ir_measures.read_trec_run(sys.argv[1]), ir_measures.read_trec_qrels(sys.argv[2])
values = {{str(name): float(value) for name, value in ir_measures.calc_aggregate(asked, judged, run).items()}}
"""
_RANX = """
import sys
import ranx
run, judged = ranx.Run.from_file(sys.argv[1], kind="trec"), ranx.Qrels.from_file(sys.argv[2], kind="trec")
names = {"ndcg@10": "nDCG@10", "recall@100": "R@100", "mrr@10": "RR@10", "map@1000": "AP@1000"}
found = ranx.evaluate(judged, run, list(names), make_comparable=True)
values = {name: float(found[theirs]) for theirs, name in names.items()}
"""
_TREC_EVAL = {"ndcg_cut.10": "nDCG@10", "recall.100": "R@100", "recip_rank": "RR", "map_cut.1000": "AP@1000"}


@dataclass(frozen=True)
class Evaluator:
    """A program that makes the means of four measures from a run and judgements; `share` of its time is our goal.

    `program` is Python, run as `python -c program RUN JUDGEMENTS`; without one the name is that of a command.
    """

    name: str
    install: str
    share: float | None = None
    program: str | None = None

    @property
    def missing(self) -> str:
        """Why it cannot run here, or the empty text."""
        here = find_spec(self.name) if self.program else which(self.name)
        return "" if here else f"not installed here: {self.install}"

    def command(self, files: Files) -> list[str]:
        """What evaluates the files."""
        run, judgements = str(files.run), str(files.judgements)
        if self.program:
            return [sys.executable, "-c", self.program + _PEAK, run, judgements]
        return [self.name, *(part for name in _TREC_EVAL for part in ("-m", name)), judgements, run]

    def read(self, output: str) -> Record:
        """The values and the peak of memory that its output tells."""
        if self.program:
            return dict(json.loads(output.splitlines()[-1]))
        names = {theirs.replace(".", "_"): name for theirs, name in _TREC_EVAL.items()}
        rows = (line.split() for line in output.splitlines())
        values = {names[row[0]]: float(row[2]) for row in rows if len(row) == 3 and row[0] in names}
        return {"values": values, "peak": None}


EVALUATORS = (
    Evaluator(OURS, "part of rankwork", program=_RANKWORK),
    Evaluator("pytrec_eval", "pip install pytrec-eval-terrier", 0.5, _PYTREC_EVAL),
    Evaluator("ir_measures", "pip install ir-measures", 0.2, _IR_MEASURES),
    Evaluator("ranx", "pip install ranx", 0.1, _RANX),
    Evaluator("trec_eval", "compile it from github.com/usnistgov/trec_eval and put it on the PATH", 0.7),
)


def compare_evaluators(files: Files, *, repeats: int = 1, evaluators: Sequence[Evaluator] = EVALUATORS) -> list[Record]:
    """Run each evaluator on the same files `repeats` times, in turns; one record each, ours first.

    `CPU seconds` and `seconds` are medians, `peak` the bytes that the process held at most, `values` the means that it
    told, `ratio` our CPU seconds by its own. Where an evaluator is not here or failed, `note` says so, and nothing else
    is told. `limit` is the goal for the ratio; None where the files are too small for one.
    """
    here = [item for item in evaluators if not item.missing]
    runs: dict[str, list[Record]] = {item.name: [] for item in here}
    for _ in range(repeats):
        for item in here:
            runs[item.name].append(_evaluated(item, files))
    ours = _summary(runs[OURS])
    return [_record(item, files, runs, ours) for item in evaluators]


def _evaluated(item: Evaluator, files: Files) -> Record:
    found = process_cost(item.command(files))
    return found if found["note"] else found | item.read(found.pop("output"))


def _summary(runs: Sequence[Record]) -> Record:
    if not runs or any(run["note"] for run in runs):
        return {"note": next((run["note"] for run in runs if run["note"]), "")}
    times = {name: median(run[name] for run in runs) for name in ("CPU seconds", "seconds")}
    peaks = [run["peak"] for run in runs]
    return {"note": "", **times, "peak": None if None in peaks else max(peaks), "values": runs[0]["values"]}


def _record(item: Evaluator, files: Files, runs: Mapping[str, list[Record]], ours: Record) -> Record:
    about = {"evaluator": item.name, "queries": files.queries, "rows": files.rows, "file": files.bytes}
    found = _summary(runs[item.name]) if item.name in runs else {"note": item.missing}
    if found["note"] or ours["note"]:
        return about | found
    if item.share is None:
        return about | found
    ratio, limit = ours["CPU seconds"] / found["CPU seconds"], item.share if files.rows >= LEAST else None
    return about | found | {"ratio": ratio, "limit": limit, "missed": limit is not None and ratio > limit}


def disagreements(records: Sequence[Record]) -> list[str]:
    """Every value of another evaluator that contradicts ours, in words; the first record is ours.

    By trec_eval's order, theirs must be ours to the fourth decimal that trec_eval prints, or to ten where a program
    tells all it has. Some break ties of RR@k another way, and ranx breaks all of them as documents came: such a value
    must lie within our range. RR without a cutoff is not compared, because we were asked for RR@10.
    """
    ours = records[0]["values"]
    return [
        f"{record['evaluator']}: {name} is {value}, ours {ours[name]['contract']}"
        for record in records[1:]
        for name, value in record.get("values", {}).items()
        if name in ours and not _agrees(record["evaluator"], name, value, ours[name])
    ]


def side_by_side(records: Sequence[Record]) -> str:
    """A table of every evaluator that ran, as text, and below it why others did not.

    `ours / theirs` is the ratio of CPU seconds, `goal` how much it may be; "-" where none is declared.

    >>> ours = {"evaluator": "rankwork", "queries": 5, "note": "", "CPU seconds": 0.5, "peak": 2_000_000}
    >>> print(side_by_side([ours, {"evaluator": "ranx", "queries": 5, "note": "not installed here"}]))
    evaluator  queries  CPU seconds  peak, MB ours / theirs goal
     rankwork        5          0.5       2.0             -    -
    ranx: not installed here
    """
    from pandas import DataFrame

    columns = {"evaluator": "evaluator", "queries": "queries", "CPU seconds": "CPU seconds", "peak": "peak, MB",
               "ratio": "ours / theirs", "limit": "goal"}  # fmt: skip
    table = DataFrame([each for each in records if not each["note"]], columns=list(columns))
    table["peak"] = table["peak"] / 1e6
    text = table.rename(columns=columns).round(3).to_string(index=False, na_rep="-")
    notes = dict.fromkeys(f"{each['evaluator']}: {each['note']}" for each in records if each["note"])
    return "\n".join([text, *notes])


def per_million(records: Iterable[Record]) -> list[str]:
    """For each file, our CPU seconds for a million rows, and what share of each other evaluator's time they are.

    >>> ours = {"evaluator": "rankwork", "rows": 500_000, "note": "", "CPU seconds": 0.5}
    >>> per_million([ours, {**ours, "evaluator": "peer", "ratio": 0.25}])
    ['500,000 rows: 1.00 CPU seconds per million; 0.25 of peer.']
    """
    ran = [record for record in records if not record["note"]]
    return [
        f"{ours['rows']:,} rows: {ours['CPU seconds'] / ours['rows'] * 1e6:.2f} CPU seconds per million; "
        + (", ".join(_shares_of(ran, ours["rows"])) or "nobody beside it")
        + "."
        for ours in ran
        if ours["evaluator"] == OURS
    ]


def _shares_of(ran: Iterable[Record], rows: int) -> list[str]:
    return [f"{each['ratio']:.2f} of {each['evaluator']}" for each in ran if each["rows"] == rows and "ratio" in each]


def _agrees(evaluator: str, name: str, value: float, ours: Mapping[str, float]) -> bool:
    slack = 6e-5 if evaluator == "trec_eval" else 1e-10
    if name == "RR@10" or evaluator == "ranx":
        return ours["min"] - slack <= value <= ours["max"] + slack
    return isclose(value, ours["contract"], rel_tol=0, abs_tol=slack)


# ------------------------------------------------------------------------------ processes


def process_cost(command: Sequence[str]) -> Record:
    r"""What a process costs from its start to its end: CPU seconds, seconds, its output; `note` says how it failed.

    >>> cost = process_cost([sys.executable, "-c", "print(7)"])
    >>> cost["output"], cost["note"], cost["CPU seconds"] > 0
    ('7\n', '', True)
    """
    from resource import RUSAGE_CHILDREN, getrusage

    before, start = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
    failed = f"ended with code {ended.returncode}: {without_paths(last)}" if ended.returncode else ""
    return {"CPU seconds": cpu, "seconds": seconds, "output": ended.stdout, "note": failed}


def start_costs(files: Files, *, repeats: int = 1) -> dict[str, Record]:
    """The CPU seconds and seconds of starting: Python alone, imports, `rankwork --help`, the audit of `files`.

    They take turns; medians. InputError if one of them fails.
    """
    cli = [sys.executable, "-m", "rankwork.cli"]
    audited = [part for name in MEASURES for part in ("-m", name)]
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import rankwork": [sys.executable, "-c", "import rankwork"],
        "rankwork --help": [*cli, "--help"],
        "rankwork audit": [*cli, "audit", str(files.run), str(files.judgements), *audited],
    }
    costs: dict[str, list[Record]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            costs[name].append(_succeeded(name, process_cost(command)))
    numbers = ("CPU seconds", "seconds")
    return {name: {number: median(run[number] for run in runs) for number in numbers} for name, runs in costs.items()}


def _succeeded(name: str, cost: Record) -> Record:
    if cost["note"]:
        raise InputError(f"{name} {cost['note']}")
    return cost


# ------------------------------------------------------------------------------ in memory


def in_memory(files: Files, *, repeats: int = 3) -> Record:
    """CPU seconds of the audit of columns that are in memory, beside pytrec_eval's `evaluate` of dicts that are.

    Both begin with what a program has at hand: columns of coded IDs here, dicts of dicts there. They take turns in
    this process; medians. Without pytrec_eval, its seconds and the ratio are None.
    """
    ours, theirs = _our_audit(files), _their_evaluate(files) if find_spec("pytrec_eval") else None
    times: dict[str, list[float]] = {OURS: [], "pytrec_eval": []}
    for _ in range(repeats):
        times[OURS].append(_cpu_seconds(ours))
        if theirs:
            times["pytrec_eval"].append(_cpu_seconds(theirs))
    mine, peer = median(times[OURS]), median(times["pytrec_eval"]) if theirs else None
    ratio = mine / peer if peer else None
    limit = IN_MEMORY if files.rows >= LEAST else None
    missed = ratio is not None and limit is not None and ratio > limit
    return {"rows": files.rows, OURS: mine, "pytrec_eval": peer, "ratio": ratio, "limit": limit, "missed": missed}


def told_in_memory(record: Record) -> str:
    """A line with the CPU seconds from memory, and what share of pytrec_eval's they are where it is here.

    >>> told_in_memory({"rows": 500_000, "rankwork": 0.0357, "pytrec_eval": None, "ratio": None})
    '500,000 rows in memory: 0.036 CPU seconds.'
    >>> told_in_memory({"rows": 500_000, "rankwork": 0.0357, "pytrec_eval": 0.119, "ratio": 0.3})
    "500,000 rows in memory: 0.036 CPU seconds, 0.30 of pytrec_eval's evaluate."
    """
    beside = "" if record["ratio"] is None else f", {record['ratio']:.2f} of pytrec_eval's evaluate"
    return f"{record['rows']:,} rows in memory: {record[OURS]:.2g} CPU seconds{beside}."


def _cpu_seconds(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def _our_audit(files: Files) -> Callable[[], Any]:
    """The audit of columns: what is read is taken apart, so that nothing worked out earlier is used again."""
    from rankwork.measures.auditing import audit, read_judged, read_ranked
    from rankwork.rankings import Columns, Judgements, Rankings

    run, judged = read_ranked(files.run, "trec", None), read_judged(files.judgements, "trec")
    columns, labels = (Columns(part.queries, part.query_of_row, part.documents, part.codes) for part in (run, judged))

    def audited() -> Any:
        rankings = Rankings.of_columns(columns, run.scores)
        return audit(rankings, Judgements.of_columns(labels, judged.grades), MEASURES, protocol="trec")

    return audited


def _their_evaluate(files: Files) -> Callable[[], Any]:
    import pytrec_eval

    with files.run.open() as file:
        run = pytrec_eval.parse_run(file)
    with files.judgements.open() as file:
        judged = pytrec_eval.parse_qrel(file)
    asked = {"ndcg_cut.10", "recall.100", "recip_rank", "map_cut.1000"}
    return lambda: pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(run)


# ----------------------------------------------------------------------------- the goals


def missed(evaluators: Iterable[Record], memory: Record, starts: Mapping[str, Record]) -> list[str]:
    """Every goal that was missed, with its figures: of `compare_evaluators`, `in_memory` and `start_costs`."""
    return [*_missed_by_files(evaluators), *_missed_in_memory(memory), *_missed_at_start(starts)]


def _missed_by_files(records: Iterable[Record]) -> Iterable[str]:
    for record in records:
        where = f"{record['rows']:,} rows"
        if record.get("missed"):
            share, goal = f"{record['ratio']:.2f}", f"goal {record['limit']:g}"
            yield f"{where}: {share} of the CPU seconds of {record['evaluator']} ({goal})"
        peak = record.get("peak") if record["evaluator"] == OURS and record["rows"] >= LEAST else None
        if peak and peak > PEAK * record["file"]:
            yield f"{where}: a peak of {peak / record['file']:.1f} times the file (goal {PEAK:g})"


def _missed_in_memory(record: Record) -> Iterable[str]:
    if record["missed"]:
        share, goal = f"{record['ratio']:.2f}", f"goal {record['limit']:g}"
        yield f"{record['rows']:,} rows in memory: {share} of pytrec_eval's evaluate ({goal})"


def _missed_at_start(costs: Mapping[str, Record]) -> Iterable[str]:
    imports = costs["import rankwork"]["CPU seconds"] / costs["import numpy"]["CPU seconds"]
    if imports > IMPORT:
        yield f"import rankwork: {imports:.2f} of import numpy (goal {IMPORT:g})"
    for name, goal in (("rankwork --help", HELP), ("rankwork audit", SMALL_AUDIT)):
        if costs[name]["seconds"] > goal:
            yield f"{name}: {costs[name]['seconds']:.2f} s (goal {goal:g})"
