import pytest

from kafkalearn.assignors import Member, OldConsumer, assign, broken_laws, compare, random_rebalance, rebalance, rejoin
from kafkalearn.assignors.carrying_out import GroupChanged
from kafkalearn.base.errors import KafkaLearnError
from tests.assignor.groups import TODAY

A, B = Member("A", ["t"]), Member("B", ["t"])
AN_ID = "AAAAAAAAAAEAAAAAAAAAAQ"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: assign("sticki", {"t": 1}, [A]), "unknown assignor 'sticki'; did you mean 'sticky'"),
        (lambda: assign("range", {"t": 1}, [A, A]), "two members have the id 'A'"),
        (lambda: assign("range", {"t": -1}, [A]), "the number of partitions of 't' must be at least 0, got -1"),
        (lambda: assign("range", {"t": "3"}, [A]), "the number of partitions of 't' must be a whole number"),
        (lambda: assign("range", ["t"], [A]), "partition_counts must map each topic"),
        (lambda: assign("range", {"t": 10**9}, [A]), "partitions of 't' must be at most 2,000,000, got 1000000000"),
        (lambda: assign("sticky", {"t": 10**5000}, [A]), "got a whole number of about 5,001 digits"),
        (
            lambda: assign("uniform", {f"t{number}": 2**20 for number in range(3)}, [A]),
            "the number of partitions of all topics must be at most 2,000,000",
        ),
        (lambda: assign("range", {"t": 1}, ["A"]), "members must be Member objects"),
        (lambda: assign("range", {"t": 1}, "A"), "members must be a collection of members, got str 'A'"),
        (lambda: assign("range", {"t": 1}, A), "members must be a collection of members, got Member"),
        (lambda: rebalance("range", ["t"], [A], [A]), "partition_counts must map each topic"),
        (lambda: rebalance("range", {"t": 2**31}, [A], [A]), "at most 2,000,000"),
        (lambda: rebalance("range", {"t": 200_001}, [A], [A]), "of a rebalance must be at most 200,000, got 200001"),
        (lambda: GroupChanged("A"), "members must be a collection of members, got str 'A'"),
        (lambda: GroupChanged(["A"]), r"members\[0\] must be Member, got str 'A'"),
        (lambda: random_rebalance(1, most_partitions=2**31), "most_partitions must be at most 500,000"),
        (lambda: random_rebalance(1, most_members=10**9), "most_members must be at most 10,000"),
        (lambda: random_rebalance(1, alike_share=float("nan")), "alike_share must be a number of at least 0"),
        (lambda: assign("range", {"t": 1}, [OldConsumer("C", {"t": 1})]), "range assigns to Member objects"),
        (lambda: assign("range", {"t": 1}, [A], side="old-consumer"), "range assigns to OldConsumer objects"),
        (
            lambda: rebalance("range", {"t": 1}, [OldConsumer("C", {"t": 1})], [A]),
            "members must be Member objects, got OldConsumer",
        ),
        (lambda: assign("sticky", {"t": 1}, [A], release="3.7"), "sticky is modelled as it is from Kafka 3.8 to 4.3"),
        (
            lambda: assign("range", {"t": 1}, [], side="old-consumer", release="2.0"),
            "from Kafka 0.8.2 to 1.1, got release 2.0",
        ),
        (lambda: assign("range", {"t": 1}, [], side="brocker"), "unknown side 'brocker'; did you mean 'broker'"),
        (lambda: assign("sticky", {"t": 1}, [], side="broker"), "unknown assignor of the broker 'sticky'"),
        (lambda: assign("range", {"t": 1}, [A], release="5.0"), "unknown release '5.0'"),
        (lambda: Member("A", "t"), "topics of member 'A' must be a sequence of names, got the text 't'"),
        (lambda: Member("A", ["t", "t"]), "member 'A' subscribes twice to one topic"),
        (lambda: Member("A", [None]), "topic must be a str, got NoneType None"),
        (lambda: Member(b"A", ["t"]), "member_id must be a str, got bytes b'A'"),
        (lambda: Member("A", ["t"], [("t", 0), ("t", 0)]), "member 'A' owns a partition twice"),
        (lambda: Member("A", ["t"], ["t-0"]), "owned of member 'A' must hold pairs of topic and partition"),
        (lambda: Member("A", ["t"], generation=1.5), "generation must be a whole number"),
        (lambda: Member("A", None), "topics must be a collection of names, got NoneType None"),
        (
            lambda: Member("A", ["t"], "t-0"),
            "owned must be a collection of pairs of topic and",
        ),
        (lambda: Member("A", ["t"], generation=2**31), "generation must be at most 2,147,483,647"),
        (lambda: OldConsumer("C", {"t": 2**31}), "the number of streams of 't' must be at most 10,000"),
        (lambda: OldConsumer("C", "t"), "stream_counts must map each topic to a number of threads, got 't'"),
        (lambda: OldConsumer("C", {"t": 0}), "the number of streams of 't' must be at least 1, got 0"),
        (
            lambda: assign(
                "range", {"t": 1}, [Member("A", ["t"], instance_id="i"), Member("B", ["t"], instance_id="i")]
            ),
            "two members have the instance id 'i'; Kafka fences the older one",
        ),
        (
            lambda: assign("sticky", {"t": 1}, [Member("A", ["t"], [("t", 5)])]),
            "member 'A' owns t-5, but t has 1 partitions; if the topic was created again, leave the old ownership out",
        ),
        (
            lambda: assign("uniform", {"t": 1}, [A], topic_ids={"u": AN_ID}),
            r"topic_ids has no id of 't'; it has \['u'\]",
        ),
        (
            lambda: assign("uniform", {"t": 1}, [A], topic_ids={"t": "x"}),
            "the id of topic 't' must be as Kafka prints it",
        ),
        (
            lambda: assign("uniform", {"t": 1, "u": 1}, [A], topic_ids={"t": AN_ID, "u": AN_ID}),
            "two topics have the same id",
        ),
        (
            lambda: assign("uniform", {"t": 1}, [Member("A", ["t"], [("t", 0)]), Member("B", ["t"], [("t", 0)])]),
            "t-0 is in the target of 'A' and of 'B'",
        ),
        (lambda: rejoin("cooperative", [A], {}, generation=1), "did you mean 'cooperative-sticky'"),
        (lambda: broken_laws({"t": 1}, [A], {}, promise="fair"), "unknown promise 'fair'"),
        (lambda: compare("range", {"t": 1}, [A], [A]), "assignors must be a collection of names, got str 'range'"),
        (lambda: broken_laws(["t"], [A], {}), "partition_counts must map each topic"),
        (lambda: broken_laws({"t": "all"}, [A], {}), "the number of partitions of 't' must be a whole number"),
        (lambda: assign("range", {"t": 1}, [A], side=["client"]), r"unknown side \['client'\]"),
    ],
)
def test_what_no_group_could_be_is_refused_with_the_reason(ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask()


@pytest.mark.parametrize(("side", "assignor"), TODAY)
def test_a_group_without_members_and_one_without_topics_are_assigned_nothing(side, assignor):
    assert assign(assignor, {"t": 3}, [], side=side) == {}
    assert assign(assignor, {}, [A, B], side=side) == {"A": (), "B": ()}
    assert assign(assignor, {"t": 0}, [A, B], side=side) == {"A": (), "B": ()}


@pytest.mark.parametrize(("side", "assignor"), TODAY)
def test_what_is_owned_of_a_topic_that_is_gone_is_forgotten(side, assignor):
    members = [Member("A", ["t", "gone"], [("gone", 4), ("t", 1)], 1), B]
    assignment = assign(assignor, {"t": 2}, members, side=side)
    assert {partition.topic for owned in assignment.values() for partition in owned} == {"t"}
