"""A dossier in short, as a fragment of HTML that stands within another's page: a notebook shows several of them on one.

It has no ids, no script and no link, and each rule of its style counts within it alone. Its colours follow the reader's setting,
and the theme of a notebook where that says whether it is light or dark.
"""

from __future__ import annotations

import re
from dataclasses import replace

from reportgen.dossier.context import FragmentContext
from reportgen.dossier.environment import Templates, verbatim
from reportgen.dossier.model import Dossier, Table
from reportgen.dossier.references import blocks, references
from reportgen.dossier.text import plural

MOST_ROWS = 12
MOST_COLUMNS = 9
SCOPE = ".reportgen-dossier"
# How the pages around say which of their themes is on: JupyterLab and Notebook 7, then Visual Studio Code.
_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light")
_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark")
_TOKENS = re.compile(r":root \{(.*?)\}", re.DOTALL)


def render(dossier: Dossier) -> str:
    """Return the head, the findings, the cautions and the main table of `dossier`."""
    templates = Templates()
    table = main_table(dossier)
    context = FragmentContext(
        dossier=dossier,
        refs=references(dossier),
        table=_shown(table) if table else None,
        more=_more(table) if table else (),
        style=verbatim(style(templates)),
    )
    return templates.render("dossier/fragment.html.j2", context)


def style(templates: Templates) -> str:
    """Return the style: the tokens of all pages and the fragment's rules, all within its own class."""
    light, dark, *_ = _TOKENS.findall(templates.source("shared/tokens.css"))
    light, dark = (" ".join(tokens.split()) for tokens in (light, dark))
    return "\n".join(
        [
            f"{SCOPE} {{ {light} }}",
            f"@media screen and (prefers-color-scheme: dark) {{ {SCOPE} {{ {dark} }} }}",
            f"{', '.join(f'{theme} {SCOPE}' for theme in _LIGHT)} {{ {light} }}",
            f"{', '.join(f'{theme} {SCOPE}' for theme in _DARK)} {{ {dark} }}",
            templates.source("dossier/fragment.css"),
        ]
    )


def main_table(dossier: Dossier) -> Table | None:
    """Return the table to which the first finding leads, or the first table with rows; None where there is none."""
    refs = references(dossier)
    tables = {table.id: table for block in blocks(dossier) for table in block.tables if table.rows}
    told = (name for finding in dossier.findings for name in refs.shown[finding.target])
    return next((tables[name] for name in told if name in tables), next(iter(tables.values()), None))


def _shown(table: Table) -> Table:
    rows = tuple(row[:MOST_COLUMNS] for row in table.rows[:MOST_ROWS])
    return replace(table, columns=table.columns[:MOST_COLUMNS], rows=rows)


def _more(table: Table) -> tuple[str, ...]:
    """Say what of a table is not shown."""
    rows = table.left_out + max(0, len(table.rows) - MOST_ROWS)
    columns = max(0, len(table.columns) - MOST_COLUMNS) + len(table.more)
    counts = ((rows, "row"), (columns, "column"))
    return tuple(f"{count} more {plural(count, word)}" for count, word in counts if count)
