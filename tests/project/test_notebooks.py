"""The committed chapters keep the rules; the rules find what breaks them. Their outputs nbval compares."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.chapters import KERNELSPEC, WIDGET_VIEW, chapter_paths, normalise
from tools.sections import in_sections

# What a committed chapter must be like, beyond running: each rule says what is wrong in one sentence.
UNCOMPARED = {"nbval-ignore-output", "nbval-skip"}
# Folders of whoever ran the notebook. Kafka's own /tmp/kafka-logs is a default that chapters speak of.
MACHINE = re.compile(r"(?:/home/|/Users/|/root/|/tmp/(?!kafka)|/private/var/|\b[A-Z]:\\\\?\w|site-packages)[^\s\"'<]*")
# Dollars around a backslash, or a display: the offline pages cannot set mathematics.
MATHEMATICS = re.compile(r"\$\$|\$[^$\n]*\\[a-z]+[^$\n]*\$|\\\(|\\\[|\\begin\{")


def faults(notebook: NotebookNode) -> list[str]:
    """All that is wrong with a notebook; empty if nothing is."""
    return [*_whole(notebook), *(f"cell {index}: {fault}" for index, fault in _by_cell(notebook))]


def _whole(notebook: NotebookNode) -> Iterator[str]:
    if notebook.metadata.get("kernelspec") != KERNELSPEC:
        yield "its kernel is not plain python3; run make chapters"
    ids = [cell.get("id") for cell in notebook.cells]
    if None in ids or len(set(ids)) < len(ids):
        yield "cells without an id, or with the same one; run make chapters"
    counts = [cell.get("execution_count") for cell in notebook.cells if cell.cell_type == "code"]
    if counts != list(range(1, len(counts) + 1)):
        # nbval compares nothing in a notebook that has not been run, and says nothing either.
        yield f"was not run from top to bottom in a fresh kernel, its cells are numbered {counts}; run make chapters"
    if [_slide(cell) for cell in notebook.cells] != [_slide(cell) for cell in in_sections(notebook).cells]:
        yield "its sections are not cut and marked as slides; write tools.sections.in_sections of it"
    yield from _taken_away(notebook)


# A chapter can be run again from any heading: what a section was given by the cells above it is still there.


def _taken_away(notebook: NotebookNode) -> Iterator[str]:
    """Names that mean something else later: modules, functions; and values that a later section was given."""
    bound: dict[str, tuple[int, str, str]] = {}  # for each name the cell, the section and what bound it
    given: dict[tuple[str, int], str] = {}  # which section read a name of which cell, first
    section = ""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            section = cell.source.splitlines()[0]
        if cell.cell_type != "code":
            continue
        names, read = _names(re.sub(r"^[%!].*$", "", cell.source, flags=re.MULTILINE))
        for name in read - names.keys():
            if name in bound and section != bound[name][1]:
                given.setdefault((name, bound[name][0]), section)
        for name, how in names.items():
            at, _, before = bound.get(name, (index, "", how))
            if how != before:
                yield f"cell {index} makes {name} {how}, which was {before} in cell {at}; choose another name"
            elif before == "a value" and (name, at) in given:
                to = given[name, at]
                yield f"cell {index} changes {name}, which {to!r} was given by cell {at}; choose another name"
            bound[name] = index, section, how


def _names(source: str) -> tuple[dict[str, str], set[str]]:
    """What a cell binds, and how; and what it reads of other cells."""
    table, tree = symtable.symtable(source, "cell", "exec"), ast.parse(source)
    how: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            how |= {(each.asname or each.name).partition(".")[0]: "imported" for each in node.names}
    how |= {node.name: "a function" for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    symbols = table.get_symbols()
    names = {
        each.get_name(): how.get(each.get_name(), "a value")
        for each in symbols
        if each.is_assigned() or each.is_imported()
    }
    read = {each.get_name() for each in symbols if each.is_referenced()}
    inner = list(table.get_children())
    while inner:
        scope = inner.pop()
        read |= {each.get_name() for each in scope.get_symbols() if each.is_global() and each.is_referenced()}
        inner += scope.get_children()
    return names, read


def _slide(cell: NotebookNode) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def _by_cell(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    for index, cell in enumerate(notebook.cells):
        rules = _code if cell.cell_type == "code" else _prose
        yield from ((index, fault) for fault in rules(cell))


def _prose(cell: NotebookNode) -> Iterator[str]:
    if found := MATHEMATICS.search(cell.source):
        yield f"has mathematics ({found.group()}), which shows only with a network; write it as text"


def _code(cell: NotebookNode) -> Iterator[str]:
    tags = set(cell.metadata.get("tags", []))
    if not cell.source.strip():
        yield "is empty"
    if tags & UNCOMPARED and "shows-time" not in tags:
        yield f"is not compared ({', '.join(sorted(tags & UNCOMPARED))}) and is not tagged shows-time"
    for output in cell.outputs:
        if output.output_type == "error" and "raises-exception" not in tags:
            yield f"ends in {output.ename} and is not tagged raises-exception"
        if found := MACHINE.search(_text(output)):
            yield f"shows a folder of one machine: {found.group()}"


def _text(output: NotebookNode) -> str:
    """All that an output says in letters; pictures in base64 say nothing."""
    data = [value for kind, value in output.get("data", {}).items() if kind.startswith(("text/", "image/svg"))]
    parts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", []), *data]
    return "\n".join("".join(part) for part in parts)


def test_every_chapter_keeps_the_rules():
    # The reader of the format itself: nbformat.read would repair ids.
    found = {path.name: faults(nbformat.v4.reads(path.read_text(encoding="utf-8"))) for path in chapter_paths()}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def printed(text, **cell):
    return new_code_cell("f()", execution_count=1, outputs=[new_output("stream", text=text)], **cell)


def notebook(*cells):
    return new_notebook(cells=list(cells), metadata={"kernelspec": KERNELSPEC})


def cells_of(*sources):
    """Headings and code, run from top to bottom."""
    texts = [each for each in sources if each.startswith("#")]
    made = [new_markdown_cell(each) if each in texts else new_code_cell(each) for each in sources]
    for number, cell in enumerate([each for each in made if each.cell_type == "code"], 1):
        cell.execution_count = number
    for cell in made:
        if cell.cell_type == "markdown":
            cell.metadata = {"slideshow": {"slide_type": "subslide" if cell.source.startswith("###") else "slide"}}
    return made


def tagged(*tags):
    return {"tags": list(tags)}


def with_one_id(notebook):
    for cell in notebook.cells:  # new_notebook would repair it
        cell.id = "x"
    return notebook


ERROR = new_output("error", ename="KafkaLearnError", evalue="got 0", traceback=["KafkaLearnError: got 0"])
ALLOWED = {
    "prose and code": notebook(new_markdown_cell("It costs $5 or $6."), printed("12\n")),
    "an error on purpose": notebook(
        new_code_cell("f()", execution_count=1, outputs=[ERROR], metadata=tagged("raises-exception"))
    ),
    "a time, not compared": notebook(printed("3.1 s\n", metadata=tagged("nbval-ignore-output", "shows-time"))),
    "a folder of Kafka's": notebook(printed("log.dirs=/tmp/kafka-logs\n")),
    "a name again, in its own section": notebook(*cells_of("x = 1", "## 2 Two", "x = 2", "x")),
}
FORBIDDEN = {
    "never run": (notebook(new_code_cell("f()")), "numbered [None]"),
    "run in another order": (notebook(new_code_cell("f()", execution_count=2)), "numbered [2]"),
    "an error": (notebook(new_code_cell("f()", execution_count=1, outputs=[ERROR])), "ends in KafkaLearnError"),
    "output ignored": (notebook(printed("", metadata=tagged("nbval-ignore-output"))), "is not compared"),
    "a cell skipped": (notebook(printed("", metadata=tagged("nbval-skip"))), "is not compared"),
    "an empty cell": (notebook(new_code_cell("", execution_count=1)), "is empty"),
    "a home": (notebook(printed("read /home/ann/orders.parquet")), "/home/ann/orders.parquet"),
    "a Windows home": (notebook(printed(r"read C:\Users\ann")), r"C:\U"),
    "a module is gone": (
        notebook(*cells_of("import json", "json", "json = 1")),
        "makes json a value, which was imported",
    ),
    "a function is gone": (notebook(*cells_of("def f(): ...", "f = 1")), "makes f a value, which was a function"),
    "a value is gone": (
        notebook(*cells_of("x = 1", "## 2 Two", "x + 1", "x = 2")),
        "changes x, which '## 2 Two' was given",
    ),
    "a function reads it": (
        notebook(*cells_of("x = 1", "## 2", "def f():\n    return x", "x = 2")),
        "changes x, which '## 2'",
    ),
    "mathematics": (notebook(new_markdown_cell(r"so $\chi^2$ is small")), r"$\chi^2$"),
    "another kernel": (new_notebook(metadata={"kernelspec": KERNELSPEC | {"name": "my-env"}}), "not plain python3"),
    "twice the same id": (with_one_id(notebook(new_markdown_cell("a"), new_markdown_cell("b"))), "the same one"),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_the_rules_allow(name):
    assert faults(ALLOWED[name]) == []


@pytest.mark.parametrize("name", FORBIDDEN)
def test_the_rules_find(name):
    broken, expected = FORBIDDEN[name]

    assert len(faults(broken)) == 1
    assert expected in faults(broken)[0]


def test_normalising_keeps_what_is_said_and_drops_what_changes_by_itself():
    picture = new_output("display_data", data={"text/html": "<svg/>", "text/plain": "Player", WIDGET_VIEW: {"id": 1}})
    prepared = new_output("stream", name="stderr", text="kafkalearn: preparing Kafka 4.4.0, once on this machine")
    cell = new_code_cell("f()", execution_count=1, outputs=[prepared, picture])
    cell.metadata = {"tags": ["x"], "execution": {"shell.execute_reply": "12:00"}}
    language = {"name": "python", "version": "3.12.1"}
    raw = new_notebook(cells=[cell], metadata={"widgets": {"state": 1}, "language_info": language})

    done = normalise(raw)

    assert done.metadata == {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    assert done.cells[0].metadata == {"tags": ["x"]}
    assert done.cells[0].outputs[0].data == {"text/html": "<svg/>", "text/plain": "Player"}
    assert nbformat.writes(normalise(done)) == nbformat.writes(done)


# Each heading begins a cell and a slide, and no word is lost.
TEXT = "Told.\n\n## 2 Next\n\nMore.\n\n### Below\n\n**Predict:** what?"


def test_a_heading_inside_a_cell_begins_one_and_a_slide():
    cut = in_sections(new_notebook(cells=[new_markdown_cell(TEXT, id="a"), new_code_cell("1", id="b")]))

    shown = [
        (cell.id, cell.source.split("\n")[0], cell.metadata.get("slideshow", {}).get("slide_type"))
        for cell in cut.cells
    ]
    assert shown == [
        ("a", "Told.", None),
        ("a-2", "## 2 Next", "slide"),
        ("a-3", "### Below", "subslide"),
        ("b", "1", None),
    ]


@pytest.mark.parametrize("source", ["```\n# no heading\n```\n\n# Heading", "<details>\n\n# Notes\n\n</details>"])
def test_what_may_be_no_heading_is_not_cut(source):
    assert [cell.source for cell in in_sections(new_notebook(cells=[new_markdown_cell(source)])).cells] == [source]


@pytest.mark.parametrize("path", chapter_paths(), ids=lambda path: path.stem)
def test_a_chapter_keeps_every_word_and_every_cell_its_own_id(path):
    notebook = nbformat.read(path, as_version=4)
    before = nbformat.writes(notebook)
    cut = in_sections(notebook)

    assert "".join("".join(cell.source.split()) for cell in cut.cells) == "".join(
        "".join(cell.source.split()) for cell in notebook.cells
    )
    assert len({cell.id for cell in cut.cells}) == len(cut.cells)
    assert nbformat.writes(notebook) == before
    assert nbformat.writes(in_sections(cut)) == nbformat.writes(cut)
    nbformat.validate(cut)
