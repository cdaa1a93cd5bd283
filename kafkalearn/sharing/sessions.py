"""Share sessions: what opens and ends one, its epochs, its partitions, and what an answer has of them.

A session knows nothing of the group: any member id may open one, whether it has joined or not.

Source: `KafkaApis.handleShareFetchRequest`, `handleShareAcknowledgeRequest`, `SharePartitionManager.newContext`,
`ShareSessionCache`, `ShareSessionContext` of 4.4.0, read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkalearn.sharing import acknowledging, fetching, in_flight
from kafkalearn.sharing.events import (
    AcknowledgeAnswer,
    AcknowledgedPartition,
    Acknowledgement,
    ConnectionClosed,
    FetchAnswer,
    FetchedPartition,
    ShareAcknowledge,
    ShareFetch,
)
from kafkalearn.sharing.model import Opened, Session, Waiting, topic_of
from kafkalearn.sharing.turn import FORGETS, Turn

FINAL, INITIAL = -1, 0
LAST_EPOCH = 2**31 - 1

NOT_HOSTED = "This server does not host this topic-partition."


def next_epoch(epoch: int) -> int:
    """The epoch after another; after the largest comes 1.

    >>> next_epoch(LAST_EPOCH)
    1
    """
    return 1 if epoch == LAST_EPOCH else epoch + 1


def _connection(request: ShareFetch | ShareAcknowledge) -> str:
    return request.connection or request.member


def _refused(turn: Turn, request: ShareFetch | ShareAcknowledge) -> str:
    """The error of a request whose session does not fit, or "NONE"."""
    if turn.settings.share_version == 0:
        return "UNSUPPORTED_VERSION"
    if request.group is None:
        if not turn.is_before_4_3:
            return "INVALID_REQUEST"
        return "UNKNOWN_SERVER_ERROR" if isinstance(request, ShareFetch) else "INVALID_SHARE_SESSION_EPOCH"
    if not request.member:
        return "INVALID_REQUEST"
    if isinstance(request, ShareFetch) and _is_wrong_renewal(request):
        return "INVALID_REQUEST"
    if request.epoch == INITIAL:
        if isinstance(request, ShareAcknowledge):
            return "INVALID_SHARE_SESSION_EPOCH"
        return "INVALID_REQUEST" if request.acknowledgements else "NONE"
    session = turn.cluster.session(request.broker, request.group, request.member)
    if session is None:
        return "SHARE_SESSION_NOT_FOUND"
    return "NONE" if request.epoch in (FINAL, session.epoch) else "INVALID_SHARE_SESSION_EPOCH"


def _is_wrong_renewal(request: ShareFetch) -> bool:
    """A fetch that renews asks for no records."""
    wanted = (request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms)
    return request.version >= 2 and request.is_renew and any(wanted)


def share_fetch(turn: Turn, request: ShareFetch) -> None:
    """A member asks for records, and may say before what became of those it has."""
    error = _refused(turn, request)
    if error != "NONE":
        turn.effects.append(FetchAnswer(request.group, request.member, error, connection=_connection(request)))
        return
    assert request.group is not None
    waiting = Waiting(request, (), turn.cluster.now_ms + request.max_wait_ms)
    if request.epoch == INITIAL and _is_full(turn, request):
        _drop(turn, request.broker, request.group, request.member)
        fetching.wait(turn, replace(waiting, refusal="SHARE_SESSION_LIMIT_REACHED"))
        return
    partitions = _of_session(turn, request)
    results = acknowledge_all(turn, request, () if request.epoch == INITIAL else request.partitions)
    if not (request.version >= 2 and request.is_renew) and request.epoch != FINAL:
        errors = tuple((name, found, "") for name in partitions if (found := _missing(turn, request, name)))
        known = tuple(name for name in partitions if not _missing(turn, request, name))
        fetching.begin(turn, replace(waiting, partitions=_rotated(known, request.epoch), errors=errors))
    else:
        turn.answered.append((waiting, {}))
    turn.settle()
    _keep_results(turn, request, results)
    if request.epoch == FINAL:
        release(turn, request.broker, request.group, request.member)


def _is_full(turn: Turn, request: ShareFetch) -> bool:
    others = [
        each for each in turn.cluster.sessions
        if each.broker == request.broker and (each.group, each.member) != (request.group, request.member)
    ]  # fmt: skip
    return len(others) >= turn.settings.max_share_sessions


def _unknown(turn: Turn, partition: str) -> str:
    """The error for a partition that there is none of, or ""."""
    if not turn.cluster.indexes(topic_of(partition)):
        return "UNKNOWN_TOPIC_ID"
    return "" if turn.cluster.log(partition) is not None else "UNKNOWN_TOPIC_OR_PARTITION"


def _missing(turn: Turn, request: ShareFetch, partition: str) -> str:
    """The same for a fetch: a session that knew the topic's name goes on with it when the topic is gone."""
    error = _unknown(turn, partition)
    session = turn.cluster.session(request.broker, str(request.group), request.member)
    is_known = session is not None and partition not in session.nameless
    return "UNKNOWN_TOPIC_OR_PARTITION" if error and is_known else error


