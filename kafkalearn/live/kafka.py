"""A real Kafka on this machine: started on loopback, frozen, killed, read, and gone without a trace."""

from __future__ import annotations

import time
from collections.abc import Mapping

from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live.cluster import Disk
from kafkalearn.live.errors import KafkaNotStarted
from kafkalearn.live.jars import find_release
from kafkalearn.live.nodes import HOST, Node, Nodes, fetch_wait_ms, prepare
from kafkalearn.live.processes import FREEZE, KILL, STOP, THAW, cut_log
from kafkalearn.live.reading import Address, Brokers
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.releases.lines import DEFAULT_RELEASE

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
ANSWER_TIMEOUT_S = 5.0

RUNNING, FROZEN, DOWN = "running", "frozen", "down"
ELIGIBLE_LEADER_REPLICAS = "eligible.leader.replicas.version"
TRANSACTION_VERSION = "transaction.version"


class Kafka(UsedCluster):
    """A real cluster on this machine's loopback address, for as long as a ``with`` block or this process lives.

    One broker is one Java process of about 160 MB, several have a controller beside them. Everything that
    `kafkalearn.live.connect` reads of a cluster is read of this one, too; beside that its disks are open, and its
    brokers can be frozen, killed and restarted.

    Parameters
    ----------
    brokers : int
        How many, from 1 to 9; their ids begin at 1.
    release : str
        ``"4.3"``, or another of `kafkalearn.live.releases`; its jars are fetched at its first use.
    config : mapping, optional
        Settings of every node, over Kafka's defaults and those of `kafkalearn.live.nodes.QUICK`. A value
        may be a function of the node (its ``id``, its ``port``); None leaves the setting out.
    has_eligible_leader_replicas : bool or None
        Whether ``eligible.leader.replicas.version`` is 1; None: as on a new cluster of the release.
    has_logs : bool
        Whether the nodes write server logs, which costs some tenths of a second at the start; see `server_log`.
    transaction_version : int or None
        The level of the feature ``transaction.version``; None: as on a new cluster of the release.

    Raises
    ------
    KafkaLearnError
        If the release is unknown or the number of brokers makes no sense.

    Examples
    --------
    ::

        with Kafka(brokers=3) as kafka:
            kafka.create_topic("orders", assignment=[[1, 2, 3]])
            kafka.freeze(3)
            kafka.send("orders", [b"first"], acks=1)
            kafka.disk(1).log_end_offset("orders", 0), kafka.high_watermark("orders", 0)  # (1, 0)
    """

    def __init__(
        self,
        brokers: int = 1,
        release: str = DEFAULT_RELEASE,
        config: Mapping[str, object] | None = None,
        has_eligible_leader_replicas: bool | None = None,
        has_logs: bool = False,
        transaction_version: int | None = None,
    ) -> None:
        """Remember what is wanted; `start`, or a ``with`` block, starts it."""
        super().__init__(Brokers((), timeout_s=ANSWER_TIMEOUT_S))
        wanted = {ELIGIBLE_LEADER_REPLICAS: has_eligible_leader_replicas, TRANSACTION_VERSION: transaction_version}
        features = {name: int(level) for name, level in wanted.items() if level is not None}
        self.release = find_release(release)
        self._nodes = Nodes(self.release, brokers, config or {}, features, has_logs)
        self._status: dict[int, str] = {}
        self._has_logs = has_logs

    # --- its life

    def start(self) -> Kafka:
        """Start all nodes; one broker takes about a second, one controller and three brokers about three.

        Raises
        ------
        KafkaNotFetched, KafkaNotStarted
            The message says why, and what to do.
        """
        if self._status:
            raise KafkaLearnError("this cluster was started already; make another: Kafka()")
        prepare(self.release, self._has_logs)
        self._nodes.start(START_TIMEOUT_S)
        self._status = {node.id: RUNNING for node in self._nodes.nodes}
        return self

    def close(self) -> None:
        """Kill every process and remove all files; a second time does nothing."""
        super().close()
        self._nodes.close()

    def __enter__(self) -> Kafka:
        """The cluster, started."""
        return self.start()

    # --- what is where

    @property
    def bootstrap(self) -> str:
        """The addresses of its brokers, as ``bootstrap.servers`` of a client has them."""
        return ",".join(f"{HOST}:{node.port}" for node in self._brokers_of_it())

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """The ids of its brokers."""
        return tuple(node.id for node in self._brokers_of_it())

    def status(self, broker_id: int) -> str:
        """``"running"``, ``"frozen"`` or ``"down"``."""
        return self._status[self._node(broker_id).id]

    def process_id(self, broker_id: int) -> int:
        """The id of a broker's process, for the system's own tools."""
        return self._nodes.processes.process_id(self._node(broker_id).name)

    def disk(self, broker_id: int) -> Disk:
        """The disk of a broker, whether it runs or not."""
        return Disk(self._node(broker_id).log_folder)

    def server_log(self, broker_id: int) -> list[str]:
        """The lines of a broker's server log.

        Raises
        ------
        KafkaLearnError
            If the cluster writes none.
        """
        if not self._has_logs:
            raise KafkaLearnError("this cluster writes no logs; start it with Kafka(has_logs=True)")
        return self._node(broker_id).server_log.read_text(encoding="utf-8", errors="replace").splitlines()

    # --- what happens to its brokers

    def freeze(self, broker_id: int) -> None:
        """Let a broker stand still (SIGSTOP): it neither sends nor answers, and loses nothing.

        It returns when every fetch that the broker had sent was answered, so that nothing written after this waits in
        its socket.
        """
        node = self._required(broker_id, RUNNING)
        self._send(node, FREEZE)
        self._status[node.id] = FROZEN
        time.sleep(2 * fetch_wait_ms(node, self._nodes.config) / 1000)

    def thaw(self, broker_id: int) -> None:
        """Let a frozen broker go on (SIGCONT)."""
        node = self._required(broker_id, FROZEN)
        self._send(node, THAW)
        self._status[node.id] = RUNNING

    def kill(self, broker_id: int) -> None:
        """Kill the process of a broker (SIGKILL); what it had written stays on its disk."""
        node = self._required(broker_id, RUNNING, FROZEN)
        self._send(node, KILL)
        self._wait_end(node)

    def lose_power(self, broker_id: int, flushed_to: Mapping[TopicPartition, int], torn_bytes: int = 0) -> None:
        """Kill a broker, and cut logs on its disk as if what was not flushed had been in memory alone.

        Parameters
        ----------
        broker_id : int
            One that is running or frozen.
        flushed_to : mapping of TopicPartition to int
            Where each of these logs ends on the disk: the first offset of a batch. Others lose nothing.
        torn_bytes : int
            How many bytes of the batch that follows have reached the disk.
        """
        self.kill(broker_id)
        for place, offset in flushed_to.items():
            cut_log(self.disk(broker_id), *place, offset, torn_bytes)

    def stop(self, broker_id: int) -> None:
        """Stop a broker cleanly (SIGTERM): it gives away what it leads, and writes its checkpoints."""
        node = self._required(broker_id, RUNNING)
        self._send(node, STOP)
        self._wait_end(node)

    def restart(self, broker_id: int, has_to_be_alive: bool = True) -> None:
        """Start a broker again that is down, on the disk that it left.

        Parameters
        ----------
        broker_id : int
            One that is down.
        has_to_be_alive : bool
            Whether to wait until the others count it as alive. A killed one may not come back before the session of
            its old process has ended: 1.5 s, unless ``broker.session.timeout.ms`` is another.
        """
        node = self._required(broker_id, DOWN)
        self._nodes.expected_down.discard(node.id)
        self._nodes.launch(node)
        self._status[node.id] = RUNNING
        if has_to_be_alive:
            self._nodes.wait_alive([node], time.monotonic() + START_TIMEOUT_S)

    # --- inside

    def _brokers_of_it(self) -> list[Node]:
        found = [node for node in self._nodes.nodes if node.is_broker]
        if not (found and self._status):
            raise KafkaNotStarted("this cluster was not started: with Kafka() as kafka, or kafka = Kafka().start()")
        return found

    def _node(self, broker_id: int) -> Node:
        by_id = {node.id: node for node in self._brokers_of_it()}
        if broker_id not in by_id:
            raise KafkaLearnError(f"there is no broker {broker_id!r}; there are {listed(by_id)}")
        return by_id[broker_id]

    def _running_ids(self) -> list[int]:
        return [node.id for node in self._brokers_of_it() if self._status[node.id] == RUNNING]

    def _required(self, broker_id: int, *statuses: str) -> Node:
        node = self._node(broker_id)
        if self._status[node.id] not in statuses:
            raise KafkaLearnError(
                f"broker {broker_id} is {self._status[node.id]}; this is for one that is {listed(statuses, last='or')}"
            )
        return node

    def _send(self, node: Node, which: str) -> None:
        if which in (KILL, STOP):
            self._nodes.expected_down.add(node.id)
        self._nodes.processes.send(node.name, which)
        self._brokers.forget(self._address_of(node.id))

    def _wait_end(self, node: Node) -> None:
        if self._nodes.processes.wait(node.name, STOP_TIMEOUT_S) is None:
            raise KafkaNotStarted(
                f"broker {node.id} has not ended in {STOP_TIMEOUT_S:.0f} s: a clean stop waits for a controller that "
                "answers; kill() ends it at once"
            )
        self._status[node.id] = DOWN

    def _askable(self) -> list[Address]:
        return [self._address_of(broker_id) for broker_id in self._running_ids()]

    def _address_of(self, broker_id: int) -> Address:
        return HOST, self._node(broker_id).port
