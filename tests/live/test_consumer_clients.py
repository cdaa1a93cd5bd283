"""Real clients of a KIP-848 group, and what the client of a scenario does in the same story."""

from __future__ import annotations

import pytest

from kafkalearn.scenarios import simulate
from tests.live.java import run_java_class

pytestmark = pytest.mark.live


def test_what_a_member_at_work_has_not_taken_up_goes_back_without_its_poll(kafka, new_name):
    topic = new_name("orders")
    kafka.create_topic(topic, 2)
    said = run_java_class(kafka.release, "TakenBack", kafka.bootstrap, topic, new_name("group"))
    assert said.splitlines() == ["shared 1 1", "while A works 1", "shared 1 1"]

    story = """topic orders has 2 partitions
    at 0 s: c1 and c2 join
    at 60 s: c1 works 100 s on one poll
    at 70 s: c2 restarts after 10 s"""
    while_at_work = simulate(story, protocol="consumer").at(155_000).state
    assert [len(while_at_work.member(name).owned) for name in ("c1", "c2")] == [1, 1]
