"""The code cells of a chapter in its page: run one by one, in one namespace that lasts as long as the page.

A cell that imports what no page has, or needs what such a cell makes, is not run: its recorded output stays, and the
page says what it would need. All other cells run as they are, or as the reader has changed them.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.page import controls, widgets
from kafkalearn.page.display import Outputs
from kafkalearn.page.faults import fault
from kafkalearn.page.imports import import_into, needed_for
from kafkalearn.page.names import cells_before, names_of
from kafkalearn.phrases import listed

_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(slots=True)
class Chapter:
    """An open chapter: its cells by id as they stand in the book, and what has been made since."""

    sources: dict[str, str]
    namespace: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})
    lacking: dict[str, frozenset[str]] = field(default_factory=dict)  # what each name needs that is not there


_chapters: dict[str, Chapter] = {}


def open_chapter(payload: Mapping[str, object]) -> list[str]:
    """Begin a page anew, without values: ``{page, cells: [{id, source}]}``; the names of its values, none yet."""
    widgets.stand_in()
    sources = {cell["id"]: cell["source"] for cell in payload["cells"]}
    _chapters[payload["page"]] = Chapter(sources)
    controls.forget(payload["page"])
    return []


def run(payload: Mapping[str, object]) -> dict[str, object]:
    """Run a cell: ``{page, cell, source}``.

    Returns
    -------
    dict
        ``outputs``, as `kafkalearn.page.display.Outputs` has them, an error as the last of them; ``needs``, what the
        cell would need that no page has, or the empty text; then it was not run.
    """
    chapter, page, cell, source = _chapter(payload), payload["page"], payload["cell"], payload["source"]
    names = names_of(source)
    file = f"<cell {cell}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    outputs = Outputs(controls.shown_on(page, cell))
    chapter.namespace["display"] = outputs.show
    try:
        imports, rest, last = _in_parts(source, file)
        _import_all(chapter, imports, file)
        wanted = names.needed | (_imported(imports) & names.read)
        if needs := frozenset().union(*(chapter.lacking.get(name, ()) for name in wanted)):
            _set_down(chapter, names.made, needs)
            return {"outputs": [], "needs": listed(sorted(needs))}
        for name in names.made - _imported(imports):
            chapter.lacking.pop(name, None)
        with redirect_stdout(outputs), redirect_stderr(outputs):
            exec(rest, chapter.namespace)
            value = eval(last, chapter.namespace) if last else None
            if value is not None:
                outputs.show(value)
    except Exception as error:
        if needs := _hidden_need(error):
            _set_down(chapter, names.made, frozenset({needs}))
            return {"outputs": [], "needs": needs}
        outputs.parts.append({"error": fault(error, file, _makers(chapter, cell))})
        return {"outputs": outputs.parts, "needs": ""}
    except SystemExit:
        pass
    return {"outputs": outputs.parts, "needs": ""}


def before(payload: Mapping[str, object]) -> list[str]:
    """The cells that one stands on, in the order to run them: ``{page, cell, sources: {id: source}}``."""
    sources = _chapter(payload).sources | payload.get("sources", {})
    ids = list(sources)
    one_of("cell", payload["cell"], ids)
    return [ids[at] for at in cells_before(list(sources.values()), ids.index(payload["cell"]))]


def _chapter(payload: Mapping[str, object]) -> Chapter:
    if payload["page"] not in _chapters:
        raise KafkaLearnError(f"page {payload['page']!r} is not open: ask cells.open first")
    return _chapters[payload["page"]]


def _in_parts(source: str, file: str) -> tuple[list[ast.stmt], object, object]:
    """A cell's imports, the rest as code, and its last line as code if that is a value to show."""
    tree = ast.parse(source, file)
    imports = [node for node in tree.body if isinstance(node, _IMPORTS) and getattr(node, "module", "") != "__future__"]
    body = [node for node in tree.body if node not in imports]
    last = None
    if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = compile(ast.Expression(body.pop().value), file, "eval")
    return imports, compile(ast.Module(body, []), file, "exec"), last


def _import_all(chapter: Chapter, imports: list[ast.stmt], file: str) -> None:
    """Import what can be had, and set down the rest."""
    for node in imports:
        lacking = import_into(chapter.namespace, node, file)
        for name in lacking:
            chapter.namespace.pop(name, None)
        chapter.lacking |= {name: frozenset({need}) for name, need in lacking.items()}


def _imported(imports: list[ast.stmt]) -> set[str]:
    return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}


def _set_down(chapter: Chapter, made: frozenset[str], needs: frozenset[str]) -> None:
    """The cell is not run, so what it makes is not there, nor what an older cell made under these names."""
    for name in made:
        if name not in chapter.lacking:
            chapter.namespace.pop(name, None)
            chapter.lacking[name] = needs


def _hidden_need(error: Exception) -> str:
    """What a cell turned out to need while it ran, or the empty text."""
    if isinstance(error, ImportError):
        return needed_for(error) or ""
    if isinstance(error, AttributeError) and type(error.obj).__name__ == "PlainTable":
        return "pandas"  # the table is there, but without the methods of a DataFrame
    return ""


def _makers(chapter: Chapter, cell: str) -> dict[str, str]:
    """For names that are not there: which part of the chapter makes them."""
    made = {}
    for other, source in chapter.sources.items():
        for name in names_of(source).made:
            made.setdefault(name, f"{name} is made by a cell above that has not been run yet: press Run to here")
        if other == cell:
            break
    lacking = {name: listed(sorted(needs)) for name, needs in chapter.lacking.items()}
    return made | {name: f"{name} needs {needs}, which a page does not have" for name, needs in lacking.items()}


ANSWERS = {"open": open_chapter, "run": run, "before": before}
