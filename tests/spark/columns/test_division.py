import pytest
from pyspark.sql import functions as sf

from kafkalearn.spark.columns import quotient

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("number", "by", "times"), [(0, 3, 0), (6, 3, 2), (8, 3, 2), (2**62 + 1, 2, 2**61)])
def test_whole_numbers_are_divided_without_a_fraction(spark, number, by, times):
    row = spark.range(1).select(
        quotient(sf.lit(number), by).alias("by_number"), quotient(sf.lit(number), sf.lit(by)).alias("by_column")
    )
    assert tuple(row.first()) == (times, times)
