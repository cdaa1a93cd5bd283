"""How far a group lags behind, what tools print of it, and what its members hand over."""

from dataclasses import replace

import pytest
from hypothesis import given

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import (
    Join,
    Leave,
    Poll,
    Produce,
    Settings,
    commit_rows,
    lags,
    reading_counts,
    simulate,
    start,
)
from kafkalearn.consuming.handovers import handovers
from kafkalearn.consuming.lag import ListedGroup, lags_by_member, list_groups, listed, log_end_lines
from kafkalearn.consuming.simulator import NONE_SKIPPED, NONE_TWICE, ReadingCounts, broken
from tests.consuming.groups import GROUPS, SCHEDULES, SETTINGS, run_what_is_legal


@given(settings=SETTINGS, events=SCHEDULES)
def test_the_last_commit_of_a_run_is_what_the_group_has_committed(settings, events):
    trace = run_what_is_legal(settings, events)
    last = {(row["group_id"], row["partition"]): row["offset"] for row in commit_rows(trace)}
    assert last == {
        (group.group_id, number): offset
        for group in trace[-1].state.groups
        for number, offset in enumerate(group.committed)
        if offset is not None
    }


def test_lag_counts_from_what_is_committed_and_is_not_known_before():
    settings = Settings(2)
    state = simulate(settings, [Join("g", "a"), *[Produce("r")] * 5, Poll("g", "a", 2)])[-1].state
    assert [(each.log_end, each.committed, each.lag, each.member_id) for each in lags(state, "g")] == [
        (3, 2, 1, "a"),
        (2, None, None, "a"),
    ]
    assert lags_by_member(state, "g") == {"a": 3}


def test_of_a_group_that_nobody_has_joined_there_is_no_lag():
    with pytest.raises(KafkaLearnError, match="there is no group 'g'; there are none"):
        lags(start(Settings(1)), "g")


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


JOINS = [Join("g", "a"), Join("g", "b")]
MOVED = [*JOINS, *[Produce()] * 6, Poll("g", "a", 4), Leave("g", "a"), Poll("g", "b", 9)]


@pytest.mark.parametrize(
    ("kept_by", "reset", "counts"),
    [
        ("group", "earliest", ReadingCounts(6, 0, 0)),
        ("group", "latest", ReadingCounts(6, 0, 0)),
        ("member", "earliest", ReadingCounts(6, 4, 0)),
        ("member", "latest", ReadingCounts(4, 0, 2)),
    ],
)
def test_what_a_rebalance_loses_depends_on_whose_the_offsets_are(kept_by, reset, counts):
    settings = Settings(1, auto_offset_reset=reset, offsets_kept_by=kept_by)
    state = simulate(settings, MOVED)[-1].state
    assert reading_counts(state, "g") == counts
    assert (NONE_TWICE in broken(settings, state), NONE_SKIPPED in broken(settings, state)) == (
        counts.again > 0,
        counts.missed > 0,
    )


def test_a_member_that_comes_back_reads_on_from_its_own_offset():
    settings = Settings(1, offsets_kept_by="member")
    state = simulate(settings, [*MOVED, Leave("g", "b"), Join("g", "a"), Produce()])[-1].state
    assert [each.committed for each in lags(state, "g")] == [4]
    assert state.group("g").positions == (4,)


@given(settings=SETTINGS, events=SCHEDULES)
def test_the_group_reads_nothing_twice_and_a_member_from_the_beginning_on_misses_nothing(settings, events):
    for kept_by in ("group", "member"):
        chosen = replace(settings, offsets_kept_by=kept_by)
        state = run_what_is_legal(chosen, events)[-1].state
        for group in state.groups:
            counts = reading_counts(state, group.group_id)
            assert counts.again == 0 or kept_by == "member"
            assert counts.missed == 0 or settings.auto_offset_reset == "latest"


@given(settings=SETTINGS, events=SCHEDULES)
def test_without_a_rebalance_after_the_first_poll_both_are_the_same(settings, events):
    calm = [*JOINS, *(each for each in events if isinstance(each, Produce | Poll))]
    by_group, by_member = (
        run_what_is_legal(replace(settings, offsets_kept_by=kept_by), [*calm, Poll("g", "a", 3), Poll("g", "b", 3)])
        for kept_by in ("group", "member")
    )
    assert by_group[-1].state.group("g").readings == by_member[-1].state.group("g").readings


@given(settings=SETTINGS, events=SCHEDULES)
def test_a_handover_goes_back_as_far_as_a_member_of_its_own_would_begin(settings, events):
    """The first handover of a run costs by member what `handovers` says: until then both runs are the same."""
    by_group = run_what_is_legal(replace(settings, auto_offset_reset="earliest"), events)
    by_member = run_what_is_legal(replace(settings, auto_offset_reset="earliest", offsets_kept_by="member"), events)
    found = [each for each in handovers(by_group) if each.set_back]
    for each in [each for each in found if each.at == found[0].at]:
        group = by_member[each.at].state.group(each.group_id)
        assert group.positions[each.partition] == each.committed - each.set_back


@given(events=SCHEDULES)
def test_a_handover_is_one_partition_that_has_another_owner_than_the_last_one(events):
    trace = run_what_is_legal(Settings(3), events)
    for each in handovers(trace):
        assert each.group_id in GROUPS
        assert trace[each.at].state.group(each.group_id).owner(each.partition) == each.member_id
        assert 0 <= each.set_back <= each.committed
