"""What cannot be sent, or cannot be, is refused where it is written down, with what came and what is allowed."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import (
    ConsumerGroupHeartbeat,
    OffsetCommit,
    Settings,
    TimePassed,
    TopicChanged,
    join,
    simulate,
)

ID, OTHER_ID = "AAAAAAAAAAEAAAAAAAAAAQ", "AAAAAAAAAAEAAAAAAAAAAg"

REFUSED = {
    "a topic for a collection": (lambda: join("A", "orders"), "topics must be a list or tuple of names of topics"),
    "a set of topics": (lambda: join("A", {"orders"}), "topics must be a list or tuple of names of topics, got set"),
    "a number for topics": (lambda: join("A", 7), "topics must be a list or tuple of names of topics, got int 7"),
    "a topic that is no text": (lambda: join("A", ["orders", None]), "topic must be a str, got NoneType None"),
    "half a character": (lambda: join("A", ["\ud800"]), "has a lone surrogate"),
    "a member id of bytes": (lambda: join(b"A", ["orders"]), "member_id must be a str, got bytes b'A'; decode it"),
    "a member id that is none": (lambda: join(None, ["orders"]), "member_id must be a str, got NoneType None"),
    "an instance id of a number": (lambda: join("A", ["orders"], instance_id=7), "instance_id must be a str"),
    "an assignor that is no text": (lambda: join("A", ["orders"], assignor=["range"]), "assignor must be a str"),
    "a timeout below 0": (lambda: join("A", [], rebalance_timeout_ms=-1), "rebalance_timeout_ms must be at least 0"),
    "a timeout of 2**31": (lambda: join("A", [], rebalance_timeout_ms=2**31), "must be at most 2,147,483,647"),
    "an epoch of 5,000 digits": (
        lambda: ConsumerGroupHeartbeat("A", 10**5000),
        "member_epoch must be at most 2,147,483,647, got a whole number of about 5,001 digits",
    ),
    "an epoch that is no number": (lambda: ConsumerGroupHeartbeat("A", "2"), "member_epoch must be a whole number"),
    "partitions as a text": (
        lambda: ConsumerGroupHeartbeat("A", 2, owned="orders-0"),
        "owned must be a collection of pairs of topic and partition, got str 'orders-0'",
    ),
    "partitions that are texts": (
        lambda: ConsumerGroupHeartbeat("A", 2, owned=["orders-0"]),
        "owned must hold pairs of topic and partition, got 'orders-0'",
    ),
    "a partition below 0": (lambda: OffsetCommit("A", 2, [("orders", -1)]), "the partition of 'orders' must be at"),
    "a partition without a topic": (lambda: OffsetCommit("A", 2, [(0, 0)]), "topic must be a str, got int 0"),
    "a commit of the future": (lambda: OffsetCommit("A", 2, [], version=11), "version must be at most 10, got 11"),
    "a commit of the past": (lambda: OffsetCommit("A", 2, [], version=1), "version must be at least 2, got 1"),
    "a topic with a blank": (lambda: TopicChanged("my orders", 1), r"must have 1 to 249 letters, digits, '\.', '_'"),
    "a topic that is gone": (lambda: TopicChanged("orders@1", 1), "topic 'orders@1' must have 1 to 249 letters"),
    "a topic without a name": (lambda: TopicChanged("", 1), "topic '' must have 1 to 249 letters"),
    "a topic of 10**9 partitions": (lambda: TopicChanged("t", 10**9), "partitions of 't' must be at most 20,000"),
    "a time of 10**18 ms": (lambda: TimePassed(10**18), "ms must be at most 31,622,400,000"),
    "a time that is no number": (lambda: TimePassed("1 s"), "ms must be a whole number of at least 0, got str '1 s'"),
    "an assignor for a collection": (
        lambda: Settings(assignors="uniform"),
        "assignors must be a list or tuple of names",
    ),
    "no assignor": (lambda: Settings(assignors=()), "assignors is empty; a broker has at least one of uniform, range"),
    "partitions of 2**31": (lambda: Settings(topics={"t": 2**31}), "partitions of 't' must be at most 20,000"),
    "partitions in all": (
        lambda: Settings(topics={"a": 15_000, "b": 15_000}),
        "the number of partitions of all topics must be at most 20,000, got 30000",
    ),
    "a session of 2**31": (lambda: Settings(session_timeout_ms=2**31), "session_timeout_ms must be at most"),
    "ids of some topics": (
        lambda: Settings(topics={"a": 1, "b": 1}, topic_ids={"a": ID}),
        r"topic_ids has no id of 'b'; it has \['a'\]",
    ),
    "an id that is none": (
        lambda: Settings(topic_ids={"orders": "x"}),
        "the id of topic 'orders' must be as Kafka prints",
    ),
    "one id for two": (
        lambda: Settings(topics={"a": 1, "b": 1}, topic_ids={"a": ID, "b": ID}),
        "two topics have the same id",
    ),
    "ids that are no mapping": (lambda: Settings(topic_ids="orders"), "topic_ids must map each topic to its id"),
}


@pytest.mark.parametrize(("make", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_no_client_could_send_and_no_cluster_be_is_refused_with_the_reason(make, reason):
    with pytest.raises(KafkaLearnError, match=reason):
        make()


def test_a_name_that_is_given_twice_counts_once_and_plain_pairs_are_partitions():
    beat = ConsumerGroupHeartbeat("A", 2, ["t", "u", "t"], owned=[("t", 0), ("t", 0), ["u", 1]])
    assert beat.topics == ("t", "u")
    assert beat.owned == (TopicPartition("t", 0), TopicPartition("u", 1))


MAKES_NO_SENSE = {
    "a new topic without an id": (Settings(topic_ids={"orders": ID}), [TopicChanged("t", 1)], "a new topic needs one"),
    "a topic made anew without an id": (
        Settings(topic_ids={"orders": ID}),
        [TopicChanged("orders", None), TopicChanged("orders", 6)],
        "a new topic needs one",
    ),
    "a topic made anew with the old id": (
        Settings(topic_ids={"orders": ID}),
        [TopicChanged("orders", None), TopicChanged("orders", 6, ID)],
        "another topic has this id",
    ),
    "a topic that grows under another id": (
        Settings(topic_ids={"orders": ID}),
        [TopicChanged("orders", 7, OTHER_ID)],
        f"the topic has the id '{ID}' until it is deleted",
    ),
    "an id where no topic has one": (Settings(), [TopicChanged("t", 1, ID)], "the settings give no ids of topics"),
    "more partitions than can be told of": (
        Settings(),
        [TopicChanged("t", 19_000), TopicChanged("u", 19_000)],
        "the topics would have 38,006 partitions, 20,000 at most",
    ),
}


@pytest.mark.parametrize(("settings", "events", "reason"), MAKES_NO_SENSE.values(), ids=MAKES_NO_SENSE)
def test_a_topic_that_cannot_be_so_is_refused_with_the_reason(settings, events, reason):
    with pytest.raises(IllegalEvent, match=reason):
        simulate(settings, events)


def test_a_topic_named_in_the_settings_ids_may_come_later():
    settings = Settings(topic_ids={"orders": ID, "clicks": OTHER_ID})
    group = simulate(settings, [TopicChanged("clicks", 3)])[-1].state
    assert [topic.topic_id for topic in group.topics] == [OTHER_ID, ID]
