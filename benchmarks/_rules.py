"""Every rule of `kafkalearn.spark` as a query over data of any size, for `growth`.

A rule that needs what another makes is measured with it: then its line says "after". What is made in the query, groups
and partitions without a dataset of their own, is part of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from decode_share_states import generated as share_records
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.assignors import Member, assign
from kafkalearn.log import Settings
from kafkalearn.spark import (
    compaction as retention,
)
from kafkalearn.spark import (
    coordinator,
    group_logs,
    lag,
    offsets,
    partitioning,
    remedies,
    replication,
    server_logs,
    transactions,
    waiting,
    zookeeper,
)
from kafkalearn.spark import (
    delivery as crash_cost,
)
from kafkalearn.spark import (
    delivery as record_results,
)
from kafkalearn.spark import operations as leadership
from kafkalearn.spark import (
    waiting as latency,
)
from kafkalearn.spark import (
    waiting as timers,
)
from kafkalearn.spark import (
    zookeeper as offset_stores,
)
from kafkalearn.spark import (
    zookeeper as zookeeper_fetching,
)
from kafkalearn.spark.compaction import compact, count_reasons
from kafkalearn.spark.data import datasets
from kafkalearn.spark.data import groups as logs_of_groups
from kafkalearn.spark.data.commits import day_of_commits
from kafkalearn.spark.data.datasets import customers
from kafkalearn.spark.data.groups import Pace, offsets_records, with_commits
from kafkalearn.spark.data.logs import (
    FOLLOWER_COUNT,
    ROUND_COUNT,
    UNTIL_MS,
    appends,
    cluster_tables,
    deliveries,
    fetches,
)
from kafkalearn.spark.lag import backlogs, handovers, owners_over_time
from kafkalearn.spark.offsets.changes import with_moved_by
from kafkalearn.spark.offsets.printing import with_formatter_line
from kafkalearn.spark.offsets.state import place_costs
from kafkalearn.spark.operations import find_faults, load_sizes, sizes, without_coordinator
from kafkalearn.spark.rebalances import random_groups, random_rebalances, rebalance_costs, with_rebalance_ms
from kafkalearn.spark.share_states import decode_share_states, latest_share_states
from kafkalearn.spark.share_work import summed, with_deliveries, work, worked_off

DAY_MS = 86_400_000
FETCHES_PER_PARTITION = FOLLOWER_COUNT * ROUND_COUNT
OWNED = 13  # partitions of each group whose offsets move
MEMBERS_PER_GROUP = 10  # about
STEPS = 1000  # intervals that a consumer lives through
PLACE = ("concat('topic-', k div 10) AS topic", "int(k % 10) AS partition")  # of a key, by its number
KEY = "cast(cast(xxhash64(k) AS string) AS binary) AS key"
LATE = ((100, 1), (80_000, 1), (80_100, 2), (80_600, 2))  # the fetches of a follower that is out: at when, from where
LEAST_OF_OUTAGE = 10  # an outage takes eight fetches and two appends
BROKERS = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and a query that uses it.

    Attributes
    ----------
    name : str
        Module and function.
    of : str
        What a row is.
    query : callable
        Makes the query for so many rows, in `KEYED` also of so many keys; the data it reads are made, or found, before
        it returns.
    data : str
        The dataset, by which rules are kept together; without one the rows are made in the query.
    after : str
        The rules whose result it reads, measured with it.
    one_in : int
        A row of this rule for so many of the others: each stands for much more work.
    least : int
        Rows that a key has at least, in `KEYED`.
    """

    name: str
    of: str
    query: Callable[..., DataFrame]
    data: str = ""
    after: str = ""
    one_in: int = 1
    least: int = 1


# Groups, keys and timers.


def _groups(rule: Callable[..., DataFrame], *words: object, **options: object) -> Callable[..., DataFrame]:
    return lambda spark, rows: datasets.group_ids(spark, rows).transform(rule, *words, **options)


