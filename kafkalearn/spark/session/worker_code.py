"""The one way in which our code gets to Spark's Python workers, where kafkalearn need not be installed.

Most rules are Spark expressions, which every worker can run. An assignor is a page of Python. `for_workers` sends
such code with the query: the function and its own module as they are, inside the query; the core of kafkalearn,
which they import, as a zip of its sources that Spark puts on the workers' import path (its ``addArtifact``; in a
classic session and on Spark Connect, on this machine and on a cluster). The workers need the same Python as here,
with PyArrow, which Spark asks for anyway.

The zip has no data files: no settings by release, no recorded cases.
"""

from __future__ import annotations

import atexit
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType

from kafkalearn.spark.session.start import remove_folder, temporary_folder

PACKAGE = Path(__file__).resolve().parents[2]
STAYS_HERE = ("spark", "views", "exercises", "live", "lab")


Code = TypeVar("Code", bound=Callable[..., object])


def for_workers(spark: SparkSession, function: Code, needs_core: bool = True) -> Code:
    """The same function, ready to be used in a query of the session.

    Parameters
    ----------
    spark : SparkSession
        Whose workers are to run it.
    function : callable
        Of kafkalearn it may use its own module and modules of the core, whose tables it reads through their modules:
        pickle cannot send a read-only mapping.
    needs_core : bool
        False: it uses nothing but its own module, and no zip is sent.

    Examples
    --------
    >>> from kafkalearn.spark.columns import require
    >>> from kafkalearn.spark.session import get_spark
    >>> for_workers(get_spark(), require) is require
    True
    """
    register_pickle_by_value(sys.modules[function.__module__])
    if needs_core:
        spark.addArtifact(str(core_zip()), pyfile=True)  # sent once; again, it does nothing
    return function


def arrow_function(function: Callable[..., pa.Array], returns: DataType) -> Callable[..., Column]:
    """Spark's ``arrow_udf`` of a function from `for_workers`: whole Arrow arrays in, one array out.

    Its types in PySpark 4.3 ask for annotations that PyArrow, which has no types, cannot give.

    >>> from kafkalearn.spark.session import get_spark
    >>> from pyspark.sql.types import IntegerType
    >>> import pyarrow.compute as pc
    >>> length_of = arrow_function(pc.binary_length, IntegerType())
    >>> get_spark().createDataFrame([(b"key",), (None,)], "key binary").select(length_of("key").alias("length")).show()
    +------+
    |length|
    +------+
    |     3|
    |  NULL|
    +------+
    """
    return sf.arrow_udf(function, returns)


@cache
def core_zip() -> Path:
    """The zip of the core's sources and tables, made once; Spark's executors fetch it at their first need, so it stays.

    >>> names = zipfile.ZipFile(core_zip()).namelist()
    >>> "kafkalearn/assignors/sticky.py" in names, "kafkalearn/spark/session/spark_session.py" in names
    (True, False)
    """
    folder = temporary_folder("core")
    atexit.register(remove_folder, folder)
    path = folder / "kafkalearn-core.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(PACKAGE.rglob("*")):
            if source.suffix in (".py", ".json") and source.relative_to(PACKAGE).parts[0] not in STAYS_HERE:
                archive.write(source, source.relative_to(PACKAGE.parent))
    return path
