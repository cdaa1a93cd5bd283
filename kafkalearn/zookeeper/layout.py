"""Where everything lies in ZooKeeper: the paths of the nodes, the ids of consumers and threads, the content of nodes.

====================================================  ===========  ==========================================
path                                                  kind         content
====================================================  ===========  ==========================================
``/consumers/<group>/ids/<consumer id>``              ephemeral    JSON: what it subscribes to
``/consumers/<group>/owners/<topic>/<partition>``     ephemeral    the id of the thread that owns it
``/consumers/<group>/offsets/<topic>/<partition>``    persistent   the committed offset, in decimal digits
``/brokers/ids/<broker id>``                          ephemeral    JSON: where the broker listens
``/brokers/topics/<topic>``                           persistent   JSON: each partition with its replicas
====================================================  ===========  ==========================================

All JSON is without blanks, its fields in the order in which Scala walks its maps, so that it agrees with a real node to
the byte.

References: Apache Kafka 1.1.1, ``kafka.utils.ZKGroupDirs``, ``ZKGroupTopicDirs``, ``ZkUtils``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kafkalearn.base.checks import LARGEST_INT, mapping, one_of, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.hashing import MASK_32
from kafkalearn.base.java import java_hash
from kafkalearn.base.topic_partition import TopicPartition

CONSUMERS = "/consumers"
BROKER_IDS = "/brokers/ids"
BROKER_TOPICS = "/brokers/topics"


def group_path(group: str) -> str:
    """The node below which all nodes of a group are.

    >>> group_path("billing")
    '/consumers/billing'
    """
    return f"{CONSUMERS}/{_name('group', group)}"


def ids_path(group: str) -> str:
    """The node whose children are the consumers of a group.

    >>> ids_path("billing")
    '/consumers/billing/ids'
    """
    return f"{group_path(group)}/ids"


def consumer_path(group: str, consumer: str) -> str:
    """The ephemeral node with which a consumer registers.

    >>> consumer_path("billing", "billing_c1")
    '/consumers/billing/ids/billing_c1'
    """
    return f"{ids_path(group)}/{_name('consumer', consumer)}"


def owners_path(group: str, topic: str) -> str:
    """The node whose children are the owned partitions of a topic; the word is plural, unlike in Kafka's comment.

    >>> owners_path("billing", "orders")
    '/consumers/billing/owners/orders'
    """
    return f"{group_path(group)}/owners/{_name('topic', topic)}"


def owner_path(group: str, topic: str, partition: int) -> str:
    """The ephemeral node whose content is the id of the thread that owns a partition.

    >>> owner_path("billing", "orders", 3)
    '/consumers/billing/owners/orders/3'
    """
    return f"{owners_path(group, topic)}/{_number(partition)}"


def offsets_path(group: str, topic: str) -> str:
    """The node whose children are the partitions of a topic that have a committed offset in ZooKeeper.

    >>> offsets_path("billing", "orders")
    '/consumers/billing/offsets/orders'
    """
    return f"{group_path(group)}/offsets/{_name('topic', topic)}"


def offset_path(group: str, topic: str, partition: int) -> str:
    """The persistent node whose content is the committed offset of a partition.

    >>> offset_path("billing", "orders", 3)
    '/consumers/billing/offsets/orders/3'
    """
    return f"{offsets_path(group, topic)}/{_number(partition)}"


def broker_path(broker_id: int) -> str:
    """The ephemeral node with which a broker registers.

    >>> broker_path(0)
    '/brokers/ids/0'
    """
    return f"{BROKER_IDS}/{whole_number('broker_id', broker_id, at_least=0)}"


def topic_path(topic: str) -> str:
    """The node that says which partitions a topic has, and on which brokers.

    >>> topic_path("orders")
    '/brokers/topics/orders'
    """
    return f"{BROKER_TOPICS}/{_name('topic', topic)}"


def parent_path(path: str) -> str:
    """The path of the node above; of a node at the top it is ``/``.

    >>> parent_path("/brokers/ids/0"), parent_path("/brokers")
    ('/brokers/ids', '/')
    """
    return path.rpartition("/")[0] or "/"


def last_name(path: str) -> str:
    """The last name of a path.

    >>> last_name("/brokers/ids/0")
    '0'
    """
    return path.rpartition("/")[2]


def consumer_id(group: str, host: str, started_ms: int, uuid_high: int) -> str:
    """The id that a consumer gives itself: group, host, the time it was made, and eight digits of a random UUID.

    Parameters
    ----------
    started_ms : int
        The wall clock in milliseconds when the consumer was made.
    uuid_high : int
        The most significant 64 bits of its random UUID; the first eight of their hexadecimal digits are taken. Java
        writes no zeros in front, so a small number gives other digits than the UUID's text has.

    Examples
    --------
    >>> consumer_id("billing", "shop-1", 1400000000000, 0x1A2B3C4D5E6F4071)
    'billing_shop-1-1400000000000-1a2b3c4d'

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``ZookeeperConsumerConnector.consumerIdString``; ``named_consumer_id`` is what the setting
    ``consumer.id`` makes of it.
    """
    text("host", host)
    whole_number("started_ms", started_ms, at_least=0)
    digits = f"{whole_number('uuid_high', uuid_high, at_least=0, at_most=2**64 - 1):x}"[:8]
    return f"{_name('group', group)}_{host}-{started_ms}-{digits}"


def named_consumer_id(group: str, name: str) -> str:
    """The id of a consumer whose setting ``consumer.id`` is given, "for testing only" as Kafka says.

    >>> named_consumer_id("billing", "c1")
    'billing_c1'
    """
    return f"{_name('group', group)}_{_name('consumer', name)}"


def thread_id(consumer: str, number: int) -> str:
    """The id of a thread of a consumer: what stands in the node of an owner.

    >>> thread_id("billing_c1", 0)
    'billing_c1-0'
    """
    return f"{_name('consumer', consumer)}-{whole_number('number', number, at_least=0)}"


def consumer_of_thread(thread: str) -> str:
    """The id of the consumer that a thread belongs to.

    >>> consumer_of_thread("billing_c1-0")
    'billing_c1'
    """
    return thread.rpartition("-")[0]


def _name(kind: str, value: str) -> str:
    """One name of a path; ZooKeeper would take a stroke inside for two names."""
    if not text(kind, value) or "/" in value:
        raise KafkaLearnError(f"{kind} must be a name without '/', got {shown(value)}")
    return value


def _number(partition: int) -> int:
    return whole_number("partition", partition, at_least=0)


# The order in which Scala 2.11 walks its hash maps: the JSON in ZooKeeper's nodes is written in it. A *mutable*
# ``HashMap`` is walked from the last of its buckets to the first. An immutable ``Map`` of up to four keys is walked in
# the order in which they came; a larger one is a trie, walked by five bits of a mixed hash code at a time.

Key = TypeVar("Key", bound=Hashable)

MOST_IN_ORDER = 4  # keys of an immutable map that keeps them as they came
LEAST_CAPACITY = 16
SWAP_FACTOR = 0x9E3775CD


def immutable_order(keys: Iterable[Key], hash_code: Callable[[Key], int] = java_hash) -> list[Key]:
    """The keys in the order in which Scala walks an immutable ``Map`` that they were put into one by one.

    >>> immutable_order(["orders", "clicks", "mail"])
    ['orders', 'clicks', 'mail']
    >>> immutable_order(["orders", "clicks", "mail", "refunds", "stock"])
    ['stock', 'refunds', 'mail', 'clicks', 'orders']

    References
    ----------
    Scala 2.11, ``scala.collection.immutable.HashMap``; keys with the same 32 bits of hash are not kept apart.
    """
    given = list(dict.fromkeys(keys))
    if len(given) <= MOST_IN_ORDER:
        return given
    return sorted(given, key=lambda key: [_mixed(hash_code(key)) >> bits & 31 for bits in range(0, 35, 5)])


def mutable_order(keys: Iterable[Key], hash_code: Callable[[Key], int] = java_hash) -> list[Key]:
    """The keys in the order in which Scala walks a ``mutable.HashMap`` that they were put into one by one.

    >>> mutable_order(range(4))
    [2, 1, 3, 0]

    References
    ----------
    Scala 2.11, ``scala.collection.mutable.HashTable``, ``scala.util.hashing.byteswap32``.
    """
    given = list(dict.fromkeys(keys))
    capacity = LEAST_CAPACITY
    while len(given) > capacity * 3 // 4:
        capacity *= 2
    buckets: list[list[Key]] = [[] for _ in range(capacity)]
    for key in given:
        buckets[_bucket(hash_code(key), capacity)].insert(0, key)
    return [key for bucket in reversed(buckets) for key in bucket]


def _mixed(hash_code: int) -> int:
    mixed = hash_code & MASK_32
    mixed = mixed + (~(mixed << 9) & MASK_32) & MASK_32
    mixed ^= mixed >> 14
    mixed = mixed + (mixed << 4) & MASK_32
    return mixed ^ mixed >> 10


def _bucket(hash_code: int, capacity: int) -> int:
    highest = capacity - 1
    turns = highest.bit_count()
    swapped = int.from_bytes(((hash_code & MASK_32) * SWAP_FACTOR & MASK_32).to_bytes(4, "big"), "little")
    swapped = swapped * SWAP_FACTOR & MASK_32
    turned = (swapped >> turns | swapped << 32 - turns) & MASK_32
    return turned >> 32 - highest.bit_length() & highest


# What stands in the nodes: the registration of a consumer, the partitions of a topic, the address of a broker.

STATIC, WHITE_LIST, BLACK_LIST = "static", "white_list", "black_list"
PATTERNS = (STATIC, WHITE_LIST, BLACK_LIST)
"""What a registration says of its subscription: topics by name, or a regular expression for names."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Registration:
    """What the node of a consumer says: its subscription, which kind it is, and when it was written.

    Parameters
    ----------
    subscription : tuple of (str, int)
        Topics (of a pattern: its regular expression) with their numbers of streams.
    pattern : str
        `STATIC`, `WHITE_LIST` or `BLACK_LIST`.
    timestamp_ms : int
        The wall clock.

    Examples
    --------
    >>> Registration((("orders", 2),), "static", 1400000000000).json()
    '{"version":1,"subscription":{"orders":2},"pattern":"static","timestamp":"1400000000000"}'

    References
    ----------
    Apache Kafka 1.1.1, ``ZookeeperConsumerConnector.registerConsumerInZK``, ``TopicCount``.
    """

    subscription: tuple[tuple[str, int], ...]
    pattern: str = STATIC
    timestamp_ms: int = 0

    def json(self) -> str:
        """The content of the node; a regular expression is escaped here once, and by JSON a second time.

        Since 1.0.1 a backslash so becomes two for whoever reads it: the pattern means something else then.

        >>> Registration((("shop\\\\.a", 1),), "white_list").json()
        '{"version":1,"subscription":{"shop\\\\\\\\\\\\\\\\.a":1},"pattern":"white_list","timestamp":"0"}'
        """
        streams = dict(self.subscription)
        if self.pattern == STATIC:
            written = {topic: streams[topic] for topic in immutable_order(streams)}
        else:
            written = {_escaped(regex): count for regex, count in streams.items()}
        return _json(
            {"version": 1, "subscription": written, "pattern": self.pattern, "timestamp": str(self.timestamp_ms)}
        )


