"""A pytest plugin: what `make test` leaves to `make ci`, so that from nothing it takes minutes.

Of each kind that takes long something is kept: two chapters, one session's rules on Spark, the real Kafka of the newest
release for a minute, one environment that is made. A test can also be marked as long where it stands.
"""

from __future__ import annotations

import pytest

from tools.environment import ROOT

KEPT = {
    "notebooks": ("00_start.ipynb", "05_rebalance.ipynb"),
    "kafkalearn/spark": (),
    "tests/live": (
        "test_compaction.py",
        "test_coordinator.py",
        "test_groups.py",
        "test_layouts.py",
        "test_producers.py",
        "test_replication.py",
    ),
    "tests/project/test_setup.py": ("test_the_first_run_installs_and_the_next_one_goes_straight_on",),
    "tests/spark/offsets/test_state.py": ("test_the_sums_are_those_of_the_scalar_rule",),
    "tests/spark": (
        "offsets/test_piece_rows.py",
        "session/test_check.py",
        "test_compaction.py",
        "test_coordinator.py",
        "test_equal.py",
        "test_group_logs.py",
        "test_lag.py",
        "test_partitioning.py",
        "test_rebalances.py",
        "test_replication.py",
    ),
}
"""Of each folder, or file, the files and tests that `make test` runs; all else in it is long."""

LEFT_OUT = {
    "what a reader does in the pages of the book, and in a JupyterLab that runs a chapter": (
        "tests/book/test_exercises_in_a_browser.py",
        "tests/book/test_going_through_the_book.py",
        "tests/book/test_playground_in_a_browser.py",
        "tests/book/test_python_in_the_page.py",
        "tests/book/test_reading_in_a_browser.py",
        "tests/book/test_snapshot.py",
        "tests/book/test_students_edition.py",
        "tests/book/test_page_python.py",
        "tests/book/test_predictions_in_the_page.py",
        "tests/book/test_progress_in_the_page.py",
        "tests/book/test_touching_in_a_browser.py",
        "tests/browser/test_accessibility.py",
        "tests/browser/test_chapter.py",
        "tests/browser/test_day_two.py",
        "tests/browser/test_player.py",
        "tests/browser/test_predictions.py",
        "tests/browser/test_slides.py",
    ),
    "odd input by the thousand": (
        "tests/fuzz/test_fuzz.py",
        "tests/oncall/test_linear.py",
        "tests/oncall/test_mutated.py",
    ),
    "what goes wrong while an environment is made": ("tests/project/test_setup_faults.py",),
    "the judge of hand-ins, in processes of its own": ("tests/exercises/progress/test_grades.py",),
    "log lines on Spark": ("tests/oncall/test_spark.py",),
    "groups that catch up, member by member": ("tests/oncall/test_catch_up.py",),
}
"""For each kind of what else takes long the files that have it."""

_PLACES = tuple(name for names in LEFT_OUT.values() for name in names)


def is_long(nodeid: str) -> bool:
    """Whether a test, named as pytest names it, is left to `make ci`.

    >>> is_long("tests/spark/test_lag.py::test_lag"), is_long("tests/spark/test_timers.py::test_timers")
    (False, True)
    """
    for place, kept in KEPT.items():
        if nodeid.startswith((f"{place}/", f"{place}::")):
            return not nodeid[len(place) :].lstrip("/:").startswith(kept)
    return nodeid.startswith(_PLACES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them, before those that are not asked for are deselected."""
    for item in items:
        if is_long(item.path.relative_to(ROOT).as_posix() + "::" + item.nodeid.partition("::")[2]):
            item.add_marker("long")
