"""To which brokers clients hold connections: tests/vectors/coordinator/connections.json."""

from __future__ import annotations

import time
from typing import Any

from kafkalearn.live import Kafka
from tools.real.told import Clients, config_text, places_of

FILE = "coordinator/connections.json"
ABOUT = (
    "Groups of two consumers of the classic protocol, all of one topic, and a producer that has written to each of its "
    "partitions, on three brokers: who leads the partitions, who coordinates the group, the partitions of each member, "
    "and how many requests each client had sent to each node after some seconds, by its own metrics. 1 is broker 1; +1 "
    "is broker 1 as the coordinator, a connection of its own; those below 0 are addresses of bootstrap.servers, before "
    "the client knew the brokers. Written by python3 -m tools.real connections."
)
BROKERS = 3
LEADERS = ([1, 1, 1, 1, 2, 3], [1, 2, 3, 1, 2, 3], [2, 2, 2, 2, 2, 2])
GROUPS = 5
SECONDS = 6.0
DELAY_MS = 2000  # so that nobody has had more than its own


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by brokers and clients of a release."""
    cases = []
    with (
        Kafka(BROKERS, line, {"group.initial.rebalance.delay.ms": DELAY_MS}) as kafka,
        Clients(kafka.bootstrap, version) as clients,
    ):
        for leaders in LEADERS:
            topic = "orders-" + "".join(map(str, leaders))
            kafka.create_topic(topic, assignment=[[each] for each in leaders])
            producer = f"{topic}-producer"
            clients.ask(producer, "producer", "")
            for partition in range(len(leaders)):
                clients.ask(producer, "send", topic, partition, "record")
            for number in range(GROUPS):
                group = f"{topic}-{number}"
                coordinator = kafka.coordinator(group)
                names = [f"{group}-c1", f"{group}-c2"]
                config = config_text({"group.id": group, "auto.offset.reset": "earliest", "heartbeat.interval.ms": 200})
                for name in names:
                    clients.ask(name, "consumer", config)
                    clients.ask(name, "subscribe", topic)
                    clients.ask(name, "run", "silently")
                time.sleep(SECONDS)
                cases.append(
                    {
                        "name": group, "leaders": leaders, "coordinator": coordinator,
                        "members": {name[-2:]: _numbers(clients.ask(name, "owned")[0]) for name in names},
                        "requests": {
                            **{name[-2:]: _by_node(clients.ask(name, "nodes")[0]) for name in names},
                            "producer": _by_node(clients.ask(producer, "nodes")[0]),
                        },
                    }
                )  # fmt: skip
                print(cases[-1], flush=True)
                clients.ask_all(names, "close")
    return cases


def _numbers(places: str) -> list[int]:
    return [int(each.rpartition("-")[2]) for each in places_of(places)]


def _by_node(text: str) -> dict[str, int]:
    """The requests of a client by the number of the node, without those it has asked nothing."""
    pairs = (each.rpartition("=") for each in text.split(",") if each)
    return {node.removeprefix("node-"): int(count) for node, _, count in pairs if int(count)}
