"""What chapter 12's exercises take for right, against rules of the library that they are not made of."""

import random

import pytest

from kafkalearn.exercises.chapter12 import (
    is_soon_replaced,
    move_the_group,
    nobody_gives_up,
    patient_settings,
    stand_still,
    stopped_by_the_first,
    survives_pause,
    which_offset,
    who_owns,
)
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG
from kafkalearn.zookeeper import connector
from kafkalearn.zookeeper.commits import CommitOffsets, Crash, Produce, Read, Settings, Shutdown, Start, simulate
from kafkalearn.zookeeper.commits.search import find
from kafkalearn.zookeeper.commits.simulator import NONE_SKIPPED, NONE_TWICE
from kafkalearn.zookeeper.connector import BrokerStarted, CreateMessageStreams, TopicCreated
from kafkalearn.zookeeper.fetching import fetcher_id
from kafkalearn.zookeeper.schedules import play
from kafkalearn.zookeeper.subscriptions import Streams

NEW = Start("new", "kafka", dual_commit_enabled=False)


def chosen(session_ms, tries, backoff_ms=2000):
    return {
        "zookeeper.session.timeout.ms": session_ms,
        "rebalance.max.retries": tries,
        "rebalance.backoff.ms": backoff_ms,
    }


@pytest.mark.parametrize("fetcher_count", range(1, 9))
def test_those_stand_still_that_share_the_fetcher(fetcher_count):
    ids = [fetcher_id("orders", number, fetcher_count) for number in range(4)]

    assert stopped_by_the_first(fetcher_count) == ids[1:].count(ids[0])


def test_a_group_that_is_played_owns_what_the_exercise_says():
    settings = connector.Settings(partition_assignment_strategy="roundrobin")
    streams = Streams({"orders": 1, "refunds": 1})
    joins = [CreateMessageStreams(name, streams) for name in ("c1", "c2")]
    topics = [TopicCreated("orders", 3), TopicCreated("refunds", 3)]

    end = play(settings, [BrokerStarted(), *topics, *joins])[-1].state

    assert who_owns.check({f"{each.name}-0": {str(one) for one in each.owned} for each in end.connectors})


def test_the_shops_settings_fail_each_in_its_own_way():
    assert (survives_pause(chosen(6000, 4)), nobody_gives_up(chosen(6000, 4))) == (False, True)
    assert (survives_pause(chosen(30_000, 4)), nobody_gives_up(chosen(30_000, 4))) == (True, False)
    assert nobody_gives_up(chosen(30_000, 20))


def test_what_is_right_keeps_the_rule_of_the_faq():
    """Tries that last longer than the session are enough; the sessions that are right lie between pause and limit."""
    rng = random.Random(12)
    for _ in range(40):
        session_ms, tries, backoff_ms = rng.randrange(4000, 40_001), rng.randint(1, 30), rng.choice([500, 1000, 2000])
        values = chosen(session_ms, tries, backoff_ms)
        if tries * backoff_ms > session_ms + 2000:
            assert nobody_gives_up(values), values
        if survives_pause(values) and nobody_gives_up(values) and is_soon_replaced(values):
            assert 10_000 < session_ms < 40_000, values
            assert patient_settings.check(values).outcome == RIGHT


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        (chosen(20_000, ...), NOT_ATTEMPTED),
        ({"rebalance.max.retries": 4}, ERROR),
        ({**chosen(20_000, 15), "group.id": 1}, ERROR),
        (chosen(20_000, 0), ERROR),
        (chosen(-1, 15), ERROR),
        (chosen(20_000, "many"), ERROR),
        ({"zookeeper_session_timeout_ms": "20000", "REBALANCE.MAX.RETRIES": 15, "rebalance.backoff.ms": 2000}, RIGHT),
        (chosen(20_000, 4), WRONG),
    ],
)
def test_odd_settings_are_explained(values, outcome):
    assert patient_settings.check(values).outcome == outcome


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([Start("dual", "kafka"), Shutdown("dual"), NEW], RIGHT),
        ([Start("dual", "kafka"), Read("dual", 0, 4), Shutdown("dual"), NEW], RIGHT),
        ([Start("dual", "kafka"), CommitOffsets("dual"), Crash("dual"), NEW], RIGHT),
        ([Start("dual", "kafka"), CommitOffsets("dual"), Read("dual", 0, 2), Crash("dual"), NEW], WRONG),
        ([Start("dual", "kafka"), Read("dual", 0, 4), Crash("dual"), NEW], WRONG),
        ([Start("dual", "kafka"), Shutdown("dual")], WRONG),
        ([NEW, Shutdown("new"), NEW], WRONG),
        ([Start("dual", "kafka"), NEW], ERROR),
        ([Shutdown("dual"), NEW], ERROR),
        ([7], ERROR),
        ([], WRONG),
    ],
)
def test_ways_to_the_topic(events, outcome):
    assert move_the_group.check(events).outcome == outcome


def test_after_the_right_move_no_schedule_loses_or_doubles():
    """The search of the library goes on from where the solution ends."""
    before = [Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4)]
    moved = simulate(Settings(), [*before, *move_the_group.solve()])[-1].state

    events = (Produce(), Read("new"), CommitOffsets("new"), Shutdown("new"), NEW)
    found = find(Settings(), events, [NONE_SKIPPED, NONE_TWICE], depth=6, initial=moved)

    assert found.trace is None


def test_the_larger_offset_wins_and_not_the_newer():
    right = which_offset.solve()

    assert right["dual commit, node set to 15"] > right["dual commit, node set to 3"] == right["kafka, node set to 3"]


def test_more_fetchers_may_bring_nothing():
    right = stand_still.solve()

    assert right["fetchers: 2"] == right["fetchers: 3"] > right["fetchers: 4"]
