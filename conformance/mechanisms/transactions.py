"""Transactions at each `transaction.version`: requests by hand to a broker, and what anybody can observe after each.

A case is a list of requests of two transactional ids: each names who sends it (the producer that the id has now, one
that it had, one that is not there), and in which version. Both sides are asked by the same `_Clients`, who knows no
more than he was answered. After each request he looks at DescribeTransactions, DescribeProducers, both offsets, what a
read_committed fetch ends with, and committed offsets with and without ``requireStable``; at the end at the logs.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism, leaders_of, new_topic
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.batches import Batch
from kafkalearn.formats.disk import parse_segment
from kafkalearn.live.cluster import CONSUMER_REPLICA, FETCH_BYTES, LATEST, NEWEST_FETCH_WITH_NAMES
from kafkalearn.live.errors import wait_for
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.request_values import NONE, commit, consumer_heartbeat, error_name, join_group, produce, sync_group
from kafkalearn.releases.lines import at_least
from kafkalearn.transactions import Settings
from kafkalearn.transactions.history import UNKNOWN_IDS, Replay

IDS, GROUPS, PARTITIONS = ("x1", "x2"), ("g1", "g2"), ("t-0", "t-1")
OF_CONSUMERS = 1  # the group whose member speaks KIP-848; the other's is a classic one
TIMEOUT_MS = 60_000
NOBODY = "U0"
SHORT_MS, MOST_WAITS = 1000, 2
TIMERS_S, POLL_S = 6.0, 0.05
LOADED = (NONE, "TRANSACTIONAL_ID_NOT_FOUND")
"""What DescribeTransactions answers once the coordinator has read its log."""

PATIENCE_S, BRIEF_S = 3.0, 0.05
"""How long markers may be on their way; once they have not arrived in that time, how long they are waited for."""

OLD = {
    "InitProducerId": (0, 2, 3, 4),
    "AddPartitionsToTxn": (0, 1, 2, 3),
    "AddOffsetsToTxn": (0, 1, 2, 3),
    "Produce": (3, 7, 8, 10, 11),
    "TxnOffsetCommit": (0, 2, 3, 4),
    "EndTxn": (0, 1, 2, 3, 4),
}
NEW = {
    "InitProducerId": (5,),
    "AddPartitionsToTxn": (4, 5),
    "AddOffsetsToTxn": (4,),
    "Produce": (12, 13),
    "TxnOffsetCommit": (5, 6),
    "EndTxn": (5,),
}
"""The versions of requests that clients before KIP-890 send, and those that clients since then send."""

SINCE = {("Produce", 13): "4.1", ("WriteTxnMarkers", 2): "4.2", ("TxnOffsetCommit", 6): "4.4"}
"""The release that takes a version first, where it is not 4.0."""

WITH_TOPIC_IDS = {"Produce": 13, "TxnOffsetCommit": 6}
WITH_MEMBERS = 3  # of TxnOffsetCommit

SENDERS = ("now",) * 8 + ("before", "next", "other", "nobody")
"""The producer that an id was last told, the one before it, its next epoch, the other id's, one that nobody has."""

SEQUENCES = ("next",) * 8 + ("again", "gap")


def _cases(transaction_version: int, release: str) -> strategies.SearchStrategy[Case]:
    kinds = ("new", "new", "mixed", "old") if transaction_version == 2 else ("old", "old", "old", "mixed", "new")
    return strategies.sampled_from(kinds).flatmap(partial(_of_clients, release))


def _timer_cases(release: str) -> strategies.SearchStrategy[Case]:
    """One id with a short timeout; twice the brokers' timers are waited for: of a transaction, and of an unused id."""
    of, pick = strategies.fixed_dictionaries, strategies.sampled_from
    wait = of({"do": strategies.just("WaitUntil"), "until": pick(("changed",))})
    return _of_clients(release, "new", timeouts=(SHORT_MS,), more=(wait,)).map(_with_few_waits)


def _with_few_waits(case: Case) -> Case:
    steps = _without_members(case, "WaitUntil", MOST_WAITS)
    of_one_id = [
        {**each, "id": 0, "who": "nobody" if each["who"] == "other" else each["who"]} if "who" in each else each
        for each in steps
    ]
    return {"steps": of_one_id}


