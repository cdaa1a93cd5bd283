from collections import Counter
from fractions import Fraction
from math import isclose
from statistics import fmean, pstdev

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.partitioning.skew import BrokerLoad, evenness, load_by_broker, survival

some_counts = st.lists(st.integers(0, 10**9), min_size=2, max_size=60).filter(any)


@given(some_counts)
def test_the_statistics_are_those_of_the_textbook(counts):
    result = evenness(counts)
    mean = Fraction(sum(counts), len(counts))

    assert isclose(result.chi_square, sum((count - mean) ** 2 for count in counts) / mean)
    assert result.p_value == survival(result.chi_square, len(counts) - 1)
    assert isclose(result.variation, pstdev(counts) / fmean(counts), rel_tol=1e-6, abs_tol=1e-6)
    assert (result.total, result.smallest, result.largest) == (sum(counts), min(counts), max(counts))
    assert isclose(result.largest_over_mean * result.mean, max(counts))


@given(some_counts, st.randoms())
def test_the_order_of_the_partitions_does_not_matter(counts, random):
    shuffled = random.sample(counts, len(counts))
    assert evenness(shuffled) == evenness(counts)


def test_the_p_value_of_fair_dice_is_small_as_often_as_it_says():
    dice = np.random.default_rng(7)
    p_values = [evenness(dice.multinomial(10_000, [1 / 50] * 50)).p_value for _ in range(1000)]

    assert 30 <= sum(p < 0.05 for p in p_values) <= 70
    assert 450 <= sum(p < 0.5 for p in p_values) <= 550


def test_what_chance_gives_is_the_variation_of_fair_dice():
    dice = np.random.default_rng(7)
    thrown = [evenness(dice.multinomial(1000, [1 / 5] * 5)) for _ in range(2000)]
    typical = fmean(result.variation**2 for result in thrown) ** 0.5
    assert isclose(typical, thrown[0].chance_variation, rel_tol=0.05)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([210, 190, 205, 195], "1.05 times the mean; chance alone could do this: 74.1% of fair throws are as uneven"),
        ([235, 180, 205, 180], "1.175 times the mean; chance alone seldom does this: only 1.66% of fair throws"),
        ([900, 100, 100, 100], "3 times the mean; chance alone does not do this (p < 0.001): the rule or the data"),
        ([1_020_000, 980_000, 1_000_000], "1.02 times the mean; chance alone does not do this (p < 0.001), yet it is"),
        ([1_000_000] * 30 + [500_000], "(p < 0.001): the rule or the data favour some partitions"),
        ([200, 200, 200, 200], "1 times the mean; that is more even than chance: something deals them out"),
        ([3, 0, 2, 1], "(fewer than 5 a partition: take the p-value as a hint)"),
        ([7], "only one partition"),
    ],
)
def test_the_sentence_tells_size_and_chance_apart(counts, said):
    assert said in evenness(counts).sentence()


def test_an_empty_partition_left_out_would_hide_the_unevenness():
    assert evenness([100, 100, 0]).p_value < 0.001 < evenness([100, 100]).p_value


def test_numbered_groups_fall_more_evenly_than_dice():
    counts = Counter(offsets_partition(f"group-{number}") for number in range(10_000))
    result = evenness(counts[partition] for partition in range(50))
    assert result.variation < result.chance_variation
    assert result.p_value > 0.999


def test_arrays_and_columns_of_whole_numbers_are_counts_too():
    counts = [25, 17, 20, 15, 23]
    as_given = {evenness(form(counts)) for form in (list, tuple, np.array, pd.Series, iter)}
    assert as_given == {evenness(counts)}


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([], "counts is empty"),
        ([0, 0, 0], "counts are all 0"),
        ([3, -1], r"counts\[1\] must be at least 0, got -1"),
        ([3, 1.0], r"counts\[1\] must be a whole number of at least 0, got float 1.0"),
        ([3, None], r"counts\[1\] must be a whole number of at least 0, got NoneType None"),
        ({0: 3, 2: 4}, "got dict; give its values, with a 0 for each partition it leaves out"),
        ("123", "one whole number for each partition, got str"),
        (7, "one whole number for each partition, got int"),
        (np.ones((2, 2), dtype=int), "one whole number for each partition, got ndarray"),
    ],
)
def test_what_are_no_counts_is_refused_with_a_reason(counts, said):
    with pytest.raises(KafkaLearnError, match=said):
        evenness(counts)


@given(some_counts, st.lists(st.integers(1, 9), min_size=1, max_size=9, unique=True))
def test_the_loads_of_the_brokers_add_up_to_everything(counts, broker_ids):
    loads = load_by_broker(counts, round_robin_leaders(broker_ids, len(counts)), broker_ids)

    assert [load.broker_id for load in loads] == sorted(broker_ids)
    assert sum(load.count for load in loads) == sum(counts)
    assert sum(load.partition_count for load in loads) == len(counts)
    assert isclose(sum(load.share for load in loads), 1)


def test_three_brokers_cannot_share_fifty_equal_partitions_equally():
    loads = load_by_broker([100] * 50, round_robin_leaders([1, 2, 3]))
    assert [load.share for load in loads] == [0.34, 0.34, 0.32]


def test_a_broker_that_leads_nothing_and_partitions_without_a_leader_are_shown():
    assert load_by_broker([6, 2], [1, None], broker_ids=[1, 2]) == (
        BrokerLoad(1, 1, 6, 0.75),
        BrokerLoad(2, 0, 0, 0.0),
        BrokerLoad(None, 1, 2, 0.25),
    )


@pytest.mark.parametrize(
    ("counts", "leaders", "said"),
    [
        ([1, 2, 3], [1, 2], "counts has 3 partitions and leaders 2"),
        ([0, 0], [1, 2], "counts are all 0"),
        ({0: 1}, [1], "got dict"),
    ],
)
def test_loads_need_a_count_and_a_leader_for_each_partition(counts, leaders, said):
    with pytest.raises(KafkaLearnError, match=said):
        load_by_broker(counts, leaders)
