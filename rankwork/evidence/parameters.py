"""A notebook's parameters: declared, typed and checked before a kernel starts.

The names and defaults stand in the notebook's one cell tagged `parameters`, one `name = literal  # help` a line; their
types and ranges in `params/NN_name.schema.json`; named sets of values in `params/NN_name.smoke.yaml` and `.full.yaml`.
A string with `"format": "input"` in the schema is a file: it is identified by its content, never by its path.
"""

import ast
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankwork.errors import ParameterError

TAG = "parameters"
INPUT = "input"
_SECRET = re.compile(r"(^|_)(token|secret|password|passwd|passphrase|api_?key|private_?key|credentials?)($|_)", re.I)


def defaults(notebook: Mapping[str, Any], name: str) -> dict[str, Any]:
    r"""The parameters and their defaults, read from the source of the `parameters` cell without running it.

    >>> cell = {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": 'k = 10  # depth\nurl = "a=b"'}
    >>> defaults({"cells": [cell]}, "demo")
    {'k': 10, 'url': 'a=b'}
    """
    cells = [cell for cell in notebook["cells"] if TAG in cell.get("metadata", {}).get("tags", [])]
    if len(cells) != 1 or cells[0]["cell_type"] != "code":
        raise ParameterError(f"{name}: expected one code cell tagged '{TAG}', found {len(cells)}")
    return _assignments("".join(cells[0]["source"]), name)


