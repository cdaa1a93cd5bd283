"""A recorded script of an old consumer, played by the simulator: operation by operation, each until all stand still."""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.zookeeper import fetching
from kafkalearn.zookeeper.fetching.cluster import Ended, Raised, Read

DEFAULTS = {"consumer.timeout.ms": "350", "auto.commit.enable": "false"}
ANSWERED = (Read, Raised, Ended)
WAITS_IN = {True: "addPartitions", False: "partitionCount"}


def settings_of(script: dict) -> fetching.Settings:
    """The settings of a script: its topic, two brokers, and what its consumer was configured with."""
    config = {**DEFAULTS, **script["config"]}
    joined = next(each["op"] for each in script["steps"] if each["op"]["op"] == "join")
    given = {name.replace(".", "_"): _value(value) for name, value in config.items()}
    created = script["steps"][0]["op"]["assignment"]
    return fetching.Settings(((script["topic"], len(created)),), stream_count=joined["streams"], **given)


def _value(text: str) -> int | bool | str:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text


def settle(settings: fetching.Settings, state, events: list | None = None):
    """Let the leader finder and the fetchers go on until nothing changes; the events are added to a list."""

    def after(state, event):
        if events is not None:
            events.append(event)
        return fetching.step(settings, state, event)

    while True:
        before = state
        finder = state.leader_finder
        if finder and state.no_leader and finder.waits_for is None:
            state = after(state, fetching.FindLeaders())
        for fetcher in state.fetchers:
            if not state.fetcher(fetcher.key).in_hand:
                state = after(state, fetching.Fetch(*fetcher.key))
        if state == before:
            return state


class Step(NamedTuple):
    """A recorded step, and where its events are in the run: its own from `begin`, all to `end`."""

    recorded: dict
    begin: int
    own_end: int
    end: int


def events_of(script: dict):
    """The settings of a script, all its events, and its steps."""
    settings = settings_of(script)
    topic, state, events, steps = script["topic"], fetching.start(settings), [], []
    leaders, stored = None, {}
    for each in script["steps"]:
        begin = len(events)
        for event in _events(topic, each, stored):
            events.append(event)
            state = fetching.step(settings, state, event)
            if isinstance(event, fetching.Append):
                state = settle(settings, state, events)  # the producer waited for each record, and the fetcher did not
        own_end = len(events)
        for partition, leader in enumerate(each.get("leaders", ())):
            if leaders is None or leaders[partition] != leader:
                events.append(fetching.LeaderMoved(topic, partition, leader))
                state = fetching.step(settings, state, events[-1])
        leaders = each.get("leaders", leaders)
        stored = {int(partition): int(offset) for partition, offset in each.get("offsets", {}).items()}
        state = settle(settings, state, events)
        steps.append(Step(each, begin, own_end, len(events)))
    return settings, events, steps


def _events(topic: str, each: dict, stored: dict) -> list:
    op = each["op"]
    match op["op"]:
        case "produce":
            return [fetching.Append(topic, op["partition"], 1, op.get("size", 100))] * op["each"]
        case "delete_records":
            return [fetching.RecordsDeleted(topic, op["partition"], op["before"])]
        case "join":
            streams = {int(name): info["stream"] for name, info in each["state"]["registry"].items()}
            return [
                fetching.StartConnections([fetching.Assigned(topic, p, streams[p], stored.get(p, -1)) for p in streams])
            ]
        case "next":
            return [fetching.Next(op["stream"])]
        case "commit":
            return [fetching.CommitOffsets()]
        case "shutdown":
            return [fetching.Shutdown()]
        case "stop_broker":
            return [fetching.BrokerCrashed(op["broker"])]
        case "start_broker":
            return [fetching.BrokerRestarted(op["broker"])]
    return []


def seen(state) -> dict:
    """A state in the words of the recordings."""
    finder = state.leader_finder
    return {
        "registry": {
            str(info.topic_partition.partition): {
                "consumed": info.consumed_offset,
                "fetched": info.fetched_offset,
                "stream": info.stream,
            }
            for info in sorted(state.registry)
        },
        "queues": [
            [
                {
                    "partition": chunk.topic_partition.partition,
                    "fetch_offset": chunk.fetch_offset,
                    "offsets": list(chunk.offsets),
                }
                for chunk in stream.queue
            ]
            for stream in state.streams
        ],
        "fetchers": [
            {
                "broker": fetcher.key.broker_id,
                "fetcher": fetcher.key.fetcher_id,
                "is_blocked": bool(fetcher.in_hand),
                "asks": [[each.partition, offset] for each, offset in fetcher.offsets],
            }
            for fetcher in sorted(state.fetchers)
        ],
        "no_leader": [each.partition for each in state.no_leader],
        "finder_waits_in": WAITS_IN[bool(finder.to_add)] if finder and finder.waits_for else None,
    }


def answer_of(said: tuple) -> str:
    """What a step told the application, in the recorder's words."""
    effect = next(each for each in said if isinstance(each, ANSWERED))
    match effect:
        case Read(_, topic_partition, offset):
            return f"R {topic_partition.topic} {topic_partition.partition} {offset}"
        case Raised(_, exception):
            return f"X kafka.consumer.{exception} null"
    return "DONE"
