"""The patterns: each fits its own example, whoever tries it, and says the same as a regular expression."""

import re

import pytest

from kafkalearn.oncall.logs import read
from kafkalearn.oncall.logs.lines import EVENTS, LIBRDKAFKA, PYTHON, WRITERS
from kafkalearn.oncall.logs.patterns import FAMILIES, NUMBERS, Template, patterns, says_nothing
from kafkalearn.releases.lines import parse_release

ALL = patterns()


def name_of(pattern):
    return f"{pattern.family}-{pattern.event}-{pattern.template.text[:40]}"


@pytest.mark.parametrize("pattern", ALL, ids=name_of)
def test_its_example_is_its_event(pattern):
    example = pattern.example
    if pattern.recorded is None and pattern.writer == LIBRDKAFKA:
        example = f"%7|1795362371.931|{pattern.source}|c1#consumer-1| [thrd:main]: {example}"
    elif pattern.recorded is None and pattern.writer == PYTHON:
        example = f"2026-11-22 15:46:13,448 INFO {pattern.source}: {example}"
    (event,) = read([example]).events
    assert (event.kind, event.writer) == (pattern.event, pattern.writer)
    assert (event.time_ms is not None) == (pattern.recorded is not None or pattern.writer in (LIBRDKAFKA, PYTHON))


@pytest.mark.parametrize("pattern", ALL, ids=name_of)
def test_the_regular_expression_says_the_same(pattern):
    (event,) = read([pattern.example]).events or (None,) if pattern.recorded else (None,)
    message = pattern.example if event is None else event.text
    if not pattern.template.text.endswith("."):
        message = message.removesuffix(".")
    found = re.fullmatch(pattern.template.regex, message)
    values = [
        int(value) if name in NUMBERS else value
        for name, value in zip(pattern.template.names, found.groups(), strict=True)
    ]
    assert dict(zip(pattern.template.names, values, strict=True)) == pattern.template.match(message)


def test_every_pattern_says_who_writes_it_and_since_when():
    assert {each.family for each in ALL} == set(FAMILIES)
    assert {each.writer for each in ALL} == set(WRITERS)
    assert {each.event for each in ALL} <= set(EVENTS)
    for each in ALL:
        assert each.source
        if each.writer in ("broker", "java"):
            assert parse_release(each.since) <= parse_release(each.until or "4.3")


def test_half_of_the_examples_were_recorded():
    recorded = [each for each in ALL if each.recorded]
    assert len(recorded) > 95
    assert {"1.1.1", "2.4.1", "2.8.2", "3.7.2", "4.3.1"} <= {each.recorded for each in recorded}


def test_forms_that_are_the_same_are_there_once():
    texts = [(each.writer, each.source, each.template.text) for each in ALL]
    assert len(set(texts)) == len(texts)


def test_facilities_that_say_nothing_are_names():
    assert all(re.fullmatch(r"\w+", each) for each in says_nothing())


@pytest.mark.parametrize(
    ("text", "message", "fields"),
    [
        ("all {a} of {b}", "all x of y of z", {"a": "x", "b": "y of z"}),
        ("all {a} of", "all x of", {"a": "x"}),
        ("all {a} of", "all x of it", None),
        ("{count} of", "7 of", {"count": 7}),
        ("{count} of", "-7 of", {"count": -7}),
        ("{count} of", f"{'9' * 19} of", None),
        ("{count} of", "٣ of", None),
        ("plain", "plain", {}),
        ("plain", "plainly", None),
    ],
)
def test_templates(text, message, fields):
    assert Template(text).match(message) == fields


def test_a_long_line_is_gone_through_once():
    form = Template("Preparing {a} in {b} with {c} and {d} end")
    assert form.match("Preparing " + " in " * 100_000) is None