def _assignments(source: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in _parsed(source, name).body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
            raise ParameterError(f"{name}: line {node.lineno} of the parameters cell is not 'name = literal'")
        try:
            found[target.id] = ast.literal_eval(node.value)
        except ValueError:
            raise ParameterError(f"{name}: the default of {target.id} is not a literal") from None
    return found


def _parsed(source: str, name: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise ParameterError(f"{name}: the parameters cell cannot be read, line {error.lineno}: {error.msg}") from None


def load_schema(path: Path) -> dict[str, Any]:
    """The JSON Schema of a notebook's parameters."""
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParameterError(f"no schema {path.parent.name}/{path.name} for the notebook's parameters") from None
    except ValueError as error:
        raise ParameterError(f"{path.name}: not JSON: {error}") from None
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        raise ParameterError(f"{path.name}: a schema of type object with properties was expected")
    return schema


def load_set(path: Path) -> dict[str, Any]:
    """A named set of values from a YAML file; YAML 1.2 scalars: `1e-5` is a number, `no` and dates are text."""
    try:
        values = parse_yaml(path.read_text(encoding="utf-8"), path.name)
    except FileNotFoundError:
        raise ParameterError(f"no parameters file {path.name}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ParameterError(f"{path.name}: 'name: value' lines were expected")
    return values


def parse_yaml(text: str, where: str) -> Any:
    """One YAML document, read by the rules of `load_set`.

    >>> parse_yaml("[1e-5, no, 2026-01-01, true, 3]", "here")
    [1e-05, 'no', '2026-01-01', True, 3]
    """
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except yaml.YAMLError as error:
        raise ParameterError(f"{where}: not YAML: {' '.join(str(error).split())}") from None


def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads scalars as JSON would, so that no value changes its type unseen."""

        yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  (the base class declares it so)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value]
            if repeated := {key for key in keys if keys.count(key) > 1}:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{min(repeated)!r} is given twice", node.start_mark
                )
            return super().construct_mapping(node, deep)

    for tag, pattern, first in (
        ("null", r"~|null|", ["~", "n", ""]),
        ("bool", r"true|false", list("tf")),
        ("int", r"[-+]?[0-9]+", list("-+0123456789")),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan", list("-+0123456789.")),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), first)
    Loader.add_constructor("tag:yaml.org,2002:int", lambda self, node: int(node.value))
    Loader.add_constructor("tag:yaml.org,2002:float", lambda self, node: _yaml_float(node.value))
    return Loader


def _yaml_float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


def from_text(assignments: tuple[str, ...], schema: Mapping[str, Any]) -> dict[str, Any]:
    """`name=value` from the command line: text where the schema says text, else one YAML value.

    >>> from_text(("k=5", "name=007"), {"properties": {"k": {"type": "integer"}, "name": {"type": "string"}}})
    {'k': 5, 'name': '007'}
    """
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise ParameterError(f"-p {assignment}: 'name=value' was expected")
        if name in values:
            raise ParameterError(f"-p {name} is given twice")
        kind = schema["properties"].get(name, {}).get("type")
        values[name] = text if kind == "string" else parse_yaml(text, f"-p {name}")
    return values


def resolve(
    given: Mapping[str, Any], default: Mapping[str, Any], schema: Mapping[str, Any], name: str
) -> dict[str, Any]:
    """The values that a notebook will run with: the defaults, changed by what is given, checked against the schema.

    ParameterError names the parameter, its value and what was expected. Nothing is converted, except that an integer
    given for a number becomes the same float.
    """
    for parameter in given:
        if _SECRET.search(str(parameter)):
            raise ParameterError(f"{name}: {parameter} looks like a secret; secrets come from the environment")
        if parameter not in default:
            raise ParameterError(
                f"{name}: unknown parameter {parameter!r}; it has {', '.join(sorted(default)) or 'none'}"
            )
    if undeclared := sorted(set(default) ^ set(schema["properties"])):
        raise ParameterError(f"{name}: {undeclared[0]!r} is not both in the parameters cell and in its schema")
    values = {**default, **given}
    for parameter, value in values.items():
        _check_plain(value, f"{name}: {parameter}")
    _validate(values, schema, name)
    return {key: _as_declared(value, schema["properties"][key]) for key, value in sorted(values.items())}


def _check_plain(value: Any, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{where}: {value} is not a finite number")
    if type(value) in (bool, int, float, str, type(None)):
        return
    if type(value) is list:
        for item in value:
            _check_plain(item, where)
    elif type(value) is dict and all(type(key) is str for key in value):
        for item in value.values():
            _check_plain(item, where)
    else:
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise ParameterError(
            f"{where}: {value!r} is a {kind}; a plain number, text, true/false, list or mapping was expected"
        )


def _validate(values: Mapping[str, Any], schema: Mapping[str, Any], name: str) -> None:
    with without(ADDRESSES):
        import jsonschema

    base = jsonschema.Draft202012Validator
    strict = base.TYPE_CHECKER.redefine("integer", lambda checker, value: type(value) is int)
    extend: Any = jsonschema.validators.extend
    validator = extend(base, type_checker=strict)({**schema, "additionalProperties": False})
    problems = sorted(validator.iter_errors(dict(values)), key=lambda problem: [str(part) for part in problem.path])
    if problems:
        where = ".".join(str(part) for part in problems[0].path)
        raise ParameterError(f"{name}: {where + ': ' if where else ''}{_sentence(problems[0])}")


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """Let the imports inside find none of these packages, as if they were not installed.

    Some libraries load what they can use and do not need: jsonschema a grammar of addresses, which takes a second.
    """
    hidden = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None there makes an import fail
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


ADDRESSES = "rfc3987_syntax"
"""The grammar of addresses; no parameter and no notebook needs it."""


def _sentence(problem: Any) -> str:
    """What is wrong with one value, in the order value, expectation."""
    value, limit = problem.instance, problem.validator_value
    expected = {
        "type": f"of type {limit}",
        "minimum": f"at least {limit}",
        "maximum": f"at most {limit}",
        "exclusiveMinimum": f"above {limit}",
        "exclusiveMaximum": f"below {limit}",
        "enum": f"one of {', '.join(map(str, limit)) if isinstance(limit, list) else limit}",
        "pattern": f"of the form {limit}",
        "minItems": f"of at least {limit} items",
        "maxItems": f"of at most {limit} items",
    }.get(problem.validator)
    return f"must be {expected}, got {value!r}" if expected else str(problem.message)


def _as_declared(value: Any, declared: Mapping[str, Any]) -> Any:
    return float(value) if declared.get("type") == "number" and type(value) is int else value


def input_files(values: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that name a file: name -> path as given; empty text names none."""
    declared = schema["properties"]
    return {name: value for name, value in values.items() if declared[name].get("format") == INPUT and value}
