"""Where everything lies in ZooKeeper: the paths of the nodes, and the ids of consumers and of their threads.

====================================================  ===========  ==========================================
path                                                  kind         content
====================================================  ===========  ==========================================
``/consumers/<group>/ids/<consumer id>``              ephemeral    JSON: what it subscribes to
``/consumers/<group>/owners/<topic>/<partition>``     ephemeral    the id of the thread that owns it
``/consumers/<group>/offsets/<topic>/<partition>``    persistent   the committed offset, in decimal digits
``/brokers/ids/<broker id>``                          ephemeral    JSON: where the broker listens
``/brokers/topics/<topic>``                           persistent   JSON: each partition with its replicas
====================================================  ===========  ==========================================

What the JSON says is in `kafkalearn.zookeeper.contents`.

References: Apache Kafka 1.1.1, ``kafka.utils.ZKGroupDirs``, ``ZKGroupTopicDirs``, ``ZkUtils``.
"""

from __future__ import annotations

from kafkalearn.arguments import text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

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
