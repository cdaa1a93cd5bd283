"""The client's side of a commit: its channel, its tries, and what a coordinator that dies does to it."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.offsets.replicated import FollowerFetch
from kafkalearn.offsets.store import Load
from kafkalearn.replication import BrokerCrashed, SessionExpired, TimePassed
from kafkalearn.zookeeper.commits import (
    AutoCommit,
    BackoffPassed,
    CommitOffsets,
    Produce,
    Read,
    Rewind,
    Settings,
    Shutdown,
    Start,
    broken,
    simulate,
    start,
    step,
)
from kafkalearn.zookeeper.commits.model import (
    BackingOff,
    Began,
    CommitDone,
    CommitDropped,
    Connected,
    Disconnected,
    Gone,
    ZnodeUnchanged,
    ZnodeWritten,
)

REPLICATED = Settings(replica_count=3, auto_offset_reset="smallest")
FETCHES = [FollowerFetch(2), FollowerFetch(3), FollowerFetch(2), FollowerFetch(3)]
READ = [Produce(count=4), Start("c1", "kafka"), Read("c1", count=4)]


def effects_of(trace, kind):
    return [effect for frame in trace for effect in frame.state.effects if isinstance(effect, kind)]


def test_the_answer_comes_when_the_replicas_have_the_commit_and_then_zookeeper_is_written():
    trace = simulate(REPLICATED, [*READ, CommitOffsets("c1"), *FETCHES])
    assert trace[4].state.zookeeper == (None,)
    assert trace[-1].state.zookeeper == (4,)
    assert trace[-1].state.in_topic(REPLICATED) == (4,)
    assert effects_of(trace[5:], CommitDone) == [CommitDone("c1")]


def test_a_coordinator_that_dies_is_looked_for_again_and_the_commit_of_the_timer_is_sent_again():
    die = [AutoCommit("c1"), BrokerCrashed(1), BackoffPassed("c1"), SessionExpired(1), Load(), BackoffPassed("c1")]
    trace = simulate(REPLICATED, [*READ, *die, FollowerFetch(3), FollowerFetch(3)])
    assert [each.broker_id for each in effects_of(trace, Connected)] == [1, 2]
    assert [each.why for each in effects_of(trace, BackingOff)] == ["no connection", "no connection"]
    assert effects_of(trace, Disconnected) == [Disconnected("c1", 1)]
    assert effects_of(trace, CommitDone) == [CommitDone("c1")]


def test_the_applications_own_commit_is_dropped_at_the_first_error_and_nobody_is_told():
    trace = simulate(REPLICATED, [*READ, CommitOffsets("c1"), BrokerCrashed(1)])
    assert effects_of(trace, CommitDropped) == [CommitDropped("c1", "no connection")]
    assert trace[-1].state.consumer("c1").commit is None


@pytest.mark.parametrize(
    ("release", "tries"), [("0.8.2", (1, 1, 4)), ("0.9.0", (4, 1, 1)), ("0.10.2", (4, 1, 1)), ("1.1", (4, 1, 1))]
)
def test_which_commits_are_tried_again_turned_round_with_0_9(release, tries):
    settings = Settings(release=release, offsets_commit_max_retries=3)
    assert tuple(settings.tries(by) for by in ("the timer", "the application", "the shutdown")) == tries


def test_a_commit_that_is_refused_each_time_is_dropped_after_the_last_try():
    settings = Settings(replica_count=2, auto_offset_reset="smallest", offsets_commit_max_retries=2)
    late = [TimePassed(5000), BackoffPassed("c1")]
    trace = simulate(settings, [*READ, AutoCommit("c1"), *late, *late, TimePassed(5000)])
    assert [each.why for each in effects_of(trace, BackingOff)] == ["COORDINATOR_NOT_AVAILABLE"] * 2
    assert effects_of(trace, CommitDropped) == [CommitDropped("c1", "COORDINATOR_NOT_AVAILABLE")]


def test_finding_the_coordinator_costs_no_try():
    gone = [BrokerCrashed(1), AutoCommit("c1"), *[BackoffPassed("c1")] * 9]
    trace = simulate(Settings(auto_offset_reset="smallest"), [*READ, *gone])
    assert not effects_of(trace, CommitDropped)
    assert trace[-1].state.consumer("c1").commit.tries_left == 5  # one was sent over the old channel


def test_a_consumer_that_starts_while_the_coordinator_loads_waits_for_it():
    trace = simulate(
        REPLICATED,
        [BrokerCrashed(1), SessionExpired(1), Start("c1", "kafka"), BackoffPassed("c1"), Load(), BackoffPassed("c1")],
    )
    assert [each.why for each in effects_of(trace, BackingOff)] == ["COORDINATOR_LOAD_IN_PROGRESS"] * 2
    assert effects_of(trace, Began)


def test_with_both_stores_the_larger_offset_wins_and_a_rewind_is_undone():
    settings = Settings(auto_offset_reset="smallest")
    trace = simulate(settings, [*READ, CommitOffsets("c1"), Shutdown("c1"), Rewind(0, 1), Start("c2", "kafka")])
    assert trace[-1].state.effects[-1] == Began("c2", 0, 4, in_zookeeper=1, in_topic=4)


def test_zookeeper_is_not_written_with_what_the_consumer_believes_to_be_there():
    settings = Settings(auto_offset_reset="smallest")
    trace = simulate(settings, [Produce(), Start("c1"), Read("c1"), CommitOffsets("c1"), CommitOffsets("c1")])
    assert [type(each) for each in effects_of(trace, ZnodeWritten | ZnodeUnchanged)] == [ZnodeWritten, ZnodeUnchanged]


def test_a_shutdown_commits_once_more_only_with_auto_commit():
    for is_on, node in ((True, (2,)), (False, (None,))):
        settings = Settings(auto_offset_reset="smallest", auto_commit_enable=is_on)
        trace = simulate(settings, [Produce(count=2), Start("c1"), Read("c1", count=2), Shutdown("c1")])
        assert trace[-1].state.zookeeper == node
        assert effects_of(trace, Gone) == [Gone("c1")]


def test_a_shutdown_waits_for_its_commit():
    trace = simulate(REPLICATED, [*READ, Shutdown("c1"), *FETCHES])
    assert trace[4].state.consumer("c1").status == "closing"
    assert trace[-1].state.consumers == ()


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([Start("c1"), Start("c1")], "runs already"),
        ([Start("c1"), Start("c2")], "owns a partition"),
        ([Start("c1", partitions=[3])], "no partition 3"),
        ([Start("c1"), Read("c1")], "0 are there"),
        ([Start("c1"), BackoffPassed("c1")], "not backing off"),
        ([CommitOffsets("c1")], "no consumer c1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(events, says):
    with pytest.raises(IllegalEvent, match=says):
        simulate(Settings(), events)


def test_two_commits_at_once_wait_for_each_other():
    state = simulate(REPLICATED, [*READ, CommitOffsets("c1")])[-1].state
    for event in (CommitOffsets("c1"), AutoCommit("c1"), Shutdown("c1")):
        with pytest.raises(IllegalEvent, match="waits for the lock"):
            step(REPLICATED, state, event)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Settings(release="2.0"), "2.0 removed this consumer"),
        (lambda: Settings(auto_offset_reset="earliest"), "unknown auto_offset_reset"),
        (lambda: Start("c1", "redis"), "unknown offsets_storage"),
        (lambda: Start("c1", partitions=[]), "at least one"),
        (lambda: Produce(count=2_147_483_647), "count must be at most 100,000, got 2147483647"),
        (lambda: Settings(partition_count=10_000), "partition_count must be at most 1,000, got 10000"),
    ],
)
def test_what_no_consumer_can_be_is_refused(make, says):
    with pytest.raises(KafkaLearnError, match=says):
        make()


def test_without_anybody_no_promise_is_broken():
    assert broken(Settings(), start(Settings())) == ()
