"""Share groups: requests by hand to a broker, and what anybody can observe after each.

A case is a list of requests of three members, who know no more than they were answered: which epoch their session is
at, and which records they hold. Both sides are asked by the same `_Members`. After each request come the group as it is
described, its offsets, what the share coordinator has, the log's offsets, and the records that were written to
``__share_group_state`` and ``__consumer_offsets``, all in the form of `kafkalearn.sharing.history`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from hypothesis import strategies

from conformance.mechanism import Answer, CannotBeAsked, Case, Mechanism, TooSlow, new_topic
from conformance.mechanisms.classic_groups import scripts
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats import share_state_log
from kafkalearn.formats.disk import parse_segment
from kafkalearn.live.cluster import CONSUMER_REPLICA
from kafkalearn.live.errors import wait_for
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.request_values import NONE, error_name, produce
from kafkalearn.live.requests import Connection
from kafkalearn.offsets.records import decode
from kafkalearn.releases.lines import at_least
from kafkalearn.sharing.events import ACCEPT, GAP, REJECT, RELEASE, RENEW
from kafkalearn.sharing.history import Replay, settings_of
from kafkalearn.sharing.stored import STATE_NAMES

GROUP, TOPIC, MEMBERS, WARMING = "g1", "t", ("m1", "m2", "m3"), "w"
STATES, GROUPS = "__share_group_state", "__consumer_offsets"
FETCH_WAIT_MS, WARM_MS, MAX_BYTES = 120, 250, 50 << 20
MOST_STEPS = 24
STILL_S, PATIENCE_S = 0.05, 3.0
"""For so long nothing is written before it is looked; for so long at most is waited for that."""

LOCK_MS, WAIT_MS, SESSION_MS = 60_000, 6000, 60_000
SHORT_LOCK_MS = 9000
"""A lock outlives one wait and not two: what is acquired between two waits has run out after the second."""

MOST_S, MOST_DRIFT_S = 50.0, 2.5
"""A case that takes longer meets timers that it does not mean; so do requests that take longer from wait to wait."""

CONFIG = {
    "offsets.topic.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "group.share.record.lock.duration.ms": LOCK_MS,
    "group.share.min.record.lock.duration.ms": 1000,
    "group.share.session.timeout.ms": SESSION_MS,
    "group.share.min.session.timeout.ms": 1000,
    "group.share.min.heartbeat.interval.ms": 500,
    "group.share.assignment.interval.ms": 0,
    "group.share.assignor.offload.enable": False,
    "log.retention.check.interval.ms": 600_000,
}
RECORDS = {
    10: "ShareGroupMemberMetadata",
    11: "ShareGroupMetadata",
    12: "ShareGroupTargetAssignmentMetadata",
    13: "ShareGroupTargetAssignmentMember",
    14: "ShareGroupCurrentMemberAssignment",
    15: "ShareGroupStatePartitionMetadata",
}
RULE = "requests about share groups: answers, states in flight, sessions, heartbeats, offsets, the records of both logs"
OF_CLIENTS = ("clientId", "clientHost")


# Which questions there are.


def _cases(has_waits: bool, release: str) -> strategies.SearchStrategy[Case]:
    of, pick, whole = strategies.fixed_dictionaries, strategies.sampled_from, strategies.integers
    booleans, member = strategies.booleans(), pick((0, 0, 0, 1, 1, 2))
    types = pick(([ACCEPT], [ACCEPT], [RELEASE], [RELEASE], [REJECT], [GAP], [ACCEPT, RELEASE], [RELEASE, REJECT, GAP]))
    acknowledgement = of(
        {
            "whose": pick(("own",) * 9 + ("other", "nobody")),
            "which": whole(0, 3),
            "part": pick(("whole",) * 5 + ("first", "last", "inside", "below", "beyond")),
            "types": types,
        }
    )
    some = strategies.lists(acknowledgement, min_size=1, max_size=2)

    def request(name: str, **fields: Any) -> strategies.SearchStrategy[Case]:
        return of({"do": strategies.just(name), **fields})

    fetch = request(
        "ShareFetch",
        member=member,
        session=pick(("next",) * 16 + ("open", "close", "wrong")),
        most=pick((1, 2, 3, 5, 10, 500)),
        batch=pick((0, 1, 2, 4, 500)),
        mode=pick((0, 0, 1)),
        acks=strategies.one_of(strategies.just([]), strategies.just([]), some),
        forgets=pick((False,) * 9 + (True,)),
    )
    told = request("ShareAcknowledge", member=member, session=pick(("next",) * 16 + ("close", "wrong")), acks=some)
    renewed = request("Renew", member=member, acks=some, by_fetch=booleans)
    beat = request("ShareGroupHeartbeat", member=member, epoch=pick(("next",) * 6 + ("join", "leave", "ahead")))
    appended = request("Produce", place=whole(0, 1), count=whole(1, 8), in_transaction=pick((False,) * 4 + (True,)))
    ended = request("EndTxn", commit=booleans)
    closed = request("Disconnect", member=member)
    cut = request("DeleteRecords", place=whole(0, 1), before=whole(0, 12))
    names = [("share.isolation.level", "read_committed"), ("share.isolation.level", "read_uncommitted")]
    if at_least("4.3", release):
        names += [("share.delivery.count.limit", "2"), ("share.delivery.count.limit", "4")]
    configured = request("IncrementalAlterConfigs", config=pick(names))
    altered = request("AlterShareGroupOffsets", place=whole(0, 1), offset=whole(-1, 9))
    forgotten = request("DeleteShareGroupOffsets")
    often = [*[fetch] * 6, *[told] * 5, appended, appended, beat]
    if has_waits:
        step = strategies.one_of(*often, renewed, renewed, closed)
        between = strategies.lists(step, min_size=1, max_size=5)
        steps = strategies.lists(between, min_size=2, max_size=4).map(_with_waits)
    else:
        rare = [closed, cut, configured, altered, forgotten, renewed, beat, ended]
        steps = scripts(strategies.one_of(*often, *often, *rare), MOST_STEPS)
    configs = of(
        {
            "share.auto.offset.reset": pick(("earliest",) * 5 + ("latest",)),
            "share.isolation.level": pick(("read_uncommitted", "read_uncommitted", "read_committed")),
        }
    )
    if has_waits:
        configs = configs.map(lambda found: {**found, "share.record.lock.duration.ms": str(SHORT_LOCK_MS)})
    begin = strategies.lists(whole(1, 8), max_size=3)
    return of({"configs": configs, "partitions": pick((1, 1, 1, 2)), "begin": begin, "steps": steps})


def _with_waits(runs: list[list[Case]]) -> list[Case]:
    return [each for run in runs for each in (*run, {"do": "Wait"})]


# Who asks.


class _Members:
    """Members of the group, who know what they were answered."""

    def __init__(self, side: Any, partition_count: int) -> None:
        self._side, self.count = side, partition_count
        self._epochs: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._held: dict[str, dict[str, set[int]]] = {name: {} for name in MEMBERS}
        self._is_open = False

    @property
    def places(self) -> list[str]:
        """The partitions of the topic."""
        return [f"{TOPIC}-{number}" for number in range(self.count)]

    def begin(self, sizes: Iterable[int]) -> list[Answer]:
        """Two members join, all state is read by one who looks and goes, and batches are appended."""
        found = [self._beat(name, self._epochs.get(name, 0)) for name in (*MEMBERS[:2], *MEMBERS[:2])]
        found.append(self._sent("ShareFetch", 2, self._fetch(WARMING, 0, self.places, 500, wait_ms=WARM_MS)))
        found.append(self._sent("ShareFetch", 2, self._fetch(WARMING, -1, [], 500)))
        found.append(self._sent("InitProducerId", 4, {"transaction": "x1"}))
        return found + [self._sent("Produce", 11, {"partition": f"{TOPIC}-0", "records": size}) for size in sizes]

    def play(self, each: Case) -> Answer:
        """One step of a case: what was answered and what is new after it; [] if nobody can ask that now."""
        return getattr(self, f"_{each['do']}")(each)

    def _sent(self, do: str, version: int | None, q: Mapping[str, Any]) -> Answer:
        found = self._side.play(do, version, q)
        return [found["a"], found["now"]]

    def _beat(self, name: str, epoch: int, topics: list[str] | None = None) -> Answer:
        q = {"group": GROUP, "member": name, "epoch": epoch}
        if epoch == 0 or topics is not None:
            q["topics"] = topics or [TOPIC]
        answer, now = self._sent("ShareGroupHeartbeat", 1, q)
        if answer["error"] == NONE:
            self._epochs[name] = max(0, answer["epoch"])
        return [answer, now]

    def _ShareGroupHeartbeat(self, each: Case) -> Answer:  # noqa: N802
        name = MEMBERS[each["member"]]
        known = self._epochs.get(name, 0)
        return self._beat(name, {"next": known, "join": 0, "leave": -1, "ahead": known + 1}[each["epoch"]])

    def _fetch(
        self, name: str, epoch: int, places: list[str], most: int, batch: int = 500, mode: int = 0,
        wait_ms: int = FETCH_WAIT_MS, **more: Any,
    ) -> dict[str, Any]:  # fmt: skip
        q = {"group": GROUP, "member": name, "epoch": epoch, "partitions": places, "maxRecords": most}
        return {**q, "batchSize": batch, "mode": mode, "maxWaitMs": wait_ms, **more}

    def _session(self, name: str, how: str) -> int:
        known = self._sessions.get(name, 0)
        return {"next": known, "open": 0, "close": -1, "wrong": known + 3}[how]

    def _asked(self, name: str, epoch: int, answer: Mapping[str, Any]) -> None:
        """The session goes on, ends, or does not move."""
        if answer["error"] == "SHARE_SESSION_NOT_FOUND" or (answer["error"] == NONE and epoch == -1):
            self._sessions.pop(name, None)
        elif answer["error"] == NONE:
            self._sessions[name] = epoch + 1

    def _ShareFetch(self, each: Case) -> Answer:  # noqa: N802
        name = MEMBERS[each["member"]]
        epoch = self._session(name, each["session"])
        acks = self._acks(name, each["acks"]) if epoch != 0 else {}
        more: dict[str, Any] = {"acks": acks} if acks else {}
        if each["forgets"] and epoch > 0:
            more["forgotten"] = self.places[-1:]
        places = self.places if epoch == 0 or each["most"] == 1 else []
        q = self._fetch(name, epoch, places, each["most"], each["batch"], each["mode"], **more)
        answer, now = self._sent("ShareFetch", 2, q)
        self._asked(name, epoch, answer)
        if answer["error"] == NONE:
            self._let_go(name, acks, {p: one.get("ackError", NONE) for p, one in answer["partitions"].items()})
            for place, one in answer["partitions"].items():
                held = self._held[name].setdefault(place, set())
                held.update(offset for first, last, _ in one["acquired"] for offset in range(first, last + 1))
        return [answer, now]

    def _ShareAcknowledge(self, each: Case) -> Answer:  # noqa: N802
        name = MEMBERS[each["member"]]
        return self._acknowledge(name, self._session(name, each["session"]), self._acks(name, each["acks"]))

    def _acknowledge(self, name: str, epoch: int, acks: dict[str, Any], **more: Any) -> Answer:
        q = {"group": GROUP, "member": name, "epoch": epoch, "acks": acks, **more}
        answer, now = self._sent("ShareAcknowledge", 2, q)
        self._asked(name, epoch, answer)
        if answer["error"] == NONE:
            self._let_go(name, acks, {place: one["error"] for place, one in answer["partitions"].items()})
        return [answer, now]

    def _Renew(self, each: Case) -> Answer:  # noqa: N802
        name = MEMBERS[each["member"]]
        epoch = self._session(name, "next")
        acks = self._acks(name, [{**one, "types": [RENEW]} for one in each["acks"]])
        if not each["by_fetch"]:
            return self._acknowledge(name, epoch, acks, isRenewAck=True)
        more = {"acks": acks, "isRenewAck": True, "maxBytes": 0, "minBytes": 0}
        answer, now = self._sent("ShareFetch", 2, self._fetch(name, epoch, [], 0, wait_ms=0, **more))
        self._asked(name, epoch, answer)
        return [answer, now]

    def _let_go(self, name: str, acks: Mapping[str, Any], errors: Mapping[str, str]) -> None:
        for place, some in acks.items():
            for first, last, types in some if errors.get(place, NONE) == NONE else ():
                if types != [RENEW]:
                    for held in self._held.values():
                        held.get(place, set()).difference_update(range(first, last + 1))

    def _acks(self, name: str, wanted: list[Case]) -> dict[str, list[list[Any]]]:
        """Ranges of what somebody holds, or a part of one, or more than it; in order, as they must be."""
        found: dict[str, dict[int, list[Any]]] = {}
        for each in wanted:
            others = [one for other in MEMBERS if other != name for one in _runs(self._held[other])]
            runs = {"own": _runs(self._held[name]), "other": others, "nobody": []}[each["whose"]]
            place, first, last = (
                runs[each["which"] % len(runs)] if runs else (f"{TOPIC}-0", each["which"], each["which"])
            )
            first, last = {
                "whole": (first, last), "first": (first, first), "last": (last, last),
                "inside": (min(first + 1, last), last), "below": (max(0, first - 1), last), "beyond": (first, last + 2),
            }[each["part"]]  # fmt: skip
            types = each["types"]
            if len(types) > 1:
                types = [types[number % len(types)] for number in range(last - first + 1)]
            found.setdefault(place, {}).setdefault(first, [first, last, types])
        return {place: [some[first] for first in sorted(some)] for place, some in sorted(found.items())}

    # What others do.

    def _Produce(self, each: Case) -> Answer:  # noqa: N802
        q = {"partition": self.places[each["place"] % self.count], "records": each["count"]}
        self._is_open |= each["in_transaction"]
        return self._sent("Produce", 12, {**q, "transaction": "x1"} if each["in_transaction"] else q)

    def _EndTxn(self, each: Case) -> Answer:  # noqa: N802
        if not self._is_open:
            return []
        self._is_open = False
        return self._sent("EndTxn", 5, {"transaction": "x1", "commit": each["commit"]})

    def _Disconnect(self, each: Case) -> Answer:  # noqa: N802
        name = MEMBERS[each["member"]]
        if name not in self._sessions:
            return []
        del self._sessions[name]
        self._held[name].clear()
        return self._sent("Disconnect", None, {"connection": name})

    def _DeleteRecords(self, each: Case) -> Answer:  # noqa: N802
        place = self.places[each["place"] % self.count]
        return self._sent("DeleteRecords", 2, {"partition": place, "before": each["before"]})

    def _IncrementalAlterConfigs(self, each: Case) -> Answer:  # noqa: N802
        return self._sent("IncrementalAlterConfigs", 1, {"group": GROUP, "configs": dict([each["config"]])})

    def _AlterShareGroupOffsets(self, each: Case) -> Answer:  # noqa: N802
        place = self.places[each["place"] % self.count]
        return self._sent("AlterShareGroupOffsets", 0, {"group": GROUP, "offsets": {place: each["offset"]}})

    def _DeleteShareGroupOffsets(self, each: Case) -> Answer:  # noqa: N802
        return self._sent("DeleteShareGroupOffsets", 0, {"group": GROUP, "topics": [TOPIC]})

    def _Wait(self, each: Case) -> Answer:  # noqa: N802
        return self._sent("Wait", None, {"ms": WAIT_MS})


def _runs(held: Mapping[str, set[int]]) -> list[tuple[str, int, int]]:
    """Offsets as ranges without holes, by partition."""
    found: list[tuple[str, int, int]] = []
    for place in sorted(held):
        for offset in sorted(held[place]):
            if found and found[-1][0] == place and found[-1][2] == offset - 1:
                found[-1] = place, found[-1][1], offset
            else:
                found.append((place, offset, offset))
    return found


# The broker.


class _Broker:
    """The topic and the group of a case on a broker, under the names that they have in the simulator."""

    def __init__(self, kafka: Kafka, new_name: Callable[[str], str], case: Case) -> None:
        self.kafka, self.topic, self.group = kafka, new_name(TOPIC), new_name("share")
        self.count = case["partitions"]
        (self.broker,) = set(new_topic(kafka, self.topic, self.count).values())
        self.topic_id = kafka.metadata([self.topic]).topic_ids[self.topic]
        self.connections: dict[str, Connection] = {}
        self.producer: tuple[int, int] = (-1, -1)
        self.sequences: dict[int, int] = {}
        self.is_short, self.is_pending = False, False
        self.batch_count, self.drift_s, self.asked_at = 0, 0.0, time.monotonic()
        self.transaction = new_name("x")
        kafka.coordinator(self.group)
        self._wait_for_coordinators()
        self._configure(case["configs"])
        self.at = {log: kafka.high_watermark(log, 0) for log in (STATES, GROUPS)}
        self.seen: dict[str, Any] = {}
        self._changed()

    def _wait_for_coordinators(self) -> None:
        """Until both coordinators answer; the topic of each is made when somebody looks for it."""
        keys = {1: self.transaction, 2: f"{self.group}:{self.topic_id}:0"}
        for kind, key in keys.items():
            wait_for(partial(self._coordinator_error, kind, key), NONE, f"the coordinator of {key}:")
        wait_for(
            lambda: _error(self._state_of("ReadShareGroupStateSummary", 0, {"leaderEpoch": 0}, 0)), NONE, "states:"
        )

    def _coordinator_error(self, kind: int, key: str) -> str:
        (found,) = self._ask("FindCoordinator", 6, {"keyType": kind, "coordinatorKeys": [key]})["coordinators"]
        return _error(found)

    def _ask(self, name: str, version: int, values: Mapping[str, Any]) -> dict[str, Any]:
        return self.kafka.ask(self.broker, name, values, version)

    def _connection(self, name: str) -> Connection:
        if name not in self.connections:
            self.connections[name] = self.kafka.connection(self.broker)
        return self.connections[name]

    def close(self) -> None:
        """End the sessions."""
        for each in self.connections.values():
            each.close()

    def play(self, do: str, version: int | None, q: Mapping[str, Any]) -> dict[str, Any]:
        """As `kafkalearn.sharing.history.Replay.play`."""
        began = time.monotonic()
        answer = getattr(self, f"_{do}")(version, q)
        found = {"a": answer, "now": self._changed()}
        self._note_drift(do, time.monotonic() - began)
        return found

    def _note_drift(self, do: str, seconds: float) -> None:
        if do == "Wait":
            self.drift_s, seconds = 0.0, seconds - WAIT_MS / 1000
        self.drift_s += seconds
        if self.drift_s > (MOST_DRIFT_S if self.is_short else MOST_S) or time.monotonic() - self.asked_at > MOST_S:
            raise TooSlow("the requests take as long as the timers that they are not to meet")

    def _words(self, text: str) -> str:
        return text.replace(self.group, GROUP).replace(self.topic_id, f"<id of {TOPIC}>").replace(self.topic, TOPIC)

    def _headed(self, answer: Mapping[str, Any], error: str = "error", message: str = "message") -> dict[str, str]:
        said = answer.get("errorMessage")
        return {error: _error(answer), **({message: self._words(said)} if said else {})}

    def _place(self, topic_id: str, index: int) -> str:
        return f"{TOPIC if topic_id == self.topic_id else 'unknown'}-{index}"

    # Logs.

    def _Produce(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        self.batch_count += 1
        now_ms, index = int(time.time() * 1000), _index(q["partition"])
        records = [(None, f"r{self.batch_count}.{number}".encode(), now_ms) for number in range(q["records"])]
        stamp: dict[str, Any] = {}
        if "transaction" in q:
            sequence = self.sequences.get(index, 0)
            self.sequences[index] = sequence + len(records)
            stamp = {"producer_id": self.producer[0], "producer_epoch": self.producer[1], "base_sequence": sequence}
        values = produce(TopicPartition(self.topic, index), records, is_transactional=bool(stamp), **stamp)
        values["transactionalId"] = self.transaction if stamp else None
        (found,) = self._ask("Produce", 12, values)["responses"][0]["partitionResponses"]
        return {"error": _error(found), "offset": found["baseOffset"]}

    def _InitProducerId(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"transactionalId": self.transaction, "transactionTimeoutMs": 60_000}

        def ask() -> str:
            got = self._ask("InitProducerId", 4, values)
            self.producer = got["producerId"], got["producerEpoch"]
            return _error(got)

        return {"error": wait_for(ask, NONE, "a producer id:")}

    def _EndTxn(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        producer_id, epoch = self.producer
        sender = {"transactionalId": self.transaction, "producerId": producer_id, "producerEpoch": epoch}
        got = self._ask("EndTxn", 5, {**sender, "committed": q["commit"]})
        if _error(got) == NONE:
            self.producer, self.sequences = (got["producerId"], got["producerEpoch"]), {}
        asked = {"transactionalIds": [self.transaction]}
        wait_for(
            lambda: self._ask("DescribeTransactions", 0, asked)["transactionStates"][0]["transactionState"],
            lambda state: state.startswith("Complete"),
            "markers:",
        )
        return {"error": _error(got)}

    def _DeleteRecords(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        partitions = [{"partitionIndex": _index(q["partition"]), "offset": q["before"]}]
        values = {"topics": [{"name": self.topic, "partitions": partitions}], "timeoutMs": 5000}
        (found,) = self._ask("DeleteRecords", 2, values)["topics"][0]["partitions"]
        return {"error": _error(found), "start": found["lowWatermark"]}

    def _Wait(self, version: None, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        time.sleep(q["ms"] / 1000)
        return {}

    def _Disconnect(self, version: None, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        self.connections.pop(q["connection"]).close()
        time.sleep(STILL_S)
        return {}

    # The group.

    def _ShareGroupHeartbeat(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"groupId": self.group, "memberId": q["member"], "memberEpoch": q["epoch"]}
        values["subscribedTopicNames"] = [self.topic] if "topics" in q else None
        got = self._connection(q["member"]).call("ShareGroupHeartbeat", values, version)
        shown: dict[str, Any] = self._headed(got)
        if shown["error"] == NONE:
            shown |= {"epoch": got["memberEpoch"], "interval": got["heartbeatIntervalMs"]}
            if got["assignment"] is not None:
                shown["assignment"] = self._flat(got["assignment"]["topicPartitions"])
        return shown

    def _flat(self, topics: Iterable[Mapping[str, Any]]) -> list[str]:
        return sorted(self._place(each["topicId"], number) for each in topics for number in each["partitions"])

    def _configure(self, configs: Mapping[str, str]) -> dict[str, str]:
        told = [{"name": name, "configOperation": 0, "value": value} for name, value in configs.items()]
        resource = {"resourceType": 32, "resourceName": self.group, "configs": told}
        (found,) = self._ask("IncrementalAlterConfigs", 1, {"resources": [resource], "validateOnly": False})[
            "responses"
        ]
        self.is_short |= "share.record.lock.duration.ms" in configs
        time.sleep(STILL_S)  # until the broker has taken it in
        return self._headed(found)

    def _IncrementalAlterConfigs(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        return self._configure(q["configs"])

    def _AlterShareGroupOffsets(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        told = [{"partitionIndex": _index(name), "startOffset": offset} for name, offset in q["offsets"].items()]
        values = {"groupId": self.group, "topics": [{"topicName": self.topic, "partitions": told}]}
        got = self._ask("AlterShareGroupOffsets", 0, values)
        results = {
            f"{TOPIC}-{each['partitionIndex']}": self._said(each)
            for topic in got["responses"]
            for each in topic["partitions"]
        }
        return {**self._headed(got), "results": results}

    def _DeleteShareGroupOffsets(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {"groupId": self.group, "topics": [{"topicName": self.topic}]}
        got = self._ask("DeleteShareGroupOffsets", 0, values)
        return {
            **self._headed(got),
            "results": {self._words(each["topicName"]): self._said(each) for each in got["responses"]},
        }

    def _said(self, each: Mapping[str, Any]) -> Answer:
        headed = self._headed(each)
        return list(headed.values()) if len(headed) > 1 else headed["error"]

    # Fetches.

    def _topics(self, places: Iterable[str], acks: Mapping[str, Any]) -> list[dict[str, Any]]:
        told = [
            {
                "partitionIndex": _index(place),
                "acknowledgementBatches": [
                    {"firstOffset": first, "lastOffset": last, "acknowledgeTypes": types}
                    for first, last, types in acks.get(place, ())
                ],
            }
            for place in dict.fromkeys([*places, *acks])
        ]
        return [{"topicId": self.topic_id, "partitions": told}] if told else []

    def _ShareFetch(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        gone = [_index(each) for each in q.get("forgotten", ())]
        values = {
            "groupId": self.group, "memberId": q["member"], "shareSessionEpoch": q["epoch"],
            "maxWaitMs": q["maxWaitMs"], "minBytes": q.get("minBytes", 1), "maxBytes": q.get("maxBytes", MAX_BYTES),
            "maxRecords": q["maxRecords"], "batchSize": q["batchSize"], "shareAcquireMode": q["mode"],
            "isRenewAck": q.get("isRenewAck", False), "topics": self._topics(q["partitions"], q.get("acks", {})),
            "forgottenTopicsData": [{"topicId": self.topic_id, "partitions": gone}] if gone else [],
        }  # fmt: skip
        began = time.monotonic()
        got = self._connection(q["member"]).call("ShareFetch", values, version)
        shown: dict[str, Any] = {"error": _error(got)}
        if q["maxWaitMs"] and (time.monotonic() - began) * 1000 >= q["maxWaitMs"] - 8:
            shown["waited"] = True
        shown |= self._headed(got)
        if shown["error"] == NONE:
            shown["lockMs"] = got["acquisitionLockTimeoutMs"]
        if got["nodeEndpoints"]:
            shown["nodes"] = [each["nodeId"] for each in got["nodeEndpoints"]]
        shown["partitions"] = self._by_place(got["responses"], self._fetched)
        return shown

    def _by_place(self, topics: list[dict[str, Any]], told: Callable[[dict[str, Any]], Answer]) -> dict[str, Answer]:
        found = {
            self._place(topic["topicId"], each["partitionIndex"]): told(each)
            for topic in topics
            for each in topic["partitions"]
        }
        return dict(sorted(found.items()))

    def _fetched(self, each: Mapping[str, Any]) -> Answer:
        acquired = [[one["firstOffset"], one["lastOffset"], one["deliveryCount"]] for one in each["acquiredRecords"]]
        shown: dict[str, Any] = {"acquired": acquired}
        if each["errorCode"] or each["errorMessage"]:
            headed = self._headed(each)
            shown |= headed if headed["error"] != NONE else {"message": headed["message"]}
        if each["acknowledgeErrorCode"]:
            shown["ackError"] = error_name(each["acknowledgeErrorCode"])
        if each["acknowledgeErrorMessage"]:
            shown["ackMessage"] = self._words(each["acknowledgeErrorMessage"])
        if each["records"] is not None:
            batches = parse_segment(each["records"], self.topic, 0, 0).batches
            shown["records"] = [
                [one.base_offset, one.last_offset, len(one.records), *(["control"] if one.is_control else [])]
                for one in batches
            ]
        return {**shown, **_leader(each)}

    def _ShareAcknowledge(self, version: int, q: Mapping[str, Any]) -> Answer:  # noqa: N802
        values = {
            "groupId": self.group, "memberId": q["member"], "shareSessionEpoch": q["epoch"],
            "isRenewAck": q.get("isRenewAck", False), "topics": self._topics((), q["acks"]),
        }  # fmt: skip
        got = self._connection(q["member"]).call("ShareAcknowledge", values, version)
        shown: dict[str, Any] = self._headed(got)
        if got["acquisitionLockTimeoutMs"]:
            shown["lockMs"] = got["acquisitionLockTimeoutMs"]
        told = self._by_place(got["responses"], lambda each: {**self._headed(each), **_leader(each)})
        return {**shown, "partitions": told}

    # What anybody can observe.

    def _changed(self) -> dict[str, Any]:
        written = self._wrote()
        now = {**self._of_group(), **self._of_logs(), **self._of_states()}
        changed = {name: value for name, value in now.items() if name not in self.seen or self.seen[name] != value}
        self.seen.update(now)
        return {**changed, **written}

    def _wrote(self) -> dict[str, Any]:
        """The records of both logs since the last look, once nothing is added and nothing is being initialised."""
        found: dict[str, list[Any]] = {STATES: [], GROUPS: []}
        began = still_since = time.monotonic()
        while time.monotonic() - still_since < STILL_S or self.is_pending:
            if time.monotonic() - began > PATIENCE_S:
                break
            for log, told in ((STATES, self._of_state), (GROUPS, self._of_offsets)):
                for batch in self.kafka.batches(log, 0, self.at[log]):
                    self.at[log] = batch.last_offset + 1
                    still_since = time.monotonic()
                    shown = (told(each) for each in batch.records if each.control is None)
                    found[log] += [each for each in shown if each is not None]
        found[STATES].sort(key=lambda each: each["partition"])
        return {f"wrote {log}": each for log, each in found.items() if each}

    def _of_state(self, record: Any) -> dict[str, Any] | None:
        kind, whose = share_state_log.decode_key(record.key)
        if whose.group_id != self.group:
            return None
        _, fields = share_state_log.decode_value(kind, record.value)
        is_snapshot = kind == share_state_log.SNAPSHOT
        name = "ShareSnapshot" if is_snapshot else "ShareUpdate"
        shown = {"record": name, "group": GROUP, "partition": self._place(whose.topic_id, whose.partition)}
        if fields is None:
            return {**shown, "value": None}
        value = {key: each for key, each in fields.items() if not key.endswith("Timestamp")}
        if is_snapshot:
            value["rewritten"] = fields["createTimestamp"] != fields["writeTimestamp"]
        value["stateBatches"] = [_batch(each) for each in fields["stateBatches"]]
        return {**shown, "value": value}

    def _of_offsets(self, record: Any) -> dict[str, Any] | None:
        found = decode(record.key, record.value)
        if found.type.number not in RECORDS or found.key["groupId"] != self.group:
            return None
        shown = {"record": RECORDS[found.type.number], "group": GROUP}
        if "memberId" in found.key:
            shown["member"] = found.key["memberId"]
        value = None if found.value is None else {name: self._told(name, each) for name, each in found.value.items()}
        if value is not None:
            value = {name: each for name, each in value.items() if "imestamp" not in name and name not in OF_CLIENTS}
        if shown["record"] == RECORDS[15]:
            self.is_pending = value is not None and bool(value["initializingTopics"] or value["deletingTopics"])
        return {**shown, "value": value}

    def _told(self, name: str, value: Any) -> Any:
        if name == "metadataHash":
            return "set" if value else 0
        if not isinstance(value, list):
            return value
        if name == "subscribedTopicNames":
            return [self._words(each) for each in value]
        if name == "deletingTopics":
            return sorted(TOPIC if each["topicId"] == self.topic_id else "unknown" for each in value)
        return self._flat(value)

    def _of_group(self) -> dict[str, Any]:
        listed = self._ask("ListGroups", 5, {"statesFilter": [], "typesFilter": []})["groups"]
        found = [[each["groupType"], each["groupState"]] for each in listed if each["groupId"] == self.group]
        (told,) = self._ask("ShareGroupDescribe", 1, {"groupIds": [self.group]})["groups"]
        shown: Answer = _error(told)
        if shown == NONE:
            members = {
                each["memberId"]: [
                    each["memberEpoch"],
                    [self._words(name) for name in each["subscribedTopicNames"]],
                    self._flat(each["assignment"]["topicPartitions"]),
                ]
                for each in sorted(told["members"], key=lambda each: each["memberId"])
            }
            shown = [told["groupState"], told["groupEpoch"], told["assignmentEpoch"], members]
        asked = {"groups": [{"groupId": self.group, "topics": None}]}
        (answer,) = self._ask("DescribeShareGroupOffsets", 1, asked)["groups"]
        offsets = {
            f"{TOPIC}-{each['partitionIndex']}": [each["startOffset"], each["leaderEpoch"], each["lag"]]
            for topic in answer["topics"]
            for each in sorted(topic["partitions"], key=lambda each: each["partitionIndex"])
        }
        return {f"listed {GROUP}": found[0] if found else None, f"group {GROUP}": shown, f"offsets {GROUP}": offsets}

    def _of_logs(self) -> dict[str, Any]:
        ends = [self._ends(timestamp, level) for timestamp, level in ((-2, 0), (-1, 0), (-1, 1))]
        return {f"log {TOPIC}-{number}": [each[number] for each in ends] for number in range(self.count)}

    def _ends(self, timestamp: int, level: int) -> dict[int, int]:
        asked = [{"partitionIndex": number, "timestamp": timestamp} for number in range(self.count)]
        topics = [{"name": self.topic, "partitions": asked}]
        values = {"replicaId": CONSUMER_REPLICA, "isolationLevel": level, "topics": topics}
        (topic,) = self._ask("ListOffsets", 7, values)["topics"]
        return {each["partitionIndex"]: each["offset"] for each in topic["partitions"]}

    def _state_of(self, name: str, version: int, more: Mapping[str, int], index: int) -> dict[str, Any]:
        topics = [{"topicId": self.topic_id, "partitions": [{"partition": index, **more}]}]
        (topic,) = self._ask(name, version, {"groupId": self.group, "topics": topics})["results"]
        return topic["partitions"][0]

    def _of_states(self) -> dict[str, Any]:
        """What the share coordinator has; it is read with the leader epoch that it has, which changes nothing."""
        found: dict[str, Any] = {}
        for number in range(self.count):
            summary = self._state_of("ReadShareGroupStateSummary", 1, {"leaderEpoch": 0}, number)
            row: Answer = None
            epoch = summary["leaderEpoch"]
            if epoch >= 0:
                state = self._state_of("ReadShareGroupState", 0, {"leaderEpoch": epoch}, number)
                if _error(state) == NONE:
                    batches = [_batch(each) for each in state["stateBatches"]]
                    row = [state["startOffset"], state["stateEpoch"], epoch, summary["deliveryCompleteCount"], batches]
            found[f"state {GROUP} {TOPIC}-{number}"] = row
        return found


def _error(answer: Mapping[str, Any]) -> str:
    return error_name(answer["errorCode"])


def _index(partition: str) -> int:
    return int(partition.rpartition("-")[2])


def _leader(each: Mapping[str, Any]) -> dict[str, Any]:
    leader = each["currentLeader"]
    return {"leader": [leader["leaderId"], leader["leaderEpoch"]]} if leader["leaderId"] > 0 else {}


def _batch(each: Mapping[str, Any]) -> list[Any]:
    state = each["deliveryState"]
    return [each["firstOffset"], each["lastOffset"], STATE_NAMES.get(state, state), each["deliveryCount"]]


def _ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    if not at_least("4.2", kafka.release.line):
        raise CannotBeAsked(f"share groups are asked since 4.2, and this is {kafka.release.version}")
    broker = _Broker(kafka, new_name, case)
    try:
        return {"topic id": broker.topic_id, "steps": _played(broker, case)}
    finally:
        with suppress(OSError):
            broker.close()


def _say(release: str, case: Case, seen: Answer) -> Answer:
    """What the simulator answers; only the broker can know the id of its topic, by which partitions are assigned."""
    history = {
        "kafka": f"{release}.0", "config": CONFIG, "groups": {GROUP: case["configs"]},
        "topics": {TOPIC: [case["partitions"], {}]}, "topicIds": {TOPIC: seen["topic id"]}, "steps": [],
    }  # fmt: skip
    return {**seen, "steps": _played(Replay(settings_of(history), [GROUP]), case)}


def _played(side: Any, case: Case) -> list[Answer]:
    members = _Members(side, case["partitions"])
    return [*members.begin(case["begin"]), *(members.play(each) for each in case["steps"])]


def _mechanism(name: str, has_waits: bool) -> Mechanism:
    return Mechanism(
        name=name,
        rules=(RULE,),
        cases=partial(_cases, has_waits),
        ask=_ask,
        say=_say,
        settings={"config": CONFIG},
        tries=3,
    )


SHARE_GROUPS = _mechanism("share groups", has_waits=False)
LOCKS = _mechanism("share groups whose locks run out", has_waits=True)
