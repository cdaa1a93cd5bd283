"""The nodes of a cluster: laid out on free ports, configured, formatted, started, and asked whether they are alive.

Last stands what is done once on a machine, so that a release starts quickly: `prepare`.
"""

from __future__ import annotations

import base64
import contextlib
import re
import shutil
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import whole_number
from kafkalearn.base.class_archive import ArchiveNotMade
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import one_at_a_time
from kafkalearn.live import jars
from kafkalearn.live.errors import KafkaNotStarted, NoAnswer
from kafkalearn.live.jars import ProgramFailed, Release
from kafkalearn.live.processes import (
    KILL,
    LOG4J,
    OPTIONS,
    STOP,
    Processes,
    node_archive,
    node_class_path,
    node_command,
    require_signals,
)
from kafkalearn.live.reading import metadata_request
from kafkalearn.live.requests import Connection
from kafkalearn.releases.defaults import default
from kafkalearn.releases.lines import at_least

# Which nodes a cluster has: one that does all, or a controller and brokers; their ports and folders.

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


# The settings of each node: those that hold a cluster together, those that make it quick, and yours.
#
# `QUICK` are the settings that differ from Kafka's defaults so that a small cluster starts at once and notices a dead
# broker within two seconds. They change when things happen, not what happens.

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


def properties_of(node: Node, nodes: Sequence[Node], config: Mapping[str, Any]) -> dict[str, str]:
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


def fetch_wait_ms(node: Node, config: Mapping[str, Any]) -> int:
    """How long a fetch that a follower has sent may wait at its leader: as given, else ours; Kafka's where unset.

    >>> from pathlib import Path
    >>> node = Node(2, True, False, 9092, 0, Path("node-2"))
    >>> fetch_wait_ms(node, {}), fetch_wait_ms(node, {FETCH_WAIT: None}), fetch_wait_ms(node, {FETCH_WAIT: "20"})
    (100, 500, 20)
    """
    value = _of_node({**QUICK, **config}[FETCH_WAIT], node)
    return int(str(default(FETCH_WAIT) if value is None else value))


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


# The folder of a new node, formatted: what ``kafka-storage format`` leaves, without starting Java for each node.
#
# Java writes one file of feature levels for each release and set of features, once on a machine; it names no cluster
# and fits all of them. Up to 4.3 it is ``bootstrap.checkpoint``, and each node has it; since 4.4 it is the first
# snapshot of the metadata log, and the controllers have it. The rest of a formatted folder is a few lines of text.
#
# References
# ----------
# Apache Kafka 4.3 and 4.4, ``StorageTool``, ``MetaProperties``; ``Uuid.randomUuid``.

BOOTSTRAP = "bootstrap.checkpoint"
FIRST_SNAPSHOT = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
IS_SNAPSHOT_SINCE = "4.4"


def checkpoint_in(release: Release) -> str:
    """Where in a formatted folder a release keeps the feature levels that it begins with.

    >>> from kafkalearn.live.jars import find_release
    >>> checkpoint_in(find_release("4.0")), checkpoint_in(find_release("4.4")).partition("/")[0]
    ('bootstrap.checkpoint', '__cluster_metadata-0')
    """
    return FIRST_SNAPSHOT if at_least(IS_SNAPSHOT_SINCE, release.line) else BOOTSTRAP


