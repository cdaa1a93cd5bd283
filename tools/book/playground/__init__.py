"""``playground.html``: one file, to be sent by mail, with Python in it and a policy that names its scripts by hash.

Each part is a form of ``forms.html``; `tools.page.playground` answers it, ``playground.js`` only wires.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from kafkalearn.boards import BOARDS
from kafkalearn.coordinator import look_up
from kafkalearn.coordinator.picture import draw_lookup
from kafkalearn.drawing.player import live_style
from kafkalearn.releases.lines import RELEASES
from kafkalearn.replication import ACKNOWLEDGED_SURVIVE, PROMISES
from tools.book.chapter import Chapter, played_by_part
from tools.book.chapter.contents import inline_html
from tools.book.face import face, fonts
from tools.book.live import FOLDER, page_script, with_policy
from tools.book.live.septets import in_page
from tools.book.shell import ICON, STYLE, links_bar
from tools.page.playground import ASSIGNORS

HERE = Path(__file__).parent
PAGE = "playground.html"


def playground_page(runtime: str = "", chapters: Sequence[Chapter] = ()) -> str:
    """The whole page.

    Parameters
    ----------
    runtime : str, optional
        The script of Python, as ``live/runtime.js`` has it; without it the page needs that file beside it.
    chapters : sequence of Chapter, optional
        Those of the book: each part links to its own.
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
    forms = with_chapters(forms.replace("<!-- FIRST -->", first_picture()), chapters)
    own = (HERE / "playground.js").read_text(encoding="utf-8")
    style = (
        face()
        + fonts()
        + STYLE.read_text(encoding="utf-8")
        + live_style()
        + (HERE / "playground.css").read_text(encoding="utf-8")
    )
    python = f"<script>{in_page(runtime)}</script>" if runtime else _BESIDE
    scripts = "\n".join(
        [
            python,
            *(
                f"<script>{each}</script>"
                for each in (page_script(("python.js", "frame.js", "../chapter/fitting.js")), own)
            ),
        ]
    )
    html = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Playground · kafkalearn</title>
{ICON}
<style>{style}</style>
</head>
<body class="plain-page playground">
{links_bar()}
<main>
{forms}
</main>
{scripts}
</body>
</html>
"""
    page = with_policy(html)
    return page.replace("script-src 'self' ", "script-src ", 1) if runtime else page  # no file beside it is its own


def first_picture() -> str:
    """What the first form is answered as it stands, drawn beforehand: the page opens with it, before Python is there.

    >>> first_picture()[:70]
    '<figure class="drawn first"><svg xmlns="http://www.w3.org/2000/svg" vie'
    """
    picture = draw_lookup(look_up("billing", brokers=3)[-1])
    return f'<figure class="drawn first">{picture}</figure>'


_BESIDE = f'<script src="{FOLDER}/runtime.js"></script>'
_INSIDE = re.compile(r"<script>(?://[^\n]*\n)?window\.KAFKALEARN_RUNTIME = [^<]*</script>")


def with_python_beside(page: str) -> str:
    """A page that has Python in it as one that needs ``live/runtime.js``; its policy is to be made anew."""
    return _INSIDE.sub(_BESIDE, page, count=1)


def with_chapters(forms: str, chapters: Sequence[Chapter]) -> str:
    """The parts, each with links to the chapters that it is of; pictures have those of the board that is chosen."""
    for (part, board), of_part in played_by_part([*chapters]).items():
        links = ", ".join(f'<a href="{each.page}">{inline_html(each.heading)}</a>' for each in of_part)
        words = f'<p class="of-chapters" data-board="{board}">Read about it: {links}.</p>\n</section>'
        start = forms.index(f'<section class="part" id="{part}">')
        forms = forms[:start] + forms[start:].replace("</section>", words, 1)
    return forms