def read_registration(content: str) -> Registration:
    """The registration that stands in the node of a consumer.

    Raises
    ------
    KafkaLearnError
        If it is none; Kafka's consumers fail to rebalance over such a node, too.

    Examples
    --------
    >>> read_registration('{"version":1,"subscription":{"orders":2},"pattern":"static","timestamp":"7"}')
    Registration(subscription=(('orders', 2),), pattern='static', timestamp_ms=7)
    """
    try:
        read = json.loads(text("content", content))
        subscription, pattern = read["subscription"], read["pattern"]
        streams = tuple(
            (topic, whole_number("streams", count, 0, LARGEST_INT)) for topic, count in subscription.items()
        )
        return Registration(streams, one_of("pattern", pattern, PATTERNS), int(read.get("timestamp", 0)))
    except (ValueError, TypeError, KeyError, AttributeError) as reason:
        raise KafkaLearnError(f"no registration of a consumer: {shown(content)} ({reason})") from None


def topic_content(topic: str, replicas: Sequence[Sequence[int]]) -> str:
    """The content of a topic's node, as it is when the topic was just created.

    Parameters
    ----------
    replicas : sequence of sequences of int
        Of each partition, from 0 on, the brokers that have a copy.

    Examples
    --------
    >>> topic_content("mail-x", [[0]] * 4)
    '{"version":1,"partitions":{"2":[0],"1":[0],"3":[0],"0":[0]}}'

    References
    ----------
    Apache Kafka 1.1.1, ``kafka.zk.TopicZNode``; when a topic grows, the order may be another.
    """
    text("topic", topic)
    copies = [list(sequence("replicas", each, of="broker ids")) for each in sequence("replicas", replicas)]
    order = mutable_order(TopicPartition(topic, number) for number in mutable_order(range(len(copies))))
    names = immutable_order(str(each.partition) for each in order)
    return _json({"version": 1, "partitions": {name: copies[int(name)] for name in names}})


