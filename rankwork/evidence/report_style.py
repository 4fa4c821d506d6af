"""The style of a report: for a desk, a phone, paper, and a dark room.

It changes what nbconvert's own style says. Its dark colours are taken where the reader's system is dark.
"""

DARK = "screen and (prefers-color-scheme: dark)"

STYLE = """
:root { color-scheme: light dark; --rankwork-good: #08519c; --rankwork-bad: #a50f15; --rankwork-quiet: #595959;
  --jp-cell-prompt-not-active-opacity: 1; --jp-cell-prompt-opacity: 1; --jp-cell-prompt-width: 56px;
  --jp-cell-prompt-not-active-font-color: var(--rankwork-quiet); --jp-cell-inprompt-font-color: var(--rankwork-quiet);
  --jp-cell-outprompt-font-color: var(--rankwork-quiet); --jp-mirror-editor-comment-color: #3a6a6a;
  --jp-mirror-editor-operator-color: #8a00cc; --jp-mirror-editor-number-color: #006a00;
  --jp-content-link-color: #0b57a4; --jp-rendermime-error-background: transparent;
  --rankwork-red: #a50f15; --rankwork-green: #00600f; --rankwork-yellow: #6b5200; --rankwork-blue: #0b57a4;
  --rankwork-cyan: #00606c; --rankwork-magenta: #8a008a; }
body.jp-Notebook { height: auto; overflow: visible; background: var(--jp-layout-color0); }
main { max-width: 62rem; margin: 0 auto; padding: 0 .5rem 3rem; }
main figure { margin: .5em 0 1em; }
main figure img { max-width: 100%; height: auto; background: #fff; }
main figcaption { font: 13px/1.45 var(--jp-content-font-family); color: var(--jp-content-font-color1);
  max-width: 50rem; }
.jp-InputArea-prompt, .jp-OutputArea-prompt, .jp-InputPrompt, .jp-OutputPrompt { color: var(--rankwork-quiet);
  opacity: 1; font-size: 11px; }
.jp-RenderedMarkdown th, .jp-RenderedMarkdown td { overflow-wrap: anywhere; }
main a { text-decoration: underline !important; }
.jp-OutputArea-output { overflow-x: auto; }
.jp-OutputArea-output pre { white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; overflow: visible; }
.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"] { border-left: 4px solid var(--rankwork-bad);
  padding-left: .6em; }
pre span[style] { color: inherit !important; background: none !important; }
pre [class*="ansi-red"] { color: var(--rankwork-red) !important; }
pre [class*="ansi-green"] { color: var(--rankwork-green) !important; }
pre [class*="ansi-yellow"] { color: var(--rankwork-yellow) !important; }
pre [class*="ansi-blue"] { color: var(--rankwork-blue) !important; }
pre [class*="ansi-cyan"] { color: var(--rankwork-cyan) !important; }
pre [class*="ansi-magenta"] { color: var(--rankwork-magenta) !important; }
.highlight pre, .jp-RenderedMarkdown pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.jp-RenderedHTMLCommon { padding-right: 0; }
.rankwork-record { font: 15px/1.55 var(--jp-content-font-family); color: var(--jp-content-font-color1);
  border-bottom: 1px solid var(--jp-border-color1); margin: 1.5rem 0 2rem; padding: 0 .25rem 1.5rem; }
.rankwork-record .kind { color: var(--rankwork-quiet); margin: 0; }
.rankwork-record h1 { font-size: 1.75rem; line-height: 1.25; font-weight: 600; margin: .2em 0 .6em; }
.rankwork-record h2 { font-size: 1.05rem; font-weight: 600; margin: 1.4em 0 .4em; }
.rankwork-record .verdict { border-left: 4px solid var(--rankwork-good); padding: .1em 0 .1em .8em; margin: 1em 0; }
.rankwork-record .verdict.complete strong { color: var(--rankwork-good); }
.rankwork-record .verdict.other { border-color: var(--rankwork-bad); }
.rankwork-record .verdict.other strong { color: var(--rankwork-bad); }
.rankwork-record pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.rankwork-record code { font-family: var(--jp-code-font-family); font-size: .9em; overflow-wrap: anywhere; }
.rankwork-record table { border-collapse: collapse; margin: .3em 0 1em; }
.rankwork-record th, .rankwork-record td { border-bottom: 1px solid var(--jp-border-color2); text-align: left;
  vertical-align: top; padding: .25em 1.2em .25em 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.rankwork-record th { font-weight: 500; }
.rankwork-record tbody th { min-width: 5.5rem; }
.rankwork-record .numbers td, .rankwork-record .numbers thead th { text-align: right; overflow-wrap: normal; }
.rankwork-record ol, .rankwork-record ul { margin: 0; padding-left: 1.4em; }
@media (max-width: 40rem) {
  main { padding: 0 .25rem 2rem; }
  .jp-OutputArea-output pre { white-space: pre; }
  .rankwork-record th, .rankwork-record td { padding-right: .6em; }
  .rankwork-record tbody th { min-width: 0; }
  .rankwork-record .numbers { font-size: 13px; }
  .rankwork-record .numbers th, .rankwork-record .numbers td { padding-right: .5em; }
}
@page { margin: 14mm; }
@media print {
  body.jp-Notebook { background: #fff; }
  main { max-width: none; padding: 0; }
  figure, img, tr, li { break-inside: avoid; }
  h1, h2, h3, h4 { break-after: avoid; }
  thead { display: table-header-group; }
  .jp-OutputArea-output { overflow: visible; }
  .jp-InputArea-prompt, .jp-OutputArea-prompt { display: none !important; }
  .jp-OutputArea-output pre { white-space: pre-wrap; font-size: 7pt; }
  .jp-RenderedHTML table { font-size: 7.5pt; }
  .highlight pre { font-size: 8pt; }
}
"""

STYLE_IN_THE_DARK = """
:root { --rankwork-good: #9ecae1; --rankwork-bad: #fcae91; --rankwork-quiet: #b5b5b5;
  --jp-mirror-editor-comment-color: #7fb6b6; --jp-mirror-editor-operator-color: #d48cff;
  --jp-mirror-editor-number-color: #6fcf6f; --jp-content-link-color: #90c4f9; --jp-cell-editor-background: #1e1e1e;
  --jp-rendermime-error-background: transparent; --rankwork-red: #fcae91; --rankwork-green: #8fd19e;
  --rankwork-yellow: #e0c060; --rankwork-blue: #90c4f9; --rankwork-cyan: #7fd0d8; --rankwork-magenta: #e7a0e7; }
main figure img { padding: 4px; border-radius: 4px; }
"""
