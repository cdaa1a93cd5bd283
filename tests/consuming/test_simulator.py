from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.consuming import (
    Join,
    Leave,
    Poll,
    Produce,
    Settings,
    check,
    commit_rows,
    drain,
    lags,
    lags_by_member,
    overtakings,
    records_read,
    start,
    step,
    total_lag,
)
from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.trace import extend, run
from tests.consuming.groups import EVENTS, SETTINGS, run_what_is_legal

SCHEDULES = st.lists(EVENTS, max_size=40)


def play(settings, events):
    return run(partial(step, settings), start(settings), events)


@given(settings=SETTINGS, events=SCHEDULES)
def test_every_moment_of_every_schedule_keeps_the_promises(settings, events):
    for frame in run_what_is_legal(settings, events):
        check(settings, frame.state)


@given(events=SCHEDULES)
def test_a_group_that_is_drained_has_read_every_record_once_and_has_no_lag(events):
    settings = Settings(3)
    trace = run_what_is_legal(settings, [*events, Join("billing", "last")])
    trace = extend(partial(step, settings), trace, drain(trace[-1].state, "billing", most=2))
    state = trace[-1].state

    assert sorted(record.number for record in records_read(state, "billing")) == list(range(state.record_count))
    assert total_lag(state, "billing") == 0
    assert set(lags_by_member(state, "billing").values()) <= {0}


@given(events=SCHEDULES)
def test_groups_do_not_notice_each_other(events):
    settings = Settings(3)
    both = run_what_is_legal(settings, events)[-1].state
    alone = run_what_is_legal(settings, [each for each in events if getattr(each, "group_id", "") != "shipping"])

    assert both.group("billing") == alone[-1].state.group("billing")


@given(settings=SETTINGS, events=SCHEDULES)
def test_only_records_of_different_partitions_overtake_each_other(settings, events):
    state = run_what_is_legal(settings, events)[-1].state
    partitions = {record.number: number for number, log in enumerate(state.logs) for record in log}
    for group in state.groups:
        for each in overtakings(state, group.group_id):
            assert each.late.number < each.overtaken_by.number
            assert partitions[each.late.number] != partitions[each.overtaken_by.number]
            assert not each.is_of_one_key


@given(settings=SETTINGS, events=SCHEDULES)
def test_the_last_commit_of_a_run_is_what_the_group_has_committed(settings, events):
    trace = run_what_is_legal(settings, events)
    last = {(row["group_id"], row["partition"]): row["offset"] for row in commit_rows(settings, trace)}
    assert last == {
        (group.group_id, number): offset
        for group in trace[-1].state.groups
        for number, offset in enumerate(group.committed)
        if offset is not None
    }


def test_members_beyond_the_partitions_are_idle_and_take_over():
    settings = Settings(3)
    state = play(settings, [Join("shipping", f"s{number}") for number in range(5)])[-1].state
    assert state.group("shipping").idle_member_ids == ("s3", "s4")

    state = step(settings, state, Leave("shipping", "s0"))
    assert state.group("shipping").idle_member_ids == ("s4",)
    assert state.group("shipping").owner(2) == "s3"


def test_with_one_group_id_two_services_share_the_records_and_the_lag_is_zero():
    settings = Settings(12)
    members = ["billing-0", "billing-1", "billing-2", "search-0"]
    events = [*(Join("billing", each) for each in members), *[Produce("order")] * 120]
    trace = play(settings, events)
    state = extend(partial(step, settings), trace, drain(trace[-1].state, "billing", most=10))[-1].state

    assert {each: len(records_read(state, "billing", each)) for each in members} == dict.fromkeys(members, 30)
    assert total_lag(state, "billing") == 0


def test_a_new_owner_reads_on_from_what_is_committed():
    settings = Settings(1)
    events = [
        *[Produce("r")] * 5,
        Join("g", "a"),
        Join("g", "b"),
        Poll("g", "a", 2),
        Leave("g", "a"),
        Poll("g", "b", 9),
    ]
    group = play(settings, events)[-1].state.group("g")
    assert [(each.member_id, each.offset) for each in group.readings] == [
        ("a", 0),
        ("a", 1),
        *(("b", n) for n in (2, 3, 4)),
    ]


