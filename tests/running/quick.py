"""A pytest plugin: what `make quick` leaves to `make test`, by kind, and how few examples of each law it tries."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tools.environment import ROOT

LEFT_OUT = {
    "what needs Spark, a browser or a real Kafka, and what lies beside it": (
        "kafkalearn/spark",
        "tests/browser",
        "tests/live",
        "tests/spark",
    ),
    "the book: its pages, and every exercise once more through a page's entry point": ("tests/book",),
    "the examples of README": ("README.md",),
    "odd input by the thousand": (
        "tests/fuzz",
        "tests/formats/test_census.py",
        "tests/formats/test_compression.py",
        "tests/formats/test_segments.py",
        "tests/oncall/test_mutated.py",
        "tests/drawing/test_every_run.py::test_names_are_words_in_every_picture_caption_and_player",
        "tests/drawing/test_every_run.py::test_whatever_happens_can_be_drawn_and_said",
    ),
    "every exercise with each answer that it knows": (
        "tests/exercises/test_chapters.py",
        "tests/exercises/test_every_exercise.py",
        "tests/exercises/test_in_notebooks.py",
    ),
    "pictures and films by the hundred": (
        "tests/drawing/test_delivery.py::test_pictures_of_three_brokers_and_of_the_whole_matrix_fit_a_small_window",
        "tests/drawing/test_saving.py",
    ),
    "what is read from all releases at once": ("tests/releases/test_settings.py",),
    "causes in hundreds of recorded logs": ("tests/oncall/test_causes.py",),
    "what starts other processes: the set-up, a kernel, a server, a judge of answers, the wheel": (
        "tests/benchmarks",
        "tests/exercises/progress/test_grades.py",
        "tests/exercises/progress/test_sandbox.py",
        "tests/exercises/build/test_hand_in.py",
        "tests/exercises/test_in_a_kernel.py",
        "tests/oncall/test_command.py::test_a_pipe_that_is_closed_early_is_no_error",
        "tests/oncall/test_agents.py::test_every_tool_answers_as_the_command_does",
        "tests/lab",
        "tests/project/test_book.py",
        "tests/project/test_launcher_java.py",
        "tests/project/test_nothing_skipped.py",
        "tests/project/test_packaging.py",
        "tests/project/test_setup.py",
        "tests/project/test_setup_faults.py",
    ),
    "searches through every schedule": (
        "kafkalearn/scenarios/finder.py",
        "kafkalearn/operations/coordinator_life/search.py",
        "kafkalearn/operations/loading_search.py",
        "kafkalearn/replication/search.py",
        "kafkalearn/groups/search.py",
        "kafkalearn/transactions/search.py",
        "tests/oncall/test_defects.py",
        "tests/oncall/test_safe.py",
        "tests/oncall/test_settings_files.py::test_settings_of_spring_are_read_where_spring_writes_them",
        "tests/commits/test_sweep.py",
        "tests/delivery/test_matrix.py",
        "tests/delivery/test_search.py",
        "tests/scenarios/test_finder.py",
        "tests/scenarios/test_durations.py",
        "tests/operations/test_loading.py",
        "tests/replication/test_liveness.py",
        "tests/groups/test_search.py",
        "tests/transactions/test_client.py",
        "tests/transactions/test_processing.py::test_two_records_and_aborts_keep_both_promises_as_far_as_is_looked",
        "tests/replication/test_elections.py",
        "tests/replication/test_search.py",
        "tests/zookeeper/test_search.py",
    ),
}
"""For each kind of what takes long the folders, files and single tests that have it."""

EXAMPLES = 10
"""Of each law, where `make test` tries a hundred or what its test says."""

_NAMES = [name for names in LEFT_OUT.values() for name in names]
_PATHS = tuple(f"{ROOT / name}{os.sep}" for name in _NAMES if "::" not in name)
_TESTS = {name for name in _NAMES if "::" in name}


def is_left_out(path: Path) -> bool:
    """Whether `make quick` does not even read this file."""
    return f"{path}{os.sep}".startswith(_PATHS)


def tried_with_few_examples(test: object) -> None:
    """Let a test of Hypothesis that says how many examples it tries be content with fewer, too."""
    own = getattr(test, "_hypothesis_internal_use_settings", None)  # where Hypothesis' own plugin writes as well
    if own is not None and own.max_examples > EXAMPLES:
        test._hypothesis_internal_use_settings = settings(own, max_examples=EXAMPLES)


def pytest_configure() -> None:
    """All other laws have their number of examples from the profile."""
    settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=EXAMPLES)
    settings.load_profile("quick")
    # Whoever reads a chapter loads jsonschema, and that for a second a grammar of addresses, which no chapter has.
    sys.modules.setdefault("rfc3987_syntax", None)


def pytest_report_header() -> list[str]:
    """Say what is not tried."""
    return [f"quick: {EXAMPLES} examples of each law; left to make test:", *(f"  {kind}" for kind in LEFT_OUT)]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out before anything is imported."""
    return True if is_left_out(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out single tests, and let a law that asks for more examples be content with as few."""
    out = [item for item in items if item.nodeid in _TESTS]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item.nodeid not in _TESTS]
    for item in items:
        tried_with_few_examples(getattr(item, "obj", None))
