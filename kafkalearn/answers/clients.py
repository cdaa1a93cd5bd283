"""Which rule a client partitions keyed records by if nobody configures it, and how its own settings name the rules."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key


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
``StickyKeyPartitioner``; librdkafka 2.16, ``partitioner`` in its CONFIGURATION.md; Sarama, ``NewHashPartitioner``.
"""


def client_named(name: str) -> Client:
    """The client of that name in `CLIENTS`.

    Raises
    ------
    KafkaLearnError
        If it is none of them; the message names the nearest.
    """
    return CLIENTS[one_of("partitioner", name, CLIENTS)]
