"""Which engines there are: a module of this package that defines `ENGINES` is an adapter, and is found by itself."""

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
    raise InputError(f"engine must be one of {', '.join(known.name for known in all_engines())}; got {name!r}")