def _without_members(case: Case, kind: str, most: int) -> list[Case]:
    """The steps without members and markers by hand, and with only the first few of a kind."""
    steps, count = [], 0
    for each in case["steps"]:
        count += each["do"] == kind
        if each["do"] not in ("Join", "WriteTxnMarkers") and (each["do"] != kind or count <= most):
            steps.append(each)
    return steps


def _restart_cases(release: str) -> strategies.SearchStrategy[Case]:
    """Requests of any client, and the broker of coordinator and partitions stopped or killed between them."""
    of, pick = strategies.fixed_dictionaries, strategies.sampled_from
    restart = of({"do": strategies.just("Restart"), "how": pick(("SIGTERM", "SIGKILL"))})
    cases = _of_clients(release, "mixed", more=(restart,))
    return cases.map(lambda case: {"steps": _without_members(case, "Restart", 1)})


def _of_clients(
    release: str, kind: str, timeouts: tuple[int, ...] = (*(TIMEOUT_MS,) * 9, 0, 10**6), more: tuple[Any, ...] = ()
) -> strategies.SearchStrategy[Case]:
    of, pick, whole = strategies.fixed_dictionaries, strategies.sampled_from, strategies.integers

    def taken(name: str, *versions: int) -> list[int]:
        return [each for each in versions if at_least(SINCE.get((name, each), "4.0"), release)]

    def request(name: str, **fields: Any) -> strategies.SearchStrategy[Case]:
        versions = taken(name, *{"old": OLD[name], "new": NEW[name], "mixed": OLD[name] + NEW[name]}[kind])
        common = {"do": strategies.just(name), "v": pick(versions), "id": pick((0, 0, 0, 1)), "who": pick(SENDERS)}
        return of({**common, **fields})

    places, groups = pick((0, 0, 1)), pick((0, 0, 1))
    init = request("InitProducerId", expects=pick((False, False, True)), timeout=pick(timeouts))
    add = request(
        "AddPartitionsToTxn", places=pick(([0], [0], [1], [0, 1], [], [2])), verifies=pick((False, False, True))
    )
    offsets = request("AddOffsetsToTxn", group=groups)
    written = request(
        "Produce",
        place=places,
        sequence=pick(SEQUENCES),
        count=whole(1, 2),
        is_transactional=pick((True,) * 9 + (False,)),
    )
    member = {"member": pick(("", "", "own", "own", "wrong")), "generation": pick((None, None, 0, 0, 1, -1))}
    committed = request("TxnOffsetCommit", group=groups, place=places, offset=whole(0, 9), **member)
    end = request("EndTxn", commits=strategies.booleans())
    plain = of(
        {
            "do": strategies.just("OffsetCommit"),
            "v": pick((8, 9)),
            "group": groups,
            "place": places,
            "offset": whole(0, 9),
            **member,
        }
    )
    join = of({"do": strategies.just("Join"), "group": groups})
    markers = {"place": places, "commits": strategies.booleans(), "transaction_version": pick((0, 1, 2))}
    sent = {"v": pick(taken("WriteTxnMarkers", 1, 2)), "id": places, "who": pick(SENDERS)}
    marker = of({"do": strategies.just("WriteTxnMarkers"), **sent, **markers})
    often = [init, add, offsets, written, written, written, committed, committed, end, end, end]
    step = strategies.one_of(*often, *often, *often, plain, join, marker, *more * 6)
    return of({"steps": strategies.lists(step, min_size=1, max_size=25)})


