"""A recorded history, asked again: the same requests to the simulator, and what it answers and shows after each.

A history is a dictionary as a recorder of a real broker writes it: ``steps`` with ``do`` (the request's name in
Kafka), ``v`` (its version) and ``q`` (its fields); the answers come back as ``a``, what has changed for an observer
as ``now``, and what stands in the logs at the end as ``logs``. Producer ids have names there: P0, P1 in the order in
which they were seen, U0 for one that was never given out; the requests may name the next one before it is given out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias

from kafkalearn.base.checks import MOST_RECORDS, mapping, one_of, sequence, text, whole_number
from kafkalearn.base.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from kafkalearn.transactions import model
from kafkalearn.transactions.history_fields import MOST_TIMES, StepFields, checked, first_marker_epochs, producer_name
from kafkalearn.transactions.model import OFFSETS_PARTITION, Answer, Batch, Cluster, Settings, Transaction
from kafkalearn.transactions.partition import aborted_below
from kafkalearn.transactions.simulator import EPOCHS_A_RESTART, next_timer, settled, step

History: TypeAlias = Mapping[str, Any]

UNKNOWN_IDS = 900_000_000
"""From here on are producer ids that no broker gives out in a history."""

PREFIX_ALONE = "(prefix)"
"""The id that a history calls empty: a recorder puts a prefix of the history before each, so that it was none."""

LONG_RUN = 50
"""From so many on, rows of ``__transaction_state`` that differ in the epoch alone are counted, not listed."""

_SETTING_NAMES = {
    "transaction.partition.verification.enable": "verification",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "abort_timed_out_interval_ms",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "remove_expired_interval_ms",
    "transactional.id.expiration.ms": "id_expiration_ms",
    "transaction.max.timeout.ms": "transaction_max_timeout_ms",
    "producer.id.expiration.ms": "producer_expiration_ms",
    "producer.id.expiration.check.interval.ms": "producer_check_interval_ms",
    "transaction.two.phase.commit.enable": "allows_two_phase_commit",
    "unstable.api.versions.enable": "has_unstable_apis",
}

_OF_NO_EFFECT = (
    "broker.session.timeout.ms",
    "group.initial.rebalance.delay.ms",
    "offsets.topic.num.partitions",
    "offsets.topic.replication.factor",
    "transaction.state.log.min.isr",
    "transaction.state.log.num.partitions",
    "transaction.state.log.replication.factor",
)
"""Settings that change no answer of a history with one broker that is there all the time."""


def settings_of(history: History) -> Settings:
    """The settings under which a history was recorded; the coordinator's epoch is read from its first marker.

    Raises
    ------
    KafkaLearnError
        If the broker had a setting that the simulator does not know: it may have answered otherwise for it.
    """
    history = checked(history)
    known = {**_SETTING_NAMES, **dict.fromkeys(_OF_NO_EFFECT)}
    for name in history["config"]:
        one_of("setting of a history", name, known)
    given = {_SETTING_NAMES[name]: value for name, value in history["config"].items() if name in _SETTING_NAMES}
    return Settings(
        release=history["kafka"].rpartition(".")[0] if history["kafka"].count(".") > 1 else history["kafka"],
        transaction_version=history["transaction.version"],
        partitions=tuple(f"t-{number}" for number in range(history["partitions"])),
        coordinator_epoch=_first_epoch(history),
        **given,
    )


_COORDINATOR_ENDS = ("EndTxn", "InitProducerId", "Wait", "WaitUntil", "Thaw", "Restart")


def _first_epoch(history: History) -> int:
    """The coordinator's epoch at the start, from its first marker that an observer saw; it is no part of a request."""
    restarts = 0
    for each in history["steps"]:
        restarts += each["do"] == "Restart"
        seen = first_marker_epochs(each)
        if each["do"] in _COORDINATOR_ENDS and max(seen, default=-1) >= 0:
            return max(0, max(seen) - EPOCHS_A_RESTART * restarts)
    logs = mapping("logs", history.get("logs", {}), of="topic to batches")
    batches = sequence(OFFSETS_TOPIC, logs.get(OFFSETS_TOPIC, ()), of="batches")
    markers = (each["coordinatorEpoch"] for each in batches if "coordinatorEpoch" in mapping("a batch", each, "field"))
    return max(0, whole_number("coordinatorEpoch", next(markers, 0), -1) - EPOCHS_A_RESTART * restarts)