def _rotated(partitions: tuple[str, ...], epoch: int) -> tuple[str, ...]:
    """The partitions in the order in which a request of an epoch reads them."""
    if len(partitions) < 2 or epoch < 1:
        return partitions
    at = epoch % len(partitions)
    return (*partitions[at:], *partitions[:at])


def _of_session(turn: Turn, request: ShareFetch) -> tuple[str, ...]:
    """Open or go on with a session; the partitions that this request reads."""
    assert request.group is not None
    named = tuple(dict.fromkeys(request.partitions))
    if request.epoch == FINAL:
        return ()
    if request.epoch == INITIAL:
        _drop(turn, request.broker, request.group, request.member)
        connection = _connection(request)
        nameless = frozenset(name for name in named if not turn.cluster.indexes(topic_of(name)))
        turn.put_session(
            Session(request.broker, request.group, request.member, 1, named, connection, nameless=nameless)
        )
        others = tuple(
            each for each in turn.cluster.opened if (each.broker, each.connection) != (request.broker, connection)
        )
        turn.change(opened=(*others, Opened(request.broker, connection, request.group, request.member)))
        return named
    session = turn.cluster.session(request.broker, request.group, request.member)
    assert session is not None
    named = tuple(dict.fromkeys((*named, *(each.partition for each in request.acknowledgements))))
    added = tuple(name for name in named if name not in session.partitions)
    kept = tuple(name for name in (*session.partitions, *added) if name not in request.forgotten)
    turn.put_session(
        replace(
            session, epoch=next_epoch(session.epoch), partitions=kept,
            to_be_told=(session.to_be_told | set(added)) & set(kept),
            nameless=session.nameless | {name for name in added if not turn.cluster.indexes(topic_of(name))},
        )
    )  # fmt: skip
    return kept


def _drop(turn: Turn, broker: int, group: str, member: str) -> bool:
    """A session is no more; the end of the connection over which it was opened means nothing for another one."""
    session = turn.cluster.session(broker, group, member)
    if session is None:
        return False
    turn.change(
        sessions=tuple(each for each in turn.cluster.sessions if each != session),
        opened=tuple(
            replace(each, is_stale=True) if (each.broker, each.connection) == (broker, session.connection) else each
            for each in turn.cluster.opened
        ),
    )
    return True


# Acknowledgements.


def acknowledge_all(
    turn: Turn, request: ShareFetch | ShareAcknowledge, named: Sequence[str] = ()
) -> dict[str, AcknowledgedPartition]:
    """Begin all acknowledgements of a request; what is answered for each partition stands there once all is settled."""
    batches: dict[str, list[Acknowledgement]] = {name: [] for name in named if request.acknowledgements}
    for each in request.acknowledgements:
        batches.setdefault(each.partition, []).append(each)
    results: dict[str, AcknowledgedPartition] = {}
    for name, some in batches.items():
        _acknowledge(turn, request, name, tuple(some), results)
    return results


