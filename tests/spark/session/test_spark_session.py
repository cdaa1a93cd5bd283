"""The session that is there is used; the one on this machine starts silently and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import find_java
from kafkalearn.spark.session.gateway import SparkNotStarted
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.session.start import Launch, start_jvm
from tests.spark.processes import ROOT, java_script, run_python

pytestmark = pytest.mark.spark

SAID = {
    "{'spark.driver.memory': '90000000t'}": "What to do: this is not a size that Java can address",
    "{'spark.driver.memory': '999999g'}": "What to do: there is not enough free memory",
    "{'spark.driver.memory': '1m'}": "What to do: Spark needs at least 450 MB",
    "{'spark.driver.memory': 'lots'}": "spark.driver.memory must be a size like '2g' or '1536m', got 'lots'",
    "{'spark.driver.extraJavaOptions': '-jar'}": "Java ended at its start with exit code",
    "{'spark.driver.port': taken, 'spark.port.maxRetries': 0}": "What to do: leave spark.driver.port and",
    "{'spark.master': 'local[x]'}": "What to do: the master must be like local[*]",
}
"""Settings that cannot work, as code, and what the error says."""

ASK_ALL = """
import socket
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.session import gateway, get_spark
listener = socket.create_server(("127.0.0.1", 0))
taken = listener.getsockname()[1]
answers = {}
for code in %r:
    try:
        get_spark(**eval(code))
    except KafkaLearnError as error:
        answers[code] = str(error)
    assert gateway.java_process() is None and os.listdir(os.environ["TMPDIR"]) == []
report(answers)
"""


def refusal(variables: dict[str, str | None]) -> str:
    """What get_spark() says in a process with these variables."""
    code = """
        from kafkalearn.base.errors import KafkaLearnError
        from kafkalearn.spark.session import get_spark
        try:
            get_spark()
        except KafkaLearnError as error:
            report(f"{type(error).__name__}: {error}")
    """
    message, printed = run_python(code, **variables)
    assert printed == ""
    return message


def test_a_second_call_returns_the_same_session(spark):
    assert get_spark("another name") is spark


def test_a_setting_is_changed_in_the_session_that_runs(spark):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    assert get_spark(**{"spark.sql.shuffle.partitions": 7}).conf.get("spark.sql.shuffle.partitions") == "7"
    spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"spark.driver.memory": "77m"}, "spark.driver.memory is '.*' in the Spark session that runs .* spark.stop()"),
        ({"master": "local[3]"}, "spark.master is .* cannot be changed to 'local\\[3\\]'"),
        ({"remote": "sc://localhost"}, "a Spark session runs already in this process"),
        ({"driver_memory": "4g"}, "'driver_memory' is not a Spark setting"),
    ],
)
def test_what_the_running_session_cannot_do_is_refused(spark, arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        get_spark(**arguments)


@pytest.mark.nightly
def test_a_life_without_any_java_installed(tmp_path):
    """Start, question, restart, death of Java, new start: silent, and PySpark's environment is left as it was."""
    answer, printed = run_python(
        """
        before = dict(os.environ)
        import time
        from pathlib import Path
        from kafkalearn.spark.session import start as embedded, gateway, get_spark

        def state(spark):
            folder = embedded._jvm.folder
            java = embedded._jvm.launch.java
            table = spark.range(10).toPandas()  # Arrow
            return [spark.range(10).count(), len(table), java.source, str(folder)]

        spark = get_spark(master="local[1]")
        found = {"first": state(spark), "cores": spark.sparkContext.defaultParallelism,
                "zone": spark.conf.get("spark.sql.session.timeZone"), "ui": spark.sparkContext.uiWebUrl}
        spark.stop()
        found["again"] = state(get_spark(master="local[1]"))
        get_spark().stop()
        found["more memory"] = state(get_spark(master="local[1]", **{"spark.driver.memory": "700m"}))
        gateway.java_process().kill()
        gateway.java_process().wait()
        found["after its death"] = state(get_spark(master="local[1]"))
        found["pid"] = gateway.java_process().pid
        found["left"] = sorted(os.listdir(os.environ["TMPDIR"]))
        found["environment"] = sorted(name for name in set(os.environ) - set(before) if "PYSPARK" in name)
        report(found)
        """,
        PATH="/no/java/here",
        JAVA_HOME=None,
        TMPDIR=str(tmp_path),
    )
    folders = [answer[moment][3] for moment in ("first", "again", "more memory", "after its death")]

    assert printed == ""
    assert [answer[moment][:3] for moment in ("first", "again", "more memory", "after its death")] == [
        [10, 10, "bundled"]
    ] * 4
    assert (answer["cores"], answer["zone"], answer["ui"]) == (1, "UTC", None)
    assert folders[0] == folders[1]  # the same Java serves the next session
    assert len(set(folders)) == 3
    assert [Path(folder).parent for folder in folders] == [tmp_path] * 4
    assert answer["environment"] == []
    assert list(tmp_path.iterdir()) == []
    assert not is_running(answer["pid"])


