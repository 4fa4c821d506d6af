"""What pydantic finds wrong with an object, as one sentence of ours: the place in the object, then what is wrong."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

_LONGEST = 60


def refusal(error: "ValidationError") -> str:
    """The first thing that is wrong, with its place, the value and how many more there are.

    >>> from pydantic import ValidationError
    >>> from rankwork.trace import Case
    >>> try:
    ...     Case.model_validate({"id": "c1", "query": "why?", "split": "test"})
    ... except ValidationError as error:
    ...     refusal(error)
    "split: input should be 'dev', 'holdout' or 'blind', got 'test'"
    """
    found = error.errors(include_url=False)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{_sentence(found[0])}{more}"


def _sentence(fault: Any) -> str:
    place = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        text = "there is no such field"
    elif fault["type"] == "missing":
        text = "this field must be there"
    elif fault["type"] == "value_error":
        text = str(fault["ctx"]["error"])
    else:
        text = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, got {_shown(fault['input'])}"
    return f"{place}: {text}" if place else text


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
