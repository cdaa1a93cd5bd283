"""The group's side of transactions: offsets that wait for the end of one, and hold or are forgotten then.

Source: `OffsetMetadataManager` and `ClassicGroup` of Kafka 4.3, read; recorded on 4.0.2 and 4.3.1.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.transactions import coordinator, model
from kafkalearn.transactions import partition as partitions
from kafkalearn.transactions.model import Answer, Cluster, Group, Settings

COMMIT_WITH_EPOCHS = 9
"""The first version of OffsetCommit that members of KIP-848 may use; their epochs are what generations were."""

TXN_COMMIT_WITH_EPOCHS = 6
"""The first version of TxnOffsetCommit that tells a wrong member epoch, and a group that is not there, by errors of
their own (KIP-1319, 4.4.0)."""

GROUP_RECORD = (2, 3)
"""Key version and value version of a group's own record."""


def txn_offset_commit(settings: Settings, cluster: Cluster, event: model.TxnOffsetCommit) -> tuple[Cluster, Answer]:
    """TxnOffsetCommit: the offsets are written and wait; or why not, the same for each partition."""
    cluster, error = partitions.admitted(
        settings, cluster, model.OFFSETS_PARTITION, event.id, event.producer_id, event.epoch, 0, adds=event.version >= 5
    )
    if error == "TRANSACTION_ABORTABLE" and event.version < 4:
        error = "INVALID_TXN_STATE"
    if error in partitions.UNANSWERED:
        error = coordinator.LOADING  # whoever coordinates the group cannot ask who coordinates the id
    group = cluster.group(event.group)
    if error == "NONE":
        error = _refused(group, event.generation, event.member, event.version, is_transactional=True)
    if error == "NONE":
        log = cluster.partition(model.OFFSETS_PARTITION)
        assert log is not None
        records = _records(settings, event.offsets)
        batch = model.Produce(event.id, log.name, event.producer_id, event.epoch, 0, records)
        log, error, offset = partitions.append(log, batch, cluster.now_ms, is_from_client=False)
        if error == "NONE":
            group = group or Group(event.group)
            for number, (name, committed) in enumerate(event.offsets):
                waiting = model.Offset(name, committed, offset + number, event.producer_id)
                others = tuple(
                    each for each in group.pending if (each.partition, each.producer_id) != (name, event.producer_id)
                )
                group = replace(group, pending=(*others, waiting))
            cluster = cluster.with_partition(log).with_group(group)
    return cluster, Answer(partitions=tuple((name, error) for name, _ in event.offsets))


def offset_commit(settings: Settings, cluster: Cluster, event: model.OffsetCommit) -> tuple[Cluster, Answer]:
    """OffsetCommit: the offsets hold at once, whatever waits."""
    group = cluster.group(event.group)
    error = _refused(group, event.generation, event.member, event.version, is_transactional=False)
    if error == "NONE":
        cluster, offset = _written(cluster, _records(settings, event.offsets))
        group = group or Group(event.group)
        for number, (name, committed) in enumerate(event.offsets):
            group = _with_committed(group, model.Offset(name, committed, offset + number))
        cluster = cluster.with_group(group)
    return cluster, Answer(partitions=tuple((name, error) for name, _ in event.offsets))


def join(settings: Settings, cluster: Cluster, event: model.Join) -> tuple[Cluster, Answer]:
    """A member joins. A classic one: two records of the group, of the generation and of who has what.

    Of a member of KIP-848 the records stand for those that the group writes, which are more.
    """
    group = cluster.group(event.group) or Group(event.group)
    generation = settings.first_member_epoch if event.is_consumer else group.generation + 1
    group = replace(group, generation=generation, member=event.member, is_consumer=event.is_consumer)
    for _ in range(2):
        cluster, _ = _written(cluster, (GROUP_RECORD,))
    return cluster.with_group(group), Answer(epoch=group.generation)


def _records(settings: Settings, offsets: tuple[tuple[str, int], ...]) -> tuple[object, ...]:
    return tuple((1, settings.offset_value_version, offset) for _, offset in offsets)


def _written(cluster: Cluster, records: tuple[object, ...]) -> tuple[Cluster, int]:
    log = cluster.partition(model.OFFSETS_PARTITION)
    assert log is not None
    batch = model.Batch(log.end_offset, records, sequence=0)
    return cluster.with_partition(replace(log, batches=(*log.batches, batch))), batch.offset


def _refused(group: Group | None, generation: int, member: str, version: int, is_transactional: bool) -> str:
    """Why a commit of this member is not taken (`validateOffsetCommit` of both kinds of groups), or NONE.

    The same question stands in ``offsets.store.requests``, which has the list of all four places.
    """
    knows_epochs = not is_transactional and version >= COMMIT_WITH_EPOCHS
    if group is None:
        knows = knows_epochs or (is_transactional and version >= TXN_COMMIT_WITH_EPOCHS)
        missing = "GROUP_ID_NOT_FOUND" if knows else "ILLEGAL_GENERATION"
        return missing if generation >= 0 else "NONE"
    if generation < 0 and not group.member:
        return "NONE"
    if is_transactional and generation < 0 and not member:
        return "NONE"
    if group.is_consumer:
        if member != group.member:
            return "UNKNOWN_MEMBER_ID"
        if not (is_transactional or knows_epochs):
            return "UNSUPPORTED_VERSION"
        knows = knows_epochs or version >= TXN_COMMIT_WITH_EPOCHS
        wrong = "STALE_MEMBER_EPOCH" if knows else "ILLEGAL_GENERATION"
        return "NONE" if generation == group.generation else wrong
    if generation >= 0 or member:
        if member != group.member or not member:
            return "UNKNOWN_MEMBER_ID"
        return "NONE" if generation == group.generation else "ILLEGAL_GENERATION"
    return "UNKNOWN_MEMBER_ID"


def _with_committed(group: Group, offset: model.Offset) -> Group:
    """The group with an offset that holds, unless a later record of the log says otherwise."""
    held = next((each for each in group.committed if each.partition == offset.partition), None)
    if held is not None and held.log_offset > offset.log_offset:
        return group
    others = (each for each in group.committed if each.partition != offset.partition)
    settled = replace(offset, producer_id=-1)
    return replace(group, committed=tuple(sorted((*others, settled), key=lambda each: each.partition)))


def ended(cluster: Cluster, producer_id: int, commit: bool) -> Cluster:
    """The cluster after a marker of this producer in ``__consumer_offsets``: its offsets hold, or are forgotten."""
    for group in cluster.groups:
        mine = [each for each in group.pending if each.producer_id == producer_id]
        changed = replace(group, pending=tuple(each for each in group.pending if each.producer_id != producer_id))
        for each in mine if commit else ():
            changed = _with_committed(changed, each)
        if mine:
            cluster = cluster.with_group(changed)
    return cluster


def marked(
    settings: Settings,
    cluster: Cluster,
    partition: model.Partition,
    producer_id: int,
    epoch: int,
    commit: bool,
    coordinator_epoch: int,
    transaction_version: int,
) -> tuple[Cluster, str]:
    """The cluster after a marker reached a partition, and the error; in the offsets partition groups learn of it."""
    changed, error = partitions.write_marker(
        settings, partition, producer_id, epoch, commit, coordinator_epoch, transaction_version, cluster.now_ms
    )
    cluster = cluster.with_partition(changed)
    if error == "NONE" and partition.name == model.OFFSETS_PARTITION:
        cluster = ended(cluster, producer_id, commit)
    return cluster, error
