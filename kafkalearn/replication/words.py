"""A replicated partition in words: a few sentences about a frame, and the whole of it as plain text.

First the parts of both: the status of each replica and of the partition in few words, then what an event is, what it
led to and what has changed by it, one clause for each.
"""

from __future__ import annotations

from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.promises import broken_in_words
from kafkalearn.base.trace import Frame
from kafkalearn.replication import events
from kafkalearn.replication.events import NONE, Effect, FetchAnswered, ReplicationEvent
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import broken
from kafkalearn.replication.state import CUT_OFF, DOWN, RUNNING, UNKNOWN, Log, Partition, Remote, Replica


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
    if controller.is_recovering:
        leader += f"{', the last' if controller.leader is None else ''} by an unclean election"
    said = [leader, f"epoch {controller.leader_epoch}", f"ISR {ids_in_words(controller.isr)}"]
    said += [f"eligible {ids_in_words(controller.elr)}"] if controller.elr else []
    for name, ids in (("fenced", controller.fenced), ("stopping", controller.stopping)):
        said += [f"{'broker' if len(ids) == 1 else 'brokers'} {ids_in_words(ids)} {name}"] if ids else []
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


# An event, what it led to and what changed by it, each as a clause.


def effects_in_words(frame: Frame[Partition, ReplicationEvent]) -> list[str]:
    """What the event led to, one short clause for each effect worth saying."""
    is_news = not isinstance(frame.event, events.LeaderElected)  # the event itself says who is elected
    effects = [each for each in frame.state.effects if is_news or not isinstance(each, events.LeaderChanged)]
    last = next((each for each in reversed(effects) if isinstance(each, events.LeaderChanged)), None)
    said = (
        "until it has registered, nobody leads"  # a broker that starts is fenced first, and leads once it is not
        if isinstance(effect, events.LeaderChanged) and effect is not last
        else _effect_in_words(effect, frame.state)
        for effect in effects
    )
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
    """The high watermarks of followers that have fallen, and of brokers that are gone: what their disks have."""
    if before is None:
        return []
    said = []
    for broker_id, (was, now) in enumerate(zip(before.replicas, state.replicas, strict=True), start=1):
        if now.high_watermark >= was.high_watermark:
            continue
        if was.is_running and now.broker.status == DOWN:
            in_memory, on_disk = was.high_watermark, now.high_watermark
            said.append(f"the HW of broker {broker_id} was {in_memory} in memory, and is {on_disk} on its disk")
        elif (
            now.is_running
            and broker_id != state.controller.leader
            and broker_id in state.controller.assignment.replicas
        ):
            said.append(f"the HW of broker {broker_id} falls from {was.high_watermark} to {now.high_watermark}")
    return said


def event_in_words(frame: Frame[Partition, ReplicationEvent], before: Partition | None) -> str:
    """The event itself, as one clause."""
    event, state = frame.event, frame.state
    past = state if before is None else before
    match event:
        case None:
            return start_in_words(state)
        case events.Produce():
            return _produce_in_words(event, past)
        case events.Fetch(id_):
            asked = [each.fetch_offset for each in state.effects if isinstance(each, events.FetchHandled)]
            return f"broker {id_} fetches from {asked[0] if asked else past.replica(id_).log_end_offset}"
        case events.DeleteRecords(offset):
            return f"all records are to be deleted {'up to the HW' if offset < 0 else f'below offset {offset}'}"
        case events.AlterPartitionAnswered(error):
            return "the controller answers the leader" + ("" if error is None else f" with {error}")
        case events.ElectLeaders(election_type):
            return f"{'a preferred' if election_type == 'preferred' else 'an unclean'} election is asked for"
        case events.AlterPartitionReassignments(replicas):
            if replicas is None:
                return "the reassignment is to be cancelled"
            return f"the partition is to be reassigned to {ids_in_words(replicas) if replicas else 'no broker'}"
        case events.BrokerCrashed(id_):
            return f"broker {id_} crashes; its disk keeps what it has"
        case events.HighWatermarkCheckpointed(id_):
            return f"broker {id_} writes its HW to disk: {state.replica(id_).log.checkpointed_high_watermark}"
        case events.LeaderElected(leader, isr):
            epoch = state.controller.leader_epoch
            return f"broker {leader} is made leader, epoch {epoch}, with the ISR {ids_in_words(isr)}"
        case events.IsrSet(isr):
            return f"the controller sets the ISR to {ids_in_words(isr)}"
    return in_words(event)


