"""Settings that no topic and no consumer can have."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Settings


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"partition_count": 0}, "partition_count must be at least 1"),
        ({"partition_count": 1, "assignor": "uniform"}, "unknown assignor of a client 'uniform'"),
        ({"partition_count": 1, "auto_offset_reset": "first"}, "unknown auto_offset_reset 'first'"),
        ({"partition_count": 1, "offsets_kept_by": "zookeeper"}, "unknown offsets_kept_by 'zookeeper'"),
    ],
)
def test_bad_input_is_refused_with_the_reason(options, said):
    with pytest.raises(KafkaLearnError, match=said):
        Settings(**options)
