"""What happens to a replicated partition, in words: the event, what it led to, what changed by it."""

from __future__ import annotations

from kafkalearn.phrases import counted
from kafkalearn.replication.effects import (
    NONE,
    AlterPartitionSent,
    AssignmentChanged,
    BrokerHalted,
    ConsumerRead,
    Effect,
    ElectionAnswered,
    FetchAnswered,
    FetchHandled,
    IsrWritten,
    LeaderChanged,
    LogTruncated,
    NoReachableLeader,
    ProduceAnswered,
    ProduceParked,
    ReassignmentAnswered,
    RecordsDeleted,
    ReplicaDeleted,
)
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFenced,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    Consume,
    ControlledShutdownStarted,
    DeleteRecords,
    ElectLeaders,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    IsrSet,
    LeaderElected,
    LeaderImbalanceChecked,
    PowerLost,
    Produce,
    ReplicationEvent,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.state import Partition
from kafkalearn.trace import Frame
from kafkalearn.views.replication.replica_status import ids_in_words


def effects_in_words(frame: Frame[Partition, ReplicationEvent]) -> list[str]:
    """What the event led to, one short clause for each effect worth saying."""
    is_news = not isinstance(frame.event, LeaderElected)  # the event itself says who is elected
    effects = [each for each in frame.state.effects if is_news or not isinstance(each, LeaderChanged)]
    said = (_effect_in_words(effect, frame.state) for effect in effects)
    return [each for each in said if each]


def changes_in_words(state: Partition, before: Partition | None) -> list[str]:
    """How the ISR has changed, and the HW of a leader that still leads."""
    if before is None:
        return []
    said = []
    if before.controller.isr != state.controller.isr:
        said.append(f"the ISR is now {ids_in_words(state.controller.isr)}")
    is_same = before.controller.leader == state.controller.leader
    was, now = before.high_watermark, state.high_watermark
    if is_same and was is not None and now is not None and was != now:
        said.append(f"the HW {'rises' if now > was else 'falls'} from {was} to {now}")
    return said


def falls_in_words(state: Partition, before: Partition | None) -> list[str]:
    """The high watermarks of running followers that have fallen."""
    if before is None:
        return []
    pairs = enumerate(zip(before.replicas, state.replicas, strict=True), start=1)
    return [
        f"the HW of broker {broker_id} falls from {was.high_watermark} to {now.high_watermark}"
        for broker_id, (was, now) in pairs
        if now.high_watermark < was.high_watermark
        and now.is_running
        and broker_id != state.controller.leader
        and broker_id in state.controller.assignment.replicas
    ]


def event_in_words(frame: Frame[Partition, ReplicationEvent], before: Partition | None) -> str:
    """The event itself, as one clause."""
    event, state = frame.event, frame.state
    past = before if before is not None else state
    match event:
        case None:
            return start_in_words(state)
        case Produce():
            return _produce_in_words(event, past)
        case Fetch(id_):
            asked = [each.fetch_offset for each in state.effects if isinstance(each, FetchHandled)]
            return f"broker {id_} fetches from {asked[0] if asked else past.replica(id_).log_end_offset}"
        case Consume(offset):
            return f"a consumer reads from {offset}"
        case DeleteRecords(offset):
            return f"all records are to be deleted {'up to the HW' if offset < 0 else f'below offset {offset}'}"
        case TimePassed(ms):
            return f"{ms:,} ms pass"
        case IsrChecked():
            return "the leader looks for followers that lag"
        case AlterPartitionAnswered(error):
            return "the controller answers the leader" + ("" if error is None else f" with {error}")
        case LeaderImbalanceChecked():
            return "the controller looks for partitions that their preferred replica does not lead"
        case ElectLeaders(election_type):
            return f"{'a preferred' if election_type == 'preferred' else 'an unclean'} election is asked for"
        case AlterPartitionReassignments(replicas):
            return "the reassignment is to be cancelled" if replicas is None else _wanted_in_words(replicas)
        case HighWatermarkCheckpointed(id_):
            return f"broker {id_} writes its HW to disk: {state.replica(id_).log.checkpointed_high_watermark}"
        case LeaderElected(leader, isr):
            epoch = state.controller.leader_epoch
            return f"broker {leader} is made leader, epoch {epoch}, with the ISR {ids_in_words(isr)}"
        case IsrSet(isr):
            return f"the controller sets the ISR to {ids_in_words(isr)}"
    return _broker_in_words(event) or type(event).__name__


def start_in_words(state: Partition) -> str:
    """How a run begins."""
    controller = state.controller
    if controller.leader is None:
        return f"{counted(len(state.replicas), 'replica')}, no leader yet"
    others = tuple(each for each in controller.isr if each != controller.leader)
    follow = f"; {ids_in_words(others)} {'follows' if len(others) == 1 else 'follow'} and are in sync" if others else ""
    follow = follow.replace("follows and are", "follows and is")
    return f"broker {controller.leader} leads, epoch {controller.leader_epoch}{follow}"


def _wanted_in_words(replicas: tuple[int, ...]) -> str:
    return f"the partition is to be reassigned to {ids_in_words(replicas) if replicas else 'no broker'}"


