"""In a real kernel: what never ends gets a sentence and the kernel lives; what was written in a cell is kept as "
"text."""

import json

import pytest
from jupyter_client.manager import start_new_kernel

from kafkalearn.exercises.progress.judging import outcome_of
from kafkalearn.exercises.progress.record import BESIDE_COPIES, FILE_NAME
from tests.exercises.progress.test_grades import run_here


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies")
    (folder / BESIDE_COPIES).write_text("{}", encoding="utf-8")
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))
    client.folder = folder
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def said_by(kernel, cell):
    """The text of a cell's result, and all that it has printed."""
    texts, printed = [], []

    def heard(message):
        content = message["content"]
        match message["msg_type"]:
            case "execute_result":
                texts.append(content["data"])
            case "stream":
                printed.append(content["text"])
            case "error":
                texts.append({"text/plain": content["ename"]})

    kernel.execute_interactive(cell, output_hook=heard, timeout=600)
    return (texts or [{}])[-1], "".join(printed)


def test_a_function_that_never_ends(kernel):
    said, _ = said_by(
        kernel,
        "from kafkalearn.exercises import chapter00 as exercises\n"
        "def leader_of(partition, brokers):\n"
        "    while True:\n"
        "        try:\n"
        "            partition += 1\n"
        "        except:\n"
        "            pass\n"
        "exercises.leader_of.check(leader_of)",
    )

    assert said["text/plain"] == (
        "This cannot be checked. For partition=0, brokers=[7] it was stopped after 3,000,000 lines of Python: a loop "
        "in it may never end."
    )
    assert said_by(kernel, "1 + 1")[0] == {"text/plain": "2"}


def test_a_function_that_prints_without_end(kernel):
    said, printed = said_by(
        kernel,
        "def leader_of(partition, brokers):\n"
        "    while True:\n"
        "        print('all work and no play')\n"
        "exercises.leader_of.check(leader_of)",
    )

    assert "it was stopped after it had printed 100,000 characters" in said["text/plain"]
    assert len(printed) == 100_000
    assert said_by(kernel, "print('still here')")[1] == "still here\n"


def test_a_function_of_a_cell_is_kept_with_what_it_uses(kernel):
    said_by(
        kernel,
        "from math import fmod\nSTEP = 1\ndef turn(partition, count):\n    return int(fmod(partition, count)) * STEP",
    )
    said, _ = said_by(
        kernel,
        "def leader_of(partition, brokers):\n"
        "    return brokers[turn(partition, len(brokers))]\n"
        "exercises.leader_of.check(leader_of)",
    )
    assert said["text/plain"].startswith("Right.")

    kept = json.loads((kernel.folder / FILE_NAME).read_text(encoding="utf-8"))["exercises"]["00.leader_of"]
    assert (kept["outcome"], kept["tries"]) == ("right", 1)  # what never ended could not be checked: no try
    assert outcome_of("00.leader_of", kept["answer"], run_here) == "right"


def test_markup_in_an_answer_is_text_in_each_form(kernel):
    said, _ = said_by(
        kernel,
        "class Evil:\n"
        "    def __repr__(self):\n"
        "        return '<img src=x onerror=alert(1)> $x$ *y*'\n"
        "exercises.predict_coordinator.check(Evil())",
    )

    assert "<img src=x onerror=alert(1)> $x$ *y* is an Evil" in said["text/plain"]
    assert "`<img src=x onerror=alert(1)> $x$ *y*` is an Evil" in said["text/markdown"]
    assert "<code>&lt;img src=x onerror=alert(1)&gt; $x$ *y*</code> is an Evil" in said["text/html"]


@pytest.mark.parametrize("body", ["raise SystemExit", "import sys; sys.exit('bye')"])
def test_a_function_that_ends_the_program(kernel, body):
    said, _ = said_by(kernel, f"def leader_of(partition, brokers):\n    {body}\nexercises.leader_of.check(leader_of)")

    assert said["text/plain"].startswith("This cannot be checked. For partition=0, brokers=[7] it ")
    assert said_by(kernel, "1 + 1")[0] == {"text/plain": "2"}