def new_uuid() -> str:
    """A random id as Kafka writes it: 22 characters, the first no "-", which a command would take for an option."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()).startswith("-"):
        pass
    return text


def format_node(node: Node, cluster_id: str, release: Release, checkpoint: Path) -> None:
    """Make a node's log folder as if it had been formatted for a cluster."""
    node.log_folder.mkdir(parents=True)
    name = checkpoint_in(release)
    if name == BOOTSTRAP or node.is_controller:
        (node.log_folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(checkpoint, node.log_folder / name)
    lines = ("version=1", f"cluster.id={cluster_id}", f"node.id={node.id}", f"directory.id={new_uuid()}")
    (node.log_folder / "meta.properties").write_text("\n".join(lines) + "\n", encoding="utf-8")


def bootstrap_checkpoint(release: Release, features: Mapping[str, int]) -> Path:
    """The file with a release's feature levels, made by Java if it is not there yet.

    Parameters
    ----------
    release : Release
        Whose defaults count for features that are not given.
    features : mapping of str to int
        Levels by name: ``{"eligible.leader.replicas.version": 0}``.

    Raises
    ------
    KafkaNotStarted
        If the release does not know a feature or the level; the message is Kafka's.
    """
    name = "-".join(["bootstrap", *(f"{feature}={level}" for feature, level in sorted(features.items()))])
    path = jars.kafka_folder() / release.version / f"{name}.checkpoint"
    if not path.exists():
        with one_at_a_time(jars.kafka_folder() / "lock"):
            if not path.exists():
                _make_checkpoint(release, features, path)
    return path


def _make_checkpoint(release: Release, features: Mapping[str, int], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kafkalearn-format-") as place:
        folder = Path(place) / "log"
        properties = Path(place) / "server.properties"
        properties.write_text(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:9093\n"
            "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\n"
            f"controller.listener.names=CONTROLLER\nlog.dirs={folder}\n",
            encoding="utf-8",
        )
        words = ["format", "--cluster-id", new_uuid(), "--config", str(properties)]
        for feature, level in features.items():
            words += ["--feature", f"{feature}={level}"]
        try:
            jars.run_java(*OPTIONS, "-cp", node_class_path(release, False), "kafka.tools.StorageTool", *words)
        except ProgramFailed as error:
            reason = re.sub(r"^SLF4J.*\n", "", str(error), flags=re.MULTILINE)
            raise KafkaNotStarted(
                f"Kafka {release.version} cannot be formatted with {dict(features)}: {reason}"
            ) from None
        draft, made = path.with_suffix(f".{new_uuid()}"), folder / checkpoint_in(release)
        if not made.is_file():
            others = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())
            raise KafkaNotStarted(
                f"Kafka {release.version} was formatted, but {checkpoint_in(release)} is not where older releases have "
                f"it; there are {', '.join(others) or 'no files'}. Say in checkpoint_in of kafkalearn/live/nodes.py "
                "where the feature levels are since this release"
            )
        shutil.copyfile(made, draft)
        draft.rename(path)


# The nodes of one cluster: made, started, started again, and asked whether they are there.

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
        config: Mapping[str, Any],
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
        self._processes: Processes | None = None
        self.expected_down: set[int] = set()  # the nodes that were stopped or killed on purpose
        self.training = training

    @property
    def processes(self) -> Processes:
        """The processes that run the nodes.

        Raises
        ------
        KafkaNotStarted
            Before the start.
        """
        if self._processes is None:
            raise KafkaNotStarted("this cluster was not started; start() does it, and so does `with`")
        return self._processes

    def start(self, timeout_s: float) -> None:
        """Start all nodes and wait until every broker counts as alive.

        Raises
        ------
        KafkaNotStarted
            With the end of what the node that failed has printed, and what to do.
        """
        require_signals()
        jars.fetch(self.release)
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
        self._processes = Processes()
        self.nodes = lay_out(self.broker_count, self._processes.folder)
        cluster_id = new_uuid()
        for node in self.nodes:
            node.folder.mkdir()
            format_node(node, cluster_id, self.release, checkpoint)
            properties = properties_of(node, self.nodes, self.config)
            node.properties.write_text(properties_text(properties), encoding="utf-8")
            node.log4j.write_text(LOG4J.format(path=node.server_log), encoding="utf-8")
        for node in self.nodes:
            self.launch(node)
        self.wait_alive([node for node in self.nodes if node.is_broker], deadline)

    def launch(self, node: Node) -> None:
        """Start the Java process of a node."""
        log4j = node.log4j if self.has_logs else None
        command = node_command(self.release, jars.java_here(), node.properties, log4j, self.training)
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

    def close(self) -> None:
        """Kill all processes and remove their folder; a second time does nothing."""
        if self._processes is not None:
            for node in self.nodes:
                with contextlib.suppress(KafkaNotStarted):
                    self._processes.send(node.name, KILL)
            self._processes.close()

    def _printed(self, node: Node) -> str:
        text = node.output.read_text(encoding="utf-8", errors="replace") if node.output.exists() else ""
        errors = [line for line in text.split("\n") if re.search(r"Exception|ERROR|Error", line)]
        return jars.last_lines("\n".join(errors[-3:] or text.split("\n")[-6:]))


# What is done once on a machine before a release starts quickly: its jars, and an archive of the classes it loads.

TIMEOUT_S = 120.0


def prepare(release: Release, has_logs: bool = False, update: jars.Update | None = None) -> None:
    """See to it that a release can be started quickly; what is there already is not made again.

    Parameters
    ----------
    release : Release
        Which one.
    has_logs : bool
        Whether its nodes will write server logs; both kinds are prepared apart.
    update : callable or None
        As `kafkalearn.live.jars.fetch` has it.

    Raises
    ------
    KafkaNotFetched, KafkaNotStarted
        If it cannot be fetched or started here; the message says what to do.
    """
    require_signals()
    java = jars.java_here()
    jars.fetch(release, update)
    archive = node_archive(release, java, has_logs)
    if not archive.is_tried:
        print(f"kafkalearn: preparing Kafka {release.version}, once on this machine", file=sys.stderr, flush=True)
        with contextlib.suppress(ArchiveNotMade):
            archive.make(lambda class_list: _run_once(release, has_logs, archive.training_option(class_list)))


def _run_once(release: Release, has_logs: bool, *options: str) -> None:
    nodes = Nodes(release, 1, {}, {}, has_logs, options)
    try:
        nodes.start(TIMEOUT_S)
        (node,) = nodes.nodes
        time.sleep(1)  # what loads its classes a moment after the start comes in, too
        nodes.processes.send(node.name, STOP)
        nodes.processes.wait(node.name, TIMEOUT_S)
    finally:
        nodes.close()
