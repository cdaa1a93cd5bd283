"""A group that changes its protocol, drawn: its type, who speaks what, and who has which partition."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups import mixed
from kafkalearn.groups.classic import JoinGroup
from kafkalearn.groups.consumer import Settings, join, leave
from kafkalearn.groups.mixed_picture import animate_mixed, describe_mixed

READS = (("range", mixed.Subscription(("orders",))),)


def run_of(*events, topics=None):
    return mixed.simulate(mixed.Settings(consumer=Settings(topics=topics or {"orders": 2})), events)


def test_a_step_says_what_was_asked_and_what_the_group_is():
    run = run_of(join("n", ["orders"]), JoinGroup("c", protocols=READS, version=3, drawn_id="c"), leave("n"))
    said = [describe_mixed(frame) for frame in run]
    assert said[0].startswith("Nobody has joined. No group")
    assert "n (consumer): 0 1." in said[1]
    assert "JoinGroup of c: NONE. A consumer group" in said[2]
    assert "c (classic)" in said[2]
    assert said[3].startswith("ConsumerGroupHeartbeat of n, who leaves: NONE. A classic group")
    pictures = animate_mixed(run).pictures
    assert len(pictures) == 4
    assert "type: classic" in str(pictures[3])
    assert "is gone" in str(pictures[3])


def test_what_has_no_room_is_refused():
    with pytest.raises(KafkaLearnError, match="room for 6 members"):
        animate_mixed(run_of(join("n", ["orders"]), topics={"orders": 9}))
