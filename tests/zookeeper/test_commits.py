"""ZooKeeper and the offsets topic under one load: the rule, and where its costs are from."""

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.replicated import FollowerFetch
from kafkalearn.offsets.store import Load, StoreGroup
from kafkalearn.replication import BrokerCrashed, SessionExpired, TimePassed
from kafkalearn.zookeeper.commits import (
    AutoCommit,
    BackoffPassed,
    CommitOffsets,
    Crash,
    Produce,
    Read,
    Rewind,
    Settings,
    Shutdown,
    Start,
    broken,
    check,
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
    RecordsRead,
    ZnodeUnchanged,
    ZnodeWritten,
)
from kafkalearn.zookeeper.commits.simulator import MEASURED, Costs, backlogs, commit_times
from tests.recorded import recorded

STORES = recorded("offset-stores")
RUNS = STORES["runs"]


def two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))


def test_the_costs_are_the_measured_ones():
    assert len(STORES["runs"]) == 3
    one, hundred = (median(run[name]["p10_us"] for run in RUNS) for name in ("commit_of_1", "commit_of_100"))
    assert (
        Costs(
            znode_write_us=two_digits(median(run["znode_write"]["p10_us"] for run in RUNS)),
            znode_writes_per_second=two_digits(median(run["znode_writes_per_second"]["p90"] for run in RUNS)),
            request_us=two_digits(one),
            record_us=round((hundred - one) / 99),
            requests_per_second=two_digits(median(run["commits_of_1_per_second"]["p90"] for run in RUNS)),
        )
        == MEASURED
    )


def test_ten_partitions_lie_between_one_and_a_hundred_as_the_rule_has_it():
    ten = median(run["commit_of_10"]["p10_us"] for run in RUNS)
    assert commit_times(10).topic_us == pytest.approx(ten, rel=0.25)


@given(st.integers(1, 5000))
def test_a_commit_of_more_partitions_takes_longer_and_the_nodes_always_longest(count):
    few, more = commit_times(count), commit_times(count + 1)
    assert few.zookeeper_us < more.zookeeper_us
    assert few.topic_us < more.topic_us
    assert few.zookeeper_us / count == commit_times(1).zookeeper_us
    assert few.topic_us / count >= more.topic_us / (count + 1)


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 40))
def test_what_came_was_done_or_waits(asked, done):
    waiting = backlogs(asked, done)
    assert len(waiting) == len(asked)
    for at in range(len(asked)):
        before = waiting[at - 1] if at else 0
        assert 0 <= before + asked[at] - waiting[at] <= done
        assert waiting[at] == 0 or before + asked[at] - waiting[at] == done


def test_what_is_no_number_of_writes_is_refused():
    with pytest.raises(KafkaLearnError, match="asked must be at least 0"):
        backlogs([-1], 5)
    with pytest.raises(KafkaLearnError, match="done_per_second"):
        backlogs([1], 0)
    with pytest.raises(KafkaLearnError, match="partition_count"):
        commit_times(0)
    with pytest.raises(KafkaLearnError, match="request_us"):
        Costs(1, 1, 0, 1, 1)


MIGRATIONS = recorded("offset-migrations")
BACKOFF_MS = 200


def settings_of(script: dict) -> Settings:
    config = script["config"]
    return Settings(
        partition_count=script["steps"][0]["op"]["partitions"],
        auto_commit_enable=config.get("auto.commit.enable") == "true",
        auto_offset_reset=config.get("auto.offset.reset", "smallest"),
        offsets_channel_backoff_ms=BACKOFF_MS,
    )


