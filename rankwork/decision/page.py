"""A gate as one HTML page that needs nothing else: the decision, its reasons, and each interval against its margin."""

import json
from collections.abc import Iterable
from html import escape

from rankwork.decision.comparisons import Comparison
from rankwork.decision.gate import Gate
from rankwork.decision.telling import HEAD, LIMITS_HEAD, json_of, limit_row, lost, row_of, text_of
from rankwork.errors import ContractError

_STYLE = """
body{font:16px/1.45 system-ui,sans-serif;color:#333;max-width:90rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-size:.85rem;margin:1rem 0;display:block;overflow-x:auto}
td,th{padding:.3rem .6rem;text-align:left;
border-bottom:1px solid #ddd;vertical-align:middle;white-space:nowrap}h1{margin-bottom:.2rem}
.release{color:#08519c}.hold{color:#8a5a00}.reject{color:#a50f15}svg{display:block}
""".strip().replace("\n", "")
_WIDTH, _HEIGHT = 220, 22
_MOST = 100


def told(gate: Gate, form: str) -> str:
    """The gate as `table`, `json` or `html`. ContractError for another form.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> told(gate(asked, half, full), "html")[:15]
    '<!doctype html>'
    """
    if form not in ("table", "json", "html"):
        raise ContractError(f"a gate is told as table, json or html, got {form!r}")
    if form == "json":
        return json.dumps(json_of(gate), indent=2, ensure_ascii=False)
    if form == "html":
        return page_of(gate)
    return text_of(gate)


def page_of(gate: Gate) -> str:
    """The page, complete HTML without scripts; the first hundred losses are listed, all of them are in the JSON.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> "Reject: mine" in page_of(gate(asked, full, half))
    True
    """
    title = f"{gate.decision.capitalize()}: {gate.policy.name}"
    parts = [
        f"<h1 class={gate.decision}>{escape(title)}</h1><p>{len(gate.pair.queries)} queries</p>",
        _list("Reasons", [str(reason) for reason in gate.reasons]),
        _rules(gate),
        _table("Limits", LIMITS_HEAD, [limit_row(each) for each in gate.limits]),
        _list("Hard events", [str(each) for each in gate.events]),
        _list("Quality, latency, cost", str(gate.front).splitlines() if gate.front else []),
        _regressions(gate),
        _list("Notes", list(gate.notes)),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en">{head}<body>{"".join(parts)}</body></html>'


def _list(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    body = "".join(_row("td", map(escape, row)) for row in rows)
    return f"<h2>{title}</h2><table>{_row('th', map(escape, head))}{body}</table>" if body else ""


def _row(cell: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{cell}>{text}</{cell}>' for text in texts)}</tr>"


def _rules(gate: Gate) -> str:
    """The table of rules, an interval drawn in each row; all rows of a rule share one scale."""
    if not gate.comparisons:
        return ""
    scales = {name: _scale([e for e in gate.comparisons if e.rule.name == name]) for name in _names(gate)}
    rows = [
        _row("td", [*map(escape, row_of(each)), _interval(each, scales[each.rule.name])]) for each in gate.comparisons
    ]
    said = "The bar spans the 95% limits, the band the margin; right of the line is better."
    return f"<h2>Rules</h2><table>{_row('th', [*map(escape, HEAD), ''])}{''.join(rows)}</table><p>{said}</p>"


def _names(gate: Gate) -> list[str]:
    return list(dict.fromkeys(each.rule.name for each in gate.comparisons))


def _scale(comparisons: list[Comparison]) -> float:
    ends = [abs(end) for c in comparisons for end in (c.verdict.estimate.low95, c.verdict.estimate.high95)]
    return 1.1 * max([*ends, *(c.verdict.margin or 0.0 for c in comparisons), 1e-9])


def _interval(each: Comparison, scale: float) -> str:
    def x(value: float) -> float:
        return round(_WIDTH * (1 + value / scale) / 2, 1)

    found, margin = each.verdict.estimate, each.verdict.margin or 0.0
    middle = _HEIGHT / 2
    shapes = (
        f'<rect x="{x(-margin)}" width="{round(x(margin) - x(-margin), 1)}" height="{_HEIGHT}" fill="#deebf7"/>'
        f'<path d="M{x(0)} 0v{_HEIGHT}" stroke="#777" stroke-dasharray="3"/>'
        f'<path d="M{x(found.low95)} {middle}H{x(found.high95)}" stroke="#08519c" stroke-width="4"/>'
        f'<circle cx="{x(found.mean)}" cy="{middle}" r="5" fill="#d95f02"/>'
    )
    said = escape(f"{each.name}: {found.low95:+.4f} to {found.high95:+.4f}")
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{said}">{shapes}</svg>'


def _regressions(gate: Gate) -> str:
    rows = [
        (e.query, e.measure, f"{e.difference:+.4f}", "yes" if e.whatever_ties_do else "no", ", ".join(e.slices))
        for e in gate.regressions[:_MOST]
    ]
    title = f"To review: {lost(gate)}, {len(rows)} shown"
    return _table(title, ("query", "measure", "difference", "whatever ties do", "slices"), rows)
