"""What is planted as user, host, home, variable and folder is found in no byte of what is stored."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rankwork.evidence.verifying import verify
from tests.workbooks import SCHEMA, rankwork, workbook

USER, HOST, HOME, SECRET, FOLDER = "plantuser", "planthost", "planthome", "plantsecretvalue", "plantfolder"
WITH_FILE = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "format": "input"}}}

LOOK = """\
import getpass, os, platform, socket, sys, warnings
from pathlib import Path
from rankwork import record
record("places", {"cwd": os.getcwd(), "above": str(Path.cwd().parents[3]), "file": os.path.realpath(name)})
record("who", [getpass.getuser(), platform.node(), str(Path.home()), dict(os.environ)])
record("keys", {os.environ["PLANTED_VARIABLE"]: 1, getpass.getuser(): 2})
print(getpass.getuser(), platform.node(), socket.gethostname(), Path.home(), os.path.expanduser("~/x"))
print(os.environ, Path.cwd(), list(Path.cwd().parents), sys.path)
display({"text/html": f"<b>{getpass.getuser()}</b>", "text/plain": os.environ["PLANTED_VARIABLE"]}, raw=True)
warnings.warn(f"in {os.getcwd()} by {getpass.getuser()}")
os.environ.items()"""
FAIL = """\
import getpass, os, traceback
try:
    open(os.path.join(os.path.expanduser("~"), "missing", getpass.getuser()))
except OSError:
    traceback.print_exc()
secret = os.environ["PLANTED_VARIABLE"]
raise RuntimeError(f"{getpass.getuser()} at {os.uname().nodename} in {os.getcwd()}: {secret}")"""


def planted(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as another user, on another host where that can be done, at another home."""
    home = folder / HOME
    home.mkdir(exist_ok=True)
    environment = os.environ | {
        "LOGNAME": USER, "USER": USER, "HOSTNAME": HOST, "HOME": str(home), "PLANTED_VARIABLE": SECRET,
        "PWD": str(folder),
    }  # fmt: skip
    command = [sys.executable, "-m", "rankwork.cli", *arguments]
    if (
        shutil.which("unshare")
        and subprocess.run(["unshare", "-u", "hostname", HOST], capture_output=True).returncode == 0
    ):
        command = ["unshare", "-u", "sh", "-c", f'hostname {HOST}; exec "$@"', "sh", *command]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)


def found(folder: Path) -> dict[str, list[str]]:
    """Where a planted word stands in what is stored, below a folder of evidence."""
    words = [word.encode() for word in (USER, HOST, HOME, SECRET, FOLDER)]
    contents = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert len(contents) >= 5
    places = {path.name: [word.decode() for word in words if word in content] for path, content in contents.items()}
    return {name: hits for name, hits in places.items() if hits}


