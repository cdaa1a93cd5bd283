"""The simulator of transactions: what each event does, what always holds, and what users hope for.

Markers are events of their own (`MarkerArrived`): between the coordinator's decision and the last marker lies time, and
most of what surprises happens there. `settled` sends all of them that can arrive.

>>> from kafkalearn.transactions import EndTxn, InitProducerId, MarkerArrived, Produce
>>> events = [InitProducerId("x"), Produce("x", "t-0", 0, 0, 0), EndTxn("x", 0, 0), MarkerArrived("x", "t-0")]
>>> for frame in simulate(Settings(), events)[1:]:
...     held, partition = frame.state.transactions[0], frame.state.partitions[0]
...     print(held.status, held.epoch, partition.end_offset, partition.last_stable_offset)
Empty 0 0 0
Ongoing 0 1 0
PrepareCommit 1 1 0
CompleteCommit 1 2 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from kafkalearn.base.errors import IllegalEvent, no_event
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.transactions import coordinator, model, offsets
from kafkalearn.transactions import partition as partitions
from kafkalearn.transactions.model import Answer, Cluster, Event, Settings

NOBODY_HELD_BACK = "a reader is held back only by a transaction that its coordinator knows to be open"
NO_ID_STUCK = "an id whose markers all leaders could take is not left waiting"

EPOCHS_A_RESTART = 2
"""How many epochs of its leader a restart takes: one when it goes, one when it comes (recorded, one broker, 4.3.1)."""

PERMANENT = ("INVALID_PRODUCER_EPOCH", "TRANSACTION_COORDINATOR_FENCED")
"""The errors of a leader on which the coordinator stops sending a transaction's markers."""


def markers_due(cluster: Cluster) -> tuple[model.MarkerArrived, ...]:
    """The markers that are on their way and can arrive now."""
    return tuple(
        model.MarkerArrived(held.id, name)
        for held in cluster.transactions
        if held.pending in (model.COMPLETE_COMMIT, model.COMPLETE_ABORT) and not held.is_refused
        for name in sorted(held.partitions - cluster.away)
    )


def marker_arrived(settings: Settings, cluster: Cluster, event: model.MarkerArrived) -> tuple[Cluster, Answer]:
    """A marker is written; after the last one the transaction is complete. A leader may refuse it for good."""
    if event not in markers_due(cluster):
        due = ", ".join(f"{each.id} at {each.partition}" for each in markers_due(cluster)) or "none"
        raise IllegalEvent(f"{event!r}: no such marker is on its way; on their way: {due}")
    held = cluster.transaction(event.id)
    partition = cluster.partition(event.partition)
    assert held is not None
    assert partition is not None
    cluster, error = offsets.marked(
        settings, cluster, partition, held.producer_id, held.epoch, held.status == model.PREPARE_COMMIT,
        cluster.coordinator_epochs[settings.coordinator_partition(held.id)], held.client_version,
    )  # fmt: skip
    if error in PERMANENT:
        return cluster.with_transaction(replace(held, is_refused=True)), Answer(error)
    left = held.partitions - {event.partition}
    cluster = cluster.with_transaction(replace(held, partitions=left))
    return (cluster if left else coordinator.await_markers(settings, cluster, held.id)), Answer(error)


def write_markers(settings: Settings, cluster: Cluster, event: model.WriteTxnMarkers) -> tuple[Cluster, Answer]:
    """Markers by hand: each partition takes them or not; the coordinator does not learn of it."""
    answers = {}
    version = event.transaction_version if event.version >= 2 else 0
    for name in event.partitions:
        partition = cluster.partition(name)
        if partition is None:
            answers[name] = "UNKNOWN_TOPIC_OR_PARTITION"
            continue
        cluster, answers[name] = offsets.marked(
            settings, cluster, partition, event.producer_id, event.epoch, event.commit, event.coordinator_epoch,
            version,
        )  # fmt: skip
    return cluster, Answer(partitions=tuple(answers.items()))


