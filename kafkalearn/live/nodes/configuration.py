"""The settings of each node: those that hold a cluster together, those that make it quick, and yours.

`QUICK` are the settings that differ from Kafka's defaults so that a small cluster starts at once and notices a dead
broker within two seconds. They change when things happen, not what happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.nodes.layout import HOST, Node
from kafkalearn.versions.defaults import default

FETCH_WAIT = "replica.fetch.wait.max.ms"
QUICK: MappingProxyType[str, object] = MappingProxyType(
    {
        "group.initial.rebalance.delay.ms": 0,  # else a group's first member waits 3 s for others
        "log.cleaner.dedupe.buffer.size": 4 * 2**20,  # the default, 128 MB, does not fit into the heap
        "broker.session.timeout.ms": 1500,  # a killed broker is replaced, and may come back, after this time
        "broker.heartbeat.interval.ms": 100,
        FETCH_WAIT: 100,
        "replica.fetch.backoff.ms": 100,
        "replica.high.watermark.checkpoint.interval.ms": 50,
        "auto.leader.rebalance.enable": False,  # else leaders go back to the preferred replica every five minutes
    }
)
"""What differs from Kafka's defaults; the reason beside each."""

OURS = (
    "process.roles",
    "node.id",
    "broker.id",
    "controller.quorum.voters",
    "controller.listener.names",
    "log.dirs",
    "log.dir",
)
"""What `Kafka` decides by itself."""


def properties_of(node: Node, nodes: Sequence[Node], config: Mapping[str, object]) -> dict[str, str]:
    """The settings of one node: ours, and over them those given. A value may be a function of the node; None: unset.

    Raises
    ------
    KafkaLearnError
        If a setting is one that the cluster decides.
    """
    for name in config:
        if name in OURS:
            raise KafkaLearnError(f"{name} is decided by Kafka(brokers=...); leave it out of the configuration")
    broker_count = sum(each.is_broker for each in nodes)
    chosen = {
        **QUICK,
        "auto.create.topics.enable": False,
        "offsets.topic.replication.factor": min(3, broker_count),
        "transaction.state.log.replication.factor": min(3, broker_count),
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.replication.factor": min(3, broker_count),
        "share.coordinator.state.topic.min.isr": 1,
        **_listeners(node),
        **{name: _of_node(value, node) for name, value in config.items()},
        "process.roles": node.roles,
        "node.id": node.id,
        "controller.quorum.voters": ",".join(
            f"{each.id}@{HOST}:{each.controller_port}" for each in nodes if each.is_controller
        ),
        "controller.listener.names": "CONTROLLER",
        "log.dirs": node.log_folder,
    }
    return {name: _text(value) for name, value in chosen.items() if value is not None}


def fetch_wait_ms(node: Node, config: Mapping[str, object]) -> int:
    """How long a fetch that a follower has sent may wait at its leader: as given, else ours; Kafka's where unset.

    >>> from pathlib import Path
    >>> node = Node(2, True, False, 9092, 0, Path("node-2"))
    >>> fetch_wait_ms(node, {}), fetch_wait_ms(node, {FETCH_WAIT: None}), fetch_wait_ms(node, {FETCH_WAIT: "20"})
    (100, 500, 20)
    """
    value = _of_node({**QUICK, **config}[FETCH_WAIT], node)
    return int(default(FETCH_WAIT) if value is None else value)


def _of_node(value: object, node: Node) -> object:
    return value(node) if callable(value) else value


def _listeners(node: Node) -> dict[str, str]:
    for_clients = [f"PLAINTEXT://{HOST}:{node.port}"] * node.is_broker
    for_controllers = [f"CONTROLLER://{HOST}:{node.controller_port}"] * node.is_controller
    listeners = {
        "listeners": ",".join([*for_clients, *for_controllers]),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
    return listeners | ({"advertised.listeners": for_clients[0]} if for_clients else {})


def properties_text(properties: Mapping[str, str]) -> str:
    """A file of properties, as Java reads it.

    >>> print(properties_text({"node.id": "1", "log.dirs": "C:\\\\a"}), end="")
    node.id=1
    log.dirs=C:\\\\a
    """
    escaped = {name: value.replace("\\", "\\\\").replace("\n", "\\n") for name, value in properties.items()}
    return "".join(f"{name}={value}\n" for name, value in escaped.items())


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
