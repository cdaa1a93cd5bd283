import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.batches import HEADER, POLYNOMIAL, ROW_BYTES, crc32c, read_batch
from kafkalearn.formats.records import BATCH_HEADER_BYTES, MARKER_BYTES, batch_bytes
from kafkalearn.formats.segments import parse_segment
from kafkalearn.formats.wire import Undecodable
from tests.recorded import recorded, unhex

CASES = recorded("record-batches")["cases"]
PLAIN = [case for case in CASES if case["compression"] == "none" and "control" not in case]


def batch_id(case):
    return f"{case['compression']}-{case.get('control', case['base_offset'])}-{len(case['hex'])}"


blobs = st.none() | st.binary(max_size=20)
rows = st.lists(
    st.tuples(blobs, blobs, st.integers(0, 2**41), st.lists(st.tuples(st.text(max_size=3), blobs), max_size=2)),
    min_size=1,
    max_size=5,
)


@given(rows, st.integers(0, 1), st.booleans())
def test_what_another_implementation_writes_is_read(rows, codec, is_idempotent):
    who = (9, 2, 100) if is_idempotent else (-1, -1, -1)
    builder = DefaultRecordBatchBuilder(2, codec, 0, *who, 1 << 20)
    for offset, (key, value, timestamp_ms, headers) in enumerate(rows):
        builder.append(offset, timestamp_ms, key, value, headers)
    batch = read_batch(bytes(builder.build()))

    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == who
    assert [(each.key, each.value, each.timestamp_ms, list(each.headers)) for each in batch.records] == rows


@given(st.sampled_from(PLAIN), st.data())
def test_a_changed_byte_behind_the_checksum_is_noticed(case, data):
    whole = bytearray.fromhex(case["hex"])
    whole[data.draw(st.integers(21, len(whole) - 1))] ^= data.draw(st.integers(1, 255))

    with pytest.raises(Undecodable, match="crc at byte 17"):
        read_batch(bytes(whole))


@given(st.sampled_from(CASES), st.data())
def test_a_batch_that_is_cut_off_is_a_torn_tail_of_its_file(case, data):
    whole = bytes.fromhex(case["hex"])
    cut = data.draw(st.integers(1, len(whole) - 1))
    segment = parse_segment(whole + whole[:cut])

    assert len(segment.batches) == 1
    assert (segment.rest.position, segment.rest.size_bytes) == (len(whole), cut)


@given(st.sampled_from(CASES), st.data())
def test_damage_never_ends_in_another_error_even_without_the_checksum(case, data):
    whole = bytearray.fromhex(case["hex"])
    for _ in range(3):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    segment = parse_segment(bytes(whole), has_checksum=False)
    assert segment.rest is not None or segment.batches


def changed(position, packed):
    whole = bytearray.fromhex(PLAIN[0]["hex"])
    whole[position : position + len(packed)] = packed
    return bytes(whole)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x00" * 5, "baseOffset at byte 0 and batchLength need 12 bytes, 5 are left"),
        (b"\x00" * 40, "batchLength at byte 8 is 0: the file may have been preallocated"),
        (changed(8, b"\x7f\xff\xff\xff"), "batchLength at byte 8 says 2147483647, .* it is cut off"),
        (changed(16, b"\x01"), "magic at byte 16 is 1; only format 2 is read"),
        (changed(17, b"\x00\x00\x00\x00"), "crc at byte 17 is 0x00000000"),
    ],
)
def test_bytes_that_are_no_batch_name_the_field_and_the_byte(data, message):
    with pytest.raises(Undecodable, match=message):
        read_batch(data)


@pytest.mark.parametrize(
    ("position", "packed", "message"),
    [
        (21, b"\x00\x05", "attributes at byte 21 name codec 5; known are 0 to 4"),
        (57, struct.pack(">i", 1 << 30), "recordCount at byte 57 is 1073741824"),
        (57, struct.pack(">i", 0), "records at byte 61 end here, .* more bytes are in the batch"),
        (21, b"\x00\x01", "records at byte 61 gzip cannot undo it"),
    ],
)
def test_a_header_that_does_not_fit_its_records_says_where(position, packed, message):
    with pytest.raises(Undecodable, match=message):
        read_batch(changed(position, packed), has_checksum=False)


@pytest.mark.parametrize(
    ("read", "given", "message"),
    [
        (read_batch, {"position": -1}, "position must be at least 0, got -1"),
        (read_batch, {"position": 10**5000}, "position must be at most .* a whole number of about 5,001 digits"),
        (read_batch, {"position": b"\xff"}, "position must be a whole number of at least 0, got bytes"),
        (read_batch, {"batch_limit_bytes": 0}, "batch_limit_bytes must be at least 1, got 0"),
        (parse_segment, {"base_offset": "0"}, "base_offset must be a whole number of at least 0, got str '0'"),
        (parse_segment, {"batch_limit_bytes": 0.5}, "batch_limit_bytes must be a whole number of at least 1"),
    ],
)
def test_a_place_and_a_limit_are_numbers_of_bytes(read, given, message):
    with pytest.raises(KafkaLearnError, match=message):
        read(bytes.fromhex(PLAIN[0]["hex"]), **given)


LONGEST_FIRST = [at_least for at_least, _ in ROW_BYTES]


def bit_by_bit(data):
    """The definition of the checksum: a division of polynomials."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize(("data", "crc"), [(b"", 0), (b"123456789", 0xE3069283), (b"\x00" * 32, 0x8A9136AA)])
def test_the_checksum_is_castagnolis(data, crc):
    assert crc32c(data) == crc


@pytest.mark.parametrize("size", [0, 1, 63, *(size + more for size in LONGEST_FIRST for more in (-1, 0, 1, 70, 255))])
def test_data_of_any_length_has_the_checksum_of_the_definition(size):
    data = random.Random(size).randbytes(size)
    assert crc32c(data) == bit_by_bit(data)


def without_headers(case):
    return not any(each["headers"] for each in case["records"])


@pytest.mark.parametrize(
    "case", list(filter(without_headers, PLAIN)), ids=lambda case: f"{len(case['records'])}-records"
)
def test_a_batch_takes_the_bytes_that_kafka_wrote(case):
    times = case.get("given_ms") or [each["timestamp_ms"] for each in case["records"]]
    records = [
        (each["offset"], at_ms, unhex(each["key"]), unhex(each["value"]))
        for each, at_ms in zip(case["records"], times, strict=True)
    ]
    base_ms = times[0] if case["delete_horizon_ms"] is None else case["delete_horizon_ms"]
    assert batch_bytes(case["base_offset"], base_ms, records) == len(case["hex"]) // 2


@pytest.mark.parametrize("kind", ["COMMIT", "ABORT"])
def test_a_marker_takes_the_bytes_that_kafka_wrote(kind):
    assert {len(case["hex"]) // 2 for case in CASES if case.get("control") == kind} == {MARKER_BYTES}


def test_the_header_is_as_long_as_its_fields():
    assert HEADER.size == BATCH_HEADER_BYTES
