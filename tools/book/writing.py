"""All files of the book, each written if what it is made of has changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from kafkalearn.base.tables import markdown_table
from kafkalearn.predictions.marking import asked_in
from kafkalearn.releases import ledger
from tools import claims
from tools.book import instructor, live, progress, reference, search
from tools.book.card import CARD, card
from tools.book.chapter import GLOSSARY, Chapter, navigation, page
from tools.book.front import front_page
from tools.book.live.packages import NotFetched
from tools.book.made import Made, digest
from tools.book.pages import faults
from tools.book.playground import PAGE as PLAYGROUND
from tools.book.playground import playground_page
from tools.book.shell import links_bar
from tools.chapters import NOTEBOOKS, execute, normalise


def write(paths: list[Path], made: Made, made_of: str, *, anew: bool) -> list[str]:
    """Write the book and return what is wrong with it; `made_of` says what the chapters are."""
    made.folder.mkdir(parents=True, exist_ok=True)
    try:
        chapters = [Chapter.read(path) for path in paths]
        notebooks = [with_outputs(each, made, anew=anew) for each in chapters]
        scripts = live.write(made.folder)
    except CellExecutionError as error:
        return [f"a chapter does not run:\n{error}"]
    except NotFetched as error:
        return [str(error)]
    keys = [nbformat.writes(notebook) for notebook in notebooks]
    for at, (chapter, notebook, key) in enumerate(zip(chapters, notebooks, keys, strict=True)):
        links = navigation(chapters, at)
        made.keep(chapter.path.stem, digest(key, links), lambda: chapter_pages(chapter, notebook, links, made))  # noqa: B023
    modules = reference.modules_of(notebooks)
    made.keep("reference", " ".join(modules), lambda: reference.pages(modules))
    made.keep("others", digest(*keys), lambda: other_pages(chapters, notebooks))
    runtime = scripts / "runtime.js"
    headings = digest(*(each.heading for each in chapters))
    script = runtime.read_text(encoding="utf-8")
    made.keep(PLAYGROUND, digest(script, headings), lambda: [(PLAYGROUND, playground_page(script, chapters))])
    made.keep(CARD, "", lambda: [(CARD, card())])
    made.keep(search.INDEX, digest(*keys), lambda: [(search.INDEX, search_index(chapters, modules, made))])
    return made.finish(made_of, faults)


def with_outputs(chapter: Chapter, made: Made, *, anew: bool) -> NotebookNode:
    """The chapter as it is committed; if it has no outputs, or `anew`, as it was run here with the same sources.

    Raises
    ------
    CellExecutionError
        If a cell of it fails.
    """
    notebook = nbformat.read(chapter.path, as_version=4)
    if not anew and all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source):
        return notebook
    runs, stem = made.folder / "runs", chapter.path.stem
    kept = runs / f"{stem}-{digest(made.made_of, chapter.path)[:16]}.ipynb"
    if not kept.exists():
        print(f"running {chapter.path.name}", flush=True)
        notebook = normalise(execute(chapter.path))
        runs.mkdir(exist_ok=True)
        for old in runs.glob(f"{stem}-*.ipynb"):
            old.unlink()
        nbformat.write(notebook, kept)
    return nbformat.read(kept, as_version=4)


def chapter_pages(chapter: Chapter, notebook: NotebookNode, navigation: str, made: Made) -> Iterator[tuple[str, str]]:
    """The page of a chapter, and the one of its notes."""
    html = reference.with_links(page(notebook, chapter, navigation, made.copy), notebook)
    html, shared = live.with_shared_parts(html)
    yield from shared.items()
    yield chapter.page, live.alive(html, chapter.path.stem, notebook)
    if notes := chapter.notes_page:
        written = new_notebook(cells=[new_markdown_cell(instructor.words(chapter.path.stem))])
        notes_chapter = Chapter(chapter.path, f"# {chapter.title}, for the instructor")
        html, _ = live.with_shared_parts(page(written, notes_chapter, navigation, made.copy))
        yield notes, live.with_script(html)


def other_pages(chapters: list[Chapter], notebooks: list[NotebookNode]) -> Iterator[tuple[str, str]]:
    """What stands beside the chapters and is made of their titles."""
    yield "index.html", front_page(chapters, notebooks)
    for stem, words in looked_up(chapters):
        yield f"{stem}.html", words_page(stem, words)
    yield search.PAGE, search.search_page()
    asked = {cell: words for each in notebooks for cell, words in asked_in(each).items()}
    yield from progress.pages(((each.path.stem, each.title, each.page) for each in chapters), asked)


def looked_up(chapters: list[Chapter]) -> Iterator[tuple[str, str]]:
    """The pages in which things are looked up: their names, and their words as Markdown."""
    here = {each.path.name for each in chapters}
    yield claims.PAGE.stem, claims.text(lambda path: path.name if path.name in here else "")
    yield GLOSSARY.stem, GLOSSARY.read_text(encoding="utf-8")
    yield "ledger", _ledger()


def _ledger() -> str:
    """Every rule with what it was checked against, by the part of the package that has it."""
    told = {"name": "rule", "versions": "releases", "source": "source", "checks": "checked against"}
    told |= {"left_out": "left out"}
    rows = ledger.rows(ledger.ledger())
    parts = ["# What holds it", "What each rule was checked against, and what the real thing does and it does not."]
    for part, some in groupby(rows, lambda row: row["function"].split(".")[1]):
        table = markdown_table({words: row[name] for name, words in told.items()} for row in some)
        parts += [f"## kafkalearn.{part}", table]
    return "\n\n".join(parts)


def words_page(stem: str, words: str) -> str:
    """A page of the book from Markdown, with links to the chapters that this book has."""
    written = new_notebook(cells=[new_markdown_cell(words)])
    html, _ = live.with_shared_parts(page(written, Chapter(NOTEBOOKS / f"{stem}.md", words), links_bar()))
    return live.with_script(html)


def search_index(chapters: list[Chapter], modules: list[str], made: Made) -> str:
    """What the search reads: the chapters, their notes, and the reference."""
    pages = [(each.page, each.title) for each in chapters]
    pages += [(each.notes_page, f"{each.title}, for the instructor") for each in chapters if each.notes_page]
    written = ((name, title, made.text(name)) for name, title in pages)
    return search.index_script(written, reference.entries(modules))
