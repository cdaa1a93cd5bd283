"""A damaged batch: what the reason says, what lies behind it, and that nothing is skipped without being asked."""

import random
import struct
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import by_partition, committed_records, parse_segment, read_disk, source_rows
from tests.segments.disk import FOLDER
from tests.segments.writing import batch, framed

FIVE = [batch(10 * number, [(10 * number + at, 1000, b"key", b"%d" % at) for at in (0, 9)]) for number in range(5)]
ALL = b"".join(FIVE)
STARTS = [sum(map(len, FIVE[:number])) for number in range(6)]


def changed(position, *packed, data=ALL):
    """The data with some bytes in place of others."""
    whole = bytearray(data)
    for each in packed:
        whole[position : position + len(each)] = each
    return bytes(whole)


def bases(segment):
    return [each.base_offset for each in segment.batches]


IN_THE_SECOND = {
    "a value": (STARTS[1] + 70, b"\xff"),
    "its length, to too much": (STARTS[1] + 8, b"\x7f\xff\xff\xff"),
    "its length, to a little less": (STARTS[1] + 8, struct.pack(">i", len(FIVE[1]) - 14)),
    "its length, to zero": (STARTS[1] + 8, b"\x00\x00\x00\x00"),
    "its length, to less than none": (STARTS[1] + 8, b"\xff\xff\xff\xff"),
    "its format": (STARTS[1] + 16, b"\x01"),
    "its checksum": (STARTS[1] + 17, b"\x00\x00\x00\x00"),
    "its first offset, up": (STARTS[1], struct.pack(">q", 1000)),
    "its first offset, up to nearly nothing": (STARTS[1], struct.pack(">q", 2**63 - 20)),
    "its first offset, down": (STARTS[1], struct.pack(">q", 3)),
    "its first offset, below zero": (STARTS[1], struct.pack(">q", -3)),
    "all of its header": (STARTS[1], b"\xff" * 61),
    "zeros over all of it": (STARTS[1], bytes(len(FIVE[1]))),
}


@pytest.mark.parametrize("damage", IN_THE_SECOND)
def test_damage_in_the_middle_is_passed_over_when_asked_and_only_then(damage):
    data = changed(*IN_THE_SECOND[damage])
    stopped, skipped = parse_segment(data), parse_segment(data, skip_damaged=True)

    assert bases(stopped) == [0]
    assert (stopped.rest.position, stopped.rest.size_bytes, stopped.skipped) == (STARTS[1], STARTS[5] - STARTS[1], ())
    behind = stopped.rest.behind
    assert (behind.position, behind.base_offset, behind.last_offset, behind.batch_count) == (STARTS[2], 20, 49, 3)
    says = f"behind it 3 batches can be read, from byte {STARTS[2]}, offsets 20 to 49: skip_damaged=True reads on"
    assert stopped.rest.reason.endswith(says)

    assert bases(skipped) == [0, 20, 30, 40]
    assert skipped.rest is None
    (left_out,) = skipped.skipped
    assert (left_out.position, left_out.size_bytes, left_out.behind) == (STARTS[1], len(FIVE[1]), None)
    assert stopped.rest.reason.startswith(left_out.reason)


def test_two_damaged_places_are_two_and_the_first_reason_says_that_there_is_more():
    data = changed(STARTS[3] + 70, b"\xff", data=changed(*IN_THE_SECOND["a value"]))
    assert "behind it 2 batches can be read" in parse_segment(data).rest.reason
    assert "and more is damaged there: skip_damaged=True" in parse_segment(data).rest.reason

    read = parse_segment(data, skip_damaged=True)
    assert [bases(read), [each.position for each in read.skipped]] == [[0, 20, 40], [STARTS[1], STARTS[3]]]


@pytest.mark.parametrize("skip_damaged", [False, True])
@pytest.mark.parametrize("cut", [1, 30, 61, len(FIVE[4]) - 1])
def test_a_torn_tail_is_no_damage_in_the_middle(cut, skip_damaged):
    torn = parse_segment(b"".join(FIVE)[: STARTS[4] + cut], skip_damaged=skip_damaged)

    assert (torn.rest.position, torn.rest.behind, torn.skipped) == (STARTS[4], None, ())
    assert "skip_damaged" not in torn.rest.reason


