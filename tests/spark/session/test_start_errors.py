"""A long log becomes a short message."""

from dataclasses import replace

import pytest

from kafkalearn.base.class_archive import ClassArchive
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import Java
from kafkalearn.spark.session import start
from kafkalearn.spark.session.gateway import NO_REMEDY, error_lines, explain
from kafkalearn.spark.session.start import Launch, heap_option, machine_memory_bytes

LOG = """Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties
26/11/20 13:23:46 WARN Utils: Service 'sparkDriver' could not bind on a random free port.
26/11/20 13:23:46 ERROR SparkContext: Error initializing SparkContext.
java.net.BindException: Cannot assign requested address
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
\tat java.base/sun.nio.ch.Net.bind(Net.java:555)
\t... 12 more
""".splitlines()


def test_the_lines_that_say_why_are_shown_and_the_rest_is_not():
    assert explain("Spark did not start", LOG).splitlines()[:-1] == [
        "Spark did not start.",
        "  | 26/11/20 13:23:46 ERROR SparkContext: Error initializing SparkContext.",
        "  | java.net.BindException: Cannot assign requested address",
    ]


def test_a_known_line_is_shown_even_if_it_stands_far_above():
    message = explain("Spark did not start", [*LOG, *(f"line {number}" for number in range(50))])
    assert message.splitlines()[1] == "  | java.net.BindException: Cannot assign requested address"
    assert "allow it" in message.splitlines()[-1]


def test_an_unknown_error_is_shown_as_it_is():
    assert explain("Java ended", ["something new"]) == f"Java ended.\n  | something new\nWhat to do: {NO_REMEDY}"


def test_of_a_java_error_the_call_stack_is_left_out():
    error = RuntimeError("An error occurred while calling o1.x.\n: java.lang.E: why\n\tat a.b(C.java:1)\nCaused by: d")
    assert error_lines(error) == [": java.lang.E: why", "Caused by: d"]


# How much memory Spark's Java side gets.


def test_the_limit_of_a_container_counts_if_it_is_lower(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(start, "CONTAINER_LIMITS", (limit, tmp_path / "not there"))

    limit.write_text("max\n")
    whole = machine_memory_bytes()
    limit.write_text("2147483648\n")
    assert machine_memory_bytes() == 2 * 2**30 < whole


@pytest.mark.parametrize("size", ["", "g", "4 gallons", "-1g", "1.5g"])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(KafkaLearnError, match=r"spark\.driver\.memory must be a size like '2g' or '1536m'"):
        heap_option(size)


# Which archive of Java's classes a start uses.


def test_a_start_uses_the_archive_of_its_jars_alone_and_does_without(monkeypatch, tmp_path):
    launch = Launch(Java(tmp_path / "java", "21.0.8", "PATH"), tmp_path, ("-Xmx1g",), ())
    assert not any("SharedArchive" in word for word in start._command(launch, tmp_path))

    monkeypatch.setattr(ClassArchive, "options", lambda archive: [f"-XX:SharedArchiveFile=of {archive.class_path}"])
    named = f"-XX:SharedArchiveFile=of {tmp_path / 'jars' / '*'}"
    words = start._command(launch, tmp_path)
    assert words.index(named) < words.index("-Xmx1g")  # what the reader asks for comes later, and counts
    assert named not in start._command(replace(launch, class_path="mine.jar"), tmp_path)

    monkeypatch.setattr(start, "archive_of", no_folder)
    assert named not in start._command(launch, tmp_path)


def no_folder(*_):
    raise KafkaLearnError("there is no home folder")