def _acknowledge(
    turn: Turn, request: ShareFetch | ShareAcknowledge, name: str, batches: tuple[Acknowledgement, ...],
    results: dict[str, AcknowledgedPartition],
) -> None:  # fmt: skip
    assert request.group is not None
    error = _unknown(turn, name)
    if error != "UNKNOWN_TOPIC_ID" and not acknowledging.is_valid(batches, request.version, request.is_renew):
        error = "INVALID_REQUEST"
    if error or not batches:
        results[name] = AcknowledgedPartition(name, error or "NONE")
        return
    share = turn.share((request.group, name))
    if share is None or turn.log(name).leader != request.broker:
        results[name] = AcknowledgedPartition(name, "UNKNOWN_TOPIC_OR_PARTITION", NOT_HOSTED)
        return
    try:
        after, changes = acknowledging.acknowledge(share, request.member, batches, turn.rules(request.group))
    except acknowledging.RefusedError as refused:
        # What was begun is taken back at once; a release among it lets the next fetch look from the front.
        results[name] = AcknowledgedPartition(name, refused.error, refused.message)
    else:
        results[name] = AcknowledgedPartition(name)
        if changes:
            turn.write(
                after, changes, lambda error, message: results.update({name: turn.acknowledged(name, error, message)})
            )
        else:
            turn.put(after)
    fetching.look_again(turn, request.group, name)


def share_acknowledge(turn: Turn, request: ShareAcknowledge) -> None:
    """A member says what became of records."""
    error = _refused(turn, request)
    if error != "NONE":
        turn.effects.append(AcknowledgeAnswer(request.group, request.member, error))
        return
    assert request.group is not None
    session = turn.cluster.session(request.broker, request.group, request.member)
    assert session is not None
    if request.epoch != FINAL:
        turn.put_session(replace(session, epoch=next_epoch(session.epoch)))
    try:
        results = acknowledge_all(turn, request, request.partitions)
    except in_flight.BrokerFailedError:
        turn.effects.append(AcknowledgeAnswer(request.group, request.member, "UNKNOWN_SERVER_ERROR"))
        return
    turn.settle()
    if request.epoch == FINAL:
        release(turn, request.broker, request.group, request.member)
    lock_ms = turn.lock_duration_ms(request.group) if request.version >= 2 else None
    turn.effects.append(
        AcknowledgeAnswer(
            request.group, request.member, lock_ms=lock_ms, partitions=tuple(results[name] for name in sorted(results))
        )
    )


# The end of a session.


def release(turn: Turn, broker: int, group: str, member: str) -> None:
    """A session ends: all that its member holds in its partitions is given back."""
    session = turn.cluster.session(broker, group, member)
    if session is None:
        return
    _drop(turn, broker, group, member)
    for name in session.partitions:
        share = turn.share((group, name))
        if share is None or turn.log(name).leader != broker:
            continue
        after, changes = acknowledging.released(share, member, turn.rules(group))
        if changes:
            turn.write(after, changes)
        else:
            turn.put(after)
        fetching.look_again(turn, group, name)
    turn.settle()


def connection_closed(turn: Turn, event: ConnectionClosed) -> None:
    """A client is gone; while a fetch over its connection waits the broker does not see it."""
    turn.change(closing=(*turn.cluster.closing, (event.broker, event.connection)))


def see_closed(turn: Turn) -> None:
    """The broker sees which of the closed connections have no request that waits."""
    for broker, connection in turn.cluster.closing:
        waits = (each.request for each in turn.cluster.waiting)
        if any((each.broker, _connection(each)) == (broker, connection) for each in waits):
            continue
        turn.change(closing=tuple(each for each in turn.cluster.closing if each != (broker, connection)))
        _disconnected(turn, broker, connection)


def _disconnected(turn: Turn, broker: int, connection: str) -> None:
    found = next((each for each in turn.cluster.opened if (each.broker, each.connection) == (broker, connection)), None)
    if found is None:
        return
    turn.change(opened=tuple(each for each in turn.cluster.opened if each != found))
    if not found.is_stale:
        release(turn, broker, found.group, found.member)
    if not any(each.broker == broker and each.group == found.group for each in turn.cluster.sessions):
        for share in turn.cluster.share_partitions:
            if share.key[0] == found.group and turn.log(share.key[1]).leader == broker:
                turn.forget(share.key)


