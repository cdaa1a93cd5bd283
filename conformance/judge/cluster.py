"""Somebody's cluster that is written to: under one prefix, and cleaned up; what its answers lack is noted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from conformance.mechanism import CannotBeAsked, create_by_request, is_made_by_request
from conformance.mechanisms.consumer_groups import LEAVE
from kafkalearn.base.errors import listed, shown
from kafkalearn.formats.wire import Undecodable
from kafkalearn.live.cluster import CONSUMER
from kafkalearn.live.errors import NoAnswer, NotReached, Refused, wait_for
from kafkalearn.live.jars import find_release
from kafkalearn.live.reading import Address, Brokers, metadata_request, parse_addresses
from kafkalearn.live.request_values import NONE, consumer_heartbeat, error_name, leave_group
from kafkalearn.live.requests import CLIENT_ID, Connection, find_api, security_of
from kafkalearn.live.used_cluster import UsedCluster

TIMEOUT_S = 10.0
GONE_TIMEOUT_S, ROUNDS = 5.0, 3
NEWEST_WITH_TOPIC_NAMES = 5  # of DeleteTopics


class CarefulBrokers(Brokers):
    """Connections to brokers that may not answer as Kafka does: what cannot be read is noted, an older version asked.

    ``unreadable`` has the answers that did not have the fields of their version, by request and version.
    """

    def __init__(self, *arguments: object, **words: object) -> None:
        """Nothing is asked yet."""
        super().__init__(*arguments, **words)
        self.unreadable: dict[str, str] = {}
        self._newest: dict[str, int] = {}

    def ask(
        self,
        address: Address,
        name: str,
        values: Mapping[str, object],
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, object]:
        """As `Brokers.ask`; if the answer cannot be read and no version was wanted, the next older one is asked."""
        api = find_api(name)
        while True:
            chosen = self.connection(address).version_of(api, version)
            if version is None:
                chosen = min(chosen, self._newest.get(name, chosen))
            try:
                return super().ask(address, name, values, chosen, timeout_s)
            except Undecodable as error:
                self.unreadable.setdefault(f"{name} version {chosen}", str(error))
                if version is not None or chosen <= api.oldest:
                    raise
                self._newest[name] = chosen - 1


class JudgedCluster(UsedCluster):
    """A cluster of somebody else's that may be written to.

    Parameters
    ----------
    addresses : str
        As ``bootstrap.servers`` has them.
    config : mapping
        A client's settings: security is passed on to all requests and clients.
    release : str
        The release line whose rules the cluster is held to.
    prefix : str
        What the names of all topics and groups begin with.
    """

    def __init__(self, addresses: str, config: Mapping[str, object], release: str, prefix: str) -> None:
        """Nothing is asked yet."""
        self._careful = CarefulBrokers(parse_addresses(addresses), security_of(config), TIMEOUT_S)
        super().__init__(self._careful)
        self.bootstrap = addresses
        self.release = find_release(release)
        self.prefix = prefix
        self._config = dict(config)
        self._numbers = count(1)

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The answers that did not have the fields of their version, by request and version."""
        return self._careful.unreadable

    def new_name(self, kind: str) -> str:
        """A name with the prefix that nothing else has."""
        return f"{self.prefix}-{kind}-{next(self._numbers)}"

    # --- topics

    def create_topic(
        self,
        topic: str,
        partitions: int = 1,
        replicas: int = 1,
        assignment: Sequence[Sequence[int]] | None = None,  # a foreign cluster places replicas itself
        config: Mapping[str, object] | None = None,
    ) -> None:
        """Create a topic; a cluster that takes no such request may make it by itself when it is asked about it.

        Raises
        ------
        CannotBeAsked
            If it makes no such topic in either way.
        """
        if is_made_by_request(self):
            create_by_request(self, topic, partitions, config or {}, replicas)
        else:
            self._have_it_made(topic, partitions, config or {})
        wait_for(lambda: len(self.metadata([topic]).leaders) >= partitions, True, f"leaders of {topic!r}:")

    def _have_it_made(self, topic: str, partitions: int, config: Mapping[str, object]) -> None:
        if config:
            raise CannotBeAsked("it takes no CreateTopics, so no topic with settings can be made")
        values = {**metadata_request([topic]), "allowAutoTopicCreation": True}

        def made() -> int:
            (found,) = self._careful.ask_any(self._askable(), "Metadata", values)["topics"]
            return len(found["partitions"]) if error_name(found["errorCode"]) == NONE else 0

        there = wait_for(made, lambda number: number > 0, f"topic {topic!r}", TIMEOUT_S)
        if partitions not in (1, there):
            raise CannotBeAsked(
                f"it takes no CreateTopics, and the topics that it makes by itself have {there} partitions; "
                f"{partitions} were wanted"
            )

    # --- clients, with the security settings of the user

    def admin(self, **config: object) -> AdminClient:
        """confluent-kafka's AdminClient."""
        return super().admin(**self._underscored(config))

    def producer(self, **config: object) -> Producer:
        """confluent-kafka's Producer."""
        return super().producer(**self._underscored(config))

    def consumer(self, group_id: str, **config: object) -> Consumer:
        """confluent-kafka's Consumer."""
        return super().consumer(group_id, **self._underscored(config))

    def _underscored(self, config: Mapping[str, object]) -> dict[str, object]:
        return {**{name.replace(".", "_"): value for name, value in self._config.items()}, **config}

    def connection(self, broker_id: int, client_id: str = CLIENT_ID) -> Connection:
        """A connection of its own to a broker."""
        return Connection(*self._address_of(broker_id), self._careful.security, TIMEOUT_S, client_id)

    def _running_ids(self) -> list[int]:
        """The brokers that count as alive, once there are any: one under load may be taken for dead for a moment."""
        return wait_for(lambda: sorted(self.metadata().addresses), bool, "a broker that counts as alive")

    # --- cleaning up

    def remove_all(self) -> list[str]:
        """Delete every topic and group with the prefix; what is still there, and why."""
        left = []
        for what, listing, deleting, names, remove in (
            ("groups", "ListGroups", "DeleteGroups", self._own_groups, self._delete_groups),
            ("topics", "Metadata", "DeleteTopics", self._own_topics, self._delete_topics),
        ):
            try:
                unknown = [request for request in (listing, deleting) if not self._all_know(request)]
                if unknown:
                    left.append(f"{what} {self.prefix}-*: the brokers take no {listed(unknown, last='or')}")
                else:
                    left += self._removed(what, names, remove)
            except (NoAnswer, NotReached, Refused, Undecodable) as error:
                left.append(f"{what} {self.prefix}-*: {error}")
        return left

    def _removed(self, what: str, names: Callable[[], list[str]], remove: Callable[[list[str]], str]) -> list[str]:
        """Delete what is there, again if need be, and wait until it is gone; what is not."""
        found, reason = names(), ""
        for _ in range(ROUNDS):
            reason = remove(found) if found else reason
            deadline = time.monotonic() + GONE_TIMEOUT_S
            while found and time.monotonic() < deadline:
                found = names()
        return [f"{len(found)} {what}, {shown(found[0])} and so on: {reason or 'they do not go'}"] if found else []

    def _all_know(self, request: str) -> bool:
        return all(self.knows(broker_id, request) for broker_id in self._running_ids())

    def _own_topics(self) -> list[str]:
        return [name for name in self.topics() if name.startswith(self.prefix)]

    def _own_groups(self) -> list[str]:
        return [group.group_id for group in self.groups() if group.group_id.startswith(self.prefix)]

    def _delete_topics(self, names: list[str]) -> str:
        broker = self._running_ids()[0]
        version = self.version(broker, "DeleteTopics", NEWEST_WITH_TOPIC_NAMES)
        values = {"topicNames": names, "timeoutMs": int(GONE_TIMEOUT_S * 1000)}
        answers = self.ask(broker, "DeleteTopics", values, version, 2 * GONE_TIMEOUT_S)["responses"]
        return _reason(answers)

    def _delete_groups(self, names: list[str]) -> str:
        """By requests of our own: clients in C take the letter of code 0 for the end of an id."""
        answers = []
        for name in names:
            broker = self._find_coordinator(name)
            with suppress(Refused):  # it has gone meanwhile
                self._send_away(broker, name)
            answers += self.ask(broker, "DeleteGroups", {"groupsNames": [name]})["results"]
        return _reason(answers)

    def _send_away(self, broker: int, group_id: str) -> None:
        """Let all members leave a group: one that has any is not deleted."""
        group = self.group(group_id)
        for each in group.members:
            if group.type == CONSUMER:
                values = consumer_heartbeat(group_id, each.member_id, LEAVE, instance_id=each.instance_id)
                self.ask(broker, "ConsumerGroupHeartbeat", values)
            else:
                self.ask(broker, "LeaveGroup", leave_group(group_id, {each.member_id: each.instance_id}))


def _reason(answers: list[dict]) -> str:
    """The errors of some answers, each once; empty if there is none."""
    names = dict.fromkeys(error_name(each["errorCode"]) for each in answers)
    return ", ".join(name for name in names if name != NONE)
