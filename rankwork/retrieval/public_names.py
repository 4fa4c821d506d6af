"""What an installed package offers in public: each callable and class once, with all names that lead to it."""

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# What pandas declares private without an underscore, and build tools that numpy no longer supports.
_PRIVATE = frozenset({"pandas.core", "pandas.compat", "pandas.util", "numpy.distutils", "numpy.f2py"})
_NOT_OFFERED = frozenset({"tests", "conftest", "setup"})


@dataclass(frozen=True)
class Public:
    """A public callable or class: the shortest of its names (the first of equals), all of its names, its docstring."""

    name: str
    names: tuple[str, ...]
    text: str
    kind: str


def public(library: str) -> tuple[Public, ...]:
    """The documented public callables and classes of an installed library, with their public methods, by name.

    Public is what a module without an underscore holds under a name without one. What several names lead to is there
    once. Properties and plain values are left out.
    """
    found: dict[int, tuple[Any, list[str]]] = {}
    for module in _modules(library):
        for name, thing in _offered(module, library):
            _note(found, f"{module.__name__}.{name}", thing)
            if inspect.isclass(thing):
                for method_name, method in _methods(thing, library):
                    _note(found, f"{module.__name__}.{name}.{method_name}", method)
    kept = ((thing, names, _text_of(thing)) for thing, names in found.values())
    entries = [
        Public(min(names, key=_shortest), tuple(sorted(names)), text, _kind(thing))
        for thing, names, text in kept
        if text
    ]
    return tuple(sorted(entries, key=lambda entry: entry.name))


def _shortest(name: str) -> tuple[int, int, str]:
    return name.count("."), len(name), name


def _modules(library: str) -> Iterator[ModuleType]:
    """The library and its public modules. What cannot be imported here, for want of a tool, is not offered here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = importlib.import_module(library)
        yield package
        for name in _module_names(package):
            try:
                yield importlib.import_module(name)
            except ImportError:
                continue


def _module_names(package: ModuleType) -> Iterator[str]:
    """The names of the public modules below a package, without a look into private ones."""
    for entry in sorted(pkgutil.iter_modules(getattr(package, "__path__", ())), key=lambda entry: entry.name):
        name = f"{package.__name__}.{entry.name}"
        if entry.name.startswith("_") or entry.name in _NOT_OFFERED or name in _PRIVATE:
            continue
        yield name
        if entry.ispkg:
            try:
                yield from _module_names(importlib.import_module(name))
            except ImportError:
                continue


def _offered(module: ModuleType, library: str) -> Iterator[tuple[str, Any]]:
    """The callables that a module offers and that belong to its library, by name.

    A module offers what it lists in `__all__`, a package without such a list all that it holds.
    """
    listed = getattr(module, "__all__", vars(module) if hasattr(module, "__path__") else ())
    for name in sorted(vars(module).keys() & set(listed)):
        thing = vars(module)[name]
        if not name.startswith("_") and callable(thing) and _home(thing, library).split(".")[0] == library:
            yield name, thing


def _methods(cls: type, library: str) -> Iterator[tuple[str, Any]]:
    """The public methods of a class, inherited ones too where they are from the same library."""
    for name in sorted(dir(cls)):
        method = None if name.startswith("_") else getattr(cls, name, None)
        if callable(method) and not inspect.isclass(method) and _home(method, library).split(".")[0] == library:
            yield name, method


def _home(thing: Any, library: str) -> str:
    """The module that a thing is from: its own word, its class's, or `library` for a ufunc, which says nothing."""
    if type(thing).__name__ == "ufunc":
        return library
    owner = getattr(thing, "__objclass__", type(thing))
    own = getattr(thing, "__module__", None)
    return own if isinstance(own, str) else str(owner.__module__)


def _note(found: dict[int, tuple[Any, list[str]]], name: str, thing: Any) -> None:
    thing = getattr(thing, "__func__", thing)  # a classmethod is bound anew at each look
    found.setdefault(id(thing), (thing, []))[1].append(name)


def _text_of(thing: Any) -> str:
    """The docstring of the thing itself, not of its class, without its indent."""
    own = getattr(thing, "__doc__", None)
    if not isinstance(own, str) or (not inspect.isclass(thing) and own == type(thing).__doc__):
        return ""
    return inspect.cleandoc(own)


def _kind(thing: Any) -> str:
    return "class" if inspect.isclass(thing) else "function"
