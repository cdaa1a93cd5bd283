"""One chapter as a page: its notebook as HTML, its results folded where they are to be predicted, its links."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from kafkalearn.boards import BOARDS
from kafkalearn.predictions.marking import MARK, marked
from tools import claims
from tools.book import instructor, live
from tools.book.card import card_of
from tools.book.chapter.charts import with_palettes
from tools.book.chapter.contents import inline_html, with_contents
from tools.book.chapter.words import GLOSSARY as GLOSSARY
from tools.book.chapter.words import with_meanings
from tools.book.exercises import with_exercises
from tools.book.face import SIDE, face
from tools.book.shell import ICON
from tools.environment import ROOT
from tools.page.cells import needed_by
from tools.sections import in_sections

HERE = Path(__file__).parent
STYLE = HERE.parent / "style.css"

# The player that a widget of ours brings along goes before everything that needs a kernel.
PRIORITY = ["text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/latex", "text/plain"]


_FILM = "data-kl-film"
_SPEAKS = re.compile(r"\bthis machine\b")
_STILL = re.compile(
    r'(<div class="jp-RenderedHTML[^>]*>\s*)<img [^>]*src="data:image/svg\+xml;base64,([\w+/=]+)"[^>]*>'
)


@dataclass(frozen=True)
class Chapter:
    """One notebook, and the page made from it."""

    path: Path
    words: str  # the text of its first cell

    @classmethod
    def read(cls, path: Path) -> Chapter:
        """The chapter in a file."""
        cells = nbformat.read(path, as_version=4).cells
        return cls(path, cells[0].source if cells else "")

    @property
    def page(self) -> str:
        """The name of its page."""
        return self.path.stem + ".html"

    @property
    def number(self) -> str:
        """What its file's name begins with."""
        return self.path.stem.split("_")[0]

    @property
    def heading(self) -> str:
        """Its first heading as Markdown, or its file's name."""
        heading = re.search(r"^#+\s+(.+)$", self.words, re.MULTILINE)
        return heading.group(1).strip() if heading else self.path.stem

    @property
    def title(self) -> str:
        """The same as plain text."""
        return self.heading.replace("`", "")

    @property
    def question(self) -> str:
        """The first paragraph below the heading, as text with its code in backticks."""
        below = re.split(r"^#+\s+.+$", self.words, maxsplit=1, flags=re.MULTILINE)[-1].strip()
        first = " ".join(below.split("\n\n")[0].split())
        return re.sub(r"(`[^`]*`)|\*+|\[([^\]]*)\]\([^)]*\)", lambda found: found[1] or found[2] or "", first)

    @property
    def notes_page(self) -> str:
        """The name of the page of its notes, or the empty text."""
        return instructor.page_name(self.path.stem) if instructor.notes_path(self.path.stem).exists() else ""


_BY_HAND = {
    "Break a partition by hand": ("partition.moves?min_isr=1", "09 10 10b 14"),
    "Play a group's scenario": ("group", "03 05 05b"),
    "Touch a group's commits": ("touch.touched?board=commits", "06 06b"),
    "Touch a log and its cleaner": ("touch.touched?board=compaction", "08"),
    "Touch who waits": ("touch.touched?board=purgatory", "11"),
    "Touch a group of old consumers": ("touch.touched?board=zookeeper", "12"),
    "Touch the offsets topic": ("touch.touched?board=operations", "13"),
    "Touch a group that changes its protocol": ("touch.touched?board=migration", "16"),
    "Look up your own group": ("place", "01 02"),
    "Try assignors on your group": ("assignors", "04"),
    "Take your own bytes apart": ("bytes", "07"),
}
"""The parts of the playground, and the chapters that they belong to."""


def played(chapter: Chapter) -> list[tuple[str, str]]:
    """The words and the state of the playground's part that goes with a chapter: one, or none."""
    return [(words, state) for words, (state, numbers) in _BY_HAND.items() if chapter.number in numbers.split()]


def played_by_part(chapters: list[Chapter]) -> dict[tuple[str, str], list[Chapter]]:
    """The chapters that each part of the playground belongs to, by the part and, of its pictures, the board."""
    found: dict[tuple[str, str], list[Chapter]] = {}
    for chapter in chapters:
        parts = [(state.partition(".")[0], "") for _, state in played(chapter)]
        boards = [("touch", name) for name, words in BOARDS.items() if words.split(":")[0] == chapter.number]
        for each in [*(part for part in parts if part[0] != "touch"), *boards]:
            found.setdefault(each, []).append(chapter)
    return found


