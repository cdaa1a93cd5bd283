"""The transaction coordinator: a transactional id, request by request; how its epoch fences a zombie producer.

A change is *prepared* (the id has a pending state, and every other request that would change it is answered
CONCURRENT_TRANSACTIONS), written to ``__transaction_state``, and then holds. Two protocols live side by side, and the
**request's** version chooses: EndTxn up to 4 ends a transaction under the same epoch, EndTxn 5 under the next one.

While nobody coordinates an id, or whoever does still reads its partition of ``__transaction_state``, each request is
refused before anything of it is looked at, but for the timeout of InitProducerId (recorded: 4.0.2 and 4.4.0).

Source: `TransactionCoordinator` and `TransactionMetadata` of Kafka 4.3, read; recorded on 4.0.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.transactions import model
from kafkalearn.transactions.model import Answer, Cluster, EndTxn, Settings, Transaction

TWO_PHASE_VERSION = 6
"""The first version of InitProducerId that knows two-phase commit (KIP-939)."""

UNSUPPORTED = "UNSUPPORTED_VERSION"
CONCURRENT = "CONCURRENT_TRANSACTIONS"
FENCED = "PRODUCER_FENCED"
WRONG_PRODUCER_ID = "INVALID_PRODUCER_ID_MAPPING"
WRONG_STATE = "INVALID_TXN_STATE"
LOADING, ELSEWHERE = "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"


def write(settings: Settings, cluster: Cluster, changed: Transaction) -> tuple[Cluster, str]:
    """The cluster after a change of a transaction was written to ``__transaction_state``, and the error.

    A value of version 0 has no place for the client's transaction version: the write fails, and what was prepared
    stays pending, so that every later request for the id is answered CONCURRENT_TRANSACTIONS.
    """
    if settings.value_version == 0 and changed.client_version > 0:
        held = cluster.transaction(changed.id)
        assert held is not None
        return cluster.with_transaction(replace(held, pending=changed.status)), UNSUPPORTED
    changed = replace(changed, pending="")
    return replace(cluster.with_transaction(changed), rows=(*cluster.rows, model.Row(changed.id, changed))), "NONE"


def _new_producer_id(cluster: Cluster) -> tuple[Cluster, int]:
    return replace(cluster, next_producer_id=cluster.next_producer_id + 1), cluster.next_producer_id


def init_producer_id(settings: Settings, cluster: Cluster, event: model.InitProducerId) -> tuple[Cluster, Answer]:
    """InitProducerId: a new epoch, a new producer id once epochs have run out, or an open transaction is aborted."""
    if (event.producer_id == -1) != (event.epoch == -1):
        return cluster, Answer("INVALID_REQUEST")
    if event.version > settings.newest_init_producer_id:
        raise IllegalEvent(
            f"{event!r}: this broker takes InitProducerId up to version {settings.newest_init_producer_id}, and 6, of "
            "two-phase commit (KIP-939), since 4.1 with unstable.api.versions.enable: Settings(has_unstable_apis=True)"
        )
    if event.version < TWO_PHASE_VERSION and (event.enables_two_phase_commit or event.keeps_prepared):
        raise IllegalEvent(f"{event!r}: two-phase commit is in the request from version {TWO_PHASE_VERSION} on")
    asked_id = event.id
    if asked_id is None:
        cluster, producer_id = _new_producer_id(cluster)
        return cluster, Answer(producer_id=producer_id, epoch=0)
    if not asked_id:
        return cluster, Answer(cluster.refusal(settings, asked_id))
    if event.enables_two_phase_commit and not settings.allows_two_phase_commit:
        return cluster, Answer("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
    if event.keeps_prepared:
        return cluster, Answer(UNSUPPORTED)  # of no broker up to 4.4
    if event.enables_two_phase_commit:
        event = replace(event, timeout_ms=model.TWO_PHASE_TIMEOUT_MS)
    elif not 0 < event.timeout_ms <= settings.transaction_max_timeout_ms:
        return cluster, Answer("INVALID_TRANSACTION_TIMEOUT")
    if (refusal := cluster.refusal(settings, asked_id)) != "NONE":
        return cluster, Answer(refusal)
    held = cluster.transaction(asked_id)
    if held is None:
        cluster, producer_id = _new_producer_id(cluster)
        held = Transaction(asked_id, producer_id, timeout_ms=event.timeout_ms, updated_ms=cluster.now_ms)
        cluster = cluster.with_transaction(held)
    cluster, error, changed = _initialised(settings, cluster, held, event)
    if error == FENCED and event.version < 4:
        error = "INVALID_PRODUCER_EPOCH"
    if error != "NONE" or changed is None:
        return cluster, Answer(error)
    return cluster, Answer(producer_id=changed.producer_id, epoch=changed.epoch)


def _initialised(
    settings: Settings, cluster: Cluster, held: Transaction, event: model.InitProducerId
) -> tuple[Cluster, str, Transaction | None]:
    expects = event.epoch != -1
    if held.pending:
        return cluster, CONCURRENT, None
    if expects and not (
        held.epoch == model.NO_EPOCH
        or event.producer_id == held.producer_id
        or (event.producer_id == held.previous_producer_id and event.epoch >= model.LAST_EPOCH - 1)
    ):
        return cluster, FENCED, None
    if held.status in (model.PREPARE_COMMIT, model.PREPARE_ABORT):
        return cluster, CONCURRENT, None
    if held.status == model.ONGOING:
        cluster, error = fence(settings, cluster, held)
        return cluster, CONCURRENT if error == "NONE" else error, None
    begun = replace(
        held,
        previous_producer_id=held.producer_id,
        timeout_ms=event.timeout_ms,
        status=model.EMPTY,
        partitions=frozenset(),
        started_ms=-1 if settings.forgets_the_start else held.started_ms,
        updated_ms=cluster.now_ms,
    )
    if held.is_exhausted and (not expects or event.epoch == held.epoch):
        cluster, producer_id = _new_producer_id(cluster)
        changed = replace(begun, producer_id=producer_id, epoch=0, last_epoch=held.epoch if expects else model.NO_EPOCH)
    elif not expects:
        changed = replace(begun, epoch=held.epoch + 1, last_epoch=model.NO_EPOCH)
    elif held.epoch in (model.NO_EPOCH, event.epoch):
        changed = replace(begun, epoch=held.epoch + 1, last_epoch=held.epoch)
    elif event.epoch == held.last_epoch:
        changed = begun  # the answer to the same request was lost: the same again
    else:
        return cluster, FENCED, None
    cluster, error = write(settings, cluster, changed)
    return cluster, error, changed


def fence(settings: Settings, cluster: Cluster, held: Transaction) -> tuple[Cluster, str]:
    """An open transaction is aborted by the coordinator, under an epoch that no client has."""
    bumps = settings.transaction_version >= 2
    if bumps and "KAFKA-19367" in settings.defects:
        if held.epoch + 2 > model.LAST_EPOCH:
            # The coordinator's own number is at the last epoch now, and nothing can fence it any more.
            return cluster.with_transaction(replace(held, epoch=model.LAST_EPOCH)), "UNKNOWN_SERVER_ERROR"
        held = replace(held, epoch=held.epoch + 1)
    fenced = replace(held, pending=model.PREPARE_EPOCH_FENCE)
    return _ended(settings, cluster, fenced, model.PREPARE_ABORT, bumps, is_fence=True)


def _refused(
    settings: Settings, cluster: Cluster, transactional_id: str, producer_id: int, epoch: int, *, changes: bool
) -> str:
    """Why a producer's transaction takes no question about its partitions now, or NONE.

    One that `changes` it is refused beside a pending change, too.
    """
    held = cluster.transaction(transactional_id)
    if (refusal := cluster.refusal(settings, transactional_id)) != "NONE":
        return refusal
    if held is None:
        return WRONG_PRODUCER_ID
    if changes and held.pending:
        return CONCURRENT
    if held.producer_id != producer_id:
        return WRONG_PRODUCER_ID
    if held.epoch != epoch:
        return FENCED
    return CONCURRENT if held.status in (model.PREPARE_COMMIT, model.PREPARE_ABORT) else "NONE"


def verify(
    settings: Settings,
    cluster: Cluster,
    transactional_id: str,
    producer_id: int,
    epoch: int,
    partitions: Iterable[str],
) -> dict[str, str]:
    """Which of these partitions are in the transaction now; asked by a broker before it writes (KIP-890, since 3.6)."""
    held = cluster.transaction(transactional_id)
    error = _refused(settings, cluster, transactional_id, producer_id, epoch, changes=False)
    if held is None or error != "NONE":
        return dict.fromkeys(partitions, error)
    return {each: "NONE" if each in held.partitions else "TRANSACTION_ABORTABLE" for each in partitions}


def add(
    settings: Settings,
    cluster: Cluster,
    transactional_id: str,
    producer_id: int,
    epoch: int,
    partitions: Iterable[str],
    client_version: int,
) -> tuple[Cluster, str]:
    """Partitions join the transaction, which begins with the first of them, and the error.

    No partitions at all begin it as well.
    """
    held = cluster.transaction(transactional_id)
    wanted = frozenset(partitions)
    error = _refused(settings, cluster, transactional_id, producer_id, epoch, changes=True)
    if held is None or error != "NONE":
        return cluster, error
    if held.status == model.ONGOING and wanted <= held.partitions:
        return cluster, "NONE"
    return write(
        settings,
        cluster,
        replace(
            held,
            previous_producer_id=held.producer_id,
            status=model.ONGOING,
            partitions=held.partitions | wanted,
            started_ms=held.started_ms if held.status == model.ONGOING else cluster.now_ms,
            updated_ms=cluster.now_ms,
            client_version=client_version,
        ),
    )


def add_partitions(settings: Settings, cluster: Cluster, event: model.AddPartitionsToTxn) -> tuple[Cluster, Answer]:
    """AddPartitionsToTxn: all of the partitions, or none where one of them does not exist."""
    unknown = [each for each in event.partitions if cluster.partition(each) is None]
    if unknown:
        refused = {
            each: "UNKNOWN_TOPIC_OR_PARTITION" if each in unknown else "OPERATION_NOT_ATTEMPTED"
            for each in event.partitions
        }
        return cluster, Answer(partitions=tuple(refused.items()))
    if event.version >= 4 and event.verify_only:
        verified = verify(settings, cluster, event.id, event.producer_id, event.epoch, event.partitions)
        return cluster, Answer(partitions=tuple(verified.items()))
    client_version = 2 if event.version >= 4 else 0
    cluster, error = add(settings, cluster, event.id, event.producer_id, event.epoch, event.partitions, client_version)
    if error == UNSUPPORTED and event.version >= 4:
        return cluster, Answer(UNSUPPORTED)
    if error == FENCED and event.version < 2:
        error = "INVALID_PRODUCER_EPOCH"
    return cluster, Answer(partitions=tuple(dict.fromkeys(event.partitions, error).items()))


def add_offsets(settings: Settings, cluster: Cluster, event: model.AddOffsetsToTxn) -> tuple[Cluster, Answer]:
    """AddOffsetsToTxn: the partition of ``__consumer_offsets`` that has the group joins the transaction."""
    cluster, error = add(settings, cluster, event.id, event.producer_id, event.epoch, [model.OFFSETS_PARTITION], 0)
    if error == FENCED and event.version < 2:
        error = "INVALID_PRODUCER_EPOCH"
    return cluster, Answer(error)


def end(settings: Settings, cluster: Cluster, event: EndTxn) -> tuple[Cluster, Answer]:
    """EndTxn: the decision is written, and the markers are to be sent; or why not."""
    bumps = event.version >= 5
    held = cluster.transaction(event.id)
    decision = model.PREPARE_COMMIT if event.commit else model.PREPARE_ABORT
    if (refusal := cluster.refusal(settings, event.id)) != "NONE":
        error = refusal
    elif held is None:
        error = WRONG_PRODUCER_ID
    else:
        judge = _judge_new if bumps else _judge_old
        error = judge(settings, held, event, decision)
        if error == "":
            cluster, error = _ended(settings, cluster, held, decision, bumps)
            held = cluster.transaction(event.id)
    if error == FENCED and event.version < 2:
        error = "INVALID_PRODUCER_EPOCH"
    if error != "NONE" or held is None or not bumps:
        return cluster, Answer(error)
    # A transaction whose epochs have run out goes on under the next producer id.
    if held.next_producer_id != -1:
        return cluster, Answer(producer_id=held.next_producer_id, epoch=0)
    return cluster, Answer(producer_id=held.producer_id, epoch=held.epoch)


def _judge_old(settings: Settings, held: Transaction, event: EndTxn, decision: str) -> str:
    """Why EndTxn up to version 4 is not carried out: an error, NONE for one that was carried out before, or nothing."""
    if held.producer_id != event.producer_id:
        return WRONG_PRODUCER_ID
    if held.epoch != event.epoch:
        return FENCED
    if held.pending:
        return CONCURRENT
    if held.status == model.ONGOING:
        return ""
    if held.status in (model.PREPARE_COMMIT, model.PREPARE_ABORT):
        return CONCURRENT if held.status == decision else WRONG_STATE
    if held.status == (model.COMPLETE_COMMIT if event.commit else model.COMPLETE_ABORT):
        return "NONE"
    return WRONG_STATE


def _judge_new(settings: Settings, held: Transaction, event: EndTxn, decision: str) -> str:
    """As `_judge_old`, for EndTxn from version 5 on: the epoch says whether it is the same request again."""
    overflowed = (
        held.previous_producer_id == event.producer_id and event.epoch == model.LAST_EPOCH - 1 and held.epoch == 0
    )
    is_retry = overflowed or held.epoch == event.epoch + 1
    if held.pending:
        return CONCURRENT
    if held.producer_id != event.producer_id and not overflowed:
        return WRONG_PRODUCER_ID
    if held.status in (model.ONGOING, model.EMPTY):
        is_valid = event.epoch == held.epoch
    elif held.status in (model.PREPARE_COMMIT, model.PREPARE_ABORT):
        is_valid = held.epoch == event.epoch + 1
    else:
        is_valid = is_retry or event.epoch == held.epoch
    if not is_valid:
        return FENCED
    if held.status == model.ONGOING:
        return ""
    if held.status in (model.PREPARE_COMMIT, model.PREPARE_ABORT):
        return CONCURRENT if held.status == decision else WRONG_STATE
    if held.status == model.EMPTY or not is_retry:
        return WRONG_STATE if event.commit else ""
    if held.status == (model.COMPLETE_COMMIT if event.commit else model.COMPLETE_ABORT):
        return "NONE"
    # Only the coordinator's own abort can have come before this commit: the client's would be the same request again.
    return FENCED if event.commit and settings.fences_a_late_commit else WRONG_STATE


def _ended(
    settings: Settings, cluster: Cluster, held: Transaction, decision: str, bumps: bool, is_fence: bool = False
) -> tuple[Cluster, str]:
    """The cluster after the decision was written: from then on it holds, whatever happens."""
    next_producer_id = -1
    if bumps and held.is_exhausted and (settings.rotates_when_fencing or not is_fence):
        cluster, next_producer_id = _new_producer_id(cluster)
    if bumps:
        changed = replace(held, epoch=held.epoch + 1, last_epoch=held.epoch)
    elif is_fence:
        changed = replace(held, epoch=held.epoch + 1, last_epoch=model.NO_EPOCH)
    else:
        changed = held
    cluster, error = write(
        settings,
        cluster,
        replace(
            changed,
            previous_producer_id=held.producer_id,
            next_producer_id=next_producer_id,
            status=decision,
            started_ms=held.started_ms if held.status == model.ONGOING else cluster.now_ms,
            updated_ms=cluster.now_ms,
            client_version=2 if bumps else 0,
        ),
    )
    if error != "NONE":
        return cluster, error
    return await_markers(settings, cluster, held.id), "NONE"


def await_markers(settings: Settings, cluster: Cluster, transactional_id: str) -> Cluster:
    """The cluster while markers of a decided transaction are on their way; without partitions it is complete."""
    held = cluster.transaction(transactional_id)
    assert held is not None
    done = model.COMPLETE_COMMIT if held.status == model.PREPARE_COMMIT else model.COMPLETE_ABORT
    if settings.loses_markers:
        held = replace(held, partitions=held.partitions - cluster.leaderless)
    if held.partitions:
        return cluster.with_transaction(replace(held, pending=done))
    rotates = held.client_version >= 2 and held.next_producer_id != -1
    cluster, _ = write(
        settings,
        cluster,
        replace(
            held,
            producer_id=held.next_producer_id if rotates else held.producer_id,
            epoch=0 if rotates else held.epoch,
            previous_producer_id=held.producer_id,
            next_producer_id=-1,
            status=done,
            updated_ms=cluster.now_ms,
        ),
    )
    return cluster
