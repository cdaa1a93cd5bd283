"""`lag --to-catch-up`: how many members a group needs, held to a simulation with the assignments that Kafka makes."""

from math import ceil, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.assignors.members import GroupSpec, Member
from kafkalearn.assignors.registry import BROKER_ASSIGNORS, CLIENT_ASSIGNORS
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.oncall import lag
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.catch_up import Flow, members_for, seconds_of, takes_s
from kafkalearn.oncall.command import main

HEADER = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
KINDS = [*CLIENT_ASSIGNORS.values(), *BROKER_ASSIGNORS.values()]
LONGEST_S = 5000


def look(*rows):
    """What the tool prints: topic, partition, committed, end, owner."""
    return "\n".join([HEADER, *(f"billing {t} {p} {at} {end} {end - at} {who} /h c" for t, p, at, end, who in rows)])


def simulated_s(flows, speed, order):
    """Second by second: what is written arrives, then the member reads, in any order, until nothing waits."""
    waiting = {each.at: each.lag for each in flows}
    for second in range(LONGEST_S + 1):
        if not any(waiting.values()):
            return second
        left = int(speed)
        for each in flows:
            waiting[each.at] += int(each.written)
        for each in order(flows):
            taken = min(left, waiting[each.at])
            waiting[each.at], left = waiting[each.at] - taken, left - taken
    return inf


@st.composite
def groups(draw):
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    flows = [
        Flow(TopicPartition(f"t{topic}", partition), None, draw(st.integers(0, 60)), draw(st.integers(0, 6)), 0.0)
        for topic, count in enumerate(counts)
        for partition in range(count)
    ]
    return flows, counts, draw(st.integers(1, 30)), draw(st.integers(1, len(flows) + 2))


def assigned(kind, counts, members):
    topics = {f"t{number}": count for number, count in enumerate(counts)}
    names = [f"m{number}" for number in range(members)]
    return kind.rule(GroupSpec(topics, tuple(Member(name, tuple(topics)) for name in names)))


@given(groups(), st.sampled_from(KINDS), st.randoms())
def test_no_assignment_of_kafkas_takes_longer_in_a_simulation(group, kind, random):
    flows, counts, speed, members = group
    at_most = takes_s(flows, speed, members)
    by_place = {each.at: each for each in flows}

    for mine in assigned(kind, counts, members).values():
        own = [by_place[at] for at in mine]
        took = simulated_s(own, speed, lambda flows: random.sample(flows, len(flows)))
        assert took <= (at_most if at_most == inf else ceil(at_most)) or at_most > LONGEST_S


@given(groups(), st.randoms())
def test_the_time_of_one_member_is_the_simulations(group, random):
    flows, _, speed, _ = group
    exact = takes_s(flows, speed, 1)
    took = simulated_s(flows, speed, lambda flows: random.sample(flows, len(flows)))

    if any(each.lag for each in flows):
        assert took == (ceil(exact) if exact <= LONGEST_S else inf)


@given(groups())
def test_the_worst_share_is_one_that_a_member_may_get(group):
    """Tried out: all shares of as many partitions as a member gets, of one topic."""
    from itertools import combinations

    flows, _, speed, members = group
    flows = [each for each in flows if each.at.topic == "t0"]
    shares = combinations(flows, ceil(len(flows) / members))
    times = [simulated_s(list(share), speed, list) for share in shares]
    exact = takes_s(flows, speed, members)

    if exact <= LONGEST_S and any(each.lag for each in flows):
        assert max(times) == ceil(exact)


@given(groups(), st.integers(1, 200))
def test_one_member_less_does_not_make_it_and_more_do(group, wanted):
    flows, _, speed, _ = group
    needed = members_for(flows, speed, wanted)

    if needed is None:
        assert takes_s(flows, speed, len(flows)) > wanted
        assert takes_s(flows, speed, 10 * len(flows)) > wanted
    else:
        assert takes_s(flows, speed, needed) <= wanted
        assert needed == 1 or takes_s(flows, speed, needed - 1) > wanted
        assert needed <= len(flows)


FIRST = look(*(("orders", number, 0, 9000, f"c{number // 2}") for number in range(4)))
SECOND = look(*(("orders", number, 500, 9600, f"c{number // 2}") for number in range(4)))


def test_a_group_that_falls_behind_needs_more_members():
    (plan,) = lag([FIRST, SECOND], apart_s=10, to_catch_up_s=1000).plans

    assert (plan.speed, plan.now_s, plan.needed, plan.outcome) == (100.0, inf, 4, Outcome.FOUND)
    assert plan.takes_s == pytest.approx(9100 / 40)
    said = str(plan).splitlines()
    assert said[0] == "billing: 4 members catch up in 3 min 48 s; its 2 members never catch up."


def test_more_members_than_partitions_do_not_help():
    (plan,) = lag([FIRST, SECOND], apart_s=10, to_catch_up_s=60).plans

    assert (plan.needed, plan.outcome) == (None, Outcome.FOUND)
    assert (
        "no number of members catches up in 1 min: 4 members, one a partition, take 3 min 48 s" in plan.sentences()[0]
    )
    assert "more than 4 members do not help" in " ".join(plan.sentences())


def test_members_that_make_it_are_enough():
    slow = look(*(("orders", number, 500, 9010, f"c{number // 2}") for number in range(4)))
    answer = lag([FIRST, slow], apart_s=10, to_catch_up_s=300)

    assert (answer.plans[0].needed, answer.plans[0].outcome, answer.outcome) == (2, Outcome.FINE, Outcome.FINE)
    assert "its 2 members catch up in 2 min 54 s" in str(answer)