def _shares(spark: SparkSession, rows: int) -> DataFrame:
    placed = datasets.group_ids(spark, rows).transform(coordinator.with_offsets_partition)
    clusters = placed.selectExpr(
        "offsets_partition",
        f"pmod(xxhash64(group_id), {max(rows // 300, 1)}) AS cluster",
        "round(1000 / (1 + pmod(xxhash64('load', group_id), 300)), 1) AS load",
    )
    return clusters.transform(coordinator.busiest_broker_shares, (3, 6, 12))


def _places(spark: SparkSession, rows: int) -> DataFrame:
    owned = spark.range(OWNED).selectExpr("'orders' AS topic", "int(id) AS partition", "id % 3 AS was", "id % 2 AS now")
    groups = datasets.group_ids(spark, rows).limit(max(rows // OWNED, 1))
    moved = groups.crossJoin(sf.broadcast(owned)).selectExpr(
        *("group_id", "topic", "partition"),
        *(f"concat(group_id, '/', {name}) AS member_{when}" for name, when in (("was", "before"), ("now", "after"))),
    )
    return moved.transform(place_costs, brokers=len(BROKERS))


def _without_coordinator(spark: SparkSession, rows: int) -> DataFrame:
    placement = [(1 + number % 3,) for number in range(50)]
    return without_coordinator(datasets.group_ids(spark, rows), placement, dead=[3])


def _keys(rule: Callable[..., DataFrame], *words: object, **options: object) -> Callable[..., DataFrame]:
    def query(spark: SparkSession, rows: int) -> DataFrame:
        keys = datasets.keys(spark, rows, exponent=1.0).select("key")
        return keys.transform(rule, *words, **options)

    return query


def _wheels(spark: SparkSession, rows: int) -> DataFrame:
    return timers.request_timers(spark, rows).transform(timers.with_wheel_moves)


# Rebalances.


def _rebalance_costs(spark: SparkSession, rows: int) -> DataFrame:
    return random_rebalances(spark, rows).transform(rebalance_costs)


def _rebalance_ms(spark: SparkSession, rows: int) -> DataFrame:
    return random_groups(spark, rows).transform(with_rebalance_ms)


def _partitions(spark: SparkSession, rows: int) -> DataFrame:
    """Partitions of a cluster in topics of ten, three replicas each, the last of which is behind."""
    turns = [f"int((id + {turn}) % {len(BROKERS)}) + 1" for turn in range(3)]
    return spark.range(rows).selectExpr(
        "concat('topic-', id div 10) AS topic",
        "int(id % 10) AS partition",
        f"array({', '.join(turns)}) AS replicas",
        f"array({', '.join(turns[:2])}) AS isr",
        f"{turns[0]} AS leader",
        "1000000 + id % 1000 AS size_bytes",
    )


def _fetchers(spark: SparkSession, rows: int) -> DataFrame:
    partitions = _partitions(spark, rows).transform(zookeeper_fetching.with_fetcher, 4)
    return partitions.transform(zookeeper_fetching.fetcher_loads, "size_bytes")


def _load_without(spark: SparkSession, rows: int) -> DataFrame:
    return _partitions(spark, rows).transform(leadership.load_without, dead=[1])


def _moved_bytes(spark: SparkSession, rows: int) -> DataFrame:
    partitions = _partitions(spark, rows)
    turned = sf.concat(sf.slice("replicas", 2, 2), sf.array(sf.col("replicas")[0] % len(BROKERS) + 1))
    plan = partitions.select("topic", "partition", turned.alias("replicas"))
    return leadership.moved_bytes(partitions, plan)


# Logs of coordinators and of servers.


def _rebalances(*rules: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    def query(spark: SparkSession, rows: int) -> DataFrame:
        found = logs_of_groups.group_logs(spark, rows).transform(group_logs.rebalances)
        for rule in rules:
            found = found.transform(rule)
        return found

    return query


_SAVED = (remedies.with_absences, remedies.by_remedy)


def _log_lines(spark: SparkSession, rows: int) -> DataFrame:
    """Lines of a broker's log: of three one is about a group."""
    at = "date_format(timestamp_millis(1763337600000 + id), '[yyyy-MM-dd HH:mm:ss,SSS]')"
    said = (
        "CASE id % 3 WHEN 0 THEN concat(' INFO [GroupCoordinator 0]: Group group-', id % 1000, ' with generation ', "
        "id div 1000, ' is now empty (a.B)') WHEN 1 THEN ' INFO [UnifiedLog partition=orders-3] Rolled new segment' "
        "ELSE ' WARN [NodeToControllerChannelManager id=1] disconnected' END"
    )
    lines = spark.range(rows).selectExpr(f"concat({at}, {said}) AS value")
    return lines.transform(server_logs.log_events, "shop")


# Records, commits, and who owns what.


def _commits(records: DataFrame) -> DataFrame:
    paces = [Pace("billing"), Pace("shipping", slow=((1, 1.25),)), Pace("search")]
    return with_commits(records, paces, batch_size=20)


def _lag(rule: Callable[[DataFrame, DataFrame], DataFrame]) -> Callable[..., DataFrame]:
    def query(spark: SparkSession, rows: int) -> DataFrame:
        records = datasets.orders(spark, rows)
        return rule(records, _commits(records))

    return query


def _hourly(records: DataFrame, commits: DataFrame) -> DataFrame:
    begin, end = records.selectExpr("min(timestamp)", "max(timestamp)").first()
    share = [
        assign("range", {"orders": 12}, [Member(f"billing-{name}", ["orders"]) for name in names])
        for names in ((0, 1, 2), (0, 1), (1, 2))
    ]
    hours = int((end - begin) / timedelta(hours=1)) + 1
    history = [(begin + number * timedelta(hours=1), share[number % 3]) for number in range(hours)]
    owners = owners_over_time(records.sparkSession, "billing", history)
    return handovers(commits.where("group_id = 'billing'"), owners)


def _backlogs(spark: SparkSession, rows: int) -> DataFrame:
    arrivals = spark.range(STEPS).selectExpr("id AS interval", "3000 AS record_count")
    consumers = spark.range(rows).selectExpr("id AS consumer", "int(1500 + id % 3000) AS rate")
    return backlogs(consumers, arrivals, queue_limit=100_000)


def _delivered(spark: SparkSession, rows: int) -> DataFrame:
    return deliveries(spark, rows).transform(crash_cost.crash_costs)


def _latency(rule: Callable[[DataFrame], DataFrame]) -> Callable[..., DataFrame]:
    return lambda spark, rows: latency.round_trips(spark, rows).transform(rule)


def _writes(spark: SparkSession, rows: int) -> DataFrame:
    commits = offset_stores.offset_commits(spark, 2_000, 50, max(rows // 100_000, 1))
    return commits.transform(offset_stores.writes_per_second)


def _backlog_of_writes(spark: SparkSession, rows: int) -> DataFrame:
    return _writes(spark, rows).transform(offset_stores.with_backlog, "requests", 200)


def _results(*rules: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    def query(spark: SparkSession, rows: int) -> DataFrame:
        sent = record_results.sends(spark, rows)
        found = record_results.results_of(record_results.sent_of(sent), record_results.log_of(sent))
        for rule in rules:
            found = found.transform(rule)
        return found

    return query


# The offsets topic, compacted topics, segments.


def _raw(*rules: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    def query(spark: SparkSession, rows: int) -> DataFrame:
        found = offsets_records(spark, rows)
        for rule in rules:
            found = found.transform(rule)
        return found

    return query


def _moved(spark: SparkSession, rows: int) -> DataFrame:
    return day_of_commits(spark, rows).transform(with_moved_by)


def _compacted(rule: Callable[..., DataFrame], **options: object) -> Callable[..., DataFrame]:
    return lambda spark, rows: customers(spark, rows).transform(rule, **options)


def _retention(spark: SparkSession, rows: int) -> DataFrame:
    """Segments of an hour each, a hundred of a partition."""
    segments = spark.range(rows).selectExpr(
        "int(id div 100) AS partition",
        "id % 100 * 1000 AS base_offset",
        "(id % 100 + 1) * 1000 AS end_offset",
        "1000000 + id % 1000 AS size_bytes",
        "id % 100 * 3600000 AS largest_timestamp_ms",
    )
    kept = Settings(retention_ms=2 * DAY_MS, retention_bytes=70_000_000)
    return segments.transform(retention.with_retention, kept, now_ms=100 * 3_600_000)


# Replication.


def _fetched(spark: SparkSession, rows: int) -> tuple[DataFrame, DataFrame]:
    partitions = max(rows // FETCHES_PER_PARTITION, 6)
    return fetches(spark, partitions), appends(spark, partitions)


def _of_fetches(rule: Callable[[DataFrame], DataFrame]) -> Callable[..., DataFrame]:
    return lambda spark, rows: _fetched(spark, rows)[0].transform(rule)


def _isr_changes(spark: SparkSession, rows: int) -> DataFrame:
    return replication.isr_changes(*_fetched(spark, rows), UNTIL_MS)


def _high_watermarks(spark: SparkSession, rows: int) -> DataFrame:
    asked, written = _fetched(spark, rows)
    changes = replication.isr_changes(asked, written, UNTIL_MS)
    return replication.high_watermarks(asked, written, changes, UNTIL_MS, every_ms=15_000)


def _write_waits(spark: SparkSession, rows: int) -> DataFrame:
    asked, written = _fetched(spark, rows)
    return waiting.acks_all_waits(asked, written, replication.isr_changes(asked, written, UNTIL_MS), UNTIL_MS)


def _fetch_waits(spark: SparkSession, rows: int) -> DataFrame:
    return _write_waits(spark, rows).transform(waiting.fetch_waits, min_bytes=10_000)


# Share groups.


def _states(*rules: Callable[[DataFrame], DataFrame]) -> Callable[..., DataFrame]:
    def query(spark: SparkSession, rows: int) -> DataFrame:
        found = share_records(spark, rows)
        for rule in rules:
            found = found.transform(rule)
        return found

    return query


def _work(rule: Callable[..., DataFrame], **options: object) -> Callable[..., DataFrame]:
    return lambda spark, rows: work(spark, rows).transform(rule, **options)


def _summed(spark: SparkSession, rows: int) -> DataFrame:
    return work(spark, rows).transform(worked_off, members=48, partition_count=12).transform(summed)


def _faults(spark: SparkSession, rows: int) -> DataFrame:
    return find_faults(cluster_tables(spark, rows, seed=1))


decode, latest = offsets.decode_offsets, offsets.latest_state
IDS, KEYS, ORDERS, RAW, LOGS = "group_ids", "keys", "orders", "offsets_records", "group_logs"
FETCHES, CUSTOMERS, SENDS, MEMBERS = "fetches", "customers", "sends", "groups, of 10 members about"

RULES = (
    Rule("coordinator.with_offsets_partition", "group ids", _groups(coordinator.with_offsets_partition), IDS),
    Rule("coordinator.with_coordinator", "group ids", _groups(coordinator.with_coordinator, brokers=BROKERS), IDS),
    Rule("coordinator.busiest_broker_shares", "group ids", _shares, IDS, "with_offsets_partition"),
    Rule("offsets.places.place_costs", "partitions of groups", _places, IDS),
    Rule("operations.incident.without_coordinator", "group ids", _without_coordinator, IDS),
    Rule("partitioning.with_partition", "keys", _keys(partitioning.with_partition, 12), KEYS),
    Rule("partitioning.with_partition, fnv1a", "keys", _keys(partitioning.with_partition, 12, "fnv1a"), KEYS),
    Rule("partitioning.moves_by_key", "keys", _keys(partitioning.moves_by_key, 12, 13), KEYS),
    Rule("partitioning.moved_share_by_count", "keys", _keys(partitioning.moved_share_by_count, range(1, 31)), KEYS),
    Rule("timers.with_wheel_moves", "timers", _wheels, "request_timers"),
    Rule("rebalances.rebalance_costs", "rebalances", _rebalance_costs, one_in=10_000),
    Rule("rebalances.durations.with_rebalance_ms", MEMBERS, _rebalance_ms, one_in=MEMBERS_PER_GROUP),
    Rule("zookeeper_fetching.fetcher_loads", "partitions", _fetchers, after="with_fetcher"),
    Rule("operations.leadership.load_without", "partitions", _load_without),
    Rule("operations.leadership.moved_bytes", "partitions", _moved_bytes),
    Rule("group_logs.rebalances", "events", _rebalances(), LOGS),
    Rule("group_logs.standstill_by_cause", "events", _rebalances(group_logs.standstill_by_cause), LOGS, "rebalances"),
    Rule("group_logs.standstill_by_group", "events", _rebalances(group_logs.standstill_by_group), LOGS, "rebalances"),
    Rule("remedies.with_absences", "events", _rebalances(remedies.with_absences), LOGS, "rebalances"),
    Rule("remedies.by_remedy", "events", _rebalances(*_SAVED), LOGS, "with_absences"),
    Rule("server_logs.log_events", "lines", _log_lines),
    Rule("lag.lag_by_partition", "records", _lag(lag.lag_by_partition), ORDERS),
    Rule("lag.lag_over_time", "records", _lag(lag.lag_over_time), ORDERS),
    Rule("consuming.handovers", "records", _lag(_hourly), ORDERS),
    Rule("consuming.backlogs", f"consumers, {STEPS} intervals each", _backlogs, one_in=STEPS),
    Rule("crash_cost.crash_costs", "deliveries", _delivered, "deliveries"),
    Rule("latency.with_latency", "records", _latency(latency.with_latency)),
    Rule("latency.latency_counts", "records", _latency(latency.latency_counts)),
    Rule("offset_stores.writes_per_second", "commits", _writes),
    Rule("offset_stores.with_backlog", "commits", _backlog_of_writes, after="writes_per_second"),
    Rule("record_results.results_of", "records", _results(), SENDS),
    Rule("record_results.result_counts", "records", _results(record_results.result_counts), SENDS, "results_of"),
    Rule("offsets.decode_offsets", "raw records", _raw(decode), RAW),
    Rule("offsets.commits_per_second", "raw records", _raw(decode, offsets.commits_per_second), RAW, "decode_offsets"),
    Rule("offsets.group_members", "raw records", _raw(decode, offsets.group_members), RAW, "decode_offsets"),
    Rule("offsets.group_findings", "raw records", _raw(decode, offsets.group_findings), RAW, "decode_offsets"),
    Rule("offsets.printing.with_formatter_line", "raw records", _raw(decode, with_formatter_line), RAW,
         "decode_offsets"),
    Rule("offsets.changes.with_moved_by", "commits", _moved, "day_of_commits"),
    Rule("offsets.latest_state", "raw records", _raw(decode, latest), RAW, "decode_offsets"),
    Rule("offsets.group_states", "raw records", _raw(decode, latest, offsets.group_states), RAW, "latest_state"),
    Rule("operations.incident.sizes", "raw records", _raw(sizes), RAW),
    Rule("operations.loading.load_sizes", "raw records", _raw(load_sizes), RAW),
    Rule("compaction.compact", "records", _compacted(compact), CUSTOMERS),
    Rule("compaction.compact, with horizons", "records", _compacted(compact, now_ms=DAY_MS), CUSTOMERS),
    Rule("compaction.count_reasons", "records", _compacted(count_reasons), CUSTOMERS),
    Rule("retention.with_retention", "segments", _retention),
    Rule("replication.remote_ends", "fetches", _of_fetches(replication.remote_ends), FETCHES),
    Rule("replication.with_caught_up", "fetches", _of_fetches(replication.with_caught_up), FETCHES),
    Rule("replication.lag_counts", "fetches", _of_fetches(replication.lag_counts), FETCHES),
    Rule("replication.isr_changes", "fetches", _isr_changes, FETCHES),
    Rule("replication.high_watermarks", "fetches", _high_watermarks, FETCHES, "isr_changes"),
    Rule("waiting.acks_all_waits", "fetches", _write_waits, FETCHES, "isr_changes"),
    Rule("waiting.fetch_waits", "fetches", _fetch_waits, FETCHES, "acks_all_waits"),
    Rule("share_states.decode_share_states", "raw records", _states(decode_share_states)),
    Rule("share_states.latest_share_states", "raw records", _states(decode_share_states, latest_share_states),
         after="decode_share_states"),
    Rule("share_work.with_deliveries", "records", _work(with_deliveries, lock_ms=30_000)),
    Rule("share_work.worked_off", "records", _work(worked_off, members=48, partition_count=12)),
    Rule("share_work.summed", "records", _summed, after="worked_off"),
    Rule("operations.find_faults", "records", _faults, "cluster_records"),
)  # fmt: skip

# By keys: so many rows of so many keys, all as often, and no dataset: they are made in the query.


def _rows(spark: SparkSession, rows: int, keys: int, *columns: str) -> DataFrame:
    """Rows from expressions over ``k``, the number of the row's key, and ``n``, how many of that key came before."""
    return spark.range(rows).selectExpr("id", f"id % {keys} AS k", f"id div {keys} AS n").selectExpr(*columns)


def _of_keys(rule: Callable[..., DataFrame], columns: tuple[str, ...], *words: object) -> Callable[..., DataFrame]:
    return lambda spark, rows, keys: _rows(spark, rows, keys, *columns).transform(rule, *words)


def _of_both(
    rule: Callable[[DataFrame, DataFrame], DataFrame], one: tuple[str, ...], other: tuple[str, ...]
) -> Callable[..., DataFrame]:
    return lambda spark, rows, keys: rule(_rows(spark, rows, keys, *one), _rows(spark, rows, keys, *other))


def _outages(spark: SparkSession, rows: int, keys: int) -> tuple[DataFrame, DataFrame]:
    """Fetches and appends of partitions with two followers, one of which leaves the ISR of each and comes back."""
    steady = max(rows // keys - LEAST_OF_OUTAGE + len(LATE), len(LATE))
    written = "array(struct(0 AS at, 0 AS base, 1 AS end), struct(2000 AS at, 1 AS base, 2 AS end))"
    late = ", ".join(f"struct(3 AS broker, {at} AS at, {end} AS from)" for at, end in LATE)
    at = f"int(100 + each * 80100L div {steady - 1})"
    often = (
        f"transform(sequence(0, {steady - 1}), each -> struct(2 AS broker, {at} AS at, IF({at} < 2500, 1, 2) AS from))"
    )
    place = ("topic", "partition", "1 AS leader")
    partitions = _rows(spark, keys, keys, *PLACE)
    appended = partitions.selectExpr(*place, f"explode({written}) AS one").selectExpr(
        *("topic", "partition", "leader", "bigint(one.at) AS at_ms"),
        *("bigint(one.base) AS base_offset", "bigint(one.end) AS leader_end"),
    )
    fetched = partitions.selectExpr(*place, f"explode(concat({often}, array({late}))) AS one").selectExpr(
        *("topic", "partition", "leader", "one.broker", "bigint(one.at) AS at_ms"),
        *("bigint(one.from) AS fetch_offset", "bigint(IF(one.at < 2000, 1, 2)) AS leader_end"),
    )
    return fetched, appended


def _outage_of_each(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    return replication.isr_changes(*_outages(spark, rows, keys), 90_000)


def _waits_of_each(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    fetched, appended = _outages(spark, rows, keys)
    return waiting.acks_all_waits(fetched, appended, replication.isr_changes(fetched, appended, 90_000), 90_000)


RECORDS = (KEY, "cast('v' AS binary) AS value", "int(k % 12) AS partition", "id AS offset")
READ = ("'billing' AS group_id", *PLACE, "n AS offset")
STATES = (
    *("concat('group-', k div 100) AS group_id", "'orders' AS committed_topic", "int(k % 100) AS committed_partition"),
    *("1 AS record_type", KEY, "id AS offset", "false AS is_tombstone", "n AS committed_offset", "0 AS leader_epoch"),
    *("id AS commit_ms", "bigint(NULL) AS expire_ms", "int(NULL) AS generation", "bigint(NULL) AS state_ms"),
    *("int(NULL) AS member_count", "'' AS metadata", "string(NULL) AS topic_id", "string(NULL) AS error"),
)
EVENTS = (
    *("'eu' AS cluster", "concat('group-', k) AS group_id", "timestamp_millis(n * 1000 + k % 1000) AS timestamp"),
    *("IF(n % 2 = 0, 'PreparingRebalance', 'Stable') AS event", "string(NULL) AS member", "int(n) AS generation"),
    "IF(n % 2 = 0, concat('Adding new member m-', n), NULL) AS reason",
)
POLLS = (
    *("k AS run", "int(n) AS offset", "int(n div 10) AS poll", "n div 10 * 20 AS polled_ms"),
    *("n * 2 + 2 AS processed_ms", "bigint(1000000000) AS crashed_ms"),
)
SEGMENTS = (
    *(*PLACE, "n * 1000 AS base_offset", "(n + 1) * 1000 AS end_offset", "1000000 + id % 1000 AS size_bytes"),
    "n * 3600000 AS largest_timestamp_ms",
)
WRITES = (
    *("'orders' AS topic", "int(k % 12) AS partition", "id AS offset", "timestamp_millis(id) AS timestamp"),
    *("k AS producer_id", "true AS is_transactional", "IF(n % 10 = 9, 'COMMIT', NULL) AS control"),
)
COMMITS = ("k div 10 AS group_id", "int(k % 10) AS partition", "n AS offset", "n * 10000 + k % 10000 AS committed_ms")
OWNED_BY = ("concat('group-', k) AS group_id", "'orders' AS topic", "int(n) AS partition")
OWNED_BY = (*OWNED_BY, "concat('m-', n % 3) AS member_before", "concat('m-', n % 2) AS member_after")
LOADS = ("k AS cluster", "int(id % 50) AS offsets_partition", "double(1 + id % 100) AS load")
KEPT = Settings(retention_ms=2 * DAY_MS, retention_bytes=70_000_000)

KEYED = (
    Rule("compaction.compact, by keys", "keys", _of_keys(compact, RECORDS)),
    Rule("compaction.count_reasons, by keys", "keys", _of_keys(count_reasons, RECORDS)),
    Rule("offsets.latest_state, by keys", "keys of the offsets topic", _of_keys(latest, STATES)),
    Rule("lag.lag_by_partition, by partitions", "partitions", _of_both(
        lag.lag_by_partition, (*PLACE, "n AS offset"), (*READ, "id AS committed_at"))),
    Rule("replication.isr_changes, an outage of each", "partitions", _outage_of_each, least=LEAST_OF_OUTAGE),
    Rule("waiting.acks_all_waits, an outage of each", "partitions", _waits_of_each, "", "isr_changes",
         least=LEAST_OF_OUTAGE),
    Rule("group_logs.rebalances, by groups", "groups", _of_keys(group_logs.rebalances, EVENTS)),
    Rule("partitioning.moves_by_key, by keys", "keys", _of_keys(partitioning.moves_by_key, (KEY,), 12, 13)),
    Rule("delivery.results_of, by runs", "runs", _of_both(
        record_results.results_of, ("k AS run", "n AS number", "'NONE' AS callback"),
        ("k AS run", "n AS number", "n AS offset"))),
    Rule("delivery.crash_costs, by runs", "runs", _of_keys(crash_cost.crash_costs, POLLS)),
    Rule("compaction.with_retention, by logs", "logs", _of_keys(retention.with_retention, SEGMENTS, KEPT, DAY_MS)),
    Rule("transactions.transactions_of, by producers", "producers", _of_keys(transactions.transactions_of, WRITES)),
    Rule("transactions.waits, by producers", "producers", _of_keys(transactions.waits, WRITES), "", "transactions_of"),
    Rule("zookeeper.writes_per_second, by partitions", "partitions of groups", _of_keys(
        zookeeper.writes_per_second, COMMITS)),
    Rule("lag.lag_over_time, by partitions", "partitions", _of_both(
        lag.lag_over_time, (*PLACE, "n AS offset", "timestamp_millis(id) AS timestamp"),
        (*READ, "timestamp_millis(id) AS committed_at"))),
    Rule("lag.handovers, by partitions", "partitions", _of_both(
        handovers, (*READ, "n * 2 AS committed_at"),
        ("'billing' AS group_id", *PLACE, "concat('m-', n % 3) AS member_id", "n * 2 + 1 AS assigned_at"))),
    Rule("offsets.commits_per_second, by groups", "groups", _of_keys(
        offsets.commits_per_second, ("concat('group-', k) AS group_id", "id AS commit_ms"))),
    Rule("offsets.place_costs, by groups", "groups", lambda spark, rows, keys: place_costs(
        _rows(spark, rows, keys, *OWNED_BY), brokers=len(BROKERS))),
    Rule("partitioning.moved_share_by_count, by keys", "keys", _of_keys(
        partitioning.moved_share_by_count, (KEY,), range(1, 31))),
    Rule("coordinator.busiest_broker_shares, by clusters", "clusters", _of_keys(
        coordinator.busiest_broker_shares, LOADS, (3, 6, 12))),
)  # fmt: skip
"""Those whose need grows with keys: what they group by, join by, or put in order for each."""

_FEW_ROWS = "reads a few rows that another rule leaves"
_BY_KEYS = "chapter 15 runs it over ten million records, and it has a line by keys"
_IN_A_CHAPTER = "chapter 15 runs it over ten million records; how it grows has not been measured"
LEFT_OUT = {
    "bursts.with_requests": "not measured yet: its bursts are drawn in the query",
    "bursts.with_log": "not measured yet: row by row, of what with_requests gives",
    "bursts.with_results": "not measured yet: row by row, of what with_log gives",
    "bursts.record_rows": "a row for each element of what with_results gives",
    "share_states.share_lag_of": "reads what latest_share_states leaves",
    "coordinator.with_group_hash": "a part of with_offsets_partition",
    "lag.log_ends": "a part of lag_by_partition",
    "lag.last_commits": "a part of lag_by_partition",
    "lag.lag_by_member": _FEW_ROWS,
    "lag.lag_by_group": _FEW_ROWS,
    "offsets.decode.members_of_rest": "a part of group_members",
    "offsets.segments.only_committed": "a filter of what is read from segment files, not of a dataset",
    "offsets.state.last": "a part of latest_state",
    "offsets.state.lag_of": "reads what latest_state leaves, as group_states does",
    "offsets.state.dead_groups": "reads what latest_state leaves, as group_states does",
    "operations.bytes_to_copy": _FEW_ROWS,
    "plans.with_plans": "the planners' own Python on the workers, a cluster at a time",
    "plans.broker_moves": "a part of moved_bytes",
    "plans.plan_costs": "sums over what with_plans gives, as moved_bytes makes them",
    "agreement.with_agreement": "the rule's own NumPy on the workers, which benchmarks/zookeeper_era.py measures",
    "unread.old_stretches": "not measured yet: a window over what with_agreement gives",
    "unread.classic_stretches": "names columns of what with_classic_cost gives",
    "unread.by_group": "groups what old_stretches gives",
    "unread.by_range": "sums over what by_group gives",
    "unread.by_length": "sums over what old_stretches gives",
    "faults.lasting": "a part of find_faults",
    "operations.with_leader_without": "a part of load_without",
    "operations.move_seconds": _FEW_ROWS,
    "operations.load_of_brokers": _FEW_ROWS,
    "faults.progress": "a part of find_faults",
    "faults.hanging_consumers": "a part of find_faults",
    "faults.kept_groups": "a part of find_faults",
    "faults.future_records": "a part of find_faults",
    "faults.hot_partitions": "a part of find_faults",
    "faults.stopped_cleaners": "a part of find_faults",
    "faults.leaders_on_one_broker": "a part of find_faults",
    "faults.frozen_followers": "a part of find_faults",
    "faults.finding": "a part of find_faults",
    "partitioning.moved_share": _FEW_ROWS,
    "real_topic.run_to_the_end": "runs a stream of a real topic",
    "rebalances.by_member_count": "groups what with_rebalance_ms adds",
    "rebalances.with_classic_cost": "with_rebalance_ms, and two sums over the arrays of a row",
    "remedies.with_avoided": "the expression that by_remedy sums up, row by row",
    "delivery.sent_of": "a view of the dataset that results_of reads",
    "delivery.log_of": "a view of the dataset that results_of reads",
    "transactions.transactions_of": _BY_KEYS,
    "transactions.stable_offsets": _IN_A_CHAPTER,
    "transactions.waits": _BY_KEYS,
    "zones.with_owner_racks": "the assignors' own Python on the workers, which benchmarks/sticky.py measures",
    "zones.crossing": "sums over what with_owner_racks gives",
}
"""Functions from DataFrame to DataFrame without a line of their own, and why."""
