"""The words of a scenario: what can be written, and what is said to a line that cannot be read."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios import (
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Disconnected,
    Grows,
    Joins,
    Leaves,
    Pauses,
    Processing,
    Restarts,
    Subscribes,
    Subscription,
)
from kafkalearn.scenarios.text import BadScenario, scenario

JOIN = "at 0 s: c1, c2 and c3 join\n"


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("at 12 s: c2 pauses for 50 s", Pauses(12_000, "c2", 50_000)),
        ("at 2.3 s: c2 pauses for 0.001 s", Pauses(2300, "c2", 1)),
        ("at 1.5 min: c2 pauses for 250 ms  (GC: both threads)", Pauses(90_000, "c2", 250)),
        ("AT 1 h: c2 pauses for 1 min.", Pauses(3_600_000, "c2", 60_000)),
        ("at 80 s: c3 works 400 s on one poll", Processing(80_000, "c3", 400_000)),
        ("at 80 s: c3 works for 400 s", Processing(80_000, "c3", 400_000)),
        ("at 90 s: c1 is cut off for 20 s", Disconnected(90_000, "c1", 20_000)),
        ("at 200 s: c1 leaves", Leaves(200_000, "c1")),
        ("at 200s: c1 crashes  # oh", Crashes(200_000, "c1")),
        ("at 200 s: c1 crashes and returns after 10 s", CrashesAndReturns(200_000, "c1", 10_000)),
        ("at 200 s: c1 restarts after 10 s", Restarts(200_000, "c1", 10_000)),
        ("at 200 s: orders grows to 8 partitions", Grows(200_000, "orders", 8)),
        ("at 200 s: topic clicks is created with 2 partitions", Created(200_000, "clicks", 2)),
        ("at 200 s: orders is deleted", Deleted(200_000, "orders")),
        ("at 5 s: c1 subscribes to orders", Subscribes(5000, "c1", Subscription(("orders",)))),
        ("at 5 s: c2 subscribes to the pattern o.*s", Subscribes(5000, "c2", Subscription(pattern="o.*s"))),
    ],
)
def test_every_verb_can_be_written(line, event):
    assert scenario(JOIN + line).events[-1] == event


@pytest.mark.parametrize("who", ["c1, c2, c3", "c1, c2 and c3", "c1, c2, and c3", "c1 to c3"])
def test_several_members_can_be_named_in_one_line(who):
    assert scenario(f"at 5 s: {who} join").events == (Joins(5000, "c1"), Joins(5000, "c2"), Joins(5000, "c3"))


def test_something_can_happen_again_and_again():
    story = scenario(f"{JOIN}every 60 s from 30 s to 150 s: c2 pauses for 5 s")
    assert [event.at_ms for event in story.events if isinstance(event, Pauses)] == [30_000, 90_000, 150_000]


def test_the_facts_of_the_story_have_defaults_and_can_be_given():
    plain = scenario(JOIN)
    assert (plain.topics, plain.records_per_second, plain.read_per_second) == ((("orders", 6),), 1000, None)
    assert plain.end_ms == 120_000
    told = scenario(
        f"""topic orders has 4 partitions
        topic clicks has 2 partitions
        records arrive at 500 a second
        each member reads 250.5 per second
        c1 and c2 are static
        c3 has max.poll.interval.ms 60 s
        c3 has partition.assignment.strategy range, sticky
        the end is at 10 min
        {JOIN}"""
    )
    assert told.topics == (("orders", 4), ("clicks", 2))
    assert (told.records_per_second, told.read_per_second, told.end_ms) == (500, 250.5, 600_000)
    assert told.static == ("c1", "c2")
    assert told.member_settings[0] == ("c3", "max.poll.interval.ms", 60_000)
    assert told.member_settings[1] == ("c3", "partition.assignment.strategy", ("range", "sticky"))


def test_lines_may_stand_in_any_order_and_happen_in_that_of_time():
    story = scenario("at 9 s: c1 leaves\nat 1 s: c1 joins")
    assert [event.at_ms for event in story.events] == [1000, 9000]


BAD = {
    "at 12 s: c2 puases for 50 s": "unknown action 'puases'; did you mean 'pauses'",
    "at 12 s: c2 pauses": "after 'pauses' came 'nothing'; as in: c1 pauses for 50 s",
    "at 12 s: c2 pauses for 50": "after 'pauses' came 'for 50'",
    "at 12 s: c2 pauses for 50 sec": "unknown unit 'sec'; times have one of: ms, s, min, h",
    "at 12 s: c2 pauses for 0.1 ms": "not a whole number of ms",
    "at 12: c2 leaves": "cannot read the time 'at 12'",
    "at noon: c2 leaves": "cannot read the time 'at noon'",
    "at 12 s c2 leaves": "a colon and what happens are missing",
    "at 12 s: c2": "nothing that can happen; there is: c1, c2 join",
    "at 12 s: c9 leaves": "'c9' never joins; did you mean",
    "at 12 s: zebra leaves": "'zebra' never joins; write: at 0 s: zebra joins",
    "at 12 s: c1 joins": "'c1' is running already; let it leave or crash before",
    "at 12 s: c2, c2 pause for 5 s": "names one member twice",
    "at 12 s: c3 to c1 pause for 5 s": "is no row of names",
    "at 12 s: c1 to c pause for 5 s": "'c1 to c' is no row of names; as in: c1 to c5",
    "at 12 s: c1 to cx pause for 5 s": "'c1 to cx' is no row of names; as in: c1 to c5",
    "at 12 s: c1 to c² pause for 5 s": "'c1 to c²' is no row of names; as in: c1 to c5",
    "at 12 s: cx to c1 pause for 5 s": "'cx to c1' is not a name of a member",
    "at 12 s: orders grows to 6 partitions": "orders has 6 partitions then, and topics can only grow",
    "at 12 s: clicks grows to 8 partitions": "there is no topic 'clicks'; there are: orders",
    "at 12 s: topic orders is created with 6 partitions": "there is or was a topic 'orders'",
    "at 12 s: topic clicks is deleted": "there is no topic 'clicks'; there are: orders",
    "at 12 s: topic clicks is created": "after 'is created' came 'nothing'; as in: topic refunds is created with 4",
    "at 12 s: c1 subscribes to oders": "there is never a topic 'oders'; did you mean 'orders'?",
    "at 12 s: c1 subscribes to the pattern (a+)+": "may take for ever: at most 4 of * + ? are taken",
    "at 12 s: c1 subscribes to the pattern a*b*c*d*e*": "may take for ever",
    "at 12 s: c1 subscribes to the pattern [": "cannot be read",
    "at 12 s: c1 subscribes to $": "'$' is not a name of a topic; as in: c1 subscribes to orders, refunds",
    "c1 subscribes to oders": "there is never a topic 'oders'",
    "c9 subscribes to orders": "'c9' never joins",
    "every 0 s from 0 s to 9 s: c1 pauses for 1 s": "the distance must be above 0",
    "every 5 s: c1 pauses for 1 s": "cannot read the time 'every 5 s'",
    "c2 pauses for 50 s": "when? As in: at 12 s: c2 pauses for 50 s",
    "topic orders has six partitions": "cannot be read; as in: topic orders has 6 partitions",
    "topic orders has 0 partitions": "a topic has at least 1 partition",
    "hello world": "cannot be read; as in: topic orders has 6 partitions",
    "c9 is static": "'c9' never joins",
    "c1 has session.timeot.ms 6 s": "no setting 'session.timeot.ms' here; did you mean 'session.timeout.ms'",
    "c1 has session.timeout.ms soon": "session.timeout.ms must be a whole number",
}


@pytest.mark.parametrize("line", BAD)
def test_a_line_that_cannot_be_read_is_refused_with_its_number_and_the_reason(line):
    with pytest.raises(BadScenario) as refused:
        scenario(f"{JOIN}\n{line}")
    assert str(refused.value).startswith(f"line 3, {line!r}: ")
    assert BAD[line] in str(refused.value)


def test_names_of_a_row_are_as_short_as_any_others():
    stem = "c" * 100
    with pytest.raises(BadScenario, match="one word of at most 100 characters"):
        scenario(f"at 0 s: {stem}1 to {stem}3 join")


def test_all_bad_lines_are_told_at_once_in_order():
    with pytest.raises(BadScenario) as refused:
        scenario(
            "at 0 s: c1 joins\nat 5 s: c2 leaves\nat 6 s: c1 sleeps\ntopic a has 2 partitions\ntopic a has 3 partitions"
        )
    assert [line.split(",")[0] for line in str(refused.value).splitlines()] == ["line 2", "line 3", "line 5"]


def test_subscriptions_are_read_with_their_brackets_and_once_for_each_member():
    story = scenario(f"{JOIN}c1 and c2 subscribe to the pattern orders(-eu|-us) (both)\nc3 subscribes to orders")
    assert story.subscriptions == (
        ("c1", Subscription(pattern="orders(-eu|-us)")),
        ("c2", Subscription(pattern="orders(-eu|-us)")),
        ("c3", Subscription(("orders",))),
    )
    assert scenario(JOIN).subscription("c1") == Subscription(("orders",))
    with pytest.raises(BadScenario, match="c1 subscribes already"):
        scenario(f"{JOIN}c1 subscribes to orders\nc1 subscribes to orders")


def test_a_topic_is_changed_only_while_it_is_there():
    deleted = f"{JOIN}topic clicks has 2 partitions\nat 5 s: clicks is deleted\n"
    with pytest.raises(BadScenario, match="there is no topic 'clicks'"):
        scenario(f"{deleted}at 6 s: clicks grows to 4 partitions")
    with pytest.raises(BadScenario, match="there is or was a topic 'clicks'"):
        scenario(f"{deleted}at 6 s: topic clicks is created with 4 partitions")


def test_who_has_left_may_join_again():
    assert len(scenario("at 0 s: c1 joins\nat 5 s: c1 leaves\nat 9 s: c1 joins").events) == 3
    with pytest.raises(BadScenario, match="running already"):
        scenario("at 0 s: c1 joins\nat 5 s: c1 restarts after 2 s\nat 9 s: c1 joins")


def test_a_fact_can_be_said_once():
    with pytest.raises(BadScenario, match=r"line 2.*this line was given before"):
        scenario("records arrive at 5 a second\nrecords arrive at 6 a second")


def test_a_scenario_can_be_a_list_of_events():
    story = scenario([Pauses(9000, "c1", 10), Joins(0, "c1")], topics=[("t", 2)], records_per_second=7)
    assert story.events == (Joins(0, "c1"), Pauses(9000, "c1", 10))
    assert (story.topics, story.records_per_second) == ((("t", 2),), 7)


def test_the_same_words_make_the_same_scenario():
    assert scenario(JOIN) == scenario(JOIN) == scenario([Joins(0, "c1"), Joins(0, "c2"), Joins(0, "c3")])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["pause"], "unknown event 'pause'; expected one of Joins, Leaves"),
        ([Leaves(0, "c1")], "c1 never joins"),
        ([Joins(0, "c1/2")], "the name of a member is one word"),
        ([Joins(0, "")], "the name of a member is one word"),
        ([Joins(0, 7)], "member must be a str"),
        ([Joins(-1, "c1")], "at_ms of .* must be at least 0"),
        ([Joins(0, "c1"), Grows(0, "t", 9)], "unknown topic 't'"),
    ],
)
def test_a_list_of_events_is_refused_with_the_reason(given, reason):
    with pytest.raises(KafkaLearnError, match=reason):
        scenario(given)


def test_facts_beside_a_text_are_refused():
    with pytest.raises(KafkaLearnError, match="write it into the text"):
        scenario(JOIN, records_per_second=5)


def test_a_speed_is_a_number_of_at_least_0():
    for speed in (-1, "many"):
        with pytest.raises(KafkaLearnError, match="records_per_second must be a number of at least 0"):
            scenario([Joins(0, "c1")], records_per_second=speed)


def test_an_end_before_the_last_event_is_refused():
    with pytest.raises(KafkaLearnError, match="let it end later"):
        scenario([Joins(0, "c1"), Leaves(9000, "c1")], end_ms=5000)


ONE_JOINS = "at 0 s: c1 joins\n"
DIGITS = "9" * 5000
NESTED = "(" * 100_000
HOSTILE = {
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


@pytest.mark.parametrize(("line", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_line_that_would_take_for_ever_is_refused_with_what_is_allowed(line, reason):
    with pytest.raises(BadScenario) as refused:
        scenario(ONE_JOINS + line)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 1000


LONG = {
    "brackets": "()" * 150_000,
    "commas": ", " * 150_000,
    "lines": ONE_JOINS * 5000,
    "blank lines": "\n" * 5000,
    "a line that is as long as a text": "a" * 300_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_text_has_a_longest_length(text):
    with pytest.raises(BadScenario, match="a scenario has at most"):
        scenario(text)


def test_of_many_lines_that_are_wrong_the_first_twenty_are_told():
    with pytest.raises(BadScenario) as refused:
        scenario(ONE_JOINS + "at 5 s: c1 sleeps\n" * 1900)
    assert len(str(refused.value).splitlines()) == 20
    with pytest.raises(BadScenario) as refused:
        scenario(ONE_JOINS + "".join(f"at 5 s: d{number} leaves\n" for number in range(1900)))
    assert len(str(refused.value).splitlines()) == 20


def test_remarks_in_brackets_are_passed_over_however_many_there_are():
    assert scenario(f"{ONE_JOINS}at 5 s: c1 {'(oh) ' * 30}leaves {'(' * 30})").events[-1].at_ms == 5000


def test_events_of_all_lines_together_have_a_bound():
    lines = "".join(f"every 1 s from 0 s to 2 h: c1 pauses for {number} ms\n" for number in range(1, 9))
    with pytest.raises(BadScenario, match="20,000 at most"):
        scenario(ONE_JOINS + lines)


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
