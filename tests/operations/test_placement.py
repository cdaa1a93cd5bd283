"""Replicas as Kafka's own placers give them; what each placement is worth."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.placement import (
    Broker,
    heirs,
    place_rotated,
    place_shifted,
    place_striped,
    preferred_counts,
)

brokers_and_factor = st.integers(1, 9).flatmap(lambda count: st.tuples(st.just(count), st.integers(1, count)))


@given(brokers_and_factor, st.integers(1, 60), st.integers(0, 2**40), st.integers(1, 4))
@settings(max_examples=60)
def test_no_placer_puts_two_replicas_on_one_broker_and_leaders_are_spread(counts, partitions, seed, rack_count):
    broker_count, factor = counts
    brokers = [Broker(each, f"r{each % rack_count}") for each in range(broker_count)]
    for placement in (
        place_striped(brokers, partitions, factor, seed),
        place_shifted(brokers, partitions, factor, seed % broker_count),
        place_rotated(brokers, partitions, factor),
    ):
        assert len(placement) == partitions
        assert all(len({*replicas}) == len(replicas) == factor for replicas in placement)
    for placement in (place_shifted(brokers, partitions, factor), place_rotated(brokers, partitions, factor)):
        led = preferred_counts(placement)
        assert max(led.values()) - min([*led.values(), *[0] * (len(led) < broker_count)]) <= 1


@given(st.integers(2, 4), st.integers(1, 3), st.integers(1, 40), st.integers(0, 10**6))
@settings(max_examples=40)
def test_with_a_replica_for_each_rack_no_lost_rack_takes_a_partition_along(racks, each, partitions, seed):
    brokers = [Broker(number, f"r{number % racks}") for number in range(racks * each)]
    for placement in (place_striped(brokers, partitions, racks, seed), place_shifted(brokers, partitions, racks)):
        assert all(any(number % racks for number in replicas) for replicas in placement)


def test_who_inherits_shows_what_the_shift_is_for():
    rotated, shifted = place_rotated([1, 2, 3, 4], 240, 3), place_shifted([1, 2, 3, 4], 240, 3)
    assert heirs(rotated, dead=1) == {2: 60}
    assert heirs(shifted, dead=1) == {2: 20, 3: 20, 4: 20}
    assert heirs(place_rotated([1, 2], 4, 1), dead=2) == {None: 2}


def test_what_cannot_be_placed_is_refused():
    with pytest.raises(KafkaLearnError, match="replication_factor is 3, and there are 2 brokers"):
        place_striped([1, 2], 1, 3)
    with pytest.raises(KafkaLearnError, match="all brokers are fenced"):
        place_striped([Broker(1, is_fenced=True)], 1, 1)
    with pytest.raises(KafkaLearnError, match=r"brokers without a rack beside brokers with one: \[2\]"):
        place_shifted([Broker(1, "a"), Broker(2)], 1, 1)
    with pytest.raises(KafkaLearnError, match="names a broker twice"):
        place_rotated([1, 1], 1, 1)
    with pytest.raises(KafkaLearnError, match=r"a broker id of placement\[0\] must be a whole number .* got list \[\]"):
        preferred_counts([[[]]])
    with pytest.raises(KafkaLearnError, match=r"a broker id of placement\[0\] must be a whole number .* got str '1'"):
        preferred_counts([["1"]])
