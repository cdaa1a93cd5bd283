"""What real old consumers of 1.1.1 committed where, which store each restart believed, and what was read."""

import pytest

from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store import StoreGroup
from kafkalearn.zookeeper.commits import (
    BackoffPassed,
    CommitOffsets,
    Crash,
    Produce,
    Read,
    Rewind,
    Settings,
    Shutdown,
    Start,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.zookeeper.commits.model import BackingOff, CommitDone, CommitDropped, RecordsRead
from tests.recorded import recorded

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
