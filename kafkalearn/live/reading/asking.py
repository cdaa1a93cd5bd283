"""Who is asked what: the brokers that a cluster names, and the one that leads a partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.reading.brokers import Address, Brokers, metadata_request, refuse_error
from kafkalearn.live.requests.apis import find_api
from kafkalearn.live.requests.error_codes import NONE, error_name
from kafkalearn.phrases import listed, shown

NO_BROKER = -1


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a broker knows of its cluster."""

    cluster_id: str
    addresses: dict[int, Address]  # of the brokers that count as alive, by id
    partition_counts: dict[str, int]  # by topic
    leaders: dict[tuple[str, int], int]  # broker ids; partitions without a leader are left out
    topic_ids: dict[str, str]


class Asking:
    """A cluster that is asked; it knows no more than its brokers' addresses."""

    def __init__(self, brokers: Brokers) -> None:
        """Begin with the addresses that were given; nothing is asked yet."""
        self._brokers = brokers
        self._addresses: dict[int, Address] = {}

    def metadata(self, topics: Iterable[str] | None = (), broker_id: int | None = None) -> Metadata:
        """What a broker knows: the brokers that are alive, and of some topics (None: of all) partitions and leaders.

        Parameters
        ----------
        topics : iterable of str or None
            They are not created by asking.
        broker_id : int or None
            Whom to ask; None: whoever answers.

        Raises
        ------
        NoAnswer
            If no broker answers.
        Refused
            If a topic does not exist, or may not be seen.
        """
        addresses = self._askable() if broker_id is None else [self._address_of(broker_id)]
        answer = self._brokers.ask_any(addresses, "Metadata", metadata_request(topics))
        self._addresses |= {each["nodeId"]: (each["host"], each["port"]) for each in answer["brokers"]}
        for topic in answer["topics"]:
            if error_name(topic["errorCode"]) not in (NONE, "LEADER_NOT_AVAILABLE"):
                refuse_error(topic, f"topic {topic['name']!r}")
        return Metadata(
            answer["clusterId"],
            {each["nodeId"]: (each["host"], each["port"]) for each in answer["brokers"]},
            {topic["name"]: len(topic["partitions"]) for topic in answer["topics"]},
            {
                (topic["name"], each["partitionIndex"]): each["leaderId"]
                for topic in answer["topics"]
                for each in topic["partitions"]
                if each["leaderId"] != NO_BROKER
            },
            {topic["name"]: topic["topicId"] for topic in answer["topics"] if "topicId" in topic},
        )

    def topics(self) -> dict[str, int]:
        """How many partitions each topic has, internal topics too, by name."""
        counts = self.metadata(None).partition_counts
        return {topic: counts[topic] for topic in sorted(counts)}

    def _ask_leader(
        self, topic: str, partition: int, name: str, values: dict[str, object], at_most: int | None = None
    ) -> dict[str, object]:
        """The leader's answer, in the newest version that it and we know, but not above `at_most`."""
        known = self.metadata([topic])
        if partition not in range(known.partition_counts.get(topic, 0)):
            last = known.partition_counts.get(topic, 0) - 1
            raise KafkaLearnError(f"topic {topic!r} has partitions 0 to {last}, got {shown(partition)}")
        leader = known.leaders.get((topic, partition))
        if leader is None:
            raise Refused(f"{topic}-{partition} has no leader now", "LEADER_NOT_AVAILABLE")
        version = None if at_most is None else self._version(leader, name, at_most)
        return self._ask(leader, name, values, version)

    def _ask(self, broker_id: int, name: str, values: dict[str, object], version: int | None = None) -> dict:
        return self._brokers.ask(self._address_of(broker_id), name, values, version)

    def _version(self, broker_id: int, name: str, at_most: int) -> int:
        """The newest version of a request that a broker and we know, but not above one."""
        return min(at_most, self._brokers.connection(self._address_of(broker_id)).version_of(find_api(name)))

    def _askable(self) -> list[Address]:
        """Whom to ask when any broker will do, in this order."""
        return list(dict.fromkeys([*self._brokers.first_addresses, *self._addresses.values()]))

    def _address_of(self, broker_id: int) -> Address:
        if broker_id not in self._addresses:
            self.metadata()
        if broker_id not in self._addresses:
            raise NoAnswer(f"there is no broker {broker_id!r}; the cluster names {listed(sorted(self._addresses))}")
        return self._addresses[broker_id]
