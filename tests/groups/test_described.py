"""What a tool shows of a group, by what it asks with."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups.described import NOT_FOUND, described, shown_by_admin


@pytest.mark.parametrize(
    ("group_type", "request_", "version", "state", "error"),
    [
        ("classic", "DescribeGroups", 5, "Stable", "NONE"),
        ("consumer", "DescribeGroups", 5, "Dead", "NONE"),
        ("consumer", "DescribeGroups", 6, "Dead", NOT_FOUND),
        (None, "DescribeGroups", 5, "Dead", "NONE"),
        ("classic", "ConsumerGroupDescribe", 1, "Dead", NOT_FOUND),
        ("consumer", "ConsumerGroupDescribe", 0, "Stable", "NONE"),
    ],
)
def test_a_group_is_shown_by_the_request_of_its_type(group_type, request_, version, state, error):
    answer = described(group_type, request_, version)
    assert (answer.state, answer.error, answer.has_members) == (state, error, state == "Stable")


def test_a_dead_group_and_one_of_the_new_protocol_cannot_be_told_apart_by_the_old_request():
    assert described("consumer", "DescribeGroups", 5) == described(None, "DescribeGroups", 5)
    assert shown_by_admin("consumer") != shown_by_admin(None)


@pytest.mark.parametrize(
    "wrong", [("new", "DescribeGroups", 5), ("classic", "Describe", 5), ("classic", "DescribeGroups", 7)]
)
def test_what_is_not_there_is_refused(wrong):
    with pytest.raises(KafkaLearnError):
        described(*wrong)
