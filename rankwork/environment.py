"""What a result depends on besides its input: versions, device, threads, determinism settings.

Versions are read from the installed metadata, so that nothing heavy is imported to ask for them.
"""

import ctypes
import importlib.util
import os
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

LIBRARIES = (
    "bm25s", "krippendorff", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "pydantic", "scikit-learn", "scipy",
    "statsmodels", "torch",
)  # fmt: skip
"""The libraries that can take part in a result; their versions belong to a recipe."""

TOOLS = ("ipykernel", "jupyter-client", "jupyterlab", "math-core", "nbclient", "nbconvert", "nbformat", "papermill")
"""The libraries that execute and show a notebook; their versions are recorded for information."""

CUDA_SELECTION = ("nvidia-cutlass-dsl", "apache-tvm-ffi")
"""Where both are installed, torch may select with another CUDA kernel, whose ties can vary."""

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def version_of(package: str) -> str | None:
    """The installed version without its local part, or None where the package is not installed.

    >>> version_of("numpy").count(".") >= 1, version_of("no-such-package")
    (True, None)
    """
    try:
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


def versions(packages: tuple[str, ...] = LIBRARIES) -> dict[str, str]:
    """The versions of the packages that are installed, Python's own first."""
    found = {name: version_of(name) for name in packages}
    return {"python": platform.python_version()} | {name: version for name, version in found.items() if version}


def device_kind() -> str:
    """`"cuda"` where torch is a CUDA build and a device answers, else `"cpu"`; neither is imported to find out."""
    return "cuda" if _torch_build_has_cuda() and _cuda_devices() > 0 else "cpu"


def machine() -> dict[str, Any]:
    """The class of this machine, without its name: system, processor type and model, cores."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor_model(),
        "cores": os.cpu_count(),
    }


def thread_settings() -> dict[str, Any]:
    """The thread counts in force: what the variables say and, where torch is loaded, what it uses."""
    settings: dict[str, Any] = {name: os.environ[name] for name in _THREAD_VARIABLES if name in os.environ}
    if (torch := sys.modules.get("torch")) is not None:
        settings["torch"] = torch.get_num_threads()
    return settings


def determinism_settings() -> dict[str, Any]:
    """The settings that are meant to make a computation repeatable, as they stand in this process."""
    settings: dict[str, Any] = {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "random")}
    if (torch := sys.modules.get("torch")) is not None:
        settings["torch.use_deterministic_algorithms"] = torch.are_deterministic_algorithms_enabled()
        settings["torch.float32_matmul_precision"] = torch.get_float32_matmul_precision()
        if torch.cuda.is_available():
            settings["torch.cudnn.benchmark"] = torch.backends.cudnn.benchmark
            settings["torch.cudnn.deterministic"] = torch.backends.cudnn.deterministic
    return settings


def describe() -> dict[str, Any]:
    """Everything of this process and machine that a record keeps; no user, host, path or other variable."""
    return {
        "versions": versions(LIBRARIES + TOOLS + CUDA_SELECTION),
        "device": device_kind(),
        "device_name": _device_name(),
        "machine": machine(),
        "threads": thread_settings(),
        "determinism": determinism_settings(),
    }


def commit(folder: Path) -> dict[str, Any]:
    """The git commit of a folder and whether it holds changes; both None outside a checkout."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    revision, changes = git("rev-parse", "HEAD"), git("status", "--porcelain")
    return {"id": revision, "dirty": None if revision is None or changes is None else bool(changes)}


def _torch_build_has_cuda() -> bool:
    spec = importlib.util.find_spec("torch")
    file = Path(spec.origin).parent / "version.py" if spec and spec.origin else None
    text = file.read_text() if file and file.exists() else ""
    return re.search(r"^cuda\b[^=]*=\s*['\"]", text, re.MULTILINE) is not None


def _cuda_devices() -> int:
    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        usable = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
    except (OSError, AttributeError):
        return 0
    return count.value if usable else 0


def _device_name() -> str | None:
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else None


def _processor_model() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor()
