"""The status of the replicas of a partition in few words: for the picture and for the text of a frame."""

from __future__ import annotations

from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import CUT_OFF, RUNNING, UNKNOWN, Partition, Remote, Replica


def ids_in_words(broker_ids: tuple[int, ...]) -> str:
    """Broker ids in a row, as Kafka's tools print an ISR.

    >>> ids_in_words((1, 3)), ids_in_words(())
    ('1, 3', 'empty')
    """
    return ", ".join(map(str, broker_ids)) or "empty"


def replica_status(state: Partition, broker_id: int) -> str:
    """What a replica is just now, in few words: leader, in the ISR or out of it, down, frozen, added or removed."""
    status = state.replica(broker_id).broker.status
    assignment = state.controller.assignment
    if broker_id not in assignment.replicas:
        return "no replica" if status == RUNNING else f"no replica, {status}"
    moves = {"adding": assignment.adding, "removing": assignment.removing}
    return ", ".join([_role(state, broker_id), *(name for name, ids in moves.items() if broker_id in ids)])


def _role(state: Partition, broker_id: int) -> str:
    replica, controller = state.replica(broker_id), state.controller
    status = replica.broker.status
    epoch = replica.broker.leader_epoch
    if status not in (RUNNING, CUT_OFF):
        return status if replica.leading is None else f"{status}, led epoch {epoch}"
    if replica.leading is not None and controller.leader != broker_id:
        return f"believes it leads, epoch {epoch}"
    if replica.leading is not None:
        return f"leader, epoch {epoch}"
    in_isr = "in the ISR" if broker_id in controller.isr else "out of the ISR"
    return f"{in_isr}, cut off" if status == CUT_OFF else in_isr


def waiting_in_words(state: Partition) -> str:
    """The requests that wait on leaders; empty if none does."""
    said = []
    for replica in state.replicas:
        said += [f"fetch of {each.broker_id} from {each.fetch_offset}" for each in replica.waiting.fetches]
        said += [f"request {each.request} for HW {each.required_offset}" for each in replica.waiting.produces]
    return "; ".join(said)


def remote_of(state: Partition, broker_id: int) -> Remote | None:
    """What the acting leader knows of a follower; None: of itself, or without a leader."""
    leader = state.leader
    return None if leader is None or not leader.remotes else leader.remotes[broker_id - 1]


def remote_in_words(remote: Remote) -> str:
    """A remote LEO: a question mark before the follower's first fetch."""
    return "?" if remote.log_end_offset == UNKNOWN else str(remote.log_end_offset)


def head_in_words(state: Partition) -> str:
    """What the controller has recorded, and what the leader has asked it for."""
    controller = state.controller
    leader = "no leader" if controller.leader is None else f"leader {controller.leader}"
    said = [leader, f"epoch {controller.leader_epoch}", f"ISR {ids_in_words(controller.isr)}"]
    said += [f"eligible {ids_in_words(controller.elr)}"] if controller.elr else []
    said += ["recovering"] if controller.is_recovering else []
    said += [f"fenced {ids_in_words(controller.fenced)}"] if controller.fenced else []
    said += [f"stopping {ids_in_words(controller.stopping)}"] if controller.stopping else []
    said += proposal_in_words(state.leader)
    return ", ".join(said)


def assignment_in_words(settings: Settings, state: Partition) -> str:
    """Which brokers hold a replica, and whom the controller prefers; empty where all do, and nothing has been moved.

    >>> from kafkalearn.replication import AlterPartitionReassignments, simulate
    >>> settings = Settings(replica_count=2, broker_count=3)
    >>> assignment_in_words(settings, simulate(settings, [AlterPartitionReassignments((3, 2))])[-1].state)
    'replicas 3, 2, 1; preferred 3; adding 3; removing 1'
    """
    replicas, adding, removing = state.controller.assignment
    is_moved = bool(settings.assignment) and replicas != settings.assignment
    if settings.broker_count == settings.replica_count and not (adding or removing or is_moved):
        return ""
    order = f"; preferred {replicas[0]}" if replicas and settings.assignment else ""
    moves = [f"{name} {ids_in_words(ids)}" for name, ids in (("adding", adding), ("removing", removing)) if ids]
    return "; ".join([f"replicas {ids_in_words(replicas)}{order}", *moves])


def proposal_in_words(leader: Replica | None) -> list[str]:
    """The ISR that a leader has asked for and not got yet, if there is one."""
    if leader is None or leader.leading is None or leader.leading.proposal is None:
        return []
    proposal = leader.leading.proposal
    return [f"{'refused' if proposal.is_refused else 'asked for'} ISR {ids_in_words(proposal.isr)}"]
