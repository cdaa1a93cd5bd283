"""A group is deleted, its offsets expire, its partition moves: what is written, what goes on, which timers run."""

from dataclasses import replace

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import (
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetFetch,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    TimePassed,
    TopicChanged,
    join,
    leave,
    simulate,
    start,
    step,
)
from kafkalearn.groups.consumer.events import DeleteAnswered, FetchAnswered, MemberFenced, RecordWritten

ORDERS, CLICKS = TopicPartition("orders", 0), TopicPartition("clicks", 0)
AT_ONCE = Settings(assignment_interval_ms=0, topics={"orders": 4, "clicks": 1})
COMMIT = OffsetCommit("A", 2, (ORDERS, CLICKS))


def played(*events, settings=AT_ONCE):
    return simulate(settings, events)[-1].state


def written(group):
    return [effect.kind for effect in group.effects if isinstance(effect, RecordWritten)]


def test_a_group_without_members_is_deleted_with_its_offsets_and_the_next_one_begins_anew():
    kept = played(join("A", ["orders"]), COMMIT, GroupDeleted())
    assert kept.effects == (DeleteAnswered("NON_EMPTY_GROUP"),)
    assert kept.member_ids == ("A",)

    gone = played(join("A", ["orders"]), COMMIT, leave("A"), GroupDeleted())
    assert written(gone) == [
        "tombstone:offset-commit",
        "tombstone:offset-commit",
        "tombstone:consumer-group-target-assignment-metadata",
        "tombstone:consumer-group-partition-metadata",
        "tombstone:consumer-group-metadata",
    ]
    assert gone.effects[-1] == DeleteAnswered("NONE")
    assert (gone.state, gone.committed, gone.topics) == ("Dead", (), kept.topics)
    again = played(join("A", ["orders"]), COMMIT, leave("A"), GroupDeleted(), join("A", ["orders"]))
    assert (again.state, again.group_epoch) == ("Stable", 2)
    assert step(AT_ONCE, start(AT_ONCE), GroupDeleted()).effects == (DeleteAnswered("GROUP_ID_NOT_FOUND"),)


def test_a_client_without_a_group_makes_a_classic_one_which_the_first_member_replaces():
    simple = played(OffsetCommit("", -1, (ORDERS,)))
    assert (simple.group_type, simple.state, simple.committed) == ("Classic", "Empty", (ORDERS,))
    joined = played(OffsetCommit("", -1, (ORDERS,)), join("A", ["orders"]))
    assert written(joined)[0] == "tombstone:group-metadata"
    assert (joined.group_type, joined.committed) == ("Consumer", (ORDERS,))
    deleted = played(OffsetCommit("", -1, (ORDERS,)), GroupDeleted())
    assert written(deleted) == ["tombstone:offset-commit", "tombstone:group-metadata"]


def test_offsets_of_topics_that_a_member_subscribes_to_do_not_expire():
    read = played(join("A", ["orders"]), COMMIT, OffsetsExpired())
    assert (read.committed, read.state) == ((ORDERS,), "Stable")
    assert written(read) == ["tombstone:offset-commit"]

    left = played(join("A", ["orders"]), COMMIT, leave("A"), OffsetsExpired())
    assert (left.committed, left.state) == ((), "Dead")
    assert written(left)[-1] == "tombstone:consumer-group-metadata"


def test_a_group_without_members_and_offsets_does_not_outlive_the_clean_up():
    assert played(join("A", ["orders"]), leave("A"), OffsetsExpired()).state == "Dead"
    assert played(join("A", ["orders"]), OffsetsExpired()).state == "Stable"
    assert played(OffsetsExpired()).effects == ()


def test_a_fetch_with_another_epoch_or_of_a_stranger_is_refused_and_a_tool_may_always_ask():
    everything = FetchAnswered("NONE", (CLICKS, ORDERS))
    for request, answer in (
        (OffsetFetch("A", 2), everything),
        (OffsetFetch(), everything),
        (OffsetFetch("A", 1), FetchAnswered("STALE_MEMBER_EPOCH")),
        (OffsetFetch("B", 2), FetchAnswered("UNKNOWN_MEMBER_ID")),
    ):
        assert played(join("A", ["orders"]), COMMIT, request).effects == (answer,)
    assert played(OffsetFetch("A", 2)).effects == (FetchAnswered("NONE"),)


def test_offsets_go_with_their_topic():
    group = played(join("A", ["orders"]), COMMIT, TopicChanged("orders", None))
    assert group.committed == (CLICKS,)
    assert written(group) == ["tombstone:offset-commit"]


def test_under_a_new_coordinator_all_is_as_it_was_written_but_sessions_begin_anew():
    events = [join("A", ["orders"]), TimePassed(40_000)]
    moved = played(*events, PartitionMoved())
    before = played(*events)
    assert [replace(member, session_ends_at_ms=0) for member in moved.members] == [
        replace(member, session_ends_at_ms=0) for member in before.members
    ]
    assert (moved.targets, moved.group_epoch, moved.state) == (before.targets, before.group_epoch, "Stable")
    assert played(*events, PartitionMoved(), TimePassed(44_999)).member_ids == ("A",)
    assert played(*events, PartitionMoved(), TimePassed(45_000)).member_ids == ()
    assert played(*events, TimePassed(5_000)).member_ids == ()


def test_under_a_new_coordinator_the_time_to_give_up_partitions_begins_anew():
    asked = [
        join("A", ["orders"], rebalance_timeout_ms=10_000),
        join("B", ["orders"]),
        ConsumerGroupHeartbeat("A", 2, owned=[("orders", n) for n in range(4)]),
        TimePassed(9_000),
    ]
    assert "A" not in played(*asked, TimePassed(1_000)).member_ids
    assert "A" in played(*asked, PartitionMoved(), TimePassed(9_999)).member_ids
    assert "A" not in played(*asked, PartitionMoved(), TimePassed(10_000)).member_ids


def test_a_static_member_that_is_away_with_something_to_give_up_is_removed_after_a_move():
    away = [
        join("A", ["orders"], "pod", rebalance_timeout_ms=10_000),
        join("B", ["orders"]),
        ConsumerGroupHeartbeat("A", 2, owned=[("orders", n) for n in range(4)], instance_id="pod"),
        leave("A", "pod", comes_back=True),
    ]
    assert "A" in played(*away, TimePassed(10_000)).member_ids
    after = played(*away, PartitionMoved(), TimePassed(10_000))
    assert after.effects[0] == MemberFenced("A", "rebalance timeout", 10_000)


def test_after_a_move_a_member_without_topics_is_not_taken_for_one_like_the_others():
    due = [join("A", ["orders"], assignor="range"), join("B", ["orders"]), leave("B")]
    assert len(played(*due, join("Z", [])).target("Z")) == 2
    assert played(*due, PartitionMoved(), join("Z", [])).target("Z") == ()
