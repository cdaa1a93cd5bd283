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
    "at 12 s: c2 puases for 50 s": "nobody can 'puases'; did you mean 'pauses'",
    "at 12 s: c2 pauses": "after 'pauses' came 'nothing'; as in: c1 pauses for 50 s",
    "at 12 s: c2 pauses for 50": "after 'pauses' came 'for 50'",
    "at 12 s: c2 pauses for 50 sec": "unknown unit 'sec'; times have one of: ms, s, min, h",
    "at 12 s: c2 pauses for 0.1 ms": "no whole number of ms",
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
    "at 12 s: cx to c1 pause for 5 s": "'cx to c1' is no name of a member",
    "at 12 s: orders grows to 6 partitions": "orders has 6 partitions then, and topics can only grow",
    "at 12 s: clicks grows to 8 partitions": "there is no topic 'clicks'; there are: orders",
    "at 12 s: topic orders is created with 6 partitions": "there is or was a topic 'orders'",
    "at 12 s: topic clicks is deleted": "there is no topic 'clicks'; there are: orders",
    "at 12 s: topic clicks is created": "after 'is created' came 'nothing'; as in: topic refunds is created with 4",
    "at 12 s: c1 subscribes to oders": "there is never a topic 'oders'; did you mean 'orders'?",
    "at 12 s: c1 subscribes to the pattern (a+)+": "may take for ever: at most 4 of * + ? are taken",
    "at 12 s: c1 subscribes to the pattern a*b*c*d*e*": "may take for ever",
    "at 12 s: c1 subscribes to the pattern [": "cannot be read",
    "at 12 s: c1 subscribes to $": "'$' is no name of a topic; as in: c1 subscribes to orders, refunds",
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
        (["pause"], "'pause' is no event of a scenario; there are Joins, Leaves"),
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
