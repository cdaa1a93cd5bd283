"""The lines of GetOffsetShell: as the released tools printed them of real topics."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming.lag import log_end_lines
from tests.recorded import recorded

ENDS = {"t12": range(1, 13), "empty": [0]}


@pytest.mark.parametrize("cluster", recorded("tool-lines")["clusters"], ids=lambda each: f"broker {each['broker']}")
def test_each_release_prints_what_its_tool_printed(cluster):
    for case in cluster["log_ends"]:
        ends = list(ENDS[case["topic"]])
        assert log_end_lines(case["topic"], ends, case["release"]) == case["printed"], case["release"]


def test_a_partition_without_an_offset_has_an_empty_one_up_to_3_1_and_no_line_since():
    assert log_end_lines("t", [3, None], "3.1") == "t:0:3\nt:1:\n"
    assert log_end_lines("t", [3, None], "3.2") == "t:0:3\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_end_lines("t", [-1]), r"offsets\[0\] must be at least 0, got -1"),
        (lambda: log_end_lines("t", [1.5]), r"offsets\[0\] must be a whole number"),
        (lambda: log_end_lines("t", 3), "offsets"),
        (lambda: log_end_lines(3, [1]), "topic must be a str"),
        (lambda: log_end_lines("t", [1], "0.7"), "0.7"),
    ],
)
def test_what_is_no_offset_is_refused(call, message):
    with pytest.raises(KafkaLearnError, match=message):
        call()
