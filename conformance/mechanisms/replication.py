"""Replication through failures: every disk, leader, ISR, epoch and answer after each action.

A partition is on three brokers that are frozen, killed, stopped, cut from power and started again. First the simulator:
an entry of a recorded run has its ``op`` (produce, freeze, thaw, kill, power, stop, restart, wait or pause) with the
words of that kind, and what is written down of a partition has the form of tests/vectors/replication/replication.json.
Then `Run`: a script of failures on a real cluster, with several topics that look on.

A case has ``topics``, each its min ISR, whether its elections may be unclean, and its replicas, the preferred leader
first; and ``actions``, each a list of its kind and its words: ``produce`` (records, acks), ``freeze``, ``thaw``,
``kill``, ``stop``, ``restart`` (a broker), ``power`` (a broker, batches that had not reached its disk), and ``race``
(brokers that freeze, records, acks, a broker that is lost then or 0, lost batches): all of it before anybody is
missed. An action that makes no sense where it stands is passed over; after each line it is waited until all is quiet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism, TooSlow, line, produced
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import extend
from kafkalearn.live.cluster import CONSUMER_REPLICA, HIGH_WATERMARKS, NEWEST_FETCH_WITH_NAMES
from kafkalearn.live.errors import NoAnswer, NotReached, NotThere, Refused, wait_for
from kafkalearn.live.kafka import DOWN, FROZEN, RUNNING, Kafka
from kafkalearn.live.reading import refuse_error
from kafkalearn.live.request_values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.replication import events
from kafkalearn.replication.cluster import ReplicationTrace, pass_time, settle
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import simulate, step
from kafkalearn.replication.state import Controller, Partition

__all__ = [
    "LAGGARDS",
    "WITHOUT_ELR",
    "WITH_ELR",
]


PRODUCE_TIMEOUT_MS = 1_000  # what every request asks for
PATIENCE_MS = 30_000
NOTICED_MS = 100

KINDS: Mapping[str, tuple[type, ...]] = {
    "freeze": (events.BrokerFrozen,),
    "thaw": (events.BrokerThawed, events.BrokerReconnected),
    "kill": (events.BrokerCrashed,),
    "stop": (events.BrokerStopped,),
    "restart": (events.BrokerStarted,),
}
"""The events of each kind of entry that names brokers."""


class NeverReached(AssertionError):  # noqa: N818  (named for what it is)
    """The simulator does not come to a state that the cluster has come to."""


def settings_of(case: Mapping[str, Any], release: str) -> Settings:
    """The settings of the partition of a case."""
    topic, broker = case["topic_config"], case["broker_settings"]
    return Settings(
        release=release,
        min_insync_replicas=int(topic["min.insync.replicas"]),
        is_unclean_election_enabled=topic["unclean.leader.election.enable"] == "true",
        has_eligible_leader_replicas=case["elr"],
        assignment=tuple(case["replicas"]),
        replica_lag_time_max_ms=broker["replica.lag.time.max.ms"],
        fetch_wait_max_ms=broker["replica.fetch.wait.max.ms"],
    )


def begun(settings: Settings) -> ReplicationTrace:
    """The run before the first entry: all is quiet."""
    return settle(settings, simulate(settings, []))


def events_of(entry: Mapping[str, Any]) -> list[events.ReplicationEvent]:
    """What an operator did, as events; the brokers do the rest by themselves."""
    if entry["op"] == "produce":
        values = tuple(entry["answer"]["values"])
        return [events.Produce(entry["n"], entry["acks"], values, PRODUCE_TIMEOUT_MS)]
    brokers = entry.get("brokers", [])
    if entry["op"] == "power":
        return [events.PowerLost(broker_id, entry["flushed_to"]) for broker_id in brokers]
    return [kind(broker_id) for broker_id in brokers for kind in KINDS[entry["op"]]]


def carried_on(
    case: Mapping[str, Any], settings: Settings, trace: ReplicationTrace, entry: Mapping[str, Any]
) -> ReplicationTrace:
    """The run until all is quiet after one entry.

    Raises
    ------
    NeverReached
        If what was waited for does not come about.
    """
    let_time_pass = partial(
        pass_time, settings, session_timeout_ms=case["broker_settings"]["broker.session.timeout.ms"]
    )
    trace = extend(step, settings, trace, events_of(entry))
    if entry["op"] in ("kill", "thaw", "restart", "freeze", "power") and entry.get("state") is None:
        return trace  # it was not waited for
    if entry["op"] == "pause":
        return let_time_pass(trace, ms=entry["ms"])
    begun_at, trace = trace, settle(settings, trace)
    if entry["op"] == "produce" and is_waiting(trace[-1].state):
        return let_time_pass(begun_at, ms=PRODUCE_TIMEOUT_MS)  # in which a laggard may leave, and the answer come
    deadline_ms = trace[-1].state.now_ms + PATIENCE_MS
    while entry["op"] == "wait" and not is_reached(trace[-1].state, entry):
        if trace[-1].state.now_ms >= deadline_ms:
            raise NeverReached(f"{entry} does not come about; there is {metadata(trace[-1].state.controller)}")
        trace = let_time_pass(trace, ms=NOTICED_MS)
    return trace


def is_waiting(partition: Partition) -> bool:
    """Whether a producer waits for its answer."""
    return partition.leader is not None and bool(partition.leader.waiting.produces)


def is_reached(partition: Partition, entry: Mapping[str, Any]) -> bool:
    """Whether what is waited for has come about: a leader, an ISR, who does not count as alive."""
    controller = partition.controller
    leader = -1 if controller.leader is None else controller.leader
    seen = {"leader": leader, "isr": list(controller.isr), "offline": list(controller.fenced)}
    return all(entry.get(name, value) == value for name, value in seen.items())


def shown(partition: Partition) -> dict[str, Any]:
    """The state as a cluster shows it."""
    replicas = {str(id_): replica for id_, replica in enumerate(partition.replicas, start=1)}
    of_status = {
        status: [int(id_) for id_, replica in replicas.items() if replica.broker.status == status]
        for status in ("running", "frozen", "down")
    }
    return {
        "up": of_status["running"],
        "frozen": of_status["frozen"],
        "dead": of_status["down"],
        "metadata": metadata(partition.controller) if of_status["running"] else None,
        "hw": partition.high_watermark,
        "leo": {id_: replica.log_end_offset for id_, replica in replicas.items()},
        "hw_checkpoint": {id_: replica.log.checkpointed_high_watermark for id_, replica in replicas.items()},
        "epochs": {id_: [list(entry) for entry in replica.log.epochs] for id_, replica in replicas.items()},
        "values": {
            id_: [[offset, record.value, record.leader_epoch] for offset, record in enumerate(replica.log.records)]
            for id_, replica in replicas.items()
        },
    }


def metadata(controller: Controller) -> dict[str, Any]:
    """What brokers say of the partition."""
    return {
        "leader": -1 if controller.leader is None else controller.leader,
        "leader_epoch": controller.leader_epoch,
        "isr": list(controller.isr),
        "elr": list(controller.elr),
        "last_known_elr": [] if controller.last_known_leader is None else [controller.last_known_leader],
        "offline": list(controller.fenced),
    }


def producer_answer(frames: ReplicationTrace, leader: int | None) -> dict[str, Any]:
    """The answer to the producer; empty if there was none."""
    for effect in (effect for frame in frames for effect in frame.state.effects):
        if isinstance(effect, events.NoReachableLeader):
            return {"broker": -1, "error": "no reachable leader", "base_offset": None}
        if isinstance(effect, events.ProduceAnswered):
            return {"broker": leader, "error": effect.error, "base_offset": effect.base_offset}
    return {}


def replayed(case: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], release: str) -> list[dict[str, Any]]:
    """The entries of a run, with the states and the answers that the simulator comes to.

    Parameters
    ----------
    case : mapping
        The partition and its cluster.
    entries : sequence of mapping
        What was done; where a ``state`` or an ``answer`` was noted, the simulator's is put in its place.
    release : str
        Of the cluster.

    Raises
    ------
    NeverReached
        As `carried_on`.
    """
    settings = settings_of(case, release)
    trace, after = begun(settings), []
    for entry in entries:
        since, leader = len(trace), trace[-1].state.controller.leader
        trace = carried_on(case, settings, trace, entry)
        done = dict(entry)
        if entry.get("state") is not None:
            done["state"] = shown(trace[-1].state)
        if "answer" in entry:
            done["answer"] = {**producer_answer(trace[since:], leader), "values": entry["answer"]["values"]}
        after.append(done)
    return after


INTERVAL_S = 0.05
QUIET_S = 0.3  # a state that has stood unchanged for so long is kept
PATIENCE_S = 30.0
REJOIN_S = 3.0
COPY_S = 1.0
ACKS = {0: 0, 1: 1, "all": -1}
BROKERS = (1, 2, 3)

LAGGARDS_LEAVE = {"replica.lag.time.max.ms": 1500, "broker.session.timeout.ms": 30000}
"""A follower that stands still leaves the ISR, and its broker is not missed."""

THE_DEAD_ARE_MISSED = {"replica.lag.time.max.ms": 60000, "broker.session.timeout.ms": 2000}
"""A broker that stands still or is gone is fenced, and nobody leaves the ISR for its lag."""

HURRY_MS = 1300
"""Below ``broker.session.timeout.ms``: within this time nobody is missed."""


@dataclass(frozen=True)
class Topic:
    """A topic that looks on."""

    min_isr: int = 1
    is_unclean: bool = False
    replicas: tuple[int, ...] = BROKERS

    @property
    def config(self) -> dict[str, str]:
        """Its settings, as Kafka writes them."""
        return {
            "min.insync.replicas": str(self.min_isr),
            "unclean.leader.election.enable": str(self.is_unclean).lower(),
        }

    def case(self, config: Mapping[str, int], has_elr: bool) -> dict[str, Any]:
        """What a simulator has to know of it and its cluster, in the form of the recorded runs."""
        return {
            "topic_config": self.config,
            "broker_settings": {"replica.fetch.wait.max.ms": 100, **config},
            "elr": has_elr,
            "replicas": self.replicas,
        }


def heal(kafka: Kafka) -> None:
    """Let every broker run again."""
    for broker_id in BROKERS:
        if kafka.status(broker_id) == FROZEN:
            kafka.thaw(broker_id)
        elif kafka.status(broker_id) == DOWN:
            kafka.restart(broker_id)


class Run:
    """A script while it is played on a cluster of three brokers: for each topic its entries."""

    def __init__(self, kafka: Kafka, topics: Mapping[str, Topic]) -> None:
        """Create the topics, on brokers that all run."""
        self.kafka = kafka
        self.topics = dict(topics)
        self.entries: dict[str, list[dict[str, Any]]] = {name: [] for name in topics}
        self._sent = dict.fromkeys(topics, 0)
        self._is_hurried = False
        for name, topic in topics.items():
            kafka.create_topic(name, assignment=[topic.replicas], config=topic.config)
        self._note("start")

    def produce(self, count: int, acks: int | str, has_state: bool = True) -> None:
        """One request with one batch to the leader of each topic; without a state where laggards are about to leave."""
        answers = {name: self._send(name, count, acks) for name in self.topics}
        if self._is_hurried:
            self._await_copies()
        by_topic = {name: {"n": count, "acks": acks, "answer": answers[name]} for name in answers}
        self._note("produce", is_under_way=not has_state, by_topic=by_topic)

    def freeze(self, *brokers: int) -> None:
        """Let brokers stand still."""
        self._do("freeze", brokers)

    def thaw(self, *brokers: int) -> None:
        """Let them go on; to be waited for."""
        self._do("thaw", brokers, is_under_way=True)

    def kill(self, *brokers: int) -> None:
        """Kill brokers; to be waited for."""
        self._do("kill", brokers, is_under_way=True)

    def lose_power(self, broker: int, lost_batches: int, torn_bytes: int = 0) -> None:
        """Cut the power of a broker: so many batches of each topic have not reached its disk; to be waited for."""
        flushed_to = {name: self._offset_before(broker, name, lost_batches) for name in self.topics}
        places = {TopicPartition(name, 0): offset for name, offset in flushed_to.items()}
        self.kafka.lose_power(broker, places, torn_bytes)
        by_topic = {name: {"flushed_to": offset} for name, offset in flushed_to.items()}
        self._note("power", is_under_way=True, by_topic=by_topic, brokers=[broker])

    def stop(self, broker: int) -> None:
        """Stop a broker cleanly."""
        self._do("stop", [broker])

    def restart(self, *brokers: int) -> None:
        """Start brokers again; to be waited for."""
        self._do("restart", brokers, is_under_way=True)

    def wait(self, only: Sequence[str] = (), **wanted: Any) -> None:
        """Wait until each topic, or only these, has this ``isr``, ``leader`` (-1: none), and these are ``offline``."""
        wanted = {name: list(value) if isinstance(value, tuple) else value for name, value in wanted.items()}
        for name in only or self.topics:
            wait_for(lambda name=name: self._metadata(name), lambda seen: seen and wanted.items() <= seen.items(),
                     f"{name} with {wanted}", PATIENCE_S)  # fmt: skip
        by_topic = {name: wanted if name in (only or self.topics) else {} for name in self.topics}
        self._note("wait", by_topic=by_topic)

    def pause(self, ms: int) -> None:
        """Let time pass."""
        time.sleep(ms / 1000)
        self._note("pause", ms=ms)

    @contextmanager
    def in_a_hurry(self, limit_ms: int = HURRY_MS) -> Iterator[None]:
        """Note no states in this block.

        Raises
        ------
        TooSlow
            If it takes so long that a broker may have been missed.
        """
        began, self._is_hurried = time.monotonic(), True
        try:
            yield
        finally:
            self._is_hurried = False
        if (time.monotonic() - began) * 1000 > limit_ms:
            raise TooSlow(f"this machine is too busy: what has to take less than {limit_ms} ms took longer")

    # --- inside

    def _do(self, op: str, brokers: Sequence[int], is_under_way: bool = False) -> None:
        for each in brokers:
            getattr(self.kafka, op)(each)
        self._note(op, is_under_way, brokers=list(brokers))

    def _note(self, op: str, is_under_way: bool = False, by_topic: Mapping[str, dict] | None = None, **facts) -> None:
        states = {} if is_under_way or self._is_hurried else self._quiet_states()
        for name, entries in self.entries.items():
            entries.append({"op": op, **facts, **(by_topic or {}).get(name, {}), "state": states.get(name)})

    def _send(self, name: str, count: int, acks: int | str) -> dict[str, Any]:
        values = [f"v{self._sent[name] + number}" for number in range(count)]
        self._sent[name] += count
        now_ms = int(time.time() * 1000)
        records = [(None, value.encode(), now_ms) for value in values]
        words = produce(TopicPartition(name, 0), records, ACKS[acks], PRODUCE_TIMEOUT_MS)
        leader = wait_for(lambda: self._metadata(name) or {"leader": -1}, lambda _: True)["leader"]
        if leader == -1 or self.kafka.status(leader) != RUNNING:
            return {"broker": -1, "error": "no reachable leader", "base_offset": None, "values": values}
        if acks == 0:
            with self.kafka.connection(leader) as connection:
                connection.send("Produce", words, NEWEST_PRODUCE_WITH_NAMES)
                # The broker reads one request after the other: what comes behind is answered when this is written.
                connection.call("ApiVersions", {}, 0)
            return {"values": values}
        error, offset = produced(self.kafka, leader, words, NEWEST_PRODUCE_WITH_NAMES)
        return {"broker": leader, "error": error, "base_offset": None if offset == -1 else offset, "values": values}

    def _await_copies(self) -> None:
        """Return when those that run have the same and have noted it, so that it is no race what a crash leaves."""
        running = [each for each in BROKERS if self.kafka.status(each) == RUNNING]
        for name in self.topics:
            place = TopicPartition(name, 0)
            try:
                wait_for(
                    lambda place=place: {self._noted(each, place) for each in running},
                    lambda seen: len(seen) == 1, f"{place} everywhere the same", COPY_S,
                )  # fmt: skip
            except NotReached as error:
                raise TooSlow(str(error)) from None

    def _noted(self, broker_id: int, place: TopicPartition) -> tuple[int, int]:
        disk = self.kafka.disk(broker_id)
        return disk.log_end_offset(*place), disk.checkpoint(HIGH_WATERMARKS).get(place, 0)

    def _offset_before(self, broker: int, name: str, batch_count: int) -> int:
        disk = self.kafka.disk(broker)
        batches = disk.batches(name, 0)
        if not batch_count or not batches:
            return disk.log_end_offset(name, 0)
        return batches[-min(batch_count, len(batches))].base_offset

    def _quiet_states(self) -> dict[str, dict[str, Any]]:
        """The states of all topics, once nothing moves."""
        began = time.monotonic()
        since, seen = began, None
        while time.monotonic() < began + PATIENCE_S:
            try:
                now = {name: self._state(name) for name in self.topics}
            except (NoAnswer, Refused, NotThere, OSError):
                now = None
            if now is None or now != seen:
                since, seen = time.monotonic(), now
            elif (time.monotonic() - since > QUIET_S and (self._is_at_rest(now) or since - began > REJOIN_S)) or (
                time.monotonic() - began > REJOIN_S + QUIET_S and time.monotonic() - since > QUIET_S
            ):
                return now
            time.sleep(INTERVAL_S)
        raise NotReached(f"the cluster does not come to rest: {seen}")

    def _is_at_rest(self, states: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether, where a leader runs, all that run are in sync and have noted its high watermark."""
        led = [each for each in states.values() if each["metadata"] and each["metadata"]["leader"] in each["up"]]
        return all(
            {*each["up"]} <= {*each["metadata"]["isr"]}
            and all(each["hw_checkpoint"][str(broker)] == each["hw"] for broker in each["up"])
            for each in led
        )

    def _state(self, name: str) -> dict[str, Any]:
        status = {each: self.kafka.status(each) for each in BROKERS}
        disks = {str(each): self.kafka.disk(each) for each in BROKERS}
        metadata = self._metadata(name)
        leader = metadata["leader"] if metadata else -1
        place = TopicPartition(name, 0)
        return {
            "up": [each for each in BROKERS if status[each] == RUNNING],
            "frozen": [each for each in BROKERS if status[each] == FROZEN],
            "dead": [each for each in BROKERS if status[each] == DOWN],
            "metadata": metadata,
            "hw": self._high_watermark(name, leader) if leader in BROKERS and status[leader] == RUNNING else None,
            "leo": {key: disk.log_end_offset(name, 0) for key, disk in disks.items()},
            "hw_checkpoint": {key: disk.checkpoint(HIGH_WATERMARKS).get(place, 0) for key, disk in disks.items()},
            "epochs": {key: [list(each) for each in disk.leader_epochs(name, 0)] for key, disk in disks.items()},
            "values": {
                key: [
                    [record.offset, record.value.decode(), batch.leader_epoch]
                    for batch in disk.batches(name, 0)
                    for record in batch.records
                ]
                for key, disk in disks.items()
            },
        }

    def _high_watermark(self, name: str, leader: int) -> int:
        """As an answer to Fetch has it.

        ListOffsets gives none while it is below the offset at which the leader took over: OFFSET_NOT_AVAILABLE, for
        as long as fewer brokers than min.insync.replicas are in sync.
        """
        asked = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1}
        topics = [{"topic": name, "partitions": [asked]}]
        values = {
            "replicaId": CONSUMER_REPLICA,
            "maxWaitMs": 0,
            "minBytes": 0,
            "topics": topics,
            "forgottenTopicsData": [],
        }
        answer = self.kafka.ask(leader, "Fetch", values, NEWEST_FETCH_WITH_NAMES)
        (found,) = answer["responses"][0]["partitions"]
        refuse_error(found, f"the high watermark of {name}")
        return found["highWatermark"]

    def _metadata(self, name: str) -> dict[str, Any] | None:
        """What all running brokers know of a topic; None while they do not agree, or none runs."""
        running = [each for each in BROKERS if self.kafka.status(each) == RUNNING]
        seen = [self.kafka.partition(name, 0, each) for each in running]
        if not seen or any(each != seen[0] for each in seen):
            if seen:
                raise NoAnswer(f"the brokers do not agree yet about {name}: {seen}")
            return None
        return {
            "leader": -1 if seen[0].leader is None else seen[0].leader,
            "leader_epoch": seen[0].leader_epoch,
            "isr": list(seen[0].isr),
            "elr": list(seen[0].elr),
            "last_known_elr": list(seen[0].last_known_elr),
            "offline": list(seen[0].offline),
        }


