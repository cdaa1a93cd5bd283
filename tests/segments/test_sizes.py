import pytest

from kafkalearn.formats.batches import HEADER
from kafkalearn.formats.records import BATCH_HEADER_BYTES, MARKER_BYTES, batch_bytes
from tests.recorded import recorded

CASES = recorded("record-batches")["cases"]
PLAIN = [case for case in CASES if case["compression"] == "none" and "control" not in case]


def unhex(text):
    return None if text is None else bytes.fromhex(text)


def without_headers(case):
    return not any(each["headers"] for each in case["records"])


@pytest.mark.parametrize(
    "case", list(filter(without_headers, PLAIN)), ids=lambda case: f"{len(case['records'])}-records"
)
def test_a_batch_takes_the_bytes_that_kafka_wrote(case):
    records = [
        (each["offset"], each["timestamp"], unhex(each["key"]), unhex(each["value"])) for each in case["records"]
    ]
    base_ms = case["delete_horizon_ms"] if case["delete_horizon_ms"] != -1 else case["records"][0]["timestamp"]
    assert batch_bytes(case["base_offset"], base_ms, records) == len(case["hex"]) // 2


@pytest.mark.parametrize("kind", ["COMMIT", "ABORT"])
def test_a_marker_takes_the_bytes_that_kafka_wrote(kind):
    assert {len(case["hex"]) // 2 for case in CASES if case.get("control") == kind} == {MARKER_BYTES}


def test_the_header_is_as_long_as_its_fields():
    assert HEADER.size == BATCH_HEADER_BYTES
