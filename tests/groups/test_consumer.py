"""The coordinator of a KIP-848 group, request by request: what no recorded history shows."""

from dataclasses import replace
from itertools import pairwise

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
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
    broken,
    join,
    leave,
    simulate,
    start,
    step,
)
from kafkalearn.groups.consumer.events import (
    TARGET_METADATA,
    DeleteAnswered,
    FetchAnswered,
    MemberFenced,
    RecordWritten,
)
from kafkalearn.groups.consumer.heartbeats import refusal
from kafkalearn.groups.consumer.simulator import ALL_OWNED, NONE_FENCED, STAYS_STABLE
from kafkalearn.groups.consumer.state import ClassicSide

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


ID, OTHER_ID = "AAAAAAAAAAEAAAAAAAAAAQ", "AAAAAAAAAAEAAAAAAAAAAg"

REFUSED = {
    "a topic for a collection": (lambda: join("A", "orders"), "topics must be a list or tuple of names of topics"),
    "a topic that is not text": (lambda: join("A", ["orders", None]), "topic must be a str, got NoneType None"),
    "partitions as a text": (
        lambda: ConsumerGroupHeartbeat("A", 2, owned="orders-0"),
        "owned must be a collection of pairs of topic and partition, got str 'orders-0'",
    ),
    "partitions that are texts": (
        lambda: ConsumerGroupHeartbeat("A", 2, owned=["orders-0"]),
        "owned must hold pairs of topic and partition, got 'orders-0'",
    ),
    "a partition below 0": (lambda: OffsetCommit("A", 2, [("orders", -1)]), "the partition of 'orders' must be at"),
    "a partition without a topic": (lambda: OffsetCommit("A", 2, [(0, 0)]), "topic must be a str, got int 0"),
    "a topic with a blank": (lambda: TopicChanged("my orders", 1), r"must have 1 to 249 letters, digits, '\.', '_'"),
    "a topic that is gone": (lambda: TopicChanged("orders@1", 1), "topic 'orders@1' must have 1 to 249 letters"),
    "a topic without a name": (lambda: TopicChanged("", 1), "topic '' must have 1 to 249 letters"),
    "a topic of 10**9 partitions": (lambda: TopicChanged("t", 10**9), "partitions of 't' must be at most 20,000"),
    "an assignor for a collection": (
        lambda: Settings(assignors="uniform"),
        "assignors must be a list or tuple of names",
    ),
    "no assignor": (lambda: Settings(assignors=()), "assignors is empty; a broker has at least one of uniform, range"),
    "partitions of 2**31": (lambda: Settings(topics={"t": 2**31}), "partitions of 't' must be at most 20,000"),
    "partitions in all": (
        lambda: Settings(topics={"a": 15_000, "b": 15_000}),
        "the number of partitions of all topics must be at most 20,000, got 30000",
    ),
    "a session of 2**31": (lambda: Settings(session_timeout_ms=2**31), "session_timeout_ms must be at most"),
    "ids of some topics": (
        lambda: Settings(topics={"a": 1, "b": 1}, topic_ids={"a": ID}),
        r"topic_ids has no id of 'b'; it has \['a'\]",
    ),
    "an id that is none": (
        lambda: Settings(topic_ids={"orders": "x"}),
        "the id of topic 'orders' must be as Kafka prints",
    ),
    "one id for two": (
        lambda: Settings(topics={"a": 1, "b": 1}, topic_ids={"a": ID, "b": ID}),
        "two topics have the same id",
    ),
    "ids that are no mapping": (lambda: Settings(topic_ids="orders"), "topic_ids must map each topic to its id"),
}


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_no_client_could_send_and_no_cluster_be_is_refused_with_the_reason(make, reason):
    with pytest.raises(KafkaLearnError, match=reason):
        make()


def test_a_name_that_is_given_twice_counts_once_and_plain_pairs_are_partitions():
    beat = ConsumerGroupHeartbeat("A", 2, ["t", "u", "t"], owned=[("t", 0), ("t", 0), ["u", 1]])
    assert beat.topics == ("t", "u")
    assert beat.owned == (TopicPartition("t", 0), TopicPartition("u", 1))


