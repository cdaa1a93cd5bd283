"""docs/command.md: every command on it is run, and prints what stands there.

To accept what the code says now: KAFKALEARN_WRITE_GOLDEN=1 python -m pytest tests/command, then look at the diff.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.command.examples import OWN, asked

PAGE = Path(__file__).parents[2] / "docs" / "command.md"
BLOCK = re.compile(r"(?<=```console\n)\$ kafkalearn (.*)\n([\s\S]*?)\n(?=```)")


@pytest.fixture(autouse=True)
def in_the_folder_of_the_files(monkeypatch):
    monkeypatch.chdir(OWN)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("line", [match[1] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))])
def test_a_command_prints_what_the_page_says(line):
    page = PAGE.read_text(encoding="utf-8")
    said = asked(shlex.split(line))[1].rstrip("\n")
    (block,) = [match for match in BLOCK.finditer(page) if match[1] == line]
    if os.environ.get("KAFKALEARN_WRITE_GOLDEN"):
        page = f"{page[: block.start(2)]}{said}{page[block.end(2) :]}"
        PAGE.write_text(page, encoding="utf-8", newline="\n")

    assert next(match[2] for match in BLOCK.finditer(page) if match[1] == line) == said


def test_the_functions_of_the_page_answer_as_it_says():
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)

    assert found.attempted > 5
    assert found.failed == 0


def test_every_question_is_on_the_page():
    asked_for = {match[1].split()[0] for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}

    assert asked_for == {"where", "why", "xray", "upgrade", "safe"}
