"""Names of measures: one text, the same in code, command line, report and `repr`, that parses back to what it names.

>>> parse("Recall@10"), parse("recall_10"), parse("R( rel = 2 )@10")
(Measure('R@10'), Measure('R@10'), Measure('R(rel=2)@10'))
>>> str(parse(str(parse("R(rel=2)@10"))))
'R(rel=2)@10'
"""

import ast
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from rankwork.errors import ContractError

if TYPE_CHECKING:
    from rankwork.measures.arranging import Arrangement
    from rankwork.measures.values import Bools, Floats, Setting
    from rankwork.rankings import Ints

_FORM = re.compile(
    r"\s*(?P<name>[A-Za-z][A-Za-z0-9_-]*?)\s*(\((?P<parameters>[^()]*)\))?\s*(@\s*(?P<cutoff>[0-9]+))?\s*"
)
_OTHER_FORM = re.compile(r"\s*(?P<name>[A-Za-z_]+)[_.](?P<cutoff>[0-9]+)\s*")  # recall_10, as trec_eval writes it
_PARAMETER = re.compile(r"\s*(?P<key>[A-Za-z_]+)\s*=\s*(?P<value>.+?)\s*")


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure's canonical name, its parameters in alphabetical order, and its cutoff k, if it has one."""

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    cutoff: int | None = None

    def __str__(self) -> str:
        inner = ",".join(f"{key}={value!r}" for key, value in self.parameters)
        return self.name + (f"({inner})" if inner else "") + (f"@{self.cutoff}" if self.cutoff is not None else "")

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    @property
    def k(self) -> int:
        """The cutoff. ContractError if the measure has none."""
        if self.cutoff is None:
            raise ContractError(f"{self} has no cutoff")
        return self.cutoff

    def parameter(self, key: str) -> Any:
        """The value of a parameter, None if the name leaves it open."""
        return dict(self.parameters).get(key)

    def filled(self, **defaults: Any) -> "Measure":
        """The same measure with what its name leaves open filled in.

        >>> parse("R@10").filled(rel=1)
        Measure('R(rel=1)@10')
        """
        return replace(self, parameters=tuple(sorted({**defaults, **dict(self.parameters)}.items())))


@dataclass(frozen=True)
class Definition:
    """What a file of this package defines, as `DEFINITION`: the registry finds it there.

    - `parameters` checks each parameter's value: it returns an error's ending, or None.
    - `resolve` fills what the name leaves open, from the protocol and the judgements.
    - `score` is the measure of given orders, float64 for each list of an arrangement: its minimum, maximum and
    contract.
    - `moments` are mean and variance over all orders for each judged query, its cutoffs given; NaN for a variance that
      is not known, with `unknown_std` as the reason.
    - `counted` says which grades count as relevant to the measure; without any of them a query is undefined.
    - `cutoffs` are the places that count, int64[J].
    - `of_hits` is the measure as a function of hits, cutoff and all that could be hit, where it is one.
    - `implied` are the parameters that an alias brings with it.
    - `every_judged`: documents judged not relevant move it too. `members_only`: neither the order nor the number of
      the selected documents matters to it. `always_defined`: it needs no relevant document.
    """

    name: str
    aliases: tuple[str, ...]
    parameters: Mapping[str, Callable[[Any], str | None]]
    cutoff: Literal["required", "optional", "none"]
    resolve: Callable[[Measure, "Setting"], Measure]
    score: Callable[[Measure, "Setting", "Arrangement"], "Floats"]
    moments: Callable[[Measure, "Setting", "Ints"], tuple["Floats", "Floats"]]
    counted: Callable[[Measure, NDArray[Any]], "Bools"]
    cutoffs: Callable[[Measure, "Setting"], "Ints"]
    of_hits: Callable[[Measure, int, int, int], Fraction] | None = None
    implied: Mapping[str, tuple[tuple[str, Any], ...]] = field(default_factory=dict)
    unknown_std: str | None = None
    every_judged: bool = False
    members_only: bool = False
    always_defined: bool = False


