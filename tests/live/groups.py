"""Groups for the live tests: real consumers that join one after the other, and the random cases of the mechanisms.

Of real consumers the test waits each time until all have settled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import TopicPartition

from conformance.mechanism import Case, Mechanism, TooSlow
from conformance.running import asked_until_equal
from conformance.search import Difference, find_difference
from kafkalearn.live import Kafka
from kafkalearn.live.cluster import DescribedGroup
from kafkalearn.live.errors import wait_for

TIMEOUT_S = 120.0
PASSED_OVER = "too slow"


class ConsumerGroup:
    """The consumers of one group, by their client ids."""

    def __init__(self, kafka: Kafka, group_id: str, topics: dict[str, int], **config: object) -> None:
        self.kafka, self.group_id, self.topics, self.config = kafka, group_id, topics, config
        self.consumers: dict = {}
        kafka.coordinator(group_id)

    def join(self, client_id: str, topics: Sequence[str] = (), **own: object) -> DescribedGroup:
        """One more consumer, of all topics or of these; the group as it stands when all have settled."""
        self.consumers[client_id] = self.kafka.consumer(self.group_id, client_id=client_id, **{**self.config, **own})
        self.consumers[client_id].subscribe(list(topics or self.topics))
        return self.settle()

    def leave(self, client_id: str) -> DescribedGroup | None:
        """One consumer less; None if none is left."""
        self.consumers.pop(client_id).close()
        return self.settle() if self.consumers else None

    def commit(self, client_id: str, offset: int) -> None:
        """Commit this offset for every partition that a consumer has."""
        consumer = self.consumers[client_id]
        offsets = [TopicPartition(each.topic, each.partition, offset) for each in consumer.assignment()]
        consumer.commit(offsets=offsets, asynchronous=False)

    def close(self) -> None:
        for client_id in list(self.consumers):
            self.consumers.pop(client_id).close()

    def settle(self) -> DescribedGroup:
        """Wait until every partition is assigned, and each consumer has what the coordinator says that it has."""
        return wait_for(self._polled, self._is_settled, f"group {self.group_id!r} settled", TIMEOUT_S)

    def _polled(self) -> DescribedGroup:
        for consumer in self.consumers.values():
            consumer.poll(0.01)
        return self.kafka.group(self.group_id)

    def _is_settled(self, group: DescribedGroup) -> bool:
        assigned = {member.client_id: list(member.assignment) for member in group.members}
        known = {
            client_id: sorted((each.topic, each.partition) for each in consumer.assignment())
            for client_id, consumer in self.consumers.items()
        }
        return (
            group.state == "Stable"
            and {name: [tuple(each) for each in places] for name, places in assigned.items()} == known
            and sum(map(len, known.values())) == sum(self.topics.values())
        )


def differences(
    mechanism: Mechanism, kafka: Kafka, new_name: Callable[[str], str], seed: int, count: int, at_once: int = 1
) -> list[Difference]:
    """Cases of a mechanism, drawn at random, where a broker and the simulator still part after all tries."""
    line, cases = kafka.release.line, []
    find_difference(mechanism, line, cases.append, seed, count)

    def played(case: Case) -> Difference | str | None:
        try:
            return asked_until_equal(mechanism, line, case, lambda each: mechanism.ask(kafka, each, new_name))
        except TooSlow:
            return PASSED_OVER

    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(played, cases))
    assert found.count(PASSED_OVER) < len(cases), "this machine is too slow to be asked anything"
    return [each for each in found if each not in (None, PASSED_OVER)]
