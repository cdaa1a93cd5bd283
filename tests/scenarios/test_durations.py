"""How long a rebalance takes, and what heartbeats are worth: the numbers that chapter 05b speaks of."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.durations import (
    HUNG_MS,
    WAYS,
    by_heartbeat,
    by_size,
    heartbeats_per_session,
    newcomer_ms,
    rolling_restart,
)
from kafkalearn.scenarios.experiments import TRIGGERS_START, triggers
from kafkalearn.scenarios.playing import simulate


def test_a_rebalance_is_as_slow_as_the_slowest_poll_and_no_slower():
    """A long poll begins a second before the newcomer, and the limit counts from there."""
    assert newcomer_ms([0, 0, 0]) < 3000 + 100
    assert newcomer_ms([0, 20_000, 0]) == newcomer_ms([0, 20_000, 15_000]) == 19_000
    assert newcomer_ms([0, 299_000, 0]) == 298_000
    assert newcomer_ms([0, HUNG_MS, 0]) == newcomer_ms([HUNG_MS, HUNG_MS, 0]) == 299_000
    assert newcomer_ms([0, HUNG_MS, 0], max_poll_interval_ms=60_000) == 59_000


def test_the_size_of_a_group_changes_little():
    rows = by_size([3, 30, 100])
    assert [row["one poll of 6 h"] for row in rows] == [299, 299, 299]
    assert rows[-1]["no slow poll"] - rows[0]["no slow poll"] < 1.1


def test_the_heartbeat_interval_decides_how_soon_members_hear_of_it():
    rows = {row["heartbeat.interval.ms"]: row for row in by_heartbeat()}
    assert (rows[100]["rebalance_ms"], rows[10_000]["rebalance_ms"]) == (112, 8512)
    assert rows[100]["heartbeats a second, 1,000 members"] == 10_000


def test_a_member_survives_the_session_less_one_interval():
    for row in heartbeats_per_session(session_ms=6000):
        sure_s = (6000 - row["heartbeat.interval.ms"]) // 1000
        assert all(row[f"cut of {cut} s"] == 0 for cut in range(1, min(sure_s, 6)))
        assert all(row[f"cut of {cut} s"] > 0 for cut in range(sure_s + 1, 6))


def test_a_deployment_one_after_the_other_hardly_lets_the_group_rest_and_the_group_reads_on():
    """Who is in a poll goes on with its records; all come back at one moment, as one rebalance sent them off."""
    for count, minutes in ((10, 3.1), (30, 9.1)):
        row = rolling_restart(count)
        assert (row["minutes without rest"], row["longest, s"] < 60) == (minutes, True)
        assert row["nobody reads, s"] <= 0.1


def test_how_long_a_partition_is_unread_in_a_deployment_does_not_depend_on_the_size_of_the_group():
    assert [rolling_restart(count)["a partition is unread, s"] for count in (10, 20, 30)] == [21.1, 21.1, 21.2]


@pytest.mark.parametrize(
    ("way", "rebalances", "unread_s"),
    [("eager", 16, 21.2), ("eager, static members", 0, 5.0), ("cooperative", 16, 21.1), ("KIP-848", 52, 11.4)],
)
def test_what_is_unread_in_a_deployment_depends_on_the_way(way, rebalances, unread_s):
    row = rolling_restart(30, way=way)
    assert (row["rebalances"], row["a partition is unread, s"]) == (rebalances, unread_s)


def test_one_slow_consumer_among_quick_ones_makes_all_others_of_an_eager_group_wait():
    eager, static, cooperative, newer = (rolling_restart(way=way, is_one_slow=True) for way in WAYS)
    assert eager["nobody reads, s"] > eager["of, s"] / 2
    assert [row["nobody reads, s"] for row in (static, cooperative, newer)] == [0, 0, 0]
    unread_s = [row["a partition is unread, s"] for row in (newer, static, cooperative, eager)]
    assert unread_s == sorted(unread_s)


@pytest.mark.parametrize(
    "given", [{"member_count": 1}, {"member_count": 10**6}, {"work_s": 0}, {"every_s": 0}, {"way": "eagre"}]
)
def test_what_is_no_deployment_is_refused(given):
    with pytest.raises(KafkaLearnError):
        rolling_restart(**given)


@pytest.mark.parametrize("given", [[0], [0] * 1000, [0, -1], [0, "1"], 5])
def test_what_is_no_group_is_refused(given):
    with pytest.raises(KafkaLearnError):
        newcomer_ms(given)


def test_all_seven_causes_come_up_and_only_clients_are_late():
    rows = {row["what happens"]: row for row in triggers()}
    assert len({row["the cause in the coordinator"] for row in rows.values()}) == 7
    late = {what for what, row in rows.items() if row["after, s"] == 240}
    assert late == {"partitions are added", "a topic is created under a pattern"}
    newer = {row["what happens"] for row in triggers("consumer") if row["after, s"] == 240}
    assert newer == {"a topic is created under a pattern"}


def test_a_row_that_is_not_played_with_the_defaults_says_so():
    (row,) = (each for each in triggers() if each["what happens"].startswith("a consumer joins and is cut off"))
    assert "max.poll.interval.ms 10 s" in row["what happens"]
    assert row["the cause in the coordinator"] == "a member sends no SyncGroup in time"

    by_defaults = simulate(f"{TRIGGERS_START}\nat 60 s: c4 joins\nat 61 s: c4 is cut off for 60 s").rebalances[2]
    assert by_defaults["cause"] == "a member's session expires (c4)"
    assert by_defaults["from_ms"] == 107_314
