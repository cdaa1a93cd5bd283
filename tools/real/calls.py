"""What calls of a consumer come to beside those that go well: tests/vectors/commits/consumer-calls.json.

Pauses, wakeups, interrupts, commits that do not wait, a coordinator that refuses or is silent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live import Kafka
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.requests import request_of
from tools.real.told import DONE, THREW, Clients, Threw, config_text, places_of

FILE = "commits/consumer-calls.json"
LONGEST, TIMES = 20, 6
ABOUT = (
    "Calls of consumers of one group, in order: who, the call, its words; and what each came to, by client: all the "
    f"plays that differ, of one, or of {TIMES} where a consumer is interrupted as it closes. Clients: "
    "classic (range), cooperative (classic, cooperative-sticky), consumer (KIP-848). Calls: start (a consumer with "
    "these settings), assign (partitions by hand), subscribe, meet (all poll until each owns so many), write (so many "
    "records into each partition, in one batch each), poll (until records come or all is read, so that what comes is "
    "of one poll), polls (short ones, for a while), read (polls until all is read); commit and async (commitSync, "
    "commitAsync; of the position, or of an offset of partition 0, with metadata), wakeup, interrupted (the call on a "
    "thread that was interrupted), during (a call that waits, and what is done meanwhile), work (ms). The proxy before "
    "the broker: hold and let go (the answers to a request), refuse (a request, in the broker's place), swallow (an "
    "answer, and cut the connection). Outcomes, where there is something: threw (the exception), records (by "
    "partition), position, committed (null: nothing), owned and paused (how many partitions), callbacks (who, which; "
    "of a commit the error and the offset if it is told, of a rebalance how many partitions, if any), requests "
    "(offsets of an OffsetCommit; leave: a LeaveGroup or the heartbeat that says so), ended (after what of during), "
    "members (of the group, as the coordinator has it). enable.auto.commit is false unless given, max.poll.records 3, "
    f"offset.metadata.max.bytes {LONGEST}. Written by python3 -m tools.real calls."
)
RANGE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}
COOPERATIVE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
CLIENTS: Mapping[str, Mapping[str, str]] = {
    "classic": RANGE,
    "cooperative": COOPERATIVE,
    "consumer": {"group.protocol": "consumer"},
}
BROKER = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.assignor.offload.enable": False,
    "offsets.topic.num.partitions": 1,
    "offset.metadata.max.bytes": LONGEST,
}
SETTINGS = {"enable.auto.commit": False, "auto.offset.reset": "earliest", "max.poll.records": 3}
AUTO = {"enable.auto.commit": True}
LONG_MS, SHORT_MS, A_WHILE_S = 20_000, 100, 0.5
PATIENCE_S, SHORT_POLLS = 60, 8
Call = list[Any]

START: Call = ["c1", "start", {}]
WRITE: Call = ["", "write", 6]
NEW: list[Call] = [START, ["c1", "assign", 0]]
ONE: list[Call] = [WRITE, START, ["c1", "assign", 0]]
TWO: list[Call] = [["", "write", 3], START, ["c1", "assign", 0, 1]]
POLL: Call = ["c1", "poll"]
POLLS: Call = ["c1", "polls"]
WAKEUP: Call = ["c1", "wakeup"]
COMMITTED: Call = ["c1", "committed"]
THERE: Call = ["", "committed"]
MEMBERS: Call = ["", "members"]
STATE: list[Call] = [["c1", "owned"], ["c1", "paused"]]
HOLD: Call = ["proxy", "hold", "OffsetCommit"]
LET_GO: Call = ["proxy", "let go"]
LOADING: Call = ["proxy", "refuse", "OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS"]


def member(**settings: object) -> list[Call]:
    """One member of a group that owns partition 0, and has polled once after it was written."""
    own = {name.replace("_", "."): each for name, each in settings.items()}
    return [["c1", "start", own], ["c1", "subscribe"], ["c1", "meet", {"c1": 1}], WRITE, POLL]


PAUSES: Sequence[tuple[str, int, list[Call]]] = (
    (
        "a paused partition gives nothing and keeps its place", 1,
        [*ONE, POLL, ["c1", "pause", 0], POLLS, ["c1", "position"], ["c1", "resume", 0], POLL],
    ),
    (
        "what is not paused is read on", 2,
        [*TWO, ["c1", "pause", 0], ["c1", "read"], ["c1", "resume", 0], ["c1", "read"]],
    ),
    (
        "the position of a paused partition is committed, too", 1,
        [WRITE, ["c1", "start", AUTO], ["c1", "assign", 0], POLL, ["c1", "pause", 0], ["c1", "close"], THERE],
    ),
    (
        "seek moves a paused partition", 1,
        [*ONE, ["c1", "pause", 0], ["c1", "seek", 5], POLLS, ["c1", "position"], ["c1", "resume", 0], POLL],
    ),
    ("who does not own a partition cannot pause it", 2, [*NEW, ["c1", "pause", 1], ["c1", "resume", 1], *STATE]),
    (
        "who assigns it again keeps it paused, unless it was away", 2,
        [
            *TWO, ["c1", "pause", 0], ["c1", "assign", 0, 1], *STATE, ["c1", "read"], ["c1", "assign", 1],
            ["c1", "assign", 0], *STATE, ["c1", "read"],
        ],
    ),
    (
        "a rebalance while all is paused", 2,
        [
            START, ["c1", "subscribe"], ["c1", "meet", {"c1": 2}], ["c1", "pause", 0, 1], ["c2", "start", {}],
            ["c2", "subscribe"], ["c1", "meet", {"c1": 1, "c2": 1}], *STATE, WRITE, ["c1", "read"], ["c2", "close"],
            ["c1", "meet", {"c1": 2}], *STATE,
        ],
    ),
    (
        "who subscribes anew has nothing paused", 1,
        [
            START, ["c1", "subscribe"], ["c1", "meet", {"c1": 1}], ["c1", "pause", 0], ["c1", "unsubscribe"], *STATE,
            ["c1", "subscribe"], ["c1", "meet", {"c1": 1}], *STATE,
        ],
    ),
)  # fmt: skip
WAKEUPS: Sequence[tuple[str, int, list[Call]]] = (
    ("wakeup ends a poll that waits", 1, [*NEW, POLLS, ["c1", "during", ["poll"], "wakeup"], POLLS]),
    ("wakeup before a poll ends the next one, and no record is lost", 1, [*ONE, POLL, WAKEUP, POLL, POLL]),
    ("two wakeups are one", 1, [*ONE, WAKEUP, WAKEUP, POLL, POLL]),
    ("wakeup before commitSync", 1, [*ONE, POLL, WAKEUP, ["c1", "commit"], COMMITTED, POLL]),
    (
        "wakeup while commitSync waits", 1,
        [*ONE, POLL, HOLD, ["c1", "during", ["commit"], "wakeup"], LET_GO, COMMITTED, POLL],
    ),
    ("wakeup before commitAsync", 1, [*ONE, POLL, WAKEUP, ["c1", "async"], POLL, POLLS, COMMITTED]),
    ("wakeup before committed", 1, [*ONE, POLL, WAKEUP, COMMITTED, COMMITTED]),
    ("wakeup before position", 1, [*ONE, POLL, WAKEUP, ["c1", "position"], POLL]),
    ("wakeup before close", 1, [*member(enable_auto_commit=True), WAKEUP, ["c1", "close"], MEMBERS]),
    (
        "wakeup while close waits for its commit", 1,
        [*member(enable_auto_commit=True), HOLD, ["c1", "during", ["close"], "wakeup", "let go"], MEMBERS],
    ),
)  # fmt: skip
INTERRUPTS: Sequence[tuple[str, int, list[Call]]] = (
    ("an interrupt ends a poll that waits", 1, [*NEW, POLLS, ["c1", "during", ["poll"], "interrupt"], POLLS]),
    (
        "a poll of a thread that was interrupted, and no record is lost", 1,
        [*NEW, POLLS, ["c1", "interrupted", "poll", LONG_MS], WRITE, POLL],
    ),
    ("commitSync of a thread that was interrupted", 1, [*ONE, POLL, ["c1", "interrupted", "commit"], COMMITTED]),
    (
        "an interrupt while commitSync waits", 1,
        [*ONE, POLL, HOLD, ["c1", "during", ["commit"], "interrupt"], LET_GO, COMMITTED],
    ),
    (
        "close after an interrupted poll", 1,
        [
            *member(enable_auto_commit=True), POLLS, ["c1", "interrupted", "poll", LONG_MS], ["c1", "close"], MEMBERS,
            THERE,
        ],
    ),
)  # fmt: skip
CLOSES: Sequence[tuple[str, int, list[Call]]] = (
    (
        "close of a thread that was interrupted", 1,
        [*member(), ["c1", "interrupted", "close"], MEMBERS],
    ),
    (
        "close of a thread that was interrupted, with auto commit", 1,
        [*member(enable_auto_commit=True), ["c1", "interrupted", "close"], MEMBERS, THERE],
    ),
    (
        "an interrupt while close waits for its commit", 1,
        [
            *member(enable_auto_commit=True), HOLD, ["c1", "during", ["close"], "interrupt", "let go"],
            MEMBERS, THERE,
        ],
    ),
)  # fmt: skip
"""Each is played several times: what comes of it is a matter of who is faster."""

ASYNC: Sequence[tuple[str, int, list[Call]]] = (
    (
        "callbacks come in order, with a poll and not by themselves", 1,
        [
            *ONE, POLL, HOLD, ["c1", "async", 1], ["c1", "async", 2], ["c1", "async", 3], LET_GO, ["c1", "work", 500],
            POLLS, COMMITTED,
        ],
    ),
    (
        "the last one wins, though it is lower", 1,
        [*ONE, POLL, HOLD, ["c1", "async", 3], ["c1", "async", 1], LET_GO, POLLS, COMMITTED],
    ),
    ("without an offset it is the position of the call", 1, [*ONE, POLL, ["c1", "async"], POLLS, COMMITTED]),
    (
        "metadata that is too large", 1,
        [*ONE, POLL, HOLD, ["c1", "async", 1, "m" * (LONGEST + 1)], ["c1", "async", 2], LET_GO, POLLS, COMMITTED],
    ),
    ("a negative offset", 1, [*ONE, ["c1", "async", -1], POLLS, COMMITTED]),
    ("what is refused for a while is not tried again", 1, [*ONE, POLL, LOADING, ["c1", "async", 2], POLLS, COMMITTED]),
    (
        "of two the first is refused for a while", 1,
        [*ONE, POLL, HOLD, LOADING, ["c1", "async", 1], ["c1", "async", 2], LET_GO, POLLS, COMMITTED],
    ),
    ("commitSync tries again what is refused for a while", 1, [*ONE, POLL, LOADING, ["c1", "commit", 2], COMMITTED]),
    (
        "the answer is lost", 1,
        [*ONE, POLL, ["proxy", "swallow", "OffsetCommit"], ["c1", "async", 2], POLLS, COMMITTED],
    ),
    (
        "who is no member", 1,
        [
            *member(), ["c2", "start", {}], ["c2", "assign", 0], ["c2", "async", 1], ["c2", "polls"],
            ["c2", "commit", 2], THERE,
        ],
    ),
    (
        "several are on their way while the coordinator is silent", 1,
        [
            *ONE, POLL, HOLD, ["c1", "async", 1], ["c1", "async", 2], POLLS,
            ["c1", "during", ["commit", 3], "let go"], COMMITTED,
        ],
    ),
    (
        "close waits for what is on its way", 1,
        [*ONE, POLL, HOLD, ["c1", "async", 1], ["c1", "async", 2], ["c1", "during", ["close"], "let go"], THERE],
    ),
    (
        "close waits no longer than it may", 1,
        [*ONE, POLL, HOLD, ["c1", "async", 1], ["c1", "close", 1000], LET_GO, THERE],
    ),
)  # fmt: skip
CASES = (*PAUSES, *WAKEUPS, *INTERRUPTS, *CLOSES, *ASYNC)


class Ear:
    """The requests of clients by which something is committed or a group left."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.heard: list[tuple[str, list[Any]]] = []

    def hear(self, name: str, _: int, message: bytes) -> None:
        """Keep such a request."""
        if name not in ("OffsetCommit", "LeaveGroup", "ConsumerGroupHeartbeat"):
            return
        _, _, client_id, fields = request_of(message)
        if name == "OffsetCommit":
            offsets = [place["committedOffset"] for topic in fields["topics"] for place in topic["partitions"]]
            self.heard.append((client_id, [name, *offsets]))
        elif name == "LeaveGroup" or fields["memberEpoch"] < 0:
            self.heard.append((client_id, ["leave"]))