def navigation(chapters: list[Chapter], index: int) -> str:
    """The line of links at the head and the foot of a page."""
    before, after = chapters[index - 1 : index] if index else [], chapters[index + 1 : index + 2]
    links = [
        *(f'<a rel="prev" href="{each.page}">← {inline_html(each.heading)}</a>' for each in before),
        '<a href="index.html">All chapters</a>',
        '<a href="search.html">Search</a>',
        '<a href="progress.html">Your progress</a>',
        *(f'<a href="playground.html#{state}">{words}</a>' for words, state in played(chapters[index])),
        *(f'<a rel="next" href="{each.page}">{inline_html(each.heading)} →</a>' for each in after),
        *([f'<a href="{notes}">For the instructor</a>'] if (notes := chapters[index].notes_page) else []),
    ]
    return f'<nav class="navigation" aria-label="Chapters">{" ".join(links)}</nav>'


def page(notebook: NotebookNode, chapter: Chapter, navigation: str, copy: Callable[[Path], str] | None = None) -> str:
    """The HTML of one chapter; links lead to other pages, or to the copies that `copy` makes of the project's files."""
    notebook = with_exercises(notebook, chapter.path.stem)
    notebook = with_meanings(with_what_is_said_before_a_click(marked(in_sections(with_palettes(notebook)))))
    notebook.metadata.title = chapter.title
    exporter = HTMLExporter(raw_template=(HERE / "page.html.j2").read_text(encoding="utf-8"))
    exporter.display_data_priority = PRIORITY
    style = "\n".join([face(), *(path.read_text(encoding="utf-8") for path in (STYLE, SIDE / "predictions.css"))])
    scripts = (
        SIDE / "predictions.js",
        *(HERE / name for name in ("predicting.js", "meanings.js", "stopped.js", "letters.js", "slides.js")),
    )
    script = "\n".join(path.read_text(encoding="utf-8") for path in scripts)
    book = {
        "style": style,
        "icon": ICON + card_of(chapter.title, chapter.question),
        "navigation": navigation,
        "script": script,
        "tools": live.tools,
    }
    resources = {"book": book, "metadata": {"path": str(chapter.path.parent)}}
    html, _ = exporter.from_notebook_node(notebook, resources)
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)  # the corner of a table heads nothing
    html = re.sub(r'(<div class="jp-[^>]*?) tabindex="0"', r"\1", html)  # keys stop at what is wider than the page only
    html = re.sub(r' data-jp-theme-\w+="[^"]*"', "", html)  # light or dark is the system's choice, not the template's
    html = _STILL.sub(
        lambda still: still[1] + b64decode(still[2]).decode(), html
    )  # in the page's letters, and its dark
    address = r'(<(?:a|img)\b[^>]*\b(?:href|src)=")([^"#:]+)'
    return with_contents(re.sub(address, lambda match: match[1] + address_in_book(match[2], chapter.path, copy), html))


def with_what_is_said_before_a_click(notebook: NotebookNode) -> NotebookNode:
    """A copy whose code cells say what they need that no page has, and whether their output speaks of a machine.

    The code of a film is folded: its picture is what a page opens with.
    """
    notebook = deepcopy(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, needs in zip(code, needed_by([cell.source for cell in code]), strict=True):
        if needs:
            cell.metadata.needs = needs
        if _FILM in str(cell.get("outputs", "")):
            cell.metadata.setdefault(MARK, {})["fold"] = "The code of this film"
        if _SPEAKS.search(str(cell.get("outputs", ""))):
            cell.metadata.speaks_of_a_machine = True
    return notebook


def address_in_book(link: str, notebook: Path, copy: Callable[[Path], str] | None) -> str:
    """Where a relative address in a notebook leads in the book; any other stays what it is."""
    target = (notebook.parent / link).resolve()
    if target.suffix == ".ipynb" and target.parent == notebook.parent:
        return target.stem + ".html"
    if target in (claims.PAGE, GLOSSARY):
        return f"{target.stem}.html"
    if copy and target.is_file() and target.is_relative_to(ROOT) and not target.is_relative_to(ROOT / "book"):
        return copy(target)
    return link
