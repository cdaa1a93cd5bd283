"""A group that changes its protocol, drawn: its type, who speaks what, and who has which partition."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups import mixed
from kafkalearn.groups.classic import JoinGroup
from kafkalearn.groups.consumer import Settings, join, leave
from kafkalearn.groups.mixed import pods
from kafkalearn.groups.mixed_picture import describe_mixed, describe_pods, draw_pods
from kafkalearn.views import animate

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
    pictures = animate(run).pictures
    assert len(pictures) == 4
    assert "type: classic" in str(pictures[3])
    assert "is gone" in str(pictures[3])


def test_what_has_no_room_is_refused():
    with pytest.raises(KafkaLearnError, match="room for 6 members"):
        animate(run_of(join("n", ["orders"]), topics={"orders": 9}))


def test_pods_are_drawn_with_what_the_old_dashboard_shows_what_was_asked_and_what_nobody_reads():
    settings = pods.Settings()
    done = [*map(pods.Starts, ("c1", "c2", "c3")), pods.Switches("c3"), pods.Dies("c1"), pods.TimePassed(60_000)]
    run = pods.simulate(settings, done)
    drawn = [str(draw_pods(settings, run[number], run[number - 1])) for number in range(1, len(run))]

    assert "shows: Stable" in drawn[2]
    assert "shows: Dead" in drawn[3]
    assert "c1 Heartbeat 3: REBALANCE_IN_PROGRESS" in drawn[3]
    assert "is still a member" in drawn[4]
    assert "c1 is removed: session timeout" in drawn[5]
    assert describe_pods(settings, run[5], run[4]).endswith("Nobody reads 0 1.")
    assert "Nobody reads" not in describe_pods(settings, run[6], run[5])


def test_of_many_requests_the_picture_says_how_many_more_there_were():
    settings = pods.Settings(pods=tuple("abcdef"))
    run = pods.simulate(settings, map(pods.Starts, "abcdef"))
    asked = run[-1].state.effects
    assert f"… and {len(asked) - 11} more" in str(draw_pods(settings, run[-1], run[-2]))


@pytest.mark.parametrize(("names", "count"), [("abcdefg", 6), ("ab", 7)])
def test_pods_that_have_no_room_are_refused(names, count):
    settings = pods.Settings(mixed.Settings(consumer=Settings(topics={"orders": count})), tuple(names))
    with pytest.raises(KafkaLearnError, match="room for 6 pods and 6 partitions of one topic"):
        draw_pods(settings, pods.simulate(settings, [])[0])
