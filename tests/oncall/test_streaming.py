"""How far a streaming query has come, from its checkpoint: as Spark wrote it, and as nobody should give it."""

from __future__ import annotations

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.oncall.streaming import StreamingProgress, streaming_lag, streaming_progress
from tests.recorded import recorded

CHECKPOINTS = recorded("streaming-checkpoints")
ENDS = {TopicPartition(topic, n): end for topic, ends in CHECKPOINTS["ends"].items() for n, end in enumerate(ends)}
STARTS = dict.fromkeys(ENDS, 0)
ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def checkpoint(tmp_path):
    """A recorded checkpoint as a folder."""

    def made(files):
        for path, text in files.items():
            place = tmp_path / path
            place.parent.mkdir(exist_ok=True)
            place.write_text(text, encoding="utf-8")
        (tmp_path / "offsets" / ".4.crc").write_bytes(b"crc")
        return tmp_path

    return made


def test_a_query_that_was_started_again_is_not_behind(checkpoint):
    progress = streaming_progress(checkpoint(CHECKPOINTS["started again"]))

    assert (progress.batch_id, progress.is_finished) == (4, True)
    assert progress.finished == progress.begun == ENDS
    assert {each.lag for each in streaming_lag(progress, ENDS, STARTS)} == {0}


def test_a_batch_that_was_begun_only_counts_as_not_read(checkpoint):
    progress = streaming_progress(checkpoint(CHECKPOINTS["in a batch"]))
    rows = streaming_lag(progress, ENDS, STARTS)

    assert (progress.batch_id, progress.is_finished) == (4, False)
    assert progress.begun == ENDS
    assert [each.lag for each in rows] == [6, 6, 6, 0, 0]
    assert str(rows[0]) == "orders-0: 6 records behind, next is 16"


def test_records_that_went_before_the_query_came_are_counted(checkpoint):
    """Seen with a real query: with failOnDataLoss it stops, without it goes on at the log's start and says nothing."""
    progress = streaming_progress(checkpoint(CHECKPOINTS["in a batch"]))
    first, second, *_ = streaming_lag(progress, ENDS, STARTS | {ORDERS: 20})

    assert (first.lag, first.lost, first.is_refused) == (2, 4, True)
    assert "4 records from 16 on went before the query came: the log begins at 20" in str(first)
    assert (second.lost, second.is_refused) == (0, False)


def test_a_log_that_ends_before_the_query_is_no_lag(checkpoint):
    progress = streaming_progress(checkpoint(CHECKPOINTS["started again"]))
    first, *_ = streaming_lag(progress, ENDS | {ORDERS: 3}, STARTS)

    assert (first.lag, first.lost, first.is_refused) == (0, 0, True)
    assert "the topic was made anew" in str(first)


def test_a_partition_that_the_query_does_not_know_is_read_from_its_start(checkpoint):
    new = TopicPartition("orders", 3)
    rows = streaming_lag(
        streaming_progress(checkpoint(CHECKPOINTS["started again"])), ENDS | {new: 9}, STARTS | {new: 4}
    )

    assert [(each.lag, str(each)) for each in rows if each.next_offset is None] == [
        (5, "orders-3: new to the query, which begins at its first record; 5 records behind")
    ]


def test_a_query_that_has_finished_nothing_has_read_nothing(checkpoint):
    folder = checkpoint(CHECKPOINTS["in a batch"])
    for path in (folder / "commits").iterdir():
        path.unlink()

    progress = streaming_progress(folder)

    assert (progress.finished, progress.is_finished) == ({}, False)
    assert sum(each.lag for each in streaming_lag(progress, ENDS, STARTS)) == sum(ENDS.values())


def test_other_sources_of_the_same_query_are_left_out(checkpoint):
    folder = checkpoint(CHECKPOINTS["started again"])
    with (folder / "offsets" / "4").open("a") as file:
        file.write('\n{"logOffset":7}\n-\n17')

    assert streaming_progress(folder).begun == ENDS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is damaged: the offsets of a micro-batch begin with a version"),
        ("v1\n{}\n{torn", "is damaged: the offsets of a source are no JSON"),
        ("v1\n{}", "no source of this query is Kafka"),
        ('v1\n{}\n{"logOffset":7}', "no source of this query is Kafka"),
        ('v1\n{}\n{"orders":{"0":-3}}', "orders-0 in 4"),
        ('v1\n{}\n{"orders":{"0":"x"}}', "orders-0 in 4"),
        ("v1\n{}\n" + "[" * 100_000, "is damaged"),
        ("\0\0", "is no text"),
    ],
)
def test_a_damaged_checkpoint_is_refused(checkpoint, text, says):
    folder = checkpoint(CHECKPOINTS["started again"])
    (folder / "offsets" / "4").write_text(text, encoding="utf-8")

    with pytest.raises(KafkaLearnError, match=says):
        streaming_progress(folder)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "a file").write_text("")

    for place in (tmp_path, tmp_path / "nothing", tmp_path / "a file"):
        with pytest.raises(KafkaLearnError, match=r"no checkpoint|cannot be read"):
            streaming_progress(place)


def test_offsets_that_cannot_be_meant_are_refused():
    at_3 = StreamingProgress(0, True, {ORDERS: 3}, {ORDERS: 3})

    with pytest.raises(KafkaLearnError, match="does not have it"):
        streaming_lag(at_3, {}, {})
    with pytest.raises(KafkaLearnError, match="keys are TopicPartition"):
        streaming_lag(at_3, {"orders-0": 3}, {})
    with pytest.raises(KafkaLearnError, match="at most its end, 3"):
        streaming_lag(at_3, {ORDERS: 3}, {ORDERS: 4})
