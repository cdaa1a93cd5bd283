"""Whatever happens, a step ends, refuses in one way and keeps the invariants, and times that pass add up.

The events are drawn by their annotations; `tests.fuzz` draws others each time.
"""

import pickle
import re
from itertools import pairwise, takewhile

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.groups.mixed import pods
from kafkalearn.offsets import store
from kafkalearn.operations import coordinator_life, offsets_topic
from kafkalearn.purgatory import operations
from kafkalearn.replication import TimePassed
from kafkalearn.zookeeper import commits, connector
from tests.contract.drawing import Drawing, TooMuchWork, calls_of
from tests.contract.test_contract import SIMULATORS
from tests.every import every_case

EVENTS, SEEDS = 200, (1, 2)
MOST_CALLS = 1_000_000  # of functions in one step; the dearest one sends a thousand records, and needs a tenth of it
SPANS_MS = (2, 10, 500, 1000, 3000, 45_000, 75_000, 100_000, 400_000)
HEARTBEATS = {"pods": pods.HEARTBEAT_MS}
"""Where all send something when a time has passed: it adds up if each part is a whole number of what lies between."""

HAVE_TIME = [
    name
    for name in SIMULATORS
    for each in [SIMULATORS[name]]
    if any(type(e).__name__ == "TimePassed" for e in Drawing(each, 0).pool)
]
each_seed = pytest.mark.parametrize("seed", SEEDS)


def stepped(simulator, settings, state, event):
    """The state after an event; None if it is refused, and then nothing has changed."""
    found, as_it_was = [], pickle.dumps(state)
    try:
        calls_of(lambda: found.append(simulator.part("step")(settings, state, event)), MOST_CALLS)
    except IllegalEvent:
        assert pickle.dumps(state) == as_it_was
        return None
    return found[0]


@each_seed
@pytest.mark.parametrize("name", SIMULATORS)
def test_any_events_end_are_taken_or_refused_in_one_way_and_keep_the_invariants(name, seed):
    simulator, drawing = SIMULATORS[name], Drawing(SIMULATORS[name], seed)
    settings = drawing.settings()
    state, taken = simulator.part("start")(settings), 0
    for event in drawing.events(EVENTS):
        after = stepped(simulator, settings, state, event)
        if after is None:
            continue
        simulator.part("check")(settings, after, state)
        assert set(simulator.part("broken")(settings, after, state)) <= set(simulator.part("PROMISES"))
        state, taken = after, taken + 1
    assert taken, "nothing that was drawn made sense"


@pytest.mark.parametrize("name", HAVE_TIME)
def test_time_leads_to_the_same_state_in_one_step_and_in_many(name):
    simulator, compared = SIMULATORS[name], 0
    unit_ms = HEARTBEATS.get(name, 1)
    for seed in range(4):
        drawing = Drawing(simulator, f"time {seed}")
        settings, random = drawing.settings(), drawing.random
        state = simulator.part("start")(settings)
        passed = next(type(each) for each in drawing.pool if type(each).__name__ == "TimePassed")
        for event in drawing.events(EVENTS):
            state = stepped(simulator, settings, state, event) or state
            if random.random() > 0.1:
                continue
            rounds = random.choice(SPANS_MS) // unit_ms
            cuts = sorted({0, rounds, *(random.randint(0, rounds) for _ in range(3))})
            many = state
            for begin, end in pairwise(cuts):
                many = many and stepped(simulator, settings, many, passed((end - begin) * unit_ms))
            one = stepped(simulator, settings, state, passed(rounds * unit_ms)) if rounds else state
            assert one == many, (seed, event, [each * unit_ms for each in cuts])
            compared += one is not None
    assert compared >= 10


CANNOT_BE = [
    ("operations", operations.TimePassed(2**63 - 1), "to_ms must be at most"),
    ("coordinator_life", coordinator_life.GroupStored("billing", ("c1", "c1"), 1), "members has 'c1' twice"),
    ("offsets_topic", offsets_topic.Reassigned(((1, 2, 3),) * 4), "brokers is empty"),
    ("offset_stores", commits.AutoCommit("c2"), "now_ms must be at most"),
    ("replicated_store", store.Commit("g", "orders", 0, 7, 0, topic_id="orders"), "topicId must be a topic id"),
    ("store", store.Commit("g", "orders", 0, 7, 0, topic_id="orders"), "topicId must be a topic id"),
    ("zookeeper_connector", connector.BrokerStarted(2**31 - 1), "port must be at most 65,535"),
    ("zookeeper_connector", connector.TopicCreated("", 2), "topic must be a name without '/'"),
]
BIGGEST = TimePassed(2**63 - 1)
FIRST = {
    "operations": [operations.TimePassed(1)],
    "coordinator_life": [
        *takewhile(
            lambda each: not isinstance(each, coordinator_life.GroupStored),
            SIMULATORS["coordinator_life"].runs[0].events,
        )
    ],
    "offsets_topic": [*SIMULATORS["offsets_topic"].runs[0].events[:4], *map(offsets_topic.BrokerCrashed, (1, 2, 3))],
    "offset_stores": [*SIMULATORS["offset_stores"].runs[2].events[:3], BIGGEST, BIGGEST],
}


@every_case("name, event, why", CANNOT_BE, ids=[f"{name}: {type(event).__name__}" for name, event, _ in CANNOT_BE])
def test_what_a_part_of_a_simulator_refuses_is_refused_as_an_event_that_is_named(name, event, why):
    simulator = SIMULATORS[name]
    settings = simulator.runs[0].settings
    with pytest.raises(IllegalEvent, match=rf"{type(event).__name__}\(.* cannot be: .*{re.escape(why)}"):
        simulator.part("simulate")(settings, [*FIRST.get(name, ()), event])


def test_a_step_without_an_end_is_found_by_its_work_whoever_catches_what():
    def never_ends():
        while True:
            try:
                len("")
            except Exception:
                continue

    with pytest.raises(TooMuchWork):
        calls_of(never_ends, 1000)
    assert calls_of(lambda: len(""), 1000) == calls_of(lambda: len(""), 1000) > 0


def test_what_is_drawn_varies_over_the_fields_of_all_runs_and_is_the_same_for_a_seed():
    simulator = SIMULATORS["store"]
    drawn = list(Drawing(simulator, 7).events(EVENTS))
    assert drawn == list(Drawing(simulator, 7).events(EVENTS)) != list(Drawing(simulator, 8).events(EVENTS))
    told = [event for one in simulator.runs for event in one.events]
    assert 20 < sum(each not in told for each in drawn) < EVENTS
