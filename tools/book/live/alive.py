"""A chapter's page made alive: its cells as data, the page's script and style beside it, and its policy."""

from __future__ import annotations

import json
import re

from nbformat import NotebookNode

from kafkalearn.drawing.player import looping_script, player_script, player_style
from tools.book.live.parts import FOLDER
from tools.book.live.policy import with_policy

_PLAYER = f"<style>{player_style()}</style>\n" + f'<script type="module">\n{player_script()}\nmountAll();\n</script>'
_STYLE = '<link rel="stylesheet" href="{}page.css">'
_SCRIPT = '<script defer src="{}page.js"></script>'
_EXERCISE = re.compile(r'data-cell="([^"]+)" data-exercise="([^"]+)"')
_BAR = """
<div class="live-bar" id="live-bar" role="group" aria-label="Python in this page" hidden>
<button type="button" data-do="reset-page" title="Every cell as it was in the book, and all values gone" hidden>\
Reset the page</button>
<span role="status">Every cell here runs, in this browser: press its Run, or turn a control. Nothing leaves \
the page.</span>
</div>"""


def tools(label: str, *, is_exercise: bool = False, needs: str = "") -> str:
    """What stands below a cell: its buttons, and a line that says how it goes; shown by the page's script.

    `needs` is what the cell needs that no page has, as ``"Spark"``: the line says so before anybody clicks.
    """
    run = ("run", "Check", "Run this and judge the answer (Shift+Enter)")
    buttons = [
        run if is_exercise else ("run", "Run", "Run this cell, and first what it needs of those above (Shift+Enter)"),
        *([] if is_exercise else [("to-here", "Run to here", "Run every cell above, then this one")]),
        ("change", "Change", "Change the code (or click into it)"),
        ("reset", "Reset", "This cell as it was in the book"),
    ]
    said = f"Recorded: this needs {needs}, which a page does not have." if needs else ""
    made = "\n".join(
        f'<button type="button" data-do="{name}" title="{title}"{" hidden" * (name == "reset")}>{words}</button>'
        for name, words, title in buttons
    )
    return (
        f'<div class="live-tools" role="group" aria-label="{label}" hidden>\n{made}\n'
        f'<span class="live-note" data-part="note" role="status">{said}</span>\n</div>'
    )


def alive(html: str, stem: str, notebook: NotebookNode) -> str:
    """The page of a chapter with Python in it.

    Every player brings its script and style into the page; here the page's own have both, once.

    Parameters
    ----------
    html : str
        What `tools.book.page` writes; the place of each code cell has ``data-cell``.
    stem : str
        The chapter's name, under which its values are kept.
    notebook : NotebookNode
        Where the page comes from.
    """
    exercises = dict(_EXERCISE.findall(html))
    cells = [
        {"id": cell.id, "source": cell.source} | ({"exercise": exercises[cell.id]} if cell.id in exercises else {})
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    data = json.dumps({"page": stem, "cells": cells}, ensure_ascii=False).replace("<", "\\u003c")
    html = html.replace(_PLAYER, "").replace(looping_script(), "").replace("</nav>", f"</nav>{_BAR}", 1)
    end = html.rindex("</body>")
    return with_script(f'{html[:end]}<script type="application/json" id="live-cells">{data}</script>\n{html[end:]}')


def with_script(html: str, root: str = "") -> str:
    """Any page of the book with the page's script, its style and its policy, so that Python stays when it is opened.

    `root` leads from the page's folder to the book's, as ``"../"``.
    """
    live = f"{root}{FOLDER}/"
    html = html.replace("</head>", f"{_STYLE.format(live)}\n</head>", 1)
    end = html.rindex("</body>")
    return with_policy(f"{html[:end]}{_SCRIPT.format(live)}\n{html[end:]}")
