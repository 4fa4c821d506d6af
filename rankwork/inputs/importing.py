"""One door for the records of other tools, by the name of their form, as the command line gives them."""

from collections.abc import Sequence
from typing import Any

from rankwork.errors import InputError
from rankwork.inputs.imported import Imported

FORMS = ("runs", "spans", "ragas")


def imported(
    form: str,
    sources: Sequence[str],
    *,
    run_name: str = "",
    order: Any = "input",
    case_attribute: str = "",
    need: Any = None,
) -> Imported:
    """What an importer makes of these sources: `runs` takes STAGE=FILE, the others one file.

    InputError for another form or number of sources, for ragas without `need`, and as the importers raise.
    """
    if form == "runs":
        from rankwork.inputs.stage_runs import traces_of_runs

        return Imported(tuple(traces_of_runs(dict(map(_stage, sources)), run=run_name, order=order)))
    if form not in FORMS or len(sources) != 1:
        raise InputError(f"expected runs, spans or ragas, and one file for the last two, got {form} and {len(sources)}")
    if form == "spans":
        from rankwork.inputs.spans import traces_of_spans

        return traces_of_spans(sources[0], run=run_name, case=case_attribute)
    if need is None:
        raise InputError("references of ragas need --need any or --need each: is one of them enough, or all of them?")
    from rankwork.inputs.ragas_columns import cases_and_traces

    return cases_and_traces(sources[0], need=need, run=run_name)


def _stage(source: str) -> tuple[str, str]:
    name, equals, path = source.partition("=")
    if not equals:
        raise InputError(f"a run must be given as STAGE=FILE, such as retrieve:bm25={source}, got {source!r}")
    return name, path