class _Side(Protocol):
    """Who answers: a broker, or the simulator, in the form of a recorded history."""

    def play(self, do: str, version: int | None, q: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a request is answered, as ``a``, and what is new for an observer after it, as ``now``."""


class _Clients:
    """Producers of two transactional ids, who know what they were answered, and a member for each group."""

    def __init__(self, side: _Side) -> None:
        self._side = side
        self._known: dict[str, list[tuple[str, int]]] = {each: [] for each in IDS}
        self._next: dict[tuple[str, int, str], int] = defaultdict(int)
        self._members: dict[str, tuple[str, int]] = {}

    def play(self, each: Case) -> Answer:
        """Send one request of a case; what was answered, and what is new after it. Of each group one member joins."""
        if each["do"] == "Join" and GROUPS[each["group"]] in self._members:
            return []
        found = self._side.play(each["do"], each.get("v"), self._fields(each))
        self._learn(each, found["a"])
        return [found["a"], found["now"]]

    def _who(self, each: Case) -> tuple[str, int]:
        name = IDS[each["id"]] if each["who"] != "other" else IDS[1 - each["id"]]
        known = self._known[name]
        if each["who"] == "nobody" or not known:
            return NOBODY, 0
        producer, epoch = known[-1]
        if each["who"] == "next":
            return producer, epoch + 1
        if each["who"] == "before":
            return known[-2] if len(known) > 1 else (producer, max(0, epoch - 1))
        return producer, epoch

    def _fields(self, each: Case) -> dict[str, Any]:
        do = each["do"]
        if do in ("WaitUntil", "Restart"):
            return {name: value for name, value in each.items() if name != "do"}
        if do == "Join":
            return {"group": GROUPS[each["group"]], "is_consumer": each["group"] == OF_CONSUMERS}
        if do == "OffsetCommit":
            return {**self._of_group(each), **self._of_member(each)}
        (producer, epoch), name = self._who(each), IDS[each["id"]]
        sender = {"pid": producer, "epoch": epoch}
        match do:
            case "InitProducerId":
                expects = each["expects"] and each["v"] >= 3 and producer != NOBODY
                return {"id": name, "timeout": each["timeout"], **(sender if expects else {})}
            case "AddPartitionsToTxn":
                places = [f"t-{number}" for number in each["places"]]
                verifies = {"verifyOnly": each["verifies"]} if each["v"] >= 4 else {}
                return {"id": name, **sender, "partitions": places, **verifies}
            case "AddOffsetsToTxn":
                return {"id": name, **sender, "group": GROUPS[each["group"]]}
            case "Produce":
                place = PARTITIONS[each["place"]]
                sequence = (
                    self._next[producer, epoch, place]
                    + {"next": 0, "again": -each["count"], "gap": 2}[each["sequence"]]
                )
                words = {"records": each["count"], "transactional": each["is_transactional"]}
                tid = name if each["is_transactional"] else None
                return {"id": tid, **sender, "partition": place, "sequence": max(0, sequence), **words}
            case "TxnOffsetCommit":
                member = self._of_member(each) if each["v"] >= WITH_MEMBERS else {}
                return {"id": name, **sender, **self._of_group(each), **member}
            case "EndTxn":
                return {"id": name, **sender, "commit": each["commits"]}
            case "WriteTxnMarkers":
                version = {"transactionVersion": each["transaction_version"]} if each["v"] >= 2 else {}
                place = PARTITIONS[each["place"]]
                return {**sender, "commit": each["commits"], "coordinatorEpoch": 0, "partitions": [place], **version}
        raise AssertionError(f"no such step: {each!r}")

    def _of_group(self, each: Case) -> dict[str, Any]:
        return {"group": GROUPS[each["group"]], "offsets": {PARTITIONS[each["place"]]: each["offset"]}}

    def _of_member(self, each: Case) -> dict[str, Any]:
        """The member's name, and no generation or one that is so much above its own."""
        own, generation = self._members.get(GROUPS[each["group"]], ("M9", 0))
        above = each["generation"]
        name = {"": "", "own": own, "wrong": "nobody"}[each["member"]]
        return {"generation": -1 if above is None else generation + above, "member": name}

    def _learn(self, each: Case, answer: Mapping[str, Any]) -> None:
        do = each["do"]
        if do in ("InitProducerId", "EndTxn") and answer["error"] == NONE and answer.get("pid", -1) != -1:
            if self._known[IDS[each["id"]]][-1:] != [(answer["pid"], answer["epoch"])]:
                self._known[IDS[each["id"]]].append((answer["pid"], answer["epoch"]))
        elif do == "Join" and answer["error"] == NONE:
            self._members[GROUPS[each["group"]]] = answer["member"], answer["generation"]
        elif do == "Produce" and answer["error"] == NONE and each["sequence"] == "next":
            self._next[(*self._who(each), PARTITIONS[each["place"]])] += each["count"]


class _Broker:
    """The ids, groups and the topic of a case on a broker; ids and members have names as in the simulator."""

    def __init__(self, kafka: Kafka, new_name: Callable[[str], str]) -> None:
        self.kafka, self.topic = kafka, new_name("t")
        self.ids = {name: new_name(name) for name in IDS}
        self.groups = {name: new_name(name) for name in GROUPS}
        self.names: dict[int, str] = {}
        self.members: dict[str, str] = {}
        self.seen: dict[str, Any] = {}
        self.record_count, self.patience_s = 0, PATIENCE_S
        (self.broker,) = set(new_topic(kafka, self.topic, len(PARTITIONS)).values())
        for name in self.groups.values():
            kafka.coordinator(name)
        self._wait_for_ids()
        self.coordinator_epoch = kafka.partition("__transaction_state", 0).leader_epoch
        self._changed()

    def _wait_for_ids(self) -> None:
        """Until the coordinator of the ids answers for them, and has producer ids; it makes its topic if need be."""
        first = self.ids[IDS[0]]
        wait_for(lambda: self._ask("FindCoordinator", 2, {"key": first, "keyType": 1})["errorCode"], 0, "coordinator")
        look = partial(self._ask, "DescribeTransactions", 0, {"transactionalIds": [first]})
        told = wait_for(
            lambda: _error(look()["transactionStates"][0]), lambda error: error in LOADED, "the coordinator"
        )
        assert told in LOADED
        self.kafka.new_producer_id()

    def _ask(self, name: str, version: int, values: Mapping[str, Any]) -> dict[str, Any]:
        return self.kafka.ask(self.broker, name, values, version)

    # --- names

    def _name(self, producer_id: int) -> str | int:
        if producer_id < 0:
            return producer_id
        if producer_id >= UNKNOWN_IDS:
            return NOBODY
        return self.names.setdefault(producer_id, f"P{len(self.names)}")

    def _number(self, name: str) -> int:
        if name == NOBODY:
            return UNKNOWN_IDS
        return next(number for number, each in self.names.items() if each == name)

    def _place(self, topic: str, partition: int) -> str:
        return f"t-{partition}" if topic == self.topic else f"{topic}-{partition}"

    def _sender(self, q: Mapping[str, Any]) -> dict[str, Any]:
        return {"producerId": self._number(q["pid"]), "producerEpoch": q["epoch"]}

    # --- requests

    def play(self, do: str, version: int | None, q: Mapping[str, Any]) -> dict[str, Any]:
        """As `kafkalearn.transactions.history.Replay.play`."""
        answer = getattr(self, f"_{do}")(version, q)
        return {"a": answer, "now": self._changed()}

    def _InitProducerId(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"transactionalId": self.ids[q["id"]], "transactionTimeoutMs": q["timeout"]}
        got = self._ask("InitProducerId", version, {**values, **(self._sender(q) if "pid" in q else {})})
        return {"error": _error(got), "pid": self._name(got["producerId"]), "epoch": got["producerEpoch"]}

    def _AddPartitionsToTxn(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        numbers = [int(each.rpartition("-")[2]) for each in q["partitions"]]
        topics = [{"name": self.topic, "partitions": numbers}]
        sender = {"transactionalId": self.ids[q["id"]], **self._sender(q)}
        if version < 4:
            values = {f"v3AndBelow{name[0].upper()}{name[1:]}": value for name, value in sender.items()}
            got = self._ask("AddPartitionsToTxn", version, {**values, "v3AndBelowTopics": topics})
            return {"partitions": self._by_place(got["resultsByTopicV3AndBelow"])}
        values = {"transactions": [{**sender, "verifyOnly": q["verifyOnly"], "topics": topics}]}
        got = self._ask("AddPartitionsToTxn", version, values)
        found = [each for one in got["resultsByTransaction"] for each in one["topicResults"]]
        return {"error": _error(got), "partitions": self._by_place(found)}

    def _by_place(self, topics: list[dict[str, Any]]) -> dict[str, str]:
        return {
            self._place(topic["name"], each["partitionIndex"]): error_name(each["partitionErrorCode"])
            for topic in topics
            for each in topic["resultsByPartition"]
        }

    def _AddOffsetsToTxn(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"transactionalId": self.ids[q["id"]], **self._sender(q), "groupId": self.groups[q["group"]]}
        return {"error": _error(self._ask("AddOffsetsToTxn", version, values))}

    def _Produce(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        self.record_count += 1
        now_ms = int(time.time() * 1000)
        records = [(None, f"r{self.record_count}.{number}".encode(), now_ms) for number in range(q["records"])]
        place = TopicPartition(self.topic, int(q["partition"].rpartition("-")[2]))
        stamp = {"producer_id": self._number(q["pid"]), "producer_epoch": q["epoch"], "base_sequence": q["sequence"]}
        values = produce(place, records, is_transactional=q["transactional"], **stamp)
        values["transactionalId"] = None if q["id"] is None else self.ids[q["id"]]
        if version >= WITH_TOPIC_IDS["Produce"]:
            (topic,) = values["topicData"]
            values["topicData"] = [{"topicId": self._topic_id(), "partitionData": topic["partitionData"]}]
        (found,) = self._ask("Produce", version, values)["responses"][0]["partitionResponses"]
        answer = {"error": _error(found), "offset": found["baseOffset"]}
        return {**answer, "message": found["errorMessage"]} if found.get("errorMessage") else answer

    def _topic_id(self) -> Any:
        return self.kafka.metadata([self.topic]).topic_ids[self.topic]

    def _TxnOffsetCommit(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"transactionalId": self.ids[q["id"]], **self._sender(q), **self._offsets(q)}
        if version < WITH_MEMBERS:
            values = {
                name: each for name, each in values.items() if name not in ("memberId", "generationIdOrMemberEpoch")
            }
        if version >= WITH_TOPIC_IDS["TxnOffsetCommit"]:
            values["topics"] = [
                {"topicId": self._topic_id(), "partitions": each["partitions"]} for each in values["topics"]
            ]
        got = self._ask("TxnOffsetCommit", version, values)
        return {"partitions": self._committed_places(got)}

    def _OffsetCommit(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        return {"partitions": self._committed_places(self._ask("OffsetCommit", version, self._offsets(q)))}

    def _offsets(self, q: Mapping[str, Any]) -> dict[str, object]:
        offsets = {TopicPartition(self.topic, int(name[2:])): offset for name, offset in q["offsets"].items()}
        member = q.get("member", "")
        return commit(self.groups[q["group"]], offsets, self.members.get(member, member), q.get("generation", -1))

    def _committed_places(self, answer: Mapping[str, Any]) -> dict[str, str]:
        return {
            self._place(topic.get("name") or self.topic, each["partitionIndex"]): _error(each)
            for topic in answer["topics"]
            for each in topic["partitions"]
        }

    def _EndTxn(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"transactionalId": self.ids[q["id"]], **self._sender(q), "committed": q["commit"]}
        got = self._ask("EndTxn", version, values)
        if version < 5:
            return {"error": _error(got)}
        return {"error": _error(got), "pid": self._name(got["producerId"]), "epoch": got["producerEpoch"]}

    def _WriteTxnMarkers(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        marker = {
            **self._sender(q),
            "transactionResult": q["commit"],
            "topics": [{"name": self.topic, "partitionIndexes": [int(each[2:]) for each in q["partitions"]]}],
            "coordinatorEpoch": q["coordinatorEpoch"],
            **({"transactionVersion": q["transactionVersion"]} if version >= 2 else {}),
        }
        (got,) = self._ask("WriteTxnMarkers", version, {"markers": [marker]})["markers"]
        return {"partitions": self._committed_places(got)}

    def _Join(self, version: None, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        group, name = self.groups[q["group"]], f"M{len(self.members)}"
        if q["is_consumer"]:
            got = self._ask(
                "ConsumerGroupHeartbeat",
                1,
                consumer_heartbeat(group, f"{name}-{group}", 0, [self.topic], {}, rebalance_timeout_ms=30_000),
            )
            error, generation, member = _error(got), got["memberEpoch"], f"{name}-{group}"
        else:
            values = join_group(group, "", {"range": bytes(10)}, 30_000, 30_000)
            first = self._ask("JoinGroup", 7, values)
            got = self._ask("JoinGroup", 7, {**values, "memberId": first["memberId"]})
            error, generation, member = _error(got), got["generationId"], got["memberId"]
            if error == NONE:
                mine = sync_group(group, member, generation, {member: b""})
                error = _error(self._ask("SyncGroup", 5, {**mine, "protocolType": "consumer", "protocolName": "range"}))
        if error != NONE:
            return {"error": error, "generation": -1, "member": ""}
        self.members[name] = member
        return {"error": error, "generation": generation, "member": name}

    def _WaitUntil(self, version: None, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        """Until a timer of the coordinator has changed one of the ids, if there is one."""
        before = self._transactions()
        deadline = time.monotonic() + (TIMERS_S if any(isinstance(each, list) for each in before.values()) else 0)
        while self._transactions() == before and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return {}

    def _Restart(self, version: None, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        if q["how"] == "SIGKILL":
            self.kafka.kill(self.broker)
        else:
            self.kafka.stop(self.broker)
        self.kafka.restart(self.broker)
        wait_for(lambda: len(leaders_of(self.kafka, self.topic)), len(PARTITIONS), "leaders:")
        wait_for(
            lambda: self._ask("OffsetFetch", 8, self._committed_request(False))["groups"][0]["errorCode"], 0, "groups:"
        )
        self._wait_for_ids()
        return {}

    # --- what anybody can observe

    def _changed(self) -> dict[str, Any]:
        now = {**self._transactions(), **self._partitions(), **self._committed()}
        changed = {name: value for name, value in now.items() if self.seen.get(name) != value}
        self.seen.update(now)
        return changed

    def _transactions(self) -> dict[str, Any]:
        """Once no transaction is on its way to its end, or it does not come to it."""
        deadline = time.monotonic() + self.patience_s
        while True:
            asked = {"transactionalIds": list(self.ids.values())}
            got = self._ask("DescribeTransactions", 0, asked)["transactionStates"]
            if not any(each["transactionState"].startswith("Prepare") for each in got):
                break
            if time.monotonic() > deadline:
                self.patience_s = BRIEF_S
                break
        by_real = {real: name for name, real in self.ids.items()}
        return {f"txn {by_real[each['transactionalId']]}": self._described(each) for each in got}

    def _described(self, each: Mapping[str, Any]) -> Answer:
        if _error(each) != NONE:
            return _error(each)
        places = sorted(
            self._place(topic["topic"], number) for topic in each["topics"] for number in topic["partitions"]
        )
        has_begun = each["transactionStartTimeMs"] >= 0
        return [
            each["transactionState"], self._name(each["producerId"]), each["producerEpoch"],
            each["transactionTimeoutMs"], has_begun, places,
        ]  # fmt: skip

    def _partitions(self) -> dict[str, Any]:
        ends = [self._ends(level) for level in (0, 1)]
        asked = {"topics": [{"name": self.topic, "partitionIndexes": list(range(len(PARTITIONS)))}]}
        (topic,) = self._ask("DescribeProducers", 0, asked)["topics"]
        known = {each["partitionIndex"]: each["activeProducers"] for each in topic["partitions"]}
        fetched = self._fetched()
        now: dict[str, Any] = {}
        for number, name in enumerate(PARTITIONS):
            now[f"offsets {name}"] = [each[number] for each in ends]
            now[f"producers {name}"] = sorted(
                [
                    self._name(one["producerId"]),
                    one["producerEpoch"],
                    one["lastSequence"],
                    one["coordinatorEpoch"],
                    one["currentTxnStartOffset"],
                ]
                for one in sorted(known[number], key=lambda each: each["producerId"])
            )
            now[f"fetch {name}"] = fetched[number]
        return now

    def _ends(self, isolation_level: int) -> dict[int, int]:
        asked = [{"partitionIndex": number, "timestamp": LATEST} for number in range(len(PARTITIONS))]
        topics = [{"name": self.topic, "partitions": asked}]
        values = {"replicaId": CONSUMER_REPLICA, "isolationLevel": isolation_level, "topics": topics}
        (topic,) = self._ask("ListOffsets", 7, values)["topics"]
        return {each["partitionIndex"]: each["offset"] for each in topic["partitions"]}

    def _fetched(self) -> dict[int, Any]:
        """Where a read_committed fetch from the start ends, and the aborted transactions that come with it."""
        asked = [
            {"partition": number, "fetchOffset": 0, "partitionMaxBytes": FETCH_BYTES}
            for number in range(len(PARTITIONS))
        ]
        values = {
            "replicaId": CONSUMER_REPLICA, "isolationLevel": 1, "maxWaitMs": 0, "minBytes": 0,
            "topics": [{"topic": self.topic, "partitions": asked}], "forgottenTopicsData": [],
        }  # fmt: skip
        (topic,) = self._ask("Fetch", NEWEST_FETCH_WITH_NAMES, values)["responses"]
        found = {}
        for each in topic["partitions"]:
            aborted = [[self._name(one["producerId"]), one["firstOffset"]] for one in each["abortedTransactions"] or ()]
            batches = parse_segment(each["records"] or b"", self.topic, each["partitionIndex"], 0).batches
            found[each["partitionIndex"]] = {"to": batches[-1].last_offset + 1 if batches else 0, "aborted": aborted}
        return found

    def _committed(self) -> dict[str, Any]:
        found: dict[str, list[Any]] = {name: [] for name in GROUPS}
        for is_stable in (False, True):
            got = self._ask("OffsetFetch", 8, self._committed_request(is_stable))["groups"]
            for name, each in zip(GROUPS, got, strict=True):
                (topic,) = each["topics"]
                by_number = {one["partitionIndex"]: one for one in topic["partitions"]}
                found[name].append([_offset(by_number[number]) for number in range(len(PARTITIONS))])
        return {f"committed {name}": each for name, each in found.items()}

    def _committed_request(self, is_stable: bool) -> dict[str, object]:
        topics = [{"name": self.topic, "partitionIndexes": list(range(len(PARTITIONS)))}]
        groups = [{"groupId": each, "topics": topics} for each in self.groups.values()]
        return {"groups": groups, "requireStable": is_stable}

    def logs(self) -> dict[str, Any]:
        """The batches of each partition: where, whose, and what."""
        return {
            name: [self._batch(each) for each in self.kafka.batches(self.topic, number)]
            for number, name in enumerate(PARTITIONS)
        }

    def _batch(self, batch: Batch) -> Answer:
        kind = batch.records[0].control or "data"
        values = [] if batch.is_control else [(each.value or b"").decode() for each in batch.records]
        return [
            batch.base_offset,
            batch.is_transactional,
            self._name(batch.producer_id),
            batch.producer_epoch,
            kind.upper(),
            values,
        ]


def _error(answer: Mapping[str, Any]) -> str:
    return error_name(answer["errorCode"])


def _offset(found: Mapping[str, Any]) -> Answer:
    return found["committedOffset"] if _error(found) == NONE else _error(found)


def _ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    broker = _Broker(kafka, new_name)
    clients, epoch = _Clients(broker), broker.coordinator_epoch
    steps = [clients.play(each) for each in case["steps"]]
    return {"coordinator epoch": epoch, "steps": steps, "logs": broker.logs()}


def _say(transaction_version: int, more: Mapping[str, int], release: str, case: Case, seen: Answer) -> Answer:
    """What the simulator answers; only the broker can know the epoch that its coordinator had before."""
    epoch = seen["coordinator epoch"]
    settings = Settings(release, transaction_version, partitions=PARTITIONS, coordinator_epoch=epoch, **more)
    played = Replay(settings, IDS, GROUPS)
    clients = _Clients(played)
    steps = [clients.play(each) for each in case["steps"]]
    logs = played.logs()
    told = {name: [_told(each) for each in logs[name]] for name in PARTITIONS}
    return {"coordinator epoch": epoch, "steps": steps, "logs": told}


def _told(batch: Mapping[str, Any]) -> Answer:
    names = ("offset", "transactional", "pid", "epoch")
    return [*(batch[name] for name in names), batch["kind"].upper(), batch.get("records", [])]


SHORT_TIMERS = {"abort_timed_out_interval_ms": 500, "id_expiration_ms": 2500, "remove_expired_interval_ms": 500}
NAMES = {
    "abort_timed_out_interval_ms": "transaction.abort.timed.out.transaction.cleanup.interval.ms",
    "id_expiration_ms": "transactional.id.expiration.ms",
    "remove_expired_interval_ms": "transaction.remove.expired.transaction.cleanup.interval.ms",
}
"""Kafka's names of the simulator's settings."""


def _mechanism(name: str, cases: Any, transaction_version: int, timers: Mapping[str, int] | None = None) -> Mechanism:
    of_timers = {NAMES[each]: value for each, value in (timers or {}).items()}
    one_partition = {"transaction.state.log.num.partitions": 1, "offsets.topic.num.partitions": 1}
    return Mechanism(
        name=name,
        rules=("requests about transactions: answers, states, markers, the last stable offset, offsets that wait",),
        cases=cases,
        ask=_ask,
        say=partial(_say, transaction_version, timers or {}),
        settings={"transaction_version": transaction_version, "config": {**one_partition, **of_timers}},
        tries=3 if timers else 2,
    )


VERSION_0, VERSION_1, VERSION_2 = (
    _mechanism(f"transactions, version {number}", partial(_cases, number), number) for number in (0, 1, 2)
)
TIMERS = _mechanism("transactions, their timers", _timer_cases, 2, SHORT_TIMERS)
RESTARTS = _mechanism("transactions over restarts", _restart_cases, 2)
