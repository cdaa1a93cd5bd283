"""The coordinator's store, drawn and in words: the log of a partition, and the groups that are in memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import kit, svg
from kafkalearn.drawing.player import Picture
from kafkalearn.offsets.records import GROUP_TYPE, OFFSET_TYPES, decode
from kafkalearn.offsets.replay import CLASSIC, Group
from kafkalearn.offsets.store import model
from kafkalearn.offsets.store.model import Answer, Entry, Store, StoreEvent

LOG, GAP, MEMORY, MOST_ROWS = 520, 36, 396, 9  # pixels: of the columns and between them; records that are shown


def draw_store(frame: Frame[Store, StoreEvent], before: Frame[Store, StoreEvent] | None = None) -> Picture:
    """One moment of the store: its log on the left, newest last; what the coordinator has in memory on the right."""
    store, old = frame.state, before.state if before else frame.state
    first = max(0, len(store.log) - MOST_ROWS)
    shown = range(first, len(store.log))
    log = kit.stack(
        kit.label("the log: offset, key, value", colour=svg.MUTED),
        kit.space(height=4),
        *(_entry(store, offset, offset >= len(old.log)) for offset in shown),
        gap=4,
    )
    groups = [block for each in store.groups for block in _group(each, old)]
    memory = kit.stack(
        kit.label(f"in the coordinator's memory ({store.status})", colour=svg.MUTED),
        kit.space(height=4),
        *(groups or [kit.label("no group", svg.BODY, svg.MUTED)]),
        kit.space(height=8),
        *(kit.label(f"answer: {_answer_words(each)}", svg.BODY, svg.MARK, bold=True) for each in store.effects),
    )
    below = kit.free(
        LOG + GAP + MEMORY, max(log.height, memory.height), log.draw, lambda x, y: memory.draw(x + LOG + GAP, y)
    )
    head = kit.label(_event_words(frame.event), svg.TITLE, bold=True, width=svg.WIDTH - 50)
    return kit.sheet(kit.stack(head, kit.space(height=8), below), describe_store(frame, before), left=24)


def _words(store: Store, offset: int) -> str:
    is_missing = offset in store.in_flight or offset in store.unreplicated
    return entry_text(offset, store.log[offset]) + (", not replicated" if is_missing else "")


def _entry(store: Store, offset: int, is_new: bool) -> kit.Block:
    """A record: amber while its replicas lack it, violet if it is a tombstone."""
    words, height = _words(store, offset), 30
    is_open = offset in store.in_flight or offset in store.unreplicated
    fill = svg.TOMBSTONE if store.log[offset].value is None else svg.OPEN if is_open else svg.COMMITTED

    def draw(x: float, y: float) -> list[str]:
        box = (x, y, LOG, height)
        edge = svg.outlined(box, stroke=svg.MARK, stroke_width=svg.STRONG) if is_new else ""
        said = kit.label(words, width=LOG - 20).draw(x + 10, y + 5)
        return [svg.filled(fill, box), edge, *said]

    return kit.free(LOG, height, draw)


def _group(group: Group, old: Store) -> list[kit.Block]:
    """A group in memory, and its offsets; what has changed has the mark's colour."""
    was = next((each for each in old.groups if each.group_id == group.group_id), None)
    words = f"{group.group_id}: {group.state}, {counted(len(group.members), 'member')}"
    is_same = was is not None and (was.state, was.members) == (group.state, group.members)
    known = () if was is None else was.offsets
    kind = [] if group.kind == CLASSIC else [kit.label(f"a {group.kind} group", colour=svg.MUTED)]
    return [
        kit.label(words, svg.BODY, svg.INK if is_same else svg.MARK, bold=True, width=MEMORY),
        *kind,
        *(
            kit.row(kit.space(18), kit.label(f"{each.at}: {each.offset}", svg.BODY, colour))
            for each in group.offsets
            for colour in (svg.INK if each in known else svg.MARK,)
        ),
        kit.space(height=8),
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
        case model.Fetch():
            return in_words(event)
        case model.StoreGroup(group_id, members=members, kind=kind):
            change = "a rebalance ends" if kind == CLASSIC else f"the {kind} group changes"
            what = f"{change}, {counted(len(members), 'member')}" if members else "the last member has left"
            words = f"{group_id}: {what}"
        case _:
            words = in_words(event) or type(event).__name__
    now_ms = getattr(event, "now_ms", None)
    return capitalised(words) if now_ms is None else f"{_time(now_ms)}  {words}"


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
