"""A group that reads one partition, in words and as a picture.

In the picture columns are offsets: a record goes down from the log through a consumer into the sink. The committed
offset points at the log from above, as the next record to read.
"""

from __future__ import annotations

from typing import TypeVar

from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.commits import model
from kafkalearn.commits.model import CommitEvent, Consumer, Pipeline, doubled, lost
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import ghost, legend
from kafkalearn.drawing.player import Picture, picture

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


LEFT, ROOM, MOST_CELLS, WIDEST = 170, 805, 16, 74
LOG_TOP, LANES_TOP, LANE_HEIGHT, CELL_HEIGHT = 128, 196, 74, 48
ONCE, TWICE, LOST, UNPROCESSED, HELD_BACK = (
    svg.COMMITTED,
    svg.TWICE,
    svg.LOST,
    svg.COPIED,
    svg.OPEN,
)
NAMES = ("A", "B")  # whose lanes are there from the start, so that all frames have one size


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
    pipeline = frame.state
    columns = _Columns(pipeline)
    names = sorted({*NAMES, *(each.name for each in pipeline.consumers)})
    sink_top = LANES_TOP + LANE_HEIGHT * len(names) + 16
    return picture(
        sink_top + CELL_HEIGHT + 88,
        svg.text(25, 38, title, svg.TITLE, bold=True),
        svg.text(svg.WIDTH - 25, 38, f"{pipeline.now_ms / 1000:.1f} s", svg.TITLE, "end"),
        *_commit_pointer(columns, pipeline, before),
        *_log(columns, pipeline),
        *(_lane(columns, frame, name, LANES_TOP + at * LANE_HEIGHT) for at, name in enumerate(names)),
        *_sink(columns, pipeline, sink_top),
        *_foot(pipeline, sink_top + CELL_HEIGHT),
        label=describe_commits(frame, before),
    )


