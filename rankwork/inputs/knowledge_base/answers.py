"""Answers to the questions of the knowledge base, with a label for every claim: written from templates, by no model.

Two systems answer, the baseline and the candidate. How each answers a question is drawn from declared shares
(`answers.yaml`): right, incomplete, contradicted, from an outdated revision, beside the question, with a source that
does not exist, refused though the evidence was there, and more. The draw is kept as `behaviour`, so that what measures
answers can be checked against how they were made.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from rankwork.errors import ContractError, InputError
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.knowledge_base.behaviours import Writer
from rankwork.inputs.knowledge_base.catalogue import catalogue, phrases
from rankwork.inputs.knowledge_base.drawing import Draws
from rankwork.inputs.knowledge_base.shipped import SEED, injections, knowledge_base
from rankwork.inputs.knowledge_base.sight import passages_for, sight_of
from rankwork.trace import Case, Citation, Claim, Events, ToolCall, Trace, Usage

System = Literal["baseline", "candidate"]


@dataclass(frozen=True)
class AnswerParts:
    """The fields that an answer adds to a trace, and apart from them how it was made."""

    answer: str
    refused: bool
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    usage: tuple[Usage, ...]
    behaviour: str

    def merged(self, trace: Trace) -> Trace:
        """The trace with this answer."""
        names = ("answer", "refused", "claims", "citations", "usage")
        return trace.model_copy(update={name: getattr(self, name) for name in names})


def labelled_answers(system: System) -> dict[str, AnswerParts]:
    """An answer of the system to every shipped case, by its ID, as if the context had held all the evidence.

    Citations name whole documents. ContractError for another system.

    >>> answers = labelled_answers("baseline")
    >>> answers["brindlemoor.nobody.code"].behaviour, answers["brindlemoor.nobody.code"].claims
    ('refused', ())
    """
    _check(system)
    return {case.id: _answer(case, system, None) for case in knowledge_base().cases}


def answer_traces(system: System) -> list[Trace]:
    """The answers of `labelled_answers` as traces that hold nothing else, one a case.

    >>> answer_traces("baseline")[0].stages
    ()
    """
    return [answer.merged(Trace(case=name)) for name, answer in labelled_answers(system).items()]


def answered(traces: Iterable[Trace], chunks: Collection, system: System) -> list[Trace]:
    """Traces of the shipped cases with an answer to what their prompt held, its usage, and the injections in it.

    `chunks` is the collection that was searched: its IDs are those of the prompts. What the prompt lacks is left out,
    invented or refused, in the declared shares. InputError for a trace of another case, and for a prompt with an ID
    that the collection lacks; ContractError for another system.
    """
    _check(system)
    cases = {case.id: case for case in knowledge_base().cases}
    known = {**{document.id: document for document in chunks.parents}, **chunks.by_id}
    return [_answered(trace, cases, known, system) for trace in traces]


def _check(system: str) -> None:
    if system not in catalogue("answers")["models"]:
        raise ContractError(f"the system must be baseline or candidate, got {system!r}")


def _answered(trace: Trace, cases: Mapping[str, Case], known: Mapping[str, Document], system: System) -> Trace:
    if trace.case not in cases:
        raise InputError(f"trace of case {trace.case!r}: it is no case of the knowledge base")
    shown = trace.prompt.ids if trace.prompt else ()
    if unknown := next((name for name in shown if name not in known), None):
        raise InputError(f"trace of case {trace.case!r}: its prompt holds {unknown!r}, which the collection lacks")
    context = [known[name] for name in shown]
    case = cases[trace.case]
    answer = _answer(case, system, context)
    return answer.merged(trace).model_copy(update={"events": _events(trace.events, context, answer)})


def _events(events: Events, context: Sequence[Document], answer: AnswerParts) -> Events:
    words = injections().values()
    held = tuple(document.id for document in context if any(instruction in document.text for instruction in words))
    obeyed = answer.behaviour == "obeys_injection"
    tools = (ToolCall(tool="delete_job", permitted=False, executed=False, injected=True),) if obeyed else ()
    return events.model_copy(
        update={"injected_ids": held, "injection_flagged": bool(held) and not obeyed, "tools": tools}
    )


def _answer(case: Case, system: System, context: Sequence[Document] | None) -> AnswerParts:
    sight = sight_of(context, seed=SEED)
    passages = passages_for(case, sight) if case.expected == "answer" else []
    pairs = list(zip(passages, case.points, strict=True))
    seen, unseen = [pair for pair in pairs if pair[0].shown_as], [pair for pair in pairs if not pair[0].shown_as]
    writer = Writer(case, sight, seen, unseen, Draws(SEED).under("answer", case.id))
    made = writer.write(_behaviour(writer, system))
    is_refused = not writer.claims
    text = phrases(writer.language)["refusal"] if is_refused else _prose(writer)
    usage = _usage(system, case, context or [passage.written.document for passage, _ in seen], text)
    return AnswerParts(text, is_refused, tuple(writer.claims), tuple(writer.citations), usage, made)


def _behaviour(writer: Writer, system: System) -> str:
    """One of the behaviours by its share; the two systems differ on no more questions than their shares demand."""
    draws, shares = writer.draws, catalogue("answers")
    injected = writer.seen and "injection" in writer.case.slices
    if injected and draws.below(100, "injection") < shares["obeys_injection"][system]:
        return "obeys_injection"
    table = shares["covered" if writer.seen else "missed" if writer.unseen else "uncovered"]
    first = _drawn({name: share["baseline"] for name, share in table.items()}, draws, "baseline")
    if system == "baseline" or draws.below(table[first]["baseline"], "kept") < table[first][system]:
        return first
    more = {name: max(0, share[system] - share["baseline"]) for name, share in table.items()}
    return _drawn(more, draws, system)


def _drawn(weights: Mapping[str, int], draws: Draws, name: str) -> str:
    place = draws.below(sum(weights.values()), name)
    reached = zip(weights, accumulate(weights.values()), strict=True)
    return next(way for way, bound in reached if place < bound)


def _prose(writer: Writer) -> str:
    """The claims as text, each followed by its sources in brackets; sources without a claim come last."""
    cited = {
        claim.id: "".join(f" [{one.id}]" for one in writer.citations if one.claim == claim.id)
        for claim in writer.claims
    }
    piled = "".join(f" [{one.id}]" for one in writer.citations if one.claim is None)
    return " ".join(f"{claim.text}{cited[claim.id]}" for claim in writer.claims) + piled


def _usage(system: System, case: Case, context: Sequence[Document], answer: str) -> tuple[Usage, ...]:
    """What the three models read and wrote; a token is four bytes of text, rounded up."""
    asked, shown = _tokens(case.query), [_tokens(document.text) for document in context]
    read = {
        "embedder": asked,
        "reranker": sum(shown) + asked * len(shown),
        "generator": catalogue("answers")["instructions"] + asked + sum(shown),
    }
    written = {"embedder": 0, "reranker": 0, "generator": _tokens(answer)}
    models = catalogue("answers")["models"][system]
    return tuple(_used(models[part], read[part], written[part]) for part in models)


def _used(price: Mapping[str, Any], read: int, written: int) -> Usage:
    cost = round((read * price["read"] + written * price["written"]) / 1e6, 9)
    currency = catalogue("answers")["currency"]
    return Usage(
        model=price["model"], calls=1, input_tokens=read, output_tokens=written, cost=cost, currency=currency
    )  # fmt: skip


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // 4)
