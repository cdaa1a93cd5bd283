"""The logs that are made up: the same wherever they are made, and what a query finds in them."""

from datetime import UTC
from types import SimpleNamespace

import pytest

from kafkalearn.spark.data.groups import BILLING, DAY_MS, generate_group_logs
from kafkalearn.spark.group_logs import EVENT_SCHEMA, rebalances

pytestmark = pytest.mark.spark


def test_made_logs_do_not_depend_on_how_spark_is_cut_and_hold_together(spark):
    def rows(partition_count):
        cut = SimpleNamespace(range=lambda count: spark.range(0, count, 1, partition_count))
        return sorted(map(tuple, generate_group_logs(cut, 60, 42).collect()), key=repr)

    made = rows(1)
    assert made == rows(5)
    assert len(made) > 60 * 20
    first_day = {row[2].astimezone(UTC).date().isoformat() for row in made}
    assert first_day == {"2026-03-01"}

    logs = spark.createDataFrame(made, EVENT_SCHEMA)
    assert logs.schema.simpleString() == generate_group_logs(spark, 1, 42).schema.simpleString()
    table = logs.transform(rebalances).collect()
    assert all(0 < row.duration_ms < DAY_MS for row in table)
    assert all(row.generation_after == row.generation_before + 1 for row in table)
    assert len(table) == sum(row[3] == "PreparingRebalance" for row in made)
    cluster, group_id, trouble_count, _ = BILLING
    billing = [row for row in table if row.group_id == group_id]
    assert len(billing) == 2 * trouble_count
    assert {row.trouble for row in billing} == {"poll interval exceeded"}
    assert {row.cluster for row in billing} == {cluster}