MAKES_NO_SENSE = {
    "a new topic without an id": (Settings(topic_ids={"orders": ID}), [TopicChanged("t", 1)], "a new topic needs one"),
    "a topic made anew without an id": (
        Settings(topic_ids={"orders": ID}),
        [TopicChanged("orders", None), TopicChanged("orders", 6)],
        "a new topic needs one",
    ),
    "a topic made anew with the old id": (
        Settings(topic_ids={"orders": ID}),
        [TopicChanged("orders", None), TopicChanged("orders", 6, ID)],
        "another topic has this id",
    ),
    "a topic that grows under another id": (
        Settings(topic_ids={"orders": ID}),
        [TopicChanged("orders", 7, OTHER_ID)],
        f"the topic has the id '{ID}' until it is deleted",
    ),
    "an id where no topic has one": (Settings(), [TopicChanged("t", 1, ID)], "the settings give no ids of topics"),
    "more partitions than can be told of": (
        Settings(),
        [TopicChanged("t", 19_000), TopicChanged("u", 19_000)],
        "the topics would have 38,006 partitions, 20,000 at most",
    ),
}


@pytest.mark.parametrize(("settings", "events", "reason"), MAKES_NO_SENSE.values(), ids=MAKES_NO_SENSE)
def test_a_topic_that_cannot_be_so_is_refused_with_the_reason(settings, events, reason):
    with pytest.raises(IllegalEvent, match=reason):
        simulate(settings, events)


def test_a_topic_named_in_the_settings_ids_may_come_later():
    settings = Settings(topic_ids={"orders": ID, "clicks": OTHER_ID})
    group = simulate(settings, [TopicChanged("clicks", 3)])[-1].state
    assert [topic.topic_id for topic in group.topics] == [OTHER_ID, ID]


SIX_AT_ONCE = Settings(assignment_interval_ms=0)  # partitions of orders, the one topic


def group_after(*events, settings=SIX_AT_ONCE, orders=6, **topics):
    return simulate(replace(settings, topics={"orders": orders, **topics}), events)[-1].state


def answer(group):
    return group.effects[-1]


def beat(member_id, epoch, *owned, topics=None, instance_id=None):
    partitions = tuple(TopicPartition("orders", number) for number in owned)
    return ConsumerGroupHeartbeat(member_id, epoch, topics=topics, owned=partitions, instance_id=instance_id)


HEARTBEATS = {
    "epoch below -2": (beat("A", -3), "INVALID_REQUEST"),
    "no member id": (join("", ("orders",)), "INVALID_REQUEST"),
    "an empty instance id": (join("A", ("orders",), instance_id=""), "INVALID_REQUEST"),
    "a join that owns something": (
        replace(join("B", ("orders",)), owned=(TopicPartition("orders", 0),)),
        "INVALID_REQUEST",
    ),
    "a join without subscription": (replace(join("B", ()), topics=None), "INVALID_REQUEST"),
    "a join without rebalance timeout": (replace(join("B", ()), rebalance_timeout_ms=None), "INVALID_REQUEST"),
    "away without an instance id": (beat("A", -2), "INVALID_REQUEST"),
    "an assignor the broker does not have": (join("B", ("orders",), assignor="sticky"), "UNSUPPORTED_ASSIGNOR"),
    "a heartbeat of a stranger": (beat("X", 2), "UNKNOWN_MEMBER_ID"),
    "a farewell of a stranger": (leave("X"), "UNKNOWN_MEMBER_ID"),
    "a stranger's instance id": (beat("X", 2, instance_id="pod-9"), "UNKNOWN_MEMBER_ID"),
    "a newer epoch": (beat("A", 3), "FENCED_MEMBER_EPOCH"),
    "an older epoch": (beat("A", 1), "FENCED_MEMBER_EPOCH"),
    "an instance id in use": (join("C", ("orders",), instance_id="pod-2"), "UNRELEASED_INSTANCE_ID"),
    "the instance id of another": (beat("A", 2, instance_id="pod-2"), "FENCED_INSTANCE_ID"),
    "the present epoch": (beat("A", 2, 0), "NONE"),
    "a known member that joins again": (join("A", ("orders",)), "NONE"),
}