def read_topic(content: str | None) -> tuple[int, ...]:
    """The partitions that the node of a topic names, ascending; none if there is no such node.

    >>> read_topic('{"version":1,"partitions":{"1":[0],"0":[0]}}'), read_topic(None)
    ((0, 1), ())
    """
    if content is None:
        return ()
    try:
        return tuple(sorted(int(name) for name in mapping("partitions", json.loads(content)["partitions"], "")))
    except (ValueError, TypeError, KeyError) as reason:
        raise KafkaLearnError(f"no node of a topic: {shown(content)} ({reason})") from None


def broker_content(
    host: str = "127.0.0.1", port: int = 9092, timestamp_ms: int = 0, rack: str | None = None, jmx_port: int = -1
) -> str:
    """The content of the node of a broker that listens without encryption at one address.

    >>> broker_content(port=9399, timestamp_ms=1795349668863)[:100]
    '{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://127.0.0.1:9399'

    References
    ----------
    Apache Kafka 0.10 to 1.1, ``kafka.zk.BrokerIdZNode``, version 4.
    """
    fields: Mapping[str, object] = {
        "version": 4,
        "host": text("host", host),
        "port": whole_number("port", port, at_least=0, at_most=65535),
        "endpoints": [f"PLAINTEXT://{host}:{port}"],
        "jmx_port": jmx_port,
        "timestamp": str(whole_number("timestamp_ms", timestamp_ms, at_least=0)),
        **({} if rack is None else {"rack": text("rack", rack)}),
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
    }
    return _json({name: fields[name] for name in mutable_order(fields)})


def _escaped(regex: str) -> str:
    """As ``CoreUtils.JSONEscapeString`` does it."""
    return "".join(_ESCAPES.get(each) or (f"\\u{ord(each):04x}" if _CONTROL.match(each) else each) for each in regex)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
