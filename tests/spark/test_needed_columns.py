"""Every rule names the column that its rows lack, the one that has another type, and the one that it would write over.

A rule stands here with the columns that it needs, of each DataFrame that it takes; a type is one of those it takes.
"""

import re

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Settings
from kafkalearn.spark import (
    agreement,
    bursts,
    columns,
    compaction,
    coordinator,
    delivery,
    group_logs,
    lag,
    operations,
    partitioning,
    plans,
    rebalances,
    remedies,
    replication,
    server_logs,
    share_states,
    share_work,
    transactions,
    waiting,
    zookeeper,
)  # fmt: skip
from kafkalearn.spark.offsets import changes, decode, printing, state
from tests.every import every_case

pytestmark = pytest.mark.spark

RECORDS = "key binary, value binary, partition int, offset bigint"
FETCHES = "topic string, partition int, broker int, at_ms int, fetch_offset int, leader_end int"
IN_TOPIC = "topic string, partition int, offset bigint"
COMMITS = f"group_id string, {IN_TOPIC}, committed_at bigint"
TIMED_COMMITS = f"group_id string, {IN_TOPIC}, committed_at timestamp"
OF_PRODUCERS = f"{IN_TOPIC}, timestamp timestamp, producer_id bigint, is_transactional boolean, control string"
LED = "replicas array<int>, isr array<int>, leader int, size_bytes bigint"
PLACED = "cluster string, topic string, partition int, replicas array<int>"
BROKERS = "cluster string, brokers array<struct<broker_id:int,rack:string,was:boolean,stays:boolean>>"
WORK = "heartbeat_interval_ms int, max_poll_interval_ms int, work_ms array<int>"
MEMBERS = "array<struct<member:string,topics:array<string>>>"
NETWORK = "there_us int, back_us int, follower_1_us int, follower_2_us int"
ACCIDENT = (
    "struct<arrived:int,answered:int,copied:int,arrived_again:int,answered_again:int,is_time_over:boolean>, "
    "settings struct<acks:string,retries:int,max_in_flight:int,is_idempotent:boolean,puts_aside:boolean>"
)
NEEDED = {
    agreement.with_agreement: ("partition_count int, pause_ms array<int>, uncommitted array<int>",),
    bursts.with_requests: (f"accident {ACCIDENT}",),
    bursts.with_log: ("numbers array<int>, epochs array<int>, sequences array<int>",),
    bursts.with_results: ("log array<int>, callbacks array<string>",),
    compaction.compact: (RECORDS,),
    compaction.count_reasons: (RECORDS,),
    compaction.with_retention: (
        "partition int, base_offset bigint, end_offset bigint, size_bytes bigint, largest_timestamp_ms bigint",
    ),
    coordinator.with_offsets_partition: ("group_id string",),
    coordinator.with_group_hash: ("group_id string",),
    coordinator.with_coordinator: ("group_id string",),
    coordinator.busiest_broker_shares: ("cluster string, load double, offsets_partition int",),
    columns.counts_by_partition: ("partition int",),
    delivery.results_of: ("run string, number int, callback string", "run string, number int, offset int"),
    delivery.result_counts: ("producer string, result string",),
    delivery.crash_costs: ("run int, offset int, poll int, polled_ms int, processed_ms int, crashed_ms int",),
    group_logs.rebalances: (
        "cluster string, group_id string, event string, reason string, timestamp timestamp, generation int",
    ),
    lag.log_ends: (IN_TOPIC,),
    lag.last_commits: (COMMITS,),
    lag.lag_over_time: (f"{IN_TOPIC}, timestamp timestamp", TIMED_COMMITS),
    lag.backlogs: ("consumer string, rate int", "interval int, record_count int"),
    lag.handovers: (
        TIMED_COMMITS,
        "group_id string, topic string, partition int, member_id string, assigned_at timestamp",
    ),
    changes.with_moved_by: (
        "group_id string, committed_topic string, committed_partition int, committed_offset bigint, offset bigint",
    ),
    decode.decode_offsets: ("key binary, value binary",),
    printing.with_formatter_line: (
        "group_id string, committed_topic string, metadata string, topic_id string, error string, record_type int, "
        "committed_partition int, value_version int, leader_epoch int, committed_offset bigint, commit_ms bigint, "
        "expire_ms bigint, is_tombstone boolean",
    ),
    state.place_costs: ("group_id string, topic string, member_before string, member_after string, partition int",),
    operations.sizes: (RECORDS,),
    operations.load_sizes: (RECORDS,),
    operations.load_without: (LED,),
    operations.with_leader_without: (LED,),
    partitioning.with_partition: ("key string",),
    partitioning.moves_by_key: ("key string",),
    plans.with_plans: (PLACED, BROKERS),
    rebalances.rebalance_costs: (
        f"rebalance bigint, topics array<struct<topic:string,partitions:int>>, before {MEMBERS}, after {MEMBERS}",
    ),
    rebalances.with_rebalance_ms: (WORK,),
    rebalances.with_classic_cost: ("work_ms array<int>, uncommitted array<int>",),
    remedies.with_absences: ("cluster string, group_id string, cause string, trouble string, started timestamp",),
    remedies.with_avoided: ("trouble string, away_ms bigint",),
    replication.remote_ends: (FETCHES,),
    replication.with_caught_up: (FETCHES,),
    replication.lag_counts: (FETCHES,),
    replication.isr_changes: (FETCHES, "topic string, partition int, leader int, at_ms int, leader_end int"),
    server_logs.log_events: ("value string",),
    share_states.decode_share_states: ("key binary, value binary",),
    share_work.summed: ("rush int, delivery_count int, arrived_ms int, began_ms int, ended_ms int, outcome int",),
    transactions.transactions_of: (OF_PRODUCERS,),
    transactions.stable_offsets: (OF_PRODUCERS,),
    transactions.waits: (OF_PRODUCERS,),
    waiting.with_latency: (NETWORK,),
    waiting.latency_counts: (f"{NETWORK}, follower_3_us int, follower_4_us int",),
    waiting.with_wheel_moves: ("added_ms int, timeout_ms int, done_ms int",),
    zookeeper.with_fetcher: ("topic string, partition int",),
    zookeeper.fetcher_loads: ("load int, leader int, fetcher_id int",),
    zookeeper.writes_per_second: ("group_id string, partition int, offset bigint, committed_ms bigint",),
    zookeeper.with_backlog: ("second int, requests int",),
}
"""By rule."""

