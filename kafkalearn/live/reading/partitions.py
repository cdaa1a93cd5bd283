"""A partition as the controller has recorded it: leader, epoch, replicas, ISR, eligible leader replicas."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.reading.asking import NO_BROKER, Asking
from kafkalearn.live.reading.brokers import metadata_request, refuse_error


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What the controller has recorded of a partition, as one broker knows it."""

    leader: int | None  # None: the partition is offline
    leader_epoch: int
    replicas: tuple[int, ...]  # in the order in which leaders are preferred
    isr: tuple[int, ...]
    elr: tuple[int, ...]  # eligible leader replicas; empty where there are none, or the broker is older than 4.0
    last_known_elr: tuple[int, ...]
    offline: tuple[int, ...]  # replicas whose broker does not count as alive


class ReadsPartitions(Asking):
    """Partitions, read."""

    def partition(self, topic: str, partition: int, broker_id: int | None = None) -> PartitionState:
        """The state of a partition.

        Parameters
        ----------
        topic, partition : str, int
            Which one.
        broker_id : int or None
            Whom to ask: each broker knows what it has heard from the controller. None: whoever answers.

        Raises
        ------
        NoAnswer, Refused
            If no broker answers, or there is no such topic.
        """
        addresses = self._askable() if broker_id is None else [self._address_of(broker_id)]
        if addresses and self._brokers.knows(addresses[0], "DescribeTopicPartitions"):
            cursor = {"topicName": topic, "partitionIndex": partition}
            words = {"topics": [{"name": topic}], "cursor": cursor, "responsePartitionLimit": 1}
            answer = self._brokers.ask_any(addresses, "DescribeTopicPartitions", words)
        else:
            answer = self._brokers.ask_any(addresses, "Metadata", metadata_request([topic]))
        found = next((each for each in answer["topics"] if each["name"] == topic), None)
        if found is not None:
            refuse_error(found, f"topic {topic!r}")
        state = next(
            (each for each in (found or {}).get("partitions", ()) if each["partitionIndex"] == partition), None
        )
        if state is None:
            raise KafkaLearnError(f"topic {topic!r} has no partition {partition!r}")
        return PartitionState(
            None if state["leaderId"] == NO_BROKER else state["leaderId"],
            state["leaderEpoch"],
            tuple(state["replicaNodes"]),
            tuple(sorted(state["isrNodes"])),
            tuple(sorted(state.get("eligibleLeaderReplicas") or ())),
            tuple(sorted(state.get("lastKnownElr") or ())),
            tuple(sorted(state["offlineReplicas"])),
        )
