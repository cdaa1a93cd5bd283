"""A log and its cleaner in words: what stands at each offset, a sentence about a frame, and all of it as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias, TypeVar

from kafkalearn.base import facts
from kafkalearn.base.durations import duration
from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.trace import Frame
from kafkalearn.formats.records import Text
from kafkalearn.log import model
from kafkalearn.log.cleaner import cleanable, next_clean
from kafkalearn.log.model import RUNNING, Cleanable, Decision, Log, Record, Segment, Settings, ends_of
from kafkalearn.log.reader import Crossing, CrossingEffect, CrossingEvent, Read, RecordsRead
from kafkalearn.log.retention import BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD

# What stands at each offset: a record, what a pass has just removed, or a gap.

RECORD, TOMBSTONE, MARKER, REMOVED = "record", "tombstone", "marker", "removed"
EMPTY_BATCH, GAP, END = "empty batch", "gap", "end"


@dataclass(frozen=True, slots=True)
class Place:
    """An offset and what is there."""

    offset: int
    kind: str
    record: Record | None = None
    marker: str | None = None
    horizon_ms: int | None = None
    decision: Decision | None = None  # of the pass that this frame shows


@dataclass(frozen=True, slots=True)
class ShownSegment:
    """A segment and the offsets that belong to it."""

    segment: Segment
    first: int
    last: int  # for the active one the log end offset
    is_active: bool
    deleted_because: str = ""  # the rule of retention by which it has just gone


LogFrame: TypeAlias = Frame[Log | Crossing, CrossingEvent]
Effect = TypeVar("Effect", bound=CrossingEffect)


def log_of(frame: LogFrame) -> Log:
    """The log of a frame, with a reader or without."""
    return frame.state.log if isinstance(frame.state, Crossing) else frame.state


def effect_of(frame: LogFrame, kind: type[Effect]) -> Effect | None:
    """The first effect of a kind that the event of this frame had, if it had any."""
    return next((effect for effect in frame.state.effects if isinstance(effect, kind)), None)


def now_of(frame: LogFrame) -> int:
    """The time of a frame: the latest that anything in it holds."""
    state, log = frame.state, log_of(frame)
    times = [state.now_ms] if isinstance(state, Crossing) else []
    times += [batch.max_timestamp_ms for batch in log.batches]
    times += [log.last_round_ms or 0, getattr(frame.event, "now_ms", None) or 0]
    return max(times)


def cleanable_of(settings: Settings, frame: LogFrame) -> Cleanable:
    """What a cleaner sees in this frame; in the frame of a pass, what it saw before it cleaned."""
    done = effect_of(frame, model.Cleaned)
    return done.cleanable if done else cleanable(settings, log_of(frame), now_of(frame))


def shown_segments(log: Log) -> tuple[ShownSegment, ...]:
    """The segments, each up to the next one's base."""
    pairs = zip(log.segments, ends_of(log.segments, log.log_end_offset + 1), strict=True)
    return tuple(ShownSegment(each, each.base_offset, end - 1, each is log.active) for each, end in pairs)


def deleted_segments(frame: LogFrame, before: LogFrame | None) -> tuple[ShownSegment, ...]:
    """The segments that retention has deleted in this frame; none if the frame before is not known."""
    deleted = effect_of(frame, model.SegmentsDeleted)
    if deleted is None or before is None:
        return ()
    first = log_of(frame).segments[0].base_offset
    was = log_of(before)
    gone = [each for each in was.segments if each.base_offset < first]
    ends = ends_of((*gone, log_of(frame).segments[0]), was.log_end_offset)[: len(gone)]
    reasons = deleted.reasons if len(deleted.reasons) == len(gone) else deleted.reasons[-1:] * len(gone)
    return tuple(
        ShownSegment(each, each.base_offset, end - 1, False, reason)
        for each, end, reason in zip(gone, ends, reasons, strict=True)
    )


