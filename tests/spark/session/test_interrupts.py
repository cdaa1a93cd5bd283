"""In a real kernel: what an interrupted or failed cell leaves is cancelled, and a Java that is gone is one sentence."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.running.night import at_night
from tests.spark.processes import ROOT

# A kernel of Jupyter as JupyterLab has it: cells are run in it, watched while they run, and interrupted.
GIVE_UP_S = 300  # nothing here takes so long on any machine; what hangs, hangs longer


@dataclass
class Answer:
    """What came out of a cell."""

    printed: str = ""
    errors: list[str] = field(default_factory=list)  # "name: text", as the page shows them
    result: str = ""  # of the last line
    is_done: bool = False


@dataclass
class Kernel:
    """A running kernel; `stderr` is all that it has printed there, in whichever cell."""

    manager: KernelManager
    client: BlockingKernelClient
    stderr: str = ""

    def run(self, code: str, when: str = "", do: Callable[[], None] | None = None) -> Answer:
        """Run a cell; once it has printed `when`, `do` something to it."""
        answer, request = Answer(), self.client.execute(code)
        deadline = time.monotonic() + GIVE_UP_S
        while not answer.is_done:
            assert time.monotonic() < deadline, f"the cell hangs: {code}"
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except Empty:
                continue
            self._note(message, answer, message["parent_header"].get("msg_id") == request)
            if do and when in answer.printed:
                do, _ = None, do()
        return answer

    def _note(self, message: dict, answer: Answer, is_of_cell: bool) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream" if content["name"] == "stderr":
                self.stderr += content["text"]
            case "stream":
                answer.printed += content["text"]
            case "error":
                answer.errors.append(f"{content['ename']}: {content['evalue']}")
            case "execute_result":
                answer.result = content["data"]["text/plain"]
            case "status":
                answer.is_done = is_of_cell and content["execution_state"] == "idle"

    def interrupt(self) -> None:
        """What the stop button does."""
        self.manager.interrupt_kernel()


@contextmanager
def running_kernel(**variables: str) -> Iterator[Kernel]:
    """A kernel of this Python, killed at the end."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(extra_arguments=["--log-level=ERROR"], env={**os.environ, **variables})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=GIVE_UP_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


pytestmark = [pytest.mark.spark, pytest.mark.long]  # six lives of Java

START = """
import os, threading, time
from contextlib import suppress
from pyspark import InheritableThread
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from kafkalearn.spark.session import gateway, get_spark, job_progress

spark = get_spark(master="local[2]")
active = lambda: set(spark.sparkContext.statusTracker().getActiveJobsIds())
endless = lambda cuts=2: spark.range(0, 10**15, 1, cuts).selectExpr("id % 7 as a").where("a > 100")

def say_when_a_job_runs():
    before = active()
    def look():
        while not active() - before:
            time.sleep(0.02)
        print("a job runs", flush=True)
    threading.Thread(target=look, daemon=True).start()

def wait(until):
    while not until():
        time.sleep(0.02)

def in_a_thread(cuts):
    def work():
        with suppress(Exception):
            endless(cuts).count()
    before = active()
    InheritableThread(target=work, daemon=True).start()
    wait(lambda: active() - before)
    return active() - before

class Slow(DataSource):
    '''What takes its time to be planned: it waits for a file to be gone. Its rows never end.'''

    @classmethod
    def name(cls):
        return "slow"

    def schema(self):
        return "n bigint"

    def reader(self, schema):
        gate = self.options["gate"]

        class Reader(DataSourceReader):
            def partitions(self):
                import os, time
                os.rename(gate, gate + ".seen")
                while os.path.exists(gate + ".seen"):
                    time.sleep(0.02)
                return [InputPartition(n) for n in range(4)]

            def read(self, partition):
                import time
                while True:
                    time.sleep(0.1)
                    yield (1,)

        return Reader()

spark.dataSource.register(Slow)
"""