@pytest.mark.parametrize(("event", "error"), HEARTBEATS.values(), ids=HEARTBEATS)
def test_a_heartbeat_is_refused_with_kafkas_error_and_changes_nothing(event, error):
    before = group_after(join("A", ("orders",)), join("S", ("orders",), instance_id="pod-2"))
    assert refusal(SIX_AT_ONCE, before, event) == error

    after = group_after(join("A", ("orders",)), join("S", ("orders",), instance_id="pod-2"), event)
    assert answer(after).error == error
    if error != "NONE":
        assert after == before


def test_nobody_can_stay_in_a_group_that_was_never_joined_but_in_one_that_is_empty_nobody_is_known():
    assert answer(group_after(beat("A", 2))).error == "GROUP_ID_NOT_FOUND"
    assert answer(group_after(join("A", ("orders",)), leave("A"), beat("A", 2))).error == "UNKNOWN_MEMBER_ID"


def test_a_group_takes_no_more_members_than_it_may():
    settings = Settings(max_size=1)
    full = group_after(join("A", ("orders",)), join("B", ("orders",)), settings=settings)
    assert answer(full).error == "GROUP_MAX_SIZE_REACHED"
    assert full.member_ids == ("A",)
    assert answer(group_after(join("A", ("orders",)), leave("B"), settings=settings)).error == "UNKNOWN_MEMBER_ID"


def test_an_answer_that_was_lost_is_made_good_by_the_previous_epoch():
    two = (join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, 0, 1, 2, 3, 4, 5), beat("A", 2, 0, 1, 2))
    assert answer(group_after(*two)).member_epoch == 3

    assert answer(group_after(*two, beat("A", 2, 0, 1, 2))).error == "NONE"
    assert answer(group_after(*two, beat("A", 2, 0, 1, 2, 3))).error == "FENCED_MEMBER_EPOCH"
    assert answer(group_after(*two, ConsumerGroupHeartbeat("A", 2))).error == "FENCED_MEMBER_EPOCH"


def test_a_fenced_member_may_join_again_with_its_id_only_since_4_2():
    def rejoin(release):
        settings = Settings(release=release, assignment_interval_ms=0)
        events = [join("A", ("orders",)), join("B", ("orders",))]
        first = group_after(*events, settings=settings, orders=2).group_epoch
        events += [beat("A", first - 1, 0, 1), beat("A", first - 1, 0), join("A", ("orders",))]
        return answer(group_after(*events, settings=settings, orders=2)).error

    assert [rejoin(release) for release in ("4.0", "4.1", "4.2", "4.3")] == [
        "FENCED_MEMBER_EPOCH",
        "FENCED_MEMBER_EPOCH",
        "NONE",
        "NONE",
    ]


def test_a_static_member_that_comes_back_in_time_costs_no_epoch():
    away = (
        join("A", ("orders",)),
        join("S1", ("orders",), instance_id="pod"),
        beat("A", 2, 0, 1, 2, 3, 4, 5),
        beat("A", 2, 0, 1, 2),
        beat("S1", 3),
        leave("S1", "pod", comes_back=True),
    )
    back = group_after(*away, TimePassed(44_999), beat("A", 3), join("S2", ("orders",), instance_id="pod"))

    assert back.group_epoch == group_after(*away).group_epoch == 3
    assert back.state == "Stable"
    assert [each.partition for each in answer(back).assignment] == [3, 4, 5]

    late = group_after(*away, TimePassed(40_000), beat("A", 3), TimePassed(5_000))
    assert late.group_epoch == 4
    assert "S1" not in late.member_ids


