"""The coordinator's store, drawn and in words: the log of a partition, and the groups that are in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.offsets.records import GROUP_TYPE, OFFSET_TYPES, decode
from kafkalearn.offsets.replay import CLASSIC, Group
from kafkalearn.offsets.store import model
from kafkalearn.offsets.store.model import Answer, Entry, Store, StoreEvent

LEFT, ROW_HEIGHT, MOST_ROWS = 25, 38, 9
CACHE_LEFT = 590


def draw_store(frame: Frame[Store, StoreEvent], before: Frame[Store, StoreEvent] | None = None) -> Picture:
    """One moment of the store: its log on the left, newest last; what the coordinator has in memory on the right."""
    store, old = frame.state, before.state if before else Store()
    first = max(0, len(store.log) - MOST_ROWS)
    rows = [
        _entry(_words(store, offset), store.log[offset], 118 + (offset - first) * ROW_HEIGHT, offset >= len(old.log))
        for offset in range(first, len(store.log))
    ]
    bottom = 118 + MOST_ROWS * ROW_HEIGHT
    return picture(
        bottom + 20,
        svg.text(LEFT, 38, _event_words(frame.event), svg.TITLE, bold=True),
        svg.text(LEFT, 86, "the log: offset, key, value", svg.BODY, colour=svg.MUTED),
        svg.text(CACHE_LEFT, 86, f"in the coordinator's memory ({store.status})", svg.BODY, colour=svg.MUTED),
        svg.line(CACHE_LEFT - 18, 66, CACHE_LEFT - 18, bottom, svg.FAINT, svg.HAIR),
        *rows,
        *_cache(store, 118),
        *_answers(store.effects, bottom - 8),
        label=describe_store(frame, before),
    )


def _words(store: Store, offset: int) -> str:
    is_missing = offset in store.in_flight or offset in store.unreplicated
    return entry_text(offset, store.log[offset]) + (", not replicated" if is_missing else "")


def _entry(words: str, entry: Entry, top: float, is_new: bool) -> str:
    is_tombstone = entry.value is None
    box = (LEFT, top, CACHE_LEFT - 18 - LEFT - 18, ROW_HEIGHT - 6)
    fill = svg.TOMBSTONE if is_tombstone else svg.Fill(svg.READ, "")
    return "\n".join(
        [
            svg.filled(fill, box),
            svg.rect(*box, **svg.edge(is_new)),
            svg.text(LEFT + 11, top + 22, words, svg.SMALL + 1),
        ]
    )


def _cache(store: Store, top: float) -> list[str]:
    if not store.groups:
        return [svg.text(CACHE_LEFT, top + 22, "no group", svg.BODY, colour=svg.MUTED)]
    parts = []
    for group in store.groups:
        words = f"{group.group_id}: {group.state}, {counted(len(group.members), 'member')}"
        parts.append(svg.text(CACHE_LEFT, top + 22, words, svg.BODY, bold=True))
        top += 32
        if group.kind != CLASSIC:
            parts.append(svg.text(CACHE_LEFT + 18, top + 18, f"a {group.kind} group", svg.BODY, colour=svg.MUTED))
            top += 28
        for each in group.offsets:
            parts.append(svg.text(CACHE_LEFT + 18, top + 20, f"{each.at}: {each.offset}", svg.BODY))
            top += 28
        top += 10
    return parts


def _answers(answers: Sequence[Answer], bottom: float) -> list[str]:
    """What the last request was answered, or every commit that waited; the last of them at the bottom."""
    lines = [f"answer: {_answer_words(each)}" for each in answers]
    return [
        svg.text(CACHE_LEFT, bottom - 26 * (len(lines) - 1 - number), words, svg.BODY, colour=svg.MARK, bold=True)
        for number, words in enumerate(lines)
    ]


def _answer_words(answer: Answer) -> str:
    return answer.error if answer.offset is None else f"{answer.error}, offset {answer.offset}"


def _name(group: Group) -> str:
    """The group id; with the kind, unless it is a classic group."""
    return group.group_id if group.kind == CLASSIC else f"{group.group_id} ({group.kind} group)"


def entry_text(offset: int, entry: Entry) -> str:
    """A record of the log in a line.

    >>> entry_text(7, Entry(bytes.fromhex("0002000a746573742d67726f7570"), None))
    '7  group test-group: tombstone'
    """
    if entry.marker is not None:
        return f"{offset}  {entry.marker} of producer {entry.producer_id}"
    try:
        record = decode(entry.key or b"", entry.value)  # without a key it is read as little as with an empty one
    except KafkaLearnError:
        return f"{offset}  cannot be read"
    values: Mapping[str, Any] = record.fields
    if record.type.number in OFFSET_TYPES:
        what = f"{record.group}, {record.key['topic']}-{record.key['partition']}"
        said = "tombstone" if record.is_tombstone else f"offset {values['offset']}"
    elif record.type.number == GROUP_TYPE:
        what = f"group {record.group}"
        said = "tombstone" if record.is_tombstone else counted(len(values["members"]), "member")
    else:
        what = f"{record.group}, record type {record.type.number}"
        said = "tombstone" if record.is_tombstone else _of_newer(values)
    return f"{offset}  {what}: {said}"


def _of_newer(value: Mapping[str, object]) -> str:
    """What a record of a group of a newer protocol says, in a word or two."""
    epochs = (name for name in ("epoch", "assignmentEpoch", "memberEpoch") if name in value)
    name = next(epochs, None)
    return "written" if name is None else f"epoch {value[name]}"


def _time(now_ms: int) -> str:
    return datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%a %d %H:%M")


def _event_words(event: StoreEvent | None) -> str:
    match event:
        case None:
            return "Nothing has happened yet"
        case model.Commit():
            return f"{_time(event.now_ms)}  {event.group_id} commits {event.offset} for {event.topic}-{event.partition}"
        case model.StoreGroup():
            change = "a rebalance ends" if event.kind == CLASSIC else f"the {event.kind} group changes"
            has_members = f"{change}, {counted(len(event.members), 'member')}"
            words = has_members if event.members else "the last member has left"
            return f"{_time(event.now_ms)}  {event.group_id}: {words}"
        case model.Sweep():
            return f"{_time(event.now_ms)}  the sweep looks for expired offsets"
        case model.Fetch():
            return f"{event.group_id} asks for its offset of {event.topic}-{event.partition}"
        case model.DeleteGroup():
            return f"An admin deletes {event.group_id}"
        case model.Resign():
            return "The broker loses the partition"
        case model.Elect():
            return "The broker becomes leader of the partition"
        case model.Load():
            return "It reads the log"
        case model.LoadBuffer():
            return "It reads the log as far as its buffer reaches"
        case model.LeaderCrashed():
            return "The leader dies; a replica takes over"
        case model.Replicated():
            return "The replicas have all that was written"
        case model.TimeReached():
            return f"{_time(event.now_ms)}  time passes"
    return type(event).__name__


def describe_store(frame: Frame[Store, StoreEvent], before: Frame[Store, StoreEvent] | None = None) -> str:
    """What happened, what was written, what the coordinator knows now; in a sentence or two."""
    store = frame.state
    written = store.log[len(before.state.log) if before else 0 :]
    tombstones = sum(entry.value is None and entry.marker is None for entry in written)
    words = [f"{_event_words(frame.event)}."]
    if frame.event is not None:
        of_them = f", {tombstones} of them tombstones" if tombstones else ""
        words.append(f"{counted(len(written), 'record')} written{of_them}.")
    words += [f"Answer: {_answer_words(answer)}." for answer in store.effects if answer != Answer()]
    groups = [f"{_name(each)} {each.state} with {counted(len(each.offsets), 'offset')}" for each in store.groups]
    return " ".join([*words, f"In memory: {', '.join(groups) or 'no group'}."])


def store_text(frame: Frame[Store, StoreEvent], before: Frame[Store, StoreEvent] | None = None) -> str:
    """The log and what is in memory, in plain text."""
    log = [_words(frame.state, offset) for offset in range(len(frame.state.log))]
    return "\n".join([describe_store(frame, before), *(f"  {each}" for each in log)])