def places(frame: LogFrame, before: LogFrame | None) -> tuple[Place, ...]:
    """Every offset from the first segment's base to the log end offset, in order.

    The frame in which retention deletes segments has their offsets too, and those of a frame before it are known.
    """
    log, done = log_of(frame), effect_of(frame, model.Cleaned)
    decisions = {each.offset: each for each in done.decisions} if done else {}
    was = {} if before is None else {each.offset: each for each in log_of(before).records}
    found = {offset: Place(offset, REMOVED, was.get(offset), None, None, each) for offset, each in decisions.items()}
    for batch in log.batches:
        for record in batch.records:
            kind = MARKER if batch.marker else TOMBSTONE if record.value is None and record.key is not None else RECORD
            horizon_ms = batch.delete_horizon_ms if kind == TOMBSTONE else None
            decision = decisions.get(record.offset)
            found[record.offset] = Place(record.offset, kind, record, batch.marker, horizon_ms, decision)
        if not batch.records:
            found.setdefault(batch.last_offset, Place(batch.last_offset, EMPTY_BATCH))
    found[log.log_end_offset] = Place(log.log_end_offset, END)
    first = log.segments[0].base_offset
    for shown in deleted_segments(frame, before):
        for offset in range(shown.first, shown.last + 1):
            if offset in was:
                found[offset] = Place(offset, REMOVED, was[offset])
        first = min(first, shown.first)
    return tuple(found.get(offset, Place(offset, GAP)) for offset in range(first, log.log_end_offset + 1))


# Times and reasons in short; a sentence about a frame; the whole of it as text.

SHORT = {  # how a reason begins, and the word for it under a cell
    "overtaken by offset": "→",
    "last of its key": "last",
    "tombstone, met for the first time": "new",
    "tombstone, its horizon is not reached": "waits",
    "tombstone, its horizon has passed": "due",
    "tombstone, its segment is young": "young",
    "tombstone, its segment is old": "old",
    "behind what the map has seen": "not read",
    "no key": "no key",
    "of an aborted transaction": "aborted",
    "marker of a transaction": "marker",
    "marker without a transaction": "due",
}

BY_RULE = {
    BELOW_LOG_START: "below the log start offset",
    TOO_MANY_BYTES: "by retention.bytes",
    TOO_OLD: "by retention.ms",
}


def text_of(value: Text | None) -> str:
    """A key or a value as it is shown; bytes that are text as text, and what no terminal prints as its number.

    >>> text_of(b"user-42"), text_of(b"\\x00\\x01\\xff"), text_of(b""), text_of(None)
    ('user-42', '\\\\x00\\\\x01\\\\xff', '""', 'null')
    """
    if value is None:
        return "null"
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text) or '""'


def short_reason(reason: str) -> str:
    """The word for the reason of a decision, under a cell.

    >>> short_reason("overtaken by offset 4"), short_reason("last of its key")
    ('→ 4', 'last')
    """
    word = next((short for begin, short in SHORT.items() if reason.startswith(begin)), reason)
    return f"{word} {reason.rsplit(' ', 1)[1]}" if word == "→" else word


def legend_of(all_places: tuple[Place, ...]) -> list[str]:
    """What the words under the cells mean, those that occur."""
    reasons = dict.fromkeys(place.decision.reason for place in all_places if place.decision)
    overtaken = [reason for reason in reasons if reason.startswith("overtaken")][:1]
    others = [reason for reason in reasons if not reason.startswith("overtaken") and short_reason(reason) != reason]
    return [f"{short_reason(each)}: {each}" for each in (*overtaken, *others)]


def clock_text(place: Place, now_ms: int) -> str:
    """How long a tombstone still stays, at the least.

    >>> clock_text(Place(3, TOMBSTONE), 0), clock_text(Place(3, TOMBSTONE, horizon_ms=5000), 2000)
    ('no clock', '3 s')
    """
    if place.horizon_ms is None:
        return "no clock"
    return "due" if now_ms >= place.horizon_ms else duration(place.horizon_ms - now_ms)


