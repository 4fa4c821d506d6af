"""What stands above the cells of a report: title, verdict, what was found, headline numbers, and how to check them.

The record's ID is not known yet when its report is written: it is the digest of a manifest that holds the report's own
digest. So the page says where the ID stands, and what `rankwork verify` makes of it.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from rankwork.evidence import summary

COMPLETE = (
    "Every cell ran to its end, the last one showed the number that was drawn for this execution alone, and the input "
    "files did not change meanwhile."
)
INCOMPLETE = "What stands below is as far as it came: no number of it is a result."
_HEADLINES = 24
_MEANS = ("contract", "minimum", "expected", "maximum")


@dataclass(frozen=True)
class Head:
    """What a report says of the execution: its name, status, the reason where it is not complete, and its facts.

    `arguments` are the parameters to run it again with, None for what cannot be run by its name.
    """

    name: str
    status: str
    stopped: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    result_digest: str = ""
    arguments: Mapping[str, Any] | None = None


def html(head: Head, notebook: Mapping[str, Any], inline: Callable[[str], str]) -> str:
    """The head of a report; `inline` makes HTML of a heading's Markdown."""
    title = summary.title(notebook)
    parts = [
        f"<p class='kind'>Record of <code>{escape(head.name)}</code></p>",
        f"<h1>{inline(title) if title else escape(head.name)}</h1>",
        _verdict(head),
        _section("What this run found", _block(summary.found(notebook))),
        _section("Headline numbers", _ranges(head.results) + _values(head.results)),
        _section("Not run here", _items(summary.not_run(notebook))),
        _section("How to check it", _checks(head)),
        _section("About this execution", _facts(head.facts)),
    ]
    return f"<header class='rankwork-record'>{''.join(parts)}</header>"


def _verdict(head: Head) -> str:
    if head.status == "complete":
        return f"<p class='verdict complete'><strong>Complete.</strong> {COMPLETE}</p>"
    stopped = f" Stopped by {escape(head.stopped)}." if head.stopped else ""
    status = escape(head.status.replace("_", " "))
    return f"<p class='verdict other'><strong>Not complete: {status}.</strong>{stopped} {INCOMPLETE}</p>"


def _section(name: str, content: str) -> str:
    return f"<section><h2>{name}</h2>{content}</section>" if content else ""


def _block(text: str) -> str:
    return f"<pre>{escape(text)}</pre>" if text else ""


def _items(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _ranges(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of recorded values with their ranges."""
    found = dict(list(summary.ranges(results).items())[:_HEADLINES])
    head = "<td></td>" + "".join(f"<th scope='col'>{name}</th>" for name in _MEANS)
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th>{''.join(f'<td>{escape(value)}</td>' for value in values)}</tr>"
        for name, values in found.items()
    )
    return f"<table class='numbers'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""


def _values(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of the other recorded values that fit into a line."""
    short = {
        name + (" (measured)" if entry["measured"] else ""): text
        for name, entry in results.items()
        if not summary.is_range(entry["value"]) and (text := summary.in_a_line(entry["value"]))
    }
    return _pairs(dict(list(short.items())[:_HEADLINES]))


def _pairs(values: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in values.items()
    )
    return f"<table><tbody>{rows}</tbody></table>" if rows else ""


def _checks(head: Head) -> str:
    """What to type to see that this page belongs to an unchanged record, and that it comes out again."""
    verify = (
        "<li><code>rankwork verify FOLDER</code>, FOLDER being the one that this page lies in. Its name is the "
        "record's ID, the digest of <code>manifest.json</code>, which holds the digest of every file, of this page "
        "too. A page alone proves nothing.</li>"
    )
    return f"<ol>{verify}{_again(head)}</ol>"


def _again(head: Head) -> str:
    if head.status != "complete" or head.arguments is None:
        return ""
    words = ["rankwork", "run", head.name]
    for name, value in head.arguments.items():
        words += ["-p", f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"]
    return (
        f"<li><code>{escape(shlex.join(words))}</code> asks the same again. On a machine like this one "
        f"<code>rankwork list</code> then shows the same result, <code>{escape(head.result_digest[:12])}</code>; "
        "on another one <code>rankwork compare</code> says what differs, and whether it may.</li>"
    )


def _facts(facts: Mapping[str, str]) -> str:
    return _pairs({name: value for name, value in facts.items() if value})
