"""Who leads each partition of ``__consumer_offsets``: named, dealt out as on an undisturbed cluster, or pasted.

A list of three brokers and the leaders of three partitions look the same. Which is meant is never guessed: leaders
are as many as the topic has partitions, brokers have a name of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.base.checks import LARGEST_INT, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted, shown
from kafkalearn.base.internal_topics import OFFSETS_TOPIC

OFFSETS_PARTITION_COUNT = 50  # offsets.topic.num.partitions, the default of every release

MOST_PARTITIONS = 1_000_000  # of which the leaders are listed
MOST_BROKERS = 100_000
NO_LEADER = ("none", "-1")  # as the tool prints it


def leaders_of(
    leaders: Sequence[int | None] | None = None,
    partition_count: int | None = None,
    *,
    brokers: Sequence[int] | int | None = None,
    describe: str | None = None,
) -> tuple[int | None, ...]:
    """The leader of each partition of the offsets topic, from one of three things that a user may have.

    Parameters
    ----------
    leaders : sequence of int or None
        ``leaders[p]`` is the id of the broker that leads partition ``p``, or None if it has no live leader.
    partition_count : int or None
        Partitions of the topic. None: 50, the default of every release; with `describe`, what the text says.
    brokers : sequence of int, or int
        The brokers of an undisturbed cluster: leaders as `round_robin_leaders` deals them out.
    describe : str
        What ``kafka-topics.sh --describe --topic __consumer_offsets`` prints, of any release, pasted whole.

    Raises
    ------
    KafkaLearnError
        If not exactly one of the three is given, if `leaders` are not as many as there are partitions, or the text
        lacks a partition.

    Examples
    --------
    >>> leaders_of([3, None, 1], partition_count=3), leaders_of(brokers=3)[:4]
    ((3, None, 1), (1, 2, 3, 1))
    """
    ways = {"leaders": leaders, "brokers": brokers, "describe": describe}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        raise KafkaLearnError(
            f"who leads the partitions of {OFFSETS_TOPIC}? Give one of leaders (a broker for each partition), brokers "
            f"(those of an undisturbed cluster) and describe (the text of kafka-topics.sh), got "
            f"{' and '.join(given) or 'none'}"
        )
    if describe is not None:
        return described_leaders(describe, partition_count)
    count = OFFSETS_PARTITION_COUNT if partition_count is None else partition_count
    return _one_for_each(leaders, count) if brokers is None else round_robin_leaders(brokers, count)


def _one_for_each(leaders: object, partition_count: int) -> tuple[int | None, ...]:
    whole_number("partition_count", partition_count, 1, LARGEST_INT)
    given = sequence("leaders", leaders, of="broker ids, one for each partition")
    if not given:
        raise KafkaLearnError(
            "leaders is empty: name the leading broker of each partition of the offsets topic, "
            "for example round_robin_leaders([1, 2, 3])"
        )
    kept = tuple(None if each is None else _broker_id(f"leaders[{place}]", each) for place, each in enumerate(given))
    if len(kept) != partition_count:
        raise KafkaLearnError(
            f"leaders names {counted(len(kept), 'leader')}, and {OFFSETS_TOPIC} has "
            f"{counted(partition_count, 'partition')}: leaders[p] is the broker that leads partition p. "
            f"{_what_was_meant(kept)}; describe= takes the text of kafka-topics.sh --describe --topic {OFFSETS_TOPIC}"
        )
    return kept


def _what_was_meant(leaders: tuple[int | None, ...]) -> str:
    """What to give in place of leaders that are not as many as there are partitions."""
    topic = f"f the topic has {counted(len(leaders), 'partition')}, give partition_count={len(leaders)}"
    if None in leaders or len({*leaders}) < len(leaders):
        return f"I{topic}"
    return f"If these are the brokers of an undisturbed cluster, give brokers={shown([*leaders])}; i{topic}"


def _broker_id(name: str, value: object) -> int:
    if value == -1 and not isinstance(value, bool):
        raise KafkaLearnError(f"{name} is -1; a partition without a leader has None here")
    return whole_number(name, value, 0, LARGEST_INT)


def round_robin_leaders(
    broker_ids: Sequence[int] | int, partition_count: int = OFFSETS_PARTITION_COUNT
) -> tuple[int, ...]:
    """Leaders dealt out in turn, the way an undisturbed cluster without racks spreads them.

    Every broker leads as many partitions as any other, or one more. Which of them begins is chance in a real cluster:
    with ZooKeeper the first leader is drawn, the others follow in turn; since KRaft the brokers are shuffled again
    after each round. So of a group this gives the partition for certain, and its broker only if the first one given
    leads partition 0. Failures move leaders about too. Where you can, give the true ones (`leaders_of`).

    Parameters
    ----------
    broker_ids : sequence of int, or int
        The brokers, the leader of partition 0 first; a number n stands for the brokers 1 to n.
    partition_count : int
        Partitions of the topic, 1 to 1,000,000.

    Raises
    ------
    KafkaLearnError
        If there is no broker, one is named twice, or a number is none.

    Examples
    --------
    >>> round_robin_leaders([1, 2, 3], partition_count=7), round_robin_leaders(5, partition_count=7)
    ((1, 2, 3, 1, 2, 3, 1), (1, 2, 3, 4, 5, 1, 2))

    References
    ----------
    Apache Kafka 0.8.1 to 3.9 with ZooKeeper, ``AdminUtils.assignReplicasToBrokers``; with KRaft to 4.3,
    ``StripedReplicaPlacer``.
    """
    whole_number("partition_count", partition_count, 1, MOST_PARTITIONS)
    brokers = _brokers(broker_ids)
    return tuple(brokers[partition % len(brokers)] for partition in range(partition_count))


def _brokers(broker_ids: object) -> tuple[int, ...]:
    if not isinstance(broker_ids, bool) and hasattr(broker_ids, "__index__") and not isinstance(broker_ids, type):
        return tuple(range(1, whole_number("the number of brokers", broker_ids, 1, MOST_BROKERS) + 1))
    given = sequence("broker_ids", broker_ids, of="broker ids, or a number of brokers")
    if not given:
        raise KafkaLearnError("broker_ids is empty: a cluster has at least one broker")
    brokers = tuple(whole_number(f"broker_ids[{place}]", each, 0, LARGEST_INT) for place, each in enumerate(given))
    if len({*brokers}) < len(brokers):
        raise KafkaLearnError(f"broker_ids names a broker twice: {shown(brokers)}; give each once")
    return brokers


def described_leaders(
    describe: str, partition_count: int | None = None, topic: str = OFFSETS_TOPIC
) -> tuple[int | None, ...]:
    """The leaders that a text of ``kafka-topics --describe`` names.

    A partition has a line of its own, in every release ``Topic: T  Partition: 0  Leader: 1  Replicas: ...``; the line
    before them names the topic and its ``PartitionCount``, up to 2.3 without a blank after the colon.

    Parameters
    ----------
    describe : str
        The text, pasted whole; other topics may be in it.
    partition_count : int or None
        Partitions of the topic. None: what the text says; of the offsets topic 50 where it does not.
    topic : str
        Whose leaders are wanted.

    Returns
    -------
    tuple of int or None
        For each partition the broker that leads it, or None.

    Raises
    ------
    KafkaLearnError
        If the text has no partition of the topic, lacks one, or says something that cannot be.

    Examples
    --------
    >>> described_leaders("Topic: t  Partition: 0  Leader: none  Replicas: 1  Isr:", 1, "t")
    (None,)

    References
    ----------
    Apache Kafka 0.8.1 to 4.3, ``TopicCommand``.
    """
    found: dict[int, int | None] = {}
    stated, others = partition_count, set()
    for line in text("describe", describe).splitlines():
        words = line.replace(":", ": ").split()
        if len(words) < 4 or words[0] != "Topic:":
            continue
        if words[1] != topic:
            others.add(words[1])
        elif words[2] == "Partition:" and words[4:5] == ["Leader:"] and len(words) > 5:
            partition = _number("partition", words[3], line)
            if partition in found:
                raise KafkaLearnError(f"describe names partition {partition} twice: paste the text of one moment")
            found[partition] = None if words[5] in NO_LEADER else _number("leader", words[5], line)
        elif "PartitionCount:" in words[:-1]:
            count = _number("PartitionCount", words[words.index("PartitionCount:") + 1], line)
            if stated not in (None, count):
                raise KafkaLearnError(f"describe says PartitionCount {count}, and partition_count is {stated}")
            stated = count
    if stated is None and topic == OFFSETS_TOPIC:
        stated = OFFSETS_PARTITION_COUNT
    return _whole(found, stated, others, topic)


def described_topics(describe: str) -> tuple[str, ...]:
    """The topics that a text of ``kafka-topics --describe`` is about, in its order.

    >>> described_topics("Topic:orders\tPartitionCount:1\tReplicationFactor:1\tConfigs:")
    ('orders',)
    """
    lines = (line.replace(":", ": ").split() for line in text("describe", describe).splitlines())
    return tuple(dict.fromkeys(words[1] for words in lines if len(words) > 3 and words[0] == "Topic:"))


def _number(what: str, word: str, line: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) <= 10):
        raise KafkaLearnError(
            f"describe has a {what} that is not a number, {shown(word)}, in {shown(line.strip(), 120)}"
        )
    return whole_number(what, int(word), 0, LARGEST_INT)


def _whole(
    found: dict[int, int | None], partition_count: int | None, others: set[str], topic: str
) -> tuple[int | None, ...]:
    if not found:
        of_others = f"; it has those of {shown(sorted(others))}" if others else ""
        raise KafkaLearnError(
            f"describe has no partition of {topic}{of_others}: paste what kafka-topics.sh --describe "
            f"--topic {topic} prints"
        )
    if partition_count is None:
        raise KafkaLearnError(
            f"describe does not say how many partitions {topic} has: paste the line with PartitionCount too, or give "
            "partition_count"
        )
    whole_number("partition_count", partition_count, 1, MOST_PARTITIONS)
    missing = [partition for partition in range(partition_count) if partition not in found]
    if missing or len(found) > partition_count:
        said = f"the first that is missing is {missing[0]}: paste the whole text" if missing else "give partition_count"
        raise KafkaLearnError(
            f"describe names {counted(len(found), 'partition')} of {topic}, which has {partition_count}; {said}"
        )
    return tuple(found[partition] for partition in range(partition_count))
