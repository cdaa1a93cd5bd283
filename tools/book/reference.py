"""The reference: the docstrings of what the chapters use, as pages, each name linked from the chapters that use it.

pdoc makes a page of each module that a chapter imports from, in the book's folder ``reference``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from html import escape, unescape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from posixpath import dirname, join, normpath
from types import ModuleType
from urllib.parse import unquote

import pdoc.doc
import pdoc.render
from nbformat import NotebookNode

from tools.book.exercises import import_statements
from tools.book.face import face
from tools.book.live import with_policy, with_script

FOLDER = "reference"
SHEET = "reference.css"
STYLE = Path(__file__).with_name("reference.css")
WAY_BACK = (
    '<p class="way-back"><a href="../index.html">All chapters</a> <a href="index.html">Reference</a> '
    '<a href="../search.html">Search</a></p>'
)
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


def pages(modules: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name and text of the page of each module, of their index, and of the one sheet with their style."""
    pdoc.render.configure(docformat="numpy", search=False, footer_text=LICENCE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # annotations that only a checker of types imports: they are shown as written
        documented = {name: _documented(name) for name in modules}
        rendered = {name: pdoc.render.html_module(module, documented) for name, module in documented.items()}
        anchors = {name: {unescape(each) for each in _ID.findall(html)} for name, html in rendered.items()}
        sheet = ""
        for name, whole in rendered.items():
            html, sheet = _with_its_sheet_apart(whole)
            yield f"{FOLDER}/{name}.html", _in_the_book(with_flat_links(html, name, anchors))
        yield f"{FOLDER}/index.html", _in_the_book(_linked(pdoc.render.html_index(documented)))
        yield f"{FOLDER}/{SHEET}", f"{sheet}{face()}{STYLE.read_text(encoding='utf-8')}"


def entries(modules: Iterable[str]) -> Iterator[tuple[str, str, str, str, str]]:
    """For the search, of each module and each name in it: file, title, anchor, heading, the docstring's text."""
    for name in modules:
        module, file = _documented(name), f"{FOLDER}/{name}.html"
        yield file, "Reference", "", name, module.docstring
        for member in module.own_members:
            if not member.name.startswith("_") and member.docstring:
                yield file, f"Reference, {name}", member.qualname, member.name, member.docstring


_ID = re.compile(r'\bid="([^"]+)"')
_LINK = re.compile(r'<a\b([^>]*?) href="(?!\w+:)([^"#]*)(#[^"]*)?"([^>]*)>(.*?)</a>', re.DOTALL)


def with_flat_links(html: str, module: str, anchors: Mapping[str, Collection[str]]) -> str:
    """The page of a module, its links as the book has its pages: all of them beside each other.

    pdoc writes links for a folder of each package. Where a page has no such name the link is to the whole page;
    where there is no page the words stay without a link.

    Parameters
    ----------
    html : str
        What pdoc has made.
    module : str
        Whose page it is.
    anchors : mapping of str to collection of str
        The names on the page of each module that has one.

    >>> pages = {"house.door": {"Key"}, "house.roof": set()}
    >>> print(with_flat_links('<a href="roof.html#Tile">Tile</a>, <a href="../house/cellar.html">a cellar</a>',
    ...                       "house.door", pages))
    <a href="house.roof.html">Tile</a>, a cellar
    """

    def flat(found: re.Match[str]) -> str:
        before, path, anchor, after, words = found.groups(default="")
        other = normpath(join(dirname(module.replace(".", "/")), unquote(path))) if path else module
        other = other.removesuffix(".html").replace("/", ".")
        if other not in anchors:
            return words
        anchor = anchor if unquote(unescape(anchor[1:])) in anchors[other] else ""
        address = f"{other}.html" if other != module or not anchor else ""
        return f'<a{before} href="{address}{anchor}"{after}>{words}</a>'

    return _LINK.sub(flat, html)


def _in_the_book(html: str) -> str:
    """A page of pdoc's with our style, the way back, and the script that lets Python stay."""
    main = re.search(r"<main[^>]*>", html)
    if main is None:  # an index that leads on
        return with_policy(html)
    html = _by_keys(f"{html[: main.end()]}{WAY_BACK}{html[main.end() :]}")
    return with_script(html, "../")


_SHEETS = re.compile(r"<style>(.*?)</style>\s*", re.DOTALL)


def _with_its_sheet_apart(html: str) -> tuple[str, str]:
    """A page of pdoc's with a link where its style was, and that style: the same 20 kB in each page."""
    return _linked(_SHEETS.sub("", html)), "".join(_SHEETS.findall(html))


def _linked(html: str) -> str:
    return html.replace("</head>", f'<link rel="stylesheet" href="{SHEET}">\n</head>', 1)


# Numbers of lines are left out: a third of a page of code, and nobody is sent to one. Names, brackets, blanks,
# operators, numbers, texts: `reference.css` leaves code one colour, and these are neither bold nor italic. Each mark of
# them would be a tenth of the page and change nothing.
_PLAIN = re.compile(
    r'<span class="(?:[npwoms]|m[bfhio]|s[abchrsx12]|n[abdflov]|v[cgim]|k[pt]|g[dirot]|bp|cp|fm|il|dl)">([^<]*)</span>'
)
_SWITCH = re.compile(r'(<input id="([^"]+)"[^>]*?) aria-hidden="true" tabindex="-1">')  # opens what its label names
_LINE_NUMBER = re.compile(r'<span id="[^"]+"><a href="#[^"]+"><span class="linenos">[^<]*</span></a>')


def _by_keys(html: str) -> str:
    """What scrolls or opens can be reached by keys, and what shows no words of its own has some."""
    html = re.sub(r"<(/?)h[3-6]\b", r"<\1h2", html)  # below the one h1 there is one kind of heading
    html = _PLAIN.sub(r"\1", _LINE_NUMBER.sub("<span>", html))
    html = re.sub(
        r"<pre>|<div class=\"attr (?:function|class|variable)\">", lambda found: f'{found[0][:-1]} tabindex="0">', html
    )
    html = _SWITCH.sub(lambda found: f'{found[1]} aria-label="{_what_it_opens(found[2])}">', html)
    return re.sub(
        r'<a class="headerlink" href="#([^"]+)">', r'<a class="headerlink" href="#\1" aria-label="link to \1">', html
    )


def _what_it_opens(switch: str) -> str:
    name, _, part = switch.removeprefix("mod-").partition("-view-")
    return {"source": f"View Source of {name}", "value": f"Value of {name}", "": "Names on this page"}[part]


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
