"""The raw files of a real broker's offsets topic, and files as they should not be."""

import json
import random
import shutil
import struct
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import by_partition, committed_records, parse_segment, read_disk, read_segment, source_rows
from tests.formats.disk import FOLDER, RECORD_COUNTS, RUNS, segments, told
from tests.formats.writing import batch, framed
from tests.recorded import unhex


def on_disk(run):
    """Every record of a run with its segment and batch, markers too, by partition and offset."""
    return {
        (segment.partition, record.offset): (batch, record)
        for segment in segments(run)
        for batch in segment.batches
        for record in batch.records
    }


@pytest.mark.parametrize("run", RUNS)
def test_the_raw_files_hold_the_records_that_kafka_found_in_them(run):
    read, lines = on_disk(run), told(run)

    assert len(read) == len(lines) == RECORD_COUNTS[run]
    for line in lines:
        batch, record = read[line["partition"], line["offset"]]
        facts = (record.timestamp_ms, record.key, record.value, record.control)
        assert facts == (line["timestamp"], unhex(line["key"]), unhex(line["value"]), line["control"])
        assert line["batch"] == {
            "base": batch.base_offset,
            "last": batch.last_offset,
            "leader_epoch": batch.leader_epoch,
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "transactional": batch.is_transactional,
            "control": batch.is_control,
        }


def test_the_rows_have_the_columns_of_sparks_kafka_source():
    rows = list(source_rows(segments("disk")))

    assert list(rows[0]) == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert len(rows) == 794  # without two markers
    assert {(row["topic"], row["timestampType"]) for row in rows} == {("__consumer_offsets", 0)}
    assert rows[0]["timestamp"].isoformat() == "2026-11-20T12:11:50.555000+00:00"


def test_a_torn_file_is_read_up_to_the_tear(tmp_path):
    source = FOLDER / "disk/__consumer_offsets-9/00000000000000000000.log"
    (tmp_path / "__consumer_offsets-9").mkdir()
    copy = tmp_path / "__consumer_offsets-9/00000000000000000000.log"
    copy.write_bytes(source.read_bytes()[:-10])
    whole, torn = read_segment(source), read_segment(copy)

    assert torn.batches == whole.batches[:-1]
    assert torn.rest.position + torn.rest.size_bytes == torn.size_bytes == whole.size_bytes - 10
    assert "it is cut off" in torn.rest.reason
    assert whole.rest is None


def test_segments_are_found_by_the_names_a_broker_gives_them(tmp_path):
    (tmp_path / "orders-1").mkdir()
    (tmp_path / "orders-1/00000000000000000007.log").write_bytes(b"")
    (tmp_path / "orders-1/00000000000000000000.log.deleted").write_bytes(b"")
    (tmp_path / "cleaner.log").write_bytes(b"")
    (found,) = read_disk(tmp_path)

    assert (found.topic, found.partition, found.base_offset, found.batches) == ("orders", 1, 7, ())
    assert read_disk(tmp_path / "orders-1") == (found,)
    assert read_segment(tmp_path / "orders-1/00000000000000000007.log", "other", 3).topic == "other"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda path: read_disk(path / "none"), "there is no directory"),
        (lambda path: read_disk(path), "no segment below"),
        (lambda path: read_disk(FOLDER / "disk", "orders"), "no segment of topic 'orders' below"),
        (
            lambda path: read_disk(FOLDER / "disk", 10**5000),
            "topic must be a str, got int a whole number of about 5,001",
        ),
        (lambda path: read_disk(FOLDER / "disk", partition="0"), "partition must be a whole number of at least 0"),
        (lambda path: read_segment(path / "0.log"), "there is no segment file"),
        (lambda path: read_segment(FOLDER / "admin.json"), "'admin.json' is not a segment file"),
    ],
)
def test_what_is_not_there_is_said(tmp_path, ask, message):
    with pytest.raises(KafkaLearnError, match=message):
        ask(tmp_path)


def test_a_file_outside_its_directory_needs_a_topic(tmp_path):
    (tmp_path / "copied").mkdir()
    path = tmp_path / "copied/00000000000000000000.log"
    path.write_bytes(b"")
    with pytest.raises(KafkaLearnError, match="directory 'copied' is not named TOPIC-PARTITION; give topic"):
        read_segment(path)


