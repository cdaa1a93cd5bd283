"""A partition of the offsets topic printed from its files, as Kafka's own tools printed it from a broker."""

import base64
import json
from itertools import islice

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.coordinator import offsets_partition
from kafkalearn.formats.disk import parse_segment, read_disk
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.formatter import ends_lines, formatter_lines
from tests.recorded import recorded

WALK = data_directory("command-walk")
STEPS = {each["step"]: each for each in json.loads((WALK / "walk.json").read_text(encoding="utf-8"))["steps"]}
GROUP = "console-consumer-77682"
OFFSETS_TOPIC_DISK = data_directory("offsets-topic") / "disk"


def test_the_files_of_the_walk_are_printed_as_the_console_consumer_printed_their_partition():
    assert "".join(formatter_lines(WALK / "disk", 41)) == STEPS["print"]["printed"]
    assert STEPS["print"]["arguments"][2:4] == ["--partition", "41"]
    assert offsets_partition(GROUP) == 41


@pytest.mark.parametrize("cluster", recorded("printed-partitions")["clusters"], ids=lambda each: each["release"])
def test_commits_of_aborted_transactions_and_groups_are_printed_as_the_tool_printed_them(cluster):
    data = base64.b64decode(cluster["segment"])
    segments = [parse_segment(data, "__consumer_offsets", cluster["partition"])]

    for formatter, printed in cluster["printed"].items():
        lines = formatter_lines(segments, cluster["partition"], cluster["release"], formatter)
        assert "".join(lines) == printed
    assert any(batch.is_transactional for batch in segments[0].batches)


def test_a_whole_disk_is_printed_partition_by_partition():
    segments = read_disk(OFFSETS_TOPIC_DISK)
    one_by_one = [line for each in sorted(segments, key=lambda each: each.partition)
                  for line in formatter_lines([each], each.partition)]  # fmt: skip

    assert list(formatter_lines(OFFSETS_TOPIC_DISK)) == one_by_one
    assert len(one_by_one) > 400


def test_the_lines_end_where_the_tool_of_an_old_release_stops():
    lines = formatter_lines(WALK / "disk", 41, "2.0")  # it knows value versions 0 and 1; here is version 4
    with pytest.raises(Undecodable, match=r"version 4 at byte 0 is unknown to Kafka 2\.0"):
        next(lines)


def test_up_to_3_8_each_record_has_a_line_of_its_own():
    assert (ends_lines("3.8"), ends_lines("3.9")) == (True, False)
    assert "\n" not in STEPS["print"]["printed"]
    assert list(islice(formatter_lines(WALK / "disk", 41, "3.8"), 1)) == [
        f"[{GROUP},tp_test_01,0]::OffsetAndMetadata(offset=0, leaderEpoch=Optional.empty, metadata=, "
        "commitTimestamp=1795336892047, expireTimestamp=None)"
    ]


def test_a_partition_that_is_not_there_names_those_that_are():
    with pytest.raises(KafkaLearnError, match="there is no partition 40 of __consumer_offsets; those here: 41"):
        formatter_lines(WALK / "disk", 40)
    with pytest.raises(KafkaLearnError, match="there is no partition 41 of __consumer_offsets; those here: none"):
        formatter_lines([], 41)
