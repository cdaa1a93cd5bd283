"""The clients that users have, confluent-kafka's, set up for a cluster on loopback that may lose brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live.errors import Refused

FAST: Mapping[str, object] = {
    "log_level": 0,  # else a client of a dead broker prints several lines a second
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
}
"""What every client gets unless it is given otherwise."""

AT_ONCE: Mapping[str, object] = {"linger.ms": 0, "enable.idempotence": False, "sticky.partitioning.linger.ms": 0}
"""What the producer of `send_records` gets: a batch for each record, and nothing sent twice unless it is asked for."""

TIMEOUT_S = 60.0


def client_config(bootstrap: str, config: Mapping[str, object]) -> dict[str, Any]:
    """The configuration of a client: where the cluster is, what makes it fast, and what is given."""
    return {"bootstrap.servers": bootstrap, **FAST, **config}


def admin_client(bootstrap: str, config: Mapping[str, object]) -> AdminClient:
    """An AdminClient; keep it in a variable until its futures are done."""
    return AdminClient(client_config(bootstrap, config))


def producer(bootstrap: str, config: Mapping[str, object]) -> Producer:
    """A Producer."""
    return Producer(client_config(bootstrap, config))


def consumer(bootstrap: str, group_id: str, config: Mapping[str, object]) -> Consumer:
    """A Consumer of a group, which begins at the start of the log and commits only when it is asked to."""
    own = {"group.id": group_id, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    return Consumer(client_config(bootstrap, {**own, **config}))


def create_topic(
    bootstrap: str,
    name: str,
    partitions: int,
    replicas: int,
    assignment: Sequence[Sequence[int]] | None,
    config: Mapping[str, object],
) -> None:
    """Create a topic.

    Raises
    ------
    Refused
        If the cluster refuses; the message is Kafka's.
    """
    texts = _texts(config)
    if assignment is None:
        topic = NewTopic(name, num_partitions=partitions, replication_factor=replicas, config=texts)
    else:
        lists = [list(each) for each in assignment]
        topic = NewTopic(name, num_partitions=len(lists), replica_assignment=lists, config=texts)
    admin = admin_client(bootstrap, {})
    (future,) = admin.create_topics([topic], request_timeout=TIMEOUT_S).values()
    _wait(future, f"topic {name!r} is not created")


def alter_topic(bootstrap: str, topic: str, config: Mapping[str, object]) -> None:
    """Change settings of a topic.

    Raises
    ------
    Refused
        If the cluster refuses; the message is Kafka's.
    """
    change = AlterConfigOpType.SET
    entries = [ConfigEntry(name, value, incremental_operation=change) for name, value in _texts(config).items()]
    admin = admin_client(bootstrap, {})
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    (future,) = admin.incremental_alter_configs([resource], request_timeout=TIMEOUT_S).values()
    _wait(future, f"topic {topic!r} is not changed")


def send_records(
    bootstrap: str,
    topic: str,
    records: Iterable[tuple[bytes | None, bytes | None, int | None]],
    partition: int,
    config: Mapping[str, object],
    timeout_s: float,
) -> list[int | str]:
    """Send records one after the other, each in a batch of its own, and wait for the answer to each.

    Parameters
    ----------
    bootstrap : str
        Where the cluster is.
    topic : str
        Where to.
    records : iterable of (key, value, timestamp in milliseconds)
        None as a timestamp: now.
    partition : int
        -1: as the producer's partitioner decides.
    config : mapping
        Of the producer, over `AT_ONCE`.
    timeout_s : float
        For all of them.

    Returns
    -------
    list of int or str
        For each record its offset, or Kafka's name of the error.
    """
    own = producer(bootstrap, {**AT_ONCE, **config})
    results: list[int | str] = []

    def note(error: KafkaError | None, message: Message) -> None:
        result = error.name() if error else message.offset()
        assert result is not None, "a record that was taken has an offset"
        results.append(result)

    for key, value, timestamp_ms in records:
        stamped: dict[str, Any] = {} if timestamp_ms is None else {"timestamp": timestamp_ms}
        own.produce(topic, value, key, partition, note, **stamped)
        own.flush(timeout_s)
    if own.flush(timeout_s):
        raise KafkaLearnError(
            f"not every record to {topic!r} was answered in {timeout_s:.0f} s; set delivery.timeout.ms below that"
        )
    return results


def _texts(config: Mapping[str, object]) -> dict[str, str]:
    """Settings as Kafka writes them."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in config.items()}


def _wait(future: Future, otherwise: str) -> None:
    """Wait for the cluster's answer; if it is an error, `otherwise` says what has not come about."""
    try:
        future.result(TIMEOUT_S)
    except KafkaException as error:
        reason = error.args[0]
        raise Refused(f"{otherwise}: {reason.name()} ({reason.str()})", reason.name()) from None