def describe_log(settings: Settings, frame: LogFrame, before: LogFrame | None = None) -> str:
    """A sentence or two about a frame of `kafkalearn.log`.

    >>> from kafkalearn.log import Append, Clean, NewBatch, Roll, simulate
    >>> settings = Settings("compact")
    >>> for frame in simulate(settings, [Append((NewBatch((("K1", "1", 0), ("K1", "2", 1))),)), Roll(), Clean(5000)]):
    ...     print(describe_log(settings, frame))
    An empty log.
    K1 = 1 is written at offset 0, K1 = 2 at offset 1.
    The active segment is closed; a new one begins at offset 2.
    The cleaner passes over offsets 0 to 1: 1 of 2 records stay, 1 goes.
    """
    log, event = log_of(frame), frame.event
    match event:
        case None:
            return f"A log of {len(log.records)} records." if log.records else "An empty log."
        case model.Append():
            return _describe_append(frame, event)
        case model.EndTransaction(_, is_commit):
            refused = effect_of(frame, model.AppendRefused)
            if refused is not None:
                return f"The broker refuses the marker: {refused.error}."
            return f"A transaction ends: {'COMMIT' if is_commit else 'ABORT'} at offset {log.log_end_offset - 1}."
        case model.ProducerExpired() | model.BrokerRestarted() | model.ReplaceCleanerThreads():
            return _sentence(event)
        case Read() if isinstance(frame.state, Crossing):
            return _describe_read(frame.state, effect_of(frame, RecordsRead))
        case model.Roll():
            rolled = effect_of(frame, model.SegmentRolled)
            return _sentence(rolled) if rolled else "The active segment is empty: there is nothing to close."
        case model.Clean() | model.CleanerRound():
            return " ".join(filter(None, [_describe_pass(settings, frame), _describe_retention(frame)]))
        case model.Retain():
            return _describe_retention(frame) or "Retention looks and deletes nothing."
        case model.SetHighWatermark():
            return f"The high watermark is {log.high_watermark}."
        case model.MoveLogStart(offset):
            refused = effect_of(frame, model.DeleteRecordsRefused)
            if refused is not None:
                return f"The broker does not delete records up to offset {offset}: {refused.error}."
            return f"The log start offset is {log.log_start_offset}."
        case model.CleanerFailed(reason):
            return f"The cleaner meets an exception: {reason}. It is {log.cleaner}."
    return str(event)


def _sentence(fact: facts.Effect) -> str:
    return f"{capitalised(facts.in_words(fact))}."


def _describe_retention(frame: LogFrame) -> str:
    """What retention has deleted, and by which rules; nothing if it has deleted nothing."""
    deleted = effect_of(frame, model.SegmentsDeleted)
    if deleted is None:
        return ""
    start = f"the log starts at offset {log_of(frame).log_start_offset}"
    counts = Counter(deleted.reasons)
    whole = f"Retention deletes {counted(deleted.segment_count, 'segment')}"
    if len(counts) < 2:
        return f"{whole} {''.join(BY_RULE[reason] for reason in counts)}; {start}."
    return f"{whole}, {' and '.join(f'{count} {BY_RULE[reason]}' for reason, count in counts.items())}; {start}."


def _describe_append(frame: LogFrame, event: model.Append) -> str:
    sentences, records, first = [], [], 0
    batches = iter(event.batches)
    for effect in frame.state.effects:
        match effect:
            case model.Appended():
                records += next(batches).records
                first = effect.last_offset + 1 - len(records)
            case model.DuplicateRecognised():
                next(batches)
                sentences.append(_sentence(effect))
    if records:
        sentences.append(_describe_written(records, first))
    refused = effect_of(frame, model.AppendRefused)
    if refused is not None:
        sentences.append(_sentence(refused))
    return " ".join(sentences)


