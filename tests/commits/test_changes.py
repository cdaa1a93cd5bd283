"""How far each commit moves its group, and what a consumer commits at fixed times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import STRATEGIES, Workload, undisturbed
from kafkalearn.commits.changes import committed_at, moves

log_ends = st.lists(st.integers(0, 9), max_size=12).map(
    lambda steps: [sum(steps[:at]) for at in range(1, len(steps) + 1)]
)


@given(st.lists(st.tuples(st.sampled_from("AB"), st.none() | st.integers(0, 9)), max_size=20))
def test_moves_of_two_partitions_are_those_of_each_alone(commits):
    found = moves(commits)
    for key in "AB":
        places = [at for at, (of, _) in enumerate(commits) if of == key]
        assert moves(commits[at] for at in places) == [found[at] for at in places]
    for (_, offset), moved in zip(commits, found, strict=True):
        assert offset is not None or moved is None


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_moves_lead_from_the_first_offset_to_the_last(offsets):
    first, *found = moves([("orders-0", offset) for offset in offsets])
    assert first is None
    assert offsets[0] + sum(found) == offsets[-1]


def test_a_tombstone_is_no_move_and_what_comes_behind_it_begins_anew():
    assert moves([("a", 3), ("a", None), ("a", 5), ("a", 5)]) == [None, None, None, 0]


@given(log_ends, st.sets(st.integers(0, 11)))
def test_commits_go_back_only_where_a_refused_one_is_sent_again(ends, times):
    refused = {time for time in times if time < len(ends)}
    kept = committed_at(ends, refused=refused)
    again = committed_at(ends, refused=refused, is_retried=True)
    assert kept == [end for time, end in enumerate(ends) if time not in refused]
    assert committed_at(ends) == ends
    is_sent_again = [time for time in refused if time + 1 < len(ends)]
    assert sorted(again) == sorted([*kept, *(ends[time] for time in is_sent_again)])
    back = [moved for moved in moves([("orders-0", offset) for offset in again]) if moved and moved < 0]
    one_alone = [time for time in is_sent_again if time + 1 not in refused and ends[time + 1] > ends[time]]
    assert len(back) >= len(one_alone)
    assert not any(moved and moved < 0 for moved in moves([("orders-0", offset) for offset in kept]))


def test_both_ways_to_fail_are_those_of_the_strategies():
    workload = Workload(refused=(1,))
    for name, is_retried in (("async", False), ("async, retried", True)):
        written = [each.offset for each in undisturbed(STRATEGIES[name], workload)[-1].state.written]
        assert committed_at([3, 6, 9], refused=[1], is_retried=is_retried) == written


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: moves([("orders-0", -1)]), "offset"),
        (lambda: committed_at([3, 2]), "ends falls from 3 to 2"),
        (lambda: committed_at([3, 2.5]), r"ends\[1\]"),
        (lambda: committed_at([3, 6], refused=[2]), r"refused names \[2\]; there are the times 0 to 1"),
    ],
)
def test_what_is_no_log_of_commits_is_refused(ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask()
