"""Copies of one partition, from several brokers below one folder, are never added up."""

import shutil

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records, read_disk, source_rows
from tests.segments.disk import FOLDER, RECORD_COUNTS, segments

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
