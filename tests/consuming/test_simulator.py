"""What the members of groups read, event by event."""

from itertools import pairwise

import pytest
from hypothesis import given

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.search import explore, whole
from kafkalearn.base.trace import extend
from kafkalearn.consuming import (
    PROMISES,
    Join,
    Leave,
    Poll,
    Produce,
    Settings,
    check,
    drain,
    overtakings,
    records_read,
    simulate,
    start,
    step,
)
from kafkalearn.consuming.describe import DescribedPartition, describe_group, lag_columns
from kafkalearn.consuming.lag import lags, lags_by_member
from kafkalearn.consuming.simulator import IN_ORDER, NONE_IDLE, NONE_SKIPPED, Appended, Assigned, Committed, Polled
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


JOIN, POLL = Join("g", "a"), Poll("g", "a", 2)
EVENTS = [Produce(), JOIN, Join("g", "b"), Leave("g", "a"), POLL]


@given(settings=SETTINGS, events=SCHEDULES)
def test_every_moment_of_every_schedule_keeps_what_always_holds(settings, events):
    for frame in run_what_is_legal(settings, events):
        check(settings, frame.state)


@pytest.mark.parametrize(
    ("promise", "settings", "events"),
    [
        (IN_ORDER, Settings(2), [*[Produce()] * 3, JOIN, POLL, POLL]),
        (NONE_SKIPPED, Settings(1, auto_offset_reset="latest"), [Produce(), JOIN]),
        (NONE_IDLE, Settings(1), [JOIN, Join("g", "b")]),
    ],
)
def test_the_shortest_run_that_breaks_a_promise(promise, settings, events):
    found = explore(whole(settings, step, {promise: PROMISES[promise]}), start(settings), EVENTS, depth=6)
    assert found.broken == (promise,)
    assert sorted(map(str, (frame.event for frame in found.trace[1:]))) == sorted(map(str, events))


def test_one_partition_from_its_beginning_on_is_read_in_order_and_whole():
    settings = Settings(1)
    promises = {name: PROMISES[name] for name in (IN_ORDER, NONE_SKIPPED)}
    assert explore(whole(settings, step, promises), start(settings), EVENTS, depth=6).trace is None


@given(events=SCHEDULES)
def test_a_group_that_is_drained_has_read_every_record_once_and_has_no_lag(events):
    settings = Settings(3)
    trace = run_what_is_legal(settings, [*events, Join("billing", "last")])
    trace = extend(step, settings, trace, drain(trace[-1].state, "billing", most=2))
    state = trace[-1].state

    assert sorted(record.number for record in records_read(state, "billing")) == list(range(state.record_count))
    assert set(lags_by_member(state, "billing").values()) <= {0}


def test_with_one_group_id_two_services_share_the_records_and_the_lag_is_zero():
    settings = Settings(12)
    members = ["billing-0", "billing-1", "billing-2", "search-0"]
    events = [*(Join("billing", each) for each in members), *[Produce("order")] * 120]
    trace = simulate(settings, events)
    state = extend(step, settings, trace, drain(trace[-1].state, "billing", most=10))[-1].state

    assert {each: len(records_read(state, "billing", each)) for each in members} == dict.fromkeys(members, 30)
    assert {each.lag for each in lags(state, "billing")} == {0}


def test_a_group_that_nobody_has_joined_has_read_nothing_and_is_named():
    for ask in (records_read, lambda topic, group_id: list(drain(topic, group_id))):
        with pytest.raises(KafkaLearnError, match="there is no group 'g'; there are none"):
            ask(start(Settings(1)), "g")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"partition_count": 1, "assignor": "uniform"}, "unknown assignor of a client 'uniform'"),
        ({"partition_count": 1, "auto_offset_reset": "first"}, "unknown auto_offset_reset 'first'"),
        ({"partition_count": 1, "offsets_kept_by": "zookeeper"}, "unknown offsets_kept_by 'zookeeper'"),
    ],
)
def test_bad_input_is_refused_with_the_reason(options, said):
    with pytest.raises(KafkaLearnError, match=said):
        Settings(**options)


@given(settings=SETTINGS, events=SCHEDULES)
def test_only_records_of_different_partitions_overtake_each_other(settings, events):
    state = run_what_is_legal(settings, events)[-1].state
    partitions = {record.number: number for number, log in enumerate(state.logs) for record in log}
    for group in state.groups:
        for each in overtakings(state, group.group_id):
            assert each.late.number < each.overtaken_by.number
            assert partitions[each.late.number] != partitions[each.overtaken_by.number]
            assert not each.is_of_one_key


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
    assert describe_group("g", [], "Dead") == "\nError: Consumer group 'g' does not exist.\n"
    assert describe_group("g", [UNOWNED], "Empty").count("\n") == 3
    assert describe_group("g", []) == ""


def test_what_was_never_printed_so_is_refused():
    with pytest.raises(KafkaLearnError, match=r"since 0\.10\.2, got release 0\.10\.1"):
        describe_group("g", [OWNED], release="0.10.1")
    with pytest.raises(KafkaLearnError, match="unknown state 'stable'"):
        describe_group("g", [OWNED], "stable")
