"""The core runs on another Python that this machine has, with NumPy alone beside it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUPPORTED = [(3, 11), (3, 12), (3, 13)]
CORE = (
    "test_reference", "test_ties", "test_comparison", "test_tolerance", "test_rankings", "test_names", "test_protocol",
    "test_recall", "test_fixing",
)  # fmt: skip


def version(interpreter: str) -> tuple[int, int] | None:
    """The version of an interpreter, found by running it: a name on the path may be a shim that fails."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (int(done.stdout.split()[0]), int(done.stdout.split()[1])) if done.returncode == 0 else None


def other_pythons() -> list[str]:
    """Interpreters of the other supported versions, the newest first: on the path, or managed by pyenv."""
    wanted = [f"{major}.{minor}" for major, minor in reversed(SUPPORTED) if (major, minor) != sys.version_info[:2]]
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [path for text in wanted if (path := shutil.which(f"python{text}"))]
    found += [str(path) for text in wanted for path in sorted(managed.glob(f"{text}.*/bin/python{text}"))]
    return [path for path in found if version(path) in SUPPORTED]


@pytest.mark.slow
def test_the_core_passes_its_tests_on_another_python_with_numpy_alone(tmp_path: Path) -> None:
    if not (found := other_pythons()):
        pytest.skip("this machine has no other supported Python")
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([found[0], "-m", "venv", str(tmp_path / "venv")], check=True)
    needed = ["numpy", "pytest", "hypothesis", "packaging"]
    install = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "requirements.lock"), *needed]
    if subprocess.run(install, capture_output=True).returncode:
        pytest.skip("the packages for another Python cannot be installed here")
    files = [str(ROOT / "tests" / f"{name}.py") for name in CORE]
    command = [str(python), "-m", "pytest", "--noconftest", "-p", "no:cacheprovider", "-q", *files]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    missing = (
        "import numpy, sys; sys.exit(any(__import__('importlib.util').util.find_spec(m) for m in ('torch', 'pandas')))"
    )
    assert subprocess.run([str(python), "-c", missing]).returncode == 0
