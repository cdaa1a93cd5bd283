"""A record byte by byte, the store of offsets, the brokers of its partition: in words and as pictures."""

import re
from functools import partial
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.kit import LEFT, WIDE
from kafkalearn.formats.wire import Piece
from kafkalearn.offsets import encode_key, encode_value, replicated, store
from kafkalearn.offsets.protocol import Assignment, Subscription, encode_assignment, encode_subscription
from kafkalearn.offsets.record_picture import names_of, rows_of
from kafkalearn.offsets.replay import Member
from kafkalearn.replication import TimePassed
from kafkalearn.views import (
    commit_path_text,
    describe_commit_path,
    describe_record_bytes,
    describe_store,
    draw_commit_path,
    draw_record_bytes,
    draw_store,
    record_bytes,
    render_text,
    store_text,
)
from tests.recorded import expected, with_before

HOUR_MS = 3_600_000
FRIDAY_MS = 1_763_683_200_000
KEY = encode_key(1, {"group": "billing", "topic": "orders", "partition": 3})
COMMIT = {"offset": 1000, "leaderEpoch": 5, "metadata": "", "commitTimestamp": 1_763_719_800_000}
VALUE = encode_value(1, 4, COMMIT | {"topicId": "AAAAAAAAAAEAAAAAAAAAAQ"})
MEMBER = {
    "memberId": "billing-1-6f1e",
    "groupInstanceId": None,
    "clientId": "billing-1",
    "clientHost": "/10.0.0.7",
    "rebalanceTimeout": 300_000,
    "sessionTimeout": 45_000,
    "subscription": encode_subscription(Subscription(("orders",), version=0)),
    "assignment": encode_assignment(Assignment((("orders", 0), ("orders", 1)), version=0)),
}
GROUP = encode_value(
    2, 3, {"protocolType": "consumer", "generation": 7, "protocol": "range", "leader": "x", "members": [MEMBER]}
)


def weekend(retention_minutes, kind="classic"):
    """Billing runs on Friday, stops at 18:00, and asks on Monday."""
    member = Member("billing-1", subscribed=("orders",))
    commit = partial(
        store.Commit, "billing", "orders", now_ms=FRIDAY_MS + 17 * HOUR_MS, member_id="billing-1", generation=1
    )
    events = [
        store.StoreGroup("billing", 1, FRIDAY_MS, (member,), kind=kind),
        commit(partition=0, offset=410),
        commit(partition=1, offset=395),
        store.StoreGroup("billing", 2, FRIDAY_MS + 18 * HOUR_MS, kind=kind),
        store.Sweep(FRIDAY_MS + 41 * HOUR_MS),
        store.Sweep(FRIDAY_MS + 42 * HOUR_MS),
        store.Fetch("billing", "orders", 0),
    ]
    return store.simulate(store.Settings(retention_minutes=retention_minutes), events)


def test_a_record_reads_byte_by_byte_as_expected():
    actual = render_text(record_bytes(KEY, VALUE))
    assert actual == expected("offsets-record-bytes.txt", actual)


def test_every_byte_of_a_record_is_read_once():
    trace = record_bytes(KEY, VALUE)
    read = [(field.part, at) for field in trace[-1].state.read for at in range(field.piece.start, field.piece.stop)]

    assert read == [("key", at) for at in range(len(KEY))] + [("value", at) for at in range(len(VALUE))]


def test_a_tombstone_is_drawn_as_one():
    trace = record_bytes(KEY, None)
    assert "value: null, a tombstone" in draw_record_bytes(trace[-1])
    assert describe_record_bytes(trace[0]) == "A record with a key of 23 bytes and a null value. Nothing is read yet."


def test_a_field_is_marked_at_its_bytes_and_named():
    frame = record_bytes(KEY, VALUE)[8]
    assert describe_record_bytes(frame) == "Value, bytes 2 to 9: 00 00 00 00 00 00 03 e8 is the offset, 1000."
    assert draw_record_bytes(frame).label == describe_record_bytes(frame)
    assert draw_record_bytes(frame).count('stroke-width="1.5"') == 1
    assert draw_record_bytes(frame).count(">offset</text>") == 1


def test_only_fields_that_have_been_read_are_named_and_boxed():
    trace = record_bytes(KEY, VALUE)
    drawn = [draw_record_bytes(frame) for frame in trace]

    assert [picture.count(">partition</text>") for picture in drawn[4:8]] == [0, 0, 1, 1]
    assert "type</text>" not in drawn[0]
    assert len({picture.size for picture in drawn}) == 1


def test_a_member_of_a_group_is_read_to_the_last_field_of_its_assignment():
    trace = record_bytes(encode_key(2, {"group": "billing"}), GROUP)

    assert "members[0].assignment.assignedPartitions[0].topic, orders." in describe_record_bytes(trace[-5])
    assert "members[0].assignment.assignedPartitions[0].partitions[0], 0." in describe_record_bytes(trace[-3])
    assert ">partitions[1]</text>" in draw_record_bytes(trace[-1])


def test_nothing_of_a_long_field_is_left_out():
    value = encode_value(1, 3, COMMIT | {"metadata": "written by billing on node 7 " * 5})
    trace = record_bytes(KEY, value)
    (frame,) = [frame for frame in trace[1:] if frame.event.piece.field == "metadata" and frame.index == 11]
    drawn = draw_record_bytes(frame)

    assert drawn.count("written by billing") + drawn.count("node 7") >= 10
    assert value[16:161].hex(" ") in describe_record_bytes(frame)
    assert drawn.size[1] <= 590


