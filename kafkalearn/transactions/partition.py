"""A partition's side of transactions: which batch it takes, which marker, and how far read_committed goes.

Source: `UnifiedLog`, `ProducerStateManager` and `ProducerAppendInfo` of Kafka 4.3, read; recorded on 4.0.2 and 4.3.1.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.transactions import coordinator, model
from kafkalearn.transactions.model import Cluster, Partition, Produce, Settings

WRONG_EPOCH = "INVALID_PRODUCER_EPOCH"
WRONG_SEQUENCE = "OUT_OF_ORDER_SEQUENCE_NUMBER"
UNANSWERED = {coordinator.ELSEWHERE: "NETWORK_EXCEPTION", coordinator.LOADING: coordinator.LOADING}
"""What a leader hears that asks a coordinator which is gone, or which still loads: its client is to try again."""


def produce(settings: Settings, cluster: Cluster, event: Produce) -> tuple[Cluster, model.Answer]:
    """Produce: the batch is verified or its partition added, then it is written; or why not."""
    if event.is_transactional and event.id is None:
        return cluster, model.Answer("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
    if cluster.partition(event.partition) is None:
        return cluster, model.Answer("UNKNOWN_TOPIC_OR_PARTITION")
    if event.is_transactional:
        assert event.id is not None
        cluster, error = admitted(
            settings, cluster, event.partition, event.id, event.producer_id, event.epoch, event.sequence,
            adds=event.version >= 12,
        )  # fmt: skip
        if error != "NONE":
            return cluster, _as_produce_answers(error, event.version)
    partition = cluster.partition(event.partition)
    assert partition is not None
    if event.producer_id == -1:
        offset = partition.end_offset
        batch = model.Batch(offset, event.records, is_transactional=event.is_transactional)
        return cluster.with_partition(replace(partition, batches=(*partition.batches, batch))), model.Answer(
            offset=offset
        )
    partition, error, offset = append(partition, event, cluster.now_ms, is_from_client=True)
    return cluster.with_partition(partition), model.Answer(error, offset=offset)


def _as_produce_answers(error: str, version: int) -> model.Answer:
    """The error as a client of this version knows it; from version 8 on with Kafka's own words for some."""
    message = ""
    if error == "TRANSACTION_ABORTABLE" and version < 11:
        error, message = "INVALID_TXN_STATE", "Partition was not added to the transaction"
    elif error in UNANSWERED or (error == coordinator.CONCURRENT and version < 12):
        message = (
            "Unable to verify the partition has been added to the transaction. "
            f"Underlying error: {UNANSWERED.get(error, error)}"
        )
        error = "NOT_ENOUGH_REPLICAS"
    return model.Answer(error, message=message if version >= 8 else "")


def admitted(
    settings: Settings,
    cluster: Cluster,
    name: str,
    transactional_id: str,
    producer_id: int,
    epoch: int,
    sequence: int,
    adds: bool,
) -> tuple[Cluster, str]:
    """Whether a transactional batch may be tried: the coordinator is asked, unless its transaction is open here."""
    partition = cluster.partition(name)
    assert partition is not None
    if partition.has_open(producer_id, epoch) or not (settings.verification or adds):
        return cluster, "NONE"
    known = partition.producer(producer_id)
    if settings.checks_the_epoch_first and known is not None and epoch < known.epoch:
        return cluster, WRONG_EPOCH
    cluster = cluster.with_partition(_with_verifying(partition, producer_id, epoch, sequence, adds))
    if adds:
        cluster, error = coordinator.add(
            settings, cluster, transactional_id, producer_id, epoch, [name], client_version=2
        )
    else:
        error = coordinator.verify(settings, cluster, transactional_id, producer_id, epoch, [name])[name]
    return cluster, WRONG_EPOCH if error == coordinator.FENCED else error


def _with_verifying(partition: Partition, producer_id: int, epoch: int, sequence: int, bumps: bool) -> Partition:
    """The partition that remembers the lowest sequence which is being verified: a later one must not overtake it."""
    known = next((each for each in partition.verifying if each.producer_id == producer_id), None)
    if known is None:
        changed = model.Verifying(producer_id, sequence, epoch, bumps)
    elif epoch > known.epoch:
        changed = replace(known, lowest_sequence=sequence, epoch=epoch)
    elif epoch == known.epoch:
        changed = replace(known, lowest_sequence=min(sequence, known.lowest_sequence))
    else:
        changed = known
    others = tuple(each for each in partition.verifying if each.producer_id != producer_id)
    return replace(partition, verifying=(*others, changed))


