"""Which fetcher of a broker serves a partition, by one formula; and where Scala puts a fetcher in its map."""

from __future__ import annotations

from kafkalearn.arguments import LARGEST_INT, text, whole_number
from kafkalearn.hashing import MASK_32, int32, java_string_hash, kafka_abs


def fetcher_id(topic: str, partition: int, num_consumer_fetchers: int = 1) -> int:
    """The number of the fetcher that serves a partition, among those that go to the same broker.

    Parameters
    ----------
    topic : str
        The topic's name.
    partition : int
        The partition's number.
    num_consumer_fetchers : int
        ``num.consumer.fetchers`` of the old consumer, or ``num.replica.fetchers`` of a follower: the rule is the same.

    Returns
    -------
    int
        From 0 up to, but not with, `num_consumer_fetchers`.

    Raises
    ------
    KafkaLearnError
        If there is no such partition, or no fetcher.

    Examples
    --------
    >>> [fetcher_id("orders", partition, 3) for partition in range(5)]  # the hash is negative: abs turns it round
    [2, 1, 0, 2, 1]

    Neighbours part ways; first partitions of several topics may meet:

    >>> fetcher_id("orders", 0, 4), fetcher_id("clicks", 0, 4)
    (1, 1)

    References
    ----------
    Apache Kafka 0.8.2 to 1.1.1, ``AbstractFetcherManager.getFetcherId``.
    """
    text("topic", topic)
    whole_number("partition", partition, 0, LARGEST_INT)
    whole_number("num_consumer_fetchers", num_consumer_fetchers, 1, LARGEST_INT)
    return kafka_abs(int32(31 * java_string_hash(topic) + partition)) % num_consumer_fetchers


PRODUCT_SEED = 0xCAFEBABE  # MurmurHash3.productSeed


def fetcher_hash(broker_id: int, fetcher_id: int) -> int:
    """The hash code of a broker's id with a fetcher's: the order in which fetchers are asked and stopped follows it.

    >>> from kafkalearn.zookeeper.scala_maps import mutable_order
    >>> mutable_order([(1, 1), (2, 0), (1, 0)], lambda key: fetcher_hash(*key))
    [(1, 0), (2, 0), (1, 1)]

    References
    ----------
    Apache Kafka 1.1.1, ``BrokerIdAndFetcherId``; Scala 2.11, ``scala.runtime.Statics.mix`` and ``finalizeHash``.
    """
    mixed = PRODUCT_SEED
    for each in (broker_id, fetcher_id):
        scrambled = _rotate_left(each * 0xCC9E2D51 & MASK_32, 15) * 0x1B873593 & MASK_32
        mixed = _rotate_left(mixed ^ scrambled, 13) * 5 + 0xE6546B64 & MASK_32
    mixed ^= 2  # as many fields
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & MASK_32
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & MASK_32
    return mixed ^ mixed >> 16


def _rotate_left(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & MASK_32
