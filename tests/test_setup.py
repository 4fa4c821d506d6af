"""The ways in agree: pyproject.toml, requirements.lock, environment.yml, the Makefile and the README's two commands."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
REQUIREMENTS = [
    Requirement(text)
    for text in [
        *PROJECT["dependencies"],
        *(text for extra in PROJECT["optional-dependencies"].values() for text in extra),
    ]
]
LISTED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()


def test_environment_yml_installs_what_make_setup_installs() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pip_lines = next(item["pip"] for item in environment["dependencies"] if isinstance(item, dict))
    makefile = (ROOT / "Makefile").read_text()
    extras = re.search(r"^EXTRAS := (\S+?)\$", makefile, re.MULTILINE)
    assert extras is not None
    assert pip_lines == ["-c requirements.lock", f"-e .[{extras[1]}]"]
    assert '-c requirements.lock -e ".[$(EXTRAS)]"' in makefile
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])


def test_every_extra_that_make_installs_is_declared() -> None:
    assert {"test", "peers", "engines", "scale", "models", "browser"} <= set(PROJECT["optional-dependencies"])


def test_the_lock_pins_one_public_version_a_package() -> None:
    assert [line for line in LOCK if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
    names = [canonicalize_name(line.split("==")[0]) for line in LOCK]
    assert len(set(names)) == len(names)
    assert "torch==2.13.0" in LOCK


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.name)
def test_the_lock_satisfies_every_requirement(requirement: Requirement) -> None:
    pinned = {canonicalize_name(name): version for name, version in (line.split("==") for line in LOCK)}
    assert requirement.specifier.contains(Version(pinned[canonicalize_name(requirement.name)]))


def test_ci_runs_the_command_that_the_readme_names() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()
    readme = (ROOT / "README.md").read_text()
    assert "make workbook" in readme
    assert "make test" in readme


@pytest.mark.skipif(not LISTED, reason="not a git checkout: the committed files are not known")
def test_no_committed_file_names_a_machine_or_a_registry_host() -> None:
    private = re.compile(r"/(?:root|work|home/\w+)/|pypi\.org|pythonhosted|conda\.anaconda\.org|registry\.npmjs")
    texts = {name: (ROOT / name).read_text(errors="replace") for name in LISTED if (ROOT / name).is_file()}
    texts.pop("tests/test_setup.py", None)
    assert {name: found[0] for name, text in texts.items() if (found := private.search(text))} == {}


@pytest.mark.parametrize(("ci", "extras"), [("", "test,peers"), ("true", "test,peers,engines,scale,models,browser")])
def test_make_installs_what_users_need_not_wait_for_only_where_ci_is_set(ci: str, extras: str) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "CI"} | ({"CI": ci} if ci else {})
    command = ["make", "--dry-run", "--always-make", "setup"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)
    assert f'-e ".[{extras}]"' in done.stdout