def recorded(version: str, line: str) -> Iterator[dict[str, Any]]:
    """Every case, by a broker and clients of a release."""
    ear = Ear()
    with Proxy(heard=ear.hear) as proxy, Kafka(release=line, config={**BROKER, **proxy.config}) as kafka:
        proxy.forward_to(kafka)
        with Clients(f"127.0.0.1:{proxy.port}", version) as clients:
            for number, (name, partitions, calls) in enumerate(CASES):
                times = TIMES if name in {each for each, *_ in CLOSES} else 1
                found = {}
                for each, own in CLIENTS.items():
                    topics = [f"told-{number}-{each}-{attempt}" for attempt in range(times)]
                    plays = [Play(kafka, proxy, clients, ear, topic, own, partitions).run(calls) for topic in topics]
                    found[each] = sorted({str(play): play for play in plays}.values(), key=str)
                yield {"name": name, "partitions": partitions, "calls": calls, **found}
                print(name, flush=True)


class Play:
    """One case, by one kind of client."""

    def __init__(
        self, kafka: Kafka, proxy: Proxy, clients: Clients, ear: Ear, name: str, own: Mapping[str, str], partitions: int
    ) -> None:
        """Create its topic; nobody has started."""
        self.kafka, self.proxy, self.clients, self.ear = kafka, proxy, clients, ear
        self.name, self.own, self.partitions = name, own, partitions
        self.starts = 0
        self.running: dict[str, str] = {}  # the client of each who has started
        kafka.create_topic(name, partitions)

    def run(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """What each call comes to; then close who still runs."""
        outcomes = [self._outcome(*call) for call in calls]
        for each in self.running.values():
            self.clients.ask(each, "close")
        return outcomes

    def _outcome(self, who: str, call: str, *words: Any) -> dict[str, Any]:
        said, heard = len(self.clients.said), len(self.ear.heard)
        try:
            found = self._told(who, call, words)
        except Threw as error:
            found = {"threw": error.error}
        time.sleep(0.1)
        callbacks = self._callbacks(said)
        requests = [request for client, request in self.ear.heard[heard:] if client.startswith(f"{self.name}.")]
        more = {"callbacks": callbacks, "requests": requests}
        return found | {name: each for name, each in more.items() if each}

    def _callbacks(self, begin: int) -> list[list[Any]]:
        found: list[list[Any]] = []
        for each in self.clients.said[begin:]:
            who = each.name.removeprefix(f"{self.name}.").partition(".")[0]
            if each.what == "committed":
                offsets = [int(word.rpartition("=")[2]) for word in each.words[1:]]
                found.append([who, each.what, each.words[0], *offsets])
            elif each.what in ("revoked", "assigned", "lost") and each.words[1]:
                found.append([who, each.what, len(places_of(each.words[1]))])
        return sorted(found, key=lambda callback: callback[0])

    def _told(self, who: str, call: str, words: Sequence[Any]) -> dict[str, Any]:
        if who == "proxy":
            self._proxy_told(call, *words)
            return {}
        match call, words:
            case "start", [settings]:
                self.starts += 1
                own = self.running[who] = f"{self.name}.{who}.{self.starts}"
                config = {"group.id": self.name, **SETTINGS, **self.own, **settings}
                self.clients.ask(own, "consumer", config_text(config))
                return {}
            case "meet", [counts]:
                self._meet(counts)
                return {}
            case "write", [count]:
                self._write(count)
                return {}
            case "members", []:
                return {"members": self._members()}
            case "committed", [] if not who:
                return {"committed": self._committed_there()}
        own = self.running[who]
        if call == "close" or "close" in words or ["close"] in words:
            del self.running[who]
        return self._client_told(own, call, words)

    def _proxy_told(self, call: str, *words: str) -> None:
        match call, words:
            case "hold", _:
                self.proxy.hold(*words)
            case "let go", _:
                self.proxy.hold()
            case "refuse", _:
                self.proxy.refuse(*words)
            case "swallow", _:
                self.proxy.swallow(*words)

    def _client_told(self, own: str, call: str, words: Sequence[Any]) -> dict[str, Any]:
        clients = self.clients
        match call:
            case "poll":
                return _records(self._polled(own))
            case "polls":
                return _records(*(clients.ask(own, "poll", SHORT_MS)[0] for _ in range(SHORT_POLLS)))
            case "read":
                return _records(*self._read(own))
            case "position":
                return {"position": int(clients.ask(own, "position", self._place(0))[0].rpartition("=")[2])}
            case "committed":
                offset, *_ = clients.ask(own, "committed", self._place(0))
                return {"committed": None if offset == "none" else int(offset)}
            case "owned" | "paused":
                return {call: len(places_of(clients.ask(own, call)[0]))}
            case "wakeup":
                clients.tell(own, "wakeup")
                time.sleep(SHORT_MS / 1000)
                return {}
            case "during":
                return self._during(own, *words)
        clients.ask(own, *self._words(call, words))
        return {}

    def _words(self, call: str, words: Sequence[Any]) -> tuple[object, ...]:
        """A call as the clients are told it."""
        match call, words:
            case "interrupted", [inner, *rest]:
                return "interrupted", *self._words(inner, rest)
            case "subscribe", _:
                return call, self.name
            case "assign" | "pause" | "resume", _:
                return call, ",".join(self._place(each) for each in words)
            case "async", _:
                return ("commitAsync", *((self._place(0), *words) if words else ("",)))
            case "commit" | "seek", [_, *_]:
                return call, self._place(0), *words
            case "poll", []:
                return call, LONG_MS
        return (call, *(words or ("",)))

    def _during(self, own: str, call: Call, *deeds: str) -> dict[str, Any]:
        begin = len(self.clients.said)
        command = self._words(call[0], call[1:])
        result = self.clients.tell(own, *command)  # type: ignore[arg-type]
        ended = None
        time.sleep(A_WHILE_S)
        for each in deeds:
            if each == "let go":
                self.proxy.hold()
            else:
                self.clients.tell(own, each)
            time.sleep(A_WHILE_S)
            if ended is None and any(
                said.name == own and said.what in (DONE, THREW) and said.words[0] == command[0]
                for said in self.clients.said[begin:]
            ):
                ended = each
        try:
            result()
        except Threw as error:
            return {"threw": error.error, "ended": ended}
        return {"ended": ended}

    def _place(self, partition: int) -> str:
        return f"{self.name}-{partition}"

    def _polled(self, own: str) -> str:
        while True:
            (records,) = self.clients.ask(own, "poll", 300)
            if records or self._has_read(own):
                return records

    def _read(self, own: str) -> Iterator[str]:
        while True:
            yield self.clients.ask(own, "poll", 300)[0]
            if self._has_read(own):
                return

    def _has_read(self, own: str) -> bool:
        owned, paused = (set(places_of(self.clients.ask(own, each)[0])) for each in ("owned", "paused"))
        return all(
            self.clients.ask(own, "position", each)[0].rpartition("=")[2] == self.clients.ask(own, "ends", each)[0]
            for each in owned - paused
        )

    def _write(self, count: int) -> None:
        producer = self.kafka.producer(**{"linger.ms": 5000})
        for each in range(self.partitions):
            for _ in range(count):
                producer.produce(self.name, b"record", partition=each)
        if producer.flush(PATIENCE_S):
            raise TimeoutError(f"records for {self.name} are not taken")

    def _meet(self, counts: Mapping[str, int]) -> None:
        """Let all poll in turns, until each owns as many."""
        end_s = time.monotonic() + PATIENCE_S
        owned: dict[str, int] = {}
        while owned != counts:
            if time.monotonic() > end_s:
                raise TimeoutError(f"{self.name}: the members do not come to {counts}, but to {owned}")
            for each in counts:
                self.clients.ask(self.running[each], "poll", SHORT_MS)
            owned = {each: len(places_of(self.clients.ask(self.running[each], "owned")[0])) for each in counts}

    def _members(self) -> int:
        try:
            return len(self.kafka.group(self.name).members)
        except KafkaLearnError:  # there is none
            return 0

    def _committed_there(self) -> int | None:
        found = self.kafka.committed(self.name)
        return next((each.offset for each in found.values()), None)


def _records(*polls: str) -> dict[str, Any]:
    """The offsets that polls gave, by partition."""
    found: dict[str, list[int]] = {}
    for poll in polls:
        for each in poll.split(",") if poll else []:
            place, _, offset = each.rpartition(":")
            found.setdefault(place.rpartition("-")[2], []).append(int(offset))
    return {"records": dict(sorted(found.items()))}