def test_nobody_gets_the_partitions_of_a_static_member_that_is_away():
    events = (
        join("S1", ("orders",), instance_id="pod"),
        leave("S1", "pod", comes_back=True),
        join("B", ("orders",)),
        beat("B", 3),
    )
    assert answer(group_after(*events)).assignment is None
    assert group_after(*events).member("B").state == "UNRELEASED_PARTITIONS"


@pytest.mark.parametrize(("release", "kept"), [("4.1", 2), ("4.2", 0)])
def test_since_4_2_a_topic_unsubscribed_from_is_given_up_before_the_next_target(release, kept):
    settings = Settings(release="4.3")
    settings = settings if release == "4.2" else Settings(release="4.1")
    group = group_after(join("A", ("orders", "clicks")), settings=settings, orders=2, clicks=2)
    epoch = answer(group).member_epoch
    held = tuple(group.holders)
    unsubscribed = ConsumerGroupHeartbeat("A", epoch, topics=("orders",), owned=held)
    both = group_after(join("A", ("orders", "clicks")), unsubscribed, settings=settings, orders=2, clicks=2)
    has_waited = both.assignment_epoch < both.group_epoch
    assert has_waited == (release == "4.2")
    assert [each.topic for each in both.member("A").pending_partitions] == ["clicks", "clicks"]


def test_more_partitions_are_seen_by_the_next_heartbeat_of_anybody():
    grown = group_after(join("A", ("orders",)), TopicChanged("orders", 8))
    assert grown.group_epoch == 2

    seen = group_after(join("A", ("orders",)), TopicChanged("orders", 8), beat("A", 2, 0, 1, 2, 3, 4, 5))
    assert seen.group_epoch == 3
    assert len(answer(seen).assignment) == 8
    assert grown.must_look
    assert not seen.must_look


def test_hours_alone_are_no_reason_to_look_at_the_topics_again():
    settings = replace(AT_ONCE, session_timeout_ms=3 * 3_600_000)
    both = join("A", ["orders"]), join("B", ["orders"])

    def after(ms):
        return played(*both, TimePassed(ms), leave("B"), join("C", []), settings=settings)

    # A target is due, and the coordinator has not looked: it takes C for one that reads what A reads.
    assert after(2 * 3_600_000).effects == after(1).effects
    assert len(after(1).target("C")) == 2


def test_the_same_topics_in_another_order_are_no_new_subscription():
    renamed = ConsumerGroupHeartbeat("A", 2, topics=("orders", "clicks"))
    assert group_after(join("A", ("clicks", "orders")), renamed, clicks=2).group_epoch == 2


def test_a_static_member_that_goes_away_lets_go_of_what_it_was_to_give_up():
    asked = (join("S", ("orders",), instance_id="pod"), join("B", ("orders",)), beat("S", 2, *range(6)))
    away = group_after(*asked, leave("S", "pod", comes_back=True), beat("B", 3))
    assert away.member("S").pending_revocation == ()
    assert [each.partition for each in answer(away).assignment] == [3, 4, 5]


def test_a_deleted_topic_leaves_the_target():
    events = (join("A", ("orders", "clicks")), TopicChanged("clicks", None), ConsumerGroupHeartbeat("A", 2))
    group = group_after(*events, clicks=2)
    assert {each.topic for each in group.target("A")} == {"orders"}
    assert [each.topic for each in group.member("A").pending_partitions] == ["clicks", "clicks"]


def test_a_topic_that_is_made_anew_with_fewer_partitions_is_assigned_anew():
    events = (join("A", ("orders",)), TopicChanged("orders", None), TopicChanged("orders", 2), beat("A", 2))
    assert [each.partition for each in group_after(*events).target("A")] == [0, 1]


WAITS = ("4.0.0", "4.0.1", "4.1.0", "4.1.1")


