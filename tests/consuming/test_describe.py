"""What the tool prints, by the formats in Kafka's source at 0.10.2.2, 1.0.2, 1.1.1, 2.2.2, 2.3.0 and 4.0."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming.describe import DescribedPartition, describe_group, describe_warning, lag_columns

OWNED = DescribedPartition("test", 0, 100, 105, "consumer-1-6f1e", "/127.0.0.1", "consumer-1")
UNOWNED = DescribedPartition("test", 1, 7, 7)
SHORT = DescribedPartition("t", 0, None, 5, "c", "/h", "x")

FORMATS = {
    "4.3": "\n%-15s %-15s %-10s %-15s %-15s %-15s %-15s %-15s %s",
    "2.3": "\n%-15s %-15s %-10s %-15s %-15s %-15s %-15s %-15s %s",
    "2.2": "\n%-15s %-10s %-15s %-15s %-15s %-15s %-15s %s",
    "1.1": "\n%-15s %-10s %-15s %-15s %-15s %-15s %-15s %s",
    "1.0": "\n%-30s %-10s %-15s %-15s %-10s %-50s%-30s %s",
    "0.10.2": "\n%-30s %-10s %-15s %-15s %-10s %-50s%-30s %s",
}
"""The formats as the source of each release has them, for values that are not longer than their columns."""


@pytest.mark.parametrize("release", FORMATS)
def test_each_release_prints_its_own_columns_to_the_character(release):
    rows = [lag_columns(release), ("test-group", "test", 0, 100, 105, 5, "consumer-1-6f1e", "/127.0.0.1", "consumer-1")]
    rows = [rows[0], rows[1][-len(rows[0]) :]]
    expected = "".join(FORMATS[release] % tuple(row) for row in rows) + "\n"

    assert describe_group("test-group", [OWNED], release=release) == expected


def test_the_example_of_the_tool_itself():
    lines = describe_group("test-group", [UNOWNED, OWNED]).split("\n")
    assert lines == [
        "",
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     "
        "HOST            CLIENT-ID",
        "test-group      test            0          100             105             5               consumer-1-6f1e "
        "/127.0.0.1      consumer-1",
        "test-group      test            1          7               7               0               -               "
        "-               -",
        "",
    ]


def test_columns_grow_with_the_longest_value():
    long = DescribedPartition("a-topic-with-a-long-name", 0, 1, 1, "consumer-a-long-group-1-0f3c", "/10.0.0.1", "c")
    header, row = describe_group("a-group-with-a-long-id", [long]).strip("\n").split("\n")
    assert header.index("TOPIC") == len("a-group-with-a-long-id") + 1
    assert header.index("PARTITION") == header.index("TOPIC") + len("a-topic-with-a-long-name") + 1
    assert row.index("/10.0.0.1") == header.index("HOST")


def test_members_with_most_partitions_come_first_then_what_nobody_owns():
    rows = [
        DescribedPartition("u", 9, 1, 1),
        DescribedPartition("t", 4, 1, 1, "few", "/h", "few"),
        DescribedPartition("t", 3, 1, 1, "many", "/h", "many"),
        DescribedPartition("t", 1, 1, 1, "many", "/h", "many"),
        DescribedPartition("u", 8, None, 5),
    ]
    printed = describe_group("g", rows).strip("\n").split("\n")[1:]
    assert [line.split()[2] for line in printed] == ["1", "3", "4", "9"]  # of u-8 nothing is known: no row


def test_what_is_missing_is_a_dash_and_a_lag_may_be_negative():
    ahead = DescribedPartition("t", 1, 9, 5, "c", "/h", "x")
    lines = describe_group("g", [SHORT, ahead]).strip("\n").split("\n")
    assert [line.split()[3:6] for line in lines[1:]] == [["-", "5", "-"], ["9", "5", "-4"]]


def test_an_empty_a_rebalancing_and_a_dead_group_are_told():
    assert describe_warning("g", "Empty") == "\nConsumer group 'g' has no active members.\n"
    assert describe_warning("g", "PreparingRebalance") == "\nWarning: Consumer group 'g' is rebalancing.\n"
    assert describe_warning("g", "Stable") == ""
    assert describe_group("g", [], "Dead") == "\nError: Consumer group 'g' does not exist.\n"
    assert describe_group("g", [UNOWNED], "Empty").count("\n") == 3
    assert describe_group("g", []) == ""


def test_what_was_never_printed_so_is_refused():
    with pytest.raises(KafkaLearnError, match=r"since 0\.10\.2, got release 0\.10\.1"):
        describe_group("g", [OWNED], release="0.10.1")
    with pytest.raises(KafkaLearnError, match="unknown state 'stable'"):
        describe_group("g", [OWNED], "stable")
