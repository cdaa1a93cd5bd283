"""One scenario in three eras: a group that agrees through ZooKeeper, by the classic protocol, by that of KIP-848.

The old consumers are clients of the one engine (`kafkalearn.scenarios`), with the same network, threads and time. Last
comes what one more consumer costs a group, in each of the two older eras.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypedDict

from kafkalearn.base.checks import iterable, mapping, one_of, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.trace import Trace
from kafkalearn.groups.defaults import EMPTY, PREPARING, STABLE
from kafkalearn.scenarios import consumers
from kafkalearn.scenarios.consumers import HEARTBEAT_THREAD, NETWORK, Client, Clock, Consumer, GroupView, Recorder
from kafkalearn.scenarios.durations import play_newcomer
from kafkalearn.scenarios.engine import Engine, World, new_world
from kafkalearn.scenarios.events import Scenario, ScenarioEvent, Subscription
from kafkalearn.scenarios.events import Settings as WorldSettings
from kafkalearn.scenarios.outcome import Outcome
from kafkalearn.scenarios.playing import simulate
from kafkalearn.scenarios.text import scenario as parsed
from kafkalearn.zookeeper.connector import model
from kafkalearn.zookeeper.connector.simulator import step
from kafkalearn.zookeeper.layout import BROKER_TOPICS, WHITE_LIST, consumer_id
from kafkalearn.zookeeper.schedules import play, possible_turns
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter

__all__ = [
    "ERAS",
    "era_rows",
    "play_eras",
    "simulate_zookeeper",
]


START_OF_TIME_MS = 1_400_000_000_000  # the wall clock when a scenario begins
PINGS_PER_TIMEOUT = 3


class OldConsumers(Protocol):
    """The group that a process belongs to, as its client sees it."""

    world: World
    settings: model.Settings
    group: model.Group

    def do(self, event: model.ConnectorEvent, cause: str = "") -> None:
        """Something happens to the group now."""

    def ping(self, consumer: Consumer) -> None:
        """A client says that it lives."""


class OldClient(Client):
    """Asks for its streams once, keeps its session alive, and cannot change its subscription."""

    def __init__(self, protocol: OldConsumers, consumer: Consumer) -> None:
        """Of a process that has just started."""
        self.protocol = protocol
        self.consumer = consumer
        self.incarnation = consumer.incarnation
        self.has_asked = False

    @property
    def is_alive(self) -> bool:
        """Whether its process is running."""
        return self.consumer.is_alive(self.incarnation)

    def poll(self) -> None:
        """The first call asks for the streams; an old consumer has no poll()."""
        if self.has_asked:
            return
        self.has_asked = True
        name, now_ms = self.consumer.name, START_OF_TIME_MS + self.protocol.world.clock.now_ms
        event = model.CreateMessageStreams(
            name,
            asked_for(self.consumer.subscription),
            consumer_id(self.protocol.settings.group, name, now_ms, self.incarnation << 32),
            now_ms,
        )
        self.protocol.do(event, f"{name} starts")
        self._ping_later(self.consumer.first_heartbeat_ms(self._ping_interval_ms))

    @property
    def _ping_interval_ms(self) -> int:
        settings = self.protocol.settings
        granted_ms = settings.zookeeper.granted_timeout_ms(settings.zookeeper_session_timeout_ms)
        return max(1, granted_ms // PINGS_PER_TIMEOUT)

    def _ping_later(self, delay_ms: int) -> None:
        self.protocol.world.threads.after(delay_ms, self.consumer, HEARTBEAT_THREAD, self._ping)

    def _ping(self) -> None:
        if self.protocol.world.clock.now_ms >= self.consumer.disconnected_until_ms:
            self.protocol.ping(self.consumer)
        self._ping_later(self._ping_interval_ms)

    def poll_interval_exceeded(self) -> None:
        """There is no such limit: an application may work on its records for ever."""

    def subscription_changed(self) -> None:
        """Streams are asked for once in the life of an old consumer."""
        raise KafkaLearnError(
            f"{self.consumer.name} is an old consumer and cannot subscribe again; let it restart instead"
        )

    def close(self) -> None:
        """Shut down; a rebalance that is going on is waited for."""
        name = self.consumer.name
        self.protocol.do(model.Shutdown(name), f"{name} leaves")
        while (connector := self.protocol.group.connector(name)) is not None and connector.attempt is not None:
            self.protocol.do(model.RebalanceStep(name))


def asked_for(subscription: Subscription) -> Streams | Filtered:
    """What an old consumer asks for: one stream of each topic, or one by a filter.

    >>> asked_for(Subscription(("orders", "mail")))
    Streams(stream_counts=(('orders', 1), ('mail', 1)))
    """
    if subscription.pattern is None:
        return Streams(tuple((topic, 1) for topic in subscription.topics))
    return Filtered(TopicFilter(WHITE_LIST, subscription.pattern))


class ZookeeperProtocol(consumers.Protocol):
    """A group of old consumers and its ZooKeeper, led turn by turn in virtual time: there is no coordinator."""

    def __init__(self, world: World, settings: model.Settings) -> None:
        """A broker and the topics are there, and no consumer."""
        self.world = world
        self.settings = settings
        self.group: model.Group = model.start(settings)
        self.clients: dict[str, OldClient] = {}
        self.agreed_count = 0  # how often the group came to rest
        self.failed_attempt_count = self.given_up_count = 0
        self._is_at_rest = True
        self._planned: set[tuple[str, int, type]] = set()  # turns that are in the queue of calls
        self._busy_until_ms: dict[tuple[str, type], int] = {}  # a turn's requests are on their way
        self._expiries: set[int] = set()  # moments at which a session may expire
        self._cause = ""
        for event in (
            model.BrokerStarted(0),
            *(model.TopicCreated(name, count) for name, count in world.topics.items()),
        ):
            self.group = step(settings, self.group, event)

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
            self.do(model.TopicDeleted(topic))
        else:
            self._cause = f"{topic} has {counted(count, 'partition')}"
            self.do(model.TopicGrown(topic, count) if is_there else model.TopicCreated(topic, count))

    def view(self) -> GroupView:
        """Nobody knows the state of the group; it is at rest when nothing is left to do."""
        live = [each for each in self.group.connectors if each.is_running]
        if not live:
            return GroupView(EMPTY, self.agreed_count)
        return GroupView(STABLE if self.group.is_quiet else PREPARING, self.agreed_count)

    def do(self, event: model.ConnectorEvent, cause: str = "") -> None:
        """Something happens to the group now."""
        self.synchronise()
        if cause:
            self._cause = cause
        elif isinstance(event, model.Reconnect):
            self._cause = f"{event.consumer} has a new session"
        self.group = step(self.settings, self.group, event)
        asked_count = sum(
            effect.read_count + effect.write_count
            for effect in self.group.effects
            if isinstance(effect, model.RequestsSent)
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
                self.group = step(self.settings, self.group, model.Crash(name))
        passed_ms = self.world.clock.now_ms - self.group.tree.now_ms
        if passed_ms > 0:
            self.group = step(self.settings, self.group, model.TimePassed(passed_ms))
            for effect in self.group.effects:
                self._show(effect)

    def ping(self, consumer: Consumer) -> None:
        """A client says that it lives."""
        self.synchronise()
        connector = self.group.connector(consumer.name)
        if connector is None or not connector.is_running:
            return
        if self.group.tree.session(connector.session) is not None:
            self.do(model.Ping(consumer.name))
        else:
            self._plan()

    def _set_busy(self, event: model.ConnectorEvent, asked_count: int) -> None:
        """A thread goes on when the answers to its requests are there, one after the other."""
        name = getattr(event, "consumer", None)
        connector = None if name is None else self.group.connector(name)
        if connector is None:
            return
        kind = model.RebalanceStep if not isinstance(event, model.HandleEvent) else model.HandleEvent
        until_ms = self.world.clock.now_ms + asked_count * 2 * self.world.settings["latency.ms"]
        attempt = connector.attempt
        if kind is model.RebalanceStep and attempt is not None and attempt.stage == model.BACKOFF:
            until_ms += self.settings.rebalance_backoff_ms
        self._busy_until_ms[connector.name, kind] = until_ms

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
            due_ms += latency_ms if isinstance(turn, model.HandleEvent) else 0
            self.world.threads.at(due_ms, client.consumer, client.incarnation, HEARTBEAT_THREAD, self._take, key, turn)
        for session in self.group.tree.sessions:
            if session.expires_ms not in self._expiries:
                self._expiries.add(session.expires_ms)
                self.world.clock.at(session.expires_ms, NETWORK, self._look_for_expired)

    def _take(self, key: tuple[str, int, type], turn: model.Turn) -> None:
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

    def _show(self, effect: model.ConnectorEffect) -> None:
        recorder, processes = self.world.recorder, self.world.processes
        match effect:
            case model.RebalanceBegan(name, thread):
                recorder.rebalance_starts(self._cause or f"{name} rebalances")
                recorder.note(f"{name} rebalances on its {thread} thread")
            case model.Released(name):
                processes.take_away(self.clients[name].consumer, "releases its partitions")
            case model.AttemptFailed(name, number, why):
                self.failed_attempt_count += 1
                recorder.note(f"{name} fails in try {number + 1}: {why}")
            case model.Rebalanced(name, partitions):
                processes.assign(self.clients[name].consumer, partitions)
            case model.GaveUp(name):
                self.given_up_count += 1
                recorder.note(f"{name} gives up after {self.settings.rebalance_max_retries} tries")
            case model.Threw(name, error):
                recorder.note(f"{name} is thrown {error.partition(':')[0].rpartition('.')[2]}")
            case model.SessionGone(session, has_expired=True):
                self._cause = f"the session of {session.partition('/')[0]} expires"
                recorder.note(self._cause)

    def _show_fetching(self) -> None:
        """Whoever has stopped its fetchers, waits; whoever gave up has nothing to read."""
        for each in self.group.connectors:
            client = self.clients[each.name]
            if client.is_alive and each.is_running:
                waits = each.attempt is not None and (not each.is_fetching or each.attempt.stage == model.RELEASE)
                self.world.processes.set_waiting(client.consumer, waits)

    def _look_whether_at_rest(self) -> None:
        if self.group.is_quiet and not self._is_at_rest:
            self.agreed_count += 1
            self.world.recorder.rebalance_ends(self.agreed_count)
            self.world.recorder.note("")
        self._is_at_rest = self.group.is_quiet
        self.group = replace(self.group, effects=())


ZOOKEEPER, CLASSIC, CONSUMER = "zookeeper", "classic", "consumer"
ERAS: Mapping[str, str] = MappingProxyType({ZOOKEEPER: "1.1", CLASSIC: "2.4", CONSUMER: "4.3"})
"""Each era with the release that stands for it; in 2.4 consumers still name range alone, and give up everything."""


def simulate_zookeeper(
    scenario: Scenario | str | Sequence[ScenarioEvent],
    settings: model.Settings | None = None,
    latency_ms: int = 2,
) -> Outcome:
    """Simulate a scenario whose consumers are old ones, that agree through ZooKeeper.

    Parameters
    ----------
    scenario : Scenario, str, or sequence of events
        A story; `kafkalearn.scenarios.text` says how it is written. Settings of members, static members and
        poll intervals mean nothing here; nobody can subscribe a second time.
    settings : kafkalearn.zookeeper.connector.Settings, optional
        Of the consumers and of ZooKeeper; without it Kafka's defaults.
    latency_ms : int
        One way between a consumer and ZooKeeper: a thread sends its requests one after the other.

    Returns
    -------
    Outcome
        As from `kafkalearn.scenarios.simulate`. The generation counts how often the group came to rest.

    Raises
    ------
    KafkaLearnError
        If a line of the scenario cannot be read, or asks for what old consumers cannot do.

    Examples
    --------
    >>> story = '''
    ... topic orders has 6 partitions
    ... at 0 s: c1, c2, c3 join
    ... at 60 s: c2 pauses for 50 s
    ... '''
    >>> [row["cause"] for row in simulate_zookeeper(story).rebalances]
    ['c1 starts; c2 starts; c3 starts', 'the session of c2 expires', 'c2 has a new session']
    """
    story = scenario if isinstance(scenario, Scenario) else parsed(scenario)
    return play_old_consumers(story, model.Settings() if settings is None else settings, latency_ms)[0]


def play_old_consumers(story: Scenario, settings: model.Settings, latency_ms: int) -> tuple[Outcome, ZookeeperProtocol]:
    """The outcome of a scenario, and the group of old consumers at its end."""
    clock = Clock()
    shown = WorldSettings(ERAS[ZOOKEEPER], {"latency.ms": latency_ms})
    world = new_world(story, shown, clock, Recorder(clock))
    protocol = ZookeeperProtocol(world, settings)
    recorder = Engine(story, world, protocol).run()
    return Outcome(story, shown, ZOOKEEPER, Trace(recorder.trace), tuple(recorder.rebalances)), protocol


def play_eras(
    scenario: Scenario | str | Sequence[ScenarioEvent],
    zookeeper: model.Settings | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    eras: Sequence[str] = tuple(ERAS),
) -> dict[str, Outcome]:
    """The outcome of one scenario in each era.

    Parameters
    ----------
    scenario : Scenario, str, or sequence of events
        One that all eras can play.
    zookeeper : kafkalearn.zookeeper.connector.Settings, optional
        Of the old consumers.
    settings : mapping
        For ``"classic"`` and ``"consumer"`` each a mapping by Kafka's names, as for `kafkalearn.scenarios.simulate`;
        ``release`` may be among them.
    eras : sequence of str
        Names in `ERAS`.

    Raises
    ------
    KafkaLearnError
        If there is no era of such a name, or the scenario cannot be played.

    Examples
    --------
    >>> outcomes = play_eras("at 0 s: c1, c2 join")
    >>> {era: outcome.rebalance_count for era, outcome in outcomes.items()}
    {'zookeeper': 1, 'classic': 1, 'consumer': 2}
    """
    story = scenario if isinstance(scenario, Scenario) else parsed(scenario)
    given: Mapping[str, Mapping[str, object]] = (
        {} if settings is None else mapping("settings", settings, of="era to settings")
    )
    for era in given:
        one_of("era", era, (CLASSIC, CONSUMER))
    outcomes: dict[str, Outcome] = {}
    for era in iterable("eras", eras, of="names"):
        if one_of("era", era, ERAS) == ZOOKEEPER:
            outcomes[era] = simulate_zookeeper(story, zookeeper)
        else:
            values: dict[str, Any] = dict(given.get(era, {}))  # `simulate` looks at what they are
            release = values.pop("release", ERAS[era])
            outcomes[era] = simulate(story, era, release=release, settings=values)
    return outcomes


class EraRow(TypedDict):
    """What a scenario came to in one era."""

    era: str
    release: str
    rebalances: int
    agreement_ms: int
    standstill_ms: int
    unread_partition_ms: int
    records_not_read: int
    records_read_twice: int


def era_rows(outcomes: Mapping[str, Outcome]) -> list[EraRow]:
    """What can be compared of the eras, a row for each.

    *agreement_ms* is how long the rebalances took together, *standstill_ms* how long nobody read anything,
    *unread_partition_ms* how long partitions were not read, summed over them.

    Raises
    ------
    KafkaLearnError
        If `outcomes` is not a mapping, or the name of an era is not text.

    Examples
    --------
    >>> [row["era"] for row in era_rows(play_eras("at 0 s: c1, c2 join"))]
    ['zookeeper', 'classic', 'consumer']
    """
    return [
        {
            "era": text("an era of outcomes", era),
            "release": outcome.settings.release,
            "rebalances": outcome.rebalance_count,
            "agreement_ms": sum(row["duration_ms"] for row in outcome.rebalances),
            "standstill_ms": outcome.group_standstill_ms,
            "unread_partition_ms": outcome.unread_partition_ms,
            "records_not_read": outcome.records_not_read,
            "records_read_twice": outcome.records_read_twice,
        }
        for era, outcome in mapping("outcomes", outcomes, of="era to its Outcome").items()
    ]


# How long old consumers take to agree when one more joins, some of them slow; and what is read twice.

MOST_MEMBERS = 99
LONGEST_PAUSE_MS = 20_000  # well below the session time-out that is taken here
SESSION_TIMEOUT_MS = 40_000
NEWCOMER_MS = 60_000  # when the newcomer starts, and the pauses begin
LATENCY_MS = 2
HEARTBEAT_INTERVAL_MS = 3000


class NewcomerCost(NamedTuple):
    """What it costs a group of old consumers that one more joins."""

    agreement_ms: int  # from its start until nobody has anything left to do
    failed_attempt_count: int  # tries of all consumers that found another owner
    given_up_count: int  # consumers that failed in all their tries, and read nothing from then on
    unread_count: int  # partitions that nobody reads from then on


def newcomer(
    pause_ms: Sequence[int], partition_count: int, backoff_ms: int = 2000, max_retries: int = 4
) -> NewcomerCost:
    """What it costs that one more consumer joins a group, some of whose members stand still at this moment.

    Nobody commits: with ``auto.commit.enable`` each write takes a request's time more.

    Parameters
    ----------
    pause_ms : sequence of int
        For each member of the group, in the order of their ids, how long it stands still from the moment on at which
        the newcomer starts; 0: not at all. At most 20 s, so that no session expires.
    partition_count : int
        Of the one topic.
    backoff_ms, max_retries : int
        ``rebalance.backoff.ms`` and ``rebalance.max.retries``.

    Raises
    ------
    KafkaLearnError
        If there are no members, or more than 99, or a number is out of its bounds.

    Examples
    --------
    >>> newcomer([0, 0, 0], 6)
    NewcomerCost(agreement_ms=88, failed_attempt_count=0, given_up_count=0, unread_count=0)
    >>> newcomer([0, 0, 3001], 6).failed_attempt_count, newcomer([0, 0, 15_001], 6).given_up_count
    (2, 1)
    """
    pauses = [whole_number("pause_ms", each, 0, LONGEST_PAUSE_MS) for each in sequence("pause_ms", pause_ms)]
    whole_number("the number of members", len(pauses), at_least=1, at_most=MOST_MEMBERS)
    whole_number("partition_count", partition_count, at_least=1, at_most=10_000)
    names = [f"m{at:02}" for at in range(1, len(pauses) + 1)]
    story = [f"topic orders has {partition_count} partitions", f"at 0 s: {', '.join(names)} join"]
    story += [f"at {NEWCOMER_MS} ms: {name} pauses for {ms} ms" for name, ms in zip(names, pauses, strict=True) if ms]
    last_ms = NEWCOMER_MS + LONGEST_PAUSE_MS + (backoff_ms + 10_000) * (max_retries + 1)
    story += [f"at {NEWCOMER_MS} ms: newcomer joins", f"the end is at {last_ms} ms"]
    settings = model.Settings(
        rebalance_max_retries=max_retries,
        rebalance_backoff_ms=backoff_ms,
        auto_commit_enable=False,
        zookeeper_session_timeout_ms=SESSION_TIMEOUT_MS,
    )
    outcome, protocol = play_old_consumers(parsed("\n".join(story)), settings, LATENCY_MS)
    read = sum(map(bool, outcome.trace[-1].state.owners().values()))
    costs = protocol.failed_attempt_count, protocol.given_up_count, partition_count - read
    return NewcomerCost(outcome.rebalances[-1]["duration_ms"], *costs)


class ClassicCost(NamedTuple):
    """What it costs a group of the classic protocol, eager, that one more joins."""

    rebalance_ms: int  # from the newcomer's JoinGroup until the group is Stable
    thrown_out_count: int  # members whose poll took longer than max.poll.interval.ms meanwhile
    read_twice: int  # records


def classic_newcomer(
    work_ms: Sequence[int], uncommitted: Sequence[int], max_poll_interval_ms: int = 300_000, auto_commit: bool = True
) -> ClassicCost:
    """What the same newcomer costs a group of the classic protocol, eager (``range``), with long polls for pauses.

    Parameters
    ----------
    work_ms : sequence of int
        For each member how long the poll takes that it is working on, in ms, as
        `kafkalearn.scenarios.durations.newcomer_ms` takes it.
    uncommitted : sequence of int
        For each member the records that it has read since its last commit.
    max_poll_interval_ms : int
        ``max.poll.interval.ms``.
    auto_commit : bool
        ``enable.auto.commit``: whether everybody commits before it gives its partitions up. Who was thrown out cannot.

    Raises
    ------
    KafkaLearnError
        If there are fewer than two members, or not as many numbers of records, or a number is out of its bounds.

    Examples
    --------
    >>> classic_newcomer([0, 0, 20_000], [5, 0, 7])
    ClassicCost(rebalance_ms=19000, thrown_out_count=0, read_twice=0)
    >>> classic_newcomer([0, 0, 20_000], [5, 0, 7], max_poll_interval_ms=10_000)
    ClassicCost(rebalance_ms=9000, thrown_out_count=1, read_twice=7)
    """
    records = [whole_number("uncommitted", each, at_least=0) for each in sequence("uncommitted", uncommitted)]
    works = [whole_number("work_ms", each, at_least=0) for each in sequence("work_ms", work_ms)]
    if len(records) != len(works):
        raise KafkaLearnError(
            f"work_ms and uncommitted have a number for each member, got {len(works)} and {len(records)}"
        )
    outcome = play_newcomer(works, HEARTBEAT_INTERVAL_MS, max_poll_interval_ms)
    rebalance = outcome.rebalances[1]
    ended_ms = rebalance["from_ms"] + rebalance["duration_ms"]
    members = outcome.at(ended_ms + 2 * LATENCY_MS).state.members  # the answer to SyncGroup is there
    is_in = {each.name: bool(each.owned) for each in members}
    stays = [is_in[f"m{at}"] for at in range(1, len(works) + 1)]
    again = sum(count for count, is_member in zip(records, stays, strict=True) if not (auto_commit and is_member))
    return ClassicCost(rebalance["duration_ms"], stays.count(False), again)


def read_twice(uncommitted: Sequence[int], auto_commit: bool = True) -> int:
    """How many records are read a second time when one more consumer joins.

    Parameters
    ----------
    uncommitted : sequence of int
        For each member, which has one partition, the records that it has read since its last commit.
    auto_commit : bool
        ``auto.commit.enable``: whether everybody commits before it gives its partitions up.

    Examples
    --------
    >>> read_twice([5, 0, 7]), read_twice([5, 0, 7], auto_commit=False)
    (0, 12)
    """
    counts = [whole_number("uncommitted", each, at_least=0) for each in sequence("uncommitted", uncommitted)]
    whole_number("the number of members", len(counts), at_least=1, at_most=MOST_MEMBERS)
    settings = model.Settings(auto_commit_enable=auto_commit, auto_offset_reset="smallest")
    names = [f"m{at:02}" for at in range(1, len(counts) + 1)]
    joins = [model.CreateMessageStreams(name, Streams({"orders": 1})) for name in names]
    group = play(settings, [model.BrokerStarted(0), model.TopicCreated("orders", len(counts)), *joins])[-1].state
    for name in names:
        group = step(settings, group, model.CommitOffsets(name))
    for at, count in enumerate(counts):
        if count:
            group = step(settings, group, model.Produce("orders", at, count))
            group = step(settings, group, model.Read(names[at]))
    group = play(settings, [model.CreateMessageStreams("newcomer", Streams({"orders": 1}))], group)[-1].state
    again = 0
    for connector in group.connectors:
        group = step(settings, group, model.Read(connector.name))
        again += sum(each.to_offset - each.from_offset for each in group.effects if isinstance(each, model.RecordsRead))
    return again