# Answers.


def _keep_results(turn: Turn, request: ShareFetch, results: dict[str, AcknowledgedPartition]) -> None:
    """What was acknowledged with a fetch is answered with it, now or when it has waited."""
    acknowledged = tuple(results[name] for name in sorted(results))
    turn.answered = [
        (replace(waiting, acknowledged=acknowledged) if waiting.request is request else waiting, found)
        for waiting, found in turn.answered
    ]
    turn.change(
        waiting=tuple(
            replace(each, acknowledged=acknowledged) if each.request is request and not each.acknowledged else each
            for each in turn.cluster.waiting
        )
    )


def answer_all(turn: Turn) -> None:
    """Answer the fetches that are done, in the order in which they were."""
    for waiting, found in turn.answered:
        turn.effects.append(_answer(turn, waiting, dict(found)))
    turn.answered = []


def _answer(turn: Turn, waiting: Waiting, found: dict[str, FetchedPartition]) -> FetchAnswer:
    request = waiting.request
    assert request.group is not None
    if waiting.refusal:
        return FetchAnswer(
            request.group, request.member, waiting.refusal, has_waited=waiting.has_waited,
            connection=_connection(request),
        )  # fmt: skip
    for name, error, message in waiting.errors:
        leader = turn.leader_of(name) if error in FORGETS[:1] and turn.cluster.log(name) is not None else None
        found[name] = FetchedPartition(name, error=error, message=message, leader=leader)
    session = turn.cluster.session(request.broker, request.group, request.member)
    if request.epoch not in (INITIAL, FINAL) and session is not None:
        if session.epoch != next_epoch(request.epoch):
            return FetchAnswer(
                request.group, request.member, "INVALID_SHARE_SESSION_EPOCH", has_waited=waiting.has_waited,
                connection=_connection(request),
            )  # fmt: skip
        found = _told(turn, session, found)
    if not turn.is_since_4_4 and any(not turn.cluster.indexes(topic_of(name)) for name in found):
        # The bytes of an answer are counted by topic, and this one has none.
        return FetchAnswer(
            request.group, request.member, "UNKNOWN_SERVER_ERROR", has_waited=waiting.has_waited,
            connection=_connection(request),
        )  # fmt: skip
    for each in waiting.acknowledged:
        known = found.get(each.partition, FetchedPartition(each.partition))
        found[each.partition] = replace(known, acknowledge_error=each.error, acknowledge_message=each.message)
    lock_ms = turn.lock_duration_ms(request.group)
    partitions = tuple(found[name] for name in sorted(found))
    return FetchAnswer(
        request.group, request.member, "NONE", "", lock_ms, partitions, waiting.has_waited, _connection(request)
    )


def _told(turn: Turn, session: Session, found: dict[str, FetchedPartition]) -> dict[str, FetchedPartition]:
    """What a session's answer has: records, errors, and what is new in it; what gave records goes to its end."""
    told: dict[str, FetchedPartition] = {}
    to_be_told, partitions = set(session.to_be_told), list(session.partitions)
    for name, each in found.items():
        if each.records or each.error != "NONE" or name in to_be_told:
            told[name] = each
        to_be_told.discard(name)
        if each.error != "NONE":
            to_be_told.add(name)
        if each.records and name in partitions:
            partitions.remove(name)
            partitions.append(name)
    turn.put_session(replace(session, partitions=tuple(partitions), to_be_told=frozenset(to_be_told)))
    return told


def restarted(turn: Turn, broker: int) -> None:
    """A broker has forgotten sessions, connections, fetches that waited, and all that was in memory alone."""
    led = {each.name for each in turn.cluster.logs if each.leader == broker}
    turn.change(
        sessions=tuple(each for each in turn.cluster.sessions if each.broker != broker),
        opened=tuple(each for each in turn.cluster.opened if each.broker != broker),
        closing=tuple(each for each in turn.cluster.closing if each[0] != broker),
        waiting=tuple(each for each in turn.cluster.waiting if each.request.broker != broker),
        share_partitions=tuple(each for each in turn.cluster.share_partitions if each.key[1] not in led),
    )
