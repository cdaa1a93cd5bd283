"""Types: the checker finds nothing, a step says its state and its events, no public signature of the core says Any."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import get_args, get_type_hints

import pytest

import kafkalearn
from tests.contract.test_contract import SIMULATORS
from tests.every import every_case
from tests.project.modules import MODULES, part_of, tree_of
from tools.environment import ROOT

MAY_BE_ANYTHING = {
    ("kafkalearn.base.checks", "NOT_GIVEN"): "it stands in place of a value, of whatever type the field is",
    ("kafkalearn.groups.search", "Members.group"): "the rules of the two protocols share no attributes",
    ("kafkalearn.oncall.logs.patterns", "event_from"): "a field is text, a number or several, as its pattern says",
    ("kafkalearn.sharing.history", "History"): "a recorded history is JSON",
    ("kafkalearn.sharing.history", "Replay.play"): "a request of a recorded history, and its answer, are JSON",
    ("kafkalearn.sharing.history", "Replay.logs"): "as the recording has them",
    ("kafkalearn.sharing.history", "replay"): "as the recording has it",
    ("kafkalearn.transactions.history", "History"): "a recorded history is JSON",
    ("kafkalearn.transactions.history", "Replay.play"): "a request of a recorded history, and its answer, are JSON",
    ("kafkalearn.transactions.history", "Replay.logs"): "as the recording has them",
    ("kafkalearn.transactions.history", "replay"): "as the recording has it",
    ("kafkalearn.transactions.history", "observed"): "as the recording has it",
    ("kafkalearn.transactions.history_fields", "StepFields.__getitem__"): "a field of a recorded history is JSON",
    ("kafkalearn.transactions.history_fields", "StepFields.get"): "a field of a recorded history is JSON",
    ("kafkalearn.transactions.history_fields", "checked"): "a recorded history is JSON",
    ("kafkalearn.transactions.history_fields", "first_marker_epochs"): "a step of a recorded history is JSON",
}
"""Any in a public name of the core, as (module, name) -> the reason."""

CORE = [module for module in MODULES if part_of(module) == "core"]


def test_the_checker_has_nothing_to_say():
    pyrefly = [sys.executable, "-m", "pyrefly", "check", "--output-format=min-text", "--summary=none"]
    here = ["--python-interpreter-path", sys.executable]
    found = subprocess.run([*pyrefly, *here], cwd=ROOT, capture_output=True, text=True)

    if found.returncode:
        pytest.fail(found.stdout + found.stderr, pytrace=False)


def test_who_installs_the_package_gets_its_types():
    assert (ROOT / "kafkalearn" / "py.typed").is_file()


def test_the_checker_knows_every_helper_that_the_package_loads_at_its_first_use():
    (told,) = [node for node in tree_of("kafkalearn").body if isinstance(node, ast.If)]
    names = {(node.module, each.asname) for node in told.body for each in node.names}

    assert {name for _, name in names} == {*kafkalearn.__all__} - {"__version__"}
    assert all(getattr(import_module(module), name) is getattr(kafkalearn, name) for module, name in names)


@every_case("name", SIMULATORS)
def test_a_step_says_its_settings_its_state_and_its_events(name):
    simulator = SIMULATORS[name]
    settings, state, event, after = get_type_hints(simulator.part("step")).values()
    events = get_args(event) or (event,)

    assert settings is simulator.part("Settings")
    assert after is state is get_type_hints(simulator.part("start"))["return"]
    assert isinstance(state, type)
    assert object not in (state, *events)
    assert all(isinstance(each, events) for one in simulator.runs for each in one.events)


def mentioned(annotation: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def signatures(nodes: list[ast.stmt], within: str = "") -> Iterator[tuple[str, set[str]]]:
    """Every public function, field and alias, with the names that its annotations, or its value, mention."""
    for node in nodes:
        if isinstance(node, ast.If):  # what is there for the checker alone
            yield from signatures(node.body, within)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from signatures(node.body, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name.endswith("__")):
            given = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            annotations = [*(each.annotation for each in given), node.returns]
            yield f"{within}{node.name}", set().union(*(mentioned(each) for each in annotations if each is not None))
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            name = targets[0].id if isinstance(targets[0], ast.Name) else "_"
            said = mentioned(node.annotation) if isinstance(node, ast.AnnAssign) else set()
            if node.value is not None and (not said or "TypeAlias" in said):
                said |= mentioned(node.value)
            if not name.startswith("_"):
                yield f"{within}{name}", said


@every_case("module", CORE)
def test_no_public_signature_of_the_core_says_any(module):
    found = {name for name, said in signatures(tree_of(module).body) if "Any" in said}

    assert found == {name for excused, name in MAY_BE_ANYTHING if excused == module}


# The whole repository, chapters included, as ruff wants it.


@pytest.mark.parametrize("words", [["check", "--output-format=concise"], ["format", "--check"]], ids=lambda all: all[0])
def test_ruff_has_nothing_to_say(words):
    ruff = [sys.executable, "-m", "ruff", *words, "--quiet", "--no-cache", "."]
    found = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True)

    if found.returncode:
        pytest.fail(found.stdout + found.stderr, pytrace=False)
