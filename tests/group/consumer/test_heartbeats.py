"""Joins, refusals, static members, changed subscriptions and topics: cases read from the source, worked by hand."""

from dataclasses import replace
from itertools import pairwise

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import (
    ConsumerGroupHeartbeat,
    OffsetCommit,
    Settings,
    TimePassed,
    TopicChanged,
    broken,
    join,
    leave,
    simulate,
)
from kafkalearn.groups.consumer.events import RecordWritten
from kafkalearn.groups.consumer.heartbeats import refusal
from kafkalearn.groups.consumer.simulator import ALL_OWNED, NONE_FENCED, STAYS_STABLE

AT_ONCE = Settings(assignment_interval_ms=0)


def played(*events, settings=AT_ONCE, orders=6, **topics):
    return simulate(replace(settings, topics={"orders": orders, **topics}), events)[-1].state


def answer(group):
    return group.effects[-1]


def beat(member_id, epoch, *owned, topics=None, instance_id=None):
    partitions = tuple(TopicPartition("orders", number) for number in owned)
    return ConsumerGroupHeartbeat(member_id, epoch, topics=topics, owned=partitions, instance_id=instance_id)


REFUSED = {
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


@pytest.mark.parametrize(("event", "error"), REFUSED.values(), ids=REFUSED)
def test_a_heartbeat_is_refused_with_kafkas_error_and_changes_nothing(event, error):
    before = played(join("A", ("orders",)), join("S", ("orders",), instance_id="pod-2"))
    assert refusal(AT_ONCE, before, event) == error

    after = played(join("A", ("orders",)), join("S", ("orders",), instance_id="pod-2"), event)
    assert answer(after).error == error
    if error != "NONE":
        assert after == before


def test_nobody_can_stay_in_a_group_that_was_never_joined_but_in_one_that_is_empty_nobody_is_known():
    assert answer(played(beat("A", 2))).error == "GROUP_ID_NOT_FOUND"
    assert answer(played(join("A", ("orders",)), leave("A"), beat("A", 2))).error == "UNKNOWN_MEMBER_ID"


def test_a_group_takes_no_more_members_than_it_may():
    settings = Settings(max_size=1)
    full = played(join("A", ("orders",)), join("B", ("orders",)), settings=settings)
    assert answer(full).error == "GROUP_MAX_SIZE_REACHED"
    assert full.member_ids == ("A",)
    assert answer(played(join("A", ("orders",)), leave("B"), settings=settings)).error == "UNKNOWN_MEMBER_ID"


def test_an_answer_that_was_lost_is_made_good_by_the_previous_epoch():
    two = (join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, 0, 1, 2, 3, 4, 5), beat("A", 2, 0, 1, 2))
    assert answer(played(*two)).member_epoch == 3

    assert answer(played(*two, beat("A", 2, 0, 1, 2))).error == "NONE"
    assert answer(played(*two, beat("A", 2, 0, 1, 2, 3))).error == "FENCED_MEMBER_EPOCH"
    assert answer(played(*two, ConsumerGroupHeartbeat("A", 2))).error == "FENCED_MEMBER_EPOCH"


def test_a_fenced_member_may_join_again_with_its_id_only_since_4_2():
    def rejoin(release):
        settings = Settings(release=release, assignment_interval_ms=0)
        events = [join("A", ("orders",)), join("B", ("orders",))]
        first = played(*events, settings=settings, orders=2).group_epoch
        events += [beat("A", first - 1, 0, 1), beat("A", first - 1, 0), join("A", ("orders",))]
        return answer(played(*events, settings=settings, orders=2)).error

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
    back = played(*away, TimePassed(44_999), beat("A", 3), join("S2", ("orders",), instance_id="pod"))

    assert back.group_epoch == played(*away).group_epoch == 3
    assert back.state == "Stable"
    assert [each.partition for each in answer(back).assignment] == [3, 4, 5]

    late = played(*away, TimePassed(40_000), beat("A", 3), TimePassed(5_000))
    assert late.group_epoch == 4
    assert "S1" not in late.member_ids


def test_nobody_gets_the_partitions_of_a_static_member_that_is_away():
    events = (
        join("S1", ("orders",), instance_id="pod"),
        leave("S1", "pod", comes_back=True),
        join("B", ("orders",)),
        beat("B", 3),
    )
    assert answer(played(*events)).assignment is None
    assert played(*events).member("B").state == "UNRELEASED_PARTITIONS"


