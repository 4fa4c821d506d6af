"""The HTML report of an executed notebook: one file, readable for ever, without a request to the network.

nbconvert writes it. The links to script servers are left out, formulas become MathML, and a policy in the page forbids
the browser to load or run anything, whatever a cell's output contains. Figures get a number, a caption and a text for
who cannot see them.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import Any

from rankwork.evidence import figures, report_head, summary
from rankwork.evidence.manifest import RESULT_MIME, SEAL_MIME, text_of
from rankwork.evidence.report_head import Head
from rankwork.evidence.report_style import DARK, STYLE, STYLE_IN_THE_DARK

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:"
META = f'<meta content="{_POLICY}" http-equiv="Content-Security-Policy"/>'
_GUARDED = re.compile(
    r"<!DOCTYPE html>\s*(<html lang=\"en\">\s*<head>)?\s*(<meta charset=\"utf-8\"/>)?\s*"
    r"(<meta content=\"[^\"<>]*\" name=\"viewport\"/>)?\s*<title>[^<]*</title>\s*" + re.escape(META)
)
_LEADS = re.compile(r"#|[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_TEMPLATE = f"""\
{{%- extends 'lab/index.html.j2' -%}}
{{%- block html_head_js -%}}
{META}
{{%- endblock html_head_js -%}}
{{%- block jupyter_widgets -%}}{{%- endblock jupyter_widgets -%}}
{{%- block html_head_js_mathjax -%}}{{%- endblock html_head_js_mathjax -%}}
{{%- block html_head_js_mermaidjs -%}}{{%- endblock html_head_js_mermaidjs -%}}
{{%- block html_head_css -%}}
{{{{ resources.include_css("static/theme-dark.css") | replace('type="text/css"', 'media="{DARK}"') }}}}
<style>{STYLE}</style>
<style media="{DARK}">{STYLE_IN_THE_DARK}</style>
{{%- endblock html_head_css -%}}
{{%- block body_header -%}}
{{{{ super() }}}}
{{{{ resources.rankwork_head }}}}
{{%- endblock body_header -%}}
{{%- macro reachable(name) -%}}tabindex="0" role="group" aria-label="{{{{ name }}}}"{{%- endmacro -%}}
{{%- block data_html scoped -%}}
<div class="jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output"
{{%- if not output.metadata.rankwork_figure %}} {{{{ reachable("output") }}}}{{% endif %}}>
{{{{ output.data["text/html"] }}}}
</div>
{{%- endblock data_html -%}}
{{%- block data_text scoped -%}}
<div class="jp-RenderedText jp-OutputArea-output" {{{{ reachable("output") }}}}>
<pre>{{{{ output.data["text/plain"] | ansi2html }}}}</pre>
</div>
{{%- endblock data_text -%}}
{{%- block stream_stdout -%}}
<div class="jp-RenderedText jp-OutputArea-output" {{{{ reachable("printed") }}}}>
<pre>{{{{ output.text | ansi2html }}}}</pre>
</div>
{{%- endblock stream_stdout -%}}
{{%- block stream_stderr -%}}
<div class="jp-RenderedText jp-OutputArea-output" data-mime-type="application/vnd.jupyter.stderr"
{{{{ reachable("warnings") }}}}>
<pre>{{{{ output.text | ansi2html }}}}</pre>
</div>
{{%- endblock stream_stderr -%}}
{{%- block error -%}}
<div class="jp-RenderedText jp-OutputArea-output" data-mime-type="application/vnd.jupyter.stderr"
{{{{ reachable("error") }}}}>
<pre>{{%- for line in output.traceback %}}{{{{ line | ansi2html }}}}
{{% endfor -%}}</pre>
</div>
{{%- endblock error -%}}
"""


def render(notebook: Mapping[str, Any], head: Head) -> str:
    """The report of an executed notebook under what is said of its execution."""
    import nbformat

    exporter = _exporter()
    title = f"{head.name}: {summary.plain(question)}" if (question := summary.title(notebook)) else head.name
    metadata = {**notebook["metadata"], "title": title}
    shown = {**notebook, "cells": figures.numbered(_shown(notebook)), "metadata": metadata}
    node = nbformat.from_dict(shown)  # type: ignore[no-untyped-call]
    above = report_head.html(head, notebook, _inline)
    resources = {"metadata": {"name": head.name}, "rankwork_head": above}
    page, _ = exporter.from_notebook_node(node, resources=resources)
    return str(page)


def _inline(heading: str) -> str:
    """A heading's Markdown as HTML that stands in a line."""
    html = str(_exporter().markdown2html({}, heading)).strip()
    return html.removeprefix("<p>").removesuffix("</p>")


def prepare() -> None:
    """Load what a report needs, so that a report made afterwards in this process is sooner done."""
    _exporter()


def _shown(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells without the title, which stands above, and without the exact values beside outputs.

    No report shows those, and they can be long.
    """
    cells = [_shown_cell(cell) for cell in notebook["cells"]]
    if summary.title(notebook):
        cells[0]["source"] = summary.without_title(text_of(cells[0]))
    return cells


def _shown_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
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
        def link(self, text: str, url: str, title: str | None = None) -> str:
            """A link to another notebook leads nowhere from a record: its text alone is left."""
            return str(super().link(text, url, title)) if _LEADS.match(url) else text

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
