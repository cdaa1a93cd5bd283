"""The first page of the book: the whole path of a record, playing, and a card for each chapter.

A card has a picture of the chapter's first player, the question, the minutes that the chapter says, and how far
this reader has come, which the page's script asks the store of answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from kafkalearn.views import whole_path
from tools.book.chapter import Chapter
from tools.book.chapter.contents import inline_html
from tools.book.exercises import exercises_of
from tools.book.face import NOTICES
from tools.book.live.parts import FOLDER
from tools.book.shell import shell_page

HERE = Path(__file__).parent
_STATE = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
_MINUTES = re.compile(r"\s*About \d+ minutes")
_SAID = re.compile(r"About\s(\d+)\sminutes")  # one number wherever it stands; tools.minutes holds the chapter to it


def front_page(chapters: Sequence[Chapter], notebooks: Sequence[NotebookNode]) -> str:
    """The HTML of the page.

    Parameters
    ----------
    chapters, notebooks : sequence
        In reading order, each notebook with its outputs.
    """
    pairs = list(zip(chapters, notebooks, strict=True))
    cards = "\n".join(_card(*pair) for pair in pairs)
    begin = f'<a class="begin" href="{chapters[0].page}">Begin</a>' if chapters else ""
    style = f"<style>{(HERE / 'front.css').read_text(encoding='utf-8')}</style>"
    return shell_page(
        "The inside of Apache Kafka",
        f"""<div class="opening"><div class="words">
<p>Predict, then run: each mechanism is stepped by hand, broken on purpose, and run over millions of rows. Python runs
in these pages; nothing leaves them.</p>
<p>{begin} <span id="go-on" role="status"></span></p>
</div>
<figure>{whole_path().host}</figure></div>
<h2>The chapters</h2>
<ol class="cards">
{cards or "<li>There are no chapters yet.</li>"}
</ol>
<p><a href="{FOLDER}/{NOTICES.name}">Licences</a> of fonts, Python and all that this book carries of others</p>""",
        [(HERE / "front.js").read_text(encoding="utf-8")],
        head=style,
    )


def _states(notebook: NotebookNode) -> Iterator[dict[str, Any]]:
    """What each player of a chapter is given."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            found = _STATE.search("".join(output.get("data", {}).get("text/html", "")))
            state = json.loads(found[1]) if found else {}
            if "_animation" in state:  # a film has more than one
                yield state


def _card(chapter: Chapter, notebook: NotebookNode) -> str:
    about = _MINUTES.split(chapter.question)[0]  # they stand below it
    said = _SAID.search("\n".join(each.source for each in notebook.cells[:2]))
    number, _, name = chapter.heading.rpartition(" · ")
    named = f'<span class="number">{inline_html(number)}</span> {inline_html(name)}' if number else inline_html(name)
    exercises = " ".join(each.progress.exercise for each in exercises_of(chapter.path.stem).values())
    return (
        f'<li data-exercises="{escape(exercises)}"><a href="{chapter.page}">'
        f'<span class="picture drawn" aria-hidden="true">{_picture(notebook)}</span>'
        f'<span class="name">{named}</span></a>'
        f'<p class="question">{inline_html(about)}</p>'
        f'<p class="facts">{f"{said[1]} min " if said else ""}<span data-part="done"></span></p></li>'
    )


def _picture(notebook: NotebookNode) -> str:
    """How the first run that moves begins, which no question asks for; or the first picture."""
    states = list(_states(notebook))
    state = next((each for each in states if len(each["_animation"]["frames"]) > 1), states[0] if states else None)
    if state is None:
        return ""
    lines, frames = state["_animation"]["lines"], state["_animation"]["frames"]
    runs = frames[0]
    shown = [line for at, count in zip(runs[::2], runs[1::2], strict=True) for line in lines[at : at + count]]
    return re.sub(r' aria-label="[^"]*"| role="img"', "", "\n".join(shown))
