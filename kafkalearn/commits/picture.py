"""A group that reads one partition, in words and as a picture.

In the picture columns are offsets: a record goes down from the log through a consumer into the sink. The committed
offset and each position stand before the record that is read next.
"""

from __future__ import annotations

from typing import TypeVar

from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.commits import model
from kafkalearn.commits.model import CommitEvent, Consumer, Pipeline, doubled, lost
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, RecordCell, lane, mark
from kafkalearn.drawing.kit import LEFT, WIDE, Block, at_ends, beside, free, label, legend, rule, sheet, space, stack
from kafkalearn.drawing.player import Picture

Effect = TypeVar("Effect")

REFUSALS = {
    "UNKNOWN_MEMBER_ID": "refused with UNKNOWN_MEMBER_ID: {by} is no member of the group",
    "OFFSET_METADATA_TOO_LARGE": "refused with OFFSET_METADATA_TOO_LARGE, which no retry can fix",
    "COORDINATOR_LOAD_IN_PROGRESS": "refused with COORDINATOR_LOAD_IN_PROGRESS, after which a retry can succeed",
}


def describe_commits(frame: Frame[Pipeline, CommitEvent], before: Frame[Pipeline, CommitEvent] | None = None) -> str:
    """A sentence or two about a frame of `kafkalearn.commits`.

    >>> from kafkalearn.commits import undisturbed
    >>> trace = undisturbed("each batch")
    >>> describe_commits(trace[2], trace[1])
    'A polls and gets 0 to 2: its position is 3, and nothing is processed yet.'
    >>> describe_commits(trace[6], trace[5])
    'A commits 3 and waits for the answer: stored.'
    """
    pipeline, event = frame.state, frame.event
    was = before.state if before is not None else pipeline
    match event:
        case None:
            records = f"{pipeline.log_end} records are in the partition"
            return f"{records}; the committed offset is {_committed(pipeline)}, and nobody reads."
        case model.Start(by) | model.Assign(by):
            return _describe_start(pipeline, was, event, by)
        case model.Rebalance(to):
            return _describe_rebalance(pipeline, was, to)
        case model.Poll(by):
            return _describe_poll(pipeline, by)
        case model.Process(by):
            return f"{by} processes {_result(pipeline)}"
        case model.CommitSync(by):
            last = last_of(pipeline, model.Committed, model.CommitRefused)
            text = f" with {quoted(event.metadata)}" if event.metadata else ""
            return f"{by} commits {last.offset}{text} and waits for the answer: {_answer(last, by)}."
        case model.CommitAsync(by):
            sent = last_of(pipeline, model.CommitSent)
            return f"{by} sends the commit of {sent.offset} and goes on without an answer."
        case model.Answered(by):
            return _describe_answer(pipeline, was, by)
        case model.Checkpoint(by):
            return _describe_checkpoint(pipeline, event, by)
        case model.Close(by):
            last = _auto_commit(pipeline, ", and commits {}, its position")
            return f"{by} closes{_with_unprocessed(pipeline)}{last}."
        case model.Crash(by):
            return f"{by} crashes{_with_unprocessed(pipeline)}. The committed offset is {_committed(pipeline)}."
        case model.Produce(record_count):
            return f"{counted(record_count, 'more record')}: the log end is {pipeline.log_end}."
        case model.Delete():
            return f"{capitalised(in_words(event))}."
        case model.TimePassed(ms):
            return f"{ms / 1000:g} s pass."


def _describe_start(pipeline: Pipeline, was: Pipeline, event: model.Start | model.Assign, by: str) -> str:
    effect = last_of(pipeline, model.Started, model.Reset, model.Failed)
    if isinstance(effect, model.Failed):
        return f"{by} cannot start: {effect.exception}."
    begins = f"begins at {effect.offset}"
    kept = pipeline.sink.stored
    if isinstance(effect, model.Reset):
        begins += ": no committed offset is there to begin at, so auto.offset.reset decides"
    else:
        begins += ", the committed offset" if kept is None else ", the offset stored with the results"
    if isinstance(event, model.Assign):
        return f"{by} starts on its own, outside the group, and {begins}."
    ousted = f" {was.owner} is out of the group and does not know it." if was.owner not in (None, by) else ""
    return f"{by} starts and {begins}.{ousted}"


