"""The HTML report of an executed notebook: one file, readable for ever, without a request to the network.

nbconvert writes it. The links to script servers are left out, formulas become MathML, and a policy in the page forbids
the browser to load or run anything, whatever a cell's output contains.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import Any

from rankwork.evidence.manifest import RESULT_MIME, SEAL_MIME

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
META = f'<meta content="{_POLICY}" http-equiv="Content-Security-Policy"/>'
_GUARDED = re.compile(
    r"<!DOCTYPE html>\s*(<html lang=\"en\">\s*<head>)?\s*(<meta charset=\"utf-8\"/>)?\s*"
    r"(<meta content=\"[^\"<>]*\" name=\"viewport\"/>)?\s*<title>[^<]*</title>\s*" + re.escape(META)
)
_TEMPLATE = f"""\
{{%- extends 'lab/index.html.j2' -%}}
{{%- block html_head_js -%}}
{META}
{{%- endblock html_head_js -%}}
{{%- block jupyter_widgets -%}}{{%- endblock jupyter_widgets -%}}
{{%- block html_head_js_mathjax -%}}{{%- endblock html_head_js_mathjax -%}}
{{%- block html_head_js_mermaidjs -%}}{{%- endblock html_head_js_mermaidjs -%}}
{{%- block html_head_css -%}}
<style>main {{ max-width: 62rem; margin: 0 auto; }} .rankwork-record {{ font: 14px sans-serif; padding: 1em; }}</style>
{{%- endblock html_head_css -%}}
{{%- block body_header -%}}
{{{{ super() }}}}
{{{{ resources.rankwork_header }}}}
{{%- endblock body_header -%}}
"""


def render(notebook: Mapping[str, Any], title: str, facts: Mapping[str, str]) -> str:
    """The report of an executed notebook under a title, with a table of facts above it."""
    import nbformat

    cells = [_shown(cell) for cell in notebook["cells"]]
    metadata = {**notebook["metadata"], "title": title}
    node = nbformat.from_dict({**notebook, "cells": cells, "metadata": metadata})  # type: ignore[no-untyped-call]
    resources = {"metadata": {"name": title}, "rankwork_header": _header(facts)}
    html, _ = _exporter().from_notebook_node(node, resources=resources)
    return str(html)


def prepare() -> None:
    """Load what a report needs, so that a report made afterwards in this process is sooner done."""
    _exporter()


def _shown(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell without the exact values beside its outputs: no report shows them, and they can be long."""
    outputs = [{**o, "data": _displayed(o["data"])} if "data" in o else o for o in cell.get("outputs", ())]
    return {**cell, "outputs": outputs} if "outputs" in cell else dict(cell)


def _displayed(data: Mapping[str, Any]) -> dict[str, Any]:
    return {mime: content for mime, content in data.items() if mime not in (RESULT_MIME, SEAL_MIME)}


@lru_cache(maxsize=1)
def _exporter() -> Any:
    from jinja2 import DictLoader

    loaders = [DictLoader({"rankwork.html.j2": _TEMPLATE})]
    exporter = _exporter_class()(extra_loaders=loaders, template_file="rankwork.html.j2")
    exporter.template.root_render_func  # noqa: B018  (compiles the template and those that it extends)
    return exporter


def _header(facts: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th align='left'>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items()
    )
    return f"<table class='rankwork-record'>{rows}</table>"


def mathml(latex: str, *, block: bool) -> str:
    """A formula as MathML, or its source in a `<code>` element where it cannot be converted.

    >>> mathml("k", block=False)
    '<math><mi>k</mi></math>'
    """
    from math_core import LatexError, LatexToMathML

    try:
        return str(LatexToMathML().convert_with_local_state(latex.strip(), displaystyle=block))
    except LatexError:
        return f"<code class='rankwork-unconverted'>{escape(latex)}</code>"


def _exporter_class() -> Any:
    from jinja2 import pass_context
    from nbconvert import HTMLExporter
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    class Renderer(IPythonRenderer):
        def block_math(self, body: str) -> str:
            return mathml(body, block=True)

        def inline_math(self, body: str) -> str:
            return mathml(body, block=False)

        def latex_environment(self, name: str, body: str) -> str:
            return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", block=True)

    class Exporter(HTMLExporter):
        @pass_context
        def markdown2html(self, context: Any, source: str) -> str:
            attachments = context.get("cell", {}).get("attachments", {})
            return str(MarkdownWithMath(renderer=Renderer(escape=False, attachments=attachments)).render(source))

    return Exporter


def guarded(page: str) -> bool:
    """Whether a page begins as our reports do: nothing that could run stands before the policy that forbids it.

    >>> guarded("<html><head><script>1</script>"), guarded(f"<!DOCTYPE html><title>x</title>{META}<p>")
    (False, True)
    """
    return _GUARDED.match(page) is not None
