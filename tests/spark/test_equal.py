"""Each rule on Spark says of every row what the rule without Spark says: one registry, and one test of all of it.

A rule of single rows has a line in `EQUAL`, under the rows that it is tried on: the rule, what says the same without
Spark, and what it is given beside the rows. All rules of the same rows are one query. A rule that joins or sums up has
a test of its own, which has the mark ``equal`` or stands in the ledger; the last test finds a rule that has neither.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from random import Random
from typing import NamedTuple

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.files import REPOSITORY
from kafkalearn.base.hashing import java_string_hash
from kafkalearn.commits.changes import moves
from kafkalearn.coordinator.rule import FORMULAS, find_coordinator
from kafkalearn.delivery.cost import Trip, latency
from kafkalearn.log.sequences import LAST_SEQUENCE, Stamp, judge, remember
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.purgatory.wheel import journey
from kafkalearn.releases.ledger import ledger
from kafkalearn.scenarios.durations import newcomer_ms
from kafkalearn.scenarios.remedies import ABSENCES, REMEDIES, Remedy, is_avoided
from kafkalearn.spark import bursts, columns, coordinator, functions, partitioning
from kafkalearn.spark.agreement import with_agreement
from kafkalearn.spark.offsets.changes import with_moved_by
from kafkalearn.spark.rebalances import with_classic_cost, with_rebalance_ms
from kafkalearn.spark.remedies import with_avoided
from kafkalearn.spark.waiting import CASES, with_latency, with_wheel_moves
from kafkalearn.spark.zookeeper import with_backlog, with_fetcher
from kafkalearn.zookeeper.commits.simulator import backlogs
from kafkalearn.zookeeper.eras import classic_newcomer, newcomer, read_twice
from kafkalearn.zookeeper.fetching import fetcher_id
from tests.running.night import at_night

pytestmark = pytest.mark.spark

SCRIPTS = ((0x20, 0x7E), (0xA0, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))  # by UTF-8 length
SMALLEST_HASH = ("polygenelubricants", "GydZG_", "DESIGNING WORKHOUSES", "group-feyd_ha")
LENGTHS = (*range(18), 31, 32, 33, 100, 255)  # around each multiple of 4, where murmur2 changes its step
PAUSES = (0, 0, 0, 201, 1999, 3001, 6007, 9013, 15_011, 20_000)
SLOW = (1, 999, 1000, 1007, 1100, 3000, 20_000, 299_999, 300_000, 301_000, 1_000_000)
HEARTBEATS = (100, 250, 500, 1000, 1498, 2996, 3000, 5000, 10_000, 12_345)
WRAPPING = [LAST_SEQUENCE - 2, LAST_SEQUENCE - 1, LAST_SEQUENCE, 0, 1, LAST_SEQUENCE, LAST_SEQUENCE - 2, 2, 0]
AWAY_MS = (None, 2_000, 20_000, 41_000, 46_000, 71_000, 100_000, 290_000, 310_000)
TRIED = (*REMEDIES, Remedy("static, session 2 min", is_static=True, session_timeout_ms=120_000))
ODD = (b"", b"orders", "订单🙂".encode(), b"\x00", b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xed\x9f\xbf",
       b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xe8\xae", b"\x80", b"\xff")  # fmt: skip
"""Text, and bytes that are nearly none: an overlong zero, half of a pair, one above the last code point, a cut one."""


class Rows(NamedTuple):
    """Rows: their columns, how many are drawn, how one is, and those that must be among them."""

    schema: str
    count: int
    draw: Callable[[Random, int], tuple]
    more: Sequence[tuple] = ()

    def drawn(self, times: int) -> list[tuple]:
        rng = Random(self.schema)
        return [*self.more, *(self.draw(rng, at) for at in range(self.count * times))]


def text(rng, _):
    return ("".join(chr(rng.randint(*rng.choice(SCRIPTS))) for _ in range(rng.randrange(25))),)


def group(rng, _):
    members = rng.randint(2, 8)
    pauses = [rng.choice(PAUSES) and rng.choice(PAUSES) for _ in range(members)]
    return members * rng.randint(1, 3) + rng.randrange(2), pauses, rng.choices(range(9), k=members)


def working_group(rng, _):
    slow = (*SLOW, rng.randrange(100_000), rng.randrange(1_000_000))
    works = [rng.choice(slow) if rng.random() < 0.2 else 0 for _ in range(rng.randint(2, 12))]
    return works, rng.choice(HEARTBEATS), rng.choice((300_000, 30_000, 10_000))


def batches(rng, at):
    """Batches in no order; or nearly in order, and most of them again."""
    if at % 3:
        return [*range(40)], rng.choices((0, 0, 0, 1, 2), k=40), rng.choices(range(9), k=40)
    return [*range(60)], [0] * 60, [rng.randrange(max(nth // 2 - 6, 0), nth // 2 + 2) for nth in range(60)]


def timer(rng, _):
    added_ms, timeout_ms = rng.randrange(10**6), rng.choice((1, 19, 20, 399, 400, rng.randrange(1, 10**5)))
    return added_ms, timeout_ms, rng.choice((None, added_ms + rng.randrange(2 * timeout_ms)))


def absence(rng, _):
    return rng.choice([*ABSENCES]), rng.choice((*AWAY_MS, rng.randrange(50_000), rng.randrange(400_000)))


def commit(rng, at):
    return at, f"g{rng.randrange(12)}", rng.choice("ab"), rng.randrange(2), rng.choice((None, *range(6)))


def piece(rng, _):
    """Bytes with something before and behind, and where they lie."""
    inside = rng.choice((b"".join(rng.choices(ODD, k=rng.randint(1, 3))), rng.randbytes(rng.randrange(12))))
    return b"\xe8\xae" + inside + b"\xa2", 2, len(inside)


class Equal(NamedTuple):
    """A rule on Spark, what has its answers when it is given the columns, and what the rule is given beside rows."""

    rule: Callable
    scalar: Callable[..., Iterable]
    options: dict


def of_each(rule, scalar, **options):
    """A rule that looks at a row alone."""
    return Equal(rule, partial(map, scalar), options)


def of_known(rule, scalar, **options):
    """The same, where null gives null."""
    return of_each(rule, lambda *row: None if None in row else scalar(*row), **options)


def column(function):
    """A function of columns, as a rule."""
    return lambda rows, **options: rows.withColumn("found", function(**options))


def is_utf8(rows):
    return rows.withColumn("found", columns.is_utf8(rows, *map(sf.col, ("data", "start", "size"))))


# What says the same without Spark, where that is more than a call.


def of_formula(name):
    return lambda group_id: FORMULAS[name](java_string_hash(group_id), 50)


def of_leaders(**known):
    return lambda group_id: find_coordinator(group_id, **known).broker_id


def of_partitioner(name):
    return lambda key: partition_for_key(key.encode() if isinstance(key, str) else bytes(key), 37, name)


def of_retries(**retries):
    return lambda count, pauses, read: (*newcomer(pauses, count, **retries), read_again(*read))


@cache
def read_again(*read):
    return read_twice(read, auto_commit=False)


def of_trip(acks, replica_count):
    return lambda there, back, *others: latency(acks, Trip(there, back, others[: replica_count - 1]))


def judged(numbers, epochs, sequences):
    """The log of a leader, how many duplicates came, and how many batches it refused."""
    entry, log, duplicate_count = None, [], 0
    for each, epoch, sequence in zip(numbers, epochs, sequences, strict=True):
        verdict = judge(entry, Stamp(7, epoch, sequence))
        duplicate_count += verdict.duplicate_of is not None
        if verdict.is_accepted:
            entry = remember(entry, Stamp(7, epoch, sequence), len(log))
            log.append(each)
    return log, duplicate_count, len(numbers) - len(log) - duplicate_count


def wheel_moves(wheels, added_ms, timeout_ms, done_ms):
    places = journey(timeout_ms, added_ms, **wheels)
    end_ms = added_ms + timeout_ms if done_ms is None else min(done_ms, added_ms + timeout_ms)
    return sum(place.bucket_time_ms <= end_ms for place in places[:-1])


def avoided_by(trouble, away_ms):
    return [each.name for each in TRIED if is_avoided(each, trouble, away_ms)]


def moved_by(_, *keys_and_offsets):
    *keys, offsets = keys_and_offsets
    return moves(zip(zip(*keys, strict=True), offsets, strict=True))


def is_text(data, start, size):
    try:
        data[start : start + size].decode()
    except UnicodeDecodeError:
        return False
    return True


LEADERS = (
    {"leaders": [1, None, 3], "partition_count": 3},
    {"brokers": [4, 5, 6]},
    {"brokers": 3, "partition_count": 7},
)
RETRIES = ({"backoff_ms": 2000, "max_retries": 4}, {"backoff_ms": 500, "max_retries": 9})
WHEELS = ({}, {"tick_ms": 3, "wheel_size": 5}, {"wheel_size": 2})
KEYS = [
    of_known(rule, of_partitioner(name), key="key", partition_count=37, partitioner=name)
    for rule in (partitioning.with_partition, column(functions.kafka_partition))
    for name in PARTITIONERS
]

EQUAL = {
    "group ids": (
        Rows("group_id string", 10_000, text, [(None,), *((each,) for each in SMALLEST_HASH)]),
        [
            of_known(coordinator.with_group_hash, java_string_hash),
            *(of_known(coordinator.with_offsets_partition, of_formula(each), formula=each) for each in FORMULAS),
            *(
                of_known(column(functions.offsets_partition), of_formula(each), group_id="group_id", formula=each)
                for each in FORMULAS
            ),
            *(of_known(coordinator.with_coordinator, of_leaders(**known), **known) for known in LEADERS),
        ],
    ),
    "keys": (
        Rows(
            "key binary",
            10_000,
            lambda rng, _: (rng.randbytes(rng.choice(LENGTHS)),),
            [(None,), (b"",), (b"\x00",), (b"\xff\xfe\xfd",)],
        ),
        KEYS,
    ),
    "keys that are text": (Rows("key string", 1_000, text, [(None,), ("",), ("ключ-🔑",)]), KEYS),
    "partitions": (
        Rows(
            "topic string, partition int",
            10_000,
            lambda rng, at: (*text(rng, at), rng.randrange(25)),
            [(None, 1), ("a", None), (SMALLEST_HASH[0], 0)],
        ),
        [
            of_known(with_fetcher, partial(fetcher_id, num_consumer_fetchers=count), num_consumer_fetchers=count)
            for count in (7, 10)
        ],
    ),
    "old groups": (
        Rows(
            "partition_count int, pause_ms array<int>, uncommitted array<int>",
            60,
            group,
            [(1, [201], [0]), (1, [0, 3001, 0, 9013], [1] * 4), (50, [6007, 1999], [7, 8]), (41, [0, 201, 0], [0] * 3)],
        ),
        [of_each(with_agreement, of_retries(**retries), **retries) for retries in RETRIES],
    ),
    "classic groups": (
        Rows("work_ms array<int>, uncommitted array<int>", 40, lambda rng, at: group(rng, at)[1:]),
        [
            of_each(
                with_classic_cost, partial(classic_newcomer, max_poll_interval_ms=limit), max_poll_interval_ms=limit
            )
            for limit in (10_000, 300_000)
        ],
    ),
    "groups at work": (
        Rows("work_ms array<int>, heartbeat_interval_ms int, max_poll_interval_ms int", 180, working_group),
        [of_each(with_rebalance_ms, newcomer_ms)],
    ),
    "batches": (
        Rows(
            "numbers array<int>, epochs array<int>, sequences array<int>",
            300,
            batches,
            [([], [], []), ([*range(9)], [3] * 9, WRAPPING)],
        ),
        [of_each(bursts.with_log, judged)],
    ),
    "timers": (
        Rows("added_ms bigint, timeout_ms int, done_ms bigint", 3_000, timer),
        [of_each(with_wheel_moves, partial(wheel_moves, wheels), **wheels) for wheels in WHEELS],
    ),
    "round trips": (
        Rows(
            "there_us int, back_us int, follower_1_us int, follower_2_us int, follower_3_us int, follower_4_us int",
            100,
            lambda rng, _: tuple(rng.choices(range(20_000), k=6)),
        ),
        [
            of_each(with_latency, of_trip(acks, count), acks=acks, replica_count=count)
            for acks, count in ((0, 3), *CASES)
        ],
    ),
    "absences": (
        Rows("trouble string, away_ms bigint", 5_000, absence),
        [of_each(with_avoided, avoided_by, remedies=TRIED)],
    ),
    "commits": (
        Rows(
            "offset int, group_id string, committed_topic string, committed_partition int, committed_offset bigint",
            600,
            commit,
        ),
        [Equal(with_moved_by, moved_by, {})],
    ),
    "seconds": (
        Rows("second int, requests int", 300, lambda rng, at: (at, rng.choice((0, 0, 5, 20, 60)))),
        [
            Equal(
                with_backlog,
                lambda _, asked, done=done: backlogs(asked, done),
                {"asked": "requests", "done_per_second": done},
            )
            for done in (9, 11, 25)
        ],
    ),
    "bytes": (
        Rows("data binary, start int, size int", 600, piece, [(None, 0, 0), (b"a", None, 0), (b"a", 0, None)]),
        [of_known(is_utf8, is_text)],
    ),
}
"""By a name of the rows: the rows, and the rules that they are given to."""

BY_JAVA = ("group ids", "keys", "keys that are text", "partitions", "bytes")
"""Rows whose rules call Java's own functions where Spark lets them."""


