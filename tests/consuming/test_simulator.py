"""What the members of groups read, event by event."""

from itertools import pairwise

import pytest
from hypothesis import given

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, records_read, simulate, start, step
from kafkalearn.consuming.simulator import Appended, Assigned, Committed, Polled
from kafkalearn.partitioning.keyed import partition_for_key
from tests.consuming.groups import SCHEDULES, SETTINGS, run_what_is_legal


@given(events=SCHEDULES)
def test_groups_do_not_notice_each_other(events):
    settings = Settings(3)
    both = run_what_is_legal(settings, events)[-1].state
    alone = run_what_is_legal(settings, [each for each in events if getattr(each, "group_id", "") != "shipping"])

    assert both.group("billing") == alone[-1].state.group("billing")


def test_members_beyond_the_partitions_are_idle_and_take_over():
    settings = Settings(3)
    state = simulate(settings, [Join("shipping", f"s{number}") for number in range(5)])[-1].state
    assert state.group("shipping").idle_member_ids == ("s3", "s4")

    state = step(settings, state, Leave("shipping", "s0"))
    assert state.group("shipping").idle_member_ids == ("s4",)
    assert state.group("shipping").owner(2) == "s3"


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
    group = simulate(settings, events)[-1].state.group("g")
    assert [(each.member_id, each.offset) for each in group.readings] == [
        ("a", 0),
        ("a", 1),
        *(("b", n) for n in (2, 3, 4)),
    ]


@pytest.mark.parametrize(("reset", "offsets"), [("earliest", [0, 1, 2, 3]), ("latest", [3])])
def test_where_nothing_is_committed_the_setting_says_where_to_begin(reset, offsets):
    settings = Settings(1, auto_offset_reset=reset)
    events = [*[Produce("r")] * 3, Join("g", "a"), Produce("r"), Poll("g", "a", 9)]
    group = simulate(settings, events)[-1].state.group("g")
    assert [each.offset for each in group.readings] == offsets


def test_with_latest_what_comes_before_the_first_commit_can_be_missed_twice():
    settings = Settings(1, auto_offset_reset="latest")
    events = [Join("g", "a"), Produce("missed"), Leave("g", "a"), Join("g", "b"), Produce("read"), Poll("g", "b", 9)]
    state = simulate(settings, events)[-1].state
    assert [record.value for record in records_read(state, "g")] == ["read"]


@pytest.mark.parametrize(("assignor", "read"), [("sticky", []), ("cooperative-sticky", ["kept"])])
def test_what_a_member_keeps_it_reads_on_in_a_cooperative_group_only(assignor, read):
    settings = Settings(2, assignor=assignor, auto_offset_reset="latest")
    events = [Join("g", "a"), Produce("kept"), Produce("moved"), Join("g", "b"), Poll("g", "a", 9), Poll("g", "b", 9)]
    state = simulate(settings, events)[-1].state
    assert state.group("g").owned("a") == (0,)
    assert [record.value for record in records_read(state, "g")] == read


def test_a_poll_takes_of_one_partition_at_a_time_and_they_take_turns():
    settings = Settings(2)
    events = [*[Produce("r")] * 6, Join("g", "a"), *[Poll("g", "a", 2)] * 4]
    group = simulate(settings, events)[-1].state.group("g")
    assert [each.partition for each in group.readings] == [0, 0, 1, 1, 0, 1]


def test_a_key_decides_the_partition_and_keyless_records_are_dealt_out():
    settings = Settings(5)
    state = simulate(settings, [Produce("k", b"user-42"), *[Produce("r")] * 5])[-1].state
    assert [len(log) for log in state.logs] == [1 + (number == partition_for_key(b"user-42", 5)) for number in range(5)]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Leave("g", "x"), "x is no member of 'g'; its members are a"),
        (Poll("nobody", "a"), "there is no group 'nobody'; there are 'g'"),
        (Join("g", "a"), "a is in the group already"),
        ("poll", "it knows Produce, Join, Leave, Poll"),
    ],
)
def test_what_makes_no_sense_is_refused(event, said):
    settings = Settings(1)
    state = step(settings, start(settings), Join("g", "a"))
    with pytest.raises(IllegalEvent, match=said):
        step(settings, state, event)


@given(settings=SETTINGS, events=SCHEDULES)
def test_effects_are_what_has_changed(settings, events):
    trace = run_what_is_legal(settings, events)
    for before, frame in pairwise(trace):
        group_id = getattr(frame.event, "group_id", "")
        group, earlier = frame.state.group(group_id), before.state.group(group_id)
        match frame.event:
            case Produce():
                expected = [
                    Appended(number, len(log))
                    for number, log in enumerate(before.state.logs)
                    if log != frame.state.logs[number]
                ]
            case Poll(_, member_id):
                read = group.readings[len(earlier.readings) :]
                expected = []
                if read:
                    (partition,) = {each.partition for each in read}
                    polled = Polled(group_id, member_id, partition, tuple(each.offset for each in read))
                    expected = [polled, Committed(group_id, partition, group.committed[partition])]
            case _:
                expected = [Assigned(group_id, each, group.owned(each)) for each in group.member_ids]
        assert frame.state.effects == tuple(expected)
