"""What a judge of pairs is shown, and the key that says who stands where."""

import os
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from rankwork.inputs.models import read_models

Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Candidate(_Strict):
    """One system's answer to a question; `family` is that of its model, for the preference of a judge for its own."""

    question: Text
    system: Text
    text: str
    family: str = ""


class Pair(_Strict):
    """What the judge is shown: the question and two answers, and nothing of where they come from."""

    pair: Text
    question: str
    first: str
    second: str


class Side(_Strict):
    """Who wrote one answer of a pair, how long it is, what in it was masked or tries to steer."""

    system: Text
    family: str = ""
    characters: NonNegativeInt
    masked: NonNegativeInt = 0
    steering: tuple[str, ...] = ()


class PairKey(_Strict):
    """Who stands where in a pair, the pair with the same answers the other way round, and the seed of the shuffle."""

    pair: Text
    swap: Text
    question: Text
    first: Side
    second: Side
    seed: int


def read_pairs(path: str | os.PathLike[str]) -> list[Pair]:
    """The pairs of a JSON lines file. InputError, with file and line, for what is none."""
    return read_models(path, Pair)


def read_pair_keys(path: str | os.PathLike[str]) -> list[PairKey]:
    """The keys of a JSON lines file. InputError, with file and line, for what is none."""
    return read_models(path, PairKey)


def read_candidates(path: str | os.PathLike[str]) -> list[Candidate]:
    """The candidates of a JSON lines file. InputError, with file and line, for what is none."""
    return read_models(path, Candidate)
