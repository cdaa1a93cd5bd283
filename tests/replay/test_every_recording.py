"""Every recorded answer in the one form (tests/vectors/README.md), asked of the simulators and rules."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.every import run_every
from tests.recorded import ROOT
from tests.replay.own_form import OWN_FORM
from tests.replay.questions import LACKS, asked_of
from tests.replay.scripts import differences, releases_of
from tests.replay.values import changed, look

FOLDERS = (ROOT / "tests" / "vectors", ROOT / "data")
FORM = "replay"  # under which a file says of each part how it is asked


class Part(NamedTuple):
    """Rows or scripts of one file, and how they are asked."""

    path: Path
    name: str
    spec: Any  # a list of questions, or what plays the scripts

    @property
    def whole(self) -> dict[str, Any]:
        """The file."""
        return read(self.path)

    @property
    def cases(self) -> list[Any]:
        """Its rows or scripts; what is no list is one."""
        found = look(self.whole, self.name)
        return found if isinstance(found, list) else [found]

    def name_of(self, number: int) -> str:
        """A case by its number, and by the name that it has."""
        case = self.cases[number]
        names = [case[name] for name in ("test", "id", "name") if isinstance(case, dict) and name in case]
        return f"{number}: {' '.join(map(str, names))}"

    def __str__(self) -> str:
        """The file and the part."""
        return f"{self.path.stem}: {self.name}"


@cache
def read(path: Path) -> dict[str, Any]:
    """A file's content."""
    return json.loads(path.read_text(encoding="utf-8"))


FILES = sorted(path for folder in FOLDERS for path in folder.glob("*/*.json" if folder.name == "vectors" else "*.json"))
PARTS = [Part(path, name, spec) for path in FILES for name, spec in read(path).get(FORM, {}).items()]
QUESTIONS = [part for part in PARTS if isinstance(part.spec, list)]
SCRIPTS = [part for part in PARTS if not isinstance(part.spec, list)]


def replay(part: Part) -> None:
    """Ask every row of a part, or play every script of it."""
    run_every(part.cases, partial(ask if isinstance(part.spec, list) else play, part), part.name_of)


def ask(part: Part, row: Any) -> None:
    asked = [*asked_of(row, part.spec, part.whole)]
    assert asked, "no question is of this row"
    for each in asked:
        each.compare()


def play(part: Part, case: dict[str, Any]) -> None:
    compared = 0
    for release in releases_of(part.spec, case):
        for found, recorded in differences(part.spec, case, release):
            assert found == recorded, release
            compared += 1
    assert compared, "nothing is expected"


@pytest.mark.parametrize("part", QUESTIONS, ids=str)
def test_every_question_is_answered_as_it_was_recorded(part):
    replay(part)


@pytest.mark.parametrize("part", SCRIPTS, ids=str)
def test_every_script_leads_to_what_was_recorded(part):
    replay(part)


def test_the_examples_of_the_form_are_replayed(tmp_path):
    text = (ROOT / "tests" / "vectors" / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    for number, example in enumerate(examples):
        path = tmp_path / f"{number}.json"
        path.write_text(f"{{{example}}}", encoding="utf-8")
        for name, spec in read(path)[FORM].items():
            replay(Part(path, name, spec))


@pytest.mark.parametrize("part", QUESTIONS, ids=str)
def test_a_question_whose_recorded_answer_is_changed_fails(part):
    asked = next(asked for row in part.cases for asked in asked_of(row, part.spec, part.whole))
    field = "gives" if asked.fails is LACKS else "fails"
    with pytest.raises(AssertionError):
        asked._replace(**{field: changed(getattr(asked, field))}).compare()


@pytest.mark.parametrize("part", SCRIPTS, ids=str)
def test_a_script_whose_last_expectation_is_changed_fails(part):
    case = deepcopy(part.cases[0])
    step = next(each for each in reversed(case["steps"]) if each.get("expect"))
    name = [*step["expect"]][-1]
    step["expect"][name] = changed(step["expect"][name])
    release = releases_of(part.spec, case)[0]
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the comparison raises
        assert all(found == recorded for found, recorded in differences(part.spec, case, release))


def test_every_file_is_in_the_one_form_or_named_with_the_reason():
    named = {name for names in OWN_FORM.values() for name in names}
    in_form = {path.relative_to(ROOT).as_posix() for path in FILES if FORM in read(path)}
    every = {path.relative_to(ROOT).as_posix() for path in FILES}
    folders = tuple(name for name in named if name.endswith("/"))
    assert {each for each in every - in_form if not each.startswith(folders)} == named - {*folders}
