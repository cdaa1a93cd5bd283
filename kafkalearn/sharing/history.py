"""A recorded history, asked again: the same requests to the simulator, and what it answers and shows after each.

A history is a dictionary as a recorder of a real broker writes it: ``steps`` with ``do`` (the request's name in
Kafka), ``v`` (its version) and ``q`` (its fields). The answers come back as ``a``, as ``now`` what has changed for an
observer and which records were written, and as ``logs`` the batches of the topics at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.coordinator.share_model import Snapshot, Tombstone
from kafkalearn.sharing import events, group_settings, model, offsets, stored
from kafkalearn.sharing.events import (
    AcknowledgeAnswer,
    Acknowledgement,
    Answer,
    FetchAnswer,
    FetchedPartition,
    GroupWritten,
    HeartbeatAnswer,
    StateWritten,
)
from kafkalearn.sharing.model import Batch, Settings, index_of
from kafkalearn.sharing.simulator import step
from kafkalearn.sharing.stored import STATE_NAMES, StateBatch
from kafkalearn.sharing.turn import Turn

History: TypeAlias = Mapping[str, Any]
_Fields: TypeAlias = Mapping[str, Any]

_SETTING_NAMES = {
    "group.share.record.lock.duration.ms": "record_lock_duration_ms",
    "group.share.delivery.count.limit": "delivery_count_limit",
    "group.share.partition.max.record.locks": "max_record_locks",
    "group.share.session.timeout.ms": "session_timeout_ms",
    "group.share.heartbeat.interval.ms": "heartbeat_interval_ms",
    "group.share.assignment.interval.ms": "assignment_interval_ms",
    "group.share.max.share.sessions": "max_share_sessions",
    "group.share.max.size": "max_group_size",
    "errors.deadletterqueue.topic.name.prefix": "dead_letter_prefix",
    "share.coordinator.snapshot.update.records.per.snapshot": "snapshot_update_records",
    "share.coordinator.cold.partition.snapshot.interval.ms": "cold_snapshot_interval_ms",
}

RECORDED_WITH = {
    "assignment_interval_ms": 0,
    "min_record_lock_duration_ms": 1000,
    "min_session_timeout_ms": 1000,
    "min_heartbeat_interval_ms": 500,
}
"""What the recorder's brokers had beside the settings that a history names."""

USUAL_WAIT_MS = 400

REQUESTS = {
    "ShareGroupHeartbeat": (76, 1, 1), "ShareGroupDescribe": (77, 1, 1), "ShareFetch": (78, 1, 2),
    "ShareAcknowledge": (79, 1, 2), "InitializeShareGroupState": (83, 0, 0), "ReadShareGroupState": (84, 0, 0),
    "WriteShareGroupState": (85, 0, 1), "DeleteShareGroupState": (86, 0, 0), "ReadShareGroupStateSummary": (87, 0, 1),
    "DescribeShareGroupOffsets": (90, 0, 1), "AlterShareGroupOffsets": (91, 0, 0),
    "DeleteShareGroupOffsets": (92, 0, 0),
}  # fmt: skip
"""The requests of share groups: key, lowest and highest version, the same since 4.2."""


def settings_of(history: History, release: str | None = None) -> Settings:
    """The settings under which a history was recorded; `release`: another line, asked the same."""
    config = history["config"]
    given: dict[str, Any] = {**RECORDED_WITH}
    given |= {_SETTING_NAMES[name]: value for name, value in config.items() if name in _SETTING_NAMES}
    features = history.get("features") or {}
    version = features.get("share.version")
    return Settings(
        release=release or history["kafka"].rpartition(".")[0],
        topics=tuple((topic, count) for topic, (count, _) in history["topics"].items()),
        topic_ids=history.get("topicIds", {}),
        broker_count=_broker_count(history),
        group_configs=history["groups"],
        topic_configs=tuple((topic, configs) for topic, (_, configs) in history["topics"].items()),
        creates_dead_letter_topics=config.get("errors.deadletterqueue.auto.create.topics.enable") == "true",
        share_version=version,
        **given,
    )


def _broker_count(history: History) -> int:
    """How many brokers there were: as many as its requests go to."""
    connections = [each["q"].get("connection", "") for each in history["steps"] if isinstance(each["q"], Mapping)]
    return max(map(_broker, connections), default=1)


