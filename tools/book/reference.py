"""The reference: the docstrings of what the chapters use, as pages, each name linked from the chapters that use it.

pdoc makes a page of each module that a chapter imports from, in the book's folder ``reference``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pdoc.doc
import pdoc.render
from nbformat import NotebookNode

from tools.book.exercises import import_statements
from tools.book.live import with_policy

FOLDER = "reference"
LICENCE = "Made from the docstrings of kafkalearn with pdoc."


def names_used(notebook: NotebookNode) -> dict[str, list[str]]:
    """The names of kafkalearn that a chapter's code imports, by module."""
    used: dict[str, list[str]] = {}
    for statement in import_statements(cell.source for cell in notebook.cells if cell.cell_type == "code"):
        node = ast.parse(statement).body[0]
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kafkalearn":
            listed = used.setdefault(node.module, [])
            listed += [alias.name for alias in node.names if alias.name not in listed]
    return used


def links(used: Mapping[str, Iterable[str]]) -> str:
    """The line at a chapter's end: every name that it uses, with its place in the reference."""
    found = {name: _address(module, name) for module, names in sorted(used.items()) for name in names}
    if not found:
        return ""
    listed = ", ".join(
        f'<a href="{address}"><code>{escape(name)}</code></a>' for name, address in sorted(found.items())
    )
    return f'<aside class="reference" aria-label="Reference"><p>In the reference: {listed}.</p></aside>'


def with_links(html: str, notebook: NotebookNode) -> str:
    """The chapter's page with that line before its end."""
    end = html.rindex("</main>")
    return html[:end] + links(names_used(notebook)) + html[end:]


def modules_of(notebooks: Iterable[NotebookNode]) -> list[str]:
    """The modules that need a page."""
    return sorted({"kafkalearn"}.union(*(_pages_of(names_used(notebook)) for notebook in notebooks)))


def write(book: Path, modules: Iterable[str], sources: str) -> None:
    """The pages and their index; what was made of the same modules and the same `sources`, a digest, stays."""
    modules, folder = list(modules), book / FOLDER
    made_of, stamp = f"{sources} {' '.join(modules)}", folder / ".made-of"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == made_of:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    pdoc.render.configure(docformat="numpy", search=False, footer_text=LICENCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # annotations that only a checker of types imports: they are shown as written
        documented = {name: _documented(name) for name in modules}
        for name, module in documented.items():
            html = with_policy(pdoc.render.html_module(module, documented))
            (folder / f"{name}.html").write_text(html, encoding="utf-8")
        (folder / "index.html").write_text(with_policy(pdoc.render.html_index(documented)), encoding="utf-8")
    stamp.write_text(made_of, encoding="utf-8")


def _documented(name: str) -> pdoc.doc.Module:
    module = import_module(name)
    for public in getattr(module, "__all__", ()):
        vars(module).setdefault(public, getattr(module, public))  # those that are imported at their first use
    return pdoc.doc.Module(module)


def _pages_of(used: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for module, names in used.items():
        yield module
        yield from (f"{module}.{name}" for name in names if _is_module(module, name))


def _address(module: str, name: str) -> str:
    if _is_module(module, name):
        return f"{FOLDER}/{module}.{name}.html"
    return f"{FOLDER}/{module}.html#{name}"


def _is_module(module: str, name: str) -> bool:
    """Whether ``from module import name`` gives a module."""
    found = getattr(import_module(module), name, None)
    return isinstance(found, ModuleType) or (found is None and find_spec(f"{module}.{name}") is not None)