@pytest.mark.parametrize("times", [1, *at_night(10)])
@pytest.mark.parametrize(
    ("name", "route"),
    [*((each, "compiled") for each in EQUAL), *((each, "public") for each in BY_JAVA)],
    indirect=["route"],
)
def test_every_row_has_the_answers_of_the_rules_without_spark(spark, route, name, times):
    rows, rules = EQUAL[name]
    drawn = rows.drawn(times)
    df = spark.createDataFrame(drawn, rows.schema)
    for nth, (rule, _, options) in enumerate(rules):
        after = rule(df, **options)
        added = sf.struct(*(each for each in after.columns if each not in df.columns))
        df = after.select(*df.columns, added.alias(f"answers_{nth}"))
    found = [*zip(*sorted(df.collect(), key=lambda row: (row[0] is not None, row[0])), strict=True)]
    given, answers = found[: -len(rules)], found[-len(rules) :]

    assert len(given[0]) == len(drawn)
    for (rule, scalar, options), structs in zip(rules, answers, strict=True):
        said = [each[0] if len(each) == 1 else tuple(each) for each in structs]
        compared = zip(zip(*given, strict=True), said, scalar(*given), strict=True)
        assert [each for each in compared if each[1] != each[2]] == [], f"{rule.__name__} with {options}"
    assert len({*map(repr, zip(*answers, strict=True))}) > 1, "the rows are all of one kind"