ASKED = {
    compaction.with_retention: (Settings(), 0),
    coordinator.busiest_broker_shares: ([3],),
    columns.counts_by_partition: (6,),
    partitioning.with_partition: (6,),
    partitioning.moves_by_key: (6, 7),
    replication.isr_changes: (1_000,),
    server_logs.log_events: ("eu",),
    transactions.stable_offsets: (1_000,),
    zookeeper.fetcher_loads: ("load",),
    zookeeper.with_backlog: ("requests", 10),
}
"""What a rule is given beside its rows, where it has no default."""

ADDED = {
    compaction.with_retention: "deleted_because",
    coordinator.with_offsets_partition: "offsets_partition",
    coordinator.with_group_hash: "group_hash",
    coordinator.with_coordinator: "broker_id",
    changes.with_moved_by: "moved_by",
    decode.decode_offsets: "error",
    partitioning.with_partition: "partition",
    plans.with_plans: "move least",
    share_states.decode_share_states: "batches",
    waiting.with_latency: "latency_us",
    waiting.with_wheel_moves: "moves",
    zookeeper.with_fetcher: "fetcher_id",
}
"""The column that a rule adds, which must not be there."""


def fields_of(schema):
    """The columns of a schema; commas within a type are none between two columns."""
    return re.split(r", (?![^<]*>)", schema)


def ask(spark, rule, frames):
    given = {"brokers": 3} if rule in (coordinator.with_coordinator, state.place_costs) else {}
    rows = [spark.createDataFrame([], ", ".join(fields)) for fields in frames]
    return rule(*rows, *ASKED.get(rule, ()), **given)


def name_of(rule):
    return f"{rule.__module__.rpartition('.')[2]}.{rule.__name__}"


@every_case("rule", NEEDED, ids=name_of)
def test_a_column_that_is_missing_or_has_another_type_is_named(spark, rule):
    frames = [fields_of(schema) for schema in NEEDED[rule]]
    ask(spark, rule, frames)
    for number, fields in enumerate(frames):
        for field in fields:
            name = field.split(" ")[0]
            without = [*(each for each in fields if each != field), "another int"]
            with pytest.raises(KafkaLearnError, match=f"the rows have no column '{name}'"):
                ask(spark, rule, [*frames[:number], without, *frames[number + 1 :]])
            of_another = [each if each != field else f"{name} map<int,int>" for each in fields]
            with pytest.raises(KafkaLearnError, match=f"column '{name}' must be .*, it is map<int,int>; "):
                ask(spark, rule, [*frames[:number], of_another, *frames[number + 1 :]])


@every_case("rule", ADDED, ids=name_of)
def test_a_column_of_the_rows_is_not_written_over(spark, rule):
    first, *others = [fields_of(schema) for schema in NEEDED[rule]]
    with pytest.raises(KafkaLearnError, match=f"a column '{ADDED[rule]}' already"):
        ask(spark, rule, [[*first, f"`{ADDED[rule]}` int"], *others])