def _describe_rebalance(pipeline: Pipeline, was: Pipeline, to: str) -> str:
    first = _auto_commit(pipeline, ", after an auto commit of {}")
    effect = last_of(pipeline, model.Started, model.Reset, model.Failed)
    begins = f"cannot start: {effect.exception}" if isinstance(effect, model.Failed) else f"begins at {effect.offset}"
    return f"Rebalance: {was.owner} gives the partition up{first}; {to} {begins}."


def _auto_commit(pipeline: Pipeline, words: str) -> str:
    """The words with the offset of the auto commit in them; nothing if there was none."""
    return next((words.format(each.offset) for each in pipeline.effects if isinstance(each, model.AutoCommitSent)), "")


def _describe_poll(pipeline: Pipeline, by: str) -> str:
    first = ""
    consumer = pipeline.running(by)
    for effect in pipeline.effects:
        match effect:
            case model.AutoCommitSent(offset):
                first = f"An auto commit is due: {by} commits {offset}, its position. "
            case model.CommitRefused():
                first += f"It is {_answer(effect, by)}. "
            case model.Failed(exception):
                return f"{by} polls, and poll throws {exception}."
            case model.Reset(offset):
                first += f"Its position was deleted: auto.offset.reset sends it to {offset}. "
            case model.Polled(()):
                return f"{first}{by} polls and gets nothing."
    offsets = last_of(pipeline, model.Polled).offsets
    is_all = len(consumer.unprocessed) == len(offsets)
    done = "nothing is processed yet" if is_all else "older ones are unprocessed as well"
    return f"{first}{by} polls and gets {_span(offsets)}: its position is {consumer.position}, and {done}."


def _result(pipeline: Pipeline) -> str:
    last = last_of(pipeline, model.Processed)
    if last.answer == model.HELD:
        return f"{last.offset}: the result is held until the next checkpoint."
    written = pipeline.sink.writes[-1]
    if written.answer == model.KNOWN:
        return f"{written.offset}: the sink knows it already, nothing changes."
    if written.answer == model.REFUSED:
        return f"{written.offset}: refused, for the offset stored in the sink is {pipeline.sink.stored}."
    times = pipeline.sink.times(written.offset)
    again = {1: "", 2: ", for the second time"}.get(times, f", for the {times}th time")
    kept = "" if pipeline.sink.stored is None else f", and {pipeline.sink.stored} is stored with it as the next offset"
    return f"{written.offset}: the result takes effect{again}{kept}."


def _answer(effect: model.Committed | model.CommitRefused, by: str) -> str:
    return "stored" if isinstance(effect, model.Committed) else REFUSALS[effect.error].format(by=by)


def quoted(metadata: str) -> str:
    """The metadata of a commit; of a long string, its length."""
    return f"the metadata “{metadata}”" if len(metadata) <= 40 else f"metadata of {len(metadata):,} characters"


def _describe_checkpoint(pipeline: Pipeline, event: model.Checkpoint, by: str) -> str:
    first = last_of(pipeline, model.Checkpointed, model.CheckpointRefused)
    if isinstance(first, model.CheckpointRefused):
        return f"{by}'s checkpoint at {first.offset} is refused, for another has gone on: {by} is cancelled."
    done = f"{by} makes a checkpoint: its results count now, and {first.offset} is stored with them."
    if not event.is_committed:
        return done
    answer = last_of(pipeline, model.Committed, model.CommitRefused)
    return f"{done} Then it commits {first.offset}: {_answer(answer, by)}."


