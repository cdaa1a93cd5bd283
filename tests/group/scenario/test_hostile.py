"""Texts that no class writes: each is refused at once, and the reason says what is allowed."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios import Grows, Joins, Pauses
from kafkalearn.scenarios.text import BadScenario, scenario

JOIN = "at 0 s: c1 joins\n"
DIGITS = "9" * 5000
NESTED = "(" * 100_000
BAD = {
    "a time of 5,000 digits": (f"at {DIGITS} s: c1 leaves", "at most 1,000 characters"),
    "a time of 900 digits": (f"at {DIGITS[:900]} s: c1 leaves", "the number is too long"),
    "a fraction of 5,000 digits": (f"at 0.{DIGITS} s: c1 leaves", "at most 1,000 characters"),
    "a partition count of 5,000 digits": (f"topic t has {DIGITS} partitions", "characters"),
    "a partition count of 900 digits": (f"topic t has {DIGITS[:900]} partitions", "10,000 at most"),
    "a growth of 900 digits": (f"at 5 s: orders grows to {DIGITS[:900]} partitions", "10,000 at most"),
    "a speed of 900 digits": (f"records arrive at {DIGITS[:900]} a second", "the number is too long"),
    "a setting of 900 digits": (f"c1 has session.timeout.ms {DIGITS[:900]}", "2,147,483,647 at most"),
    "a row that ends with 900 digits": (f"at 0 s: c1 to c{DIGITS[:900]} join", "the number is too large"),
    "a row of names that never ends": ("at 0 s: c1 to c1000000000000 join", "a scenario has at most 1,000"),
    "every ms for 1,000 h": ("every 1 ms from 0 s to 1000 h: c1 pauses for 1 ms", "too long, 168 h at most"),
    "every ms for 100 h": ("every 1 ms from 0 s to 100 h: c1 pauses for 1 ms", "at most 20,000 events"),
    "every minute for everybody": ("every 1 min from 0 s to 100 h: c1 to c900 crash", "at most 20,000"),
    "an end in 30 years": ("the end is at 1000000000 s", "too long, 168 h at most"),
    "a pause of 30 years": ("at 5 s: c1 pauses for 1000000000 s", "too long, 168 h at most"),
    "a restart after 30 years": ("at 5 s: c1 restarts after 1000000000 s", "too long, 168 h at most"),
    "brackets that are not closed": (NESTED, "at most 1,000 characters"),
    "a line of brackets in a line": (f"at 5 s: c1 leaves {NESTED[:900]}", "after 'leaves' came"),
    "a long word": (f"at 5 s: c1 {'x' * 100_000}", "at most 1,000 characters"),
    "many words": (f"at 5 s: {'c1 and ' * 140}", "nothing that can happen"),
    "a name of digits": (f"at 5 s: c{DIGITS[:900]} leaves", "at most 100 characters"),
    "digits of another script": ("topic t has ٣ partitions", "cannot be read"),
    "a number with a letter of 5,000 digits": (f"at {'1' * 900}x: c1 leaves", "unknown unit 'x'"),
}


@pytest.mark.parametrize(("line", "reason"), BAD.values(), ids=BAD)
def test_a_line_that_would_take_for_ever_is_refused_with_what_is_allowed(line, reason):
    with pytest.raises(BadScenario) as refused:
        scenario(JOIN + line)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 1000


LONG = {
    "brackets": "()" * 150_000,
    "commas": ", " * 150_000,
    "lines": JOIN * 5000,
    "blank lines": "\n" * 5000,
    "a line that is as long as a text": "a" * 300_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_text_has_a_longest_length(text):
    with pytest.raises(BadScenario, match="a scenario has at most"):
        scenario(text)


def test_of_many_lines_that_are_wrong_the_first_twenty_are_told():
    with pytest.raises(BadScenario) as refused:
        scenario(JOIN + "at 5 s: c1 sleeps\n" * 1900)
    assert len(str(refused.value).splitlines()) == 20
    with pytest.raises(BadScenario) as refused:
        scenario(JOIN + "".join(f"at 5 s: d{number} leaves\n" for number in range(1900)))
    assert len(str(refused.value).splitlines()) == 20


def test_remarks_in_brackets_are_passed_over_however_many_there_are():
    assert scenario(f"{JOIN}at 5 s: c1 {'(oh) ' * 30}leaves {'(' * 30})").events[-1].at_ms == 5000


def test_events_of_all_lines_together_have_a_bound():
    lines = "".join(f"every 1 s from 0 s to 2 h: c1 pauses for {number} ms\n" for number in range(1, 9))
    with pytest.raises(BadScenario, match="20,000 at most"):
        scenario(JOIN + lines)


TOO_MUCH = {
    "a time": ([Joins(10**12, "c1")], {}, "at_ms of Joins must be at most 604,800,000"),
    "a pause": ([Joins(0, "c1"), Pauses(0, "c1", 2**63)], {}, "for_ms of Pauses must be at most"),
    "a time of 5,000 digits": ([Joins(10**5000, "c1")], {}, "a whole number of about 5,001 digits"),
    "partitions": ([Joins(0, "c1")], {"topics": [("orders", 2**31)]}, "the partition count of orders must be at most"),
    "partitions in all": (
        [Joins(0, "c1")],
        {"topics": [("a", 9000), ("b", 9000)]},
        "the number of partitions of all topics must be at most 10,000",
    ),
    "growth": ([Joins(0, "c1"), Grows(0, "orders", 10**9)], {}, "partition_count of Grows must be at most 10,000"),
    "members": ([Joins(0, f"c{number}") for number in range(1001)], {}, "the number of members must be at most 1,000"),
    "events": ([Joins(0, "c1")] * 20_001, {}, "the number of events must be at most 20,000"),
    "an end": ([Joins(0, "c1")], {"end_ms": 10**12}, "end_ms must be at most"),
    "a speed": ([Joins(0, "c1")], {"records_per_second": float("inf")}, "records_per_second must be a number"),
    "one text for many": ([Joins(0, "c1")], {"static": "c1"}, "static must be a list or tuple of values, got str 'c1'"),
    "a topic for pairs": ([Joins(0, "c1")], {"topics": ["orders"]}, "topics must hold pairs of topic and"),
    "a topic twice": ([Joins(0, "c1")], {"topics": [("t", 1), ("t", 2)]}, "topics names one topic twice"),
    "settings that are no triples": ([Joins(0, "c1")], {"member_settings": ["c1"]}, "must hold"),
}


@pytest.mark.parametrize(("events", "header", "reason"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_list_of_events_has_the_same_bounds(events, header, reason):
    with pytest.raises(KafkaLearnError, match=reason):
        scenario(events, **header)