@pytest.mark.parametrize("release", [*WAITS, "4.0.2", "4.1.2", "4.2.0", "4.3.0"])
def test_since_4_0_2_and_4_1_2_a_member_gets_back_at_once_what_it_was_about_to_give_up(release):
    state = "UNRELEASED_PARTITIONS" if release in WAITS else "STABLE"
    settings = Settings(release=release, assignment_interval_ms=0)
    first = group_after(join("A", ("orders",)), settings=settings).group_epoch
    asked = (join("A", ("orders",)), join("B", ("orders",)), beat("A", first, *range(6)))
    back = group_after(*asked, leave("B"), beat("A", first, 0, 1, 2), settings=settings)

    assert back.member("A").state == state
    again = group_after(*asked, leave("B"), beat("A", first, 0, 1, 2), beat("A", first + 2, 0, 1, 2), settings=settings)
    assert len(again.member("A").assigned) == 6


@pytest.mark.parametrize(("release", "rises_by"), [("4.0", 1), ("4.1", 1), ("4.2", 0), ("4.3", 0)])
def test_up_to_4_1_the_epoch_rises_with_a_revocation_that_another_one_follows(release, rises_by):
    settings = Settings(release=release, assignment_interval_ms=0)
    first = group_after(join("A", ("orders",)), settings=settings).group_epoch
    asked = (join("A", ("orders",)), join("B", ("orders",)), beat("A", first, *range(6)), join("C", ("orders",)))
    member = group_after(*asked, beat("A", first, 0, 1, 2), settings=settings).member("A")

    assert member.state == "UNREVOKED_PARTITIONS"
    assert len(member.assigned) == 2
    assert member.epoch == first + rises_by


def test_nobody_waits_for_partitions_of_a_topic_it_has_just_unsubscribed_from():
    both = ("clicks", "orders")
    events = (join("A", both), TimePassed(1000), join("B", both))
    settings = Settings(topics={"orders": 2, "clicks": 2})
    waiting = simulate(settings, events)[-1].state
    assert {each.topic for each in waiting.target("B")} == {"orders"}

    unsubscribed = ConsumerGroupHeartbeat("B", 3, topics=("clicks",), owned=())
    group = simulate(settings, [*events, unsubscribed])[-1].state
    assert group.assignment_epoch == 3  # the next target has to wait for its interval
    assert group.member("B").state == "STABLE"


def test_a_topic_nobody_reads_changes_nothing():
    group = group_after(join("A", ("orders",)), TopicChanged("clicks", 9), beat("A", 2, 0, 1, 2, 3, 4, 5))
    assert group.group_epoch == 2
    assert not any(isinstance(effect, RecordWritten) for effect in group.effects)


def test_most_voices_choose_the_assignor():
    members = [join(name, ("orders",), assignor="range") for name in "AB"] + [
        join("C", ("orders",), assignor="uniform")
    ]
    targets = dict(group_after(*members, orders=7).targets)
    assert [len(targets[name]) for name in "ABC"] == [3, 2, 2]


def test_a_client_of_4_1_can_send_no_commit_10():
    """Its brokers say so when they are asked for the versions that they know; those of 4.2 know it."""
    with pytest.raises(IllegalEvent, match=r"Kafka 4\.1 knows OffsetCommit up to version 9, not 10"):
        step(Settings("4.1"), start(Settings("4.1")), OffsetCommit("", -1, (), 10))


def errors_of(group):
    return [error for _, error in answer(group).errors]


@pytest.mark.parametrize("version", [9, 10])
def test_since_4_3_an_older_epoch_may_commit_what_was_assigned_by_then_but_one_stale_partition_refuses_all(version):
    kept, given_up = TopicPartition("orders", 0), TopicPartition("orders", 5)
    events = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, 0, 1, 2, 3, 4, 5)]

    def after(*more, epoch=2, partitions=(kept, given_up)):
        return group_after(*events, *more, OffsetCommit("A", epoch, partitions, version))

    moved = beat("A", 2, 0, 1, 2)
    assert errors_of(after()) == ["NONE", "NONE"]
    assert errors_of(after(moved)) == ["STALE_MEMBER_EPOCH", "STALE_MEMBER_EPOCH"]
    assert after(moved).committed == ()
    assert errors_of(after(moved, partitions=(kept,))) == ["NONE"]
    assert after(moved, partitions=(kept,)).committed == (kept,)
    assert errors_of(after(moved, epoch=3)) == ["NONE", "NONE"]
    assert errors_of(after(moved, epoch=4)) == ["STALE_MEMBER_EPOCH"] * 2