def _broker(connection: str) -> int:
    """The broker to which a connection goes: "b2 m1" to the second, others to the first."""
    return int(connection[1]) if connection[:1] == "b" and connection[1:2].isdigit() else 1


class Replay:
    """A history in the simulator, step by step: `play` one, and see its answer and what has changed.

    >>> played = Replay(Settings(group_configs={"g1": {"share.auto.offset.reset": "earliest"}}), ["g1"])
    >>> played.play("Produce", 11, {"partition": "t-0", "records": 3})
    {'a': {'error': 'NONE', 'offset': 0}, 'now': {'log t-0': [0, 3, 3]}}
    """

    def __init__(self, settings: Settings, groups: list[str]) -> None:
        """Begin with fresh brokers; `groups` are those that an observer asks for."""
        self.settings, self.groups = settings, groups
        self.state = model.start(settings)
        self.topics = [topic for topic, _ in settings.topics]
        self.gone: set[str] = set()
        self.parked: dict[str, FetchAnswer | None] = {}
        self.written: list[object] = []
        self.seen: dict[str, object] = {}
        self.first = self._changed()

    def play(self, do: str, version: int | None, q: _Fields) -> dict[str, Any]:
        """What a request is answered (``a``) and what has changed for an observer after it (``now``)."""
        act = getattr(self, "_" + do, None)
        if act is None:
            raise unknown_name("step", do, [each[1:] for each in dir(self) if each[:1] == "_" and each[1:2].isupper()])
        return {"a": act(version, q), "now": self._changed()}

    def _step(self, event: events.Event) -> object:
        """Let an event happen; its answer, which is the last of its effects that is one."""
        self.state = step(self.settings, self.state, event)
        answer: object = None
        for effect in self.state.effects:
            if isinstance(effect, GroupWritten | StateWritten):
                self.written.append(effect)
            elif isinstance(effect, FetchAnswer) and effect.connection in self.parked:
                self.parked[effect.connection] = effect
                if isinstance(event, events.ShareFetch) and event.connection == effect.connection:
                    answer = effect
            elif not isinstance(effect, events.LockRanOut):
                answer = effect
        return answer

    # Logs.

    def _Produce(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        age_ms = int(q["timestamp"].split()[2]) * 1000 if "timestamp" in q else 0
        got: Any = self._step(
            events.Produce(
                q["partition"],
                q["records"],
                q.get("size", 0),
                tuple(q.get("keys", ())),
                q.get("transaction", ""),
                age_ms,
            )
        )
        return {"error": got.error, **dict(got.results)}

    def _InitProducerId(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return {"error": "NONE"}

    def _EndTxn(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.EndTxn(q["transaction"], q["commit"]))
        return {"error": got.error}

    def _DeleteRecords(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.DeleteRecords(q["partition"], q["before"]))
        return {"error": got.error, **dict(got.results)}

    def _CreateTopics(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.CreateTopic(q["topic"], q["partitions"], q.get("configs", {})))
        self.topics.append(q["topic"])
        return {"error": got.error}

    def _CreatePartitions(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.CreatePartitions(q["topic"], q["partitions"]))
        return {"error": got.error}

    def _DeleteTopics(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.DeleteTopic(q["topic"]))
        self.topics.remove(q["topic"])
        self.gone.add(q["topic"])
        for key in [each for each in self.seen if each.rpartition("-")[0].endswith(f" {q['topic']}")]:
            del self.seen[key]
        return {"error": got.error}

    def _Metadata(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        count = len(self.state.indexes(q["topic"]))
        if count and q["topic"] not in self.topics:
            self.topics.append(q["topic"])
        return {"error": "NONE" if count else "UNKNOWN_TOPIC_OR_PARTITION", "partitions": count}

    def _AlterPartitionReassignments(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        self._step(events.LeaderMoved(q["partition"], q["to"]))
        return {"error": "NONE"}

    # Time and connections.

    def _Wait(self, version: None, q: _Fields) -> dict[str, Any]:  # noqa: N802
        self._step(events.TimePassed(int(q["ms"])))
        return {}

    def _Disconnect(self, version: None, q: _Fields) -> dict[str, Any]:  # noqa: N802
        self._step(events.ConnectionClosed(q["connection"], _broker(q["connection"])))
        return {}

    def _Restart(self, version: None, q: _Fields) -> dict[str, Any]:  # noqa: N802
        self._step(events.BrokerRestarted(is_clean=q["how"] == "SIGTERM"))
        return {}

    # Fetches.

    def _event(self, version: int, q: _Fields) -> events.ShareFetch:
        connection = q.get("connection", q["member"])
        return events.ShareFetch(
            q["group"], q["member"], q["epoch"], tuple(q["partitions"]), _acknowledgements(q),
            tuple(q.get("forgotten", ())),
            q["maxRecords"], q.get("batchSize", 500), events.MODES[q.get("mode", 0)], q.get("maxWaitMs", USUAL_WAIT_MS),
            q.get("minBytes", 1), q.get("maxBytes", 50 << 20), q.get("isRenewAck", False), connection,
            _broker(connection), version,
        )  # fmt: skip

    def _ShareFetch(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        event = self._event(version, q)
        got: Any = self._step(event)
        if not isinstance(got, FetchAnswer):
            got = self._waited(event.max_wait_ms, event.connection)
        return self._fetched(got)

    def _waited(self, ms: int, connection: str) -> FetchAnswer:
        """Let time pass until a fetch is answered."""
        self.parked[connection] = None
        self._step(events.TimePassed(ms))
        got = self.parked.pop(connection)
        if got is None:
            raise KafkaLearnError(f"the fetch over {connection} is not answered in {ms} ms")
        return got

    def _ShareFetchSent(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        event = self._event(version, q)
        self.parked[event.connection] = None
        got = self._step(event)
        return {"answered": isinstance(got, FetchAnswer)}

    def _ShareFetchAnswer(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got = self.parked.get(q["member"])
        if got is None:
            waiting = next(each for each in self.state.waiting if each.request.connection == q["member"])
            self._step(events.TimePassed(max(0, waiting.until_ms - self.state.now_ms)))
            got = self.parked[q["member"]]
        del self.parked[q["member"]]
        assert got is not None
        return self._fetched(got)

    def _ShareAcknowledge(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        connection = q.get("connection", q["member"])
        got = self._step(
            events.ShareAcknowledge(
                q["group"], q["member"], q["epoch"], _acknowledgements(q), tuple(q.get("partitions", ())),
                q.get("isRenewAck", False), connection, _broker(connection), version,
            )
        )  # fmt: skip
        assert isinstance(got, AcknowledgeAnswer)
        shown: dict[str, Any] = _headed(got.error, got.message)
        if got.lock_ms:
            shown["lockMs"] = got.lock_ms
        shown["partitions"] = {
            self._name(each.partition): {**_headed(each.error, each.message), **_leader(each.leader)}
            for each in got.partitions
        }
        return shown

    def _fetched(self, got: FetchAnswer) -> dict[str, Any]:
        shown: dict[str, Any] = {"error": got.error}
        if got.has_waited:
            shown["waited"] = True
        if got.message:
            shown["message"] = got.message
        if got.lock_ms is not None:
            shown["lockMs"] = got.lock_ms
        nodes = sorted({each.leader[0] for each in got.partitions if each.leader is not None})
        if nodes:
            shown["nodes"] = nodes
        shown["partitions"] = {self._name(each.partition): _partition(each) for each in got.partitions}
        return shown

    def _name(self, partition: str) -> str:
        """A partition as the recorder reads it from a topic id: one that it does not know is unknown."""
        topic = model.topic_of(partition)
        is_known = self.state.indexes(topic) or topic in self.gone
        return partition if is_known else f"unknown-{index_of(partition)}"

    # Groups.

    def _ShareGroupHeartbeat(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        topics = None if q.get("topics") is None else tuple(q["topics"])
        group = q["group"] or ""
        got: Any = self._step(events.ShareGroupHeartbeat(group, q["member"], q["epoch"], topics, q.get("rack")))
        if not isinstance(got, HeartbeatAnswer):  # what is initialised comes after the answer
            got = next(each for each in self.state.effects if isinstance(each, HeartbeatAnswer))
        shown: dict[str, Any] = _headed(got.error, got.message)
        if got.error == "NONE":
            shown |= {"epoch": got.epoch, "interval": got.interval_ms}
            if got.assignment is not None:
                shown["assignment"] = sorted(got.assignment)
        return shown

    def _ShareGroupDescribe(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        found: dict[str, Any] = {}
        for name in q["groups"]:
            group = self.state.group(name)
            if group is None or group.kind != "share":
                words = f"Group {name} not found." if group is None else f"Group {name} is not a share group."
                found[name] = ["GROUP_ID_NOT_FOUND", words, ""]
            else:
                found[name] = ["NONE", None, "Stable" if group.members else "Empty"]
        return found

    def _AlterShareGroupOffsets(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return self._results(events.AlterShareGroupOffsets(q["group"], tuple(q["offsets"].items())))

    def _DeleteShareGroupOffsets(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return self._results(events.DeleteShareGroupOffsets(q["group"], tuple(q["topics"])))

    def _results(self, event: events.Event) -> dict[str, Any]:
        self._step(event)
        got = next(each for each in self.state.effects if isinstance(each, Answer))
        results = {name: list(each) if isinstance(each, tuple) else each for name, each in got.results}
        return {**_headed(got.error, got.message), "results": results}

    def _DescribeShareGroupOffsets(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        wanted = q["topics"]
        names = None if wanted is None else tuple(f"{topic}-{one}" for topic, some in wanted.items() for one in some)
        for name in names or ():
            if self.state.indexes(model.topic_of(name)) and self.state.log(name) is None:
                return {"error": "no answer in 4 s"}
        got: Any = self._step(events.DescribeShareGroupOffsets(q["group"], names, version))
        partitions = {name: [*each, None][:3] for name, each in got.results}
        return {**_headed(got.error, got.message), "partitions": partitions}

    def _DeleteGroups(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.DeleteGroup(q["group"]))
        return {"error": got.error}

    def _IncrementalAlterConfigs(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        configs = tuple((name, str(value)) for name, value in q["configs"].items())
        if "topic" in q:
            event: events.Event = events.AlterTopicConfigs(q["topic"], configs)
        else:
            event = events.AlterGroupConfigs(q["group"], configs)
        got: Any = self._step(event)
        return _headed(got.error, got.message)

    def _DescribeConfigs(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        configs = next((configs for name, configs in self.state.configs if name == q["group"]), ())
        return group_settings.described(self.settings, configs)

    def _ApiVersions(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        number = self.settings.share_version
        features = [["share.version", number, number]] if number else []
        return {"features": features, "known": [list(each) for each in REQUESTS.values()]}

    # Groups of other kinds, met by a share group's id or the other way round.

    def _is_shared(self, group: str) -> bool:
        found = self.state.group(group)
        return found is not None and found.kind == "share"

    def _JoinGroup(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        got: Any = self._step(events.OtherGroupMade(q["group"], "classic"))
        return {"error": got.error, "generation": 1 if got.error == "NONE" else -1}

    def _ConsumerGroupHeartbeat(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        if self._is_shared(q["group"]):
            words = f"Group {q['group']} is not a consumer group."
            return {"error": "GROUP_ID_NOT_FOUND", "message": words, "epoch": 0}
        raise KafkaLearnError(
            "a share group's id alone is asked for here: consumer groups have a simulator of their own"
        )

    def _OffsetCommit(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return {"error": "GROUP_ID_NOT_FOUND" if self._is_shared(q["group"]) else "NONE"}

    def _OffsetFetch(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return {"error": "NONE", "offsets": [-1]}

    def _ConsumerGroupDescribe(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return {"error": "GROUP_ID_NOT_FOUND", "message": f"Group {q['group']} is not a consumer group."}

    def _DescribeGroups(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        words = f"Group {q['group']} is not a classic group."
        return {"error": "GROUP_ID_NOT_FOUND", "message": words, "state": "Dead"}

    # The share coordinator, asked by hand.

    def _InitializeShareGroupState(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        event = events.InitializeShareGroupState(q["group"], q["partition"], q["stateEpoch"], q["startOffset"])
        return self._told(event)

    def _ReadShareGroupState(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        shown = self._told(events.ReadShareGroupState(q["group"], q["partition"], q["leaderEpoch"]))
        if shown["error"] != "NONE":  # a response has all its fields, whatever they mean then
            shown |= {"stateEpoch": 0, "startOffset": 0, "stateBatches": ()}
        return {**shown, "stateBatches": [_batch(each) for each in shown["stateBatches"]]}

    def _WriteShareGroupState(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return self._told(
            events.WriteShareGroupState(
                q["group"], q["partition"], q["stateEpoch"], q["leaderEpoch"], q["startOffset"],
                q.get("deliveryCompleteCount", -1), tuple(tuple(each) for each in q["stateBatches"]),
            )
        )  # fmt: skip

    def _DeleteShareGroupState(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        return self._told(events.DeleteShareGroupState(q["group"], q["partition"]))

    def _ReadShareGroupStateSummary(self, version: int, q: _Fields) -> dict[str, Any]:  # noqa: N802
        shown = self._told(events.ReadShareGroupStateSummary(q["group"], q["partition"]))
        if version == 0:
            del shown["deliveryCompleteCount"]
        return shown

    def _told(self, event: events.Event) -> dict[str, Any]:
        got: Any = self._step(event)
        return {**_headed(got.error, got.message), **dict(got.results)}

    # What an observer sees.

    def _changed(self) -> dict[str, object]:
        now = self._observed()
        changed = {key: value for key, value in now.items() if key not in self.seen or self.seen[key] != value}
        self.seen.update(now)
        return {**changed, **self._wrote()}

    def _observed(self) -> dict[str, object]:
        """What anybody can ask for: groups, offsets, ends of logs, and what the share coordinator has."""
        now: dict[str, object] = {}
        turn = Turn(self.settings, self.state)
        for name in self.groups:
            group = self.state.group(name)
            is_shared = group is not None and group.kind == "share"
            now[f"listed {name}"] = _listed(group)
            now[f"group {name}"] = _described(self.state, group) if group and is_shared else "GROUP_ID_NOT_FOUND"
            now[f"offsets {name}"] = {
                one: list(each) for one, each in sorted(offsets.described(turn, name).items(), key=_by_partition)
            }
        for topic in self.topics:
            for index in self.state.indexes(topic):
                log = turn.log(f"{topic}-{index}")
                now[f"log {log.name}"] = [log.start_offset, log.end_offset, log.last_stable_offset]
                for name in self.groups:
                    now[f"state {name} {log.name}"] = self._stored(name, log.name)
        return now

    def _stored(self, group: str, partition: str) -> list[object] | None:
        state = stored.state_of(self.settings, self.state, group, partition)
        if state is None:
            return None
        batches = [_batch(each) for each in state.batches]
        return [state.start_offset, state.state_epoch, state.leader_epoch, state.complete_count, batches]

    def _wrote(self) -> dict[str, object]:
        """The records that were written since, of either log; those of the first sorted by partition."""
        states = [each for each in self.written if isinstance(each, StateWritten)]
        groups = [each for each in self.written if isinstance(each, GroupWritten)]
        self.written = []
        shown: dict[str, object] = {}
        if states:
            states.sort(key=lambda each: (each.group, each.partition))
            shown["wrote __share_group_state"] = [_state_record(each) for each in states]
        if groups:
            shown["wrote __consumer_offsets"] = [_group_record(each) for each in groups]
        return shown

    def logs(self) -> dict[str, list[list[Any]]]:
        """The batches of each topic from offset 0 on; a log that begins later gives none to who asks so."""
        return {
            log.name: [] if log.start_offset else [_logged(each) for each in log.batches]
            for log in self.state.logs
            if model.topic_of(log.name) in self.topics
        }


def replay(history: History, release: str | None = None) -> dict[str, Any]:
    """A whole history in the simulator: ``start``, ``steps`` with ``a`` and ``now``, and ``logs``.

    `release` asks another line the same.
    """
    missing = [each for each in ("kafka", "config", "groups", "topics", "steps") if each not in history]
    if missing:
        raise KafkaLearnError(f"a history has {', '.join(missing)}, and this one has not")
    played = Replay(settings_of(history, release), list(history["groups"]))
    steps = [{**each, **played.play(each["do"], each.get("v"), each["q"])} for each in history["steps"]]
    return {"start": played.first, "steps": steps, "logs": played.logs()}


def _acknowledgements(q: _Fields) -> tuple[Acknowledgement, ...]:
    return tuple(
        Acknowledgement(name, first, last, tuple(types))
        for name, some in q.get("acks", {}).items()
        for first, last, types in some
    )


def _headed(error: str, message: str) -> dict[str, Any]:
    return {"error": error, "message": message} if message else {"error": error}


def _leader(leader: tuple[int, int] | None) -> dict[str, Any]:
    return {} if leader is None else {"leader": list(leader)}


def _partition(each: FetchedPartition) -> dict[str, Any]:
    shown: dict[str, Any] = {"acquired": [list(one) for one in each.acquired]}
    if each.error != "NONE":
        shown["error"] = each.error
    if each.message:
        shown["message"] = each.message
    if each.acknowledge_error != "NONE":
        shown["ackError"] = each.acknowledge_error
    if each.acknowledge_message:
        shown["ackMessage"] = each.acknowledge_message
    if each.records is not None:
        shown["records"] = [[*one[:3], *([one[3]] if one[3] else [])] for one in each.records]
    return {**shown, **_leader(each.leader)}


def _listed(group: model.Group | None) -> list[str] | None:
    if group is None:
        return None
    if group.kind != "share":
        return [group.kind, "CompletingRebalance"]
    return ["share", "Stable" if group.members else "Empty"]


def _described(state: model.Cluster, group: model.Group) -> list[object]:
    members = {
        each.id: [
            each.epoch, sorted(each.topics), sorted(name for name in each.assigned if state.log(name) is not None),
            *([each.rack] if each.rack else []),
        ]
        for each in sorted(group.members, key=lambda one: one.id)
    }  # fmt: skip
    return ["Stable" if group.members else "Empty", group.epoch, group.assignment_epoch, members]


def _by_partition(one: tuple[str, object]) -> tuple[str, int]:
    return model.topic_of(one[0]), index_of(one[0])


def _batch(each: StateBatch) -> list[object]:
    return [each.first, each.last, STATE_NAMES.get(each.state, each.state), each.count]


def _state_record(written: StateWritten) -> dict[str, Any]:
    record = written.record
    shown: dict[str, Any] = {"record": record.name, "group": written.group, "partition": written.partition}
    if isinstance(record, Tombstone):
        return {**shown, "value": None}
    source = record.state if isinstance(record, Snapshot) else record
    value: dict[str, Any] = {"snapshotEpoch": source.snapshot_epoch}
    if isinstance(record, Snapshot):
        value |= {
            "stateEpoch": record.state.state_epoch,
            "rewritten": record.state.created_ms != record.state.written_ms,
        }
    value |= {"leaderEpoch": source.leader_epoch, "startOffset": source.start_offset}
    value["stateBatches"] = [_batch(each) for each in source.batches]
    if source.complete_count != -1:
        value["deliveryCompleteCount"] = source.complete_count
    return {**shown, "value": value}


def _group_record(written: GroupWritten) -> dict[str, Any]:
    shown: dict[str, Any] = {"record": written.record, "group": written.group}
    if written.member:
        shown["member"] = written.member
    if written.value is None:
        return {**shown, "value": None}
    return {**shown, "value": {name: list(each) if isinstance(each, tuple) else each for name, each in written.value}}


def _logged(batch: Batch) -> list[Any]:
    shown: list[Any] = [batch.base_offset, batch.last_offset, len(batch.offsets)]
    if batch.is_control:
        shown.append(batch.kind)
    elif batch.transaction:
        shown.append("transactional")
    if batch.dead_letters:
        shown.append([
            [offset, each.key, each.value, {
                "__dlq.errors.topic": model.topic_of(each.partition),
                "__dlq.errors.partition": str(index_of(each.partition)),
                "__dlq.errors.offset": str(each.offset), "__dlq.errors.group": each.group,
                "__dlq.errors.delivery.count": str(each.delivery_count), "__dlq.errors.message": each.reason,
            }]
            for offset, each in zip(batch.offsets, batch.dead_letters, strict=True)
        ])  # fmt: skip
    return shown