def module_at(path):
    return import_module(".".join(path.relative_to(REPOSITORY).with_suffix("").parts))


def rules_on_spark():
    """The public functions that make a DataFrame of their first argument, which is one, too: by their full names."""
    for path in (REPOSITORY / "kafkalearn" / "spark").rglob("*.py"):
        for name, function in vars(module_at(path)).items():
            given = getattr(function, "__annotations__", {})
            is_rule = next(iter(given.values()), None) == given.get("return") == "DataFrame"
            is_public = not name.startswith("_") and path.parent.name not in ("data", "session")
            if is_rule and is_public and inspect.isfunction(function):
                yield f"{function.__module__}.{function.__name__}"


def rules_held_by_marks():
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        if "mark.equal(" in path.read_text(encoding="utf-8"):
            marks = [mark for test in vars(module_at(path)).values() for mark in getattr(test, "pytestmark", ())]
            yield from (f"kafkalearn.spark.{rule}" for mark in marks if mark.name == "equal" for rule in mark.args)


def test_every_rule_on_spark_is_held_equal_to_one_without():
    rules, marked = {*rules_on_spark()}, {*rules_held_by_marks()}
    here = {f"{each.rule.__module__}.{each.rule.__name__}" for _, held in EQUAL.values() for each in held}
    checks = [(rule.function, check) for rule in ledger() for check in rule.checks if check.way == "equality"]
    entered = {rule for rule, check in checks if "spark/test_equal.py" not in check.test}
    assert rules - here - entered - marked == set()
    assert marked - rules | marked & (here | entered) == set(), "these are held where they need no mark, or are none"
