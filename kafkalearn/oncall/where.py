"""Where is it: the partition of a key, a group or a transactional id, and the broker that leads that partition."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafkalearn.base.checks import LARGEST_INT, iterable, key_bytes, one_of, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.base.internal_topics import OFFSETS_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC
from kafkalearn.base.tables import text_table
from kafkalearn.coordinator.leaders import described_leaders, described_topics, round_robin_leaders
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.oncall.answer import FORMATS, Answer, Outcome, cut, key_from, lines_of, text_of, text_width, wrapped
from kafkalearn.oncall.options import add_bootstrap, cluster_of, described, file_argument
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.releases.lines import DEFAULT_RELEASE

if TYPE_CHECKING:
    from kafkalearn.live.cluster import Cluster
    from kafkalearn.oncall.shapes import WhereData
DEFAULT_PARTITION_COUNT = 50  # offsets.topic.num.partitions, transaction.state.log.num.partitions: of every release
KEY, GROUP, TRANSACTIONAL_ID, SHARE = "key", "group", "transactional-id", "share"
KINDS = {
    GROUP: (OFFSETS_TOPIC, "coordinator"),
    KEY: (None, "leader"),
    TRANSACTIONAL_ID: (TRANSACTIONS_TOPIC, "coordinator"),
    SHARE: (SHARE_STATE_TOPIC, "share coordinator"),
}
"""What can be asked for: the topic that holds it (None: the reader's own), and what its broker is called."""


def where(
    names: str | bytes | Iterable[str | bytes | None],
    kind: str = GROUP,
    *,
    topic: str | None = None,
    partition_count: int | None = None,
    describe: str | None = None,
    brokers: Sequence[int] | int | None = None,
    cluster: Cluster | None = None,
    partitioner: str | Sequence[str] = "java",
    release: str = DEFAULT_RELEASE,
) -> Where:
    """The partition of groups, keys, transactional ids or share-partitions, and who leads it where that is known.

    Parameters
    ----------
    names : str, bytes, or an iterable of them
        Groups and transactional ids are text. Keys are bytes, a text stands for its UTF-8; None is a record without a
        key. A share-partition is ``group:topicId:partition``, or with a cluster and `topic` the group alone, which
        stands for all partitions of the topic.
    kind : str
        A name in `KINDS`: ``"group"``, ``"key"``, ``"transactional-id"``, ``"share"``.
    topic : str or None
        Of keys; None: the only one in `describe`, or not known. Of share-partitions the one whose id the cluster says.
    partition_count : int or None
        None: what `describe` or the cluster says; else of groups and transactional ids 50, the default of every
        release.
    describe : str or None
        What ``kafka-topics.sh --describe`` prints, of any release, pasted whole; of groups also what
        ``kafka-consumer-groups.sh --describe --state`` prints, which names the coordinator itself.
    brokers : sequence of int, or int
        The brokers of an undisturbed cluster, as for `kafkalearn.coordinator.round_robin_leaders`.
    cluster : Cluster or None
        A running cluster, `kafkalearn.live.connect`; only its metadata are read.
    partitioner : str or sequence of str
        Of keys: clients or rules by name, in `kafkalearn.oncall.where.CLIENTS`.
    release : str
        Of the Java producer, for a record without a key.

    Raises
    ------
    KafkaLearnError
        If the number of partitions cannot be known, a name is not legal, or what was given contradicts itself.

    Examples
    --------
    >>> print(where("billing", brokers=[1, 2, 3]))
    group billing: partition 9 of the 50 of __consumer_offsets; its coordinator is
    broker 1
    The brokers are those of an undisturbed cluster where broker 1 leads partition
    0; of a real one its --describe says who leads.
    >>> print(where("TT0124", "key", partition_count=15, partitioner=["java", "librdkafka"]))
    a topic of 15 partitions:
    key     partition  by
    TT0124  10         java
    TT0124  9          librdkafka
    These clients disagree about 1 key: its records lie in 2 partitions, in no
    order.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``GroupCoordinatorService.partitionFor``, ``TransactionStateManager.partitionFor`` and
    ``BuiltInPartitioner.partitionForKey``, since 4.2 ``ShareCoordinatorService.partitionFor``; for other clients see
    `kafkalearn.oncall.where.CLIENTS`.
    """
    one_of("kind", kind, KINDS)
    if describe is not None:
        text("describe", describe)
    given = _names("names", names)
    if not given:
        raise KafkaLearnError(f"give at least one {kind}")
    if kind == SHARE:
        given, topic = share_keys(given, topic, cluster), None
    topic = topic_of(kind, topic, describe)
    if kind == GROUP and describe is not None and (said := described_coordinators(describe)):
        return _by_their_coordinators(given, said, count_of(kind, partition_count))
    leaders, leaders_from, notes = leaders_for(kind, topic, partition_count, describe, brokers, cluster)
    count = len(leaders) if leaders is not None else count_of(kind, partition_count)
    clients = [client_named(name) for name in _names("partitioner", partitioner)]
    if not clients:
        raise KafkaLearnError("give at least one partitioner")
    places = []
    for name in given:
        if kind != KEY:
            places.append(_place(text(kind, name), None, offsets_partition(text(kind, name), count), leaders))
            continue
        key = key_from(name) if isinstance(name, str) else None if name is None else key_bytes("key", name)
        for client in clients:
            places.append(_place(_key_text(key), client.name, client.partition(key, count), leaders))
    if any(each.partition is None for each in places):
        notes = (*notes, _without_key(release))
    return Where(kind, topic, count, tuple(places), leaders_from, notes)


_TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{22}")


def _is_share_key(name: object) -> bool:
    group, topic_id, number = ["", "", "", *str(name).rsplit(":", 2)][-3:]
    is_number = number.removeprefix("-").isdecimal()
    return isinstance(name, str) and bool(group) and is_number and _TOPIC_ID.fullmatch(topic_id) is not None


def share_keys(names: Sequence[object], topic: str | None, cluster: Cluster | None) -> tuple[str, ...]:
    """The keys by which share coordinators are found, of keys or, with a topic of a cluster, of groups.

    >>> share_keys(["billing:A6AUkuaxQAm4bUDDQCKT_A:0"], None, None)
    ('billing:A6AUkuaxQAm4bUDDQCKT_A:0',)

    Raises
    ------
    KafkaLearnError
        If a name is no such key, or the cluster has no such topic.

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``SharePartitionKey.validate``: an answer INVALID_REQUEST to FindCoordinator.
    """
    if topic is None:
        for each in names:
            if not _is_share_key(each):
                raise KafkaLearnError(
                    f"{shown(each)} is no share-partition; that is group:topicId:partition, the id as kafka-topics.sh "
                    "--describe prints it (TopicId); or name the group, and give the topic (--topic) and a cluster "
                    "(--bootstrap), which knows its id"
                )
        return tuple(map(str, names))
    if cluster is None:
        raise KafkaLearnError("the id of a topic is known to a cluster alone: give one (--bootstrap) with the topic")
    known = cluster.metadata([text("topic", topic)])
    if topic not in known.topic_ids or topic not in known.partition_counts:
        raise KafkaLearnError(f"the cluster has no topic {shown(topic)}")
    topic_id = known.topic_ids[topic]
    groups = [text(GROUP, each) for each in names]
    return tuple(f"{each}:{topic_id}:{number}" for each in groups for number in range(known.partition_counts[topic]))


_COORDINATOR = re.compile(r"(?<=\s)\S{1,260}:\d{1,5}\s{1,40}+\((?P<broker>\d{1,10})\)(?!\S)")


def described_coordinators(describe: str) -> dict[str, int]:
    """The coordinator of each group in what ``kafka-consumer-groups --describe --state`` prints; empty: it is none.

    >>> described_coordinators("GROUP COORDINATOR (ID) STATE\\nbilling kafka-2:9092 (2) Stable")
    {'billing': 2}
    """
    lines = describe.splitlines()
    begins = next((at for at, line in enumerate(lines) if "GROUP" in line and "COORDINATOR (ID)" in line), None)
    if begins is None:
        return {}
    rows = ((line, _COORDINATOR.search(line)) for line in map(str.strip, lines[begins + 1 :]))
    return {line[: row.start()].rstrip(): int(row["broker"]) for line, row in rows if row is not None}


def _by_their_coordinators(names: Iterable[object], said: Mapping[str, int], count: int) -> Where:
    """The answer from a tool that names the coordinators itself."""
    places = []
    for each in names:
        name = text(GROUP, each)
        if name not in said:
            raise KafkaLearnError(f"describe has no coordinator of group {shown(name)}; it has {listed([*said][:10])}")
        places.append(Place(name, None, offsets_partition(name, count), said[name], True))
    note = f"The coordinators are those that the tool names; partitions are of {count}, the default of {OFFSETS_TOPIC}."
    return Where(GROUP, OFFSETS_TOPIC, count, tuple(places), "describe", (note,))


def _names(what: str, names: object) -> tuple:
    """One name, or several."""
    is_one = names is None or isinstance(names, str | bytes | bytearray)
    return (names,) if is_one else tuple(iterable(what, names, of="names"))


def _place(name: str, by: str | None, partition: int | None, leaders: tuple[int | None, ...] | None) -> Place:
    if leaders is None or partition is None:
        return Place(name, by, partition, None, None)
    return Place(name, by, partition, leaders[partition], leaders[partition] is not None)


def _key_text(key: bytes | None) -> str:
    """A key as it is shown: text where it is text that can be printed, else hexadecimal."""
    if key is None:
        return "(no key)"
    written = key.decode("utf-8", "replace")
    return written if written.isprintable() and "\ufffd" not in written and written else f"0x{key.hex()}"


def _without_key(release: str) -> str:
    """What Java's producer does with a record that has no key."""
    from kafkalearn.partitioning.keyless import RULES, rule_of  # half of the start, and seldom asked for

    return f"Without a key it is the producer's choice; Java's of {release}: {RULES[rule_of(release)]}."


# The topic that holds what is asked for, and who leads its partitions, from whatever says so.


def topic_of(kind: str, topic: str | None, describe: str | None) -> str | None:
    """The topic that is meant: that of the kind, the one that was named, or the only one that was pasted."""
    own = KINDS[kind][0]
    if own is not None:
        if topic not in (None, own):
            raise KafkaLearnError(f"a {kind} is in {own}, and topic is {shown(topic)}; leave topic away")
        return own
    if topic is None and describe is not None:
        pasted = described_topics(describe)
        if len(pasted) != 1:
            raise KafkaLearnError(
                f"describe has {listed(pasted[:10], nothing='no topic')}; "
                f"{'say which with topic (--topic)' if pasted else 'paste what kafka-topics.sh --describe prints'}"
            )
        return pasted[0]
    return None if topic is None else text("topic", topic)


_MADE_BY = {
    OFFSETS_TOPIC: "joined a group or committed",
    TRANSACTIONS_TOPIC: "begun a transaction",
    SHARE_STATE_TOPIC: "joined a share group",
}
"""Topics of Kafka's own, and what a client does for the first time when they are made."""


def leaders_for(
    kind: str,
    topic: str | None,
    partition_count: int | None,
    describe: str | None,
    brokers: Sequence[int] | int | None,
    cluster: Cluster | None,
) -> tuple[tuple[int | None, ...] | None, str | None, tuple[str, ...]]:
    """Who leads each partition, from where that is known, and what is to be said about it."""
    given = {"describe": describe, "brokers": brokers, "cluster": cluster}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise KafkaLearnError(f"give one of describe, brokers and cluster, got {listed(named)}")
    if describe is not None:
        assert topic is not None, "what is pasted has named it"
        is_old = f"Topic:{topic}\t" in describe or f"Topic:{topic} " in describe
        notes = ("A tool before 2.4 may name a leader that is gone.",) if is_old else ()
        return described_leaders(describe, partition_count, topic), "describe", notes
    if brokers is not None:
        dealt = round_robin_leaders(brokers, count_of(kind, partition_count))
        note = (
            f"The brokers are those of an undisturbed cluster where broker {dealt[0]} leads partition 0; of a real one "
            "its --describe says who leads."
        )
        return dealt, "brokers", (note,)
    if cluster is not None:
        if topic is None:
            raise KafkaLearnError("which topic of the cluster? Give topic (--topic)")
        if topic in _MADE_BY and topic not in cluster.topics():
            first = _MADE_BY[topic]
            raise KafkaLearnError(
                f"this cluster has no {topic} yet: nobody has ever {first} there, so nothing has a coordinator. "
                f"It is made at the first such request, with {DEFAULT_PARTITION_COUNT} partitions by default; "
                "--partitions without --bootstrap says where a name will be"
            )
        known = cluster.metadata([topic])
        count = known.partition_counts[topic]
        if partition_count not in (None, count):
            raise KafkaLearnError(
                f"{topic} has {counted(count, 'partition')} there, and partition_count is {partition_count}"
            )
        return tuple(known.leaders.get((topic, partition)) for partition in range(count)), "cluster", ()
    return None, None, ()


def count_of(kind: str, partition_count: int | None) -> int:
    """The number of partitions: what is given, else the default of the topics of Kafka's own."""
    if partition_count is None and kind == KEY:
        raise KafkaLearnError(
            "how many partitions has the topic? Give partition_count (--partitions), what kafka-topics.sh --describe "
            "prints (--describe), or a cluster and the topic (--bootstrap, --topic)"
        )
    count = DEFAULT_PARTITION_COUNT if partition_count is None else partition_count
    return whole_number("partition_count", count, 1, LARGEST_INT)


# Which rule a client partitions keyed records by if nobody configures it, and how its own settings name the rules.


@dataclass(frozen=True, slots=True)
class Client:
    """A client's rule: the partitioner for a key, and whether an empty key counts as no key."""

    name: str
    partitioner: str  # a name in `PARTITIONERS`
    is_empty_no_key: bool = False

    def partition(self, key: bytes | None, partition_count: int) -> int | None:
        """The partition of a key; None: for this client the record has no key.

        >>> client_named("librdkafka").partition(b"TT0124", 15), client_named("java").partition(b"TT0124", 15)
        (9, 10)
        """
        if key is None or (not key and self.is_empty_no_key):
            return None
        return partition_for_key(key, partition_count, self.partitioner)


CLIENTS: MappingProxyType[str, Client] = MappingProxyType(
    {
        client.name: client
        for client in (
            Client("java", "murmur2"),
            Client("kafka-python", "murmur2"),
            Client("aiokafka", "murmur2"),
            Client("franz-go", "murmur2"),
            Client("librdkafka", "crc32", is_empty_no_key=True),
            Client("confluent-kafka", "crc32", is_empty_no_key=True),
            Client("kcat", "crc32", is_empty_no_key=True),
            Client("kafkajs", "murmur2"),
            Client("node-rdkafka", "crc32", is_empty_no_key=True),
            Client("confluent-kafka-dotnet", "crc32", is_empty_no_key=True),
            Client("confluent-kafka-go", "crc32", is_empty_no_key=True),
            Client("confluent-kafka-python", "crc32", is_empty_no_key=True),
            Client("confluent-kafka-javascript", "murmur2"),
            Client("kafka-javascript", "murmur2"),
            Client("php-rdkafka", "crc32", is_empty_no_key=True),
            Client("kafka_ex", "murmur2"),
            Client("rust-rdkafka", "crc32", is_empty_no_key=True),
            Client("karafka", "crc32", is_empty_no_key=True),
            Client("ruby-kafka", "crc32"),
            Client("sarama", "fnv1a"),
            Client("consistent", "crc32"),
            Client("consistent_random", "crc32", is_empty_no_key=True),
            Client("murmur2_random", "murmur2"),
            Client("fnv1a_random", "fnv1a"),
            *(Client(name, name) for name in PARTITIONERS),
        )
    }
)
"""Clients with their defaults, the values of librdkafka's ``partitioner``, and the rules of `PARTITIONERS`, by name.

References
----------
Apache Kafka 4.3, ``BuiltInPartitioner``; kafka-python and aiokafka, ``DefaultPartitioner``; franz-go,
``StickyKeyPartitioner``; KafkaJS 2, ``DefaultPartitioner`` (of 1.x ``JavaCompatiblePartitioner``); librdkafka 2.16
and those that stand on it, ``partitioner`` in its CONFIGURATION.md; ruby-kafka, ``Partitioner``; Sarama,
``NewHashPartitioner``; confluent-kafka-javascript, its guide from KafkaJS; KafkaEx 1.0, ``Partitioner.Default``.
"""


_WITHOUT_A_RULE: Mapping[str, str] = MappingProxyType(
    {
        "kafka-go": "kafka-go deals records out in turn, whatever their keys are, unless its Balancer says otherwise: "
        "Hash is sarama's rule, CRC32Balancer librdkafka's, Murmur2Balancer java's; give the rule of yours",
        "brod": "brod has no default: whoever calls it names the partition, or a partitioner; its hash is Erlang's "
        "phash2, which only Erlang has",
    }
)
"""Clients that put no record by its key if nobody configures it."""


def client_named(name: str) -> Client:
    """The client of that name in `CLIENTS`.

    Raises
    ------
    KafkaLearnError
        If it is none of them, and the message names the nearest; or if that client has no rule by itself.
    """
    plain = name.rpartition("/")[2] if isinstance(name, str) else name  # IBM/sarama, as a repository is called
    if plain in _WITHOUT_A_RULE:
        raise KafkaLearnError(_WITHOUT_A_RULE[plain])
    return CLIENTS[one_of("partitioner", plain, CLIENTS)]


# The answer in words.


@dataclass(frozen=True, slots=True)
class Place:
    """Where one of the things asked for is."""

    name: str  # a key as text where it is text, else in hexadecimal with 0x before it
    partitioner: str | None  # None: of a group or a transactional id
    partition: int | None  # None: a record without a key has no partition of its own
    broker: int | None  # None: nobody leads the partition, or nothing says who does
    has_leader: bool | None  # None: nothing was given that says who leads


@dataclass(frozen=True)
class Where(Answer):
    """The answer to `where`: a place for each name and partitioner, in the order in which they were given."""

    kind: str  # a name in `KINDS`
    topic: str | None
    partition_count: int
    places: tuple[Place, ...]
    leaders_from: str | None  # where the brokers are known from; None: they are not
    notes: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """Found: a partition without a leader, or clients that disagree; cannot tell: a record without a key."""
        if self.offline or self.disagreeing:
            return Outcome.FOUND
        return Outcome.CANNOT_TELL if any(each.partition is None for each in self.places) else Outcome.FINE

    @property
    def offline(self) -> tuple[int, ...]:
        """Of the partitions found those without a leader."""
        known = ((each.partition, each.has_leader) for each in self.places)
        return tuple(sorted({number for number, has_leader in known if number is not None and has_leader is False}))

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """The keys that two of the partitioners asked for write to two partitions."""
        return tuple(name for name, partitions in self._partitions_of.items() if len(partitions) > 1)

    @cached_property
    def _partitions_of(self) -> Mapping[str, set[int | None]]:
        found: dict[str, set[int | None]] = {}
        for each in self.places:
            found.setdefault(each.name, set()).add(each.partition)
        return found

    def as_data(self) -> WhereData:
        """As `Answer.as_data`."""
        return {
            "kind": self.kind,
            "topic": self.topic,
            "partition_count": self.partition_count,
            "places": [*map(asdict, self.places)],
            "leaders_from": self.leaders_from,
            "notes": [*self.notes],
            "offline": [*self.offline],
            "disagreeing": [*self.disagreeing],
        }

    def __str__(self) -> str:
        """One thing in a sentence, several as a table, and what is to be known about them."""
        what = KINDS[self.kind][1]
        said = [self._sentence(self.places[0])] if len(self.places) == 1 else [*self._table()]
        if self.disagreeing:
            is_one, most = len(self.disagreeing) == 1, max(len(self._partitions_of[each]) for each in self.disagreeing)
            spread = f"{'its' if is_one else 'their'} records lie in {'' if is_one else 'up to '}{most} partitions"
            keys = counted(len(self.disagreeing), "key")
            said.append(wrapped(f"These clients disagree about {keys}: {spread}, in no order."))
        if self.offline:
            is_one = len(self.offline) == 1
            partitions = f"Partition{'' if is_one else 's'} {listed(self.offline)} {'has' if is_one else 'have'}"
            said.append(
                wrapped(f"{partitions} no leader, so there is no {what}: clients ask again until a replica is back.")
            )
        return "\n".join([*said, *map(wrapped, self.notes)])

    def _sentence(self, place: Place) -> str:
        where = "any partition" if place.partition is None else f"partition {place.partition}"
        of = f" of the {self.partition_count} of {self.topic}" if self.topic else f" of {self.partition_count}"
        by = "" if place.partitioner is None else f" (by {place.partitioner})"
        broker = "" if place.broker is None else f"; its {KINDS[self.kind][1]} is broker {place.broker}"
        return wrapped(f"{self.kind} {cut(place.name, 40)}: {where}{of}{by}{broker}")

    def _table(self) -> tuple[str, str]:
        rows = []
        for each in self.places:
            row = {self.kind: each.name, "partition": "any" if each.partition is None else each.partition}
            if self.leaders_from:
                row[KINDS[self.kind][1]] = "none" if each.broker is None else each.broker
            if each.partitioner is not None:
                row["by"] = each.partitioner
            rows.append(row)
        others = sum(
            2 + max(len(str(each)) for each in (name, *(row[name] for row in rows))) for name in [*rows[0]][1:]
        )
        longest = max(8, text_width() - others)
        for row in rows:
            row[self.kind] = cut(str(row[self.kind]), longest)
        return wrapped(f"{self.topic or 'a topic'} of {counted(self.partition_count, 'partition')}:"), text_table(rows)


# The command line.


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    parser.add_argument("kind", choices=[*KINDS], help="what is asked for")
    parser.add_argument("names", nargs="*", metavar="NAME", help="groups, keys, transactional ids or share-partitions")
    file_argument(parser, "--file", help="names from a file, one a line; - is standard input")
    parser.add_argument("--partitions", type=int, metavar="N", help="of the topic; else 50 for groups")
    parser.add_argument("--topic", help="the topic of keys, in what --describe or --bootstrap says; of a share group")
    file_argument(parser, "--describe", help="what kafka-topics --describe prints, in a file; - is standard input")
    parser.add_argument("--brokers", metavar="1,2,3", help="the brokers of an undisturbed cluster, or how many")
    keys = parser.add_argument_group("keys")
    keys.add_argument("--format", choices=[*FORMATS], default="text", help="how the keys are written; text is UTF-8")
    keys.add_argument(
        "--partitioner",
        action="append",
        choices=[*CLIENTS],
        metavar="NAME",
        help=f"a client or its rule, several to compare them: {', '.join(CLIENTS)}; without one, java",
    )
    keys.add_argument("--no-key", action="store_true", help="a record without a key")
    keys.add_argument("--release", default=DEFAULT_RELEASE, help="of the Java producer, for --no-key")
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Where:
    """Ask `kafkalearn.oncall.where`."""
    if options.file == options.describe == STANDARD_INPUT:
        raise KafkaLearnError("standard input is one of --file and --describe; put the other into a file")
    names = [*options.names, *([] if options.file is None else lines_of(text_of(options.file, "a file of names")))]
    if options.no_key and options.kind != KEY:
        raise KafkaLearnError("--no-key is for keys: kafkalearn where key --no-key")
    if not names and not options.no_key:
        raise KafkaLearnError(f"which {options.kind}? Name one, for example: kafkalearn where {GROUP} billing")
    things = [key_from(name, options.format) for name in names] if options.kind == KEY else names
    describe = described(options)
    with cluster_of(options) as cluster:
        return where(
            [*things, *([None] if options.no_key else [])],
            options.kind,
            topic=options.topic,
            partition_count=options.partitions,
            describe=describe,
            brokers=_brokers(options.brokers),
            cluster=cluster,
            partitioner=options.partitioner or ["java"],
            release=options.release,
        )


def _brokers(written: str | None) -> list[int] | int | None:
    """``1,2,3`` are brokers, ``3`` is how many there are."""
    if written is None:
        return None
    try:
        ids = [int(each) for each in written.split(",")]
    except ValueError:
        raise KafkaLearnError(f"--brokers is 1,2,3 or a number of brokers, got {written!r}") from None
    return ids if len(ids) > 1 else ids[0]
