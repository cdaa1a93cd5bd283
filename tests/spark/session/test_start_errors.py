"""A long log becomes a short message."""

from kafkalearn.spark.session.gateway import NO_REMEDY, error_lines, explain

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
