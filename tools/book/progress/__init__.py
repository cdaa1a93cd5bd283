"""The pages of the book about its reader: ``progress.html``, ``class.html``, and ``answers.html``, which keeps answers.

All three work from a folder: what they know is in the browser, or in files that the reader gives them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path

from kafkalearn.exercises.kit.exercise import Exercise
from tools.book.chapter.contents import contents
from tools.book.exercises import exercises_of, script_text
from tools.book.shell import shell_page

HERE = Path(__file__).parent


def pages(chapters: Iterable[tuple[str, str, str]], asked: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The name and the HTML of each page.

    Parameters
    ----------
    chapters : iterable of (str, str, str)
        Stem, title and page of each chapter.
    asked : mapping of str to str
        The words of their questions by cell.
    """
    chapters = list(chapters)
    yield "progress.html", shell_page("Your progress", _progress(chapters), [_script("progress.js")])
    yield "class.html", shell_page("The table of a class", _class(asked), [_script("class.js")])
    store = f"<script>{script_text('kept.js')}\n{script_text('store.js')}</script>"
    yield "answers.html", shell_page("The store of answers", _STORE + store, is_alive=False, has_navigation=False)


def _script(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


_STORE = "<p>This page keeps your answers for the other pages of the book. There is nothing to see here.</p>"


def _progress(chapters: list[tuple[str, str, str]]) -> str:
    tables = "".join(_chapter_table(*each) for each in chapters)
    return f"""
<p id="answers-refused" class="answers-refused" role="status" hidden>This browser keeps nothing for these pages, as in a
private window. What you did in a chapter is in that chapter's page until you close it.</p>
<p><strong id="total" role="status"></strong></p>
<form class="tools" id="tools">
<label>Your name <input name="name" autocomplete="name"></label>
<button type="button" data-do="save">Save as a file, to hand in</button>
<label class="file">Read from a file <input type="file" name="file" accept=".json,application/json"></label>
<button type="button" data-do="forget">Remove my answers from this browser</button>
</form>
<p id="said" role="status"></p>
<p>The file is the one that <code>make report</code> writes: both can be put together, and
<a href="class.html">the table of a class</a> takes it.</p>
{contents(tables)}
{tables}
"""


def _chapter_table(stem: str, title: str, page: str) -> str:
    exercises = exercises_of(stem)
    if not exercises:
        return ""
    rows = "".join(_row(number, each) for number, each in enumerate(exercises.values(), start=1))
    heads = "".join(
        f'<th scope="col">{name}</th>' for name in ("exercise", "best answer", "tries", "hints", "solution seen first")
    )
    return (
        f'<section class="chapter"><h2 id="{stem}"><a href="{page}">{escape(title)}</a></h2>'
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )


def _row(number: int, exercise: Exercise) -> str:
    name = escape(exercise.name.replace("_", " "))
    shown = {"outcome": "not attempted", "tries": "0", "hints": f"0 of {len(exercise.hints)}", "solution": "no"}
    cells = "".join(f'<td data-part="{part}">{words}</td>' for part, words in shown.items())
    return f'<tr data-exercise="{exercise.progress.exercise}"><th scope="row">{number}. {name}</th>{cells}</tr>'


def _class(asked: Mapping[str, str]) -> str:
    questions = json.dumps(dict(asked), ensure_ascii=False).replace("<", "\\u003c")
    return f"""
<script type="application/json" id="asked">{questions}</script>
<p>Give the files that were handed in, all at once. Each answer is judged again, here, by the judge of the exercises;
nothing leaves this page. The table is the one of <code>make grades</code>.</p>
<form class="tools" id="tools">
<label class="file">Files of a class <input type="file" name="files" accept=".json,application/json" multiple></label>
<button type="button" data-do="save" disabled>Save the table, grades.csv</button>
<button type="button" data-do="stop" hidden>Stop</button>
</form>
<p id="said" role="status"></p>
<div class="wide" id="table" tabindex="0" role="region" aria-label="The table of the class"></div>
<ul id="remarks"></ul>
<section hidden>
<h2>What did the class believe?</h2>
<p>The wrong predictions, by the share of those who predicted there.</p>
<div class="wide" id="believed" tabindex="0" role="region" aria-label="What the class believed"></div>
</section>
<section hidden>
<h2>What did its wrong answers show?</h2>
<p>The misconceptions, by the share of those who tried the exercise; also those that a right answer followed.</p>
<div class="wide" id="mistaken" tabindex="0" role="region" aria-label="What wrong answers showed"></div>
</section>
<p>Functions that were handed in run in this page, in a second Python (WebAssembly) that is ended after each file. They
reach neither your disk nor a network nor the judge: what they give is judged afterwards. The remarks say whose
ran.</p>
"""
