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

import queue
import signal
import sys
import threading
import time
import uuid
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError, is_error
from pyspark import SparkContext

from kafkalearn.spark.session import gateway
from kafkalearn.spark.session.lost import SparkLost

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
    gateway.around_calls(_send)
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


def _send(send: Any, _: object, *arguments: object, **named: object) -> Any:
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