ENDLESS = {
    "rows": "endless().collect()",
    "a count": "endless().count()",
    "a table": "endless().toPandas()",
    "rows one by one": "next(endless().toLocalIterator())",
    "Python on the workers": "endless(4).rdd.map(lambda row: sum(range(10**12))).collect()",
    "a file": "endless().write.mode('overwrite').parquet(os.environ['PLACE'])",
    "with progress": "\nwith job_progress(spark, lambda done, total: None): endless().count()",
    "a cell that awaits": "await __import__('asyncio').sleep(0); endless().collect()",
}
"""Cells whose job never ends, by what they do."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def kernel(place):
    with running_kernel(KAFKALEARN_SPARK_FAST_START="1", PLACE=str(place / "out")) as kernel:
        assert kernel.run(START).errors == []
        yield kernel


def is_free(kernel) -> bool:
    """Whether the next question is answered, and no job stays."""
    answer = kernel.run("print(spark.range(100).count()); wait(lambda: not active())")
    return (answer.printed, answer.errors) == ("100\n", [])


@pytest.mark.parametrize("what", ENDLESS)
def test_an_interrupted_cell_leaves_nothing_and_the_next_one_answers(kernel, what):
    answer = kernel.run(f"say_when_a_job_runs(); {ENDLESS[what]}", when="a job runs", do=kernel.interrupt)

    if what != "a cell that awaits":  # that one ends with the error of the job that was cancelled
        assert answer.errors == ["KeyboardInterrupt: "]
    assert is_free(kernel)
    assert kernel.stderr == ""


def test_the_cell_that_starts_spark_can_be_interrupted_too(kernel):
    answer = kernel.run(
        "spark.stop(); spark = get_spark(master='local[2]'); say_when_a_job_runs(); endless().toPandas()",
        when="a job runs",
        do=kernel.interrupt,
    )

    assert answer.errors == ["KeyboardInterrupt: "]
    assert is_free(kernel)


def test_a_job_that_begins_only_after_the_interrupt_is_cancelled_too(kernel, place):
    gate = place / "gate"
    gate.touch()
    cell = f"""
    def look():
        wait(lambda: os.path.exists({str(gate)!r} + ".seen"))
        print("it is planned", flush=True)
    threading.Thread(target=look, daemon=True).start()
    spark.dataSource.register(Slow)
    spark.read.format("slow").option("gate", {str(gate)!r}).load().count()
    """
    answer = kernel.run(cell, when="it is planned", do=kernel.interrupt)
    assert answer.errors == ["KeyboardInterrupt: "]
    assert kernel.run("sorted(active())").result == "[]"

    gate.with_name("gate.seen").unlink()

    assert is_free(kernel)


def test_what_a_failed_cell_left_in_a_thread_is_cancelled(kernel):
    answer = kernel.run("in_a_thread(2); 1 / 0")

    assert answer.errors == ["ZeroDivisionError: division by zero"]
    assert is_free(kernel)


def test_jobs_of_other_cells_and_of_cells_that_end_well_are_left_alone(kernel):
    kernel.run("kept = in_a_thread(1)")
    kernel.run("say_when_a_job_runs(); endless().collect()", when="a job runs", do=kernel.interrupt)
    kernel.run("1 / 0")
    assert (
        kernel.run("print(spark.range(100).count()); wait(lambda: active() <= kept); active() == kept").result == "True"
    )

    kernel.run("spark.sparkContext.cancelAllJobs()")
    assert is_free(kernel)


def test_a_cell_within_a_cell_is_cancelled_with_it_and_python_alone_is_interrupted_as_ever(kernel):
    within = "say_when_a_job_runs(); get_ipython().run_cell('endless().collect()')"
    assert "KeyboardInterrupt: " in kernel.run(within, when="a job runs", do=kernel.interrupt).errors
    assert is_free(kernel)

    plain = kernel.run("print('it sleeps', flush=True); time.sleep(10**6)", when="it sleeps", do=kernel.interrupt)
    assert plain.errors == ["KeyboardInterrupt: "]
    assert is_free(kernel)


LOST = (
    "SparkLost: Spark's Java process is gone (killed by signal 9, often because the machine had no memory left); call "
    "get_spark() again, which starts a new one: spark = get_spark(), and make your DataFrames again from it"
)


@pytest.mark.parametrize("what", ["with progress", *at_night("a table", "nothing")])
def test_a_java_that_was_killed_is_one_sentence_and_get_spark_starts_another(kernel, what):
    kernel.run("old = endless(); print(spark.range(8).rdd.map(lambda row: row.id).sum())")  # with accumulators
    pid = int(kernel.run("gateway.java_process().pid").result)
    cell = f"say_when_a_job_runs(); {ENDLESS[what]}" if what in ENDLESS else "print('a job runs'); time.sleep(0.5)"

    killed = kernel.run(cell, when="a job runs", do=lambda: os.kill(pid, signal.SIGKILL))
    after = kernel.run("spark.range(3).count()")
    again = kernel.run("spark = get_spark(master='local[2]'); print(spark.range(3).count())")
    old = kernel.run("import gc; gc.collect(); time.sleep(0.5); old.count()")

    assert killed.errors == ([LOST] if what in ENDLESS else [])
    assert after.errors == old.errors == [LOST]
    assert (again.printed, again.errors) == ("3\n", [])
    assert not {"Traceback", "ConnectionRefusedError", "Py4J"} & set(re.findall(r"\w+", kernel.stderr))
    assert is_free(kernel)


@pytest.mark.nightly
def test_of_a_java_that_ended_by_itself_its_last_words_are_told(kernel):
    """As Spark ends itself at an error that it takes for fatal; its log is gone by then."""
    kernel.run("from kafkalearn.spark.session import start; folder = start._jvm.folder; java = spark._jvm")
    ended = kernel.run(
        "handler = java.org.apache.spark.util.SparkUncaughtExceptionHandler(True)\n"
        "handler.uncaughtException(java.java.lang.Thread.currentThread(), java.java.lang.InternalError('no room'))"
    )
    assert ended.errors == [
        LOST.replace(
            LOST[LOST.index("(") : LOST.index(")")], "(ended with exit code 50, after java.lang.InternalError: no room"
        )
    ]
    again = kernel.run("spark = get_spark(master='local[2]'); print(folder.exists(), spark.range(3).count())")
    assert (again.printed, again.errors) == ("False 3\n", [])


PROGRAM = """
import os, signal, threading, time
from kafkalearn.spark.session import get_spark
spark = get_spark(master="local[2]")
active = lambda: list(spark.sparkContext.statusTracker().getActiveJobsIds())

def look():
    while not active():
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=look, daemon=True).start()
try:
    spark.range(0, 10**15, 1, 2).selectExpr("id % 7 as a").where("a > 100").collect()
except KeyboardInterrupt:
    print(spark.range(100).count(), flush=True)
    while active():
        time.sleep(0.02)
    print("nothing stays")
"""


@pytest.mark.nightly
def test_outside_of_a_notebook_an_interrupt_cancels_too():
    environment = {**os.environ, "KAFKALEARN_SPARK_FAST_START": "1"}
    run = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=GIVE_UP_S)

    assert (done.stdout, done.stderr, done.returncode) == ("100\nnothing stays\n", "", 0)