@pytest.mark.parametrize("last", [(), (FAIL,)], ids=["complete", "failed"])
def test_nothing_that_was_planted_is_stored(last: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    workbook(folder, LOOK, *last, schema=WITH_FILE)
    (folder / "data").mkdir()
    (folder / "data" / "run.txt").write_text("x")
    done = planted(folder, "run", "00", "-p", "name=data/run.txt", "--json")
    item = json.loads(done.stdout)[0]
    assert item["status"] == ("failed" if last else "complete")
    assert verify(Path(item["path"])).intact
    assert found(folder / "evidence") == {}
    shown = (Path(item["path"]) / "notebook.ipynb").read_text()
    for word in ("<user>", "<home>", "<scratch>", "<$PLANTED_VARIABLE>", "<inputs name>"):
        assert word in shown, "it is replaced, not left out"


def test_nothing_that_was_planted_is_stored_when_the_runner_puts_the_record_together(tmp_path: Path) -> None:
    """A worker that is killed leaves its outputs to a process that knows less of them."""
    folder = tmp_path / FOLDER
    workbook(folder, LOOK, "import time, psutil\ntime.sleep(1)\npsutil.Process().parent().kill()", schema=WITH_FILE)
    (folder / "run.txt").write_text("x")
    done = planted(folder, "run", "00", "-p", "name=run.txt", "--json")
    item = json.loads(done.stdout)[0]
    assert item["status"] == "killed"
    assert "<scratch>" in (Path(item["path"]) / "notebook.ipynb").read_text()
    assert found(folder / "evidence") == {}


def test_a_planted_word_would_be_found(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / name).write_text("nothing")
    (tmp_path / "a").write_text(f"by {USER}")
    assert found(tmp_path) == {"a": [USER]}


PRIVATE = """\
import numpy as np, pandas as pd
from rankwork import record
from rankwork.evidence.recording import ranked_list
from rankwork.measures.auditing import audit
from rankwork.rankings import Judgements, Rankings
RUN = {"plantquery": {"plantdoc1": 2.0, "plantdoc2": 1.0, "plantdoc3": 1.0}}
GRADES = {"plantquery": {"plantdoc1": 1, "plantdoc2": 1}}
record("selected", ranked_list(RUN["plantquery"], 2))
record("numbered", ranked_list({7001: 2.0, 7002: 1.0}, 1))
record("run", Rankings.from_dicts(RUN))
record("judged", Judgements.from_dicts(GRADES))
record("audit", audit(RUN, GRADES, ["R@2"]))
record("table", pd.DataFrame({"plantdoc1": [0.5], "query": ["plantquery"]}))
record("mapping", {"plantquery": {"min": 0.5, "max": 1.0}})
record("words", ["plantdoc1", {"plantdoc2"}, np.array(["plantdoc3"])])
print("plantquery")
display({"text/plain": "plantdoc1", "image/png": "cGxhbnRkb2Mx"}, raw=True)
"plantdoc2\""""


@pytest.fixture
def private(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A workbook whose input holds what must not be seen, beside the source that reads it, and the environment."""
    (tmp_path / "client.py").write_text(PRIVATE)
    workbook(tmp_path, "exec(open(name).read())", "raise ValueError(open(name).read())", schema=WITH_FILE)
    return tmp_path, os.environ | {"RANKWORK_PRIVACY_KEY": "plantkey-plantkey-plantkey"}


def run_private(folder: Path, environment: dict[str, str], *arguments: str) -> Path:
    done = rankwork(
        "run", "00", "-p", "name=client.py", "--privacy", "digest", "--json", *arguments,
        folder=folder, environment=environment,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return Path(json.loads(done.stdout)[0]["path"])


def test_digest_privacy_stores_no_text_and_no_id_and_no_key(private: tuple[Path, dict[str, str]]) -> None:
    """Also not in a traceback, an image, the name of a file or the message of an error."""
    record = run_private(*private)
    for path in (private[0] / "evidence").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for word in (b"plant", b"7001", b"7002", b"client", b"cGxhbnRkb2Mx"):
            assert word not in content, (path.name, word)
    verdict = verify(record)
    assert verdict.intact, verdict.sentence
    kept = json.loads((record / "manifest.json").read_text())
    assert kept["recipe"]["privacy"]["kind"] == "digest"
    assert kept["recipe"]["parameters"]["name"] == "inputs/name"
    assert kept["reason"] == {"type": "ValueError", "message": "left out for privacy", "cell": 3}


def test_what_is_kept_as_digests_still_compares(private: tuple[Path, dict[str, str]]) -> None:
    """Equal under one key, layer by layer; another key is another recipe."""
    folder, environment = private
    one, two = (run_private(folder, environment) for _ in range(2))
    other = run_private(folder, environment | {"RANKWORK_PRIVACY_KEY": "another key of enough letters"})
    first, second, third = (json.loads((path / "results.json").read_text()) for path in (one, two, other))
    assert first == second
    selected = first["selected"]["value"]
    assert selected["ids"] == first["run"]["value"]["ids"][:2]
    assert len(set(selected["ids"])) == 2
    assert selected["scores"] == third["selected"]["value"]["scores"]
    assert not set(selected["ids"]) & set(third["selected"]["value"]["ids"])
    assert first["audit"]["value"]["measures"] == third["audit"]["value"]["measures"]
    assert list(first["audit"]["value"]["per_query"]) == first["run"]["value"]["queries"]
    assert list(first["mapping"]["value"].values()) == [{"min": 0.5, "max": 1.0}]
    recipes = [json.loads((path / "manifest.json").read_text())["recipe_digest"] for path in (one, two, other)]
    assert recipes[0] == recipes[1] != recipes[2]


def test_the_key_can_stand_in_a_file_and_privacy_in_the_parameters_file(private: tuple[Path, dict[str, str]]) -> None:
    folder, environment = private
    del environment["RANKWORK_PRIVACY_KEY"]
    (folder / "key").write_text("plantkey-plantkey-plantkey\n")
    (folder / "mine.yaml").write_text("privacy: digest\nname: client.py\n")
    done = rankwork(
        "run", "00", "--params", "mine.yaml", "--json",
        folder=folder, environment=environment | {"RANKWORK_PRIVACY_KEY_FILE": str(folder / "key")},
    )  # fmt: skip
    kept = json.loads((Path(json.loads(done.stdout)[0]["path"]) / "manifest.json").read_text())
    same = run_private(folder, environment | {"RANKWORK_PRIVACY_KEY": "plantkey-plantkey-plantkey"})
    assert kept["recipe"] == json.loads((same / "manifest.json").read_text())["recipe"]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "privacy 'digest' needs a key of 16 or more characters in RANKWORK_PRIVACY_KEY"),
        ({"RANKWORK_PRIVACY_KEY": "short"}, "needs a key of 16 or more"),
        ({"RANKWORK_PRIVACY_KEY_FILE": "/nowhere"}, "RANKWORK_PRIVACY_KEY_FILE names a file that cannot be read"),
    ],
)
def test_a_key_that_is_missing_or_could_be_guessed_is_refused(
    variables: dict[str, str], message: str, tmp_path: Path
) -> None:
    workbook(tmp_path, "print(1)")
    done = rankwork("run", "00", "--privacy", "digest", folder=tmp_path, environment=os.environ | variables)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "evidence").exists()


def test_a_privacy_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    (tmp_path / "mine.yaml").write_text("privacy: full\n")
    done = rankwork("run", "00", "--params", "mine.yaml", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: 00_small: privacy must be plain or digest, got 'full'\n")


@pytest.mark.parametrize("name", ["grid", "privacy"])
def test_a_parameter_with_the_name_of_a_setting_is_refused(tmp_path: Path, name: str) -> None:
    schema = {"type": "object", "properties": {name: {"type": "integer"}}}
    workbook(tmp_path, "print(1)", schema=schema, parameters=f"{name} = 1")
    done = rankwork("run", "00", folder=tmp_path)
    assert done.returncode == 2
    assert f"'{name}' has a meaning in parameters files" in done.stderr
