"""Logs of coordinators: what a query finds in them is what the simulated groups went through."""

from datetime import UTC, datetime, timedelta

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios import simulate
from kafkalearn.spark import group_logs

pytestmark = pytest.mark.spark


STORIES = {
    "billing": "at 0 s: c1 to c3 join\nat 60 s: c2 works 400 s on one poll\nat 600 s: c3 works 350 s on one poll",
    "shipping": "at 0 s: c1 to c4 join\nat 60 s: c2 pauses for 50 s\nat 200 s: c4 restarts after 10 s",
    "search": "at 0 s: c1, c2 join\nat 30 s: c3 joins\nat 31 s: c2 leaves\nat 90 s: c1 crashes",
    "stock": "at 0 s: c1, c2 join\nat 60 s: orders grows to 9 partitions\nat 400 s: c1 leaves\nat 410 s: c2 leaves",
    "pattern": "c1, c2 subscribe to the pattern orders.*\nat 0 s: c1 joins\nat 50 s: c2 joins\n"
    "at 60 s: topic orders-eu is created with 3 partitions\nthe end is at 10 min",
    "refunds": "topic orders has 6 partitions\ntopic refunds has 2 partitions\nat 0 s: c1, c2 join\n"
    "at 60 s: c2 subscribes to orders",
    "cut off": "at 0 s: c1, c2 join\nat 60 s: c3 joins\nthe end is at 61 s",
}
CAUSE_OF = {
    "a member is added": "member joined",
    "a member leaves": "member left",
    "a member's session expires": "heartbeats lost",
    "the leader rejoins": "topics changed",
    "a member rejoins with other metadata": "subscription changed",
}


def expected(outcome):
    """The rebalances of an outcome as the query should find them; who left because of its poll interval is seen in
    the notes of the run."""
    rows = []
    for row in outcome.rebalances:
        cause, _, who = row["cause"].partition("; ")[0].partition(" (")
        name = CAUSE_OF[cause]
        exceeded = f"{who.rstrip(')')} exceeds max.poll.interval.ms"
        near = [frame.event or "" for frame in outcome.trace if 0 <= row["from_ms"] - frame.state.time_ms <= 10]
        if name == "member left" and any(exceeded in event for event in near):
            name = "poll interval exceeded"
        started = group_logs.START + timedelta(milliseconds=row["from_ms"])
        duration_ms = None if row["to_ms"] is None else row["duration_ms"]
        rows.append((started, duration_ms, name, row["generation"]))
    return rows


def test_the_query_finds_the_rebalances_that_the_simulator_went_through(spark):
    outcomes = {group: simulate(story, assignor="range") for group, story in STORIES.items()}
    rows = [row for group, outcome in outcomes.items() for row in group_logs.log_rows(outcome, group)]
    logs = spark.createDataFrame(rows[::-1], group_logs.EVENT_SCHEMA)

    found = {group: [] for group in STORIES}
    for row in logs.transform(group_logs.rebalances).orderBy("started").collect():
        started = row.started.astimezone(UTC)
        found[row.group_id].append((started, row.duration_ms, row.cause, row.generation_after))

    assert found == {group: expected(outcome) for group, outcome in outcomes.items()}
    assert {cause for each in found.values() for _, _, cause, _ in each} == {*CAUSE_OF.values()} | {
        "poll interval exceeded"
    }
    assert found["cut off"][-1][1] is None


def test_a_cooperative_group_has_a_second_round(spark):
    outcome = simulate("at 0 s: c1 to c3 join\nat 60 s: c4 joins", assignor="cooperative-sticky")
    logs = spark.createDataFrame(group_logs.log_rows(outcome, "billing"), group_logs.EVENT_SCHEMA)
    causes = [row.cause for row in logs.transform(group_logs.rebalances).orderBy("started").collect()]
    assert causes == ["member joined", "member joined", "second round"]


def event(second, name, generation, reason=None, group="g", member="m"):
    timestamp = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=second)
    return ("c", group, timestamp, name, member, generation, reason)


LEAVE = "explicit `LeaveGroup` request for (m) members."


def found(spark, *events):
    rows = (
        spark.createDataFrame(list(events), group_logs.EVENT_SCHEMA)
        .transform(group_logs.rebalances)
        .orderBy("started")
        .collect()
    )
    return [(row.cause, row.trouble, row.duration_ms, row.generation_before, row.generation_after) for row in rows]


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("removing member m on heartbeat expiration.", "heartbeats lost"),
        (LEAVE, "member left"),
        ("Adding new member m with group instance id null; client reason: not provided", "member joined"),
        ("Leader m re-joining group during Stable; client reason: cached metadata has changed", "topics changed"),
        (
            "Leader m re-joining group during Stable; client reason: need to revoke partitions and re-join",
            "second round",
        ),
        ("Updating metadata for member m during Stable; client reason: not provided", "subscription changed"),
        ("Removing [m] on pending sync request expiration", "sync lost"),
        ("Freshly-loaded group g (size 9) is over capacity 5.", "other"),
        (None, "other"),
    ],
)
def test_a_reason_of_the_coordinator_has_a_name(spark, reason, cause):
    assert found(spark, event(0, "PreparingRebalance", 1, reason), event(2, "Stable", 2)) == [
        (cause, cause, 2000, 1, 2)
    ]
    assert cause in group_logs.CAUSES


