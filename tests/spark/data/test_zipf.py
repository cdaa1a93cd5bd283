"""Drawn ranks follow Zipf's law."""

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.data.generate import HEAD_COUNT, uniform, zipf_rank

pytestmark = pytest.mark.spark

ROWS = 1 << 20


def ranks_of_evenly_spaced_chances(spark, key_count, exponent):
    """How many of a million chances, spread without luck over [0, 1), fall on each rank."""
    chance = (sf.col("id") + 0.5) / ROWS
    drawn = spark.range(ROWS).select(zipf_rank(chance, key_count, exponent).alias("rank")).groupBy("rank").count()
    return {row["rank"]: row["count"] for row in drawn.collect()}


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 1.5])
@pytest.mark.parametrize("key_count", [1, 5, HEAD_COUNT, HEAD_COUNT + 1, 1000])
def test_every_rank_has_its_share_of_the_chances(spark, key_count, exponent):
    counts = ranks_of_evenly_spaced_chances(spark, key_count, exponent)

    total = sum(rank**-exponent for rank in range(1, key_count + 1))
    due = {rank: ROWS * rank**-exponent / total for rank in range(1, key_count + 1)}
    assert {rank: abs(counts[rank] - due[rank]) <= 1.5 + 0.0006 * due[rank] for rank in counts} == dict.fromkeys(
        range(1, key_count + 1), True
    )


def test_chances_are_spread_evenly_and_stay_below_one(spark):
    chances = spark.range(100_000).select(uniform(42, "test", sf.col("id")).alias("chance"))
    lowest, highest, in_first_tenth = chances.selectExpr("min(chance)", "max(chance)", "count_if(chance < 0.1)").first()

    assert 0 <= lowest < 0.001
    assert 0.999 < highest < 1
    assert abs(in_first_tenth - 10_000) < 500  # five standard deviations


@pytest.mark.parametrize(
    ("key_count", "exponent", "said"),
    [(0, 1, "key_count must be at least 1, got 0"), (5, -1, "exponent must be from 0 .* to 10, got -1")],
)
def test_a_law_that_is_none_is_refused(spark, key_count, exponent, said):
    with pytest.raises(KafkaLearnError, match=said):
        zipf_rank(sf.lit(0.5), key_count, exponent)
