"""Offsets kept by the group, as in Kafka, against offsets that each member keeps: the same schedules, other costs."""

from dataclasses import replace

import pytest
from hypothesis import given

from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, lags, reading_counts, simulate
from kafkalearn.consuming.handovers import handovers
from kafkalearn.consuming.simulator import NONE_SKIPPED, NONE_TWICE, ReadingCounts, broken
from tests.consuming.groups import GROUPS, SCHEDULES, SETTINGS, run_what_is_legal

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