def operation(settings: Settings, state, op: dict) -> list:
    """What an operation is for the simulator."""
    match op["op"]:
        case "produce":
            return [Produce(partition, op["each"]) for partition in range(settings.partition_count)]
        case "start":
            dual = op["config"].get("dual.commit.enabled")
            storage = op["config"].get("offsets.storage", "zookeeper")
            return [Start(op["consumer"], storage, None if dual is None else dual == "true")]
        case "read":
            left = op.get("most", 10**6)
            events = []
            for partition, offset in state.consumer(op["consumer"]).consumed:
                count = min(left, state.log_ends[partition] - offset)
                left -= count
                events += [Read(op["consumer"], partition, count)] if count else []
            return events
        case "commit":
            return [CommitOffsets(op["consumer"], op["retry_on_failure"])]
        case "shutdown":
            return [Shutdown(op["consumer"])]
        case "crash":
            return [Crash(op["consumer"])]
        case "rewind":
            return [Rewind(op["partition"], op["offset"])]
        case "newcomer":
            return [StoreGroup(settings.group, 1, 0, (Member("new-1"),), protocol="range", leader="new-1")]
    return []


def run_of(script: dict):
    """The settings of a script, its events, and for each of its steps where they end; who backs off tries again."""
    settings = settings_of(script)
    state, events, ends = start(settings), [], []
    for each in script["steps"]:
        for event in operation(settings, state, each["op"]):
            events.append(event)
            state = step(settings, state, event)
            while state.effects and isinstance(state.effects[-1], BackingOff):
                events.append(BackoffPassed(state.effects[-1].consumer))
                state = step(settings, state, events[-1])
        ends.append(len(events))
    return settings, events, ends


def steps_of(script: dict, trace, ends):
    """Each step with its number, what was recorded, the state after it, and all that it told."""
    for number, (each, begin, end) in enumerate(zip(script["steps"], (0, *ends), ends, strict=False)):
        told = [effect for frame in trace[begin + 1 : end + 1] for effect in frame.state.effects]
        yield (number, each["op"]), each, trace[end].state, told


def name_of(script):
    return script["name"]


@pytest.mark.parametrize("script", MIGRATIONS["scripts"], ids=name_of)
def test_both_stores_hold_what_the_real_ones_held(script):
    settings, events, ends = run_of(script)
    trace = simulate(settings, events)
    for before, frame in zip((None, *trace), trace, strict=False):
        check(settings, frame.state, before and before.state)
    for where, each, state, _ in steps_of(script, trace, ends):
        node = {str(partition): offset for partition, offset in enumerate(state.zookeeper) if offset is not None}
        assert node == each["zookeeper"], where
        if "topic" in each:
            in_topic = enumerate(state.in_topic(settings))
            assert {str(p): offset for p, offset in in_topic if offset is not None} == each["topic"], where


@pytest.mark.parametrize("script", MIGRATIONS["scripts"], ids=name_of)
def test_each_consumer_reads_the_same_records(script):
    settings, events, ends = run_of(script)
    for where, each, _, told in steps_of(script, simulate(settings, events), ends):
        if "read" in each:
            read = [[one.partition, offset] for one in told if isinstance(one, RecordsRead) for offset in one.offsets]
            assert sorted(read) == each["read"], where


@pytest.mark.parametrize("script", MIGRATIONS["scripts"], ids=name_of)
def test_a_commit_takes_as_many_backoffs_as_it_is_tried_again(script):
    settings, events, ends = run_of(script)
    for _, each, _, told in steps_of(script, simulate(settings, events), ends):
        if each["op"]["op"] == "commit":
            assert isinstance(told[-1], CommitDone | CommitDropped)
        if told and isinstance(told[-1], CommitDropped):
            assert each["ms"] // BACKOFF_MS == sum(isinstance(one, BackingOff) for one in told)


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
        (lambda: Settings(release="2.0"), "2.0 removed the old consumer"),
        (lambda: Settings(auto_offset_reset="earliest"), "unknown auto_offset_reset"),
        (lambda: Start("c1", "redis"), "unknown offsets_storage"),
        (lambda: Start("c1", partitions=[]), "at least one"),
    ],
)
def test_what_no_consumer_can_be_is_refused(make, says):
    with pytest.raises(KafkaLearnError, match=says):
        make()


def test_without_anybody_no_promise_is_broken():
    assert broken(Settings(), start(Settings())) == ()
