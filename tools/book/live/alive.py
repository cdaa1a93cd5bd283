"""A chapter's page made alive: its cells as data, the page's script and style beside it, and its policy."""

from __future__ import annotations

import json

from nbformat import NotebookNode

from kafkalearn.views.drawing.page import player_script, player_style
from tools.book.live.parts import FOLDER
from tools.book.live.policy import with_policy

_PLAYER = f"<style>{player_style()}</style>\n" + f'<script type="module">\n{player_script()}\nmountAll();\n</script>'
_LINKS = f'<link rel="stylesheet" href="{FOLDER}/page.css">'
_SCRIPT = f'<script defer src="{FOLDER}/page.js"></script>'


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
    cells = [{"id": cell.id, "source": cell.source} for cell in notebook.cells if cell.cell_type == "code"]
    data = json.dumps({"page": stem, "cells": cells}, ensure_ascii=False).replace("<", "\\u003c")
    html = html.replace(_PLAYER, "")
    end = html.rindex("</body>")
    return with_script(f'{html[:end]}<script type="application/json" id="live-cells">{data}</script>\n{html[end:]}')


def with_script(html: str) -> str:
    """Any page of the book with the page's script, its style and its policy, so that Python stays when it is opened."""
    html = html.replace("</head>", f"{_LINKS}\n</head>", 1)
    end = html.rindex("</body>")
    return with_policy(f"{html[:end]}{_SCRIPT}\n{html[end:]}")
