"""Where a record with a key lands: key bytes -> hash -> partition, by the partitioner of each client.

Kafka's brokers never look at a key: the *producer* picks the partition, so two clients that hash differently
write the same key to two partitions, and the order of that key's records is gone. `PARTITIONERS` holds the rules
in use, and two that are in use by mistake. `moved_share` says how many keys change their partition when the number of
partitions changes; that rule is the same for group ids and ``__consumer_offsets``.

A record without a key goes where the producer likes: see `kafkalearn.partitioning.keyless`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from types import MappingProxyType

from kafkalearn.base.checks import LARGEST_INT, key_bytes, one_of, whole_number
from kafkalearn.base.hashing import (
    MASK_32,
    crc32,
    fnv1a,
    int32,
    java_abs,
    java_remainder,
    murmur2,
    spark_hash,
    to_positive,
)

PARTITIONERS: MappingProxyType[str, Callable[[bytes, int], int]] = MappingProxyType(
    {
        "murmur2": lambda key, n: to_positive(murmur2(key)) % n,
        "crc32": lambda key, n: crc32(key) % n,
        "fnv1a": lambda key, n: java_abs(java_remainder(int32(fnv1a(key)), n)),
        "murmur2-unmasked": lambda key, n: (murmur2(key) & MASK_32) % n,
        "spark": lambda key, n: spark_hash(key) % n,
    }
)
"""The rules by name: `murmur2` is the Java client (librdkafka `murmur2`, `murmur2_random`), `crc32` is
librdkafka's default (`consistent`, `consistent_random`), `fnv1a` is Sarama's (librdkafka `fnv1a`),
`murmur2-unmasked` takes the hash as unsigned and forgets ``& 0x7fffffff``, `spark` is the shuffle of Spark SQL
(``pmod(hash(key), n)``), which decides which task gets a row and has nothing to do with Kafka's partitions."""


def partition_for_key(key: bytes, partition_count: int, partitioner: str = "murmur2") -> int:
    """The partition that a producer picks for a keyed record.

    Parameters
    ----------
    key : bytes
        The key after serialisation; the same text in two encodings is two keys. Empty is a key, None is not.
        (librdkafka's `consistent_random` alone treats an empty key as no key.)
    partition_count : int
        All partitions of the topic, at least 1, whether available or not.
    partitioner : str
        A name in `PARTITIONERS`; without one, the Java producer's.

    Returns
    -------
    int
        Partition id in ``[0, partition_count)``.

    Raises
    ------
    KafkaLearnError
        If `key` is not bytes, `partition_count` is below 1, or the partitioner is unknown.

    Examples
    --------
    >>> partition_for_key(b"user-42", 6)
    4
    >>> partition_for_key(b"user-42", 7)  # one more partition, and the key moves
    1
    >>> {name: partition_for_key(b"abcd", 10, name) for name in PARTITIONERS}
    {'murmur2': 0, 'crc32': 9, 'fnv1a': 3, 'murmur2-unmasked': 8, 'spark': 0}

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``BuiltInPartitioner.partitionForKey`` (before 3.3 ``DefaultPartitioner``) and
    ``Utils.murmur2``; librdkafka 2.16, ``rdkafka_partitioner``.
    """
    key = key_bytes("key", key)
    whole_number("partition_count", partition_count, 1, LARGEST_INT)
    return PARTITIONERS[one_of("partitioner", partitioner, PARTITIONERS)](key, partition_count)


def moved_share(before: int, after: int) -> Fraction:
    """The share of all hash values h with ``h % before != h % after``.

    Both remainders repeat every ``lcm(before, after)`` hash values. They are equal for exactly
    ``min(before, after)`` of those: the values below both counts.

    Parameters
    ----------
    before, after : int
        Partition counts, at least 1.

    Returns
    -------
    Fraction
        In [0, 1). Of keys whose hashes are spread evenly this share moves.

    Raises
    ------
    KafkaLearnError
        If a count is not a whole number of at least 1.

    Examples
    --------
    >>> moved_share(6, 12), moved_share(6, 7)  # doubling moves half, one more moves nearly all
    (Fraction(1, 2), Fraction(6, 7))
    """
    whole_number("before", before, at_least=1)
    whole_number("after", after, at_least=1)
    return 1 - Fraction(min(before, after), lcm(before, after))