def start_in_words(state: Partition) -> str:
    """How a run begins."""
    controller = state.controller
    if controller.leader is None:
        return f"{counted(len(state.replicas), 'replica')}, no leader yet"
    leads = f"broker {controller.leader} leads, epoch {controller.leader_epoch}"
    others = tuple(each for each in controller.isr if each != controller.leader)
    if not others:
        return leads
    return f"{leads}; {ids_in_words(others)} {'follows and is' if len(others) == 1 else 'follow and are'} in sync"


def _produce_in_words(event: events.Produce, before: Partition) -> str:
    count = len(event.values) or event.record_count
    target = before.controller.leader if event.to_broker is None else event.to_broker
    come = f"{counted(count, 'record')} {'comes' if count == 1 else 'come'}"
    return f"{come} to {'nobody' if target is None else f'broker {target}'}, acks={event.acks}"


def _effect_in_words(effect: Effect, state: Partition) -> str:
    match effect:
        case events.FetchHandled(_, broker_id, _, is_parked):
            return f"the fetch of broker {broker_id} waits: there is nothing yet" if is_parked else ""
        case FetchAnswered(broker_id):
            return _answer_in_words(effect, f"broker {broker_id}")
        case events.ProduceParked(request):
            return f"request {request} waits{_until(state, request)}"
        case events.ProduceAnswered(request, error, offset):
            return f"request {request} is answered: {f'written at offset {offset}' if error == NONE else error}"
        case events.ConsumerRead(records, error):
            got = offsets_in_words([offset for offset, _ in records]) if error == NONE else error
            return f"the consumer gets {got}"
        case events.RecordsDeleted(log_start_offset, error):
            return f"the log starts at {log_start_offset}" + ("" if error == NONE else f": {error}")
        case events.AlterPartitionSent(isr):
            return f"the leader asks the controller for the ISR {ids_in_words(isr)}"
        case events.IsrWritten(isr):
            return f"the leader writes the ISR {ids_in_words(isr)}"
        case events.LeaderChanged(leader, epoch, is_clean):
            if leader is None:
                return "nobody can lead"
            return f"broker {leader} leads, epoch {epoch}" + ("" if is_clean else ": an unclean election")
        case events.AssignmentChanged(replicas, adding, removing):
            moves = [f"{name} {ids_in_words(ids)}" for name, ids in (("adding", adding), ("removing", removing)) if ids]
            return f"the replicas are now {ids_in_words(replicas)}" + (f": {', '.join(moves)}" if moves else "")
        case events.ReassignmentAnswered(error):
            return f"the controller answers {'that this is recorded' if error == NONE else error}"
        case events.ElectionAnswered(error):
            return f"the controller answers {error}" if error != NONE else ""
        case events.LogTruncated(broker_id, from_offset, to_offset):
            cut = f"cuts its log from {from_offset} to {to_offset}" if effect.was_cut else "has nothing to cut"
            return f"broker {broker_id} {cut}"
    return in_words(effect)


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


# The sentences about a frame, and the whole of it as plain text.

MOST_RECORDS = 20


