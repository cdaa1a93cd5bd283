"""The groups that --list prints: as the released tools printed them of real clusters; what it never prints."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Join, Leave, Settings, simulate
from kafkalearn.consuming.lag import ListedGroup, list_groups, listed
from tests.recorded import recorded


@pytest.mark.parametrize("cluster", recorded("tool-lines")["clusters"], ids=lambda each: f"broker {each['broker']}")
def test_each_release_prints_what_its_tool_printed(cluster):
    answered = [ListedGroup(name, kind, state, protocol) for name, protocol, state, kind in cluster["listed"]]

    for case in cluster["lists"]:
        options = {"has_state": "--state" in case["options"], "has_type": "--type" in case["options"]}
        assert list_groups(answered, case["release"], **options) == case["printed"], (case["release"], options)


def test_groups_with_nothing_but_offsets_are_printed_since_1_0():
    groups = [ListedGroup("billing"), ListedGroup("by-hand", protocol_type="")]
    assert list_groups(groups, "0.11.0") == "billing\n"
    assert list_groups(groups, "1.0") == "billing\nby-hand\n"


def test_before_2_1_groups_are_printed_as_the_brokers_answered():
    groups = [ListedGroup(name) for name in ("billing", "shipping", "search")]
    assert list_groups(groups, "2.0").split() == ["billing", "shipping", "search"]
    assert list_groups(groups, "2.1").split() == ["search", "shipping", "billing"]


def test_of_a_simulated_topic_a_group_without_members_is_empty():
    events = [Join("billing", "b0"), Join("audit", "a0"), Leave("audit", "a0")]
    groups = listed(simulate(Settings(partition_count=2), events)[-1].state)

    assert {each.group_id: each.state for each in groups} == {"billing": "Stable", "audit": "Empty"}


def test_no_groups_are_an_empty_text_and_a_heading_where_there_are_columns():
    assert list_groups([]) == ""
    assert list_groups([], "3.7", has_state=True) == "GROUP           STATE\n"
    assert list_groups([], has_type=True) == f"{'GROUP':25} {'TYPE':20}\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: list_groups([], "2.5", has_state=True), "knows --state since 2.6, got release 2.5"),
        (lambda: list_groups([], "3.7", has_type=True), "knows --type since 3.8, got release 3.7"),
        (lambda: list_groups([], "0.8.2"), "modelled since 0.9, got release 0.8.2"),
        (lambda: list_groups(["billing"]), r"must be ListedGroup\(...\), one for each group; got str"),
        (lambda: list_groups(None), "groups"),
    ],
)
def test_what_no_release_knew_is_refused(call, message):
    with pytest.raises(KafkaLearnError, match=message):
        call()
