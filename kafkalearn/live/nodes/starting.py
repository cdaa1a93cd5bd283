"""The nodes of one cluster: made, started, started again, and asked whether they are there."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kafkalearn.live.errors import KafkaNotStarted, NoAnswer
from kafkalearn.live.jars.fetching import fetch
from kafkalearn.live.jars.java import java_here, last_lines
from kafkalearn.live.jars.pinned import Release
from kafkalearn.live.nodes.configuration import properties_of, properties_text
from kafkalearn.live.nodes.java_command import LOG4J, node_command
from kafkalearn.live.nodes.layout import HOST, Node, lay_out
from kafkalearn.live.nodes.processes import KILL, Processes, require_signals
from kafkalearn.live.nodes.storage import bootstrap_checkpoint, format_node, new_uuid
from kafkalearn.live.reading.brokers import metadata_request
from kafkalearn.live.requests.connection import Connection

TRIES = 3  # another process may take a port between our look and Java's
POLL_S = 0.02
PORT_TAKEN = re.compile(r"BindException|Address already in use")


class PortTaken(KafkaNotStarted):
    """A node could not listen on its port."""


class Nodes:
    """The nodes of one cluster, and the processes that run them."""

    def __init__(
        self,
        release: Release,
        broker_count: int,
        config: Mapping[str, object],
        features: Mapping[str, int],
        has_logs: bool = False,
        training: Sequence[str] = (),
    ) -> None:
        """Remember what is wanted; `start` makes it.

        Parameters
        ----------
        release, broker_count, config, features : Release, int, mapping, mapping
            As `kafkalearn.live.Kafka` has them.
        has_logs : bool
            Whether each node writes a server log.
        training : sequence of str
            Options of Java that note which classes are loaded; empty: the archive that there is is used.
        """
        self.release = release
        self.broker_count = broker_count
        self.config = dict(config)
        self.features = dict(features)
        self.has_logs = has_logs
        self.nodes: tuple[Node, ...] = ()
        self.processes: Processes | None = None
        self.expected_down: set[int] = set()  # the nodes that were stopped or killed on purpose
        self.training = training

    def start(self, timeout_s: float) -> None:
        """Start all nodes and wait until every broker counts as alive.

        Raises
        ------
        KafkaNotStarted
            With the end of what the node that failed has printed, and what to do.
        """
        require_signals()
        fetch(self.release)
        checkpoint = bootstrap_checkpoint(self.release, self.features)
        for tries_left in range(TRIES - 1, -1, -1):
            try:
                self._start(checkpoint, time.monotonic() + timeout_s)
                return
            except BaseException as error:
                self.close()
                if not (isinstance(error, PortTaken) and tries_left):
                    raise

    def _start(self, checkpoint: Path, deadline: float) -> None:
        self.processes = Processes()
        self.nodes = lay_out(self.broker_count, self.processes.folder)
        cluster_id = new_uuid()
        for node in self.nodes:
            node.folder.mkdir()
            format_node(node, cluster_id, checkpoint)
            properties = properties_of(node, self.nodes, self.config)
            node.properties.write_text(properties_text(properties), encoding="utf-8")
            node.log4j.write_text(LOG4J.format(path=node.server_log), encoding="utf-8")
        for node in self.nodes:
            self.launch(node)
        self.wait_alive([node for node in self.nodes if node.is_broker], deadline)

    def launch(self, node: Node) -> None:
        """Start the Java process of a node."""
        log4j = node.log4j if self.has_logs else None
        command = node_command(self.release, java_here(), node.properties, log4j, self.training)
        self.processes.start(node.name, command, node.output)

    def wait_alive(self, brokers: Iterable[Node], deadline: float) -> None:
        """Wait until these brokers know of each other as alive.

        Raises
        ------
        KafkaNotStarted
            If one has ended, or it takes too long.
        """
        brokers = list(brokers)
        wanted = {node.id for node in brokers}
        for node in brokers:
            while not wanted <= self._known_by(node):
                self._refuse_ended()
                if time.monotonic() > deadline:
                    raise KafkaNotStarted(
                        f"broker {node.id} of Kafka {self.release.version} does not see brokers {sorted(wanted)}; is "
                        f"this machine very busy, or short of memory? It printed: {self._printed(node) or 'nothing'}"
                    )
                time.sleep(POLL_S)

    def _known_by(self, node: Node) -> set[int]:
        """The brokers that one broker knows as alive; none while it does not answer."""
        try:
            with contextlib.closing(Connection(HOST, node.port, timeout_s=2.0)) as connection:
                answer = connection.call("Metadata", metadata_request(()))
        except NoAnswer:
            return set()
        return {each["nodeId"] for each in answer["brokers"]}

    def _refuse_ended(self) -> None:
        for node in self.nodes:
            code = self.processes.exit_code(node.name)
            if code is not None and node.id not in self.expected_down:
                printed = self._printed(node)
                kind = PortTaken if PORT_TAKEN.search(printed) else KafkaNotStarted
                raise kind(
                    f"node {node.id} of Kafka {self.release.version} has ended with code {code}: "
                    f"{printed or 'it printed nothing; start it with logs=True and look at its log'}"
                )

    def process_id(self, node: Node) -> int:
        """The id of a node's process."""
        return self.processes.process_id(node.name)

    def close(self) -> None:
        """Kill all processes and remove their folder; a second time does nothing."""
        if self.processes is not None:
            for node in self.nodes:
                with contextlib.suppress(KafkaNotStarted):
                    self.processes.send(node.name, KILL)
            self.processes.close()

    def _printed(self, node: Node) -> str:
        text = node.output.read_text(encoding="utf-8", errors="replace") if node.output.exists() else ""
        errors = [line for line in text.split("\n") if re.search(r"Exception|ERROR|Error", line)]
        return last_lines("\n".join(errors[-3:] or text.split("\n")[-6:]))