MOST_TOPICS = 4
FEWEST_ACTIONS, MOST_ACTIONS = 1, 10
NEEDED = {
    "freeze": (RUNNING,), "thaw": (FROZEN,), "kill": (RUNNING, FROZEN), "stop": (RUNNING,), "restart": (DOWN,),
    "power": (RUNNING, FROZEN),
}  # fmt: skip
LEADS_TO = {"freeze": FROZEN, "thaw": RUNNING, "kill": DOWN, "stop": DOWN, "restart": RUNNING, "power": DOWN}


def topics_of(case: Case) -> list[Topic]:
    """The topics of a case."""
    return [Topic(min_isr, is_unclean, tuple(replicas)) for min_isr, is_unclean, replicas in case["topics"]]


def sensible(case: Case) -> Iterator[list[Any]]:
    """The actions of a case without those that make no sense where they stand."""
    status = dict.fromkeys(BROKERS, RUNNING)
    for action in case["actions"]:
        kind, *words = action
        if kind == "produce":
            yield action
        elif kind == "race":
            frozen, _, _, lost, _ = words
            stays = [each for each in BROKERS if status[each] == RUNNING and each not in frozen]
            if all(status[each] == RUNNING for each in frozen) and (not lost or lost in stays):
                yield action
                status |= {lost: DOWN} if lost else {}
        elif status[words[0]] in NEEDED[kind]:
            yield action
            status[words[0]] = LEADS_TO[kind]


