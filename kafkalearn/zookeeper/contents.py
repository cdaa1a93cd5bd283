"""What stands in the nodes: the registration of a consumer, the partitions of a topic, the address of a broker.

All three are JSON without blanks, its fields in the order in which Scala walks its maps
(`kafkalearn.zookeeper.scala_maps`), so that they agree with a real node to the byte. An owner's node holds the id of a
thread, an offset's node a number in decimal digits; there is nothing to write about these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkalearn.arguments import LARGEST_INT, mapping, one_of, sequence, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.scala_maps import immutable_order, mutable_order

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