def test_what_is_being_given_up_may_still_be_committed_with_an_older_epoch():
    asked = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, *range(6)), beat("A", 2, 0, 1, 2)]
    asked += [join("C", ("orders",)), beat("A", 3, 0, 1, 2)]
    (pending,) = group_after(*asked).member("A").pending_partitions
    assert errors_of(group_after(*asked, OffsetCommit("A", 2, (pending,)))) == ["NONE"]
    both = (pending, TopicPartition("orders", 5))
    assert errors_of(group_after(*asked, OffsetCommit("A", 2, both))) == [
        "STALE_MEMBER_EPOCH",
        "STALE_MEMBER_EPOCH",
    ]


@pytest.mark.parametrize(("release", "older"), [("4.2", "ILLEGAL_GENERATION"), ("4.3", "NONE")])
def test_a_classic_member_commits_by_the_same_rule_and_hears_of_a_generation(release, older):
    """Kafka's own test of it: ConsumerGroupTest.testValidateOffsetCommitWithClassicProtocolMember."""
    settings = Settings(release, assignment_interval_ms=0)
    group = group_after(join("A", ("orders",)), join("B", ("orders",)), settings=settings)
    first = group.member("A").epoch
    for kept in (range(6), range(3)):
        group = step(settings, group, beat("A", first, *kept))
    classic = replace(group.member("A"), classic=ClassicSide("A", 45_000, (("range", ((), ())),)))
    group = group.with_member(classic)

    def asked(event):
        return answer(step(settings, group, event))

    def error(epoch):
        return asked(OffsetCommit("A", epoch, (TopicPartition("orders", 0),), version=8)).errors[0][1]

    now = classic.epoch
    assert now == first + 1
    assert [error(now), error(now - 1), error(now + 1)] == ["NONE", older, "ILLEGAL_GENERATION"]
    assert asked(OffsetFetch("A", now - 1)).error == "ILLEGAL_GENERATION"


def test_up_to_4_2_only_the_present_epoch_may_commit_and_a_stranger_never():
    settings = Settings(release="4.2")
    one = (TopicPartition("orders", 0),)
    events = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 1, *range(6)), beat("A", 1, 0, 1, 2)]

    def error(member_id, epoch):
        group = group_after(*events, OffsetCommit(member_id, epoch, one), settings=settings)
        return answer(group).errors[0][1]

    assert [error("A", 2), error("A", 1), error("A", 3)] == ["NONE", "STALE_MEMBER_EPOCH", "STALE_MEMBER_EPOCH"]
    assert error("X", 2) == "UNKNOWN_MEMBER_ID"


def test_offsets_of_an_empty_group_may_be_written_by_a_client_without_one():
    one = (TopicPartition("orders", 0),)
    assert answer(group_after(OffsetCommit("", -1, one))).errors == ((one[0], "NONE"),)
    assert answer(group_after(join("A", ("orders",)), OffsetCommit("", -1, one))).errors[0][1] == "UNKNOWN_MEMBER_ID"


def test_what_makes_no_sense_is_refused_with_what_there_is():
    with pytest.raises(IllegalEvent, match="Kafka takes none away"):
        group_after(TopicChanged("orders", 5))
    with pytest.raises(IllegalEvent, match="there is no such topic"):
        group_after(TopicChanged("returns", None))
    with pytest.raises(KafkaLearnError, match="no member 'Z'"):
        group_after(join("A", ("orders",))).member("Z")
    with pytest.raises(KafkaLearnError, match="the number of partitions of 'orders' must be at least 1"):
        TopicChanged("orders", 0)


