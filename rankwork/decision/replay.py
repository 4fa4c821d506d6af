"""A failure in one file that can be looked at again: what was asked, by what kind of user, and what every stage did.

The file is JSON: a case (where there is one) and its trace, pseudonymised, and a digest over both. The digest notices
damage and careless edits. Who has a key can also seal the file: then nobody without the key can change it unnoticed.
There are no paths in it, nothing is unpacked, and what is no case and no trace is refused.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rankwork.decision.pseudonyms import Privacy, pseudonyms
from rankwork.digest import digest
from rankwork.errors import InputError
from rankwork.evidence.tokens import Tokens
from rankwork.inputs.refusals import refusal
from rankwork.trace import Case, Trace

FORMAT: Literal["rankwork replay 1"] = "rankwork replay 1"
MOST_BYTES = 1 << 26
_OUTSIDE = ("digest", "seal")
Seal = Literal["none", "right", "not checked"]


class _Body(BaseModel):
    """What the digest is taken of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["rankwork replay 1"]
    privacy: Privacy
    key: str | None = None
    case: Case | None = None
    trace: Trace


@dataclass(frozen=True)
class Package:
    """A case with its trace, what was hidden in them, the name of the key (never the key), its digest and its seal.

    `digest` is the identity of the package: the same case, trace and privacy under the same key give the same one.
    """

    privacy: Privacy
    key: str | None
    case: Case | None
    trace: Trace
    digest: str
    seal: Seal = "none"


def pack(
    trace: Trace,
    case: Case | None = None,
    *,
    privacy: Privacy | None = None,
    tokens: Tokens | None = None,
    words: tuple[str, ...] = (),
) -> Package:
    """The package of one trace. By default texts and tenants become keyed digests, which needs `tokens`.

    `words` are redacted as names where texts are redacted. InputError for a case that the trace is not of, and where a
    key is needed and missing.

    >>> package = pack(Trace(case="q", query="my number is 030 1234567"), privacy=Privacy(texts="redacted"))
    >>> package.trace.query
    'my number is [number]'
    """
    if case is not None and case.id != trace.case:
        raise InputError(f"the trace is of case {trace.case!r}, not of {case.id!r}")
    hidden = privacy or Privacy()
    stand_ins = pseudonyms(hidden, tokens, words)
    body = _Body(
        format=FORMAT,
        privacy=hidden,
        key=tokens.name if tokens else None,
        case=None if case is None else stand_ins.of(case),
        trace=stand_ins.of(trace),
    )
    return Package(hidden, body.key, body.case, body.trace, digest(_plain(body)))


def chosen(traces: Iterable[Trace], case: str, run: str | None = None) -> Trace:
    """The one trace of a case, of a run where that is named. InputError for none, and for several.

    >>> chosen([Trace(case="q", run="old"), Trace(case="q", run="new")], "q", "new").run
    'new'
    """
    found = [trace for trace in traces if trace.case == case and run in (None, trace.run)]
    where = f"case {case!r}" + (f" in run {run!r}" if run is not None else "")
    if not found:
        raise InputError(f"no trace of {where}")
    if len(found) > 1:
        raise InputError(f"{where} has traces of the runs {', '.join(repr(trace.run) for trace in found)}: name one")
    return found[0]


def _plain(body: _Body) -> dict[str, Any]:
    """The body as JSON holds it, without what has its default."""
    plain: dict[str, Any] = json.loads(body.model_dump_json(exclude_defaults=True))
    return plain | {"privacy": asdict(body.privacy)}


def save(package: Package, path: Path, *, tokens: Tokens | None = None) -> Path:
    """Write a package in one step; with the key that it was made with, also sealed. Equal packages give equal bytes.

    Returns the path.

    InputError where the file cannot be written, and for another key.
    """
    if tokens is not None and tokens.name != package.key:
        raise InputError("a package is sealed with the key that it was made with, and this is another one")
    body = _Body(format=FORMAT, privacy=package.privacy, key=package.key, case=package.case, trace=package.trace)
    plain = _plain(body)
    outside = {"digest": digest(plain), "seal": tokens.of(digest(plain)) if tokens else None}
    text = json.dumps({**plain, **outside}, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(text.encode())
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            partial.unlink()
    return path


def load(path: Path, *, tokens: Tokens | None = None) -> Package:
    """The package in a file; with the key that it was sealed with, its seal is checked too.

    InputError, by name of the file, for what is no package, for one that does not have its digest, for a wrong seal,
    and for a case or a trace that contradicts itself.
    """
    held = _held(path)
    said, seal = held.pop("digest", None), held.pop("seal", None)
    body = _body(path, held)
    found = digest(held)
    if found != said:
        raise InputError(f"{path.name}: its content has digest {found[:12]}, it says {str(said)[:12]}: it was changed")
    if body.case is not None and body.case.id != body.trace.case:
        raise InputError(f"{path.name}: the trace is of case {body.trace.case!r}, not of {body.case.id!r}")
    return Package(body.privacy, body.key, body.case, body.trace, found, _sealed(path, seal, body.key, found, tokens))


def fault(path: Path, *, tokens: Tokens | None = None) -> str | None:
    """Why the package in a file cannot be trusted; None where it can be replayed."""
    try:
        load(path, tokens=tokens)
    except InputError as error:
        return str(error)
    return None


def _sealed(path: Path, seal: Any, key: str | None, found: str, tokens: Tokens | None) -> Seal:
    if seal is None:
        if tokens is not None and tokens.name == key:
            raise InputError(f"{path.name}: it was made with this key, and its seal is missing")
        return "none"
    if tokens is None or tokens.name != key:
        return "not checked"
    if seal != tokens.of(found):
        raise InputError(f"{path.name}: its seal is not of this content: it was changed")
    return "right"


def _held(path: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path.name}: {path.stat().st_size:,} bytes; a package has {MOST_BYTES:,} at most")
        held = json.loads(path.read_bytes(), object_pairs_hook=_once, parse_constant=_no_number)
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"{path.name}: nested too deeply for a package") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path.name} is no JSON that can be read: {error}") from None
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise InputError(f"{path.name} is no replay package: its format is not {FORMAT!r}")
    return held


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no key stands twice: two readers would see two packages."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _body(path: Path, held: dict[str, Any]) -> _Body:
    try:
        return _Body.model_validate_json(json.dumps(held), strict=True)
    except ValidationError as error:
        raise InputError(f"{path.name}: {refusal(error)}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name}: {error}") from None


def gaps(package: Package) -> tuple[str, ...]:
    """What the package does not hold, and what a replay therefore cannot show; empty where nothing is missing.

    >>> gaps(pack(Trace(case="q"), privacy=Privacy(texts="plain")))[0]
    'no case: which evidence was needed is not known'
    """
    trace = package.trace
    missing = {
        "no case: which evidence was needed is not known": package.case is None,
        "no time: which revision was valid is not known": trace.time is None,
        "no role: what the user was permitted to see is not known": not trace.identity.role,
        "no versions: it cannot be run again as it was": not trace.snapshot,
        "no stages: where evidence was lost is not known": not trace.stages,
        "no prompt: what the model was shown is not known": trace.prompt is None,
        "no output: neither an answer nor a refusal was recorded": trace.answer is None and trace.refused is None,
    }
    untold = [stage.name for stage in trace.stages if stage.order is None]
    ties = [f"no rule for ties in {', '.join(untold)}: what another order did is a guess"] if untold else []
    return (*(text for text, holds in missing.items() if holds), *ties)
