"""Consumers with leader epochs: who notices that a log was cut, and what the others do then."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.consuming.truncation import (
    NONE_AGAIN,
    NONE_SKIPPED,
    Assign,
    Commit,
    Poll,
    RefreshMetadata,
    Settings,
    broken,
    find,
    simulate,
    step,
)
from kafkalearn.consuming.truncation.model import (
    Assigned,
    Committed,
    ExceptionThrown,
    Fetched,
    MetadataLearnt,
    NoLeaderKnown,
    OffsetReset,
    OffsetsForLeaderEpochAnswered,
    Position,
    TruncationFound,
)
from kafkalearn.consuming.truncation.search import COPIED, EPOCHLESS_COMMIT, PAIR, READ, UNCLEAN, UNVALIDATED_ASSIGNMENT
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerThawed,
    Consume,
    Produce,
    SessionExpired,
)
from kafkalearn.replication import (
    Settings as TopicSettings,
)

SETTINGS = Settings(PAIR)
TAKEN_OVER = (BrokerFrozen(1), SessionExpired(1))
CUT = (BrokerCrashed(2), SessionExpired(2), Produce(2, acks=1))  # the new records are on broker 1 alone


def effects_of(settings, events, last=1):
    return [effect for frame in simulate(settings, events)[-last:] for effect in frame.state.effects]


def owner_after(settings, events):
    return simulate(settings, events)[-1].state.owner


def test_a_position_has_the_epoch_of_the_record_before_it_and_a_commit_keeps_it():
    assert owner_after(SETTINGS, [*COPIED, *READ]).position == Position(2, 0)
    assert effects_of(SETTINGS, [*COPIED, *READ, Commit()]) == [Committed(2, 0)]
    assert effects_of(SETTINGS, [*COPIED, *READ, Commit(has_epoch=False)]) == [Committed(2, None)]


def test_after_a_leader_change_the_position_is_validated_before_anything_is_fetched():
    events = [*COPIED, *READ, *TAKEN_OVER, RefreshMetadata("A", 2)]
    assert effects_of(SETTINGS, [*events, Produce(), Poll(), Poll()], last=2) == [
        OffsetsForLeaderEpochAnswered("A", asked_epoch=0, epoch=0, end_offset=2),
        Fetched("A", (2,)),
    ]


def test_a_consumer_that_does_not_know_of_the_change_is_refused():
    events = [*COPIED, *READ, *TAKEN_OVER, BrokerThawed(1), BrokerReconnected(1), Poll()]
    assert effects_of(SETTINGS, events) == [Fetched("A", (), "FENCED_LEADER_EPOCH")]  # a follower knows the epoch too
    up_to_2_0 = Settings(replace(PAIR, release="2.0", rules=None))
    assert effects_of(up_to_2_0, events) == [Fetched("A", (), "NOT_LEADER_OR_FOLLOWER")]
    led_again = [*COPIED, *READ, BrokerCrashed(2), SessionExpired(2), BrokerCrashed(1), BrokerStarted(1), Poll()]
    assert effects_of(SETTINGS, led_again) == [Fetched("A", (), "FENCED_LEADER_EPOCH")]


def test_a_consumer_ahead_of_the_broker_it_asks_is_told_to_come_back():
    events = [*COPIED, *READ, *TAKEN_OVER, RefreshMetadata("A", 2), BrokerThawed(1)]
    known = simulate(SETTINGS, events)[-1].state
    asks_old = known.with_consumer(replace(known.owner, leader=1, doing="fetching"))
    assert step(SETTINGS, asks_old, Poll()).effects == (Fetched("A", (), "UNKNOWN_LEADER_EPOCH"),)


def test_metadata_of_an_older_leader_is_not_used():
    events = [*COPIED, *READ, *TAKEN_OVER, RefreshMetadata("A", 2), BrokerThawed(1), RefreshMetadata("A", 1)]
    assert effects_of(SETTINGS, events) == [MetadataLearnt("A", 1, 0, is_used=False)]
    up_to_2_0 = Settings(replace(PAIR, release="2.0", rules=None))
    assert effects_of(up_to_2_0, events) == [MetadataLearnt("A", 1, 0, is_used=True)]


def truncated(settings):
    """A has read records 2 and 3, which go with an unclean election."""
    return [*COPIED, *READ, *CUT, Poll(), Commit(), *UNCLEAN, RefreshMetadata("A", 2), RefreshMetadata("B", 2)]


def test_a_cut_log_is_noticed_and_read_on_where_it_was_cut():
    events = [*truncated(SETTINGS), Poll()]
    assert effects_of(SETTINGS, events) == [
        OffsetsForLeaderEpochAnswered("A", asked_epoch=0, epoch=0, end_offset=2),
        TruncationFound("A", 4, 2),
    ]
    end = simulate(SETTINGS, [*events, Produce(), Poll()])[-1].state
    assert [(reading.offset, reading.value) for reading in end.readings][-1] == (2, "m5")
    assert broken(SETTINGS, end) == ()


def test_without_a_reset_the_application_gets_an_exception_with_the_place():
    strict = replace(SETTINGS, auto_offset_reset="none")
    state = simulate(SETTINGS, truncated(SETTINGS))[-1].state
    failed = step(strict, state, Poll())
    assert failed.effects[-1] == ExceptionThrown("A", "LogTruncationException", 4, divergence=(0, 2))
    assert step(strict, failed, Poll()).effects == ()


def test_an_epoch_that_the_new_leader_never_had_is_reset():
    lone = [*truncated(SETTINGS)]
    state = simulate(SETTINGS, lone)[-1].state
    foreign = state.with_consumer(replace(state.owner, position=Position(4, 9)))
    assert step(SETTINGS, foreign, Poll()).effects[0].end_offset == -1
    assert step(SETTINGS, foreign, Poll()).owner.doing == "resetting"


@pytest.mark.parametrize(
    ("settings", "has_epoch", "is_noticed"),
    [
        (SETTINGS, True, True),
        (SETTINGS, False, False),  # apache/kafka#23183: nothing to ask with
        (replace(SETTINGS, validation="after leader changes"), True, False),  # confluentinc/librdkafka#5158
    ],
)
def test_a_new_owner_notices_only_with_a_committed_epoch_that_it_validates(settings, has_epoch, is_noticed):
    events = [*COPIED, *READ, *CUT, Poll(), Commit(has_epoch), *UNCLEAN, RefreshMetadata("B", 2), Assign("B"), Poll()]
    effects = effects_of(settings, [*events, Poll(), Poll()], last=3)
    assert any(isinstance(each, TruncationFound) for each in effects) == is_noticed
    assert (OffsetReset("B", 4, 0) in effects) == (not is_noticed)


def test_latest_in_place_of_earliest_skips_what_came_meanwhile():
    latest = replace(SETTINGS, auto_offset_reset="latest")
    first = simulate(SETTINGS, [*COPIED, *READ, *CUT, Poll(), Commit(has_epoch=False)])[-1].state
    events = [*UNCLEAN, RefreshMetadata("B", 2), Produce(acks=1), Assign("B"), Poll(), Poll(), Produce(acks=1), Poll()]
    end = simulate(latest, events, first)[-1].state
    assert [reading.value for reading in end.readings][-1] == "m6"  # m5 was never read
    assert NONE_AGAIN not in broken(latest, end)


# --- the two reports, found by search


@pytest.mark.parametrize(("has_epoch", "outcome"), [(False, "found"), (True, "nothing left")])
def test_the_report_of_epochless_commits_a_rebalance_brings_everything_again(has_epoch, outcome):
    story = EPOCHLESS_COMMIT
    kinds = [Commit(has_epoch) if isinstance(each, Commit) else each for each in story.kinds]
    search = find(story.settings, kinds, (NONE_AGAIN,), story.begun, at_most=story.at_most)
    assert search.outcome == outcome
    if outcome == "found":
        end = search.trace[-1].state
        assert [reading.value for reading in end.readings] == ["m1", "m2", "m3", "m1", "m2"]
        assert end.partition.ledger.unclean_election_count == 0  # nothing is lost


@pytest.mark.parametrize(
    ("validation", "outcome"), [("after leader changes", "found"), ("always", "nothing left"), ("never", "found")]
)
def test_the_report_of_assigned_offsets_that_are_not_validated(validation, outcome):
    story = UNVALIDATED_ASSIGNMENT
    settings = replace(story.settings, validation=validation)
    search = find(settings, story.kinds, (NONE_AGAIN,), story.begun, at_most=story.at_most)
    assert search.outcome == outcome
    if outcome == "found":
        assert [type(frame.event).__name__ for frame in search.trace[1:]][-4:] == ["Assign", "Poll", "Poll", "Poll"]


def test_with_the_reset_to_latest_the_same_report_is_about_records_that_nobody_reads():
    settings = replace(SETTINGS, auto_offset_reset="latest", validation="after leader changes")
    begun = simulate(SETTINGS, [*COPIED, *READ, *CUT, Poll(), Commit()])[-1].state
    kinds = [*UNCLEAN, RefreshMetadata("B", 2), Assign("B"), Poll(), Produce(3, acks=1), Produce(acks=1)]
    search = find(settings, kinds, (NONE_SKIPPED,), begun, at_most={RefreshMetadata: 1, Assign: 1, Produce: 2})
    assert search.outcome == "found"
    assert [reading.offset for reading in search.trace[-1].state.readings] == [0, 1, 2, 3, 5, 6, 7]


# --- what makes no sense


def test_nothing_was_committed_yet_and_there_is_no_reset():
    strict = replace(SETTINGS, auto_offset_reset="none")
    assert effects_of(strict, [Assign("A"), Poll()], last=2) == [
        Assigned("A", None, None),
        ExceptionThrown("A", "NoOffsetForPartitionException", None),
    ]


def test_nobody_to_ask():
    assert effects_of(SETTINGS, [Assign("A"), BrokerCrashed(1), Poll()]) == [NoLeaderKnown("A")]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (Poll(), "nobody's yet"),
        (Commit(), "nobody's yet"),
        (Assign("C"), "there is no consumer 'C'; there are A and B"),
        (RefreshMetadata("A", 9), "there is no broker 9"),
        (Consume(0), "Consume"),
    ],
)
def test_what_cannot_happen_is_refused(event, why):
    with pytest.raises((IllegalEvent, KafkaLearnError), match=why):
        simulate(SETTINGS, [event])


def test_a_commit_before_the_first_poll_is_refused():
    with pytest.raises(IllegalEvent, match="no position yet"):
        simulate(SETTINGS, [Assign("A"), Commit()])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"consumers": ()}, "at least one consumer"),
        ({"auto_offset_reset": "smallest"}, "auto_offset_reset"),
        ({"validation": "sometimes"}, "validation"),
        ({"topic": TopicSettings(release="2.0"), "validation": "always"}, "know no leader epochs"),
    ],
)
def test_settings_that_no_group_can_have_are_refused(words, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(**words)