def play(run: Run, action: list[Any], has_state: bool = True) -> None:
    """Play one action, as far as until it is to be waited for; `has_state` as for `Run.produce`."""
    kind, *words = action
    match kind:
        case "produce":
            count, acks = words
            run.produce(count, acks, has_state)
        case "power":
            run.lose_power(*words)
        case "race":
            frozen, count, acks, lost, batches = words
            with run.in_a_hurry():
                for each in frozen:
                    run.freeze(each)
                run.produce(count, acks)
                if lost and batches:
                    run.lose_power(lost, batches)
                elif lost:
                    run.kill(lost)
                run.thaw(*frozen)
        case _:
            getattr(run, kind)(*words)


def topics() -> Any:
    """A strategy of topics."""
    orders = [list(each) for each in permutations(BROKERS)]
    topic = strategies.tuples(strategies.integers(1, 3), strategies.booleans(), strategies.sampled_from(orders))
    return strategies.lists(topic.map(list), min_size=1, max_size=MOST_TOPICS)


def actions(*kinds: str) -> Any:
    """A strategy of the actions of these kinds; half of them produce."""
    broker, count = strategies.sampled_from(BROKERS), strategies.integers(1, 3)
    batches, acks = strategies.integers(0, 2), strategies.sampled_from(["all", 1, 0])
    frozen = strategies.lists(broker, min_size=1, max_size=2, unique=True)
    words: dict[str, tuple[Any, ...]] = {
        "power": (broker, batches),
        "race": (frozen, count, strategies.sampled_from([1, 0]), strategies.sampled_from((0, *BROKERS)), batches),
    }
    produces = line("produce", count, acks)
    failures = strategies.one_of([line(kind, *words.get(kind, (broker,))) for kind in kinds])
    action = strategies.one_of(produces, failures, failures)
    return strategies.lists(action, min_size=FEWEST_ACTIONS, max_size=MOST_ACTIONS)