@pytest.mark.nightly
def test_where_the_locale_is_c_paths_may_have_any_letters(tmp_path):
    (tmp_path / "курс übung").mkdir()
    answer, printed = run_python(
        """
        from kafkalearn.spark.data import datasets
        from kafkalearn.spark.session import get_spark
        report([datasets.keys(get_spark(), 100).count(), sorted(os.listdir(os.environ["KAFKALEARN_DATA_DIR"]))])
        """,
        LC_ALL="C",
        TMPDIR=str(tmp_path / "курс übung"),
        KAFKALEARN_DATA_DIR=str(tmp_path / "курс übung" / "данные"),
    )

    assert printed == ""
    assert answer == [100, ["keys-100-key_count=10-exponent=0.0-seed=42-v=1"]]
    assert [path.name for path in (tmp_path / "курс übung").iterdir()] == ["данные"]


@pytest.mark.long
def test_java_leaves_and_cleans_up_when_python_is_killed(tmp_path):
    spaced = tmp_path / "a folder with spaces"
    spaced.mkdir()
    code = (
        "from kafkalearn.spark.session import gateway, get_spark\n"
        "get_spark().range(5).write.saveAsTable('kept_in_the_warehouse')\n"
        "print(gateway.java_process().pid, flush=True)\n"
        "import time; time.sleep(600)"
    )
    variables = {**os.environ, "KAFKALEARN_SPARK_FAST_START": "1", "TMPDIR": str(spaced)}
    python = subprocess.Popen([sys.executable, "-c", code], env=variables, cwd=ROOT, stdout=subprocess.PIPE)
    java_pid = int(python.stdout.readline())
    assert is_running(java_pid)
    assert len(list(spaced.iterdir())) == 1

    python.send_signal(signal.SIGKILL)
    python.wait()
    assert soon(lambda: not is_running(java_pid))
    assert soon(lambda: list(spaced.iterdir()) == [])


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    return run_python(ASK_ALL % list(SAID), TMPDIR=str(tmp_path_factory.mktemp("empty")))


@pytest.mark.parametrize("settings", SAID)
def test_a_spark_that_cannot_start_says_what_to_do(refusals, settings):
    messages, _ = refusals
    assert SAID[settings] in messages[settings]


def test_a_failed_start_prints_nothing(refusals):
    assert refusals[1] == ""


def test_a_java_that_never_answers_is_not_waited_for(tmp_path, monkeypatch):
    script = java_script(tmp_path / "bin" / "java", "21.0.8")
    script.write_text(script.read_text().replace("exit 0", "[ $# = 1 ] || exec sleep 600"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkNotStarted, match=r"Java has not answered for 1 s \(Java 21.0.8 from JAVA_HOME"):
        start_jvm(Launch(find_java(), ROOT, (), ()), timeout_s=1)


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"SPARK_MASTER": "spurk://nowhere"}, "What to do: the master must be like local[*], spark://host:7077"),
        ({"SPARK_CONF_DIR": "{folder}"}, "What to do: the master must be like local[*], spark://host:7077"),
        (
            {"MASTER": "spark://127.0.0.1:1", "PATH": "/no/java/here", "JAVA_HOME": None},
            "JavaNotFound: .* set JAVA_HOME to it; the bundled runtime cannot run Spark's own launcher",
        ),
        ({"SPARK_REMOTE": "localhost:15002"}, "a Spark Connect address begins with sc://, got 'localhost:15002'"),
    ],
)
def test_a_spark_that_was_named_is_the_one_that_is_tried(variables, said, tmp_path, launcher_java_home):
    (tmp_path / "spark-defaults.conf").write_text("# ours\nspark.master   spurk://nowhere\n")
    variables = {"JAVA_HOME": str(launcher_java_home), **variables}
    filled = {name: value and value.format(folder=tmp_path) for name, value in variables.items()}

    assert re.search(said.replace("[*]", r"\[\*\]"), refusal(filled))


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be buried does not."""
    state = Path(f"/proc/{pid}/stat")
    if Path("/proc/self").exists():
        return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"
    return subprocess.run(["ps", "-p", str(pid)], capture_output=True).returncode == 0


def soon(holds) -> bool:
    """Whether it holds within two minutes: what never comes fails, a slow machine does not."""
    deadline = time.monotonic() + 120
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()


def test_a_session_that_was_found_is_left_alone_if_that_is_wanted():
    code = """
        import signal
        from kafkalearn.spark.session import get_spark, start
        from pyspark import SparkContext

        spark = start.start({"spark.master": "local[1]"}, {})  # as a platform's own, started without get_spark
        client = SparkContext._gateway._gateway_client
        before = client.send_command, signal.getsignal(signal.SIGINT)
        left = get_spark(leave_alone=True) is spark and (client.send_command, signal.getsignal(signal.SIGINT)) == before
        get_spark()
        report([left, (client.send_command, signal.getsignal(signal.SIGINT)) == before])
    """
    assert run_python(code)[0] == [True, False]