def _describe_written(records: list[tuple[Text | None, Text | None, int]], first: int) -> str:
    if len(records) > 4:
        return f"{len(records)} records are written at offsets {first} to {first + len(records) - 1}."
    pairs = [f"{text_of(key)} = {text_of(value)}" for key, value, _ in records]
    where = [f"{pair} {'is written ' if at == 0 else ''}at offset {first + at}" for at, pair in enumerate(pairs)]
    return f"{', '.join(where)}."


def _describe_pass(settings: Settings, frame: LogFrame) -> str:
    done = effect_of(frame, model.Cleaned)
    if done is None:
        return _describe_no_pass(settings, frame)
    kept = Counter(decision.is_kept for decision in done.decisions)
    going = f"{kept[False]} {'goes' if kept[False] == 1 else 'go'}"
    full = " Its map is full: the rest waits for the next pass." if done.is_map_full else ""
    begins_by_decisions = effect_of(frame, model.SegmentsDeleted) and done.decisions
    first = done.decisions[0].offset if begins_by_decisions else log_of(frame).segments[0].base_offset
    words = f"{kept[True]} of {kept.total()} records stay, {going}.{full}"
    return f"The cleaner passes over offsets {first} to {done.latest_offset}: {words}"


def _describe_no_pass(settings: Settings, frame: LogFrame) -> str:
    stopped, looked = effect_of(frame, model.CleanerStopped), effect_of(frame, model.NotCleaned)
    if looked is None:
        reason = stopped.reason if stopped else f"the cleaner is {log_of(frame).cleaner}"
        return f"The cleaner does nothing: {reason}."
    if not looked.cleanable.cleanable_bytes:
        return "The cleaner looks and does nothing: no closed segment is dirty."
    least = settings.min_cleanable_dirty_ratio
    return f"The cleaner looks and does nothing: dirty ratio {looked.cleanable.ratio:.2f}, not above {least:g}."


def _describe_read(crossing: Crossing, read: RecordsRead | None) -> str:
    position, records = crossing.reader.position, () if read is None else read.records
    if not records:
        return f"The reader finds nothing new; its position is {position}."
    first = ", ".join(f"{text_of(each.key)} = {text_of(each.value)}" for each in records[:4])
    more = f" and {len(records) - 4} more" if len(records) > 4 else ""
    return f"The reader reads {first}{more}; its position is {position}."


def ratio_text(settings: Settings, frame: LogFrame) -> str:
    """How dirty the log is, and what the cleaner waits for."""
    found = cleanable_of(settings, frame)
    total = found.clean_bytes + found.cleanable_bytes
    head = f"dirty ratio {found.cleanable_bytes}/{total} = {found.ratio:.2f}"
    if effect_of(frame, model.Cleaned):
        return f"{head} before the pass"
    if log_of(frame).cleaner != RUNNING:
        return f"{head}; the cleaner is {log_of(frame).cleaner}"
    return f"{head}; next clean: {next_text(settings, frame)}"


def next_text(settings: Settings, frame: LogFrame) -> str:
    """When the cleaner comes, in words."""
    waits = next_clean(settings, log_of(frame), now_of(frame))
    if waits.missing_bytes == 0:
        return "now"
    until = [] if waits.at_ms is None else [f"at {duration(waits.at_ms)}"]
    if waits.missing_bytes is not None:
        until.append(f"with {counted(waits.missing_bytes, 'more closed byte')}")
    return " or ".join(until) or "never"


