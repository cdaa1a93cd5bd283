"""Make the data of all lessons beforehand, one after the other: ``python -m kafkalearn.spark.data.preparing``.

JupyterLab's side (`kafkalearn.lab.preparing`) starts it as the lab opens. It is a process of its own, of the lowest
priority, with one core and 1 GiB for Java, and ends as soon as its standard input is closed: the lab holds the other
end, however it ends. What is made so far stays; the next time it goes on with the rest. Where nothing is missing, no
Java is started; nor on a machine of less than 8 GiB, where two Sparks are one too many. It prints a line of JSON for
each dataset before it makes it, and one where it has to stop.

Data that a lesson makes anew each time, since that is quicker than to read it, are not among these. When all are there,
Spark's archive of classes is made (`kafkalearn.spark.session.archive`), with which each lesson's Spark starts sooner.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import MappingProxyType

from pyspark.sql import SparkSession

from kafkalearn.base.checks import one_of
from kafkalearn.base.class_archive import ArchiveNotMade
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.data import commits, datasets, groups, logs
from kafkalearn.spark.data.cache import folder_of, is_whole, recipe_of, require_room
from kafkalearn.spark.delivery import sends
from kafkalearn.spark.session.archive import make_archive
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.session.start import GIB, machine_memory_bytes, stop
from kafkalearn.spark.transactions import transactional_topic
from kafkalearn.spark.waiting import request_timers

Make = Callable[[SparkSession], object]

LESSONS: MappingProxyType[str, tuple[Make, ...]] = MappingProxyType(
    {
        "01": (lambda spark: datasets.group_ids(spark, "class"),),
        "02": (
            lambda spark: datasets.keys(spark, "class"),
            lambda spark: datasets.keys(spark, "class", exponent=1.0),
        ),
        "03": (lambda spark: datasets.orders(spark, "class"),),
        "05": (lambda spark: groups.group_logs(spark, "class"),),
        "06": (lambda spark: logs.deliveries(spark, "class"),),
        "06b": (lambda spark: commits.day_of_commits(spark, "class"),),
        "07": (lambda spark: groups.offsets_records(spark, "class"),),
        "08": (lambda spark: datasets.customers(spark, "class"),),
        "09": (lambda spark: logs.fetches(spark, "class"), lambda spark: logs.appends(spark, "class")),
        "10": (lambda spark: sends(spark, "class"),),
        "11": (lambda spark: request_timers(spark, "class"),),
        "13c": (lambda spark: logs.cluster_tables(spark, "class", seed=1),),
        "15": (transactional_topic,),
    }
)
"""What each lesson reads, as its cells ask for it; a lesson that reads what an earlier one does is not named."""

LEAST_MEMORY_BYTES = 7 * GIB  # a machine sold with 8 shows a little less; a lesson's own Spark takes a quarter
SPARED_BYTES = 2 * GIB  # of the disk: for the lessons' own temporary files
SETTINGS = {"spark.master": "local[1]", "spark.driver.memory": "1g"}


def missing(lessons: Sequence[str] = tuple(LESSONS)) -> list[tuple[str, Make]]:
    """What is not made yet, or damaged, each with its lesson; Spark is not started for it."""
    wanted = [(lesson, make) for lesson in lessons for make in LESSONS[one_of("lesson", lesson, LESSONS)]]
    return [(lesson, make) for lesson, make in wanted if not is_whole(folder_of(recipe_of(make)))]


def make_all(wanted: Sequence[tuple[str, Make]], say: Callable[[dict[str, object]], None]) -> None:
    """Make what is missing; before each `say` gets its lesson, its number and how many there are.

    Raises
    ------
    KafkaLearnError
        If there is no room, or it cannot be written.
    """
    spark: SparkSession | None = None
    for number, (lesson, make) in enumerate(wanted, 1):
        recipe = recipe_of(make)
        if is_whole(folder_of(recipe)):
            continue  # the reader was there first
        require_room(recipe, folder_of(recipe).parent, SPARED_BYTES)
        say({"lesson": lesson, "number": number, "of": len(wanted)})
        spark = spark or get_spark("kafkalearn, data for the lessons", **SETTINGS)
        make(spark)


def quicken_starts() -> None:
    """Make the archive of Spark's classes, if there is none; where it cannot be made, starts are as they were."""
    stop()  # it needs a Java of its own
    with suppress(ArchiveNotMade):
        make_archive()


def main(lessons: Sequence[str]) -> int:
    """Make all that is missing, of these lessons or of all and the archive too; errors are one line."""
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(19)
    try:
        if machine_memory_bytes() >= LEAST_MEMORY_BYTES:
            make_all(missing(lessons or tuple(LESSONS)), _say)
            if not lessons:
                quicken_starts()
    except KafkaLearnError as error:
        _say({"stopped": str(error)})
        return 1
    return 0


def _say(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


def _end_with_the_input() -> None:
    """Java ends with this process: it reads from a pipe, too, and its draft is removed by whoever comes next."""
    while os.read(0, 4096):  # not sys.stdin: its lock would be held when this process comes to its end by itself
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
