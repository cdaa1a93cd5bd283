"""Runs the chapters and writes them as pages that need no kernel and no network: book/index.html.

    python3 run.py book       a chapter is run again only if it, the package or the lock has changed

The committed notebooks are not touched.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from tools.book import instructor, predictions
from tools.book.pages import faults
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
    def title(self) -> str:
        """Its first heading, or its file's name."""
        heading = re.search(r"^#+\s+(.+)$", self.words, re.MULTILINE)
        return heading.group(1).strip() if heading else self.path.stem

    @property
    def question(self) -> str:
        """The first paragraph below the heading, as plain text."""
        below = re.split(r"^#+\s+.+$", self.words, maxsplit=1, flags=re.MULTILINE)[-1].strip()
        return re.sub(r"[*_`]|\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(below.split("\n\n")[0].split()))


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
    before = chapters[index - 1 : index] if index else []
    links = [
        *(f'<a rel="prev" href="{each.page}">← {escape(each.title)}</a>' for each in before),
        '<a href="index.html">All chapters</a>',
        *(f'<a rel="next" href="{each.page}">{escape(each.title)} →</a>' for each in chapters[index + 1 : index + 2]),
        *([f'<a href="{notes}">For the instructor</a>'] if (notes := _notes_of(chapters[index])) else []),
    ]
    return f'<nav class="navigation" aria-label="Chapters">{" ".join(links)}</nav>'


def _notes_of(chapter: Chapter) -> str:
    """The page of its notes, or the empty text."""
    stem = chapter.path.stem
    return instructor.page_name(stem) if instructor.notes_path(stem).exists() else ""


def page(notebook: NotebookNode, chapter: Chapter, navigation: str) -> str:
    """The HTML of one chapter; links lead to the other pages, or to copies of the files."""
    notebook, count = predictions.with_folds(in_sections(notebook))
    notebook.metadata.title = chapter.title
    exporter = HTMLExporter(raw_template=(HERE / "page.html.j2").read_text(encoding="utf-8"))
    exporter.display_data_priority = PRIORITY
    style = (HERE / "style.css").read_text(encoding="utf-8") + predictions.style(count)
    book = {"style": style, "navigation": navigation, "script": (HERE / "slides.js").read_text(encoding="utf-8")}
    resources = {"book": book, "metadata": {"path": str(chapter.path.parent)}}
    html, _ = exporter.from_notebook_node(notebook, resources)
    address = r'(<(?:a|img)\b[^>]*\b(?:href|src)=")([^"#:]+)'
    return re.sub(address, lambda match: match[1] + address_in_book(match[2], chapter.path), html)


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
    items = [f'<li><a href="{each.page}">{escape(each.title)}</a><br>{escape(each.question)}</li>' for each in chapters]
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>kafkalearn</title>
<style>body {{ max-width: 45rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
ol {{ list-style: none; padding: 0; }} li {{ margin: 1rem 0; }}</style></head>
<body><main><h1>kafkalearn</h1>
<p>The inside of Apache Kafka, stepped by hand and run over millions of rows. The pictures can be stepped here;
to change what they show, open the chapter in JupyterLab.</p>
<ol>
{chr(10).join(items) or "<li>There are no chapters yet.</li>"}
</ol></main></body>
</html>
"""


def make(paths: list[Path]) -> list[str]:
    """Write the whole book anew and return what is wrong with it."""
    chapters, sources = [Chapter.read(path) for path in paths], sources_digest()
    RUNS.mkdir(parents=True, exist_ok=True)
    notebooks = [executed(chapter, sources) for chapter in chapters]
    for old in BOOK.glob("*.html"):
        old.unlink()
    for index, (chapter, notebook) in enumerate(zip(chapters, notebooks, strict=True)):
        links = navigation(chapters, index)
        (BOOK / chapter.page).write_text(page(notebook, chapter, links), encoding="utf-8")
        if notes := _notes_of(chapter):
            written = new_notebook(cells=[new_markdown_cell(instructor.words(chapter.path.stem))])
            notes_chapter = Chapter(chapter.path, f"# {chapter.title}, for the instructor")
            (BOOK / notes).write_text(page(written, notes_chapter, links), encoding="utf-8")
    (BOOK / "index.html").write_text(index_page(chapters), encoding="utf-8")
    return list(faults(BOOK))


def main() -> int:
    """Make the book; 1 if a chapter fails or a page is not sound."""
    try:
        wrong = make(chapter_paths())
    except CellExecutionError as error:
        wrong = [f"a chapter does not run:\n{error}"]
    for fault in wrong:
        print(fault, file=sys.stderr)
    if not wrong:
        print(BOOK / "index.html")
    return 1 if wrong else 0
