"""An interrupt (the stop button, Ctrl-C) cancels the Spark jobs of the cell that it stops, and so does a cell's error.

PySpark alone leaves them running: their tasks hold every core, and the next question waits behind them for ever. It
has a handler that should cancel them, but the handler asks over the connection that is just waiting for the job, and
ipykernel replaces it before each cell.

Here each cell has a job tag of its own. The handler of an interrupt passes the cell on to a thread, which cancels over
a connection of its own; the call that waits for the job then ends, and is answered with KeyboardInterrupt. It is not
torn off at once, for py4j would then close the connections of all other threads too, and they would ask Java for the
same job again. Only a call that does not end in spite of that, because no job holds it, is torn off.

The thread goes on looking for a while: a query that was still being planned starts its job later. Jobs of other
cells, of streams, and of threads that were not made with `pyspark.InheritableThread` are left alone. Outside of
IPython there are no cells: all jobs are cancelled, as PySpark means to.
"""

from __future__ import annotations

import logging
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import py4j
from py4j.protocol import ERROR, Py4JError, Py4JNetworkError, is_error
from pyspark import SparkContext, SparkStageInfo
from pyspark.sql import SparkSession

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.session import gateway
from kafkalearn.spark.session.gateway import is_connect, jobs_with_tag, last_words

# When Java is gone, killed or out of memory, every question to Spark is answered with one sentence.
#
# PySpark has no such answer: a call ends in a bare ConnectionRefusedError or a Py4JError without a text, py4j logs a
# traceback, and so does the thread that waits for Java's accumulators. All calls go through one object of py4j, so
# that is where the sentence is said.

ENDS_WITHIN_S = 5  # its sockets close a moment before the system says that a process has ended

KILLED = (-9, 137)  # by SIGKILL, as Popen and as a shell say it

PY4J_LOGS = (
    "KeyboardInterrupt while sending command.",
    "Exception while sending command.",
    "Exception occurred while shutting down connection",
)
"""What py4j logs with a traceback: two that are raised as well, and a connection that the other side closed first."""

LOGGERS = (None, "py4j.clientserver", "py4j.java_gateway")
"""Whom py4j logs as: in nobody's name, or in that of its module. A filter holds for its own logger only."""


