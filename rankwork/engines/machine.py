"""What can change an engine's answer besides its version: the machine, its devices, threads and settings.

No path, host or user name is in it, and only those environment variables that engines read.
"""

import os
import platform
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

# Where both are installed, another kernel can take over torch.topk on CUDA.
KERNEL_PACKAGES = ("nvidia_cutlass_dsl", "apache_tvm_ffi")
VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "MKL_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def environment() -> dict[str, Any]:
    """The facts about this machine and process, as plain values for a report."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "libc": "-".join(platform.libc_ver()),
        "processors": processors(),
        "cpu instructions": cpu_instructions(),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "kernel packages": {name: package_version(name) for name in KERNEL_PACKAGES},
        "torch": torch_facts(),
    }


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_instructions() -> list[str]:
    """The instruction sets that numpy dispatches to on this CPU: they decide which sort runs.

    The names are numpy's own, from a private module; an unknown numpy gives an empty list.
    """
    try:
        core = import_module("numpy._core._multiarray_umath")
    except ImportError:
        return []
    on: dict[str, bool] = getattr(core, "__cpu_features__", {})
    dispatched: list[str] = getattr(core, "__cpu_dispatch__", [])
    return sorted(name for name in dispatched if on.get(name))


def torch_facts() -> dict[str, Any] | None:
    """Threads, CPU capability, determinism switch and CUDA devices of torch; None without torch."""
    if find_spec("torch") is None:
        return None
    import torch

    return {
        "threads": torch.get_num_threads(),
        "cpu capability": torch.backends.cpu.get_cpu_capability(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "cuda": torch.version.cuda,
        "devices": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }


def package_version(package: str) -> str | None:
    """The version of an installed package, without its local part, or of Python; None if it is not installed."""
    if package == "python":
        return platform.python_version()
    try:
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None
