"""How far a long job is: a callback gets its finished and its known tasks, ten times a second.

A job's later stages become known only when its earlier ones are done, so the total grows while it runs. Neither
number ever falls.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pyspark import SparkContext
from pyspark.sql import SparkSession

from kafkalearn.spark.session.gateway import is_connect, jobs_with_tag
from kafkalearn.spark.session.lost import SparkLost

INTERVAL_S = 0.1

Update = Callable[[int, int], None]
"""``update(done, total)``: tasks that are done, of tasks known so far. Called from another thread."""


@contextmanager
def job_progress(spark: SparkSession, update: Update | None) -> Iterator[None]:
    """Call `update` with how far the jobs inside the ``with`` block are; with None nothing is called.

    Parameters
    ----------
    spark : SparkSession
        Classic or Spark Connect.
    update : callable or None
        ``update(done, total)``, 10 times a second while something changes, and ``update(total, total)`` at the
        end of a block that raised nothing.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark, updates = get_spark(), []
    >>> with job_progress(spark, lambda done, total: updates.append((done, total))):
    ...     count = spark.range(0, 100, 1, numPartitions=3).count()
    >>> done, total = updates[-1]
    >>> done == total >= 3
    True
    """
    if update is None:
        yield
        return
    rising = _Rising(update)
    follow = _follow_connect if is_connect(spark) else _follow_classic
    with follow(spark, rising):
        yield
    rising.finish()


class _Rising:
    """Passes on what is new, and keeps the numbers from falling where Spark has forgotten old stages."""

    def __init__(self, update: Update) -> None:
        self._update = update
        self._done = self._total = 0

    def __call__(self, done: int, total: int) -> None:
        done, total = max(done, self._done), max(total, self._total)
        if (done, total) != (self._done, self._total):
            self._done, self._total = done, total
            self._update(done, total)

    def finish(self) -> None:
        self(max(self._total, 1), max(self._total, 1))


@contextmanager
def _follow_classic(spark: SparkSession, rising: _Rising) -> Iterator[None]:
    context = spark.sparkContext
    tag = f"kafkalearn-progress-{uuid.uuid4()}"
    stop = threading.Event()
    thread = threading.Thread(target=_poll, args=(context, tag, rising, stop), daemon=True)
    context.addJobTag(tag)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        context.removeJobTag(tag)


def _poll(context: SparkContext, tag: str, rising: _Rising, stop: threading.Event) -> None:
    with suppress(SparkLost):  # the thread whose job it is hears of it too
        while not stop.wait(INTERVAL_S):
            rising(*_tasks(context, tag))
        rising(*_tasks(context, tag))  # what was done since


def _tasks(context: SparkContext, tag: str) -> tuple[int, int]:
    """Finished and known tasks of a tag's jobs; stages that Spark found needless stay at 0 and are left out."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job_id) for job_id in jobs_with_tag(context, tag)]
    stage_ids = {stage_id for job in jobs if job for stage_id in job.stageIds}
    stages = [stage for stage in map(tracker.getStageInfo, stage_ids) if stage]
    begun = [stage for stage in stages if stage.numCompletedTasks or stage.numActiveTasks]
    return sum(stage.numCompletedTasks for stage in begun), sum(stage.numTasks for stage in begun)


@contextmanager
def _follow_connect(spark: SparkSession, rising: _Rising) -> Iterator[None]:
    def handler(stages, inflight_tasks, operation_id, done) -> None:
        rising(sum(stage.num_completed_tasks for stage in stages), sum(stage.num_tasks for stage in stages))

    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)