def test_the_recording_tells_where_it_comes_from():
    told_of = json.loads((FOLDER / "admin.json").read_text(encoding="utf-8"))
    assert told_of["kafka"] == "4.3.0"


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


PARTITIONS = ("__consumer_offsets-0", "__consumer_offsets-1")


@pytest.fixture
def cluster(tmp_path):
    """Three brokers: the first and the third have both partitions, the second one only."""
    source = FOLDER / "cleaned/before"
    for broker, partitions in (("broker-1", PARTITIONS), ("broker-2", PARTITIONS[:1]), ("broker-3", PARTITIONS)):
        for name in partitions:
            shutil.copytree(source / name, tmp_path / broker / "kafka-logs" / name)
    return tmp_path


def places(found):
    return [(each.partition, each.log_dir) for each in found]


def test_every_segment_says_in_which_log_dir_it_lies(cluster):
    one, two, three = (f"broker-{number}/kafka-logs" for number in (1, 2, 3))
    assert places(read_disk(cluster)) == [(0, one), (0, two), (0, three), (1, one), (1, three)]
    assert places(read_disk(cluster, log_dir=three)) == [(0, three), (1, three)]
    assert places(read_disk(cluster / one)) == [(0, "."), (1, ".")]
    assert places(read_disk(cluster / one / PARTITIONS[1])) == [(1, ".")]


@pytest.mark.parametrize(
    "count", [lambda found: list(committed_records(found)), lambda found: list(source_rows(found))]
)
def test_what_makes_records_of_segments_refuses_several_copies_and_says_which_there_are(cluster, count):
    asked = (
        "partition __consumer_offsets-0 lies in 3 log dirs, 'broker-1/kafka-logs', 'broker-2/kafka-logs' and "
        "'broker-3/kafka-logs': these are copies of one log; choose one .* log_dir='broker-1/kafka-logs'"
    )
    with pytest.raises(KafkaLearnError, match=asked):
        count(read_disk(cluster))
    assert len(count(read_disk(cluster, log_dir="broker-3/kafka-logs"))) == RECORD_COUNTS["cleaned/before"]


def test_two_partitions_of_one_broker_in_two_log_dirs_are_no_copies(cluster):
    shutil.rmtree(cluster / "broker-3")
    shutil.rmtree(cluster / "broker-1/kafka-logs" / PARTITIONS[0])

    assert len(list(committed_records(read_disk(cluster)))) == RECORD_COUNTS["cleaned/before"]


def test_copies_that_were_read_apart_and_put_together_are_refused_by_their_offsets():
    twice = segments("cleaned/before") + segments("cleaned/after-pass-1")
    with pytest.raises(KafkaLearnError, match=r"reaches up to offset 118, and there is also .* not files of one log"):
        list(committed_records(twice))


def test_moments_of_one_broker_are_copies_too():
    with pytest.raises(KafkaLearnError, match="lies in 3 log dirs, 'after-pass-1', 'after-pass-2' and 'before'"):
        list(committed_records(read_disk(FOLDER / "cleaned")))


@pytest.mark.parametrize(
    ("log_dir", "message"),
    [
        ("broker-2", "unknown log dir 'broker-2'; Known: 'broker-1/kafka-logs', 'broker-2/kafka-logs', "),
        ("broker-2/kafka-logs", "no segment of topic 'orders' in log dir 'broker-2/kafka-logs' below"),
    ],
)
def test_a_log_dir_that_is_not_there_is_refused(cluster, log_dir, message):
    with pytest.raises(KafkaLearnError, match=message):
        read_disk(cluster, "orders", log_dir=log_dir)


def test_what_a_broker_deletes_or_moves_is_no_partition(tmp_path):
    for name in (
        "orders-0",
        "orders-0.9a0364b9e99bb480dd25e1f0284c8555-delete",
        "orders-0.6a-future",
        "orders-0.1-stray",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{0:020}.log").write_bytes(b"")
    assert places(read_disk(tmp_path)) == [(0, ".")]