def parse(text: str) -> Measure:
    """The measure that a name or an alias names. ContractError for a name, parameter or cutoff that is not known.

    >>> parse("R@0")
    Traceback (most recent call last):
        ...
    rankwork.errors.ContractError: measure 'R@0': k must be at least 1, got 0
    """
    form = _OTHER_FORM.fullmatch(text) or _FORM.fullmatch(text)
    if form is None:
        raise ContractError(f"measure {text!r} is not of the form NAME(parameter=value)@k, such as R(rel=2)@10")
    parts = form.groupdict()
    definition = _definition(text, parts["name"])
    cutoff = None if parts["cutoff"] is None else int(parts["cutoff"])
    _check_cutoff(text, definition, cutoff)
    named = _parameters(text, definition, parts.get("parameters") or "")
    implied = tuple(item for item in definition.implied.get(parts["name"], ()) if item[0] not in dict(named))
    return Measure(definition.name, tuple(sorted((*named, *implied))), cutoff)


def definition_of(measure: Measure) -> Definition:
    """The definition of a measure."""
    return _definition(str(measure), measure.name)


@cache
def known() -> dict[str, Definition]:
    """The definition of every name and alias: those of all files of this package that define a measure."""
    import rankwork.measures as package

    names = [f"{package.__name__}.{info.name}" for info in pkgutil.iter_modules(package.__path__)]
    definitions = [import_module(name).DEFINITION for name in names if _defines_measure(name)]
    return {name: definition for definition in definitions for name in (definition.name, *definition.aliases)}


def _defines_measure(module: str) -> bool:
    """Whether a module's source has a definition; the others are not loaded, which would take longer than an audit."""
    spec = find_spec(module)
    read: Callable[[str], str | None] = getattr(spec and spec.loader, "get_source", lambda name: None)
    return "\nDEFINITION = " in (read(module) or "")


def relevance_threshold(value: Any) -> str | None:
    """Check of the parameter `rel`: a positive grade, or '>0' for any positive grade."""
    if value == ">0" or (isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")):
        return None
    return f"must be a positive grade or '>0', got {value!r}"


def resolve_relevance(measure: Measure, setting: "Setting") -> Measure:
    """The measure with `rel` from the protocol, if its name leaves it open."""
    return measure.filled(rel=1 if setting.protocol.relevant_from == 1 else ">0")


def unchanged(measure: Measure, setting: "Setting") -> Measure:
    """The measure itself: its name leaves nothing open."""
    return measure


def _definition(text: str, name: str) -> Definition:
    found = known().get(name)
    if found is None:
        names = sorted({definition.name for definition in known().values()})
        aliases = sorted(known().keys() - set(names))
        raise ContractError(
            f"measure {text!r} is not known; known are {', '.join(names)}, also by the names {', '.join(aliases)}"
        )
    return found


def _check_cutoff(text: str, definition: Definition, cutoff: int | None) -> None:
    if cutoff is None and definition.cutoff == "required":
        raise ContractError(f"measure {text!r} needs a cutoff, such as {definition.name}@10")
    if cutoff is not None and definition.cutoff == "none":
        raise ContractError(f"measure {text!r} takes no cutoff")
    if cutoff is not None and cutoff < 1:
        raise ContractError(f"measure {text!r}: k must be at least 1, got {cutoff}")


def _parameters(text: str, definition: Definition, inner: str) -> tuple[tuple[str, Any], ...]:
    taken: dict[str, Any] = {}
    for part in inner.split(",") if inner.strip() else []:
        key, value = _parameter(text, part)
        if key not in definition.parameters or key in taken:
            expected = ", ".join(definition.parameters) or "none"
            raise ContractError(f"measure {text!r}: parameter {key!r} is unknown or twice; there are: {expected}")
        problem = definition.parameters[key](value)
        if problem:
            raise ContractError(f"measure {text!r}: {key} {problem}")
        taken[key] = value
    return tuple(sorted(taken.items()))


def _parameter(text: str, part: str) -> tuple[str, Any]:
    form = _PARAMETER.fullmatch(part)
    try:
        value = ast.literal_eval(form["value"]) if form else None
    except (ValueError, SyntaxError):
        form = None
    if form is None:
        raise ContractError(f"measure {text!r}: {part.strip()!r} is not of the form parameter=value")
    return form["key"], value