class SparkLost(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """Spark's Java process has ended while it was needed; the message says what to do."""


def say_when_java_is_gone() -> None:
    """From now on calls to a Java side that has ended raise `SparkLost`, and nothing is logged beside it.

    For a Java side that Python started; of any other it is not known whether it has ended. To be called after each
    start; again, it changes nothing.
    """
    if gateway.java_process() is not None:
        gateway.around_calls(_send)
        gateway.around_accumulator_errors(_handle_error)
        for name in LOGGERS:
            logging.getLogger(name).addFilter(_is_wanted)


def _send(send: Any, process: subprocess.Popen, command: str, retry: bool = True, binary: bool = False) -> Any:
    """py4j's own way, but for what it raises or answers when nobody listens any more."""
    try:
        answer = send(command, retry, binary)
    except (OSError, Py4JNetworkError):
        if _has_ended(process):
            raise SparkLost(_message(process)) from None
        raise
    if answer == ERROR and _has_ended(process):
        raise SparkLost(_message(process))
    return answer


def _has_ended(process: subprocess.Popen) -> bool:
    try:
        process.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _message(process: subprocess.Popen) -> str:
    exit_code = process.returncode
    how = f"ended with exit code {exit_code}" if exit_code >= 0 else f"killed by signal {-exit_code}"
    if exit_code in KILLED:
        how += ", often because the machine had no memory left"
    elif words := last_words(process):
        how += f", after {words}"
    return (
        f"Spark's Java process is gone ({how}); call get_spark() again, which starts a new one: spark = get_spark(), "
        "and make your DataFrames again from it"
    )


def _handle_error(handle: Any, process: subprocess.Popen, *arguments: object) -> None:
    """Print what went wrong in the thread that Java sends its accumulators to, unless Java is just gone."""
    if not _has_ended(process):
        handle(*arguments)


def _is_wanted(record: logging.LogRecord) -> bool:
    return record.msg not in PY4J_LOGS or Path(py4j.__file__).parent not in Path(record.pathname).parents


TORN_OFF_AFTER_S = 3
USUAL_PLANNING_S, LONGEST_PLANNING_S = 10, 600
INTERVAL_S, LONG_INTERVAL_S = 0.1, 1.0

_cells: list[_Cell] = []
"""The cell that runs, last, after those that run it; outside of IPython the program."""

_to_cancel: queue.SimpleQueue[_Cell] = queue.SimpleQueue()  # may be filled from within the handler of a signal
_worker: threading.Thread | None = None


def cancel_when_interrupted() -> None:
    """From now on an interrupt of the main thread cancels what its cell has begun; so does an error of the cell.

    For a Spark that Python started: any other has been started by something that looks after it. To be called after
    each start; again, it changes nothing.
    """
    global _worker
    if gateway.java_process() is None or not _is_main_thread():
        return
    if _worker is None or not _worker.is_alive():  # a forked child has no threads
        _worker = threading.Thread(target=_cancel_all, name="kafkalearn-cancel", daemon=True)
        _worker.start()
    shell = _shell()
    if shell is not None:
        shell.events.register("pre_run_cell", _begin)  # IPython keeps one of each
        shell.events.register("post_run_cell", _end)
    if _cells:
        _cells[-1].mark_jobs()
    else:
        _begin()  # the cell that runs now; its end will be noticed
    gateway.around_calls(_interrupts_send)
    signal.signal(signal.SIGINT, _on_interrupt)  # PySpark has just put in its own


class _Cell:
    """A cell, or where there are none the program: what it began can be cancelled."""

    def __init__(self, is_program: bool) -> None:
        self.is_program = is_program
        self.handler_before = signal.getsignal(signal.SIGINT)
        self.is_in_call = False  # a question is on its way to Java
        self.is_interrupted = False  # and nobody knows yet
        self._tag = f"kafkalearn-cell-{uuid.uuid4()}"
        self._context: SparkContext | None = None

    @property
    def is_marked(self) -> bool:
        """Whether its jobs are known from others."""
        return self._context is not None and not self.is_program and gateway.has_threads_in_pairs()

    def mark_jobs(self) -> None:
        """Let all jobs that begin from now on in this thread be known as those of this cell."""
        process = gateway.java_process()
        self._context = gateway.running_context() if process is not None and process.poll() is None else None
        if self.is_marked:
            with suppress(Py4JError, OSError, SparkLost):
                self._context.addJobTag(self._tag)

    def end(self) -> None:
        """Let what comes after it in this thread be no part of it."""
        if self.is_marked:
            with suppress(Py4JError, OSError, SparkLost):
                self._context.removeJobTag(self._tag)

    def cancel(self, since_s: float) -> bool:
        """Cancel the jobs that run, `since_s` after the first time; whether others may still begin."""
        try:
            if self.is_marked:
                self._context.cancelJobsWithTag(self._tag)
            else:
                self._context.cancelAllJobs()
        except Exception:  # whatever it is: Java or the session is gone, and its jobs too
            return False
        is_waiting = self.is_in_call and self.is_interrupted
        if is_waiting and since_s > TORN_OFF_AFTER_S:
            _interrupt_again()
        return is_waiting or (self.is_marked and since_s < LONGEST_PLANNING_S)


def _begin(_: object = None) -> None:
    """Before a cell; IPython calls it in threads too, which no signal reaches."""
    if _is_main_thread():
        _cells.append(_Cell(is_program=_shell() is None))
        _cells[-1].mark_jobs()
        signal.signal(signal.SIGINT, _on_interrupt)


def _end(result: Any = None) -> None:
    """After a cell; of one that was cancelled while it awaited something there is no result."""
    if _is_main_thread() and _cells:
        cell = _cells.pop()
        if signal.getsignal(signal.SIGINT) is _on_interrupt:
            signal.signal(signal.SIGINT, cell.handler_before)
        if cell.is_marked and (result is None or not result.success):
            _to_cancel.put(cell)
        cell.end()


def _interrupts_send(send: Any, _: object, *arguments: object, **named: object) -> Any:
    """py4j's own way; what an interrupt ends, here or a moment before the call, is answered with KeyboardInterrupt.

    A moment before it is where a table is fetched: PySpark reads it from a socket, where the interrupt comes at once,
    and then asks Java whether all went well.
    """
    cell = _cells[-1] if _cells and _is_main_thread() else None
    if cell is None:
        return send(*arguments, **named)
    was_interrupted, cell.is_interrupted, cell.is_in_call = cell.is_interrupted, False, True
    try:
        answer = send(*arguments, **named)
    finally:
        cell.is_in_call = False
        is_interrupted, cell.is_interrupted = cell.is_interrupted, False
    is_refused, _ = is_error(answer[0] if isinstance(answer, tuple) else answer)
    if is_interrupted or (was_interrupted and is_refused):
        _interrupt(signal.SIGINT, None)
    return answer


def _on_interrupt(number: int, frame: Any) -> None:
    """The handler of an interrupt: nothing may be asked of Java here, where a question may be on its way."""
    for cell in _cells:
        _to_cancel.put(cell)
    cell = _cells[-1] if _cells else None
    is_put_off = cell is not None and cell.is_in_call and not cell.is_interrupted
    if cell is not None:
        cell.is_interrupted = True
    if not is_put_off:
        _interrupt(number, frame)


def _interrupt_again() -> None:
    """Interrupt the main thread: a second time is not put off."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)  # Windows


def _interrupt(number: int, frame: Any) -> None:
    """What would be done without us."""
    before = _cells[0].handler_before if _cells else None
    if callable(before) and before is not _on_interrupt and not before.__module__.startswith("pyspark"):
        before(number, frame)
    else:
        raise KeyboardInterrupt


def _cancel_all() -> None:
    """The thread that cancels: each cell at once, and then again and again for a while."""
    begun_s: dict[_Cell, float] = {}
    while True:
        is_usual = any(time.monotonic() < each_s + USUAL_PLANNING_S for each_s in begun_s.values())
        with suppress(queue.Empty):
            cell = _to_cancel.get(timeout=(INTERVAL_S if is_usual else LONG_INTERVAL_S) if begun_s else None)
            begun_s.setdefault(cell, time.monotonic())
        begun_s = {cell: each_s for cell, each_s in begun_s.items() if cell.cancel(time.monotonic() - each_s)}


def _is_main_thread() -> bool:
    """Whether this is the thread that signals reach."""
    return threading.current_thread() is threading.main_thread()


def _shell() -> Any:
    """IPython's shell, if this Python runs in one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


# How far a long job is: a callback gets its finished and its known tasks, ten times a second.
#
# A job's later stages become known only when its earlier ones are done, so the total grows while it runs. Neither
# number ever falls.

PROGRESS_INTERVAL_S = 0.1

Update = Callable[[int, int], None]
"""``update(done, total)``: tasks that are done, of tasks known so far. Called from another thread."""


@contextmanager
def job_progress(spark: SparkSession, update: Update | None, row_count: int | None = None) -> Iterator[None]:
    """Call back `update` with the progress of the jobs inside the ``with`` block; with None nothing is called.

    Parameters
    ----------
    spark : SparkSession
        Classic or Spark Connect.
    update : callable or None
        ``update(done, total)``, 10 times a second while something changes, and ``update(total, total)`` at the
        end of a block that raised nothing. These are tasks.
    row_count : int, optional
        With it they are rows: how many the jobs go through, each stage through all of them. What a task has read is
        known when it has ended. (Spark Connect knows tasks only.)

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
    with _follow_connect(spark, rising) if is_connect(spark) else _follow_classic(spark, rising, row_count):
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
def _follow_classic(spark: SparkSession, rising: _Rising, row_count: int | None) -> Iterator[None]:
    context = spark.sparkContext
    tag = f"kafkalearn-progress-{uuid.uuid4()}"
    stop = threading.Event()
    thread = threading.Thread(target=_poll, args=(context, tag, rising, stop, row_count), daemon=True)
    context.addJobTag(tag)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        context.removeJobTag(tag)


def _poll(context: SparkContext, tag: str, rising: _Rising, stop: threading.Event, row_count: int | None) -> None:
    with suppress(SparkLost):  # the thread whose job it is hears of it too
        while True:
            is_over = stop.wait(PROGRESS_INTERVAL_S)
            begun = _begun_stages(context, tag)
            rising(*(_tasks(begun) if row_count is None else _rows(context, begun, row_count)))
            if is_over:  # what was done since is said, too
                return


def _begun_stages(context: SparkContext, tag: str) -> list[SparkStageInfo]:
    """The stages of a tag's jobs; those that Spark found needless stay at 0 and are left out."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job_id) for job_id in jobs_with_tag(context, tag)]
    stage_ids = {stage_id for job in jobs if job for stage_id in job.stageIds}
    stages = [stage for stage in map(tracker.getStageInfo, stage_ids) if stage]
    return [stage for stage in stages if stage.numCompletedTasks or stage.numActiveTasks]


def _tasks(begun: list[SparkStageInfo]) -> tuple[int, int]:
    """Finished and known tasks."""
    return sum(stage.numCompletedTasks for stage in begun), sum(stage.numTasks for stage in begun)


def _rows(context: SparkContext, begun: list[SparkStageInfo], row_count: int) -> tuple[int, int]:
    """The rows that were read, of all that the stages read: from a generator, from files, or what a stage wrote."""
    store = cast("Any", context)._jsc.sc().statusStore()
    read = 0
    for stage in begun:
        seen = store.lastStageAttempt(stage.stageId)
        is_done = stage.numCompletedTasks == stage.numTasks
        read += row_count if is_done else min(seen.inputRecords() + seen.shuffleReadRecords(), row_count)
    return read, row_count * len(begun)


@contextmanager
def _follow_connect(spark: SparkSession, rising: _Rising) -> Iterator[None]:
    def handler(stages, inflight_tasks, operation_id, done) -> None:
        rising(sum(stage.num_completed_tasks for stage in stages), sum(stage.num_tasks for stage in stages))

    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)