@pytest.mark.parametrize(("release", "kept"), [("4.1", 2), ("4.2", 0)])
def test_since_4_2_a_topic_unsubscribed_from_is_given_up_before_the_next_target(release, kept):
    settings = Settings(release="4.3")
    settings = settings if release == "4.2" else Settings(release="4.1")
    group = played(join("A", ("orders", "clicks")), settings=settings, orders=2, clicks=2)
    epoch = answer(group).member_epoch
    held = tuple(group.holders)
    unsubscribed = ConsumerGroupHeartbeat("A", epoch, topics=("orders",), owned=held)
    both = played(join("A", ("orders", "clicks")), unsubscribed, settings=settings, orders=2, clicks=2)
    has_waited = both.assignment_epoch < both.group_epoch
    assert has_waited == (release == "4.2")
    assert [each.topic for each in both.member("A").pending_partitions] == ["clicks", "clicks"]


def test_more_partitions_are_seen_by_the_next_heartbeat_of_anybody():
    grown = played(join("A", ("orders",)), TopicChanged("orders", 8))
    assert grown.group_epoch == 2

    seen = played(join("A", ("orders",)), TopicChanged("orders", 8), beat("A", 2, 0, 1, 2, 3, 4, 5))
    assert seen.group_epoch == 3
    assert len(answer(seen).assignment) == 8
    assert grown.must_look
    assert not seen.must_look


def test_the_same_topics_in_another_order_are_no_new_subscription():
    renamed = ConsumerGroupHeartbeat("A", 2, topics=("orders", "clicks"))
    assert played(join("A", ("clicks", "orders")), renamed, clicks=2).group_epoch == 2


def test_a_static_member_that_goes_away_lets_go_of_what_it_was_to_give_up():
    asked = (join("S", ("orders",), instance_id="pod"), join("B", ("orders",)), beat("S", 2, *range(6)))
    away = played(*asked, leave("S", "pod", comes_back=True), beat("B", 3))
    assert away.member("S").pending_revocation == ()
    assert [each.partition for each in answer(away).assignment] == [3, 4, 5]


def test_a_deleted_topic_leaves_the_target():
    events = (join("A", ("orders", "clicks")), TopicChanged("clicks", None), ConsumerGroupHeartbeat("A", 2))
    group = played(*events, clicks=2)
    assert {each.topic for each in group.target("A")} == {"orders"}
    assert [each.topic for each in group.member("A").pending_partitions] == ["clicks", "clicks"]


def test_a_topic_that_is_made_anew_with_fewer_partitions_is_assigned_anew():
    events = (join("A", ("orders",)), TopicChanged("orders", None), TopicChanged("orders", 2), beat("A", 2))
    assert [each.partition for each in played(*events).target("A")] == [0, 1]


WAITS = ("4.0.0", "4.0.1", "4.1.0", "4.1.1")


@pytest.mark.parametrize("release", [*WAITS, "4.0.2", "4.1.2", "4.2.0", "4.3.0"])
def test_since_4_0_2_and_4_1_2_a_member_gets_back_at_once_what_it_was_about_to_give_up(release):
    state = "UNRELEASED_PARTITIONS" if release in WAITS else "STABLE"
    settings = Settings(release=release, assignment_interval_ms=0)
    first = played(join("A", ("orders",)), settings=settings).group_epoch
    asked = (join("A", ("orders",)), join("B", ("orders",)), beat("A", first, *range(6)))
    back = played(*asked, leave("B"), beat("A", first, 0, 1, 2), settings=settings)

    assert back.member("A").state == state
    again = played(*asked, leave("B"), beat("A", first, 0, 1, 2), beat("A", first + 2, 0, 1, 2), settings=settings)
    assert len(again.member("A").assigned) == 6


@pytest.mark.parametrize(("release", "rises_by"), [("4.0", 1), ("4.1", 1), ("4.2", 0), ("4.3", 0)])
def test_up_to_4_1_the_epoch_rises_with_a_revocation_that_another_one_follows(release, rises_by):
    settings = Settings(release=release, assignment_interval_ms=0)
    first = played(join("A", ("orders",)), settings=settings).group_epoch
    asked = (join("A", ("orders",)), join("B", ("orders",)), beat("A", first, *range(6)), join("C", ("orders",)))
    member = played(*asked, beat("A", first, 0, 1, 2), settings=settings).member("A")

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
    group = played(join("A", ("orders",)), TopicChanged("clicks", 9), beat("A", 2, 0, 1, 2, 3, 4, 5))
    assert group.group_epoch == 2
    assert not any(isinstance(effect, RecordWritten) for effect in group.effects)


