"""The house keeps its order: each module imports only from those above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rankwork

PACKAGE = Path(rankwork.__file__).parent
ORDER = (
    "errors", "digest", "evidence.tokens", "environment",
    "contract.reference", "contract.ties", "contract.identifiers", "contract.kernels", "contract.lemma",
    "contract.accelerator", "contract.topk", "contract.certificate", "contract.shards",
    "contract.comparison", "contract.tolerance", "contract",
    "engines", "rankings", "protocol", "statistics", "trace", "inputs", "measures", "retrieval", "diagnosis",
    "decision", "evidence", "plots", "explore", "exercises", "cli",
)  # fmt: skip
HEAVY = {"torch", "matplotlib", "papermill", "jupyter_client", "nbconvert", "nbclient", "nbformat", "numba", "pandas",
         "pyarrow", "sklearn", "scipy"}  # fmt: skip
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def place(module: str) -> int:
    """The position of a module in the order: its own, or that of the package that holds it."""
    outer = module
    while outer:
        if outer in ORDER:
            return ORDER.index(outer)
        outer = outer.rpartition(".")[0]
    raise AssertionError(f"{module} has no place in the order")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imported(source: str, *, top_level_only: bool = False) -> set[str]:
    """The absolute names that a source imports; with `top_level_only`, those that loading it imports."""
    tree = ast.parse(source)
    names: set[str] = set()
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def ours(source: str) -> set[str]:
    """The modules of rankwork that a source imports, as names inside the package."""
    inner = {name[9:] for name in imported(source) if name.startswith("rankwork.")}
    return {name for name in inner if (PACKAGE / f"{name.replace('.', '/')}.py").exists()}


def violations(module: str, source: str) -> list[str]:
    """The imports of `module` from below it in the order."""
    return [f"{module} imports {target}" for target in sorted(ours(source)) if place(target) > place(module)]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_each_module_imports_only_from_above(path: Path) -> None:
    assert violations(name_of(path), path.read_text()) == []


def test_an_import_from_below_is_noticed() -> None:
    assert violations("digest", "from rankwork.cli import main") == ["digest imports cli"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name_of(path): ours(path.read_text()) for path in MODULES}
    finished: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"a circle of imports: {' -> '.join((*trail, module))}"
        if module not in finished:
            for target in sorted(graph[module]):
                visit(target, (*trail, module))
            finished.add(module)

    for module in graph:
        visit(module, ())


def test_the_library_loads_nothing_heavy_when_imported() -> None:
    code = "import sys, rankwork, rankwork.cli; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert loaded & (HEAVY | {"numpy"}) == set()


@pytest.mark.parametrize("package", ["contract", "engines", "measures", "rankings"])
def test_the_core_imports_with_numpy_alone(package: str) -> None:
    for path in MODULES:
        if name_of(path).split(".")[0] == package:
            loaded = {name.split(".")[0] for name in imported(path.read_text(), top_level_only=True)}
            assert loaded & HEAVY == set(), name_of(path)


def test_no_module_bears_the_name_of_a_public_function() -> None:
    assert {path.stem for path in PACKAGE.iterdir()} & set(rankwork.__all__) == set()