def _describe_answer(pipeline: Pipeline, was: Pipeline, by: str) -> str:
    effect = last_of(pipeline, model.Committed, model.CommitRefused)
    arrives = f"{by}'s commit of {effect.offset} reaches the coordinator: {_answer(effect, by)}"
    is_back = isinstance(effect, model.Committed) and was.committed is not None and effect.offset < was.committed
    return arrives + (f". The committed offset goes back from {was.committed}." if is_back else ".")


def _with_unprocessed(pipeline: Pipeline) -> str:
    offsets = last_of(pipeline, model.Closed, model.Crashed).unprocessed
    return f" with {_span(offsets)} unprocessed" if offsets else ""


def _span(offsets: tuple[int, ...]) -> str:
    if len(offsets) == 1:
        return str(offsets[0])
    return f"{offsets[0]} {'and' if len(offsets) == 2 else 'to'} {offsets[-1]}"


def _committed(pipeline: Pipeline) -> str:
    return "none" if pipeline.committed is None else str(pipeline.committed)


def last_of(pipeline: Pipeline, *kinds: type[Effect]) -> Effect:
    """The last effect of these kinds, of which the event leads to one by its rule."""
    return next(each for each in reversed(pipeline.effects) if isinstance(each, kinds))


def role(pipeline: Pipeline, consumer: Consumer) -> str:
    """What a consumer is to the group: owner, zombie or standalone."""
    if consumer.name == pipeline.owner:
        return "owner"
    return "standalone" if consumer.generation == model.NO_GENERATION else "zombie"


def commits_text(frame: Frame[Pipeline, CommitEvent], before: Frame[Pipeline, CommitEvent] | None = None) -> str:
    """A frame of `kafkalearn.commits` as a few lines of text.

    >>> from kafkalearn.commits import shortest, sweep
    >>> found = shortest(sweep("each batch"), "doubled")
    >>> print(commits_text(found.trace[7], found.trace[6]))
    B processes 0: the result takes effect, for the second time.
      2.0 s later: log end 9, committed 0, commits written: none
      B (owner): position 3, unprocessed 1 2
      sink: 0 A B (twice)
    """
    pipeline = frame.state
    written = " ".join(str(each.offset) for each in pipeline.written) or "none"
    lines = [
        describe_commits(frame, before),
        f"  {pipeline.now_ms / 1000:.1f} s later: log end {pipeline.log_end}, committed {_committed(pipeline)}, "
        f"commits written: {written}",
        *(_consumer_text(pipeline, each) for each in pipeline.consumers),
        f"  sink: {_sink_text(pipeline)}",
    ]
    gone = lost(pipeline)
    return "\n".join([*lines, f"  lost: {' '.join(map(str, gone))}"] if gone else lines)


def _consumer_text(pipeline: Pipeline, consumer: Consumer) -> str:
    unprocessed = " ".join(map(str, consumer.unprocessed)) or "none"
    sent = f", on the way: commit of {' '.join(map(str, consumer.in_flight))}" if consumer.in_flight else ""
    return (
        f"  {consumer.name} ({role(pipeline, consumer)}): position {consumer.position}, unprocessed {unprocessed}{sent}"
    )


def _sink_text(pipeline: Pipeline) -> str:
    offsets = sorted({each.offset for each in pipeline.sink.writes})
    cells = [f"{offset} {' '.join(pipeline.sink.appliers(offset))}{_twice(pipeline, offset)}" for offset in offsets]
    stored = "" if pipeline.sink.stored is None else f", next offset {pipeline.sink.stored}"
    held = "".join(f", {each.offset} held for {each.by}" for each in pipeline.sink.held)
    return (" | ".join(cells) or "empty") + held + stored


def _twice(pipeline: Pipeline, offset: int) -> str:
    times = pipeline.sink.times(offset)
    return {0: "", 1: "", 2: " (twice)"}.get(times, f" ({times} times)")


