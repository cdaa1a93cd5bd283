"""The first page of the book: the whole path of a record, playing, and a card for each chapter.

A card has the picture that tells most of the chapter, the question, the minutes that the chapter says, and how far
this reader has come, which the page's script asks the store of answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from kafkalearn.views import whole_path
from tools.book.card import card_of
from tools.book.chapter import Chapter
from tools.book.chapter.contents import inline_html
from tools.book.exercises import exercises_of
from tools.book.face import NOTICES
from tools.book.live.parts import FOLDER
from tools.book.shell import shell_page

HERE = Path(__file__).parent
_STATE = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
_MINUTES = re.compile(r"\s*About \d+ minutes")
TELLING: Mapping[str, tuple[str, int]] = {
    "00": ("c00-die-run", 9),
    "00b": ("c00b-003", 4),
    "01": ("c01-003", 10),
    "02": ("c02-037", 20),
    "03": ("cell-03-3", 16),
    "04": ("cell-04-18", 2),
    "05": ("cell-05-7", 12),
    "05b": ("cell-05-40", 12),
    "06": ("cell-06-11", 5),
    "06b": ("c06b-alone-play", 6),
    "07": ("cell-07-group-play", 24),
    "08": ("cell-08-9", 5),
    "09": ("cell-09-22", 18),
    "10": ("cell-10-15", 10),
    "10b": ("cell-10-36", 9),
    "11": ("cell-11-18", 7),
    "12": ("cell-12-23", 6),
    "12b": ("cell-12-47", 7),
    "13": ("c13-night-play", 1),
    "13b": ("c13-067", 12),
    "13c": ("c13-own-11", 4),
    "14": ("cell-25", 9),
    "15": ("c15-one-run", 7),
    "16": ("c16-half-run", 1),
    "18": ("c18-board-touch", 6),
}
"""The frame that tells most of a chapter: the cell of its run, and its number in it, chosen by eye."""
_ABOUT = "Predict, then run: each mechanism is stepped by hand, broken on purpose, and run over millions of rows."
_CODE_LINES = 8  # of a chapter that draws nothing
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
<p>{_ABOUT} Python runs in these pages; nothing leaves them.</p>
<p>{begin} <span id="go-on" role="status"></span></p>
</div>
<figure>{whole_path().host}</figure></div>
<h2>The chapters</h2>
<ol class="cards">
{cards or "<li>There are no chapters yet.</li>"}
</ol>
<p><a href="{FOLDER}/{NOTICES.name}">Licences</a> of fonts, Python and all that this book carries of others</p>""",
        [(HERE / "front.js").read_text(encoding="utf-8")],
        head=style + card_of("The inside of Apache Kafka", _ABOUT),
    )


def _states(notebook: NotebookNode) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each player of a chapter is given, with the id of its cell."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            found = _STATE.search("".join(output.get("data", {}).get("text/html", "")))
            state = json.loads(found[1]) if found else {}
            if "_animation" in state:  # a film has more than one
                yield cell.id, state


def _card(chapter: Chapter, notebook: NotebookNode) -> str:
    about = _MINUTES.split(chapter.question)[0]  # they stand below it
    said = _SAID.search("\n".join(each.source for each in notebook.cells[:2]))
    number, _, name = chapter.heading.rpartition(" · ")
    named = f'<span class="number">{inline_html(number)}</span> {inline_html(name)}' if number else inline_html(name)
    exercises = " ".join(each.progress.exercise for each in exercises_of(chapter.path.stem).values())
    return (
        f'<li data-exercises="{escape(exercises)}"><a href="{chapter.page}">'
        f'<span class="picture drawn" aria-hidden="true">{_picture(chapter.number, notebook)}</span>'
        f'<span class="name">{named}</span></a>'
        f'<p class="question">{inline_html(about)}</p>'
        f'<p class="facts">{f"{said[1]} min " if said else ""}<span data-part="done"></span></p></li>'
    )


def _picture(number: str, notebook: NotebookNode) -> str:
    """The telling frame; of a chapter that has none, its first picture, or how its code begins."""
    states = list(_states(notebook))
    cell, at = TELLING.get(number, ("", 0))
    state = next((each for name, each in states if name == cell), states[0][1] if states else None)
    if state is None:
        code = (line for each in notebook.cells if each.cell_type == "code" for line in each.source.splitlines())
        told = [line for line in code if line and not re.match(r"from |import |#", line)][:_CODE_LINES]
        return f"<code>{escape(chr(10).join(told))}</code>"
    lines, frames = state["_animation"]["lines"], state["_animation"]["frames"]
    runs = frames[min(at, len(frames) - 1)]
    shown = [line for at, count in zip(runs[::2], runs[1::2], strict=True) for line in lines[at : at + count]]
    return re.sub(r' aria-label="[^"]*"| role="img"', "", "\n".join(shown))
