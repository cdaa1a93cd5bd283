"""Members of groups as rows on Spark are those that the core decodes, of every version, damaged bytes included."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records
from kafkalearn.offsets import decode, encode_key, encode_value
from kafkalearn.offsets.replay import classic_group
from kafkalearn.spark.offsets import decode_offsets, group_members
from kafkalearn.spark.offsets.state import MEMBER_SCHEMA
from tests.offsets.generated import group_values
from tests.segments.disk import segments

pytestmark = pytest.mark.spark

GROUP_KEY = encode_key(2, {"group": "billing"})


def on_spark(spark, records):
    df = spark.createDataFrame(
        [(number, key, value) for number, (key, value) in enumerate(records)], "number int, key binary, value binary"
    )
    rows = df.transform(decode_offsets).transform(group_members).select("number", *MEMBER_SCHEMA.names).collect()
    assigned = [tuple((each.topic, each.partition) for each in row.assigned) for row in rows]
    subscribed = [None if row.subscribed is None else tuple(row.subscribed) for row in rows]
    return sorted(
        ((*row[:7], topics, places) for row, topics, places in zip(rows, subscribed, assigned, strict=True)), key=str
    )


def in_the_core(records):
    rows = []
    for number, (key, value) in enumerate(records):
        record = decode(key, value)
        if record.type.number != 2 or record.is_tombstone:
            continue
        rows += [
            (
                *(number, each.member_id, each.instance_id, each.client_id, each.client_host),
                *(each.rebalance_timeout_ms, each.session_timeout_ms),
                *(each.subscribed, tuple(map(tuple, each.assigned))),
            )
            for each in classic_group(record.group, record.value).members
        ]
    return sorted(rows, key=str)


def test_the_members_on_a_real_disk_are_those_that_the_core_decodes(spark, route):
    records = [(each.key, each.value) for each in committed_records(segments("disk"))]
    expected = in_the_core(records)

    assert len(expected) > 50
    assert on_spark(spark, records) == expected


@given(st.lists(group_values(), min_size=20, max_size=60))
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
def test_generated_members_of_every_version_are_those_that_the_core_decodes(spark, generated):
    records = [(GROUP_KEY, encode_value(2, version, values)) for version, values in generated]

    assert on_spark(spark, records) == in_the_core(records)


def test_records_of_other_kinds_tombstones_and_damaged_ones_have_no_members(spark):
    commit = encode_key(1, {"group": "billing", "topic": "orders", "partition": 0})
    empty = {"protocolType": "consumer", "generation": 1, "protocol": None, "leader": None, "members": []}
    records = [(commit, None), (GROUP_KEY, None), (GROUP_KEY, b"\x00"), (GROUP_KEY, encode_value(2, 3, empty))]

    df = spark.createDataFrame(records, "key binary, value binary")
    assert df.transform(decode_offsets).transform(group_members).count() == 0


def test_records_that_are_not_decoded_yet_are_refused(spark):
    with pytest.raises(KafkaLearnError, match="no column 'error'"):
        group_members(spark.createDataFrame([(GROUP_KEY, None)], "key binary, value binary"))
