"""An answer with the time that it took, and what became of it: in time, too late, or not at all."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, Literal, TypeVar

T = TypeVar("T")
Status = Literal["ok", "timeout", "error", "skipped"]


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What was answered: `value` is None where nothing was, and is kept where it only came too late."""

    value: T | None
    status: Status
    milliseconds: float
    error: str | None = None


def timed(call: Callable[[], T], limit_ms: float | None = None, *, skip: bool = False) -> Answer[T]:
    """The answer of a call, which is `timeout` where it took longer than its limit or raised TimeoutError.

    Another OSError, as of a service that cannot be reached, is `error`. Every other exception is a fault of ours or the
    user's and is raised. With `skip` nothing is called.

    >>> timed(lambda: 2).value
    2
    """
    if skip:
        return Answer(None, "skipped", 0.0)
    began = perf_counter()
    try:
        value = call()
    except TimeoutError as error:
        return Answer(None, "timeout", _since(began), str(error) or type(error).__name__)
    except OSError as error:
        return Answer(None, "error", _since(began), str(error) or type(error).__name__)
    took = _since(began)
    return Answer(value, "timeout" if limit_ms is not None and took > limit_ms else "ok", took)


def _since(began: float) -> float:
    return (perf_counter() - began) * 1000
