"""Consumers, followers and producers that wait, against scripts that Kafka's own classes ran."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.purgatory.requests import (
    Broker,
    ConsumerAnswered,
    ConsumerFetch,
    ConsumerParked,
    Settings,
    SizedProduce,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.replication.events import NONE, Fetch, Produce, TimePassed
from kafkalearn.replication.state import blank
from tests.recorded import recorded
from tests.replication.scripts import answer, effects_as_recorded, event_of, settings_of, shown


def request_of(entry):
    """The event of a line; scripts give the size of a batch, which is that of its single record."""
    if entry["op"] == "consumer_fetch":
        return ConsumerFetch(entry["id"], entry["offset"], entry["min_bytes"], entry["max_wait_ms"])
    event = event_of(entry)
    return SizedProduce(event, entry.get("bytes", 100)) if isinstance(event, Produce) else event


def effects_of(broker, op):
    """The effects in the words of the scripts, where a consumer that waits is the outcome of its request."""
    lines = []
    for effect in broker.effects:
        match effect:
            case ConsumerAnswered(name, high_watermark, records, error) if error == NONE:
                texts = [f"{offset}:{value}" for offset, value in records]
                lines.append(
                    {"event": "consumer_response", "id": name, "high_watermark": high_watermark, "records": texts}
                )
            case ConsumerAnswered(name, error=error):
                lines.append({"event": "consumer_response", "id": name, "error": error})
            case ConsumerParked():
                pass
            case _:
                lines += effects_as_recorded(type("One", (), {"effects": (effect,)}), op)
    return lines


@pytest.mark.parametrize("case", recorded("log-purgatory")["cases"], ids=lambda case: case["id"])
def test_every_recorded_script_wakes_the_same_requests_with_the_same_answers(case):
    settings = settings_of(case["config"])
    broker = Broker(blank(settings))  # the scripts have the first election too
    for entry in case["events"]:
        expect, before = dict(entry["expect"]), broker
        expected_state = expect.pop("state")
        if (event := request_of(entry)) is not None:
            broker = step(settings, broker, event)
            check(settings, broker, before)
        if entry["op"] == "consumer_fetch":
            is_parked = isinstance(broker.effects[-1], ConsumerParked)
            assert expect.pop("outcome") == ("parked" if is_parked else "immediate")
        else:
            assert answer(before.partition, broker.partition, entry["op"]).items() <= expect.items()
        if event is not None:
            assert effects_of(broker, entry["op"]) == expect.get("effects", [])
        is_whole = "log" in next(iter(expected_state["replicas"].values()))
        assert shown(settings, broker.partition, expected_state["leader"], is_whole) == expected_state


SETTINGS = Settings(replica_count=2)
EVENTS = st.lists(
    st.one_of(
        st.builds(ConsumerFetch, st.sampled_from(["c1", "c2", "c3"]), st.integers(0, 4), st.integers(0, 300)),
        st.builds(lambda size: SizedProduce(Produce(acks=1), size), st.integers(1, 200)),
        st.just(Fetch(2)),
        st.builds(TimePassed, st.integers(0, 300)),
    ),
    max_size=25,
)


@given(EVENTS)
def test_a_consumer_is_answered_once_with_enough_committed_bytes_or_when_its_time_is_over(events):
    broker, open_fetches = start(SETTINGS), {}
    for event in events:
        before = broker
        try:
            broker = step(SETTINGS, broker, event)
        except IllegalEvent:
            assert event.name in open_fetches
            continue
        check(SETTINGS, broker, before)
        if isinstance(event, ConsumerFetch):
            open_fetches[event.name] = (event, broker.partition.now_ms)
        for effect in broker.effects:
            if not isinstance(effect, ConsumerAnswered):
                continue
            fetch, since_ms = open_fetches.pop(effect.name)
            committed = broker.committed_bytes(fetch.offset)
            has_waited = broker.partition.now_ms - since_ms >= fetch.max_wait_ms
            assert effect.error == "OFFSET_OUT_OF_RANGE" or committed >= fetch.min_bytes or has_waited
            assert all(offset < broker.partition.high_watermark for offset, _ in effect.records)
        assert {waiting.fetch.name for waiting in broker.consumers} == set(open_fetches)
        for fetch, since_ms in open_fetches.values():  # nobody is left waiting who could be answered
            committed = broker.committed_bytes(fetch.offset)
            assert committed < fetch.min_bytes
            assert broker.partition.now_ms - since_ms < fetch.max_wait_ms


def test_an_append_wakes_the_follower_and_its_next_fetch_the_consumer():
    events = [Fetch(2), ConsumerFetch("c1", 0), SizedProduce(Produce(acks=1)), Fetch(2)]
    waiting = [
        (len(frame.state.partition.replica(1).waiting.fetches), len(frame.state.consumers))
        for frame in simulate(SETTINGS, events)
    ]

    assert waiting == [(0, 0), (1, 0), (1, 1), (0, 1), (1, 0)]


def test_a_consumer_that_waits_cannot_fetch_again():
    with pytest.raises(IllegalEvent, match="c1 waits already"):
        simulate(SETTINGS, [ConsumerFetch("c1", 0)] * 2)


@pytest.mark.parametrize("name", ["offset", "min_bytes", "max_wait_ms"])
def test_a_fetch_that_asks_for_less_than_nothing_is_refused(name):
    with pytest.raises(KafkaLearnError, match=f"{name} must be at least 0"):
        step(SETTINGS, start(SETTINGS), ConsumerFetch(**{"name": "c1", "offset": 0, name: -1}))
