"""What the coordinator of a classic group promises in every state."""

from __future__ import annotations

from kafkalearn.group.classic.state import Group
from kafkalearn.group.classic.transitions import COMPLETING, DEAD, EMPTY, PREPARING, STABLE, STATES


def check(group: Group, before: Group | None = None) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one.

    Parameters
    ----------
    group : Group
        The state to be judged.
    before : Group, optional
        The state one event earlier: some promises are about the two together.
    """
    ids = [member.member_id for member in group.members]
    instances = [member.instance_id for member in group.members if member.is_static]
    assert group.state in STATES, "the state is one of Kafka's"
    assert len(set(ids)) == len(ids), "a member id belongs to one member"
    assert len(set(instances)) == len(instances), "an instance id belongs to one member"
    assert not {member_id for member_id, _, _ in group.pending} & set(ids), "an id in use is not pending"
    assert (group.leader in ids) if ids else (group.leader is None), "a group with members has one leader among them"
    if group.state in (EMPTY, DEAD):
        assert not ids, "an empty group has no members"
        assert group.join_deadline_ms is None, "an empty group waits for nobody"
    if group.state in (STABLE, COMPLETING):
        assert ids, "a generation has members"
        assert group.protocol is not None, "a generation has a protocol"
        assert all(group.protocol in member.protocol_names for member in group.members), "all know the protocol"
        assert all(member.join_waiter is None for member in group.members), "every join has its answer"
    if group.state == PREPARING:
        assert group.join_deadline_ms is not None, "the join phase has an end"
    if group.state != COMPLETING:
        assert all(member.sync_waiter is None for member in group.members), "nobody waits for an assignment"
    assert (group.sync_deadline_ms is None) or group.state in (STABLE, COMPLETING), "syncs are awaited in a generation"
    for member in group.members:
        is_waiting = member.join_waiter is not None or member.sync_waiter is not None
        assert member.expires_ms is None or member.expires_ms > group.now_ms, "whose session is over is gone"
        assert is_waiting or member.expires_ms is not None, "a member is waited for, or its session has an end"
    if before is not None and before.is_known and before.state != DEAD:
        assert group.generation - before.generation >= 0, "the generation never falls"
        assert group.now_ms >= before.now_ms, "time goes on"
