"""A group that reads one partition in words: a sentence about a frame, and the whole of it as text."""

from __future__ import annotations

from typing import TypeVar

from kafkalearn.commits.effects import (
    AutoCommitSent,
    Checkpointed,
    CheckpointRefused,
    Closed,
    CommitRefused,
    CommitSent,
    Committed,
    Crashed,
    Failed,
    Polled,
    Processed,
    Reset,
    Started,
)
from kafkalearn.commits.events import (
    Answered,
    Append,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitEvent,
    CommitSync,
    Crash,
    Delete,
    Poll,
    Process,
    Rebalance,
    Start,
    Wait,
)
from kafkalearn.commits.lost_and_doubled import lost
from kafkalearn.commits.sinks import HELD, KNOWN, REFUSED
from kafkalearn.commits.state import NO_GENERATION, Consumer, Pipeline
from kafkalearn.phrases import counted
from kafkalearn.trace import Frame

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
            return _describe_begin(pipeline)
        case Start(by) | Assign(by):
            return _describe_start(pipeline, was, event, by)
        case Rebalance(to):
            return _describe_rebalance(pipeline, was, to)
        case Poll(by):
            return _describe_poll(pipeline, by)
        case Process(by):
            return f"{by} processes {_result(pipeline)}"
        case CommitSync(by):
            last = last_of(pipeline, Committed, CommitRefused)
            text = f" with {quoted(event.metadata)}" if event.metadata else ""
            return f"{by} commits {last.offset}{text} and waits for the answer: {_answer(last, by)}."
        case CommitAsync(by):
            return f"{by} sends the commit of {last_of(pipeline, CommitSent).offset} and goes on without an answer."
        case Answered(by):
            return _describe_answer(pipeline, was, by)
        case Checkpoint(by):
            return _describe_checkpoint(pipeline, event, by)
        case Close(by):
            last = _auto_commit(pipeline, ", and commits {}, its position")
            return f"{by} closes{_with_unprocessed(pipeline)}{last}."
        case Crash(by):
            return f"{by} crashes{_with_unprocessed(pipeline)}. The committed offset is {_committed(pipeline)}."
    return _describe_rest(event, pipeline)


def _describe_begin(pipeline: Pipeline) -> str:
    return (
        f"{pipeline.log_end} records are in the partition; the committed offset is {_committed(pipeline)}, and nobody "
        "reads."
    )


def _describe_start(pipeline: Pipeline, was: Pipeline, event: Start | Assign, by: str) -> str:
    effect = last_of(pipeline, Started, Reset, Failed)
    if isinstance(effect, Failed):
        return f"{by} cannot start: {effect.exception}."
    begins = f"begins at {effect.offset}"
    kept = pipeline.sink.stored
    if isinstance(effect, Reset):
        begins += ": no committed offset is there to begin at, so auto.offset.reset decides"
    else:
        begins += ", the committed offset" if kept is None else ", the offset stored with the results"
    if isinstance(event, Assign):
        return f"{by} starts on its own, outside the group, and {begins}."
    ousted = f" {was.owner} is out of the group and does not know it." if was.owner not in (None, by) else ""
    return f"{by} starts and {begins}.{ousted}"


def _describe_rebalance(pipeline: Pipeline, was: Pipeline, to: str) -> str:
    first, effect = _auto_commit(pipeline, ", after an auto commit of {}"), last_of(pipeline, Started, Reset, Failed)
    begins = f"cannot start: {effect.exception}" if isinstance(effect, Failed) else f"begins at {effect.offset}"
    return f"Rebalance: {was.owner} gives the partition up{first}; {to} {begins}."


def _auto_commit(pipeline: Pipeline, words: str) -> str:
    """The words with the offset of the auto commit in them; nothing if there was none."""
    return next((words.format(each.offset) for each in pipeline.effects if isinstance(each, AutoCommitSent)), "")


def _describe_poll(pipeline: Pipeline, by: str) -> str:
    first = ""
    (consumer,) = (each for each in pipeline.consumers if each.name == by)
    for effect in pipeline.effects:
        match effect:
            case AutoCommitSent(offset):
                first = f"An auto commit is due: {by} commits {offset}, its position. "
            case CommitRefused():
                first += f"It is {_answer(effect, by)}. "
            case Failed(exception):
                return f"{by} polls, and poll throws {exception}."
            case Reset(offset):
                first += f"Its position was deleted: auto.offset.reset sends it to {offset}. "
            case Polled(()):
                return f"{first}{by} polls and gets nothing."
    offsets = last_of(pipeline, Polled).offsets
    is_all = len(consumer.unprocessed) == len(offsets)
    done = "nothing is processed yet" if is_all else "older ones are unprocessed as well"
    return f"{first}{by} polls and gets {_span(offsets)}: its position is {consumer.position}, and {done}."


def _result(pipeline: Pipeline) -> str:
    last = last_of(pipeline, Processed)
    if last.answer == HELD:
        return f"{last.offset}: the result is held until the next checkpoint."
    written = pipeline.sink.writes[-1]
    if written.answer == KNOWN:
        return f"{written.offset}: the sink knows it already, nothing changes."
    if written.answer == REFUSED:
        return f"{written.offset}: refused, for the offset stored in the sink is {pipeline.sink.stored}."
    times = pipeline.sink.times(written.offset)
    again = {1: "", 2: ", for the second time"}.get(times, f", for the {times}th time")
    kept = "" if pipeline.sink.stored is None else f", and {pipeline.sink.stored} is stored with it as the next offset"
    return f"{written.offset}: the result takes effect{again}{kept}."


def _answer(effect: Committed | CommitRefused, by: str) -> str:
    return "stored" if isinstance(effect, Committed) else REFUSALS[effect.error].format(by=by)


def quoted(metadata: str) -> str:
    """A text that was committed; of a long one, its length."""
    return f"the text “{metadata}”" if len(metadata) <= 40 else f"a text of {len(metadata):,} characters"


def _describe_checkpoint(pipeline: Pipeline, event: Checkpoint, by: str) -> str:
    first = last_of(pipeline, Checkpointed, CheckpointRefused)
    if isinstance(first, CheckpointRefused):
        return f"{by}'s checkpoint at {first.offset} is refused, for another has gone on: {by} is cancelled."
    done = f"{by} makes a checkpoint: its results count now, and {first.offset} is stored with them."
    if not event.is_committed:
        return done
    return f"{done} Then it commits {first.offset}: {_answer(last_of(pipeline, Committed, CommitRefused), by)}."


def _describe_answer(pipeline: Pipeline, was: Pipeline, by: str) -> str:
    effect = last_of(pipeline, Committed, CommitRefused)
    arrives = f"{by}'s commit of {effect.offset} reaches the coordinator: {_answer(effect, by)}"
    is_back = isinstance(effect, Committed) and was.committed is not None and effect.offset < was.committed
    return arrives + (f". The committed offset goes back from {was.committed}." if is_back else ".")


def _with_unprocessed(pipeline: Pipeline) -> str:
    offsets = last_of(pipeline, Closed, Crashed).unprocessed
    return f" with {_span(offsets)} unprocessed" if offsets else ""


def _describe_rest(event: Append | Delete | Wait, pipeline: Pipeline) -> str:
    match event:
        case Append(record_count):
            return f"{counted(record_count, 'more record')}: the log end is {pipeline.log_end}."
        case Delete(log_start):
            return f"Retention deletes what is below {log_start}."
    return f"{event.ms / 1000:g} s pass."


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
    return "standalone" if consumer.generation == NO_GENERATION else "zombie"


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
