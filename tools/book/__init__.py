"""Runs the chapters and writes them as pages that need no kernel and no network: book/index.html.

    python3 run.py book                a chapter is run again only if it, the package or the lock has changed
    python3 run.py book --committed    no chapter is run: the pages show the committed outputs

The committed notebooks are not touched. Python runs in the pages, in the reader's browser: `tools.book.live`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from tools.book import instructor, live, predictions, progress, reference, search
from tools.book.contents import inline_html, with_contents
from tools.book.exercises import with_exercises
from tools.book.live.packages import NotFetched
from tools.book.pages import faults
from tools.book.playground import PAGE as PLAYGROUND
from tools.book.playground import playground_page
from tools.book.shell import shell_page
from tools.chapters import ROOT, chapter_paths, execute, normalise
from tools.sections import in_sections

BOOK = ROOT / "book"
HERE = Path(__file__).parent
RUNS = BOOK / "runs"  # the executed chapters, kept so that only what changed is run again

# The player that a widget of ours brings along goes before everything that needs a kernel.
PRIORITY = ["text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/latex", "text/plain"]


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


def sources_digest() -> str:
    """A hash of all that a chapter's outputs come from, the chapter itself left out."""
    digest = hashlib.sha256()
    folders = [path for name in ("kafkalearn", "data") for path in sorted((ROOT / name).rglob("*"))]
    ignored = {"__pycache__", "generated"}
    for path in [*folders, ROOT / "requirements.lock"]:
        if path.is_file() and not ignored & set(path.relative_to(ROOT).parts):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def executed(chapter: Chapter, sources: str) -> NotebookNode:
    """The chapter with outputs from a fresh kernel, or from the last run if nothing has changed since."""
    key = hashlib.sha256(sources.encode() + chapter.path.read_bytes()).hexdigest()[:16]
    kept = RUNS / f"{chapter.path.stem}-{key}.ipynb"
    if not kept.exists():
        print(f"running {chapter.path.name}", flush=True)
        notebook = normalise(execute(chapter.path))
        for old in RUNS.glob(f"{chapter.path.stem}-*.ipynb"):
            old.unlink()
        nbformat.write(notebook, kept)
    return nbformat.read(kept, as_version=4)


def navigation(chapters: list[Chapter], index: int) -> str:
    """The line of links at the head and the foot of a page."""
    before, after = chapters[index - 1 : index] if index else [], chapters[index + 1 : index + 2]
    links = [
        *(f'<a rel="prev" href="{each.page}">← {inline_html(each.heading)}</a>' for each in before),
        '<a href="index.html">All chapters</a>',
        '<a href="search.html">Search</a>',
        '<a href="progress.html">Your progress</a>',
        *(f'<a rel="next" href="{each.page}">{inline_html(each.heading)} →</a>' for each in after),
        *([f'<a href="{notes}">For the instructor</a>'] if (notes := _notes_of(chapters[index])) else []),
    ]
    return f'<nav class="navigation" aria-label="Chapters">{" ".join(links)}</nav>'


def _notes_of(chapter: Chapter) -> str:
    """The page of its notes, or the empty text."""
    stem = chapter.path.stem
    return instructor.page_name(stem) if instructor.notes_path(stem).exists() else ""


def page(notebook: NotebookNode, chapter: Chapter, navigation: str) -> str:
    """The HTML of one chapter; links lead to the other pages, or to copies of the files."""
    notebook = with_exercises(notebook, chapter.path.stem)
    notebook, count = predictions.with_folds(in_sections(notebook))
    notebook.metadata.title = chapter.title
    exporter = HTMLExporter(raw_template=(HERE / "page.html.j2").read_text(encoding="utf-8"))
    exporter.display_data_priority = PRIORITY
    style = (HERE / "style.css").read_text(encoding="utf-8") + predictions.style(count)
    book = {"style": style, "navigation": navigation, "script": (HERE / "slides.js").read_text(encoding="utf-8")}
    resources = {"book": book, "metadata": {"path": str(chapter.path.parent)}}
    html, _ = exporter.from_notebook_node(notebook, resources)
    address = r'(<(?:a|img)\b[^>]*\b(?:href|src)=")([^"#:]+)'
    return with_contents(re.sub(address, lambda match: match[1] + address_in_book(match[2], chapter.path), html))


