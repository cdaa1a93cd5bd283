"""What an application on a real SimpleConsumer was answered, and what the stepper answers to the same."""

import pytest

from kafkalearn.zookeeper.fetching import (
    Append,
    BrokerCrashed,
    BrokerRestarted,
    LeaderMoved,
    RecordsDeleted,
)
from kafkalearn.zookeeper.simple_consumer import (
    Fetch,
    Fetched,
    FindLeader,
    FindOffset,
    LeaderFound,
    OffsetFound,
    Refused,
    Restart,
    Restarted,
    Save,
    Saved,
    Seek,
    Settings,
    TooLarge,
    check,
    simulate,
    start,
    step,
)
from tests.recorded import recorded

RECORDED = recorded("simple-consumer")


def events_of(settings: Settings, op: dict) -> list:
    """What an operation is for the stepper, but for the leader, which is recorded beside it."""
    name, value, topic = op["op"], op.get("with"), settings.topic
    match name:
        case "produce":
            return [Append(topic, 0, op["each"], op.get("size", 100))]
        case "delete_records":
            return [RecordsDeleted(topic, 0, op["before"])] if op["before"] else []
        case "stop_broker":
            return [BrokerCrashed(op["broker"])]
        case "start_broker":
            return [BrokerRestarted(op["broker"])]
        case "find":
            return [FindLeader(value)]
        case "offset":
            return [FindOffset(value)]
        case "seek":
            return [Seek(value)]
    return {"fetch": [Fetch()], "save": [Save()], "restart": [Restart()]}.get(name, [])


def words_of(effect) -> str:
    """An effect in the recorder's words."""
    match effect:
        case LeaderFound(asked, leader):
            return f"leader {asked} {leader}"
        case OffsetFound(offset) | Saved(offset) | Restarted(offset):
            return f"{NAMES[type(effect)]} {offset}"
        case Fetched(offsets):
            return " ".join(map(str, ["fetched", *offsets]))
        case Refused(broker_id, error):
            return f"refused {broker_id} {error}"
        case TooLarge(offset):
            return f"too large {offset}"
    return ""


NAMES = {OffsetFound: "offset", Saved: "saved", Restarted: "restarted"}


@pytest.mark.parametrize("script", RECORDED["scripts"], ids=lambda script: script["name"])
def test_each_request_is_answered_as_the_real_one_was(script):
    settings = Settings(script["topic"], fetch_message_max_bytes=script["fetch_size"], release="1.1")
    state, played = start(settings), []
    for number, each in enumerate(script["steps"]):
        where, before = (number, each["op"]), state
        for event in events_of(settings, each["op"]):
            played.append(event)
            state = step(settings, state, event)
            check(settings, state, before)
        if "answer" in each:
            assert words_of(state.effects[-1]) == each["answer"], where
        if each["leader"] != state.cluster.log(settings.topic_partition).leader:
            played.append(LeaderMoved(settings.topic, 0, each["leader"]))
            state = step(settings, state, played[-1])
    assert simulate(settings, played)[-1].state == state


def test_every_answer_and_every_refusal_was_recorded():
    answers = {
        each["answer"].split()[0] for script in RECORDED["scripts"] for each in script["steps"] if "answer" in each
    }
    errors = {
        each["answer"].split(" ", 2)[2]
        for script in RECORDED["scripts"]
        for each in script["steps"]
        if each.get("answer", "").startswith("refused")
    }
    assert answers == {"leader", "offset", "fetched", "saved", "restarted", "refused"}
    assert errors == {"no connection", "LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION", "OFFSET_OUT_OF_RANGE"}
