"""The offsets topic on its brokers in words: a sentence or two about a frame, and the whole of it as text."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.records.codec import decode
from kafkalearn.offsets.records.record_types import OFFSET_TYPES
from kafkalearn.offsets.replicated.effects import (
    Answered,
    Appended,
    Deferred,
    Elected,
    Loaded,
    NotReached,
    ReplicatedEffect,
    Resigned,
)
from kafkalearn.offsets.replicated.events import ReplicatedStoreEvent, SentTo
from kafkalearn.offsets.replicated.state import ReplicatedStore
from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.events import (
    Commit,
    DeleteGroup,
    DeleteOffset,
    Fetch,
    Load,
    Produce,
    StoreEvent,
    StoreGroup,
    Sweep,
)
from kafkalearn.offsets.store.state import FAILED, OWNED, Entry
from kafkalearn.phrases import capitalised, counted, listed
from kafkalearn.replication import events as replication
from kafkalearn.replication.effects import FetchAnswered
from kafkalearn.trace import Frame
from kafkalearn.views.offsets.store import entry_text

DAY_MS = 86_400_000


def describe_commit_path(
    frame: Frame[ReplicatedStore, ReplicatedStoreEvent],
    before: Frame[ReplicatedStore, ReplicatedStoreEvent] | None = None,
) -> str:
    """What happened, what was written or copied, who was answered.

    >>> from kafkalearn.offsets.replicated import Settings, simulate, stories
    >>> trace = simulate(Settings(), stories.commit_path()[:2])
    >>> describe_commit_path(trace[2], trace[1])
    'A tool asks for the offset of billing for orders-0. The answer: no offset (-1).'
    """
    state = frame.state
    if frame.event is None:
        leader = state.partition.controller.leader
        return f"Broker {leader} coordinates the groups of this partition. Nothing has happened yet."
    words = [f"{capitalised(event_words(frame.event))}."]
    words += [each for each in map(_effect_words, state.effects) if each]
    if before is not None:
        words += _moved(state, before.state)
    return " ".join(words)


def event_words(event: ReplicatedStoreEvent | None) -> str:
    """What happens, in a few words."""
    match event:
        case None:
            return "nothing has happened yet"
        case SentTo(broker_id, request):
            return f"{event_words(request)}, at broker {broker_id}"
        case replication.Fetch(broker_id):
            return f"follower {broker_id} fetches"
        case replication.TimePassed(ms):
            return f"{ms:,} ms pass"
        case replication.BrokerCrashed(broker_id):
            return f"broker {broker_id} is killed"
        case replication.PowerLost(broker_id):
            return f"broker {broker_id} loses its power"
        case replication.BrokerStopped(broker_id):
            return f"broker {broker_id} stops, and gives its leadership away first"
        case replication.BrokerRestarted(broker_id):
            return f"broker {broker_id} starts again"
        case replication.BrokerFrozen(broker_id):
            return f"broker {broker_id} stands still"
        case replication.BrokerThawed(broker_id):
            return f"broker {broker_id} goes on, and has not heard the news"
        case replication.BrokerReconnected(broker_id):
            return f"broker {broker_id} hears from the controller again"
        case replication.SessionExpired(broker_id):
            return f"the controller gives broker {broker_id} up"
        case Sweep(now_ms):
            return f"the sweep of day {now_ms // DAY_MS} looks for expired offsets"
        case Load(count):
            return "the new coordinator reads " + ("what is left" if count is None else counted(count, "record"))
        case Produce():
            return "a stranger writes a record of his own into the topic"
        case Fetch(requires_stable=stable):
            return f"a {'consumer' if stable else 'tool'} asks for {_what(event)}"
        case Commit():
            return f"group {event.group_id} commits {event.offset} for {event.topic}-{event.partition}"
        case StoreGroup():
            members = counted(len(event.members), "member")
            return f"a rebalance of {event.group_id} ends with {members if event.members else 'no member'}"
        case DeleteGroup(group_id):
            return f"an admin deletes the group {group_id}"
        case DeleteOffset():
            return f"an admin deletes {_what(event)}"
    return type(event).__name__


def _what(event: Fetch | DeleteOffset) -> str:
    return f"the offset of {event.group_id} for {event.topic}-{event.partition}"


def request_words(request: StoreEvent) -> str:
    """A request by a short name."""
    match request:
        case Commit():
            return f"{request.group_id}'s commit of {request.offset}"
        case Fetch(requires_stable=stable):
            return "the consumer's fetch" if stable else "the tool's fetch"
        case StoreGroup():
            return f"{request.group_id}'s rebalance"
        case DeleteGroup() | DeleteOffset():
            return "the admin's request"
    return "the stranger's record"


def answer_words(answer: Answer) -> str:
    """What an answer says.

    >>> answer_words(Answer()), answer_words(Answer(offset=7)), answer_words(Answer(offset=-1))
    ('done', 'offset 7', 'no offset (-1)')
    """
    if answer.error != "NONE":
        return answer.error
    if answer.offset is None:
        return "done"
    return "no offset (-1)" if answer.offset < 0 else f"offset {answer.offset}"


def entry_lines(entry: Entry) -> tuple[str, str]:
    """A record of the log in two short lines: of which group, and what it says.

    >>> from kafkalearn.offsets.replicated import Settings, simulate, stories
    >>> [entry_lines(entry) for entry in simulate(Settings(), stories.group_with_an_offset())[-1].state.entries]
    [('billing', '1 member'), ('billing', 'orders-0: 7')]
    """
    try:
        record = decode(entry.key, entry.value)
    except KafkaLearnError:
        return "foreign", "cannot be read"
    if record.type.number in OFFSET_TYPES:
        place = f"{record.key['topic']}-{record.key['partition']}"
        return record.group, f"{place}: {'gone' if record.is_tombstone else record.value['offset']}"
    if record.is_tombstone:
        return record.group, "group: gone"
    members = record.value.get("members") if isinstance(record.value, Mapping) else None
    return record.group, "group" if members is None else counted(len(members), "member")


def _effect_words(effect: ReplicatedEffect) -> str:
    match effect:
        case Appended(broker_id, offsets):
            places = f"offset{'s' if len(offsets) > 1 else ''} {listed(offsets)}"
            return f"Broker {broker_id} writes {places} of its log."
        case Deferred(_, request, end_offset):
            return f"The answer to {request_words(request)} waits until the HW is {end_offset}."
        case Answered(_, request, answer):
            if isinstance(request, Fetch) and not request.requires_stable:
                return f"The answer: {answer_words(answer)}."
            return f"Answer to {request_words(request)}: {answer_words(answer)}."
        case NotReached(_, request):
            return f"No answer to {request_words(request)}: the connection breaks."
        case Elected(broker_id, count):
            return f"Broker {broker_id} is elected: it has {counted(count, 'record')} to load."
        case Loaded(broker_id, count, status):
            return _loaded(broker_id, count, status)
        case Resigned(broker_id):
            return f"Broker {broker_id} coordinates no longer: its memory is empty."
        case FetchAnswered(broker_id, records=records) if records:
            return f"Broker {broker_id} gets {counted(len(records), 'record')}."
    return ""


def _loaded(broker_id: int, count: int, status: str) -> str:
    if status == FAILED:
        return f"Broker {broker_id} cannot read a record: the load has failed, and it gives the partition up."
    done = "it has all of it in memory, and coordinates now" if status == OWNED else "there is more to read"
    return f"Broker {broker_id} has read {counted(count, 'record')}: {done}."


def _moved(state: ReplicatedStore, old: ReplicatedStore) -> list[str]:
    """The high watermark of the leader, if it has moved."""
    leader = state.partition.controller.leader
    if leader is None or leader != old.partition.controller.leader or state.coordinator(leader) is None:
        return []
    high_watermark = state.partition.replica(leader).high_watermark
    has_moved = high_watermark != old.partition.replica(leader).high_watermark
    return [f"The HW is {high_watermark} now."] if has_moved else []


def commit_path_text(
    frame: Frame[ReplicatedStore, ReplicatedStoreEvent],
    before: Frame[ReplicatedStore, ReplicatedStoreEvent] | None = None,
) -> str:
    """The logs of all brokers, and what happened, in plain text."""
    lines = [describe_commit_path(frame, before)]
    for broker_id in range(1, len(frame.state.coordinators) + 1):
        high_watermark = frame.state.partition.replica(broker_id).high_watermark
        lines.append(f"broker {broker_id}, {frame.state.status(broker_id)}, HW {high_watermark}")
        lines += [f"  {entry_text(offset, entry)}" for offset, entry in enumerate(frame.state.log(broker_id))]
    return "\n".join(lines)
