"""What stands at each offset of a log, for a picture or a text: a record, what a pass has just removed, or a gap."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.log import (
    Clean,
    Cleanable,
    CleanerRound,
    Cleaning,
    Crossing,
    CrossingEvent,
    Log,
    Record,
    Segment,
    Settings,
    Verdict,
    cleanable,
)
from kafkalearn.trace import Frame

RECORD, TOMBSTONE, MARKER, REMOVED, EMPTY_BATCH, GAP, END = (
    *("record", "tombstone", "marker", "removed", "empty batch", "gap", "end"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """An offset and what is there."""

    offset: int
    kind: str
    record: Record | None = None
    marker: str | None = None
    horizon_ms: int | None = None
    verdict: Verdict | None = None  # of the pass that this frame shows


@dataclass(frozen=True, slots=True)
class Stretch:
    """A segment as the offsets it answers for."""

    segment: Segment
    first: int
    last: int  # for the active one the log end offset
    is_active: bool


LogFrame = Frame[Log | Crossing, CrossingEvent]


def log_of(frame: LogFrame) -> Log:
    """The log of a frame, with a reader or without."""
    return frame.state.log if isinstance(frame.state, Crossing) else frame.state


def pass_of(frame: LogFrame) -> Cleaning | None:
    """What the cleaner did in this frame, if it is one in which the cleaner ran."""
    last = log_of(frame).last
    is_its_doing = isinstance(frame.event, Clean | CleanerRound) and isinstance(last, Cleaning)
    return last if is_its_doing and last.has_run else None


def now_of(frame: LogFrame) -> int:
    """The time of a frame: the latest that anything in it tells."""
    state, log = frame.state, log_of(frame)
    told = [state.now_ms] if isinstance(state, Crossing) else []
    told += [batch.max_timestamp_ms for batch in log.batches]
    told += [log.last_round_ms or 0, getattr(frame.event, "now_ms", None) or 0]
    return max(told)


def cleanable_of(settings: Settings, frame: LogFrame) -> Cleanable:
    """What a cleaner sees in this frame; in the frame of a pass, what it saw before it cleaned."""
    done = pass_of(frame)
    return done.cleanable if done else cleanable(settings, log_of(frame), now_of(frame))


def stretches(log: Log) -> tuple[Stretch, ...]:
    """The segments, each up to the next one's base."""
    ends = (*(segment.base_offset - 1 for segment in log.segments[1:]), log.log_end_offset)
    pairs = zip(log.segments, ends, strict=True)
    return tuple(Stretch(each, each.base_offset, last, each is log.active) for each, last in pairs)


def places(frame: LogFrame, before: LogFrame | None) -> tuple[Place, ...]:
    """Every offset from the first segment's base to the log end offset, in order."""
    log, done = log_of(frame), pass_of(frame)
    verdicts = {each.offset: each for each in done.verdicts} if done else {}
    was = {} if before is None else {each.offset: each for each in log_of(before).records}
    found = {offset: Place(offset, REMOVED, was.get(offset), None, None, each) for offset, each in verdicts.items()}
    for batch in log.batches:
        for record in batch.records:
            kind = MARKER if batch.marker else TOMBSTONE if record.value is None and record.key is not None else RECORD
            horizon_ms = batch.delete_horizon_ms if kind == TOMBSTONE else None
            verdict = verdicts.get(record.offset)
            found[record.offset] = Place(record.offset, kind, record, batch.marker, horizon_ms, verdict)
        if not batch.records:
            standing = found.get(batch.last_offset)
            if standing is None:
                found[batch.last_offset] = Place(batch.last_offset, EMPTY_BATCH)
    found[log.log_end_offset] = Place(log.log_end_offset, END)
    first = log.segments[0].base_offset
    return tuple(found.get(offset, Place(offset, GAP)) for offset in range(first, log.log_end_offset + 1))