@pytest.mark.parametrize(("reset", "offsets"), [("earliest", [0, 1, 2, 3]), ("latest", [3])])
def test_where_nothing_is_committed_the_setting_says_where_to_begin(reset, offsets):
    settings = Settings(1, auto_offset_reset=reset)
    events = [*[Produce("r")] * 3, Join("g", "a"), Produce("r"), Poll("g", "a", 9)]
    group = play(settings, events)[-1].state.group("g")
    assert [each.offset for each in group.readings] == offsets


def test_with_latest_what_comes_before_the_first_commit_can_be_missed_twice():
    settings = Settings(1, auto_offset_reset="latest")
    events = [Join("g", "a"), Produce("missed"), Leave("g", "a"), Join("g", "b"), Produce("read"), Poll("g", "b", 9)]
    state = play(settings, events)[-1].state
    assert [record.value for record in records_read(state, "g")] == ["read"]


@pytest.mark.parametrize(("assignor", "read"), [("sticky", []), ("cooperative-sticky", ["kept"])])
def test_what_a_member_keeps_it_reads_on_in_a_cooperative_group_only(assignor, read):
    settings = Settings(2, assignor=assignor, auto_offset_reset="latest")
    events = [Join("g", "a"), Produce("kept"), Produce("moved"), Join("g", "b"), Poll("g", "a", 9), Poll("g", "b", 9)]
    state = play(settings, events)[-1].state
    assert state.group("g").owned("a") == (0,)
    assert [record.value for record in records_read(state, "g")] == read


def test_a_poll_takes_of_one_partition_at_a_time_and_they_take_turns():
    settings = Settings(2)
    events = [*[Produce("r")] * 6, Join("g", "a"), *[Poll("g", "a", 2)] * 4]
    group = play(settings, events)[-1].state.group("g")
    assert [each.partition for each in group.readings] == [0, 0, 1, 1, 0, 1]


def test_a_key_decides_the_partition_and_keyless_records_are_dealt_out():
    settings = Settings(5)
    state = play(settings, [Produce("k", b"user-42"), *[Produce("r")] * 5])[-1].state
    assert [len(log) for log in state.logs] == [1 + (number == partition_for_key(b"user-42", 5)) for number in range(5)]


def test_lag_counts_from_what_is_committed_and_is_not_known_before():
    settings = Settings(2)
    state = play(settings, [Join("g", "a"), *[Produce("r")] * 5, Poll("g", "a", 2)])[-1].state
    assert [(each.log_end, each.committed, each.lag, each.member_id) for each in lags(state, "g")] == [
        (3, 2, 1, "a"),
        (2, None, None, "a"),
    ]
    assert lags_by_member(state, "g") == {"a": 3}
    assert total_lag(state, "g") == 1


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Leave("g", "x"), "x is no member of 'g'; its members are a"),
        (Poll("nobody", "a"), "there is no group 'nobody'; there are 'g'"),
        (Join("g", "a"), "a is in the group already"),
        (Poll("g", "a", 0), "at least 1 record"),
        ("poll", "it knows Produce, Join, Leave, Poll"),
    ],
)
def test_what_makes_no_sense_is_refused(event, said):
    settings = Settings(1)
    state = step(settings, start(settings), Join("g", "a"))
    with pytest.raises(IllegalEvent, match=said):
        step(settings, state, event)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: Settings(0), "partition_count must be at least 1"),
        (lambda: Settings(1, assignor="uniform"), "unknown assignor of a client 'uniform'"),
        (lambda: Settings(1, auto_offset_reset="first"), "unknown auto_offset_reset 'first'"),
        (lambda: lags(start(Settings(1)), "g"), "there is no group 'g'; there are none"),
    ],
)
def test_bad_input_is_refused_with_the_reason(ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask()