class _Columns:
    """Which offsets are shown, and where."""

    def __init__(self, pipeline: Pipeline) -> None:
        low = max([each.position for each in pipeline.consumers] + [pipeline.committed or 0])
        count = max(1, min(MOST_CELLS, pipeline.log_end))
        first = max(0, min(low - count // 2, pipeline.log_end - count))
        self.offsets = range(first, first + count)
        self.width = min(WIDEST, ROOM / count)

    def x(self, offset: int) -> float:
        """The left edge of an offset's column, or of the border of what is shown."""
        place = min(max(offset, self.offsets[0]), self.offsets[-1] + 1)
        return LEFT + (place - self.offsets[0]) * self.width

    def box(self, offset: int, top: float, height: float = CELL_HEIGHT) -> tuple[float, float, float, float]:
        """A cell in an offset's column."""
        return self.x(offset) + 3, top, self.width - 6, height

    def middle(self, offset: int) -> float:
        """The middle of an offset's column."""
        return self.x(offset) + self.width / 2


def _commit_pointer(columns: _Columns, pipeline: Pipeline, before: Frame[Pipeline, CommitEvent] | None) -> list[str]:
    label = svg.text(25, 104, "committed", svg.BODY)
    if pipeline.committed is None:
        return [label, svg.text(LEFT, 104, "nothing", svg.BODY, colour=svg.MUTED)]
    x = columns.x(pipeline.committed)
    is_new = before is not None and len(before.state.written) < len(pipeline.written)
    colour = svg.MARK if is_new else svg.INK
    return [
        label,
        svg.pointer(x, LOG_TOP - 3, colour, 11),
        svg.line(x, LOG_TOP - 6, x, LOG_TOP + CELL_HEIGHT + 8, colour, svg.STRONG),
        svg.text(x + 15, 108, str(pipeline.committed), svg.BODY + 2, colour=colour, bold=True),
        *_metadata(x + 15 + svg.text_width(str(pipeline.committed), 14), pipeline),
    ]


def _metadata(x: float, pipeline: Pipeline) -> list[str]:
    """The text that was committed with the offset, on the side where there is room."""
    if not pipeline.metadata:
        return []
    words = quoted(pipeline.metadata)
    is_left = x + svg.text_width(words, 9) > svg.WIDTH - 20
    return [svg.text(x - 60 if is_left else x, 108, words, svg.SMALL, "end" if is_left else "start")]


def _log(columns: _Columns, pipeline: Pipeline) -> list[str]:
    there = [each for each in columns.offsets if pipeline.log_start <= each < pipeline.log_end]
    boxes = [columns.box(each, LOG_TOP) for each in there]
    numbers = [(columns.middle(each), LOG_TOP + 32, str(each)) for each in there]
    return [
        svg.text(25, LOG_TOP + 32, "log, offset", svg.BODY),
        svg.filled(svg.NOTHING, *boxes),
        svg.words_at(numbers, svg.BODY + 2, font_weight="bold"),
    ]


def _lane(columns: _Columns, frame: Frame[Pipeline, CommitEvent], name: str, top: float) -> str:
    pipeline, consumer = frame.state, frame.state.consumer(name)
    rule = svg.line(25, top, svg.WIDTH - 25, top, svg.FAINT, 1)
    if consumer is None:
        just_ended = isinstance(frame.event, model.Close | model.Crash) and frame.event.by == name
        return "\n".join([rule, *_gone(columns, pipeline, name, top, just_ended)])
    position = columns.x(consumer.position)
    boxes, numbers = _polled(columns, consumer.unprocessed, top)
    sent = f"sent: {', '.join(map(str, consumer.in_flight))}" if consumer.in_flight else ""
    return "\n".join(
        [
            rule,
            svg.text(25, top + 29, name, svg.TITLE, bold=True),
            svg.text(54, top + 28, role(pipeline, consumer), svg.BODY),
            svg.text(54, top + 52, sent, svg.SMALL, colour=svg.MUTED),
            svg.filled(UNPROCESSED, *boxes),
            svg.words_at(numbers, svg.BODY),
            svg.polygon([(position, top + 42), (position - 9, top + 56), (position + 9, top + 56)], svg.INK),
            _position_words(position, consumer, top),
        ]
    )


def _polled(columns: _Columns, offsets: tuple[int, ...], top: float) -> tuple[list[svg.Box], list[svg.Placed]]:
    """The boxes of records that were polled and not processed, and the numbers in them."""
    shown = [each for each in offsets if each in columns.offsets]
    boxes = [columns.box(each, top + 10, 30) for each in shown]
    return boxes, [(columns.middle(each), top + 31, str(each)) for each in shown]


def _position_words(x: float, consumer: Consumer, top: float) -> str:
    words = f"position {consumer.position}"
    if x > svg.WIDTH - 160:
        return svg.text(x - 14, top + 60, words, svg.SMALL + 1, "end")
    return svg.text(x + 14, top + 60, words, svg.SMALL + 1)


def _gone(columns: _Columns, pipeline: Pipeline, name: str, top: float, just_ended: bool) -> list[str]:
    if not just_ended:
        return [
            svg.text(25, top + 29, name, svg.TITLE, colour=svg.MUTED),
            svg.text(54, top + 28, "not there", svg.BODY, colour=svg.MUTED),
        ]
    effect = last_of(pipeline, model.Closed, model.Crashed)
    boxes, numbers = _polled(columns, effect.unprocessed, top)
    return [
        svg.text(25, top + 29, name, svg.TITLE, colour=svg.MARK, bold=True),
        svg.text(54, top + 28, type(effect).__name__.lower(), svg.BODY, colour=svg.MARK, bold=True),
        *(ghost(box, words, svg.MARK) for box, (_, _, words) in zip(boxes, numbers, strict=True)),
    ]


def _sink(columns: _Columns, pipeline: Pipeline, top: float) -> list[str]:
    gone = {each for each in lost(pipeline) if each in columns.offsets}
    times = {each: pipeline.sink.times(each) for each in columns.offsets}
    looks = ((ONCE, {each for each in times if times[each] == 1}), (TWICE, {each for each in times if times[each] > 1}))
    parts = [svg.text(25, top + 30, "in the sink", svg.BODY)]
    every = [columns.box(each, top) for each in columns.offsets if each < pipeline.log_end]
    parts.append(svg.filled(svg.NOTHING, *every))
    held = {each.offset: each.by for each in pipeline.sink.held if each.offset in columns.offsets}
    for look, offsets in (*looks, (HELD_BACK, held.keys()), (LOST, gone)):
        boxes = [columns.box(each, top) for each in sorted(offsets)]
        parts += [
            svg.filled(look, *boxes),
        ]
    parts += [_who(columns, each, top, _by(pipeline, each)) for each, count in times.items() if count]
    parts += [_who(columns, each, top, f"({by})") for each, by in held.items()]
    parts += [_who(columns, each, top, "lost") for each in sorted(gone)]
    just_processed = [each.offset for each in pipeline.effects if isinstance(each, model.Processed)]
    for offset in set(just_processed) & set(columns.offsets):
        x, y, width, height = columns.box(offset, top)
        parts.append(svg.rect(x - 1, y - 1, width + 2, height + 2, stroke=svg.MARK, stroke_width=svg.STRONG, rx=3))
    if pipeline.sink.stored is not None:
        x = columns.x(pipeline.sink.stored)
        parts.append(
            svg.polygon([(x, top + CELL_HEIGHT + 3), (x - 9, top + CELL_HEIGHT + 17), (x + 9, top + CELL_HEIGHT + 17)])
        )
        parts.append(svg.text(x + 14, top + CELL_HEIGHT + 20, f"stored {pipeline.sink.stored}", svg.SMALL + 1))
    return parts


def _by(pipeline: Pipeline, offset: int) -> str:
    """Whose results took effect; a long row of names is cut to how many there were."""
    appliers = pipeline.sink.appliers(offset)
    return " ".join(appliers) if len(appliers) < 4 else f"{len(appliers)} times"


def _who(columns: _Columns, offset: int, top: float, words: str) -> str:
    size = svg.BODY if columns.width > 60 or len(words) < 4 else svg.SMALL
    return svg.text(columns.middle(offset), top + 30, words, size, "middle", bold=True)


def _foot(pipeline: Pipeline, top: float) -> list[str]:
    written = [str(each.offset) for each in pipeline.written]
    shown = "none" if not written else ", ".join(["..."] * (len(written) > 10) + written[-10:])
    counts = f"lost {len(lost(pipeline))}, doubled {len(doubled(pipeline))}"
    return [
        svg.text(25, top + 46, f"commits written: {shown}", svg.BODY),
        svg.text(svg.WIDTH - 25, top + 46, counts, svg.BODY + 2, "end", bold=True),
        *_legend(pipeline, top + 56),
    ]


def _legend(pipeline: Pipeline, y: float) -> list[str]:
    has_checkpoints = pipeline.sink.held or any(isinstance(each, model.Checkpointed) for each in pipeline.effects)
    names = {HELD_BACK: "held until a checkpoint"} if has_checkpoints else {}
    names |= {UNPROCESSED: "polled, not processed", ONCE: "took effect once", TWICE: "more than once", LOST: "lost"}
    return legend(names, names).draw(25, y)