def test_a_batch_inside_the_value_of_a_good_record_is_never_taken_for_one():
    inner = batch(40, [(40, 1000, b"inner", b"")])
    outer = batch(10, [(10, 1000, b"outer", inner)])
    damaged = changed(len(FIVE[0]) + 70, b"\xff", data=FIVE[0] + outer + FIVE[2])

    assert bases(parse_segment(damaged, skip_damaged=True)) == [0, 20]


def test_a_right_checksum_over_records_that_are_not_what_the_header_says_is_damage_too():
    odd = framed(10, 9, 0, 0, 0, (-1, -1, -1), 2, b"\x00" * 14)
    stopped = parse_segment(FIVE[0] + odd + FIVE[2])

    assert "records[0] attributes" in stopped.rest.reason or "records[0]" in stopped.rest.reason
    assert stopped.rest.behind.base_offset == 20


@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        (
            [(5, 0, b"k", b"v")],
            {"last_offset": 3},
            "offsetDelta at byte 62 gives offset 5, behind -1, in a batch that ends at 3",
        ),
        ([(2, 0, b"k", b"v"), (2, 0, b"k", b"v")], {}, "gives offset 2, behind 2"),
        ([(0, 2**63 + 5, b"k", b"v")], {"delete_horizon_ms": 7, "max_timestamp_ms": 0}, "more than 64 bits"),
        ([(0, 0, b"k", b"v")], {"last_offset": -4}, "lastOffsetDelta at byte 23 is -4"),
        ([(0, 0, b"k", b"v")], {"record_count": 3}, "recordCount at byte 57 is 3"),
    ],
)
def test_offsets_timestamps_and_counts_that_no_log_has_are_named(rows, given, message):
    assert message in parse_segment(batch(0, rows, **given)).rest.reason


def test_a_header_count_below_zero_is_named():
    body = bytes.fromhex("0c 00 00 00 01 01 01".replace(" ", ""))  # the last byte: -1 headers
    assert "header count at byte 67 is -1" in parse_segment(framed(0, 0, 0, 0, 0, (-1, -1, -1), 1, body)).rest.reason


