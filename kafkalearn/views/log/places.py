"""What stands at each offset of a log, for a picture or a text: a record, what a pass has just removed, or a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from kafkalearn.log import Cleaned, Log, Record, Settings
from kafkalearn.log.cleaner.eligibility import cleanable
from kafkalearn.log.effects import Cleanable, Decision, SegmentsDeleted
from kafkalearn.log.reader.effects import CrossingEffect
from kafkalearn.log.reader.events import CrossingEvent
from kafkalearn.log.reader.state import Crossing
from kafkalearn.log.state import Segment, ends_of
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
    decision: Decision | None = None  # of the pass that this frame shows


@dataclass(frozen=True, slots=True)
class Stretch:
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
    done = effect_of(frame, Cleaned)
    return done.cleanable if done else cleanable(settings, log_of(frame), now_of(frame))


def stretches(log: Log) -> tuple[Stretch, ...]:
    """The segments, each up to the next one's base."""
    pairs = zip(log.segments, ends_of(log.segments, log.log_end_offset + 1), strict=True)
    return tuple(Stretch(each, each.base_offset, end - 1, each is log.active) for each, end in pairs)


def deleted_stretches(frame: LogFrame, before: LogFrame | None) -> tuple[Stretch, ...]:
    """The segments that retention has deleted in this frame; none if the frame before is not known."""
    deleted = effect_of(frame, SegmentsDeleted)
    if deleted is None or before is None:
        return ()
    first = log_of(frame).segments[0].base_offset
    was = log_of(before)
    gone = [each for each in was.segments if each.base_offset < first]
    ends = ends_of((*gone, log_of(frame).segments[0]), was.log_end_offset)[: len(gone)]
    reasons = deleted.reasons if len(deleted.reasons) == len(gone) else deleted.reasons[-1:] * len(gone)
    return tuple(
        Stretch(each, each.base_offset, end - 1, False, reason)
        for each, end, reason in zip(gone, ends, reasons, strict=True)
    )


def places(frame: LogFrame, before: LogFrame | None) -> tuple[Place, ...]:
    """Every offset from the first segment's base to the log end offset, in order.

    The frame in which retention deletes segments has their offsets too, and those of a frame before it are known.
    """
    log, done = log_of(frame), effect_of(frame, Cleaned)
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
    for stretch in deleted_stretches(frame, before):
        for offset in range(stretch.first, stretch.last + 1):
            if offset in was:
                found[offset] = Place(offset, REMOVED, was[offset])
        first = min(first, stretch.first)
    return tuple(found.get(offset, Place(offset, GAP)) for offset in range(first, log.log_end_offset + 1))
