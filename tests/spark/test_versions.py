"""Another Spark than those that are tried is refused in words, before a rule fails in Java's."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("version", ["3.5.9", "4.0.5"])
def test_an_older_spark_is_refused_in_words(tmp_path, version):
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kafkalearn.spark.lag"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.splitlines()[-1]

    assert f"kafkalearn.spark is for Spark 4.1 to 4.3, this is PySpark {version}" in said
    assert "choose a runtime with Spark 4.1 or newer" in said