@pytest.fixture
def two_files(tmp_path):
    """A log of two files, the first of which has lost its last bytes."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"".join(FIVE[:3])[:-5])
    (folder / f"{30:020}.log").write_bytes(b"".join(FIVE[3:]))
    return tmp_path


def test_the_tail_of_a_file_is_damage_if_the_log_goes_on_in_another(two_files):
    torn, last = read_disk(two_files)
    assert torn.rest.reason.endswith(
        f"the log goes on in {30:020}.log: skip_damaged=True leaves out what is damaged here"
    )
    assert last.rest is None
    for helper in (committed_records, source_rows):
        with pytest.raises(
            KafkaLearnError, match=rf"orders-0/{0:020}\.log is damaged, .*it is cut off; the log goes on"
        ):
            list(helper(read_disk(two_files)))

    torn, _ = read = read_disk(two_files, skip_damaged=True)
    assert (torn.rest, len(torn.skipped)) == (None, 1)
    assert [each.offset for each in committed_records(read)] == [0, 9, 10, 19, 30, 39, 40, 49]


def test_damage_in_the_middle_of_the_last_file_is_refused_where_records_are_made(two_files):
    path = two_files / f"orders-0/{30:020}.log"
    path.write_bytes(changed(70, b"\xff", data=path.read_bytes()))
    (two_files / f"orders-0/{0:020}.log").write_bytes(b"".join(FIVE[:3]))

    with pytest.raises(KafkaLearnError, match=r"behind it 1 batch can be read, .* offsets 40 to 49: skip_damaged=True"):
        list(committed_records(read_disk(two_files)))
    assert [each.offset for each in committed_records(read_disk(two_files, skip_damaged=True))][-2:] == [40, 49]


def test_a_batch_that_reaches_into_the_next_file_is_damaged(two_files):
    path = two_files / f"orders-0/{0:020}.log"
    path.write_bytes(changed(STARTS[2], struct.pack(">q", 25), data=b"".join(FIVE[:3])))
    torn, _ = read_disk(two_files)

    assert "ends the batch at offset 34, the next file begins at 30" in torn.rest.reason


def test_a_file_that_begins_below_its_name_is_damaged(tmp_path):
    (tmp_path / "orders-0").mkdir()
    (tmp_path / f"orders-0/{7:020}.log").write_bytes(FIVE[0])
    (read,) = read_disk(tmp_path)

    assert "baseOffset at byte 0 is 0, the file's name says that it begins at offset 7" in read.rest.reason


# What a disk, a network or a hand may do to recorded files.


def files():
    return sorted((FOLDER / "disk").rglob("*.log")) + sorted((FOLDER / "cleaned").rglob("*.log"))


@cache
def whole(path):
    return path.read_bytes(), parse_segment(path.read_bytes())


def mutated(rng, data):
    """The data with one thing done to it, and the bytes from which on and up to which that was."""
    at = rng.randrange(len(data))
    size = min(rng.choice((1, 1, 2, 8, 61, 400)), len(data) - at)
    match rng.choice(("flip", "write", "zeros", "cut", "remove", "insert", "repeat")):
        case "flip":
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :], at, at + 1
        case "write":
            return data[:at] + rng.randbytes(size) + data[at + size :], at, at + size
        case "zeros":
            return data[:at] + bytes(size) + data[at + size :], at, at + size
        case "cut":
            return data[:at], at, len(data)
        case "remove":
            return data[:at] + data[at + size :], at, at + size
        case "insert":
            return data[:at] + rng.randbytes(size) + data[at:], at, at + 1
        case _:
            return data[:at] + data[at : at + size] + data[at:], at, at + 1


def facts_of(batch):
    return batch.base_offset, batch.last_offset, batch.producer_id, batch.records


@pytest.mark.parametrize("seed", range(4))
def test_mutated_recorded_files_end_in_no_other_error_and_what_was_readable_is_read(seed):
    rng = random.Random(seed)
    for number in range(100):
        path = rng.choice(files())
        data, good = whole(path)
        damaged, start, end = mutated(rng, data)
        untouched = [each for each in good.batches if each.position + each.size_bytes <= start or each.position >= end]
        stopped, read = parse_segment(damaged), parse_segment(damaged, skip_damaged=True)

        there = [facts_of(each) for each in read.batches]
        missing = [each for each in untouched if facts_of(each) not in there]
        assert missing == [], (seed, number, path)
        assert stopped.batches == read.batches[: len(stopped.batches)]
        assert (stopped.rest is None) == (read.rest is None and not read.skipped)
        parts = [*read.batches, *read.skipped, *([read.rest] if read.rest else [])]
        assert sum(each.size_bytes for each in parts) == len(damaged)


@pytest.mark.parametrize("seed", range(2))
def test_mutated_folders_end_in_errors_of_the_library_alone(seed, tmp_path):
    rng = random.Random(seed)
    folder = tmp_path / "__consumer_offsets-0"
    folder.mkdir()
    sources = sorted((FOLDER / "cleaned/after-pass-1/__consumer_offsets-0").glob("*.log"))
    refused = 0
    for _ in range(60):
        for source in sources:
            data = source.read_bytes()
            (folder / source.name).write_bytes(mutated(rng, data)[0] if rng.random() < 0.6 else data)
        for options in ({}, {"has_checksum": False}, {"skip_damaged": True}):
            try:
                list(source_rows(read_disk(tmp_path, **options)))
            except KafkaLearnError:
                refused += 1
                assert options != {"skip_damaged": True}
    assert refused > 30


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=60) | st.sampled_from(FIVE), max_size=8))
def test_rubbish_between_batches_hides_none_of_them_that_is_in_order(parts):
    read = parse_segment(b"".join(parts), skip_damaged=True)
    assert bases(read) == sorted(set(bases(read)))
    if [each for each in parts if each in FIVE] == sorted({each for each in parts if each in FIVE}):
        assert bases(read) == [10 * FIVE.index(each) for each in parts if each in FIVE]


def test_by_partition_wants_segments():
    with pytest.raises(KafkaLearnError, match="segments are expected, as read_disk returns them, got a bytes"):
        by_partition([b"segment"])
