"""Which nodes a cluster has: one that does all, or a controller and brokers; their ports and folders."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.errors import KafkaNotStarted

HOST = "127.0.0.1"
CONTROLLER_ID = 100
MOST_BROKERS = 9  # each takes about 150 MB


@dataclass(frozen=True, slots=True)
class Node:
    """One Java process of a cluster."""

    id: int
    is_broker: bool
    is_controller: bool
    port: int  # for clients
    controller_port: int
    folder: Path

    @property
    def name(self) -> str:
        """As processes and folders are named."""
        return f"node-{self.id}"

    @property
    def roles(self) -> str:
        """As ``process.roles`` has them."""
        return ",".join(["broker"] * self.is_broker + ["controller"] * self.is_controller)

    @property
    def log_folder(self) -> Path:
        """Its ``log.dirs``: a folder for each replica, and the checkpoints."""
        return self.folder / "log"

    @property
    def properties(self) -> Path:
        """Its settings."""
        return self.folder / "server.properties"

    @property
    def log4j(self) -> Path:
        """How it writes its server log, if it writes one."""
        return self.folder / "log4j2.properties"

    @property
    def output(self) -> Path:
        """What it prints."""
        return self.folder / "output.txt"

    @property
    def server_log(self) -> Path:
        """Its server log, if one is written."""
        return self.folder / "server.log"


def lay_out(broker_count: int, folder: Path) -> tuple[Node, ...]:
    """The nodes of a cluster on free ports: brokers from 1 on, and above one broker a controller of its own.

    Raises
    ------
    KafkaLearnError
        If the number makes no sense on one machine.
    KafkaNotStarted
        If this system gives out no ports.
    """
    whole_number("brokers", broker_count, at_least=1)
    if broker_count > MOST_BROKERS:
        raise KafkaLearnError(f"brokers must be at most {MOST_BROKERS}, each is a Java process; got {broker_count}")
    roles = {1: (True, True)} if broker_count == 1 else {CONTROLLER_ID: (False, True)}
    roles |= dict.fromkeys(range(1, broker_count + 1), (True, broker_count == 1))
    ports = iter(free_ports(2 * len(roles)))
    return tuple(
        Node(id_, is_broker, is_controller, next(ports), next(ports), folder / f"node-{id_}")
        for id_, (is_broker, is_controller) in roles.items()
    )


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that nobody listens on now; another process may be faster, so ask just before use.

    Raises
    ------
    KafkaNotStarted
        If there are none.
    """
    sockets: list[socket.socket] = []
    try:
        for _ in range(count):
            sockets.append(socket.socket())
            sockets[-1].bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]
    except OSError as error:
        raise KafkaNotStarted(f"this system gives out no port on {HOST}: {error}") from None
    finally:
        for each in sockets:
            each.close()
