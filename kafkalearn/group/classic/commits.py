"""OffsetCommit: whether a group takes a commit, which keeps its member alive as a heartbeat does."""

from __future__ import annotations

from kafkalearn.group.classic.effects import NONE, CommitAnswered
from kafkalearn.group.classic.events import UNKNOWN, OffsetCommit
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group_states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE

FIRST_THAT_KNOWS_MISSING_GROUPS = 9  # the version of OffsetCommit


def commit(group: GroupUpdate, request: OffsetCommit) -> None:
    """Work on an OffsetCommit request.

    A client without a generation may write offsets for a group without members; one that is not there comes into
    being, and nothing but the offsets is written of it.

    References
    ----------
    Apache Kafka 4.3, ``OffsetMetadataManager.commitOffset`` and ``validateOffsetCommit``,
    ``ClassicGroup.validateOffsetCommit``; to 3.9 ``GroupCoordinator.doCommitOffsets``.
    """
    if not group.is_known and request.generation >= 0:
        knows = group.rules.is_java and request.version >= FIRST_THAT_KNOWS_MISSING_GROUPS
        return group.emit(CommitAnswered(request.client, "GROUP_ID_NOT_FOUND" if knows else "ILLEGAL_GENERATION"))
    group.is_known = True
    error = _error(group, request)
    if error == NONE and group.state in (STABLE, PREPARING):
        group.restart_timer(request.member_id)
    return group.emit(CommitAnswered(request.client, error))


def _error(group: GroupUpdate, request: OffsetCommit) -> str:
    if group.state == DEAD:
        return "COORDINATOR_NOT_AVAILABLE"
    if request.generation < 0 and group.state == EMPTY:
        return NONE
    if request.generation < 0 and request.member_id == UNKNOWN and request.instance_id is None:
        return "UNKNOWN_MEMBER_ID"
    error = group.error_of(request.member_id, request.instance_id)
    if error is None and request.generation != group.generation:
        error = "ILLEGAL_GENERATION"
    if error is None and group.state == COMPLETING:
        error = "REBALANCE_IN_PROGRESS"
    return NONE if error is None else error
