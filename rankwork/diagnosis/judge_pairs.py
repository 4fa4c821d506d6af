"""Pairs of answers for a judge: without the systems' names, in both orders, shuffled by a recorded seed.

The judge gets the pairs. The key file, which says who wrote what, stays with whoever reads the verdicts.
"""

import os
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from rankwork.diagnosis.steering import steering
from rankwork.errors import ContractError, InputError
from rankwork.inputs.models import write_models
from rankwork.inputs.pairs import Candidate, Pair, PairKey, Side

MASK = "[system]"


@dataclass(frozen=True)
class Prepared:
    """Pairs for the judge, and their keys, in the same order."""

    pairs: tuple[Pair, ...]
    keys: tuple[PairKey, ...]

    @property
    def flagged(self) -> tuple[str, ...]:
        """The pairs with an answer that shows signs of steering the judge."""
        return tuple(key.pair for key in self.keys if key.first.steering or key.second.steering)

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write `pairs.jsonl` and `pairs.key.jsonl` into a folder. InputError where one of them is there already."""
        files = Path(folder) / "pairs.jsonl", Path(folder) / "pairs.key.jsonl"
        for file in files:
            if file.exists():
                raise InputError(f"{file.name} is there already: verdicts on it may be, too")
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_models(files[0], self.pairs)
        write_models(files[1], self.keys)
        return files


def prepare_pairs(questions: Mapping[str, str], candidates: Iterable[Candidate], *, seed: int) -> Prepared:
    """Every two systems' answers to each question, in both orders, all shuffled.

    The names of systems and families are masked in the answers. Which pair an answer stands in, and where, depends on
    the seed alone, not on the order in which candidates arrive. InputError for two answers of a system to a question, a
    question with one answer, or an answer to a question that is not there; ContractError for a seed that is no integer.

    >>> texts = {"A1": "Yes, says A1.", "B": "No."}
    >>> answers = [Candidate(question="q", system=name, text=text) for name, text in texts.items()]
    >>> made = prepare_pairs({"q": "Is it?"}, answers, seed=1)
    >>> [(pair.pair, pair.first, pair.second) for pair in made.pairs]
    [('pair-1', 'No.', 'Yes, says [system].'), ('pair-2', 'Yes, says [system].', 'No.')]
    >>> made.keys[0].swap, made.keys[0].first.system
    ('pair-2', 'B')
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ContractError(f"seed must be an integer, got {seed!r}")
    answers = sorted(candidates, key=lambda each: (each.question, each.system))
    _check(questions, answers)
    names = {name for each in answers for name in (each.system, each.family) if name}
    orders = [
        order
        for question in dict.fromkeys(each.question for each in answers)
        for two in combinations([each for each in answers if each.question == question], 2)
        for order in (two, two[::-1])
    ]
    random.Random(seed).shuffle(orders)
    width = len(str(len(orders)))
    labels = {(a.question, a.system, b.system): f"pair-{n:0{width}}" for n, (a, b) in enumerate(orders, 1)}
    return Prepared(
        tuple(_pair(labels, questions, a, b, names) for a, b in orders),
        tuple(_key(labels, a, b, names, seed) for a, b in orders),
    )


def anonymised(text: str, names: Iterable[str]) -> tuple[str, int]:
    """A text with the names of systems masked, whole words whatever their case, and how many there were.

    >>> anonymised("As Rex-7, I would restart it; rex-70 would not.", ["Rex-7"])
    ('As [system], I would restart it; rex-70 would not.', 1)
    """
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    if not longest_first:
        return text, 0
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"
    return re.subn(pattern, MASK, text, flags=re.IGNORECASE)


def _check(questions: Mapping[str, str], answers: Sequence[Candidate]) -> None:
    seen: dict[str, list[str]] = {}
    for each in answers:
        if each.question not in questions:
            raise InputError(f"{each.system!r} answers question {each.question!r}, which is not there")
        if each.system in seen.setdefault(each.question, []):
            raise InputError(f"system {each.system!r} has two answers to question {each.question!r}")
        seen[each.question].append(each.system)
    for question, systems in seen.items():
        if len(systems) < 2:
            raise InputError(f"question {question!r} has one answer, of {systems[0]!r}: a pair needs two")


def _pair(
    labels: Mapping[tuple[str, str, str], str],
    questions: Mapping[str, str],
    first: Candidate,
    second: Candidate,
    names: Iterable[str],
) -> Pair:
    return Pair(
        pair=labels[first.question, first.system, second.system],
        question=questions[first.question],
        first=anonymised(first.text, names)[0],
        second=anonymised(second.text, names)[0],
    )


def _key(
    labels: Mapping[tuple[str, str, str], str], first: Candidate, second: Candidate, names: Iterable[str], seed: int
) -> PairKey:
    return PairKey(
        pair=labels[first.question, first.system, second.system],
        swap=labels[first.question, second.system, first.system],
        question=first.question,
        first=_side(first, names),
        second=_side(second, names),
        seed=seed,
    )


def _side(candidate: Candidate, names: Iterable[str]) -> Side:
    text, masked = anonymised(candidate.text, names)
    return Side(
        system=candidate.system,
        family=candidate.family,
        characters=len(text),
        masked=masked,
        steering=tuple(dict.fromkeys(sign.kind for sign in steering(candidate.text))),
    )
