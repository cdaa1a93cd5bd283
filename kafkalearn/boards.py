"""The interactive pictures of the chapters, by name: `board_named` makes one, `BOARDS` says what each is about.

A name and a line of moves are the address of a run: ``touch("replication", "Produce > Fetch(2)")`` in a notebook, and
in the playground of the book the part "Touch a picture". Each board loads its mechanism when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

from kafkalearn import commits, consuming, delivery, journey, log, replication
from kafkalearn.assignors import Member, carrying_out
from kafkalearn.assignors.picture import describe_rebalance, draw_rebalance
from kafkalearn.base.errors import IllegalEvent, unknown_name
from kafkalearn.base.moves import moves_of
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.commits import model
from kafkalearn.commits.picture import describe_commits, draw_commits
from kafkalearn.consuming.picture import describe_consuming, draw_consuming
from kafkalearn.coordinator.picture import draw_offsets_topic
from kafkalearn.delivery.picture import describe_delivery, draw_delivery
from kafkalearn.drawing.touching import Board, board, game_board
from kafkalearn.exercises import chapter05
from kafkalearn.exercises.chapter08 import make_a_ghost
from kafkalearn.groups import classic
from kafkalearn.groups.mixed import pods
from kafkalearn.groups.mixed_picture import describe_pods, draw_pods
from kafkalearn.groups.timeline_picture import draw_group_states
from kafkalearn.journey.picture import describe_journey, draw_journey
from kafkalearn.log.picture import describe_crossing, draw_crossing, draw_log
from kafkalearn.log.words import describe_log
from kafkalearn.offsets import Member as StoredMember
from kafkalearn.offsets import store
from kafkalearn.offsets.store.model import LOADING, Store, StoreEvent
from kafkalearn.offsets.store_picture import describe_store, draw_store
from kafkalearn.operations import offsets_topic
from kafkalearn.partitioning import keyless
from kafkalearn.partitioning.picture import describe_keyless, draw_keyless
from kafkalearn.purgatory import ConsumerFetch, SizedProduce, requests
from kafkalearn.purgatory.picture import describe_requests, draw_requests
from kafkalearn.replication import BrokerFrozen, BrokerThawed, Fetch, Produce, Settings, TimePassed
from kafkalearn.replication.picture import draw_replication
from kafkalearn.replication.words import describe_replication
from kafkalearn.sharing import work
from kafkalearn.sharing.events import RECORD_LIMIT
from kafkalearn.sharing.picture import describe_sharing, draw_sharing
from kafkalearn.transactions import Settings as TransactionSettings
from kafkalearn.transactions import client
from kafkalearn.transactions.model import MarkerArrived
from kafkalearn.transactions.picture import describe_transactions, draw_transactions
from kafkalearn.zookeeper import connector
from kafkalearn.zookeeper.picture import describe_zookeeper, draw_zookeeper
from kafkalearn.zookeeper.schedules import settle
from kafkalearn.zookeeper.subscriptions import Streams

HOUR_MS = 3_600_000
ADDRESS = "playground.html#touch.touched?board={}&line="
"""Of a run in the book, beside its pages."""


@cache
def board_named(name: str) -> Board:
    """A board; what has been played on it is kept.

    Raises
    ------
    KafkaLearnError
        If there is none of this name: which there are.

    Examples
    --------
    >>> board_named("coordinator").played("BrokerCrashed(1)").captions[-1]
    'Broker 1 dies. Broker 3 coordinates billing.'
    """
    if name not in BOARDS:
        raise unknown_name("board", name, BOARDS)
    made = {**_MADE, **_GAMES}[name]()
    return replace(made, link=ADDRESS.format(name))


# Chapter 00: the whole path of a record.


def _journey() -> Board:
    moves: dict[str, journey.Event] = {f"{name} sends": journey.Send(name) for name in ("ann", "dan")}
    moves["the followers fetch"] = journey.FollowersFetch()
    for name in ("c1", "c2"):
        moves |= {f"{name} polls": journey.Poll(name), f"{name} commits": journey.Commit(name)}
        moves |= {f"{name} leaves": journey.Leave(name), f"{name} joins": journey.Join(name)}
    for broker in (1, 2, 3):
        moves[f"broker {broker} dies"] = journey.BrokerCrashed(broker)
        moves[f"broker {broker} comes back"] = journey.BrokerStarted(broker)
    things = {words: [words.rsplit(" ", 2 if "back" in words else 1)[0]] for words in moves}
    things["the followers fetch"] = ["broker 1", "broker 2", "broker 3"]

    def draw(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:
        return draw_journey(frame, before)

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_journey(frame, before)

    title = "Touch anything: is every record read, and read once?"
    return board(journey, journey.Settings(), moves, draw, describe, title=title, things=things)


# Chapters 01 and 13: the offsets topic, whose leaders coordinate groups.


def _offsets_topic(replication_factor: int, partition: int, group: str) -> Board:
    brokers = (1, 2, 3)
    settings = offsets_topic.Settings(brokers, replication_factor=replication_factor)
    begin = offsets_topic.simulate(
        settings, [*map(offsets_topic.BrokerStarted, brokers), offsets_topic.FindCoordinator(group)]
    )[-1].state
    deeds = {offsets_topic.BrokerCrashed: "dies", offsets_topic.BrokerStarted: "comes back"}

    def draw(_: object, frame: Frame[Any, Any], before: object) -> Any:
        return draw_offsets_topic(frame.state.leaders, marked=partition)

    def describe(_: object, frame: Frame[Any, Any], before: object) -> str:
        leader = frame.state.leaders[partition]
        done = "" if frame.event is None else f"Broker {frame.event.broker_id} {deeds[type(frame.event)]}. "
        return done + (f"Nobody coordinates {group}." if leader is None else f"Broker {leader} coordinates {group}.")

    moves = moves_of(*map(offsets_topic.BrokerCrashed, brokers), *map(offsets_topic.BrokerStarted, brokers))
    title = f"Touch a broker: who coordinates {group}?"
    return board(offsets_topic, settings, moves, draw, describe, title=title, initial=begin)


# Chapter 02: a producer of records without a key.


def _keyless() -> Board:
    settings = keyless.Settings(3, batch_size=1000, draw=keyless.seeded(5))
    partitions = range(settings.partition_count)
    moves: dict[str, keyless.Event] = {
        "send": keyless.Send(150),
        "send 600 bytes": keyless.Send(600),
        "send with a key": keyless.Send(150, b"order-42"),
        "drain": keyless.Drain(),
        "the sender looks": keyless.SenderLooks(),
    }
    moves |= {f"drain {each}": keyless.Drain((each,)) for each in partitions}
    moves |= {f"the broker of {each} stalls": keyless.SenderLooks((each,)) for each in partitions}
    things = {words: (f"partition {each}",) for each in partitions for words in moves if str(each) in words.split()}
    title = "Send and drain: when does it change the partition?"
    return board(keyless, settings, moves, draw_keyless, describe_keyless, title=title, things=things)


# Chapters 03, 05 and 12: groups.


def _groups() -> Board:
    settings = consuming.Settings(3)
    names = {"b0": "billing", "b1": "billing", "s0": "search"}
    events = [consuming.Produce("order")]
    events += [kind(names[each], each) for kind in (consuming.Join, consuming.Poll, consuming.Leave) for each in names]

    def draw(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:
        return draw_consuming(Trace((before or frame, frame)), frame, before)

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_consuming(frame, before)

    return board(consuming, settings, events, draw, describe, title="Send, join, poll, leave: who reads what?")


def _rebalance() -> Board:
    game: Any = chapter05.stable_no_more.judge
    moves = {
        **game.moves,
        "b's heartbeat": classic.Heartbeat("b", "b-2", 1),
        "a leaves": classic.LeaveGroup("a", "a-1"),
        "b leaves": classic.LeaveGroup("b", "b-2"),
        "45 s pass": classic.TimePassed(45_000),
    }
    acted_on = {
        "Empty": ("a asks for a member id", "b asks for a member id"),
        "PreparingRebalance": ("a joins", "b joins", "3 s pass"),
        "CompletingRebalance": ("a hands in the assignment", "b asks for its partitions"),
        "Stable": ("a's heartbeat", "b's heartbeat", "a leaves", "b leaves", "45 s pass"),
    }
    things = {words: (state,) for state, some in acted_on.items() for words in some}
    return board(
        classic, game.settings, moves, _draw_states, _say_group, title="Touch a group: what moves it?", things=things
    )


def _draw_states(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:

    return draw_group_states(frame, before)


def _say_group(settings: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
    """What has come to the coordinator, and in which state its group is."""
    event, state = frame.event, frame.state.state
    said = "The group is empty" if event is None else f"{type(event).__name__} comes"
    if event is not None and before is not None and before.state.state != state:
        return f"{said}: {before.state.state} becomes {state}."
    return f"{said}; the group is {state}."


@dataclass(frozen=True, slots=True)
class _Settled:
    """Old consumers, whose threads take their turns by themselves until all is quiet."""

    def tried(self, settings: Any, state: Any, event: Any) -> Any:
        """The event alone."""

        return connector.step(settings, state, event)

    def step(self, settings: Any, state: Any, event: Any) -> Any:
        """The event, and all turns that follow from it."""

        return settle(settings, self.tried(settings, state, event))[-1].state

    def broken(self, settings: Any, state: Any, before: Any = None, names: Any = None) -> tuple[str, ...]:

        return connector.broken(settings, state, before, names)

    def start(self, settings: Any) -> Any:

        return connector.simulate(settings, [connector.BrokerStarted(0), connector.TopicCreated("orders", 3)])[-1].state


def _zookeeper() -> Board:
    moves: dict[str, Any] = {}
    for name in ("c1", "c2", "c3"):
        moves[f"{name} joins"] = connector.CreateMessageStreams(name, Streams({"orders": 1}))
        moves[f"{name} leaves"] = connector.Shutdown(name)
        moves[f"{name} dies"] = connector.Crash(name)
    moves["6 s pass"] = connector.TimePassed(6000)
    settings = connector.Settings(auto_offset_reset="smallest")

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_zookeeper(frame, before)

    return board(_Settled(), settings, moves, draw_zookeeper, describe, title="Touch a consumer: who owns what?")


# Chapter 04: a group that shares its partitions by range.


class _AsItStands:
    """A rebalance whose moves are events that depend on who is there."""

    def step(self, settings: Any, group: Any, deed: Callable[[Any], carrying_out.Event]) -> Any:
        """The group after the event that a deed is now."""
        return carrying_out.step(settings, group, deed(group))

    def broken(self, settings: Any, group: Any, before: Any = None, names: Any = None) -> tuple[str, ...]:
        return carrying_out.broken(settings, group, before, names)


def _assignors() -> Board:
    settings = carrying_out.Settings("range", {"orders": 7}, [Member(f"billing-{each}", ["orders"]) for each in (0, 1)])

    def changed(group: Any, name: str, joins: bool) -> carrying_out.GroupChanged:
        names = {each.member_id for each in group.members}
        if joins == (name in names):
            raise IllegalEvent(f"{name} is {'in the group already' if joins else 'not in the group'}")
        return carrying_out.GroupChanged(Member(each, ["orders"]) for each in sorted(names ^ {name}))

    moves: dict[str, Callable[[Any], carrying_out.Event]] = {}
    for name in ("billing-0", "billing-1", "billing-2", "billing-3"):
        moves[f"{name} joins"] = partial(changed, name=name, joins=True)
        moves[f"{name} leaves"] = partial(changed, name=name, joins=False)
    things = {words: (words.split()[0],) for words in moves}
    moves |= {"all give up": lambda _: carrying_out.AllGaveUp(), "the assignor runs": lambda _: carrying_out.Assigned()}

    def now(frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Frame[Any, Any]:
        deed: Any = frame.event
        return frame if before is None else replace(frame, event=deed(before.state))

    def draw(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:
        return draw_rebalance(Trace((before or frame, frame)), now(frame, before), before)

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_rebalance(now(frame, before), before)

    title = "Touch a member: who moves when one leaves?"
    return board(
        _AsItStands(), settings, moves, draw, describe, title=title, things=things, initial=carrying_out.start(settings)
    )


# Chapters 06 and 08: what is committed, and what is left of a log.


def _commits() -> Board:
    moves: dict[str, Any] = {}
    for by in ("A", "B"):
        own = moves_of(model.Start(by), model.Poll(by), model.CommitSync(by), model.Crash(by))
        moves |= own | {"Process" if by == "A" else f"Process('{by}')": model.Process(by, took_ms=1000)}

    def draw(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:
        return draw_commits(frame, before)

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_commits(frame, before)

    settings = commits.Settings(9, max_poll_records=3)
    return board(commits, settings, moves, draw, describe, title="Touch a consumer: lost or twice?")


def _compaction() -> Board:
    def put(at_ms: int, *pairs: tuple[str, str | None]) -> log.Append:
        return log.Append(tuple(log.NewBatch(((key, value, at_ms),)) for key, value in pairs))

    first = [("K1", "V1"), ("K2", "V2"), ("K1", "V3"), ("K1", "V4"), ("K3", "V5")]  # the log of Kafka's manual
    then = [("K2", "V6"), ("K4", "V7"), ("K5", "V8"), ("K5", "V9"), ("K2", "V10"), ("K6", "V11")]
    moves = {
        "five records": put(0, *first),
        "six more": put(1000, *then),
        "K1 gets V12": put(2000, ("K1", "V12")),
        "K6 is deleted": put(3000, ("K6", None)),
        "the segment is closed": log.Roll(),
        "a pass at 5 s": log.Clean(5000),
        "a pass at 6 s": log.Clean(6000),
        "a pass at hour 30": log.Clean(30 * HOUR_MS),
        "a pass at hour 60": log.Clean(60 * HOUR_MS),
    }
    settings = log.Settings("compact")
    title = "Touch the segments: write, close, clean. What stays?"
    return board(log, settings, moves, draw_log, describe_log, title=title, things=_of_a_log(moves))


def _of_a_log(moves: Mapping[str, object]) -> dict[str, tuple[str]]:
    """Where a log is touched: the cleaner at the dirty part, all else at the active segment, or at the reader."""
    words = {each: "dirty" if " pass" in each else "active" for each in moves}
    return {each: ("the reader's table" if "reader" in each else at,) for each, at in words.items()}


# Chapter 07: a group in the offsets topic, its coordinator's memory, and the clock.


@dataclass(frozen=True, slots=True)
class _AtATime:
    """A store, what happened to it last, and how late it is."""

    store: Store
    now_ms: int
    event: StoreEvent | None = field(default=None, compare=False)

    @property
    def effects(self) -> tuple[object, ...]:
        """What was answered."""
        return self.store.effects

    @property
    def group(self) -> tuple[int, bool]:
        """The generation of `billing`, and whether it has members; -1 and False: it is not known."""
        return next(((each.epoch, bool(each.members)) for each in self.store.groups), (-1, False))


class _ByTheClock:
    """Events of a store that take place now; after some hours the coordinator sweeps."""

    def step(self, settings: Any, state: _AtATime, deed: Callable[[_AtATime], StoreEvent]) -> _AtATime:
        """The store after the event that a deed is at this moment."""
        event = deed(state)
        if state.store.status == LOADING and isinstance(event, store.Sweep | store.LeaderCrashed):
            raise IllegalEvent("no leader has read the log yet")
        return _AtATime(store.step(settings, state.store, event), getattr(event, "now_ms", state.now_ms), event)

    def broken(self, settings: Any, state: _AtATime, before: Any = None, names: Any = None) -> tuple[str, ...]:
        return store.broken(settings, state.store, None if before is None else before.store, names)


def _offsets() -> Board:
    friday_ms, both = 1763683200000, tuple(TopicPartition("orders", each) for each in (0, 1))
    member = StoredMember("billing-1", subscribed=("orders",), assigned=both)
    settings = store.Settings(retention_minutes=1440)

    def written(state: _AtATime, joins: bool) -> store.StoreGroup:
        generation, has_members = state.group
        if joins == has_members:
            raise IllegalEvent(f"billing has {'a member' if has_members else 'no member'} already")
        left = store.StoreGroup("billing", max(generation, 0) + 1, state.now_ms)
        return replace(left, members=(member,), protocol="range", leader=member.member_id) if joins else left

    def commit(state: _AtATime, partition: int) -> store.Commit:
        if not state.group[1]:
            raise IllegalEvent("billing has no member that commits")
        known = {each.partition: each.offset for group in state.store.groups for each in group.offsets}
        offset = known[partition] + 10 if partition in known else (410, 395)[partition]
        asked = store.Commit("billing", "orders", partition, offset, state.now_ms, member_id=member.member_id)
        return replace(asked, generation=state.group[0])

    def load(state: _AtATime) -> store.Load:
        if state.store.status != LOADING:
            raise IllegalEvent("the leader is alive, and has read the log already")
        return store.Load()

    moves: dict[str, Callable[[_AtATime], StoreEvent]] = {
        "a member joins": lambda state: written(state, joins=True),
        "billing commits orders-0": lambda state: commit(state, 0),
        "billing commits orders-1": lambda state: commit(state, 1),
        "the last member leaves": lambda state: written(state, joins=False),
        "an hour passes": lambda state: store.Sweep(state.now_ms + HOUR_MS),
        "23 hours pass": lambda state: store.Sweep(state.now_ms + 23 * HOUR_MS),
        "billing asks for orders-0": lambda _: store.Fetch("billing", "orders", 0),
        "an admin deletes billing": lambda _: store.DeleteGroup("billing"),
        "the leader dies": lambda _: store.LeaderCrashed(),
        "the next one reads the log": load,
    }

    def framed(frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> tuple[Frame[Any, Any], Frame[Any, Any]]:
        now, was = (Frame(each.index, each.state.event, each.state.store) for each in (frame, before or frame))
        return now, was

    def draw(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:
        return draw_store(*framed(frame, before))

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_store(*framed(frame, before))

    begun = _ByTheClock().step(settings, _AtATime(store.start(settings), friday_ms), moves["a member joins"])
    title = "Touch the group and the clock: which offsets are left?"
    initial = _AtATime(replace(begun.store, effects=()), friday_ms + 17 * HOUR_MS)
    log, memory = "the log: offset, key, value", "in the coordinator's memory (owned)"
    things = dict.fromkeys(moves, (memory,)) | {"the leader dies": (log,), "the next one reads the log": (log,)}
    return board(_ByTheClock(), settings, moves, draw, describe, title=title, initial=initial, things=things)


# Chapters 09, 10 and 11: a partition on its brokers, a producer before it, and the requests that wait.


def _replication() -> Board:
    brokers = (1, 2, 3)
    of_a_broker = (
        replication.Fetch,
        replication.BrokerCrashed,
        replication.SessionExpired,
        replication.BrokerStarted,
    )
    events = [replication.Produce(), replication.Produce(2), replication.Produce(acks=1)]
    events += [kind(each) for kind in of_a_broker for each in brokers]
    events += [replication.AlterPartitionAnswered(), replication.IsrChecked(), replication.TimePassed(30_000)]
    settings = replication.Settings(3, fetch_wait_max_ms=0)
    title = "Touch a broker: when is a record committed?"
    return board(replication, settings, events, draw_replication, describe_replication, title=title)


def _delivery() -> Board:
    of_a_broker = (
        replication.Fetch,
        replication.BrokerCrashed,
        replication.SessionExpired,
        replication.BrokerStarted,
    )
    events = [delivery.Send(), delivery.RequestSent(), delivery.RequestArrived(), delivery.AnswerArrived()]
    events += [delivery.ConnectionLost(), *(kind(each) for kind in of_a_broker for each in (1, 2, 3))]
    events += [replication.AlterPartitionAnswered()]
    settings = delivery.Settings(replication.Settings(fetch_wait_max_ms=0), delivery.ProducerSettings(acks="all"))
    return board(
        delivery, settings, events, draw_delivery, describe_delivery, title="Touch a broker: is the order safe?"
    )


def _purgatory() -> Board:
    moves = {
        "a producer sends, acks=1": SizedProduce(Produce(acks=1)),
        "a producer sends, acks=all": SizedProduce(Produce(acks="all", timeout_ms=1000)),
        "broker 2 fetches": Fetch(2),
        "consumer c1 fetches": ConsumerFetch("c1", 0, max_wait_ms=5000),
        "100 ms pass": TimePassed(100),
        "500 ms pass": TimePassed(500),
        "the leader freezes": BrokerFrozen(1),
        "the leader goes on": BrokerThawed(1),
    }
    things = {
        "a producer sends, acks=1": ("producers, acks=all",),
        "a producer sends, acks=all": ("producers, acks=all",),
        "broker 2 fetches": ("followers",),
        "consumer c1 fetches": ("consumers",),
    }

    def draw(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> Any:
        return draw_requests(frame, before)

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        return describe_requests(frame, before)

    title = "Touch who asks: who waits, and who is woken?"
    return board(requests, Settings(2), moves, draw, describe, title=title, things=things)


# Chapter 15: a producer with a transactional id, its coordinator, two partitions.


def _transactions() -> Board:
    coordinator, one, two = "transaction coordinator", "orders-0", "orders-1"
    abouts: dict[str, tuple[client.Event, str]] = {
        "a sends to orders-0": (client.Sent(one), one),
        "a sends to orders-1": (client.Sent(two), two),
        "its request arrives": (client.Arrived(), coordinator),
        "a waits no longer": (client.GaveUp(), coordinator),
        "a commits": (client.Ended(), coordinator),
        "a aborts": (client.Ended(commit=False), coordinator),
        "the marker comes to orders-0": (MarkerArrived(client.TRANSACTIONAL_ID, one), one),
        "the marker comes to orders-1": (MarkerArrived(client.TRANSACTIONAL_ID, two), two),
        "a starts anew": (client.Started(), coordinator),
        "b starts with the same id": (client.Started("b"), coordinator),
        "b sends to orders-0": (client.Sent(one, "b"), one),
        "60 s pass": (TimePassed(60_000), coordinator),
    }
    settings = client.Settings(TransactionSettings(partitions=(one, two)))

    def describe(_: object, frame: Frame[Any, Any], before: Frame[Any, Any] | None) -> str:
        begun = "Instance a has started with the transactional id x, and has sent nothing yet."
        return begun if frame.event is None else describe_transactions(settings.cluster, frame, before)

    return board(
        client,
        settings,
        {words: event for words, (event, _) in abouts.items()},
        draw_transactions,
        describe,
        title="Touch a partition: what may be read?",
        initial=client.step(settings, client.start(settings), client.Started()),
        things={words: (thing,) for words, (_, thing) in abouts.items()},
    )


# Chapter 16: a group that changes its protocol, and its pods.


def _migration() -> Board:
    settings = pods.Settings()
    moves: dict[str, pods.Event] = {}
    for name in settings.pods:
        moves[f"{name} changes protocol"] = pods.Switches(name)
        moves[f"{name} leaves"] = pods.Leaves(name)
        moves[f"{name} is killed"] = pods.Dies(name)
        moves[f"{name} starts with classic"] = pods.Starts(name)
        moves[f"{name} starts with consumer"] = pods.Starts(name, "consumer")
    things = {words: (event.name,) for words, event in moves.items() if isinstance(event, pods.OfAPod)}
    moves |= {"60 s pass": pods.TimePassed(60_000), "the coordinator dies": pods.CoordinatorMoved()}
    things["the coordinator dies"] = ("coordinator",)
    begin = pods.simulate(settings, map(pods.Starts, settings.pods[:3]))[-1].state
    title = "Touch a pod: what is the group, and who reads?"
    return board(
        pods, settings, moves, draw_pods, describe_pods, title=title, initial=replace(begin, effects=()), things=things
    )


# Chapter 18: a share group, its records, and two members.


def _sharing() -> Board:
    topic = "orders"
    settings = work.settings(topics={topic: 1}, max_poll_records=1, acquire_mode=RECORD_LIMIT)
    moves: dict[str, work.Event] = {"an order comes": work.Arrive(partition=f"{topic}-0")}
    things = {"an order comes": (f"{topic}-0",)}
    deeds = {
        "polls": work.Poll, "accepts": work.Accept, "gives it back": work.Release, "rejects it": work.Reject,
        "renews its lock": work.Renew, "dies": work.Crash,
    }  # fmt: skip
    for name in settings.programs:
        own = {f"{name} {deed}": event(name) for deed, event in deeds.items()}
        moves |= own
        things |= dict.fromkeys(own, (name,))
    moves |= {"10 s pass": work.TimePassed(10_000), "30 s pass": work.TimePassed(30_000)}
    begun = work.simulate(settings, map(work.Poll, settings.programs))[-1].state
    initial = replace(begun, cluster=replace(begun.cluster, effects=()), effects=())
    title = "Touch a member: who has this record now?"
    return board(work, settings, moves, draw_sharing, describe_sharing, title=title, initial=initial, things=things)


_MADE: Mapping[str, Callable[[], Board]] = MappingProxyType(
    {
        "journey": _journey,
        "coordinator": lambda: _offsets_topic(3, 9, "billing"),
        "keyless": _keyless,
        "groups": _groups,
        "assignors": _assignors,
        "rebalance": _rebalance,
        "commits": _commits,
        "offsets": _offsets,
        "compaction": _compaction,
        "replication": _replication,
        "delivery": _delivery,
        "purgatory": _purgatory,
        "zookeeper": _zookeeper,
        "operations": lambda: _offsets_topic(1, 8, "shipping"),
        "transactions": _transactions,
        "migration": _migration,
        "sharing": _sharing,
    }
)

BOARDS: Mapping[str, str] = MappingProxyType(
    {
        "journey": "00: the whole path of a record",
        "coordinator": "01: who coordinates a group when brokers die",
        "keyless": "02: records without a key",
        "groups": "03: who reads what",
        "assignors": "04: who moves when one leaves",
        "rebalance": "05: what moves a group",
        "commits": "06: lost or twice",
        "offsets": "07: how a group dies",
        "compaction": "08: what stays of a log",
        "replication": "09: a partition on its brokers",
        "delivery": "10: a producer before its partition",
        "purgatory": "11: requests that wait",
        "zookeeper": "12: a group of old consumers",
        "operations": "13: the offsets topic with one replica",
        "transactions": "15: a transaction, and who may read it",
        "migration": "16: a group that changes its protocol",
        "sharing": "18: who has this record",
        **{
            f"game-{chapter}": f"{chapter}: the game of its exercises"
            for chapter in ("03", "05", "06", "08", "09", "10", "11", "13", "18")
        },
    }
)
"""What each board is about, with its chapter."""


def _game(chapter: str, name: str, drawn_as: str) -> Board:
    """A game of the exercises on the board of its mechanism."""
    exercise = getattr(import_module(f"kafkalearn.exercises.{chapter}"), name)
    like = _MADE[drawn_as]()
    return game_board(
        exercise, like.draw, like.describe, title=f"A game: {exercise.judge.promise}?", things=like.things
    )


def _ghost() -> Board:
    """The game of chapter 08, in which a reader crosses the log."""

    game: Any = make_a_ghost.judge
    things = _of_a_log(game.moves)
    return game_board(make_a_ghost, draw_crossing, describe_crossing, title="A game: make a ghost", things=things)


_GAMES: Mapping[str, Callable[[], Board]] = MappingProxyType(
    {
        "game-03": partial(_game, "chapter03", "out_of_order", "groups"),
        "game-05": partial(_game, "chapter05", "stable_no_more", "rebalance"),
        "game-06": partial(_game, "chapter06", "lost_by_auto_commit", "commits"),
        "game-08": _ghost,
        "game-09": partial(_game, "chapter09", "lose_a_committed_record", "replication"),
        "game-10": partial(_game, "chapter10", "lost_with_acks_all", "delivery"),
        "game-11": partial(_game, "chapter11", "waits_too_long", "purgatory"),
        "game-13": partial(_game, "chapter13", "nobody_answers", "coordinator"),
        "game-18": partial(_game, "chapter18", "five_times_and_nobody", "sharing"),
    }
)
