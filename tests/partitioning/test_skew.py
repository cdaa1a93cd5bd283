"""The chi-square distribution, held to the values of SciPy."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import exp, isclose
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
from tests.every import every_case

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


# chi-square, degrees of freedom, and scipy.stats.chi2.sf of them, by SciPy 1.17.1.
# fmt: off
BY_SCIPY = (
    (0.01, 1, 0.920344325445942), (0.3, 1, 0.583882420770365), (0.8, 1, 0.37109336952269756),
    (1.0, 1, 0.31731050786291115), (1.2, 1, 0.273321678292295), (2.0, 1, 0.15729920705028105),
    (5.0, 1, 0.025347318677468325), (0.02, 2, 0.990049833749168), (0.6, 2, 0.740818220681718),
    (1.6, 2, 0.4493289641172217), (2.0, 2, 0.36787944117144245), (2.4, 2, 0.3011942119122021),
    (4.0, 2, 0.1353352832366127), (10.0, 2, 0.006737946999085468), (0.03, 3, 0.9986303948188087),
    (0.9, 3, 0.8254278090416608), (2.4, 3, 0.49363462271172787), (3.0, 3, 0.3916251762710877),
    (3.6, 3, 0.3080221715589928), (6.0, 3, 0.11161022509471268), (15.0, 3, 0.0018166489665723214),
    (0.04, 4, 0.9998026467728904), (1.2, 4, 0.8780986177504424), (3.2, 4, 0.5249309467861041),
    (4.0, 4, 0.40600584970983794), (4.8, 4, 0.30844104118400245), (8.0, 4, 0.0915781944436709),
    (20.0, 4, 0.0004993992273873336), (0.05, 5, 0.999970790460001), (1.5, 5, 0.9130698145443954),
    (4.0, 5, 0.5494159513527802), (5.0, 5, 0.4158801869955079), (6.0, 5, 0.30621891841327875),
    (10.0, 5, 0.07523524614651217), (25.0, 5, 0.0001393337911856263), (0.09, 9, 0.9999999839815791),
    (2.7, 9, 0.9750124099827303), (7.2, 9, 0.6163052249833654), (9.0, 9, 0.43727418891386693),
    (10.8, 9, 0.2896674903884787), (18.0, 9, 0.035173539466984795), (45.0, 9, 9.226628710549154e-07),
    (0.11, 11, 0.9999999996086409), (3.3, 11, 0.9861376266093852), (8.8, 11, 0.6403472331972062),
    (11.0, 11, 0.4432632784264655), (13.2, 11, 0.28045480416417495), (22.0, 11, 0.024373243747581683),
    (55.0, 11, 7.749892143378441e-08), (7.2, 24, 0.9996296780487336), (19.2, 24, 0.7412410216161951),
    (24.0, 24, 0.46159733306361805), (28.8, 24, 0.22774877881074673), (48.0, 24, 0.0025241297068125963),
    (120.0, 24, 9.702880449662334e-15), (14.7, 49, 0.999999512893343), (39.2, 49, 0.8404499234557398),
    (49.0, 49, 0.4731282956547652), (58.8, 49, 0.15936364338494732), (98.0, 49, 4.063295637724676e-05),
    (245.0, 49, 7.265601038596682e-28), (15.0, 50, 0.999999625021075), (40.0, 50, 0.8432273781737623),
    (50.0, 50, 0.47339846855634937), (60.0, 50, 0.1572420272383916), (100.0, 50, 3.454931382984871e-05),
    (250.0, 50, 2.177291001112404e-28), (29.7, 99, 0.9999999999988292), (79.2, 99, 0.928598517380214),
    (99.0, 99, 0.4810969124082639), (118.8, 99, 0.08540650695500193), (198.0, 99, 1.3802761283351001e-08),
    (495.0, 99, 5.712302562347597e-54), (30.0, 100, 0.9999999999990944), (80.0, 100, 0.9296649333406051),
    (100.0, 100, 0.48119168452795674), (120.0, 100, 0.08440668109369177), (200.0, 100, 1.1784500720979781e-08),
    (500.0, 100, 1.720121005369523e-54), (399.2, 499, 0.999633391163065), (499.0, 499, 0.4915809493988226),
    (598.8, 499, 0.0013908657995438498), (998.0, 499, 1.410305454638828e-35), (2495.0, 499, 5.844536623077968e-262),
    (800.0, 1000, 0.9999991890618921), (1000.0, 1000, 0.49405285382923964), (1200.0, 1000, 1.2255942330622893e-05),
    (2000.0, 1000, 4.1436785914539184e-69), (4999.0, 4999, 0.4973401128891531),
    (5998.8, 4999, 2.5443559144284538e-21), (20000.0, 20000, 0.4986701916600448),
    (24000.0, 20000, 3.327202492345246e-79),
)
# fmt: on


@every_case(("chi_square", "degrees_of_freedom", "expected"), BY_SCIPY)
def test_it_is_what_scipy_computes(chi_square, degrees_of_freedom, expected):
    assert isclose(survival(chi_square, degrees_of_freedom), expected, rel_tol=1e-10)


@given(st.floats(0, 1e4), st.integers(1, 500))
def test_it_is_a_probability_that_falls_with_chi_square_and_grows_with_the_degrees_of_freedom(chi_square, freedom):
    here = survival(chi_square, freedom)
    assert 0 <= here <= 1
    rounding = 1 + 1e-11
    assert survival(chi_square + 1, freedom) <= here * rounding
    assert survival(chi_square, freedom + 2) * rounding >= here


@given(st.floats(0, 1400))
def test_of_two_degrees_it_is_an_exponential(chi_square):
    assert isclose(survival(chi_square, 2), exp(-chi_square / 2), rel_tol=1e-12)


def test_the_tails_end_in_one_and_nothing():
    assert [survival(0, freedom) for freedom in (1, 2, 49, 9999)] == [1.0] * 4
    assert [survival(1e9, freedom) for freedom in (1, 2, 49, 9999)] == [0.0] * 4
    far = [survival(chi_square, 49) for chi_square in range(100, 1500, 100)]
    assert all(0 < later < earlier for earlier, later in pairwise(far))
