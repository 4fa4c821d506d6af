"""Which engines there are: a module of this package that defines `ENGINES` is an adapter, and is found by itself."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from rankwork.engines.base import Engine
from rankwork.errors import InputError

_PACKAGE = "rankwork.engines"


@cache
def all_engines() -> tuple[Engine, ...]:
    """Every engine that an adapter of this package defines, in the order of files and of definitions."""
    found = iter_modules([str(Path(__file__).parent)])
    return tuple(engine for module in found for engine in engines_of(f"{_PACKAGE}.{module.name}"))


def engines_of(module: str) -> tuple[Engine, ...]:
    """The engines that one module defines; none if it is no adapter."""
    engines: tuple[Engine, ...] = getattr(import_module(module), "ENGINES", ())
    return engines


def engine(name: str) -> Engine:
    """The engine of that name. InputError, with the names there are, if there is none.

    >>> engine("numpy.argsort").package
    'numpy'
    """
    for known in all_engines():
        if known.name == name:
            return known
    raise InputError(f"engine must be one of {_names()}; got {name!r}")


def matching(names: Iterable[str]) -> tuple[Engine, ...]:
    """The engines whose names begin with one of these, in the order of `all_engines`; all of them for no names.

    InputError, with the names there are, for one that no engine's name begins with.

    >>> [known.name for known in matching(["torch.topk", "numpy.argsort stable"])]
    ['numpy.argsort stable', 'numpy.argsort stable reversed', 'torch.topk', 'torch.topk on CUDA']
    """
    wanted = tuple(names)
    for name in wanted:
        if not any(known.name.startswith(name) for known in all_engines()):
            raise InputError(f"no engine's name begins with {name!r}; there are {_names()}")
    return tuple(known for known in all_engines() if not wanted or known.name.startswith(wanted))


def _names() -> str:
    return ", ".join(known.name for known in all_engines())
