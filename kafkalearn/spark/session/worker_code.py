"""The core of this package sent along with a query, for rules that only exist in Python.

Most rules here are Spark expressions, which every worker can run. An assignor is a page of Python; the workers get
that page with the query, as a zip of the core's sources which Spark puts on their import path (its ``addArtifact``;
in a classic session and on Spark Connect, on this machine and on a cluster). They need the same Python as here,
with PyArrow, which Spark asks for anyway; kafkalearn need not be installed there.

What is sent are the modules without data files: no settings by release, no recorded cases.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from pyspark.sql import SparkSession

PACKAGE = Path(__file__).resolve().parents[2]
STAYS_HERE = ("spark", "views", "exercises", "live", "lab")


def ship_core(spark: SparkSession) -> None:
    """Make the core of kafkalearn importable in the session's Python workers.

    To be called on the driver, before a query whose functions import `kafkalearn`; a second call does nothing.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> ship_core(get_spark())
    """
    spark.addArtifact(str(core_zip()), pyfile=True)


@cache
def core_zip() -> Path:
    """The zip of the core's sources, made once; Spark's executors fetch it when they first need it, so it stays.

    >>> names = zipfile.ZipFile(core_zip()).namelist()
    >>> "kafkalearn/assignor/sticky/assignors.py" in names, "kafkalearn/spark/session/spark_session.py" in names
    (True, False)
    """
    folder = Path(tempfile.mkdtemp(prefix="kafkalearn-core-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "kafkalearn-core.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(PACKAGE.rglob("*.py")):
            if source.relative_to(PACKAGE).parts[0] not in STAYS_HERE:
                archive.write(source, source.relative_to(PACKAGE.parent))
    return path
