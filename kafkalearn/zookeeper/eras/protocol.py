"""Old consumers in the world of a scenario: there is no coordinator, only ZooKeeper, and each for himself."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.world.clock import HEARTBEAT_THREAD, NETWORK
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.protocol import GroupView, Protocol
from kafkalearn.group.world.world import World
from kafkalearn.group_states import EMPTY, PREPARING, STABLE
from kafkalearn.phrases import counted
from kafkalearn.zookeeper.connector.effects import (
    Asked,
    AttemptFailed,
    ConnectorEffect,
    GaveUp,
    RebalanceBegan,
    Rebalanced,
    Released,
    SessionGone,
    Threw,
)
from kafkalearn.zookeeper.connector.events import (
    BrokerStarted,
    ConnectorEvent,
    Crash,
    HandleEvent,
    Ping,
    RebalanceStep,
    Reconnect,
    TimePassed,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
    Turn,
)
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.simulator import step
from kafkalearn.zookeeper.connector.state import BACKOFF, RELEASE, Group, start
from kafkalearn.zookeeper.eras.client import OldClient
from kafkalearn.zookeeper.layout import BROKER_TOPICS
from kafkalearn.zookeeper.schedules import possible_turns


class ZookeeperProtocol(Protocol):
    """A group of old consumers and its ZooKeeper, led turn by turn in virtual time."""

    def __init__(self, world: World, settings: Settings) -> None:
        """A broker and the topics are there, and no consumer."""
        self.world = world
        self.settings = settings
        self.group: Group = start(settings)
        self.clients: dict[str, OldClient] = {}
        self.agreed_count = 0  # how often the group came to rest
        self.failed_attempt_count = self.given_up_count = 0
        self._is_at_rest = True
        self._planned: set[tuple[str, int, type]] = set()  # turns that are in the queue of calls
        self._busy_until_ms: dict[tuple[str, type], int] = {}  # a turn's requests are on their way
        self._expiries: set[int] = set()  # moments at which a session may expire
        self._cause = ""
        for event in (BrokerStarted(), *(TopicCreated(name, count) for name, count in world.topics.items())):
            self.group = step(settings, self.group, event)

    # ---- what the engine asks for

    def client(self, consumer: Consumer) -> OldClient:
        """A client that has not asked for its streams yet."""
        self.synchronise()
        self.clients[consumer.name] = OldClient(self, consumer)
        return self.clients[consumer.name]

    def topic_changed(self, topic: str) -> None:
        """The topic's node in ZooKeeper changes, and watches report it."""
        count, is_there = self.world.topics.get(topic), topic in self.group.tree.children(BROKER_TOPICS)
        if count is None:
            self._cause = f"{topic} is deleted"
            self.do(TopicDeleted(topic))
        else:
            self._cause = f"{topic} has {counted(count, 'partition')}"
            self.do(TopicGrown(topic, count) if is_there else TopicCreated(topic, count))

    def view(self) -> GroupView:
        """Nobody knows the state of the group; it is at rest when nothing is left to do."""
        live = [each for each in self.group.connectors if each.is_running]
        if not live:
            return GroupView(EMPTY, self.agreed_count)
        return GroupView(STABLE if self.group.is_quiet else PREPARING, self.agreed_count)

    # ---- one event after the other

    def do(self, event: ConnectorEvent, cause: str = "") -> None:
        """Something happens to the group now."""
        self.synchronise()
        if cause:
            self._cause = cause
        elif isinstance(event, Reconnect):
            self._cause = f"{event.consumer} has a new session"
        self.group = step(self.settings, self.group, event)
        asked_count = sum(
            effect.read_count + effect.write_count for effect in self.group.effects if isinstance(effect, Asked)
        )
        self._set_busy(event, asked_count)
        for effect in self.group.effects:
            self._show(effect)
        self._show_fetching()
        self._look_whether_at_rest()
        self._plan()

    def synchronise(self) -> None:
        """Let ZooKeeper's time come up to the world's, and see which processes are gone."""
        for name, client in self.clients.items():
            connector = self.group.connector(name)
            if connector is not None and connector.is_running and not client.is_alive and client.has_asked:
                self.group = step(self.settings, self.group, Crash(name))
        passed_ms = self.world.clock.now_ms - self.group.tree.now_ms
        if passed_ms > 0:
            self.group = step(self.settings, self.group, TimePassed(passed_ms))
            for effect in self.group.effects:
                self._show(effect)

    def ping(self, consumer: Consumer) -> None:
        """A client says that it lives."""
        self.synchronise()
        connector = self.group.connector(consumer.name)
        if connector is None or not connector.is_running:
            return
        if self.group.tree.session(connector.session) is not None:
            self.do(Ping(consumer.name))
        else:
            self._plan()

    def _set_busy(self, event: ConnectorEvent, asked_count: int) -> None:
        """A thread goes on when the answers to its requests are there, one after the other."""
        name = getattr(event, "consumer", None)
        connector = None if name is None else self.group.connector(name)
        if connector is None:
            return
        kind = RebalanceStep if not isinstance(event, HandleEvent) else HandleEvent
        until_ms = self.world.clock.now_ms + asked_count * 2 * self.world.settings["latency.ms"]
        attempt = connector.attempt
        if kind is RebalanceStep and attempt is not None and attempt.stage == BACKOFF:
            until_ms += self.settings.rebalance_backoff_ms
        self._busy_until_ms[connector.name, kind] = until_ms

    # ---- turns

    def _plan(self) -> None:
        """Put the turns that are possible now into the queue of calls, each once; and the ends of sessions."""
        now_ms, latency_ms = self.world.clock.now_ms, self.world.settings["latency.ms"]
        for turn in possible_turns(self.group):
            client = self.clients[turn.consumer]
            key = turn.consumer, client.incarnation, type(turn)
            if key in self._planned or not client.is_alive:
                continue
            self._planned.add(key)
            due_ms = max(now_ms, self._busy_until_ms.get((turn.consumer, type(turn)), 0))
            due_ms += latency_ms if isinstance(turn, HandleEvent) else 0
            self.world.threads.at(due_ms, client.consumer, client.incarnation, HEARTBEAT_THREAD, self._take, key, turn)
        for session in self.group.tree.sessions:
            if session.expires_ms not in self._expiries:
                self._expiries.add(session.expires_ms)
                self.world.clock.at(session.expires_ms, NETWORK, self._look_for_expired)

    def _take(self, key: tuple[str, int, type], turn: Turn) -> None:
        consumer = self.clients[turn.consumer].consumer
        if self.world.clock.now_ms < consumer.disconnected_until_ms:
            until_ms = consumer.disconnected_until_ms
            return self.world.threads.at(until_ms, consumer, key[1], HEARTBEAT_THREAD, self._take, key, turn)
        self._planned.discard(key)
        self.synchronise()
        if turn in possible_turns(self.group):
            self.do(turn)
        else:
            self._plan()

    def _look_for_expired(self) -> None:
        self._expiries.discard(self.world.clock.now_ms)
        self.synchronise()
        self._look_whether_at_rest()
        self._plan()

    # ---- what is seen of it

    def _show(self, effect: ConnectorEffect) -> None:
        recorder, processes = self.world.recorder, self.world.processes
        match effect:
            case RebalanceBegan(name, thread):
                recorder.rebalance_starts(self._cause or f"{name} rebalances")
                recorder.note(f"{name} rebalances on its {thread} thread")
            case Released(name):
                processes.take_away(self.clients[name].consumer, "releases its partitions")
            case AttemptFailed(name, number, why):
                self.failed_attempt_count += 1
                recorder.note(f"{name} fails in try {number + 1}: {why}")
            case Rebalanced(name, partitions):
                processes.assign(self.clients[name].consumer, partitions)
            case GaveUp(name):
                self.given_up_count += 1
                recorder.note(f"{name} gives up after {self.settings.rebalance_max_retries} tries")
            case Threw(name, error):
                recorder.note(f"{name} is thrown {error.partition(':')[0].rpartition('.')[2]}")
            case SessionGone(session, has_expired=True):
                self._cause = f"the session of {session.partition('/')[0]} expires"
                recorder.note(self._cause)

    def _show_fetching(self) -> None:
        """Whoever has stopped its fetchers, waits; whoever gave up has nothing to read."""
        for each in self.group.connectors:
            client = self.clients[each.name]
            if client.is_alive and each.is_running:
                waits = each.attempt is not None and (not each.is_fetching or each.attempt.stage == RELEASE)
                self.world.processes.set_waiting(client.consumer, waits)

    def _look_whether_at_rest(self) -> None:
        if self.group.is_quiet and not self._is_at_rest:
            self.agreed_count += 1
            self.world.recorder.rebalance_ends(self.agreed_count)
            self.world.recorder.note("")
        self._is_at_rest = self.group.is_quiet
        self.group = replace(self.group, effects=())