def append(partition: Partition, batch: Produce, now_ms: int, is_from_client: bool) -> tuple[Partition, str, int]:
    """The partition with the batch, the error, and the offset: of one that comes twice, its first offset."""
    known = partition.producer(batch.producer_id) or model.Producer(batch.producer_id)
    count = len(batch.records)
    last_sequence = batch.sequence + count - 1
    if is_from_client and known.epoch == batch.epoch:
        for each in known.batches:
            if (each.first_sequence, each.last_sequence) == (batch.sequence, last_sequence):
                return partition, "NONE", each.offset
    if batch.epoch < known.epoch:
        return partition, WRONG_EPOCH, -1
    if is_from_client and not _is_next(partition, known, batch):
        return partition, WRONG_SEQUENCE, -1
    if known.first_offset >= 0 and not batch.is_transactional:
        return partition, "INVALID_TXN_STATE", -1
    offset = partition.end_offset
    kept = known.batches if known.epoch == batch.epoch else ()
    changed = replace(
        known,
        epoch=batch.epoch,
        batches=(*kept, model.Written(batch.sequence, last_sequence, offset))[-model.KEPT_BATCHES :],
        first_offset=offset if batch.is_transactional and known.first_offset < 0 else known.first_offset,
        last_ms=now_ms,
    )
    written = model.Batch(offset, batch.records, batch.producer_id, batch.epoch, batch.sequence, batch.is_transactional)
    partition = with_producer(partition, changed)
    if batch.is_transactional:
        partition = _verified(partition, batch.producer_id)
    return replace(partition, batches=(*partition.batches, written)), "NONE", offset


def _is_next(partition: Partition, known: model.Producer, batch: Produce) -> bool:
    verifying = next((each for each in partition.verifying if each.producer_id == batch.producer_id), None)
    if verifying is not None and batch.sequence > verifying.lowest_sequence:
        return False
    if batch.epoch != known.epoch:
        if batch.sequence == 0:
            return True
        return known.epoch == model.NO_EPOCH and not (verifying is not None and verifying.bumps_epoch)
    return batch.sequence == known.last_sequence + 1


def _verified(partition: Partition, producer_id: int) -> Partition:
    left = tuple(each for each in partition.verifying if each.producer_id != producer_id)
    return replace(partition, verifying=left)


def with_producer(partition: Partition, changed: model.Producer) -> Partition:
    """The partition with this of a producer."""
    others = (each for each in partition.producers if each.producer_id != changed.producer_id)
    return replace(partition, producers=tuple(sorted((*others, changed), key=lambda each: each.producer_id)))


def write_marker(
    settings: Settings,
    partition: Partition,
    producer_id: int,
    epoch: int,
    commit: bool,
    coordinator_epoch: int,
    transaction_version: int,
    now_ms: int,
) -> tuple[Partition, str]:
    """The partition with a marker, and the error. Where no transaction is open it takes an offset all the same."""
    known = partition.producer(producer_id) or model.Producer(producer_id)
    # The epoch of an open transaction cannot end it: the coordinator's marker has the next one. Without one it is a
    # marker that comes again, and is taken.
    is_strict = settings.is_strict_with_markers and transaction_version >= 2
    is_strict = is_strict and (known.first_offset >= 0 or "KAFKA-19999" in settings.defects)
    if epoch < known.epoch or (is_strict and epoch == known.epoch):
        return partition, WRONG_EPOCH
    if coordinator_epoch < known.coordinator_epoch:
        return partition, "TRANSACTION_COORDINATOR_FENCED"
    offset = partition.end_offset
    kept = known.batches if known.epoch == epoch else ()
    told = {"coordinator_epoch": coordinator_epoch, "first_offset": -1, "last_ms": now_ms}
    changed = replace(known, epoch=epoch, batches=kept, **told)
    marker = model.Batch(offset, (), producer_id, epoch, -1, True, "COMMIT" if commit else "ABORT", coordinator_epoch)
    marked = _verified(with_producer(partition, changed), producer_id)
    marked = replace(marked, batches=(*partition.batches, marker))
    if known.first_offset >= 0 and not commit:
        entry = model.Aborted(producer_id, known.first_offset, offset, marked.last_stable_offset)
        marked = replace(marked, aborted=(*marked.aborted, entry))
    return marked, "NONE"


def aborted_below(partition: Partition) -> tuple[model.Aborted, ...]:
    """The aborted transactions that a read_committed fetch from the start gets beside its records."""
    return partition.aborted if partition.last_stable_offset > 0 else ()


def committed_records(partition: Partition) -> tuple[object, ...]:
    """What a read_committed reader is given: records below the last stable offset, without aborted ones."""
    read: list[object] = []
    for batch in partition.batches:
        if batch.kind == "data" and batch.last_offset < partition.last_stable_offset:
            is_aborted = batch.is_transactional and any(
                each.producer_id == batch.producer_id and each.first_offset <= batch.offset <= each.last_offset
                for each in partition.aborted
            )
            if not is_aborted:
                read.extend(batch.records)
    return tuple(read)
