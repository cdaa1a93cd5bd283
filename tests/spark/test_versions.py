"""Another Spark than the pinned one: 3.5 is refused in words, and 4.0 goes through pandas."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructType

from kafkalearn.spark.session.worker_code import arrow_function, for_workers


def test_spark_3_is_refused_at_the_door_in_words(tmp_path):
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text('__version__ = "3.5.9"\n')
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kafkalearn.spark.lag"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.splitlines()[-1]

    assert "kafkalearn.spark is for Spark 4.0 to 4.3, this is PySpark 3.5.9" in said
    assert "choose a runtime with Spark 4" in said


@pytest.mark.parametrize("is_through_pandas", [False, True])
def test_an_arrow_function_keeps_types_where_all_is_null_and_gives_large_numbers_whole(
    spark, monkeypatch, is_through_pandas
):
    if is_through_pandas:
        monkeypatch.delattr(sf, "arrow_udf", raising=False)  # as Spark 4.0 is
    kinds = [pa.binary(), pa.int64(), pa.list_(pa.int32())]

    def judged(*columns):
        assert [each.type for each in columns] == kinds
        numbers = pc.multiply(columns[1], 3)
        texts = pa.array([None if each is None else str(each) for each in numbers.to_pylist()])
        return pa.StructArray.from_arrays([numbers, texts, columns[2]], ["number", "text", "list"])

    returns = StructType().add("number", LongType()).add("text", StringType()).add("list", ArrayType(IntegerType()))
    answer = arrow_function(for_workers(spark, judged, needs_core=False), returns, kinds)
    for rows in ([(None, None, None)], [(b"a", 2**53 - 1, [1, None]), (None, None, None)]):
        found = spark.createDataFrame(rows, "key binary, number bigint, list array<int>")
        got = found.coalesce(1).select(answer("key", "number", "list").alias("a")).select("a.*").collect()
        assert [tuple(row) for row in got] == [
            (number and 3 * number, number and str(3 * number), numbers) for _, number, numbers in rows
        ]
