"""Where is it: the partition of a key, a group or a transactional id, and the broker that leads that partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from kafkalearn.answers.answer import Answer, Outcome, text_width, wrapped
from kafkalearn.answers.clients import client_named
from kafkalearn.answers.leading import GROUP, KEY, KINDS, count_of, leaders_for, topic_of
from kafkalearn.answers.names import key_from
from kafkalearn.arguments import iterable, key_bytes, one_of, text
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted, listed
from kafkalearn.tables.text import text_table
from kafkalearn.versions.releases import DEFAULT_RELEASE

if TYPE_CHECKING:
    from kafkalearn.live.reading.cluster import Cluster


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
        return tuple(sorted({each.partition for each in self.places if each.has_leader is False}))

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """The keys that two of the partitioners asked for write to two partitions."""
        partitions: dict[str, set[int | None]] = {}
        for each in self.places:
            partitions.setdefault(each.name, set()).add(each.partition)
        return tuple(name for name, found in partitions.items() if len(found) > 1)

    def as_data(self) -> dict[str, object]:
        """As `Answer.as_data`."""
        own = {"offline": [*self.offline], "disagreeing": [*self.disagreeing]}
        return {**asdict(self), "places": [*map(asdict, self.places)], "notes": [*self.notes], **own}

    def __str__(self) -> str:
        """One thing in a sentence, several as a table, and what is to be known about them."""
        what = KINDS[self.kind][1]
        said = [self._sentence(self.places[0])] if len(self.places) == 1 else [*self._table()]
        if self.disagreeing:
            keys = counted(len(self.disagreeing), "key")
            said.append(
                wrapped(f"These clients disagree about {keys}: its records lie in two partitions, in no order.")
            )
        if self.offline:
            partitions = (
                f"Partition {self.offline[0]} has"
                if len(self.offline) == 1
                else f"Partitions {listed(self.offline)} have"
            )
            said.append(
                wrapped(f"{partitions} no leader, so there is no {what}: clients ask again until a replica is back.")
            )
        return "\n".join([*said, *map(wrapped, self.notes)])

    def _sentence(self, place: Place) -> str:
        where = "any partition" if place.partition is None else f"partition {place.partition}"
        of = f" of the {self.partition_count} of {self.topic}" if self.topic else f" of {self.partition_count}"
        by = "" if place.partitioner is None else f" (by {place.partitioner})"
        broker = "" if place.broker is None else f"; its {KINDS[self.kind][1]} is broker {place.broker}"
        return wrapped(f"{self.kind} {_cut(place.name, 40)}: {where}{of}{by}{broker}")

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
        for row in rows:
            row[self.kind] = _cut(row[self.kind], max(8, text_width() - others))
        return wrapped(f"{self.topic or 'a topic'} of {counted(self.partition_count, 'partition')}:"), text_table(rows)


def _cut(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 3]}..."


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
    """The partition of groups, keys or transactional ids, and who leads it where that is known.

    Parameters
    ----------
    names : str, bytes, or an iterable of them
        Groups and transactional ids are text. Keys are bytes, a text stands for its UTF-8; None is a record without a
        key.
    kind : str
        A name in `KINDS`: ``"group"``, ``"key"``, ``"transactional-id"``.
    topic : str or None
        Of keys; None: the only one in `describe`, or not known.
    partition_count : int or None
        None: what `describe` or the cluster says; else of groups and transactional ids 50, the default of every
        release.
    describe : str or None
        What ``kafka-topics.sh --describe`` prints, of any release, pasted whole.
    brokers : sequence of int, or int
        The brokers of an undisturbed cluster, as for `kafkalearn.coordinator.round_robin_leaders`.
    cluster : Cluster or None
        A running cluster, `kafkalearn.live.connect`; only its metadata are read.
    partitioner : str or sequence of str
        Of keys: clients or rules by name, in `kafkalearn.answers.clients.CLIENTS`.
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
    These clients disagree about 1 key: its records lie in two partitions, in no
    order.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``GroupCoordinatorService.partitionFor``, ``TransactionStateManager.partitionFor`` and
    ``BuiltInPartitioner.partitionForKey``; for other clients see `kafkalearn.answers.clients.CLIENTS`.
    """
    one_of("kind", kind, KINDS)
    if describe is not None:
        text("describe", describe)
    given = _names("names", names)
    if not given:
        raise KafkaLearnError(f"give at least one {kind}")
    topic = topic_of(kind, topic, describe)
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


def _without_key(release: str) -> str:
    """What Java's producer does with a record that has no key."""
    from kafkalearn.partitioning.keyless.settings import RULES, rule_of  # half of the start, and seldom asked for

    return f"Without a key it is the producer's choice; Java's of {release}: {RULES[rule_of(release)]}."


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
