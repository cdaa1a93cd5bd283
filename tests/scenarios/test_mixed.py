"""Scenarios in which members speak both protocols: who speaks which, a rolling change, its way back."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios import Joins, Restarts, Speaks, simulate
from kafkalearn.scenarios.experiments import protocol_change_stories, protocol_changes
from kafkalearn.scenarios.text import BadScenario, scenario

POLICY = "group.consumer.migration.policy"


def notes_of(outcome):
    return [frame.event for frame in outcome.trace if frame.event]


def test_a_line_says_who_speaks_which_protocol():
    story = scenario(
        "at 0 s: c1 (classic) and c2 (consumer) join (two pods)\nat 60 s: c1 restarts after 5 s as consumer"
    )
    assert story.events == (
        Speaks(0, "c1", "classic"),
        Joins(0, "c1"),
        Speaks(0, "c2", "consumer"),
        Joins(0, "c2"),
        Speaks(60_000, "c1", "consumer"),
        Restarts(60_000, "c1", 5000),
    )
    assert story.is_mixed
    assert not scenario("at 0 s: c1 (classic pod) and c2 join").is_mixed  # a remark


@pytest.mark.parametrize("line", ["at 9 s: c1 (consumer) leaves", "at 9 s: c1 restarts after 5 s as streams"])
def test_a_protocol_is_said_of_a_process_that_starts(line):
    with pytest.raises(BadScenario, match="c1 restarts after 10 s as consumer"):
        scenario(f"at 0 s: c1 joins\n{line}")


def test_an_event_names_a_protocol_that_there_is():
    with pytest.raises(KafkaLearnError, match="classic"):
        simulate([Speaks(0, "c1", "streams"), Joins(0, "c1")])


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_who_is_not_named_speaks_the_protocol_of_the_run(protocol):
    outcome = simulate("at 0 s: c1 joins\nat 30 s: c2 (consumer) joins", protocol)
    has_changed = any("the group is a consumer group now" in each for each in notes_of(outcome))
    assert has_changed == (protocol == "classic")
    assert outcome.at(outcome.end_ms).state.state == "Stable"
    assert len(outcome.at(outcome.end_ms).state.readers()) == 6


@pytest.mark.parametrize("release", ["4.0", "4.3", "4.4"])
@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_a_rolling_change_never_lets_two_read_and_ends_with_the_new_protocol(release, assignor):
    outcome = simulate(protocol_change_stories()["rolling change"], release=release, settings={
        "partition.assignment.strategy": assignor,
    })  # fmt: skip
    assert outcome.records_read_twice == 0
    last = outcome.trace[-1].state
    assert last.state == "Stable"
    assert set(last.readers().values()) == {1}
    assert len(last.readers()) == 10
    assert sum("the group is a consumer group now" in each for each in notes_of(outcome)) == 1
    assert not any("the group is a classic group now" in each for each in notes_of(outcome))


def test_rolled_back_at_half_it_is_a_classic_group_as_soon_as_the_last_new_member_leaves():
    outcome = simulate(protocol_change_stories()["rolled back at half"])
    changes = [each for each in notes_of(outcome) if "the group is a" in each]
    assert ["consumer" in each for each in changes] == [True, False]
    assert "a member leaves (c3)" in changes[1]
    generations = [frame.state.generation for frame in outcome.trace]
    assert generations == sorted(generations)
    assert len(outcome.trace[-1].state.readers()) == 10


def test_without_the_policy_each_new_member_fails_until_the_group_is_empty():
    outcome = simulate(protocol_change_stories()["rolling change"], settings={POLICY: "disabled"})
    assert any("the group is a classic one and may not change" in each for each in notes_of(outcome))
    readers = [each.name for each in outcome.trace[-1].state.members if each.doing == "consuming"]
    assert readers == ["c5"]  # the last one finds no member, so the group may begin anew


def test_a_new_member_in_the_first_window_of_a_classic_group_fails():
    outcome = simulate("at 0 s: c1 (classic) joins\nat 1 s: c2 (consumer) joins")
    assert any("waits for its first generation" in each for each in notes_of(outcome))
    assert len(outcome.trace[-1].state.readers()) == 6


def test_what_each_way_costs():
    rows = {row["way"]: row for row in protocol_changes(count=4)}
    assert {row["twice"] for row in rows.values()} == {0}
    assert rows["stop of all"]["rebalances"] < rows["rolling change"]["rebalances"]
    assert rows["rolling change"]["records"] < rows["stop of all"]["records"]
