"""Named moments at which an execution can be made to end, to see what such a crash leaves behind.

An execution passes each of `MOMENTS` in this order. `RANKWORK_CRASH_AT=NAME` in the environment of the runner ends the
process that reaches that moment with SIGKILL; `NAME:SIGSTOP` sends another signal, for instance to halt it there and
end the whole family from outside. Where the variable is not set, a moment is one look into the environment.

| moment | the process that passes it | what is left when that process is killed there |
|---|---|---|
| before_kernel | worker | a record with status killed: the source as it was given |
| in_cell | kernel, as it records a value | a record with status kernel_died, with what was recorded before |
| in_last_cell | kernel, as it shows the seal | a record with status kernel_died, with all recorded values |
| while_writing | worker, with half a notebook written | a record with status killed, with the notebook as last saved |
| before_digest | worker, before the manifest | a record with status killed, with all recorded values |
| after_digest | worker, with the manifest written | the record that was finished: complete |
| before_rename | runner | no record; a scratch folder that is listed as killed |
| after_rename | runner | the record that was finished: complete |

Where the runner dies with the process, at any moment but the last, what is left is a scratch folder listed as killed.
"""

import os
import signal
import threading

from rankwork.errors import EvidenceError

VARIABLE = "RANKWORK_CRASH_AT"
MOMENTS = (
    "before_kernel",
    "in_cell",
    "in_last_cell",
    "while_writing",
    "before_digest",
    "after_digest",
    "before_rename",
    "after_rename",
)


def moment(name: str) -> None:
    """Pass the moment `name`: nothing happens, unless the environment asks for a crash there."""
    if asked := os.environ.get(VARIABLE):
        where, what = parse(asked)
        if where == name:
            signal.pthread_kill(threading.get_ident(), what)  # this very thread goes no further


def parse(asked: str) -> tuple[str, signal.Signals]:
    """The moment and the signal that a text asks for; EvidenceError for a name that there is none of.

    >>> parse("in_cell")
    ('in_cell', <Signals.SIGKILL: 9>)
    """
    name, _, kind = asked.partition(":")
    if name not in MOMENTS:
        raise EvidenceError(f"{VARIABLE} must begin with one of {', '.join(MOMENTS)}, got {asked!r}")
    try:
        return name, signal.Signals[kind or "SIGKILL"]
    except KeyError:
        raise EvidenceError(f"{VARIABLE} must end with a signal such as SIGSTOP, got {asked!r}") from None
