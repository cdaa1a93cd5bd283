"""What real coordinators loaded when their broker started: see tests/vectors/operations/loads.json."""

import pytest

from kafkalearn.operations.loading import load_size
from tests.recorded import recorded, unhex


@pytest.mark.parametrize("case", recorded("loads")["cases"], ids=lambda case: case["name"])
def test_a_load_reads_and_keeps_what_the_brokers_log_says(case):
    size = load_size([(unhex(key), unhex(value)) for key, value in case["records"]])
    record_count, byte_count = case["loaded"]
    assert size.record_count + case["markers"] == record_count
    assert size.byte_count < byte_count == case["bytes"]  # the broker counts the headers too
    assert size.offset_count == sum(map(len, case["committed"].values()))
    assert size.group_count == len(case["groups"])