def test_most_voices_choose_the_assignor():
    members = [join(name, ("orders",), assignor="range") for name in "AB"] + [
        join("C", ("orders",), assignor="uniform")
    ]
    targets = dict(played(*members, orders=7).targets)
    assert [len(targets[name]) for name in "ABC"] == [3, 2, 2]


def errors_of(group):
    return [error for _, error in answer(group).errors]


@pytest.mark.parametrize("version", [9, 10])
def test_since_4_3_an_older_epoch_may_commit_what_was_assigned_by_then_but_one_stale_partition_refuses_all(version):
    kept, given_up = TopicPartition("orders", 0), TopicPartition("orders", 5)
    events = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, 0, 1, 2, 3, 4, 5)]

    def after(*more, epoch=2, partitions=(kept, given_up)):
        return played(*events, *more, OffsetCommit("A", epoch, partitions, version))

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
    (pending,) = played(*asked).member("A").pending_partitions
    assert errors_of(played(*asked, OffsetCommit("A", 2, (pending,)))) == ["NONE"]
    both = (pending, TopicPartition("orders", 5))
    assert errors_of(played(*asked, OffsetCommit("A", 2, both))) == ["STALE_MEMBER_EPOCH", "STALE_MEMBER_EPOCH"]


def test_up_to_4_2_only_the_present_epoch_may_commit_and_a_stranger_never():
    settings = Settings(release="4.2")
    one = (TopicPartition("orders", 0),)
    events = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 1, *range(6)), beat("A", 1, 0, 1, 2)]

    def error(member_id, epoch):
        group = played(*events, OffsetCommit(member_id, epoch, one), settings=settings)
        return answer(group).errors[0][1]

    assert [error("A", 2), error("A", 1), error("A", 3)] == ["NONE", "STALE_MEMBER_EPOCH", "STALE_MEMBER_EPOCH"]
    assert error("X", 2) == "UNKNOWN_MEMBER_ID"


def test_offsets_of_an_empty_group_may_be_written_by_a_client_without_one():
    one = (TopicPartition("orders", 0),)
    assert answer(played(OffsetCommit("", -1, one))).errors == ((one[0], "NONE"),)
    assert answer(played(join("A", ("orders",)), OffsetCommit("", -1, one))).errors[0][1] == "UNKNOWN_MEMBER_ID"


def test_what_makes_no_sense_is_refused_with_what_there_is():
    with pytest.raises(IllegalEvent, match="Kafka takes none away"):
        played(TopicChanged("orders", 5))
    with pytest.raises(IllegalEvent, match="there is no such topic"):
        played(TopicChanged("returns", None))
    with pytest.raises(IllegalEvent, match="there are ConsumerGroupHeartbeat"):
        played("join")
    with pytest.raises(KafkaLearnError, match="at least 0"):
        played(TimePassed(-1))
    with pytest.raises(KafkaLearnError, match="no member 'Z'"):
        played(join("A", ("orders",))).member("Z")
    with pytest.raises(KafkaLearnError, match="the number of partitions of 'orders' must be at least 1"):
        TopicChanged("orders", 0)


def test_a_user_hopes_that_nobody_is_fenced_that_all_is_owned_and_that_a_stable_group_stays_so():
    moved = [join("A", ("orders",)), join("B", ("orders",)), beat("A", 2, *range(6)), beat("A", 2, 0, 1, 2)]
    trace = simulate(AT_ONCE, [*moved, ConsumerGroupHeartbeat("B", 3), TimePassed(45_000)])
    judged = [broken(AT_ONCE, after.state, before.state) for before, after in pairwise(trace)]
    assert judged == [(), (STAYS_STABLE,), (ALL_OWNED,), (ALL_OWNED,), (), (NONE_FENCED, STAYS_STABLE)]


def test_settings_that_no_broker_has_are_refused():
    with pytest.raises(KafkaLearnError, match=r"modelled as it is since 4\.0"):
        Settings(release="3.9")
    with pytest.raises(KafkaLearnError, match=r"came with 4\.3"):
        Settings(release="4.2", assignment_interval_ms=1000)
    with pytest.raises(KafkaLearnError, match="did you mean 'uniform'"):
        Settings(assignors=("unifrom",))
    with pytest.raises(KafkaLearnError, match="must map each topic"):
        Settings(topics=["orders"])
    with pytest.raises(KafkaLearnError, match="the number of partitions of 'orders' must be at least 1"):
        Settings(topics={"orders": 0})
