"""Thirteen answers of our own making about Velmo, an invented queue service, labelled by hand: the border cases.

Each separates scores that are often taken for one: faithful but wrong, beside the question, incomplete, right without
support, contradicted, true in part, citations piled at the end, an invented source, labels that failed, and both kinds
of right and wrong refusals.

>>> cases, traces = answers()
>>> len(cases), traces[1].case, traces[1].claims[0].label, traces[1].claims[0].correct
(13, 'faithful-but-wrong', 'supported', False)
>>> passages()["velmo-backup#7"].text
'Backups are kept for 35 days, then removed.'
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rankwork.errors import InputError
from rankwork.inputs.models import read_models
from rankwork.inputs.traces import read_cases, read_traces
from rankwork.trace import Case, Trace

FOLDER = Path(__file__).with_name("examples")


class Passage(BaseModel):
    """A passage of the manual: what a chunk's ID stands for, at one revision of its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    source: str
    revision: str
    text: str


def answers() -> tuple[list[Case], list[Trace]]:
    """The cases, and the one trace of each, in the same order."""
    return list(read_cases(FOLDER / "answers.cases.jsonl")), list(read_traces(FOLDER / "answers.traces.jsonl"))


def passages() -> dict[str, Passage]:
    """The passages of the manual by their ID, the outdated one among them."""
    return {passage.id: passage for passage in read_models(FOLDER / "answers.passages.jsonl", Passage)}


def answer(name: str) -> tuple[Case, Trace]:
    """One case with its trace, by the case's name. InputError for a name that is not there.

    >>> answer("false-refusal")[1].refused
    True
    """
    pairs = {case.id: (case, trace) for case, trace in zip(*answers(), strict=True)}
    if name not in pairs:
        raise InputError(f"the answers are {', '.join(pairs)}; there is no {name!r}")
    return pairs[name]
