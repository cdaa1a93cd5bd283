"""Patterns of topics: what RE2J answered, and when a broker matches again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.groups import patterns
from kafkalearn.groups.patterns import (
    NEW_TOPIC,
    OLD,
    UNRESOLVED,
    Patterns,
    classic_seen_ms,
    heartbeat,
    matching,
    refresh_reason,
    seen_ms,
)
from tests.recorded import recorded

NAMES = recorded("patterns")["names"]


@pytest.mark.parametrize("pattern", ["\\pL", "\\x41", "[[:space:]]", "(?<n>a)", "(?i)a|b", "a(?i)*"])
def test_what_is_not_modelled_is_told(pattern):
    with pytest.raises(KafkaLearnError, match="is not modelled"):
        matching(pattern, NAMES)


@pytest.mark.parametrize(
    "pattern", ["(a*)*b", "((.*)*)*x", "(a|aa)*b", "(a?){40}a{40}b", "(.+)+\\.(.+)+b", "([a-z]+)*\\d"]
)
def test_no_pattern_needs_more_time_than_the_name_is_long(pattern):
    assert matching(pattern, ["a" * 249, "a" * 248 + "-"]) == frozenset()


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(" * 500 + "a" + ")" * 500, "more than 100 parentheses"),
        ("((a{1000}){1000}){1000}", "more than 50,000 steps"),
        ("x" * 1_000_000, "more than 10,000 letters"),
        ("(?i)" * 2000 + "a", None),
    ],
)
def test_what_has_no_room_is_told(pattern, words):
    if words is None:
        assert matching(pattern, ["A", "b"]) == {"A"}
        return
    with pytest.raises(KafkaLearnError, match=words):
        matching(pattern, NAMES)


LETTERS = st.sampled_from(["a", "B", "-", ".", "[ab]", "[^a-]", "\\d", "\\W", "\\b", "^", "$", "(?i:A)", "\\."])
PATTERNS = st.recursive(
    LETTERS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda ways: f"({'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.lists(st.text("aAbB-.0", max_size=6), max_size=5))
def test_where_python_knows_the_same_expression_it_says_the_same(pattern, names):
    wanted = {name for name in names if re.fullmatch(pattern, name, re.ASCII)}

    assert matching(pattern, names) == wanted


@given(st.integers(0, 10**5), st.integers(0, 10**5), st.integers(1, 9_000))
def test_a_heartbeat_sees_a_topic_at_the_first_that_can(created_ms, first_ms, interval_ms):
    beats = range(first_ms, max(created_ms, first_ms) + 30_000, interval_ms)
    matched = next(at_ms for at_ms in beats if at_ms >= created_ms and at_ms - first_ms > 10_000)

    assert seen_ms(created_ms, first_heartbeat_ms=first_ms, heartbeat_interval_ms=interval_ms) == matched + interval_ms
    assert seen_ms(2**62) == -(-(2**62) // 5_000) * 5_000 + 5_000


def name_of(case):
    return f"{case['name']}-{case['release']}"


def test_the_recording_has_every_reason_and_only_since_4_1_the_one_of_age():
    matched = {
        name_of(case): [
            [slot, pattern]
            for slot, each in enumerate(case["seen"]["slots"])
            for beat in each["beats"]
            for pattern, topics in beat["written"]
            if topics is not None and slot > 0
        ]
        for case in recorded("pattern-heartbeats")["cases"]
    }
    assert (matched["one old result-4.4.0"], matched["one old result-4.0.2"]) == ([[4, ".*"]], [])
    several = matched["several groups-4.4.0"]
    assert several == matched["several groups-4.0.2"]
    assert [2, "new.*"] in several  # its pattern has changed four seconds after the last match: the next one follows
    assert [3, ".*"] in several  # a topic was created


TOPICS = {"orders": 1}


def test_a_broker_matches_again_for_three_reasons_and_at_most_every_ten_seconds():
    group = Patterns(("orders.*",))
    assert refresh_reason(group, 0, 1) == UNRESOLVED
    group = heartbeat(group, 0, TOPICS)
    assert refresh_reason(group, 10_000, 2) is None
    assert refresh_reason(group, 10_001, 2) == NEW_TOPIC
    assert refresh_reason(group, 600_000, 1) is None
    assert refresh_reason(group, 600_001, 1) == OLD
    two = Patterns(("orders.*", "clicks"), group.resolved, group.refreshed_ms, group.version)
    assert refresh_reason(two, 9_000, 1) is None
    assert refresh_reason(two, 11_000, 1) == UNRESOLVED
    assert refresh_reason(Patterns(()), 11_000, 1) is None


def test_the_interval_can_be_set_since_4_1_and_brokers_match_since_4_0():
    group = heartbeat(Patterns(("orders.*",)), 0, TOPICS)
    since = {
        line: refresh_reason(group, 60_000, 1, refresh_interval_ms=30_000, release=line) for line in ("4.0", "4.1")
    }
    assert since == {"4.0": None, "4.1": OLD}
    with pytest.raises(KafkaLearnError, match=r"since 4\.0"):
        refresh_reason(group, 0, 1, release="3.9")
    with pytest.raises(KafkaLearnError, match="pattern must be"):
        refresh_reason(group, 0, 1, subscribed=[["orders.*"]])


@pytest.mark.parametrize("created_ms", [0, 1, 4_999, 5_000, 9_999, 12_345, 61_000])
def test_a_new_topic_is_seen_when_the_heartbeats_say_so(created_ms):
    group, seen = Patterns(("orders.*",)), None
    for at_ms in range(0, 120_000, 5_000):
        if "orders-eu" in group.resolved.get("orders.*", ()) and created_ms > 0:
            seen = at_ms
            break
        topics = {**TOPICS, "orders-eu": 2} if at_ms >= created_ms > 0 else TOPICS
        group = heartbeat(group, at_ms, topics)
    assert seen == (seen_ms(created_ms) if created_ms else None)
    assert classic_seen_ms(created_ms) == (300_000 if created_ms else 0)


def test_results_are_counted_and_a_new_pattern_is_always_matched():
    """As the coordinator has it: a pattern without a result is not seen while there are as many results as patterns."""
    two = heartbeat(Patterns(("orders.*",)), 0, TOPICS)
    two = heartbeat(two, 5_000, TOPICS, subscribed=("orders.*", "clicks"))
    assert two.resolved.keys() == {"orders.*"}
    assert refresh_reason(two, 11_000, 1, subscribed=("clicks", "clicks")) is None
    assert refresh_reason(two, 11_000, 1, subscribed=("orders.*", "new")) == UNRESOLVED
    alone = heartbeat(two, 6_000, TOPICS, subscribed=("clicks",))
    assert (alone.resolved, alone.refreshed_ms) == ({}, None)
    assert refresh_reason(alone, 6_001, 1) == UNRESOLVED


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: patterns.matching("a", 3), "topics must be a collection of names of topics, got int 3"),
        (lambda: patterns.matching("a", [3]), "topic must be a str, got int 3"),
        (lambda: patterns.heartbeat(0, "", 0), "group must be Patterns, .* got 0"),
        (
            lambda: patterns.heartbeat(patterns.Patterns(("a",)), 0, 0),
            "topics must be a dict from topic to the version",
        ),
        (
            lambda: patterns.heartbeat(patterns.Patterns(("a",)), 0, {"a": "b"}),
            "version of a topic must be a whole number",
        ),
        (lambda: patterns.refresh_reason("", 0, -1), "group must be Patterns, .* got ''"),
        (
            lambda: patterns.refresh_reason(patterns.Patterns(("a",)), 0, 0, subscribed=3),
            "subscribed must be a list or",
        ),
    ],
)
def test_what_is_of_another_type_is_refused_in_words(ask, says):
    with pytest.raises(KafkaLearnError, match=says):
        ask()