def time_passed(settings: Settings, cluster: Cluster, event: model.TimePassed) -> tuple[Cluster, Answer]:
    """Time passes, and all timers fire as often as they are due."""
    end_ms = cluster.now_ms + event.ms
    while True:
        at_ms = next_timer(settings, cluster)
        if at_ms is None or at_ms > end_ms:
            return replace(cluster, now_ms=end_ms), Answer()
        cluster = _timers_fired(settings, replace(cluster, now_ms=at_ms))


def next_timer(settings: Settings, cluster: Cluster) -> int | None:
    """When a timer next finds something to do: a transaction that took too long, an id that nobody used.

    What became due while nobody looked, as with a coordinator that was gone, is found by the next look.
    """
    found = []
    now_ms = cluster.now_ms
    for held in cluster.transactions:
        if held.pending:
            continue
        if held.status == model.ONGOING and held.has_time_out:
            found.append(
                _tick(settings.abort_timed_out_interval_ms, max(now_ms, held.started_ms + held.timeout_ms + 1))
            )
        elif held.status in (model.EMPTY, model.COMPLETE_COMMIT, model.COMPLETE_ABORT):
            found.append(
                _tick(settings.remove_expired_interval_ms, max(now_ms, held.updated_ms + settings.id_expiration_ms))
            )
    for partition in cluster.partitions:
        old = _seem_old(settings, partition)
        for each in partition.producers:
            if each.first_offset < 0:
                due_ms = 0 if each.producer_id in old else each.last_ms + settings.producer_expiration_ms
                found.append(_tick(settings.producer_check_interval_ms, max(now_ms + 1, due_ms)))
    return min(found, default=None)


def _seem_old(settings: Settings, partition: model.Partition) -> frozenset[int]:
    """Producers of which a partition has no batch to tell their age by, and no transaction that is open (KAFKA-9144).

    Source: `ProducerStateManager.isProducerExpired` of 2.4.0, `ProducerStateEntry.lastTimestamp`; repaired in 2.4.1.
    """
    if "KAFKA-9144" not in settings.defects:
        return frozenset()
    return frozenset(each.producer_id for each in partition.producers if not each.batches and each.first_offset < 0)


def _is_silent(settings: Settings, producer: model.Producer, now_ms: int) -> bool:
    """Whether a partition forgets a producer: `ProducerStateManager.isProducerExpired`; recorded on 4.2.1 to 4.4.0."""
    return producer.first_offset < 0 and now_ms - producer.last_ms >= settings.producer_expiration_ms