NAMES, ROOM, MOST_CELLS, WIDEST = 156, 740, 16, 74  # pixels: of names, of all offsets; how many, and of one at most
MARK_HEIGHT, LANE_HEIGHT, CELL_HEIGHT, POLLED_HEIGHT = 24, 72, 46, 32  # pixels; the first of the words at a mark
ONCE, TWICE, LOST, UNPROCESSED, HELD_BACK = svg.COMMITTED, svg.TWICE, svg.LOST, svg.COPIED, svg.OPEN
FILLS = {
    HELD_BACK: "held until a checkpoint",
    UNPROCESSED: "polled, not processed",
    ONCE: "took effect once",
    TWICE: "more than once",
    LOST: "lost",
}
NAMED = ("A", "B")  # whose lanes are there from the start, so that all frames have one size


def draw_commits(
    frame: Frame[Pipeline, CommitEvent],
    before: Frame[Pipeline, CommitEvent] | None = None,
    title: str = "Group billing, one partition of orders",
) -> Picture:
    """One moment of a group that reads a partition, drawn.

    Parameters
    ----------
    frame, before : Frame
        A frame of the trace and the one before it, whose committed offset is shown where it has changed.
    title : str
        The heading.

    Examples
    --------
    >>> from kafkalearn.commits import undisturbed
    >>> draw_commits(undisturbed("each batch")[3]).label
    'A processes 0: the result takes effect.'
    """
    pipeline, was = frame.state, frame.state if before is None else before.state
    axis = _axis(pipeline)
    names = sorted({*NAMED, *(each.name for each in pipeline.consumers)})
    written = [str(each.offset) for each in pipeline.written]
    shown = ", ".join(["..."] * (len(written) > 10) + written[-10:]) or "none"
    counts = f"lost {len(lost(pipeline))}, doubled {len(doubled(pipeline))}"
    has_checkpoints = pipeline.sink.held or any(isinstance(each, model.Checkpointed) for each in pipeline.effects)
    page = stack(
        at_ends(
            label(title, svg.TITLE, bold=True),
            label(f"{pipeline.now_ms / 1000:.1f} s", svg.TITLE, at_end=True),
        ),
        space(height=6),
        _log(axis, pipeline, was),
        *(_consumer(axis, frame, was, name) for name in names),
        rule(),
        _sink(axis, pipeline, was),
        at_ends(
            label(f"commits written: {shown}", svg.BODY),
            label(counts, svg.BODY + 2, bold=True, at_end=True),
        ),
        space(height=4),
        legend([each for each in FILLS if has_checkpoints or each != HELD_BACK], FILLS, width=WIDE - 60),
    )
    return sheet(page, describe_commits(frame, before))


