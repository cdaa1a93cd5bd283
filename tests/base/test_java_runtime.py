"""Which Java is taken: the reader's own if Spark runs on it, else the bundled one."""

import os

import pytest

from kafkalearn.base.java_runtime import JavaNotFound, find_java
from tests.spark.processes import java_script


@pytest.fixture
def only(monkeypatch, tmp_path):
    """An environment with one Java in JAVA_HOME and one on PATH, either of a given version or missing."""

    def make(home: str | None, path: str | None, exit_code: int = 0):
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "path"), "/usr/bin-without-java"]))
        if home:
            java_script(tmp_path / "home" / "bin" / "java", home, exit_code)
            monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
        if path:
            java_script(tmp_path / "path" / "java", path, exit_code)

    return make


@pytest.mark.parametrize(
    ("home", "path", "taken"),
    [
        ("17.0.15", "21.0.8", ("17.0.15", "JAVA_HOME")),
        ("11.0.22", "21.0.8", ("21.0.8", "PATH")),
        (None, "25.0.3", ("25.0.3", "PATH")),
        ("1.8.0_412", "26-ea", ("bundled", "bundled")),
        (None, None, ("bundled", "bundled")),
    ],
)
def test_the_first_suitable_java_is_taken_and_the_bundled_one_if_there_is_none(only, home, path, taken):
    only(home, path)
    java = find_java()
    assert (java.source if java.source == "bundled" else java.version, java.source) == taken
    assert java.is_suitable


def test_a_java_that_does_not_run_is_passed_over(only):
    only("21.0.8", None, exit_code=1)
    assert find_java().source == "bundled"


def test_where_no_java_fits_the_message_says_what_was_looked_at_and_what_to_do(only):
    only("1.8.0_412", "11.0.22")
    with pytest.raises(JavaNotFound) as caught:
        find_java(bundled=False)

    message = str(caught.value)
    assert "Java 1.8.0_412 from JAVA_HOME" in message
    assert "Java 11.0.22 from PATH" in message
    assert "install a JDK 21 and set JAVA_HOME" in message


FAULTS = {
    "nothing there": (None, "there is no such file"),
    "not executable": ("#!/bin/sh", "it may not be executed"),
    "no program": ("\x7fELF nonsense", "Exec format error"),
    "refused": (
        "#!/bin/sh\necho 'Picked up JAVA_TOOL_OPTIONS: -Xfast' >&2\necho 'Unrecognized option: -Xfast' >&2\nexit 1",
        "it ended with exit code 1 and said 'Unrecognized option: -Xfast'",
    ),
    "silent": ("#!/bin/sh\nexit 3", "it ended with exit code 3"),
    "not Java": ("#!/bin/sh\necho hello", "it does not say its version and said 'hello'"),
    "too old": ("#!/bin/sh\necho 'version \"11.0.2\"'", "Java 11.0.2 from JAVA_HOME (JAVA), which is too old"),
    "too new": ("#!/bin/sh\necho 'version \"26-ea\"'", "Java 26-ea from JAVA_HOME (JAVA), which is too new"),
}
"""What JAVA_HOME may name: the program, and why it will not do."""


@pytest.mark.parametrize("fault", FAULTS)
def test_of_each_java_that_will_not_do_it_is_said_why(only, monkeypatch, tmp_path, fault):
    only(None, "11.0.22")
    content, why = FAULTS[fault]
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    if content is not None:
        java.write_text(content)
        java.chmod(0o644 if fault == "not executable" else 0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))

    with pytest.raises(JavaNotFound) as caught:
        find_java(bundled=False)

    assert why.replace("JAVA)", f"{java})") in str(caught.value)
    assert f"from JAVA_HOME ({java})" in str(caught.value)
    assert f"Java 11.0.22 from PATH ({tmp_path / 'path' / 'java'}), which is too old" in str(caught.value)


def test_without_any_java_the_message_says_so(only):
    only(None, None)
    with pytest.raises(JavaNotFound, match="JAVA_HOME is not set and no java is on PATH"):
        find_java(bundled=False)


def test_the_bundled_java_is_real_and_of_the_line_spark_is_tested_on(only):
    only(None, None)
    assert find_java().major == 21
