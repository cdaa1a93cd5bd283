"""``playground.html``: one file, to be sent by mail, with Python in it and a policy that names its scripts by hash.

Each part is a form of ``forms.html``; `tools.page.playground` answers it, ``playground.js`` only wires.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from kafkalearn.boards import BOARDS
from kafkalearn.drawing.player import live_style
from kafkalearn.releases.lines import RELEASES
from kafkalearn.replication import ACKNOWLEDGED_SURVIVE, PROMISES
from tools.book.face import face, fonts
from tools.book.live import FOLDER, page_script, with_policy
from tools.book.shell import STYLE
from tools.page.playground import ASSIGNORS

HERE = Path(__file__).parent
PAGE = "playground.html"


def playground_page(runtime: str = "") -> str:
    """The whole page.

    Parameters
    ----------
    runtime : str, optional
        The script of Python, as ``live/runtime.js`` has it; without it the page needs that file beside it.
    """
    forms = (HERE / "forms.html").read_text(encoding="utf-8")
    for place, words in {
        "RELEASES": RELEASES[::-1],
        "ASSIGNORS": ASSIGNORS,
        "PROMISES": dict.fromkeys([ACKNOWLEDGED_SURVIVE, *PROMISES]),
    }.items():
        forms = forms.replace(f"<!-- {place} -->", "".join(f"<option>{escape(each)}</option>" for each in words))
    boards = (f'<option value="{name}">{escape(words)}</option>' for name, words in BOARDS.items())
    forms = forms.replace("<!-- BOARDS -->", "".join(boards))
    own = (HERE / "playground.js").read_text(encoding="utf-8")
    style = (
        face()
        + fonts()
        + STYLE.read_text(encoding="utf-8")
        + live_style()
        + (HERE / "playground.css").read_text(encoding="utf-8")
    )
    python = f"<script>{runtime}</script>" if runtime else f'<script src="{FOLDER}/runtime.js"></script>'
    scripts = "\n".join(
        [python, *(f"<script>{each}</script>" for each in (page_script(("python.js", "frame.js")), own))]
    )
    html = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Playground · kafkalearn</title>
<style>{style}</style>
</head>
<body class="plain-page playground">
<main>
{forms}
</main>
{scripts}
</body>
</html>
"""
    page = with_policy(html)
    return page.replace("script-src 'self' ", "script-src ", 1) if runtime else page  # no file beside it is its own