def log_text(settings: Settings, frame: LogFrame, before: LogFrame | None = None) -> str:
    """A frame of `kafkalearn.log` as a few lines of text: a line for each segment, and what a pass did.

    ``x`` is a record that this pass removed, ``.`` an offset that was removed earlier.

    >>> from kafkalearn.log import Append, NewBatch, Roll, simulate
    >>> settings = Settings("compact")
    >>> trace = simulate(settings, [Append((NewBatch((("K1", "1", 0), ("K1", None, 1))),)), Roll()])
    >>> print(log_text(settings, trace[-1]))
    The active segment is closed; a new one begins at offset 2.
      segment 0, 80 bytes, dirty:  0 K1=1  1 K1=null (no clock)
      active segment 2, 0 bytes:
    now 1 ms; first dirty offset 0; log end offset 2; dirty ratio 80/80 = 1.00; next clean: now
    """
    log, found, now_ms = log_of(frame), cleanable_of(settings, frame), now_of(frame)
    all_places = places(frame, before)
    lines = [describe_log(settings, frame, before)]
    for shown in deleted_segments(frame, before):
        inside = [each for each in all_places if shown.first <= each.offset <= shown.last]
        lines.append(f"  segment {shown.first}, {shown.deleted_because}:{_places_text(inside, now_ms)}")
    for shown in shown_segments(log):
        inside = [each for each in all_places if shown.first <= each.offset <= shown.last and each.kind != END]
        bounds = found.first_dirty_offset, found.first_uncleanable_offset
        state = _state_of(shown, *bounds) if settings.is_compacted else ""
        head = f"{'active ' if shown.is_active else ''}segment {shown.first}, {shown.segment.size_bytes} bytes"
        lines.append(f"  {head}{state}:{_places_text(inside, now_ms)}")
    end = f"log end offset {log.log_end_offset}"
    parts = [f"first dirty offset {found.first_dirty_offset}; {end}", ratio_text(settings, frame)]
    parts = parts if settings.is_compacted else [end]
    parts += [retention_text(settings, frame)] if settings.is_deleted else []
    lines.append("; ".join([f"now {duration(now_ms)}", *parts]))
    return "\n".join(lines)


def retention_text(settings: Settings, frame: LogFrame) -> str:
    """How old the oldest segment is and how long the log, against the limits of retention.

    >>> from kafkalearn.log import Append, NewBatch, Retain, simulate
    >>> settings = Settings(retention_ms=5_000, retention_bytes=300)
    >>> trace = simulate(settings, [Append((NewBatch((("a", "1", 0),)),)), Retain(2_000)])
    >>> retention_text(settings, trace[-1])
    'retention.ms 5 s: the oldest segment is 2 s old;  retention.bytes 300: the log has 70'
    """
    log, parts = log_of(frame), []
    if settings.retention_ms >= 0:
        age_ms = max(0, now_of(frame) - log.segments[0].largest_timestamp_ms)
        age = f"{duration(age_ms)} old" if log.segments[0].batches else "empty"
        parts.append(f"retention.ms {duration(settings.retention_ms)}: the oldest segment is {age}")
    if settings.retention_bytes >= 0:
        log_bytes = sum(each.size_bytes for each in log.segments)
        parts.append(f"retention.bytes {settings.retention_bytes:,}: the log has {log_bytes:,}")
    return ";  ".join(parts) or "no limit of time or size"


def _state_of(shown: ShownSegment, first_dirty: int, first_uncleanable: int) -> str:
    if shown.is_active:
        return ""
    if shown.first >= first_uncleanable:
        return ", not cleanable yet"
    if shown.last < first_dirty:
        return ", clean"
    return ", dirty" if shown.first >= first_dirty else f", dirty from {first_dirty}"


def _places_text(inside: list[Place], now_ms: int) -> str:
    parts = []
    for is_gap, neighbours in groupby(inside, lambda each: each.kind == GAP):
        alike = list(neighbours)
        parts += ["." * len(alike)] if is_gap else [_place_text(each, now_ms) for each in alike]
    return "".join(f"  {part}" for part in parts)


def _place_text(place: Place, now_ms: int) -> str:
    content = "?" if place.record is None else f"{text_of(place.record.key)}={text_of(place.record.value)}"
    if place.kind == EMPTY_BATCH:
        return f"{place.offset} (empty batch)"
    if place.kind == MARKER:
        content = place.marker
    notes = [place.decision.reason] if place.decision else []
    if place.kind == TOMBSTONE:
        notes.append(clock_text(place, now_ms))
    mark = "x" if place.kind == REMOVED else ""
    aside = f" ({'; '.join(notes)})" if notes else ""
    return f"{mark}{place.offset} {content}{aside}"