def _tick(interval_ms: int, due_ms: int) -> int:
    return -(-due_ms // interval_ms) * interval_ms


def _timers_fired(settings: Settings, cluster: Cluster) -> Cluster:
    now_ms = cluster.now_ms
    for held in cluster.transactions:
        if held.pending:
            continue
        if held.status == model.ONGOING:
            is_late = now_ms % settings.abort_timed_out_interval_ms == 0
            if is_late and held.has_time_out and held.started_ms + held.timeout_ms < now_ms:
                cluster, _ = coordinator.fence(settings, cluster, held)
        elif held.status in (model.EMPTY, model.COMPLETE_COMMIT, model.COMPLETE_ABORT):
            is_late = now_ms % settings.remove_expired_interval_ms == 0
            if is_late and held.updated_ms + settings.id_expiration_ms <= now_ms:
                left = tuple(each for each in cluster.transactions if each.id != held.id)
                cluster = replace(cluster, transactions=left, rows=(*cluster.rows, model.Row(held.id, None)))
    for partition in cluster.partitions if now_ms % settings.producer_check_interval_ms == 0 else ():
        old = _seem_old(settings, partition)
        kept = tuple(
            each
            for each in partition.producers
            if each.producer_id not in old and not _is_silent(settings, each, now_ms)
        )
        if kept != partition.producers:
            cluster = cluster.with_partition(replace(partition, producers=kept))
    return cluster


def leader_went_away(settings: Settings, cluster: Cluster, event: model.LeaderWentAway) -> tuple[Cluster, Answer]:
    """From now on markers for these partitions wait; where nobody leads them, since 4.3 they are given up.

    That a marker which waits already is given up, too, is read: the coordinator looks for the leader again.
    """
    cluster = replace(cluster, away=cluster.away | set(event.partitions))
    if not event.is_known:
        return cluster, Answer()
    cluster = replace(cluster, leaderless=cluster.leaderless | set(event.partitions))
    for held in cluster.transactions:
        if held.pending in (model.COMPLETE_COMMIT, model.COMPLETE_ABORT) and settings.loses_markers:
            cluster = coordinator.await_markers(settings, cluster, held.id)
    return cluster, Answer()


def leader_came_back(settings: Settings, cluster: Cluster, event: model.LeaderCameBack) -> tuple[Cluster, Answer]:
    """Markers for these partitions can arrive again."""
    back = set(event.partitions)
    return replace(cluster, away=cluster.away - back, leaderless=cluster.leaderless - back), Answer()


def _coordinated(
    cluster: Cluster, event: model.CoordinatorCrashed | model.CoordinatorElected | model.CoordinatorLoaded
) -> tuple[int, ...]:
    """The partitions of ``__transaction_state`` that an event is about."""
    count = len(cluster.coordinator_epochs)
    if event.partition is not None and not 0 <= event.partition < count:
        raise IllegalEvent(f"{event!r}: __transaction_state has the partitions 0 to {count - 1}")
    return tuple(range(count)) if event.partition is None else (event.partition,)


def _left(settings: Settings, cluster: Cluster, numbers: tuple[int, ...], error: str | None) -> Cluster:
    """Nobody knows the ids of these partitions any more; what is written of them stays, as do markers that arrived.

    `error` is what a request for them is answered from now on; None: they have a coordinator.
    """
    kept = tuple(each for each in cluster.transactions if settings.coordinator_partition(each.id) not in numbers)
    others = [each for each in cluster.uncoordinated if each[0] not in numbers]
    refused = tuple(sorted([*others, *((number, error) for number in numbers if error is not None)]))
    return replace(cluster, transactions=kept, uncoordinated=refused)


def _written(settings: Settings, cluster: Cluster, numbers: Iterable[int]) -> tuple[model.Transaction, ...]:
    """What these partitions of ``__transaction_state`` say of their ids: the last value of each."""
    numbers = frozenset(numbers)
    rows = {row.id: row.transaction for row in cluster.rows if settings.coordinator_partition(row.id) in numbers}
    return tuple(held for held in rows.values() if held is not None)


def coordinator_died(settings: Settings, cluster: Cluster, event: model.CoordinatorCrashed) -> tuple[Cluster, Answer]:
    """Whoever is asked for these ids says that it is not their coordinator; their markers wait."""
    return _left(settings, cluster, _coordinated(cluster, event), coordinator.ELSEWHERE), Answer()


def coordinator_elected(
    settings: Settings, cluster: Cluster, event: model.CoordinatorElected
) -> tuple[Cluster, Answer]:
    """A new coordinator, under the next epoch of the partition's leader, which knows nothing of its ids yet."""
    numbers = _coordinated(cluster, event)
    if is_loading := [each for each in numbers if (each, coordinator.LOADING) in cluster.uncoordinated]:
        raise IllegalEvent(f"{event!r}: partition {is_loading[0]} is being loaded; CoordinatorLoaded comes first")
    epochs = tuple(each + (at in numbers) for at, each in enumerate(cluster.coordinator_epochs))
    cluster = replace(cluster, coordinator_epochs=epochs)
    return _left(settings, cluster, numbers, coordinator.LOADING), Answer()


def coordinator_loaded(settings: Settings, cluster: Cluster, event: model.CoordinatorLoaded) -> tuple[Cluster, Answer]:
    """The coordinator knows what its log says, and no more; markers of decided transactions are sent again.

    Of one partition of the log: what it has of the ids that lie there. A failover takes one epoch of its leader.
    """
    numbers = _coordinated(cluster, event)
    is_elected = {each for each in numbers if (each, coordinator.LOADING) in cluster.uncoordinated}
    passed = EPOCHS_A_RESTART if event.partition is None else 1
    epochs = tuple(
        each + passed * (at in numbers and at not in is_elected) for at, each in enumerate(cluster.coordinator_epochs)
    )
    cluster = _left(settings, replace(cluster, coordinator_epochs=epochs), numbers, None)
    for held in _written(settings, cluster, numbers):
        # The log has no last epoch: a request that is retried over a failover is not known again.
        loaded = replace(held, last_epoch=model.NO_EPOCH, pending="", is_refused=False)
        if settings.value_version == 0:
            loaded = replace(loaded, previous_producer_id=-1, client_version=0)
        cluster = cluster.with_transaction(loaded)
        if loaded.status.startswith("Prepare"):
            cluster = coordinator.await_markers(settings, cluster, loaded.id)
    return cluster, Answer()


def asked_elsewhere(settings: Settings, cluster: Cluster, event: model.AskedElsewhere) -> tuple[Cluster, Answer]:
    """Another broker does not answer for the id, but for what it can refuse without knowing it."""
    request = event.request
    if request.id is None:
        return RULES[model.InitProducerId](settings, cluster, request)
    numbers = (settings.coordinator_partition(request.id),)
    _, answer = RULES[type(request)](settings, _left(settings, cluster, numbers, coordinator.ELSEWHERE), request)
    return cluster, answer


def broker_restarted(settings: Settings, cluster: Cluster, event: model.BrokerRestarted) -> tuple[Cluster, Answer]:
    """The coordinator is loaded, and partitions know of each producer what is in their snapshot and their log.

    A snapshot has the last batch of each producer alone; after a kill the log is read as well.
    """
    cluster, answer = coordinator_loaded(settings, cluster, model.CoordinatorLoaded())
    for each in cluster.partitions:
        producers = tuple(
            replace(known, batches=known.batches[-1:]) if event.is_clean else known for known in each.producers
        )
        cluster = cluster.with_partition(replace(each, producers=producers, verifying=()))
    return cluster, answer


_Rule = Callable[[Settings, Cluster, Any], tuple[Cluster, Answer]]

RULES: Mapping[type, _Rule] = MappingProxyType(
    {
        model.InitProducerId: coordinator.init_producer_id,
        model.AddPartitionsToTxn: coordinator.add_partitions,
        model.AddOffsetsToTxn: coordinator.add_offsets,
        model.Produce: partitions.produce,
        model.TxnOffsetCommit: offsets.txn_offset_commit,
        model.OffsetCommit: offsets.offset_commit,
        model.EndTxn: coordinator.end,
        model.MarkerArrived: marker_arrived,
        model.WriteTxnMarkers: write_markers,
        model.Join: offsets.join,
        model.TimePassed: time_passed,
        model.LeaderWentAway: leader_went_away,
        model.LeaderCameBack: leader_came_back,
        model.CoordinatorCrashed: coordinator_died,
        model.CoordinatorElected: coordinator_elected,
        model.CoordinatorLoaded: coordinator_loaded,
        model.AskedElsewhere: asked_elsewhere,
        model.BrokerRestarted: broker_restarted,
    }
)
"""For each event the function that has its rule."""


def step(settings: Settings, state: Cluster, event: Event) -> Cluster:
    """The state after an event; what it was answered is in ``effects``.

    >>> from kafkalearn.transactions import InitProducerId, start
    >>> settings = Settings()
    >>> state = step(settings, start(settings), InitProducerId("billing"))
    >>> state.effects
    (Answer(error='NONE', producer_id=0, epoch=0, offset=-1, message='', partitions=()),)
    """
    rule = RULES.get(type(event))
    if rule is None:
        raise no_event(event, RULES)
    after, answer = rule(settings, state, event)
    return replace(after, effects=(answer,))


def settled(settings: Settings, state: Cluster) -> Cluster:
    """The state once every marker has arrived that can; the effects stay those of the event before."""
    answered = state.effects
    while due := markers_due(state):
        state = step(settings, state, due[0])
    return replace(state, effects=answered)


def _has_one_of_each(settings: Settings, cluster: Cluster) -> bool:
    ids = [each.id for each in cluster.transactions]
    return ids == sorted(set(ids))


def _counts_offsets(settings: Settings, cluster: Cluster) -> bool:
    for each in cluster.partitions:
        ends = [0, *(batch.last_offset + 1 for batch in each.batches)]
        if [batch.offset for batch in each.batches] != ends[:-1]:
            return False
    return True


def _begins_where_it_is_written(settings: Settings, cluster: Cluster) -> bool:
    return all(
        any(batch.offset == known.first_offset and batch.producer_id == known.producer_id for batch in each.batches)
        for each in cluster.partitions
        for known in each.producers
        if known.first_offset >= 0
    )


def _epochs_do_not_fall(settings: Settings, before: Cluster, cluster: Cluster) -> bool:
    for held in before.transactions:
        after = cluster.transaction(held.id)
        if after is not None and after.producer_id == held.producer_id and after.epoch < held.epoch:
            return False
    return True


def _stable_does_not_fall(settings: Settings, before: Cluster, cluster: Cluster) -> bool:
    pairs = zip(before.partitions, cluster.partitions, strict=True)
    return all(earlier.last_stable_offset <= later.last_stable_offset for earlier, later in pairs)


INVARIANTS: Promises = MappingProxyType(
    {
        "the coordinator has an id once": _has_one_of_each,
        "a log has no gap": _counts_offsets,
        "an open transaction begins with a batch of its producer": _begins_where_it_is_written,
        "the last stable offset is not beyond the end": lambda _, cluster: all(
            0 <= each.last_stable_offset <= each.end_offset for each in cluster.partitions
        ),
        "the epoch of a producer id does not fall": Since(_epochs_do_not_fall),
        "the last stable offset does not fall": Since(_stable_does_not_fall),
        "an id is in a state of Kafka's": lambda _, cluster: all(
            each.status in model.STATES for each in cluster.transactions
        ),
        "offsets wait for a transaction that is open in the offsets partition": lambda _, cluster: all(
            known is not None and known.first_offset >= 0
            for group in cluster.groups
            for each in group.pending
            for known in [_offsets_log(cluster).producer(each.producer_id)]
        ),
    }
)
"""What holds in every state, as predicates of settings and state."""


def _offsets_log(cluster: Cluster) -> model.Partition:
    log = cluster.partition(model.OFFSETS_PARTITION)
    assert log is not None
    return log


def _nobody_is_held_back(settings: Settings, cluster: Cluster) -> bool:
    """A transaction that hangs: open at a partition, and no transaction of the coordinator will ever end it there.

    Of a partition that is still to be loaded, what it says counts.
    """
    unknown = _written(settings, cluster, (number for number, _ in cluster.uncoordinated))
    known = (*cluster.transactions, *unknown)
    open_at = {(held.producer_id, name) for held in known if held.is_open for name in held.partitions}
    return all(
        (known.producer_id, each.name) in open_at
        for each in cluster.partitions
        for known in each.producers
        if known.first_offset >= 0
    )


def _no_id_is_stuck(settings: Settings, cluster: Cluster) -> bool:
    return not any(held.is_refused for held in cluster.transactions)


PROMISES: Promises = MappingProxyType({NOBODY_HELD_BACK: _nobody_is_held_back, NO_ID_STUCK: _no_id_is_stuck})
"""What users hope for. With verification and version 2 a client's own requests break none of them."""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
