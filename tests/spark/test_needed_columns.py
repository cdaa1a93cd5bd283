"""Every rule names the column that its rows lack, the one that has another type, the one that it would write over."""

import inspect
from functools import cache
from types import SimpleNamespace

import pytest
from pyspark.sql.types import StructField, StructType

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Settings
from kafkalearn.spark.columns import DECLARED
from tests.every import every_case
from tests.spark.test_equal import rules_on_spark

pytestmark = pytest.mark.spark

ASKED = {
    "acks_all_waits": {"until_ms": 1_000},
    "busiest_broker_shares": {"broker_counts": [3]},
    "bytes_to_copy": {"before": [(1,)], "after": [(2,)]},
    "by_range": {"column": "change_count", "ranges": {"all": 9}},
    "counts_by_partition": {"partition_count": 6},
    "fetch_waits": {"min_bytes": 1},
    "fetcher_loads": {"load": "load"},
    "high_watermarks": {"until_ms": 1_000, "every_ms": 100},
    "isr_changes": {"until_ms": 1_000},
    "load_of_brokers": {"leaders": [1]},
    "log_events": {"cluster": "eu"},
    "move_seconds": {"throttle_bytes_per_s": 1},
    "moved_share_by_count": {"partition_counts": [6]},
    "moves_by_key": {"before": 6, "after": 7},
    "place_costs": {"brokers": 3},
    "plan_costs": {"throttle_bytes_per_s": 1, "plans": ["replicas"]},
    "stable_offsets": {"every_ms": 1_000},
    "with_backlog": {"asked": "requests", "done_per_second": 10},
    "with_coordinator": {"brokers": 3},
    "with_deliveries": {"lock_ms": 1_000},
    "with_latency": {"replica_count": 1},
    "with_partition": {"partition_count": 6},
    "with_retention": {"settings": Settings(), "now_ms": 0},
    "without_coordinator": {"placement": [(1,)], "dead": [1]},
    "worked_off": {"members": 12, "partition_count": 12},
}
"""What a rule is given beside its rows, where it has no default."""

NAMES = {*rules_on_spark()}
RULES = [*DECLARED]


def declared(rule):
    """The columns of each DataFrame, with a type that each may have, and the columns that it adds."""
    parameters = inspect.signature(rule).parameters.values()
    given = {each.name: each.default for each in parameters} | ASKED.get(rule.__name__, {})
    columns, adds = DECLARED[rule]
    frames = [{name.format(**given): types[0] for name, types in each.items()} for each in columns]
    return frames, [name.format(**given) for name in adds]


@cache
def parsed(of_type):
    return StructType.fromDDL(f"a {of_type}")[0].dataType


def schema_of(frame):
    return StructType([StructField(name, parsed(of_type)) for name, of_type in frame.items()])


def refused(rule, frames, said):
    """What a rule says before it looks at more than the columns."""
    rows = [SimpleNamespace(isStreaming=False, schema=schema_of(each), columns=[*each]) for each in frames]
    with pytest.raises(KafkaLearnError, match=said):
        rule(*rows, **ASKED.get(rule.__name__, {}))


def name_of(rule):
    return f"{rule.__module__.rpartition('.')[2]}.{rule.__name__}"


@every_case("rule", RULES, ids=name_of)
def test_the_columns_that_a_rule_declares_are_all_that_it_needs(spark, rule):
    frames, _ = declared(rule)
    rule(*(spark.createDataFrame([], schema_of(each)) for each in frames), **ASKED.get(rule.__name__, {}))


@every_case("rule", RULES, ids=name_of)
@pytest.mark.usefixtures("spark")
def test_a_column_that_is_missing_or_has_another_type_is_named(rule):
    frames, _ = declared(rule)
    for at, frame in enumerate(frames):
        for name in frame:
            without = {each: frame[each] for each in frame if each != name}
            refused(rule, [*frames[:at], without, *frames[at + 1 :]], f"the rows have no column '{name}'")
            of_another = [*frames[:at], {**frame, name: "map<int,int>"}, *frames[at + 1 :]]
            refused(rule, of_another, f"column '{name}' must be .*, it is map<int,int>; ")


@every_case("rule", [rule for rule in RULES if DECLARED[rule].adds], ids=name_of)
@pytest.mark.usefixtures("spark")
def test_a_column_of_the_rows_is_not_written_over(rule):
    (first, *others), adds = declared(rule)
    for name in adds:
        refused(rule, [{**first, name: "int"}, *others], f"a column '{name}' already")


PARTS = {"offsets.decode.members_of_rest", "offsets.state.last", "plans.broker_moves", "real_topic.run_to_the_end"}
"""Rules that others, which check the columns, are made of; the last one takes any stream."""


def test_every_rule_declares_its_columns():
    named = {f"{rule.__module__}.{rule.__name__}" for rule in RULES}
    left = {each.removeprefix("kafkalearn.spark.") for each in NAMES - named}
    assert {each for each in left if not each.startswith("faults.")} == PARTS