RULES = (
    "LEO, HW, remote LEO and ISR of a partition",
    "a cluster left to itself",
    "which release replicates by which rule",
    "the controller: elections, ISR changes, eligible leader replicas",
    "the leader epoch cache",
    "acks, failures and the result of a record",
)
ON_LAG = ("who leaves the ISR and who joins it, by release", "when a follower counts as caught up")
ON_CUTS = ("truncation by high watermark and by leader epoch", "the promises of replication")

MISSED_AFTER_MS = THE_DEAD_ARE_MISSED["broker.session.timeout.ms"] + 1000
LEFT_AFTER_MS = 2 * LAGGARDS_LEAVE["replica.lag.time.max.ms"]


def cases(*kinds: str) -> Callable[[str], Any]:
    """What draws scripts with these kinds of failures; every release can play them all."""
    drawn = strategies.fixed_dictionaries({"topics": topics(), "actions": actions(*kinds)})
    return lambda release: drawn


def ask(is_missed: bool, kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """For each topic what was done, what its producer was answered, and what stood after each action.

    Where brokers are missed, an action is over when those that do not run count as dead; else when time enough for
    a laggard to leave has passed.
    """
    heal(kafka)
    names = {new_name("topic"): topic for topic in topics_of(case)}
    run = Run(kafka, names)
    for action in sensible(case):
        # A frozen follower that has all leaves with the next look behind a record: some time within half its lag time.
        may_leave = not is_missed and any(kafka.status(each) == FROZEN for each in BROKERS)
        play(run, action, has_state=not may_leave)
        lost = [each for each in BROKERS if kafka.status(each) != RUNNING]
        if not is_missed:
            if lost or action[0] == "thaw":
                run.pause(LEFT_AFTER_MS)
        elif len(lost) == len(BROKERS):
            run.pause(MISSED_AFTER_MS)
        elif action[0] != "produce":
            run.wait(offline=lost)
    return {f"topic {number}": run.entries[name] for number, name in enumerate(names)}


def say(config: Mapping[str, int], has_elr: bool, release: str, case: Case, seen: Answer) -> Answer:
    """The same entries with the simulator's states and answers.

    Where a cut of power has left a log is read from the entries: it was chosen when the script was played.
    """
    topics = topics_of(case)
    return {
        name: replayed(topic.case(config, has_elr), entries, release)
        for topic, (name, entries) in zip(topics, sorted(seen.items()), strict=True)
    }


def _mechanism(name: str, config: Mapping[str, int], has_elr: bool, kinds: tuple[str, ...], *rules: str) -> Mechanism:
    is_missed = config is THE_DEAD_ARE_MISSED
    return Mechanism(
        name, (*RULES, *rules), cases(*kinds), partial(ask, is_missed), partial(say, config, has_elr),
        {"brokers": len(BROKERS), "config": config, "has_eligible_leader_replicas": has_elr}, tries=3,
    )  # fmt: skip


ALL_KINDS = ("freeze", "thaw", "kill", "stop", "restart", "restart", "power", "race", "race")

WITH_ELR = _mechanism("replication with eligible leader replicas", THE_DEAD_ARE_MISSED, True, ALL_KINDS, *ON_CUTS)
WITHOUT_ELR = _mechanism(
    "replication without eligible leader replicas", THE_DEAD_ARE_MISSED, False, ALL_KINDS, *ON_CUTS
)
LAGGARDS = _mechanism("laggards leave the ISR", LAGGARDS_LEAVE, True, ("freeze", "thaw", "thaw"), *ON_LAG)