def test_why_a_client_left_stands_in_the_line_before(spark):
    def left(client_reason, group="g"):
        first = event(0, "MemberLeft", 1, client_reason, group)
        return found(spark, first, event(0, "PreparingRebalance", 1, LEAVE), event(1, "Stable", 2))[0][0]

    assert left(group_logs.POLL_EXPIRED) == "poll interval exceeded"
    assert left(group_logs.CLOSED) == "member left"
    assert left(group_logs.POLL_EXPIRED, group="another") == "member left"


def test_one_that_comes_back_is_counted_under_what_took_it_away(spark):
    joined = "Adding new member m with group instance id null; client reason: not provided"
    rows = found(
        spark,
        event(0, "PreparingRebalance", 1, joined),
        event(1, "Stable", 2),
        event(5, "PreparingRebalance", 2, "removing member m on heartbeat expiration."),
        event(6, "Stable", 3),
        event(7, "PreparingRebalance", 3, joined),
        event(9, "Stable", 4),
        event(10, "PreparingRebalance", 4, joined),
        event(11, "Empty", 5),
    )
    assert [trouble for _, trouble, *_ in rows] == [
        "member joined",
        "heartbeats lost",
        "heartbeats lost",
        "member joined",
    ]


def test_a_rebalance_that_begins_anew_is_one_with_its_first_cause(spark):
    rows = found(
        spark,
        event(0, "PreparingRebalance", 1, LEAVE),
        event(3, "CompletingRebalance", 2),
        event(4, "PreparingRebalance", 2, "removing member m on heartbeat expiration."),
        event(6, "CompletingRebalance", 3),
        event(7, "Stable", 3),
    )
    assert rows == [("member left", "member left", 7000, 1, 3)]


def test_at_one_millisecond_the_end_of_one_comes_before_the_beginning_of_the_next(spark):
    rows = found(
        spark,
        event(3, "PreparingRebalance", 2, LEAVE),
        event(5, "Stable", 3),
        event(3, "Stable", 2),
        event(0, "PreparingRebalance", 1, LEAVE),
    )
    assert [row[2] for row in rows] == [3000, 2000]


def test_what_began_before_the_log_is_left_out_and_what_ends_after_it_has_no_length(spark):
    rows = found(spark, event(1, "Stable", 7), event(5, "PreparingRebalance", 7, LEAVE))
    assert rows == [("member left", "member left", None, 7, None)]


@pytest.mark.equal("group_logs.standstill_by_cause", "group_logs.standstill_by_group")
def test_standstill_is_summed_by_cause_and_by_group(spark):
    logs = spark.createDataFrame(
        [
            event(0, "PreparingRebalance", 1, LEAVE, "a"),
            event(3, "Stable", 2, None, "a"),
            event(10, "PreparingRebalance", 2, LEAVE, "a"),
            event(11, "Stable", 3, None, "a"),
            event(20, "PreparingRebalance", 3, "removing member m on heartbeat expiration.", "a"),
            event(26, "Stable", 4, None, "a"),
            event(0, "PreparingRebalance", 1, LEAVE, "b"),
            event(10, "Stable", 2, None, "b"),
            event(90, "PreparingRebalance", 2, LEAVE, "b"),
        ],
        group_logs.EVENT_SCHEMA,
    )
    table = logs.transform(group_logs.rebalances)

    assert [tuple(row) for row in group_logs.standstill_by_cause(table).collect()] == [
        ("member left", 3, 2, 14_000, 4667, 10_000, 0.7),
        ("heartbeats lost", 1, 1, 6000, 6000, 6000, 0.3),
    ]
    assert group_logs.standstill_by_cause(table, by="trouble").columns[0] == "trouble"
    assert [tuple(row) for row in group_logs.standstill_by_group(table).collect()] == [
        ("c", "a", 3, 10_000, 6000, "heartbeats lost"),
        ("c", "b", 1, 10_000, 10_000, "member left"),
    ]


def test_what_is_no_log_is_refused(spark):
    logs = spark.createDataFrame([event(0, "Stable", 1)], group_logs.EVENT_SCHEMA)
    with pytest.raises(KafkaLearnError, match="unknown column to sum up by 'group'"):
        group_logs.standstill_by_cause(logs.transform(group_logs.rebalances), by="group")
    with pytest.raises(KafkaLearnError, match="protocol 'consumer'"):
        group_logs.log_rows(simulate("at 0 s: c1 joins", protocol="consumer"), "billing")
