"""The citation judgements of TREC's RAG track (2024): answers by sentence, each citation with how far it supports.

A sentence becomes a claim, without a label: the track judged citations, not claims. R. Pradeep and others, "Ragnarök: A
Reusable RAG Framework and Baselines for TREC 2024 Retrieval-Augmented Generation Track", 2024.
"""

import os
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from rankwork.inputs.models import read_models
from rankwork.trace import Case, Citation, Claim, Trace

_SUPPORT: dict[str, Literal["full", "partial", "no"]] = {"2": "full", "1": "partial", "0": "no"}


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Reference(_Line):
    reference: str
    support: Literal["0", "1", "2"]


class _Sentence(_Line):
    text: str
    citations: tuple[_Reference, ...]

    @field_validator("text", mode="before")
    @classmethod
    def _missing(cls, text: Any) -> Any:
        """The track's file holds NaN where a sentence has no text."""
        return "" if text is None or text != text else text


class _Answer(_Line):
    topic_id: str
    run_id: str
    sentences: tuple[_Sentence, ...]


def read_citation_judgements(path: str | os.PathLike[str]) -> tuple[list[Case], list[Trace]]:
    """The topics as cases, without a query, and each run's answer to one as a trace, with claims and citations.

    A trace's case is the topic, its run the run; answers to one topic are one cluster. InputError, with file and line,
    for what is no such file, and for a support other than 0, 1 and 2.
    """
    answers = read_models(path, _Answer)
    topics = dict.fromkeys(answer.topic_id for answer in answers)
    return [Case(id=topic, query="", cluster=topic) for topic in topics], [_trace(answer) for answer in answers]


def _trace(answer: _Answer) -> Trace:
    sentences = list(enumerate(answer.sentences, 1))
    return Trace(
        case=answer.topic_id,
        run=answer.run_id,
        claims=tuple(Claim(id=f"sentence {number}", text=sentence.text) for number, sentence in sentences),
        citations=tuple(
            Citation(id=each.reference, claim=f"sentence {number}", supports=_SUPPORT[each.support])
            for number, sentence in sentences
            for each in sentence.citations
        ),
    )