@given(st.lists(st.tuples(st.sampled_from(["offset", "x", "aVeryLongNameOfAField"]), st.integers(1, 40)), max_size=12))
def test_names_of_fields_never_lie_on_each_other_and_boxes_never_leave_the_picture(fields):
    pieces, start = [], 0
    for number, (name, size) in enumerate(fields):
        pieces.append(Piece(start, start + size, f"{name}{number}", "value", "bytes", b""))
        start += size
    names, ends = names_of(pieces), {}
    for name in names:
        assert name.x >= ends.get((name.row, name.line), 0)
        ends[name.row, name.line] = name.x + 7.9 * len(name.words)
        assert ends[name.row, name.line] <= WIDE
    assert len(names) == len(fields)
    drawn = "\n".join(rows_of(bytes(start), pieces, None, names).draw(LEFT, 0))
    outlines = "".join(re.findall(r'd="([^"]*)" fill="none"', drawn))
    boxes = [tuple(map(float, each)) for each in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)", outlines)]
    assert sum(width for _, width in boxes) == pytest.approx(2 * start * WIDE / 32, abs=2)  # rows, and fields in them
    assert all(x >= LEFT and x + width <= LEFT + WIDE + 0.1 for x, width in boxes)


def test_a_record_too_long_for_a_page_is_refused():
    with pytest.raises(KafkaLearnError, match="may have 220 bytes in a picture, got 317"):
        record_bytes(encode_key(2, {"group": "g" * 313}), None)


@pytest.mark.parametrize("retention_minutes", [1440, 10080])
def test_a_weekend_of_a_group_reads_as_expected(retention_minutes):
    trace = weekend(retention_minutes)
    story = "\n\n".join(store_text(frame, before) for frame, before in with_before(trace))

    assert story == expected(f"offsets-weekend-{retention_minutes}.txt", story)


@pytest.mark.parametrize("kind", ["consumer", "streams"])
def test_a_weekend_of_a_group_of_a_newer_protocol_reads_as_expected(kind):
    trace = weekend(1440, kind)
    story = "\n\n".join(store_text(frame, before) for frame, before in with_before(trace))

    assert story == expected(f"offsets-weekend-{kind}.txt", story)
    assert f"a {kind} group" in draw_store(trace[1], trace[0])
    assert f"billing ({kind} group) Stable" in describe_store(trace[1], trace[0])


@pytest.mark.parametrize(
    "garbage", [store.Produce(None, b"v", "__admin_client"), store.Produce(b"\x00", b"v", "__admin_client")]
)
def test_a_record_that_cannot_be_read_is_drawn_as_such(garbage):
    trace = store.simulate(store.Settings(), [garbage])
    assert "0  cannot be read" in draw_store(trace[1], trace[0])
    assert store_text(trace[1], trace[0]).endswith("0  cannot be read")


def test_the_store_is_drawn_with_what_was_written_last_marked():
    trace = weekend(1440)
    swept = draw_store(trace[6], trace[5])

    assert swept.count('stroke-width="1.5"') == 3
    assert swept.label == describe_store(trace[6], trace[5])
    assert "3 of them tombstones" in swept.label
    assert draw_store(trace[4], trace[3]).count('stroke-width="1.5"') == 1


def test_what_is_not_replicated_and_what_was_answered_is_in_the_picture():
    events = [
        store.Commit("billing", "orders", 0, 7, 0),
        store.Commit("billing", "orders", 0, 8, 0, is_in_flight=True),
        store.TimeReached(5000),
        store.LeaderCrashed(),
    ]
    trace = store.simulate(store.Settings(), events)

    assert "offset 8, not replicated" in draw_store(trace[2], trace[1])
    assert "answer: NONE" in draw_store(trace[1], trace[0])
    assert "answer: COORDINATOR_NOT_AVAILABLE" in draw_store(trace[3], trace[2])
    assert describe_store(trace[4], trace[3]).startswith("The leader dies; a replica takes over.")
    assert "1  billing, orders-0: offset 8, not replicated" in store_text(trace[3], trace[2])
    assert "offset 8" not in draw_store(trace[4], trace[3])


BEGUN = replicated.group_with_an_offset()
STORIES = {
    "path": BEGUN + replicated.commit_path(),
    "takeover": replicated.takeover(),
    "foreign": replicated.foreign_record(None),
    "end": replicated.end_of_a_group(),
    "deletions": replicated.deletions(),
}
RUNS = {name: replicated.simulate(replicated.Settings(), events) for name, events in STORIES.items()}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_as_expected(name):
    actual = "\n\n".join(commit_path_text(frame, before) for frame, before in with_before(RUNS[name]))

    assert actual == expected(f"commit-path-{name}.txt", actual)


def test_long_names_make_cells_wider_and_none_reaches_beyond_the_row():
    group_id = "a-group-whose-name-is-long-as-names-in-companies-are"
    commits = [store.Commit(group_id, "orders", number, 7, 0) for number in range(8)]
    trace = replicated.simulate(replicated.Settings(), commits)
    drawing = draw_commit_path(trace[-1], trace[-2])

    assert group_id in drawing
    xs = [float(each.get("x")) for each in ElementTree.fromstring(drawing).iter() if each.get("x")]
    assert max(xs) <= 1000


def test_who_has_waited_too_long_is_said_to_be_told_so():
    trace = replicated.simulate(replicated.Settings(), [store.Commit("billing", "orders", 0, 7, 0), TimePassed(5000)])

    assert describe_commit_path(trace[-1], trace[-2]) == (
        "5,000 ms pass. Answer to billing's commit of 7: COORDINATOR_NOT_AVAILABLE."
    )