def _axis(pipeline: Pipeline) -> Axis:
    """The offsets that are shown: all, or those around where the group reads."""
    low = max([each.position for each in pipeline.consumers] + [pipeline.committed or 0])
    count = max(1, min(MOST_CELLS, pipeline.log_end))
    first = max(0, min(low - count // 2, pipeline.log_end - count))
    return Axis(LEFT + NAMES, first, count, min(WIDEST, ROOM / count))


def _log(axis: Axis, pipeline: Pipeline, was: Pipeline) -> Block:
    """The log, and above it the committed offset with its metadata."""
    records, before = (
        {at: RecordCell(str(at), svg.NOTHING) for at in range(each.log_start, each.log_end)} for each in (pipeline, was)
    )
    committed, is_new, foot = pipeline.committed, len(was.written) < len(pipeline.written), MARK_HEIGHT + CELL_HEIGHT
    return free(
        WIDE,
        foot + 12,
        *([label("nothing is committed", svg.BODY, svg.MUTED).draw] if committed is None else []),
        beside(label("log", svg.BODY), height=CELL_HEIGHT).at(0, MARK_HEIGHT),
        lambda _, y: lane(axis, records, before, y + MARK_HEIGHT, CELL_HEIGHT),
        lambda _, y: [mark(axis, committed, "committed", (y + 20, y + foot + 6), y + 14, is_new=is_new)],
        lambda _, y: [_metadata(axis.x(committed or 0), y + 14, pipeline.metadata)],
    )


def _metadata(x: float, y: float, metadata: str) -> str:
    """The text that was committed with an offset, on the side of it where there is room."""
    if not metadata:
        return ""
    apart, words = 72, quoted(metadata)
    is_left = x + apart + svg.text_width(words) > LEFT + WIDE
    return svg.text(x - apart if is_left else x + apart, y, words, svg.SMALL, "end" if is_left else "start")


def _consumer(axis: Axis, frame: Frame[Pipeline, CommitEvent], was: Pipeline, name: str) -> Block:
    """A consumer: what it has polled and not processed, and its position; what it had when it ended is a ghost."""
    pipeline, consumer, old = frame.state, frame.state.consumer(name), was.consumer(name)
    position, polled, left, sent = None, {}, {}, ""
    does, look = "not there", svg.stress(False, svg.MUTED)
    if consumer is not None:
        position, polled = consumer.position, _polled(consumer.unprocessed)
        sent = f"sent: {', '.join(map(str, consumer.in_flight))}" if consumer.in_flight else ""
        does, look = role(pipeline, consumer), svg.stress(False)
    elif isinstance(frame.event, model.Close | model.Crash) and frame.event.by == name:
        ended = last_of(pipeline, model.Closed, model.Crashed)
        does, look, left = type(ended).__name__.lower(), svg.stress(True), _polled(ended.unprocessed)
    is_bold = look["bold"] or consumer is not None
    is_new = old is not None and old.position != position
    row = free(
        WIDE,
        LANE_HEIGHT,
        beside(label(name, svg.TITLE, look["colour"], bold=is_bold, width=30), label(does, svg.BODY, **look)).at(0, 8),
        label(sent, colour=svg.MUTED).at(30, 38),
        lambda _, y: lane(axis, polled, left or polled, y + 10, POLLED_HEIGHT),
        lambda _, y: [mark(axis, position, "position", (y + 3, y + 47), y + 64, is_new=is_new, is_open=True)],
    )
    return stack(rule(), row)


def _polled(offsets: tuple[int, ...]) -> dict[int, RecordCell]:
    return {each: RecordCell(str(each), UNPROCESSED) for each in offsets}


def _sink(axis: Axis, pipeline: Pipeline, was: Pipeline) -> Block:
    """What took effect, by whom; and the next offset where it is stored with the results."""
    stored, is_new = pipeline.sink.stored, pipeline.sink.stored != was.sink.stored
    empty = {at: RecordCell("", svg.NOTHING) for at in range(pipeline.log_end)}
    top, foot = 10, 10 + CELL_HEIGHT
    return free(
        WIDE,
        foot + 26,
        beside(label("in the sink", svg.BODY), height=CELL_HEIGHT).at(0, top),
        lambda _, y: lane(axis, empty | _results(pipeline), empty | _results(was), y + top, CELL_HEIGHT),
        lambda _, y: [mark(axis, stored, "stored", (y + 6, y + foot + 4), y + foot + 18, is_new=is_new)],
    )


def _results(pipeline: Pipeline) -> dict[int, RecordCell]:
    """What became of each record, by its offset."""
    offsets = {each.offset for each in pipeline.sink.writes}
    times = {each: pipeline.sink.times(each) for each in sorted(offsets)}
    found = {each: RecordCell(_by(pipeline, each), TWICE if many > 1 else ONCE) for each, many in times.items() if many}
    found |= {each.offset: RecordCell(f"({each.by})", HELD_BACK) for each in pipeline.sink.held}
    return found | {each: RecordCell("lost", LOST) for each in lost(pipeline)}


def _by(pipeline: Pipeline, offset: int) -> str:
    """Whose results took effect; a long row of names is cut to how many there were."""
    appliers = pipeline.sink.appliers(offset)
    return " ".join(appliers) if len(appliers) < 4 else f"{len(appliers)} times"