def _produce_in_words(event: Produce, before: Partition) -> str:
    count = len(event.values) or event.record_count
    target = before.controller.leader if event.to_broker is None else event.to_broker
    come = f"{counted(count, 'record')} {'comes' if count == 1 else 'come'}"
    return f"{come} to {'nobody' if target is None else f'broker {target}'}, acks={event.acks}"


def _broker_in_words(event: ReplicationEvent) -> str:
    """What happens to one broker."""
    said = {
        BrokerCrashed: "crashes; its disk keeps what it has",
        BrokerStopped: "is stopped cleanly",
        BrokerRestarted: "starts again",
        BrokerFrozen: "stands still",
        BrokerThawed: "goes on where it stood",
        BrokerReconnected: "is connected to the controller again",
        BrokerFenced: "no longer counts as alive",
        BrokerRegistered: "starts again and registers; it is fenced until it has caught up with the metadata",
        BrokerUnfenced: "has caught up with the metadata, and counts as alive",
        ControlledShutdownStarted: "asks to be stopped",
        SessionExpired: "has been silent too long: the controller fences it",
    }
    if isinstance(event, PowerLost):
        return f"broker {event.broker_id} loses power, and its disk all from offset {event.flushed_to} on"
    for kind, words in said.items():
        if isinstance(event, kind):
            return f"broker {event.broker_id} {words}"
    return ""


def _effect_in_words(effect: Effect, state: Partition) -> str:
    match effect:
        case FetchHandled(_, broker_id, _, is_parked):
            return f"the fetch of broker {broker_id} waits: there is nothing yet" if is_parked else ""
        case FetchAnswered(broker_id):
            return _answer_in_words(effect, f"broker {broker_id}")
        case ProduceParked(request):
            return f"request {request} waits{_until(state, request)}"
        case ProduceAnswered(request, error, offset):
            return f"request {request} is answered: {f'written at offset {offset}' if error == NONE else error}"
        case NoReachableLeader():
            return "no leader can be reached"
        case ConsumerRead(records, error):
            got = offsets_in_words([offset for offset, _ in records]) if error == NONE else error
            return f"the consumer gets {got}"
        case RecordsDeleted(log_start_offset, error):
            return f"the log starts at {log_start_offset}" + ("" if error == NONE else f": {error}")
        case AlterPartitionSent(isr):
            return f"the leader asks the controller for the ISR {ids_in_words(isr)}"
        case IsrWritten(isr):
            return f"the leader writes the ISR {ids_in_words(isr)}"
        case LeaderChanged(leader, epoch, is_clean):
            if leader is None:
                return "nobody can lead"
            return f"broker {leader} leads, epoch {epoch}" + ("" if is_clean else ": an unclean election")
        case AssignmentChanged(replicas, adding, removing):
            moves = [f"{name} {ids_in_words(ids)}" for name, ids in (("adding", adding), ("removing", removing)) if ids]
            return f"the replicas are now {ids_in_words(replicas)}" + (f": {', '.join(moves)}" if moves else "")
        case ReassignmentAnswered(error):
            return f"the controller answers {'that this is recorded' if error == NONE else error}"
        case ElectionAnswered(error):
            return f"the controller answers {error}" if error != NONE else ""
        case ReplicaDeleted(broker_id):
            return f"broker {broker_id} deletes its replica"
        case LogTruncated(broker_id, from_offset, to_offset):
            cut = f"cuts its log from {from_offset} to {to_offset}" if effect.was_cut else "has nothing to cut"
            return f"broker {broker_id} {cut}"
        case BrokerHalted(broker_id):
            return f"broker {broker_id} is ahead of its leader, and halts"
    return ""


def _answer_in_words(answer: FetchAnswered, who: str) -> str:
    if answer.diverging is not None:
        epoch, end = answer.diverging
        cut = f"cuts its log to {answer.truncated_to}" if answer.was_cut else "has nothing to cut"
        return f"{who} learns that epoch {epoch} ends at {end}, and {cut}"
    if answer.error != NONE:
        return f"{who} gets {answer.error}{_cut_in_words(answer)}"
    if not answer.records:
        return f"{who} gets an empty answer with HW {answer.high_watermark}"
    offsets = [offset for offset, _ in answer.records]
    return f"{who} gets {offsets_in_words(offsets)} and HW {answer.high_watermark}"


def _cut_in_words(answer: FetchAnswered) -> str:
    """Behind an error."""
    if answer.truncated_to is None:
        return ""
    is_same = answer.truncated_to == answer.truncated_from
    return "; it has nothing to cut" if is_same else f"; its log now ends at {answer.truncated_to}"


def _until(state: Partition, request: int) -> str:
    waiting = (each for replica in state.replicas for each in replica.waiting.produces)
    needed = [each.required_offset for each in waiting if each.request == request]
    return f" for HW {needed[0]}" if needed else ""


def offsets_in_words(offsets: list[int]) -> str:
    """Neighbouring offsets in words.

    >>> offsets_in_words([]), offsets_in_words([4]), offsets_in_words([4, 5, 6])
    ('nothing', 'offset 4', 'offsets 4 to 6')
    """
    if not offsets:
        return "nothing"
    return f"offset {offsets[0]}" if len(offsets) == 1 else f"offsets {offsets[0]} to {offsets[-1]}"