def test_a_user_hopes_that_nobody_is_fenced_that_all_is_owned_and_that_a_stable_group_stays_so():
    moved = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, *range(6)), beat("A", 2, 0, 1, 2)]
    trace = simulate(SIX_AT_ONCE, [*moved, ConsumerGroupHeartbeat("B", 3), TimePassed(45_000)])
    judged = [broken(SIX_AT_ONCE, after.state, before.state) for before, after in pairwise(trace)]
    assert judged == [(), (STAYS_STABLE,), (ALL_OWNED,), (ALL_OWNED,), (), (NONE_FENCED, STAYS_STABLE)]


def test_settings_that_no_broker_has_are_refused():
    with pytest.raises(KafkaLearnError, match=r"groups\.consumer answers for 4\.0 to .*, not 3\.9: KIP-848 was"):
        Settings(release="3.9")
    with pytest.raises(KafkaLearnError, match=r"came with 4\.3"):
        Settings(release="4.2", assignment_interval_ms=1000)
    with pytest.raises(KafkaLearnError, match="did you mean 'uniform'"):
        Settings(assignors=("unifrom",))
    with pytest.raises(KafkaLearnError, match="must map each topic"):
        Settings(topics=["orders"])
    with pytest.raises(KafkaLearnError, match="the number of partitions of 'orders' must be at least 1"):
        Settings(topics={"orders": 0})


SINCE_4_4 = pytest.mark.parametrize(("release", "is_new"), [("4.0", False), ("4.3", False), ("4.4", True)])


@SINCE_4_4
def test_since_4_4_the_group_is_assigned_anew_when_another_assignor_is_preferred(release, is_new):
    settings = Settings(release=release, assignment_interval_ms=0, assignors=("uniform", "range"))
    first = group_after(join("A", ("orders",)), settings=settings)
    asked = [ConsumerGroupHeartbeat("A", first.group_epoch, assignor=name) for name in ("range", "range", "uniform")]
    group, epochs = first, [first.group_epoch]
    for each in asked:
        group = step(settings, group, replace(each, member_epoch=group.member("A").epoch))
        epochs.append(group.group_epoch)

    rises = [after - before for before, after in pairwise(epochs)]
    assert rises == ([1, 0, 1] if is_new else [0, 0, 0])
    assert group.assignment_epoch == group.group_epoch


@SINCE_4_4
def test_since_4_4_an_empty_group_has_its_assignment_epoch_at_once_and_the_next_target_does_not_wait(release, is_new):
    settings = Settings(release=release, **({"assignment_interval_ms": 60_000} if release != "4.0" else {}))
    group = group_after(join("A", ("orders",)), leave("A"), settings=settings)

    assert (group.assignment_epoch == group.group_epoch) == is_new
    assert (RecordWritten(TARGET_METADATA) in group.effects) == is_new
    back = step(settings, group, join("B", ("orders",)))
    assert (len(back.target("B")) == 6) == (is_new or release == "4.0")


@SINCE_4_4
def test_since_4_4_a_static_member_takes_its_place_again_though_the_group_is_full(release, is_new):
    settings = Settings(release=release, max_size=1)
    away = (join("A", ("orders",), instance_id="i"), ConsumerGroupHeartbeat("A", -2, instance_id="i"))
    group = group_after(*away, join("B", ("orders",), instance_id="i"), settings=settings)

    assert group.member_ids == (("B",) if is_new else ("A",))
    other = group_after(*away, join("B", ("orders",), instance_id="j"), settings=settings)
    assert answer(other).error == "GROUP_MAX_SIZE_REACHED"


@SINCE_4_4
def test_since_4_4_a_member_that_comes_with_another_instance_id_gives_the_one_before_up(release, is_new):
    settings = Settings(release=release, assignment_interval_ms=0)
    events = [join("A", ("orders",), instance_id=each) for each in ("i", "j")]
    group = group_after(*events, settings=settings)
    assert dict(group.static_ids) == ({"j": "A"} if is_new else {"i": "A", "j": "A"})
