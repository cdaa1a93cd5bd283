"""The settings of a log: Kafka's defaults, and what no broker takes."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Settings
from kafkalearn.log.model import LONG_MAX
from kafkalearn.releases import default


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"cleanup_policy": "compakt"}, "unknown cleanup policy 'compakt'; did you mean 'compact'"),
        ({"segment_bytes": 0}, "segment_bytes must be at least 1, got 0"),
        ({"segment_ms": 1.5}, "segment_ms must be a whole number"),
        ({"min_cleanable_dirty_ratio": 1.5}, "min_cleanable_dirty_ratio must be a number of at least 0 and at most 1"),
        ({"offset_map_slots": 1}, "holds no key at all: a cleaner with such a buffer does not start"),
        ({"message_timestamp_after_max_ms": 1, "release": "3.5"}, "3.6 to 4.3 have it"),
        ({"message_timestamp_difference_max_ms": 1, "release": "4.0"}, "0.10.0 to 3.9 have it"),
        ({"message_timestamp_before_max_ms": -1}, "message_timestamp_before_max_ms must be at least 0, got -1"),
        ({"release": "4"}, "unknown release '4'"),
        ({"cleanup_policy": "", "release": "4.1"}, "came with Kafka 4.2, the release is 4.1"),
        ({"cleanup_policy": "compact,delete", "release": "0.10.0"}, "came with Kafka 0.10.1"),
    ],
)
def test_settings_that_no_broker_takes_are_refused(setting, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(**setting)


def test_the_defaults_are_kafkas():
    for name, setting in {
        "segment_bytes": "segment.bytes",
        "segment_ms": "segment.ms",
        "index_interval_bytes": "index.interval.bytes",
        "segment_index_bytes": "segment.index.bytes",
        "retention_ms": "retention.ms",
        "retention_bytes": "retention.bytes",
        "min_cleanable_dirty_ratio": "min.cleanable.dirty.ratio",
        "min_compaction_lag_ms": "min.compaction.lag.ms",
        "max_compaction_lag_ms": "max.compaction.lag.ms",
        "delete_retention_ms": "delete.retention.ms",
        "max_message_bytes": "max.message.bytes",
    }.items():
        assert getattr(Settings(), name) == default(setting, side="topic")
    assert Settings().max_compaction_lag_ms == LONG_MAX
    assert Settings().timestamp_limits_ms == (LONG_MAX, default("message.timestamp.after.max.ms", side="topic"))
    assert Settings().usable_key_count == 5033164
