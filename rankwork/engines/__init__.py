"""What other libraries return as the top k: observed, counted, and never trusted.

One adapter a file; a module of this package that defines `ENGINES` is an adapter, and is found by itself.

>>> import numpy
>>> from rankwork.engines import engine
>>> engine("numpy.argsort stable reversed").select(numpy.array([1.0, 2.0, 2.0]), k=1).tolist()
[2]
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from rankwork.engines.base import Availability, Engine, EngineError, Promise, Request
from rankwork.errors import InputError

__all__ = ["Availability", "Engine", "EngineError", "Promise", "Request", "all_engines", "engine"]


@cache
def all_engines() -> tuple[Engine, ...]:
    """Every engine that an adapter of this package defines, in the order of files and of definitions."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    return tuple(engine for module in modules for engine in getattr(module, "ENGINES", ()))


def engine(name: str) -> Engine:
    """The engine of that name. InputError, with the names there are, if there is none.

    >>> engine("numpy.argsort").package
    'numpy'
    """
    for known in all_engines():
        if known.name == name:
            return known
    raise InputError(f"engine must be one of {', '.join(known.name for known in all_engines())}; got {name!r}")