def describe_replication(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> str:
    """A few short sentences about a frame of `kafkalearn.replication`: the event, and what it led to.

    A broken promise has its name there. With `before` the text says what has changed.

    >>> from kafkalearn.replication import Fetch, Produce, simulate
    >>> settings = Settings(replica_count=2)
    >>> trace = simulate(settings, [Produce(2, acks=1), Fetch(2), Fetch(2)])
    >>> for frame, earlier in zip(trace[1:], trace):
    ...     print(describe_replication(settings, frame, earlier))
    2 records come to broker 1, acks=1. Request 1 is answered: written at offset 0.
    Broker 2 fetches from 0. Broker 2 gets offsets 0 to 1 and HW 0.
    Broker 2 fetches from 2. The HW rises from 0 to 2. The fetch of broker 2 waits: there is nothing yet.
    """
    state, earlier = frame.state, None if before is None else before.state
    said = [
        event_in_words(frame, earlier),
        *changes_in_words(state, earlier),
        *effects_in_words(frame),
        *falls_in_words(state, earlier),
        *_promises_in_words(settings, state, earlier),
    ]
    return " ".join(f"{capitalised(each)}." for each in said)


def _promises_in_words(settings: Settings, state: Partition, before: Partition | None) -> list[str]:
    """Which promises are broken now, and which were so before."""
    known = () if before is None else broken(settings, before)
    wrong = broken(settings, state)
    new = [each for each in wrong if each not in known]
    old = [each for each in wrong if each in known]
    return [broken_in_words(names, is_old) for is_old, names in ((False, new), (True, old)) if names]


def replication_text(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> str:
    """A frame of `kafkalearn.replication` as a few lines of text; ``|`` in a log is its high watermark.

    >>> from kafkalearn.replication import Fetch, Produce, simulate
    >>> settings = Settings(replica_count=2)
    >>> trace = simulate(settings, [Produce(2), Fetch(2), Fetch(2), Produce()])
    >>> print(replication_text(settings, trace[-1], trace[-2]))
    1 record comes to broker 1, acks=all. Request 2 waits for HW 3. Broker 2 gets offset 2 and HW 2.
    leader 1, epoch 0, ISR 1, 2
      1 leader, epoch 0  LEO 3, HW 2           0:m1 1:m2 | 2:m3
      2 in the ISR       LEO 3, HW 2, known 2  0:m1 1:m2 | 2:m3
    waits: request 2 for HW 3
    """
    state = frame.state
    names = _padded([replica_status(state, id_) for id_ in settings.broker_ids])
    marks = _padded([_marks(state, id_) for id_ in settings.broker_ids])
    logs = [log_in_words(replica.log) for replica in state.replicas]
    rows = [f"  {id_} {'  '.join(parts)}" for id_, *parts in zip(settings.broker_ids, names, marks, logs, strict=True)]
    waits, wrong = waiting_in_words(state), broken(settings, state)
    tail = [f"waits: {waits}"] if waits else []
    tail += [capitalised(broken_in_words(wrong))] if wrong else []
    assignment = assignment_in_words(settings, state)
    head = [describe_replication(settings, frame, before), head_in_words(state), *([assignment] if assignment else [])]
    lines = [*head, *rows, *tail]
    return "\n".join(line.rstrip() for line in lines)


def _padded(words: list[str]) -> list[str]:
    return [each.ljust(max(map(len, words))) for each in words]


def _marks(state: Partition, broker_id: int) -> str:
    replica, remote = state.replica(broker_id), remote_of(state, broker_id)
    known = "" if remote is None else f", known {remote_in_words(remote)}"
    return f"LEO {replica.log_end_offset}, HW {replica.high_watermark}{known}"


def log_in_words(log: Log) -> str:
    """A log with its high watermark as a bar; of a long one the newest records."""
    first = max(log.log_start_offset, log.first_offset, log.log_end_offset - MOST_RECORDS)
    cells = ["..."] if first > log.log_start_offset else []
    for offset in range(first, log.log_end_offset):
        cells += ["|"] if offset == log.high_watermark else []
        cells.append(f"{offset}:{log.records[offset - log.first_offset].value}")
    cells += ["|"] if log.high_watermark == log.log_end_offset else []
    return " ".join(cells)
