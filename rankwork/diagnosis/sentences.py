"""A diagnosis in one sentence that can be checked against the trace: every number in it stands there."""

from collections.abc import Callable, Iterator

from rankwork.diagnosis.facts import BELOW, TIED, Facts, Standing

_IN_CORPUS = {
    "not_in_corpus": "not in the corpus",
    "superseded_revision": "in the corpus only as revision",
    "time_filtered": "not valid at the time of the question",
    "id_unmapped": "its source is in the corpus under other IDs",
}
_ANSWER = {
    "generation": "the answer makes claims that its context does not support",
    "citation_mapping": "the claims are supported, but cited wrongly",
    "source_false": "the claims are supported, but false: the source is wrong",
    "over_refusal": "all that is needed was there, and the answer was refused",
    "false_answer": "not all that is needed was there, and an answer was given",
    "unauthorised": "the trace holds a document that this identity may not read",
}


_OF_RANK = (None, "unknown", "below_route_k", "tie_cut", "fusion_cut", "rerank_cut", "rerank_window", "not_retrieved")


def sentence(facts: Facts, row: str, cause: str) -> str:
    """The sentence of a diagnosis.

    >>> dense = Standing("retrieve:dense", "retrieve", requested=50, returned=50)
    >>> sentence(Facts("q", "d1", (dense,)), "unknown", "unknown")
    'gold d1: absent from dense; whether it is in the corpus and may be read, the trace does not say'
    """
    parts = [*_corpus(facts, cause), *_stages(facts, row, cause), *_answer(facts, row)] or ["the trace holds no stage"]
    what = f"gold {facts.evidence}" if facts.evidence else f"case {facts.case}"
    return f"{what}: {', '.join(parts)}{_open_question(facts, row)}"


def ordinal(number: int) -> str:
    """A rank as it is read.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 43, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '43rd', '111th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _corpus(facts: Facts, cause: str) -> Iterator[str]:
    place = facts.place
    if facts.lost_at != "retrieve" or cause not in _IN_CORPUS:
        return
    text = _IN_CORPUS[cause]
    if place is not None and cause == "superseded_revision" and place.other_revisions:
        yield f"{text} {', '.join(place.other_revisions)}"
    elif cause == "superseded_revision":
        yield "in the corpus only in another revision"
    elif place is not None and place.other_ids:
        yield f"{text}, such as {place.other_ids[0]}"
    else:
        yield text


def _stages(facts: Facts, row: str, cause: str) -> Iterator[str]:
    """One part a stage, up to the one that lost it."""
    for standing in facts.standings:
        yield _PARTS[standing.kind](standing, facts, row, cause)
        if standing.rank is None and standing.kind != "retrieve":
            return
        if standing.kind == "retrieve" and facts.lost_at == "retrieve" and standing is facts.routes[-1]:
            return
    if facts.in_prompt is False:
        yield "not in the prompt"


def _route(standing: Standing, facts: Facts, row: str, cause: str) -> str:
    name, asked = standing.route, standing.requested
    if standing.rank is not None:
        of = f"{name} top {asked}" if asked else f"the {standing.returned} of {name}"
        return f"{ordinal(standing.rank)} of {of}"
    if standing.denied or standing.reason in ("acl_filtered", "acl_filtered_wrongly"):
        rightly = {"filtered_rightly": "rightly ", "filtered_wrongly": "wrongly "}.get(row, "")
        return f"{rightly}filtered by the access rule of {name}"
    if standing.status in ("timeout", "error"):
        return f"absent from {name}, which ended with {standing.status}"
    if standing.other_ids:
        return f"absent from {name}, which has its source as {standing.other_ids[0]}"
    if standing.dropped and standing.side in (TIED, BELOW):
        where = "tied with the last of" if standing.side == TIED else "below"
        return f"{where} {name} top {asked or standing.returned}"
    return f"absent from {name}"


def _fusion(standing: Standing, facts: Facts, row: str, cause: str) -> str:
    name = _fusion_name(standing)
    if standing.rank is not None:
        return f"{ordinal(standing.rank)} after {name}"
    if cause == "fusion_depth":
        return f"beyond the depth of {standing.parameters['depth']} that {name} reads"
    if cause == "fusion_weight":
        return f"its routes have no weight in {name}"
    return _cut(standing, f"{name} top {standing.requested or standing.returned}", name, cause)


def _fusion_name(standing: Standing) -> str:
    rule = str(standing.parameters.get("rule") or standing.parameters.get("method") or standing.route)
    return {"rrf": "RRF", "fuse": "fusion"}.get(rule.lower(), rule)


def _rerank(standing: Standing, facts: Facts, row: str, cause: str) -> str:
    if standing.rank is not None:
        return f"{ordinal(standing.rank)} after reranking"
    before = facts.rank_before("rerank")
    if standing.status in ("timeout", "error"):
        return f"the reranker ended with {standing.status}"
    if standing.window is not None and before is not None and before > standing.window:
        return f"outside the rerank window of {standing.window}"
    return _cut(standing, f"the reranker's top {standing.requested or standing.returned}", "the reranker", cause)


def _cut(standing: Standing, top: str, who: str, cause: str) -> str:
    if standing.cut_by_rank:
        tied = standing.dropped and standing.side == TIED
        text = f"tied with the last of {top}" if tied else f"not in {top}"
        return text if standing.reason in _OF_RANK else f"{text} (the trace says {standing.reason})"
    reason = standing.reason or "unknown"
    return f"dropped by {who}: {reason}" if standing.dropped else f"not among the {standing.returned} of {who}"


def _context(standing: Standing, facts: Facts, row: str, cause: str) -> str:
    if standing.rank is not None:
        return f"{ordinal(standing.rank)} in the context"
    if cause == "quota" and isinstance(standing.parameters.get("quota"), int):
        return f"left out of the context by the quota of {standing.parameters['quota']} for each source"
    budget = standing.parameters.get("token_budget")
    if cause == "token_budget" and budget is not None:
        return f"left out of the context by the token budget of {budget}"
    why = {"unknown": "no reason was written", "duplicate_id": "a copy is there already"}
    stand_in = (standing.parameters.get("stand_in") or {}).get(facts.evidence)
    instead = f", {stand_in} stands for it" if stand_in else ""
    return f"left out of the context: {why.get(cause, cause.replace('_', ' '))}{instead}"


_PARTS: dict[str, Callable[[Standing, Facts, str, str], str]] = {
    "retrieve": _route, "fuse": _fusion, "rerank": _rerank, "context": _context,
}  # fmt: skip


def _answer(facts: Facts, row: str) -> Iterator[str]:
    if row in _ANSWER:
        yield _ANSWER[row]
    if row == "citation_mapping":
        yield f"such as {facts.answer.wrong_citations[0]}"


def _open_question(facts: Facts, row: str) -> str:
    if row != "unknown" or facts.lost_at != "retrieve":
        return ""
    if any(standing.denied for standing in facts.routes):
        return "; whether rightly, only the collection can say"
    return "; whether it is in the corpus and may be read, the trace does not say"