def address_in_book(link: str, notebook: Path) -> str:
    """Where a relative address in a notebook leads in the book; any other stays what it is."""
    target = (notebook.parent / link).resolve()
    if target.suffix == ".ipynb" and target.parent == notebook.parent:
        return target.stem + ".html"
    if target.is_file() and target.is_relative_to(ROOT) and not target.is_relative_to(BOOK):
        copy = BOOK / "files" / target.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, copy)
        return copy.relative_to(BOOK).as_posix()
    return link


def index_page(chapters: list[Chapter]) -> str:
    """The page that lists the chapters."""
    items = [
        f'<li><a href="{each.page}">{inline_html(each.heading)}</a><br>{inline_html(each.question)}</li>'
        for each in chapters
    ]
    return shell_page(
        "kafkalearn",
        f"""<p>The inside of Apache Kafka, stepped by hand and run over millions of rows. The pages run Python in your
browser: what they show can be changed, exercises are checked, and nothing leaves them.</p>
<ol class="chapters">
{chr(10).join(items) or "<li>There are no chapters yet.</li>"}
</ol>""",
    )


def other_pages(chapters: list[Chapter], scripts: Path) -> Iterator[tuple[str, str]]:
    """Name and text of what stands beside the chapters, whose pages are written."""
    yield "index.html", index_page(chapters)
    yield from progress.pages((each.path.stem, each.title, each.page) for each in chapters)
    yield PLAYGROUND, playground_page((scripts / "runtime.js").read_text(encoding="utf-8"))
    written = ((each.page, each.title, (BOOK / each.page).read_text(encoding="utf-8")) for each in chapters)
    yield search.INDEX, search.index_script(written)
    yield search.PAGE, search.search_page()


def make(paths: list[Path], is_committed: bool = False) -> list[str]:
    """Write the whole book anew and return what is wrong with it.

    `is_committed` takes the outputs that are committed, and runs nothing.
    """
    chapters, sources = [Chapter.read(path) for path in paths], sources_digest()
    RUNS.mkdir(parents=True, exist_ok=True)
    notebooks = [
        nbformat.read(each.path, as_version=4) if is_committed else executed(each, sources) for each in chapters
    ]
    scripts = live.write(BOOK)
    for old in BOOK.glob("*.html"):
        old.unlink()
    for index, (chapter, notebook) in enumerate(zip(chapters, notebooks, strict=True)):
        links = navigation(chapters, index)
        html = reference.with_links(page(notebook, chapter, links), notebook)
        html = live.alive(html, chapter.path.stem, notebook)
        (BOOK / chapter.page).write_text(html, encoding="utf-8")
        if notes := _notes_of(chapter):
            written = new_notebook(cells=[new_markdown_cell(instructor.words(chapter.path.stem))])
            notes_chapter = Chapter(chapter.path, f"# {chapter.title}, for the instructor")
            (BOOK / notes).write_text(live.with_script(page(written, notes_chapter, links)), encoding="utf-8")
    reference.write(BOOK, reference.modules_of(notebooks), sources)
    for name, text in other_pages(chapters, scripts):
        (BOOK / name).write_text(text, encoding="utf-8")
    return list(faults(BOOK))


def main() -> int:
    """Make the book; 1 if a chapter fails or a page is not sound."""
    try:
        wrong = make(chapter_paths(), is_committed="--committed" in sys.argv[1:])
    except CellExecutionError as error:
        wrong = [f"a chapter does not run:\n{error}"]
    except NotFetched as error:
        wrong = [str(error)]
    for fault in wrong:
        print(fault, file=sys.stderr)
    if not wrong:
        print(BOOK / "index.html")
    return 1 if wrong else 0