class _Names:
    """Producer ids by name, and back."""

    def __init__(self) -> None:
        self.number_of: dict[str, int] = {}
        self.name_of: dict[int, str] = {}
        self.given_out = 0

    def number(self, given: object) -> int:
        name = producer_name(given)
        if isinstance(name, int):
            return name
        if name.startswith("U"):
            return UNKNOWN_IDS + int(name[1:])
        if name not in self.number_of:
            self._bind(name, max(self.name_of, default=-1) + 1)
        return self.number_of[name]

    def name(self, number: int) -> str | int:
        if number == -1:
            return -1
        if number >= UNKNOWN_IDS:
            return f"U{number - UNKNOWN_IDS}"
        if number not in self.name_of:
            self._bind(f"P{len(self.name_of)}", number)
        return self.name_of[number]

    def _bind(self, name: str, number: int) -> None:
        self.number_of[name], self.name_of[number] = number, name


class Replay:
    """A history in the simulator, step by step: `play` one, and see its answer and what has changed.

    >>> played = Replay(Settings(), ids=("x1",), groups=("g1",))
    >>> played.play("InitProducerId", 5, {"id": "x1", "timeout": 60000})["a"]
    {'error': 'NONE', 'pid': 'P0', 'epoch': 0}
    >>> played.play("EndTxn", 5, {"id": "x1", "pid": "P0", "epoch": 0, "commit": True})["a"]
    {'error': 'INVALID_TXN_STATE', 'pid': -1, 'epoch': -1}
    """

    def __init__(self, settings: Settings, ids: Sequence[str], groups: Sequence[str]) -> None:
        """Begin with a fresh cluster; `ids` and `groups` are those that an observer asks for."""
        self.settings, self.ids, self.groups = settings, _names("ids", ids), _names("groups", groups)
        self.state = model.start(settings)
        self.names = _Names()
        self.record_count = self.member_count = 0
        self.seen: dict[str, object] = {}
        self.first = self._changed()

    def play(self, do: str, version: int | None, q: Mapping[str, Any]) -> dict[str, Any]:
        """What a request is answered (``a``) and what has changed for an observer after it (``now``)."""
        known = [each[1:] for each in dir(self) if each[:1] == "_" and each[1:2].isupper()]
        act = getattr(self, "_" + one_of("step", do, known))
        answer = act(version, StepFields(do, {**q, "id": PREFIX_ALONE} if q.get("id") == "" else q))
        self.state = settled(self.settings, self.state)
        return {"a": answer, "now": self._changed()}

    def _step(self, event: model.Event) -> Answer:
        self.state = step(self.settings, self.state, event)
        return self.state.effects[0]

    def _InitProducerId(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        producer_id = self.names.number(q.get("pid", -1))
        got = self._step(
            model.InitProducerId(q["id"], version, q.get("timeout", 60_000), producer_id, q.get("epoch", -1))
        )
        return {"error": got.error, "pid": self.names.name(got.producer_id), "epoch": got.epoch}

    def _InitProducerIdRepeated(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        # The log is set aside meanwhile: to copy it 32,765 times would take most of a history's time.
        answer: dict[str, Any] = {}
        rows = list(self.state.rows)
        for _ in range(q.whole("times", 1, MOST_TIMES)):
            self.state = replace(self.state, rows=())
            answer = self._InitProducerId(version, q)
            rows += self.state.rows
        self.state = replace(self.state, rows=tuple(rows))
        return answer

    def _who(self, q: StepFields) -> tuple[int, int]:
        return self.names.number(q["pid"]), q["epoch"]

    def _AddPartitionsToTxn(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        got = self._step(
            model.AddPartitionsToTxn(q["id"], *self._who(q), q.texts("partitions"), version, q.get("verifyOnly", False))
        )
        by_partition = {"partitions": dict(got.partitions)}
        return {"error": got.error, **by_partition} if version >= 4 else by_partition

    def _AddOffsetsToTxn(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        return {"error": self._step(model.AddOffsetsToTxn(q["id"], *self._who(q), q["group"], version)).error}

    def _Produce(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        self.record_count += 1
        records = tuple(f"r{self.record_count}.{number}" for number in range(q.whole("records", 0, MOST_RECORDS)))
        got = self._step(
            model.Produce(q["id"], q["partition"], *self._who(q), q["sequence"], records, q["transactional"], version)
        )
        answer = {"error": got.error, "offset": got.offset}
        return {**answer, "message": got.message} if got.message else answer

    def _TxnOffsetCommit(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        offsets = q.offsets("offsets")
        generation, member = q.get("generation", -1), q.get("member", "")
        got = self._step(
            model.TxnOffsetCommit(q["id"], *self._who(q), q["group"], offsets, version, generation, member)
        )
        return {"partitions": dict(got.partitions)}

    def _OffsetCommit(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        offsets = q.offsets("offsets")
        got = self._step(model.OffsetCommit(q["group"], offsets, q["generation"], q["member"], version or 8))
        return {"partitions": dict(got.partitions)}

    def _EndTxn(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        got = self._step(model.EndTxn(q["id"], *self._who(q), q["commit"], version))
        if version < 5:
            return {"error": got.error}
        return {"error": got.error, "pid": self.names.name(got.producer_id), "epoch": got.epoch}

    def _WriteTxnMarkers(self, version: int, q: StepFields) -> dict[str, Any]:  # noqa: N802
        # The recorder's topic of offsets is Kafka's; its partition has the same number.
        got = self._step(
            model.WriteTxnMarkers(
                *self._who(q),
                q["commit"],
                q.texts("partitions"),
                q["coordinatorEpoch"],
                version,
                q.get("transactionVersion", 0),
            )
        )
        return {"partitions": dict(got.partitions)}

    def _Join(self, version: None, q: StepFields) -> dict[str, Any]:  # noqa: N802
        member = f"M{self.member_count}"
        self.member_count += 1
        got = self._step(model.Join(q["group"], member, q.get("is_consumer", False)))
        return {"error": got.error, "generation": got.epoch, "member": member}

    def _Wait(self, version: None, q: StepFields) -> dict[str, Any]:  # noqa: N802
        self._step(model.TimePassed(q.whole("ms")))
        return {}

    def _WaitUntil(self, version: None, q: StepFields) -> dict[str, Any]:  # noqa: N802
        """Until a timer has done something: a recorder that waits for one sees it, and does not tell when."""
        at_ms = next_timer(self.settings, self.state)
        if at_ms is not None and at_ms - self.state.now_ms <= 8_000:
            self._step(model.TimePassed(max(0, at_ms - self.state.now_ms)))
        return {}

    def _Restart(self, version: None, q: StepFields) -> dict[str, Any]:  # noqa: N802
        self._step(model.BrokerRestarted(q.get("how") != "SIGKILL"))
        return {}

    def _Freeze(self, version: None, q: StepFields) -> dict[str, Any]:  # noqa: N802
        odd = tuple(each for each in self.settings.partitions if int(each.rpartition("-")[2]) % 2)
        self._step(model.LeaderWentAway(odd))
        return {}

    def _Thaw(self, version: None, q: StepFields) -> dict[str, Any]:  # noqa: N802
        self._step(model.LeaderCameBack(tuple(self.state.away)))
        return {}

    def _changed(self) -> dict[str, object]:
        now = observed(self.state, self.ids, self.groups, self.names.name)
        changed = {key: value for key, value in now.items() if key not in self.seen or self.seen[key] != value}
        self.seen.update(now)
        return changed

    def logs(self) -> dict[str, list[dict[str, Any]]]:
        """What stands in the logs now: batches and markers, and the values of ``__transaction_state``."""
        state, name = self.state, self.names.name
        logs = {each.name: [_batch(batch, name) for batch in each.batches]
                for each in state.partitions if each.name != OFFSETS_PARTITION}  # fmt: skip
        rows = [_row(self.settings, each, name) for each in state.rows]
        offsets = state.partition(OFFSETS_PARTITION)
        assert offsets is not None
        logs[TRANSACTIONS_TOPIC] = _shortened(rows)
        logs[OFFSETS_TOPIC] = [_batch(batch, name) for batch in offsets.batches]
        return logs


def replay(history: History) -> dict[str, Any]:
    """A whole history in the simulator: ``start``, ``steps`` with ``a`` and ``now``, and ``logs``.

    Raises
    ------
    KafkaLearnError
        If a part is missing or of another type, or a step is one that no recorder writes.
    """
    history = checked(history)
    played = Replay(settings_of(history), history["ids"], history["groups"])
    steps = []
    for each in history["steps"]:
        steps.append({**each, **played.play(each["do"], each.get("v"), each["q"])})
    return {"start": played.first, "steps": steps, "logs": played.logs()}


def observed(state: Cluster, ids: Sequence[str], groups: Sequence[str], name: Any) -> dict[str, object]:
    """What anybody can ask for: DescribeTransactions, both offsets, DescribeProducers, a fetch, committed offsets."""
    now: dict[str, object] = {}
    for each in _names("ids", ids):
        held = state.transaction(each)
        now["txn " + each] = "TRANSACTIONAL_ID_NOT_FOUND" if held is None else _described(held, name)
    data = [each for each in state.partitions if each.name != OFFSETS_PARTITION]
    for each in data:
        if each.name in state.away:
            continue
        stable = each.last_stable_offset
        now[f"offsets {each.name}"] = [each.end_offset, stable]
        now[f"producers {each.name}"] = sorted(
            [name(one.producer_id), one.epoch, one.last_sequence, one.coordinator_epoch, one.first_offset]
            for one in each.producers
        )
        aborted = [[name(one.producer_id), one.first_offset] for one in aborted_below(each)]
        now[f"fetch {each.name}"] = {"to": stable, "aborted": aborted}
    for each in _names("groups", groups):
        group = state.group(each) or model.Group(each)
        now["committed " + each] = [[group.offset(one.name, stable) for one in data] for stable in (False, True)]
    return now


def _names(what: str, given: Sequence[str]) -> tuple[str, ...]:
    return tuple(text(f"each of {what}", each) for each in sequence(what, given, of="names"))


def _described(held: Transaction, name: Any) -> list[object]:
    producer_id, has_begun = name(held.producer_id), held.started_ms >= 0
    return [held.status, producer_id, held.epoch, held.timeout_ms, has_begun, sorted(held.partitions)]


def _batch(batch: Batch, name: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "offset": batch.offset,
        "last": batch.last_offset,
        "transactional": batch.is_transactional,
        "pid": name(batch.producer_id),
        "epoch": batch.epoch,
        "sequence": batch.sequence,
        "kind": batch.kind,
    }
    if batch.kind != "data":
        return {**shown, "coordinatorEpoch": batch.coordinator_epoch}
    return {**shown, "records": [list(each) if isinstance(each, tuple) else each for each in batch.records]}


def _row(settings: Settings, row: model.Row, name: Any) -> dict[str, Any]:
    held, id_ = row.transaction, "" if row.id == PREFIX_ALONE else row.id
    if held is None:
        return {"id": id_, "version": None}
    shown: dict[str, Any] = {
        "id": id_,
        "version": settings.value_version,
        "producerId": name(held.producer_id),
        "producerEpoch": held.epoch,
        "transactionTimeoutMs": held.timeout_ms,
        "transactionStatus": held.status,
        "transactionPartitions": None if held.status == model.EMPTY else sorted(held.partitions),
        "started": held.started_ms >= 0 and held.status != model.EMPTY,
    }
    if settings.value_version >= 1:
        if settings.forgets_the_start and held.previous_producer_id != -1:
            shown["previousProducerId"] = name(held.previous_producer_id)
        if held.next_producer_id != -1:
            shown["nextProducerId"] = name(held.next_producer_id)
        if held.client_version:
            shown["clientTransactionVersion"] = held.client_version
    return shown


def _shortened(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    short: list[dict[str, Any]] = []
    for _, run in groupby(rows, key=lambda row: {**row, "producerEpoch": None}):
        alike = list(run)
        if len(alike) < LONG_RUN:
            short += alike
        else:
            short += [*alike[:2], {"leftOut": len(alike) - 4}, *alike[-2:]]
    return short