def test_a_partition_with_most_of_the_work_is_named():
    rows = [("orders", number, 0, 50_000 if number == 2 else 900, f"c{number}") for number in range(4)]
    later = [(topic, number, 400, end, who) for topic, number, _, end, who in rows]
    (plan,) = lag([look(*rows), look(*later)], apart_s=10, to_catch_up_s=600).plans

    assert [(at.partition, round(share, 2)) for at, share in plan.uneven] == [(2, 0.97)]
    assert plan.needed is None
    assert "orders-2 has 97% of the work, where 25% would be even" in " ".join(plan.sentences())


def test_what_stands_is_no_all_clear():
    rows = [("orders", 0, 0, 5000, "c0"), ("orders", 1, 7, 9, "c0")]
    later = [("orders", 0, 1000, 5000, "c0"), ("orders", 1, 7, 9, "c0")]
    (plan,) = lag([look(*rows), look(*later)], apart_s=10, to_catch_up_s=600).plans

    assert [each.partition for each in plan.standing] == [1]
    assert plan.outcome is Outcome.CANNOT_TELL
    assert "if 1 partition not read now will be" in plan.sentences()[0]


def test_enough_members_of_which_one_has_nothing_to_do():
    rows = [("orders", number, 0, 5000, "-" if number else "c0") for number in range(2)]
    later = [("orders", number, 0 if number else 1000, 5000, "-" if number else "c0") for number in range(2)]
    (plan,) = lag([look(*rows), look(*later)], apart_s=10, to_catch_up_s=600).plans

    assert (plan.needed, plan.now_s) == (1, inf)
    assert plan.sentences()[0].endswith("its 1 member never catches up: nobody owns orders-1")


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (FIRST, FIRST, "nothing was written or read between the looks"),
        (FIRST, SECOND.replace("c1 /h", "c9 /h"), "orders-2 changed its owner between the looks"),
        (SECOND, FIRST, "the offsets of orders-0 went back between the looks"),
        (FIRST, look(*(("orders", number, 9000, 9000, "c0") for number in range(4))), "changed its owner"),
        (look(("orders", 0, 0, 90, "c0")), look(("orders", 0, 90, 150, "c0")), "so close together that less is read"),
        (look(("orders", 0, 0, 90, "c0")), look(("orders", 0, 0, 150, "c0")), "no member is seen to have had work"),
        (look(("orders", 0, 0, 90, "c0")), SECOND, "orders-1 a committed offset or the end of the log is not known"),
        (look(("orders", 0, 100, 90, "c0")), look(("orders", 0, 100, 95, "c0")), "beyond the end of its log"),
    ],
)
def test_what_cannot_be_told_is_said_in_words(before, now, words):
    (plan,) = lag([before, now], apart_s=10, to_catch_up_s=60).plans

    assert plan.outcome is Outcome.CANNOT_TELL
    assert "cannot be told" in plan.sentences()[0]
    assert words in plan.sentences()[0]


def test_a_share_group_and_a_table_without_owners_are_refused_in_words():
    share = (data_directory("lag") / "share.txt").read_text(encoding="utf-8")
    (*_, plan) = lag([share, share], apart_s=10, to_catch_up_s=60).plans
    assert "share group" in plan.sentences()[0]

    bare = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG\nbilling orders 0 {} 90 {}"
    (plan,) = lag([bare.format(0, 90), bare.format(30, 60)], apart_s=10, to_catch_up_s=60).plans
    assert "CONSUMER-ID" in plan.sentences()[0]


def test_one_look_and_no_time_between_are_refused():
    for given_texts, more in (([FIRST], {"apart_s": 10}), ([FIRST, SECOND], {}), ([FIRST, SECOND], {"apart_s": 0})):
        with pytest.raises(KafkaLearnError, match="two looks and the seconds between them"):
            lag(given_texts, to_catch_up_s=60, **more)
    with pytest.raises(KafkaLearnError, match="above 0"):
        lag([FIRST, SECOND], apart_s=10, to_catch_up_s=-1)


@pytest.mark.parametrize(
    ("written", "seconds"), [("10m", 600), ("90", 90), ("2h", 7200), ("15 min", 900), ("0.5s", 0.5)]
)
def test_times_are_read_as_people_write_them(written, seconds):
    assert seconds_of(written) == seconds


@pytest.mark.parametrize("written", ["", "0", "ten", "10x", "-5m", "9999999999", "31d", "1e9", "٣m"])
def test_what_is_no_time_is_refused(written):
    with pytest.raises(KafkaLearnError, match="is no time to catch up in"):
        seconds_of(written)


def test_the_command_says_it_first(tmp_path, capsys):
    for name, said in (("first.txt", FIRST), ("second.txt", SECOND)):
        (tmp_path / name).write_text(said)
    words = ["lag", "--describe", str(tmp_path / "first.txt"), "--describe", str(tmp_path / "second.txt")]

    assert main([*words, "--apart", "10", "--to-catch-up", "10m"]) == 1
    assert capsys.readouterr().out.startswith("billing: 4 members catch up in 3 min 48 s")
    assert main([*words, "--to-catch-up", "10m"]) == 2
    assert main([*words, "--apart", "10", "--to-catch-up", "soon"]) == 2
