"""The committed chapters keep the rules; the rules find what breaks them. Their outputs nbval compares."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.project.notebook_rules import faults
from tools.chapters import KERNELSPEC, WIDGET_VIEW, chapter_paths, normalise


def test_every_chapter_keeps_the_rules():
    # The reader of the format itself: nbformat.read would repair ids.
    found = {path.name: faults(nbformat.v4.reads(path.read_text(encoding="utf-8"))) for path in chapter_paths()}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def printed(text, **cell):
    return new_code_cell("f()", execution_count=1, outputs=[new_output("stream", text=text)], **cell)


def notebook(*cells):
    return new_notebook(cells=list(cells), metadata={"kernelspec": KERNELSPEC})


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
    "fifteen lines": notebook(new_code_cell("f()\n" * 15, execution_count=1)),
}
FORBIDDEN = {
    "never run": (notebook(new_code_cell("f()")), "numbered [None]"),
    "run in another order": (notebook(new_code_cell("f()", execution_count=2)), "numbered [2]"),
    "an error": (notebook(new_code_cell("f()", execution_count=1, outputs=[ERROR])), "ends in KafkaLearnError"),
    "output ignored": (notebook(printed("", metadata=tagged("nbval-ignore-output"))), "is not compared"),
    "a cell skipped": (notebook(printed("", metadata=tagged("nbval-skip"))), "is not compared"),
    "sixteen lines": (notebook(new_code_cell("f()\n" * 16, execution_count=1)), "has 16 lines"),
    "an empty cell": (notebook(new_code_cell("", execution_count=1)), "is empty"),
    "a home": (notebook(printed("read /home/ann/orders.parquet")), "/home/ann/orders.parquet"),
    "a Windows home": (notebook(printed(r"read C:\Users\ann")), r"C:\U"),
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
    cell = new_code_cell("f()", execution_count=1, outputs=[picture])
    cell.metadata = {"tags": ["x"], "execution": {"shell.execute_reply": "12:00"}}
    language = {"name": "python", "version": "3.12.1"}
    raw = new_notebook(cells=[cell], metadata={"widgets": {"state": 1}, "language_info": language})

    done = normalise(raw)

    assert done.metadata == {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    assert done.cells[0].metadata == {"tags": ["x"]}
    assert done.cells[0].outputs[0].data == {"text/html": "<svg/>", "text/plain": "Player"}
    assert nbformat.writes(normalise(done)) == nbformat.writes(done)
