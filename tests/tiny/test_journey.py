"""The whole path of a record: frozen as tiny has it, and nothing that was promised is lost by one death."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.journey import (
    BrokerCrashed,
    BrokerStarted,
    Commit,
    FollowersFetch,
    Join,
    Leave,
    Poll,
    Send,
    Settings,
    broken,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.journey.film import STORY, what_follows
from kafkalearn.journey.model import BROKERS, CONSUMERS, PRODUCERS, drawn, frozen, thawed
from tests.every import every_case

SETTINGS = Settings()
EVENTS = [
    FollowersFetch(),
    *map(Send, PRODUCERS),
    *(kind(name) for kind in (Poll, Commit, Leave, Join) for name in CONSUMERS),
    *(kind(broker) for kind in (BrokerCrashed, BrokerStarted) for broker in BROKERS),
]
TOLD_STAYS = "what a producer was told is written stays"


def walked(events):
    """The states of a run of those events that make sense where they come."""
    states = [start(SETTINGS)]
    for event in events:
        try:
            states.append(step(SETTINGS, states[-1], event))
        except IllegalEvent:
            continue
    return states


@given(st.lists(st.sampled_from(EVENTS), max_size=40))
def test_whatever_happens_no_record_lies_twice_and_none_that_a_producer_was_told_of_is_lost(events):
    before = None
    for state in walked(events):
        check(SETTINGS, state, before)
        assert TOLD_STAYS not in broken(SETTINGS, state, before)
        assert tuple(map(frozen, drawn(*thawed(state)))) == state.partitions
        before = state


@every_case("place", list(range(len(STORY) + 1)))
def test_one_death_anywhere_in_the_story_loses_nothing_and_doubles_nothing(place):
    state = simulate(SETTINGS, STORY[:place])[-1].state
    for broker in BROKERS:
        run = what_follows(state, broker)
        assert not any(broken(SETTINGS, after.state, before.state) for before, after in pairwise(run))
        last = run[-1].state
        assert last.alive == {*BROKERS}
        assert all(each.isr == {*BROKERS} for each in last.partitions)
        assert len({replica.labels for replica in last.partitions[0].replicas}) == 1
        for producer, consumer, position in zip(last.producers, last.consumers, last.positions, strict=True):
            made = tuple(f"{producer.name[0].upper()}{number + 1}" for number in range(producer.made))
            assert producer.told == made
            assert tuple(label for _, label in consumer.read) == made
            assert position == len(made)


def test_a_record_that_was_copied_before_its_leader_died_is_sent_again_and_not_written_twice():
    run = simulate(SETTINGS, [Send("ann"), FollowersFetch(), BrokerCrashed(1), Send("ann")])
    after = run[-1].state
    assert after.producers[0].made == 1
    assert after.partitions[0].on(2).labels == ("A1",)

    fetched = simulate(SETTINGS, [FollowersFetch(), FollowersFetch()], after)[-1].state
    assert fetched.producers[0].told == ("A1",)


def test_who_takes_a_partition_over_without_a_commit_reads_again_and_the_promise_says_so():
    events = [Send("dan"), FollowersFetch(), FollowersFetch(), Poll("c2"), Leave("c2")]
    *_, before, after = simulate(SETTINGS, events)

    assert broken(SETTINGS, after.state, before.state) == ("nothing is read twice",)
    read = step(SETTINGS, after.state, Poll("c1"))
    assert read.consumers[0].read == ((1, "D1"),)


def test_with_two_brokers_dead_a_record_is_refused_in_kafkas_words():
    state = simulate(SETTINGS, [BrokerCrashed(2), BrokerCrashed(3)])[-1].state
    with pytest.raises(IllegalEvent, match="NOT_ENOUGH_REPLICAS: 1 in sync, 2 needed"):
        step(SETTINGS, state, Send("ann"))
