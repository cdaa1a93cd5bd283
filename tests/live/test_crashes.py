"""A real consumer that commits and crashes: what it reads twice and what it never processes is what we say."""

from __future__ import annotations

import pytest

from conformance.mechanisms.commits import CRASHES
from conformance.search import compare
from tests.live.checked import holds

pytestmark = pytest.mark.live

POLLED = ["poll", 3]


@holds("position, commits, crashes", "where a consumer begins")
@pytest.mark.parametrize(
    ("is_auto", "actions", "twice", "never"),
    [
        (False, [POLLED, ["process", 3], ["crash"]], [0, 1, 2], []),
        (False, [POLLED, ["commit", None], ["process", 1], ["crash"], ["append", 1]], [], [1, 2]),
        (True, [POLLED, ["process", 2], ["close"]], [], [2]),
    ],
    ids=["processed-first", "committed-first", "closed-with-auto-commit"],
)
def test_what_a_crash_costs(kafka, new_name, is_auto, actions, twice, never):
    case = {"records": 5, "is_auto": is_auto, "is_standalone": False, "actions": actions}
    answer = CRASHES.ask(kafka, case, new_name)
    assert (answer["twice"], answer["never"]) == (twice, never)
    assert compare(CRASHES, kafka.release.line, case, answer) is None
