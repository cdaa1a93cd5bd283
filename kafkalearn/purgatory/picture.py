"""A purgatory, and a leader with the requests that wait on it, each as a picture and in words.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_purgatory, settings))``.
"""

from __future__ import annotations

from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, RecordCell, lane, mark
from kafkalearn.drawing.kit import (
    LEFT,
    WIDE,
    Block,
    beside,
    chip,
    fact,
    free,
    label,
    legend,
    line_of,
    named,
    rule,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.purgatory import operations
from kafkalearn.purgatory.operations import Purgatory, PurgatoryEvent
from kafkalearn.purgatory.requests import (
    Broker,
    ConsumerAnswered,
    ConsumerFetch,
    ConsumerParked,
    DelayedDelete,
    DeleteAnswered,
    DeleteParked,
    RequestEvent,
    SizedProduce,
)
from kafkalearn.replication import events
from kafkalearn.replication.state import Log

# The purgatory: who watches which key, what is done and still listed, and the timer.

KEYS, ROW_HEIGHT, CHIP_WIDTH, MOST_CHIPS = 214, 62, 136, 5
LEAST_ROWS = 3  # so that the pictures of a run have one size
WAITING, DONE = svg.OPEN, svg.Fill(svg.EMPTY, "/")
HOW = {
    operations.AT_ONCE: "is done at once: what it wants is there",
    operations.WHILE_LISTED: "was put on the lists, looks again, and is done",
    operations.BY_EVENT: "finds its condition true, and is done",
    operations.BY_FORCE: "is completed by force",
    operations.BY_TIME: "has waited long enough: time ends it",
}


def draw_purgatory(
    settings: operations.Settings,
    frame: Frame[Purgatory, PurgatoryEvent],
    before: Frame[Purgatory, PurgatoryEvent] | None = None,
) -> Picture:
    """One moment of a purgatory, drawn: a row for each key that is watched.

    Parameters
    ----------
    settings : Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.purgatory.operations.simulate` and the one before it.

    Examples
    --------
    >>> from kafkalearn.purgatory.operations import Settings, TryCompleteElseWatch
    >>> from kafkalearn.purgatory import delayed_produce
    >>> from kafkalearn.purgatory.operations import simulate
    >>> settings, events = Settings(), [TryCompleteElseWatch(delayed_produce("p1", {"orders-0": 7}))]
    >>> draw_purgatory(settings, simulate(settings, events)[1]).label
    'p1 waits until HW orders-0 >= 8, for at most 30,000 ms.'
    """
    purgatory: Purgatory = frame.state
    rows = purgatory.lists or (("nobody watches", ()),)
    facts = ", ".join(f"{name} = {value:,}" for name, value in purgatory.facts) or "none yet"
    page = stack(
        label(f"Who waits at {purgatory.wheels.now_ms:,} ms", svg.TITLE, bold=True),
        space(height=8),
        line_of(
            space(KEYS), label("watchers, as they came; grey: done, and still on the list", colour=svg.MUTED), gap=0
        ),
        *(_row(purgatory, key, names) for key, names in rows),
        space(height=ROW_HEIGHT * max(0, LEAST_ROWS - len(rows)) + 12),
        _said("facts", facts),
        space(height=6),
        _said("timer", _timer_words(purgatory)),
        space(height=4),
        label(_counts(settings, purgatory), colour=svg.MUTED),
    )
    return sheet(page, describe_purgatory(frame, before))


def _said(name: str, words: str) -> Block:
    return beside(label(name, svg.BODY, bold=True, width=KEYS), label(words, svg.BODY, width=WIDE - KEYS))


def _row(purgatory: Purgatory, key: str, names: tuple[str, ...]) -> Block:
    """A key, and who watches it."""
    is_walked = key in [effect.key for effect in purgatory.effects if isinstance(effect, operations.Checked)]
    shown = names[-MOST_CHIPS:]
    hidden = [label(f"+{len(names) - len(shown)}", colour=svg.MUTED)] if len(names) > len(shown) else []
    chips = line_of(*hidden, *(_chip(purgatory, name) for name in shown), gap=12)
    name = label(key, svg.BODY, svg.MARK if is_walked else svg.INK, bold=is_walked, width=KEYS)
    return stack(beside(name, chips, height=ROW_HEIGHT - 1), rule())


def _chip(purgatory: Purgatory, name: str) -> Block:
    is_new = any(
        isinstance(effect, operations.Parked | operations.Completed) and effect.name == name
        for effect in purgatory.effects
    )
    return chip([name[:12]], WAITING if purgatory.is_waiting(name) else DONE, width=CHIP_WIDTH, is_new=is_new)


def _timer_words(purgatory: Purgatory) -> str:
    timers = sorted(purgatory.wheels.timers, key=lambda timer: timer.expires_ms)
    shown = ", ".join(f"{timer.name} until {timer.expires_ms:,} ms" for timer in timers[:3])
    return shown + (f", {len(timers) - 3} more" if len(timers) > 3 else "") or "empty"


def _counts(settings: operations.Settings, purgatory: Purgatory) -> str:
    return (
        f"{len(purgatory.waiting)} waiting, {purgatory.watched_count} entries on lists; a purge comes when "
        f"{purgatory.estimated_count} (listed since the last one) - {purgatory.delayed_count} (in the timer) "
        f"> {settings.purge_interval}"
    )


def describe_purgatory(
    frame: Frame[Purgatory, PurgatoryEvent], before: Frame[Purgatory, PurgatoryEvent] | None = None
) -> str:
    """What the last event did, in a sentence or two.

    >>> from kafkalearn.purgatory.operations import CheckAndComplete, Settings
    >>> from kafkalearn.purgatory.operations import simulate
    >>> describe_purgatory(simulate(Settings(), [CheckAndComplete("orders-0")])[1])
    'The watchers of orders-0 are called: 0 completed.'
    """
    purgatory: Purgatory = frame.state
    done = [f"{each.name} {HOW[each.how]}." for each in purgatory.effects if isinstance(each, operations.Completed)]
    match frame.event:
        case operations.TryCompleteElseWatch(operation):
            preposition = "for" if operation.condition == operations.Never() else "until"
            words = f"{operation.name} waits {preposition} {operation.condition}"
            is_waiting = purgatory.is_waiting(operation.name)
            first = [f"{words}, for at most {operation.timeout_ms:,} ms."] if is_waiting else []
        case operations.FactChanged() | operations.TimePassed():
            first = [f"{in_words(frame.event)}."]
        case operations.CheckAndComplete(key):
            count = sum(isinstance(each, operations.Completed) for each in purgatory.effects)
            first = [f"The watchers of {key} are called: {count} completed."]
        case operations.ForceComplete():
            first = []
        case _:
            first = ["Nobody waits."]
    dropped = sum(each.dropped_count for each in purgatory.effects if isinstance(each, operations.Purged))
    purged = [f"The lists are purged: {dropped} entries of completed operations go."] if dropped else []
    return " ".join([*first, *done, *purged])


def purgatory_text(
    frame: Frame[Purgatory, PurgatoryEvent], before: Frame[Purgatory, PurgatoryEvent] | None = None
) -> str:
    """The same as plain text; completed operations that are still listed stand in brackets.

    >>> from kafkalearn.purgatory.operations import Settings, TryCompleteElseWatch
    >>> from kafkalearn.purgatory import delayed_produce
    >>> from kafkalearn.purgatory.operations import simulate
    >>> print(purgatory_text(simulate(Settings(), [TryCompleteElseWatch(delayed_produce("p1", {"a-0": 7}))])[1]))
    p1 waits until HW a-0 >= 8, for at most 30,000 ms.
      a-0: p1
      timer: p1 until 30,000 ms
    """
    purgatory: Purgatory = frame.state
    lines = [describe_purgatory(frame, before)]
    for key, names in purgatory.lists:
        lines.append(f"  {key}: " + ", ".join(n if purgatory.is_waiting(n) else f"[{n}]" for n in names))
    return "\n".join([*lines, f"  timer: {_timer_words(purgatory)}"])


# A leader and all who wait for it: its log with its marks, and who waits, in four rows.

NAMES, CELL, CELL_HEIGHT, MOST_CELLS = 262, 62, 46, 10
FILLS = {svg.COMMITTED: "below the HW: committed", svg.OPEN: "written"}


def draw_requests(frame: Frame[Broker, RequestEvent], before: Frame[Broker, RequestEvent] | None = None) -> Picture:
    """One moment of a partition's leader, drawn with the requests that wait on it.

    Parameters
    ----------
    frame, before : Frame
        A frame of `kafkalearn.purgatory.requests.simulate` and the one before it.

    Examples
    --------
    >>> from kafkalearn.purgatory.requests import ConsumerFetch, Settings, simulate
    >>> draw_requests(simulate(Settings(replica_count=2), [ConsumerFetch("c1", 0)])[1]).label
    'c1 asks from offset 0: nothing is committed there, so it waits.'
    """
    broker: Broker = frame.state
    log = _log(broker, None if before is None else before.state)
    page = stack(
        label(f"A leader and those who wait, at {broker.partition.now_ms:,} ms", svg.TITLE, bold=True),
        space(height=6),
        legend(FILLS, FILLS, width=WIDE),
        space(height=6),
        log,
        *(
            stack(rule(), space(height=8), named(title, aside, line_of(*entries, gap=12), names=NAMES, height=52))
            for title, aside, entries in (
                (title, aside, [fact(words, is_new=is_new) for words, is_new in entries])
                for title, aside, entries in _waiting(broker)
            )
        ),
    )
    return sheet(page, describe_requests(frame, before))


def _log(broker: Broker, was: Broker | None) -> Block:
    """The leader's log with its marks; below the records their offsets."""
    leader = broker.partition.leader
    if leader is None:
        return named("no leader", "", space(), names=NAMES, height=106)
    earlier = leader if was is None or was.partition.leader is None else was.partition.leader
    first = max(0, leader.log.log_end_offset - MOST_CELLS)
    axis = Axis(LEFT + NAMES + 40, first, MOST_CELLS, CELL)
    high_watermark, end = leader.log.high_watermark, leader.log.log_end_offset
    marks = {"HW = LEO =": end} if high_watermark == end else {"HW": high_watermark, "LEO": end}
    start = f"log start {leader.log.log_start_offset}" if leader.log.log_start_offset else ""
    names = named(f"broker {broker.partition.controller.leader} leads", start, space(), names=NAMES)
    return free(
        WIDE,
        106,
        lambda x, y: names.draw(x, y + 28),
        lambda _, y: lane(axis, _cells(broker, leader.log), _cells(was or broker, earlier.log), y + 26, CELL_HEIGHT),
        lambda _, y: [axis.numbers(y + 92)],
        lambda _, y: [
            mark(axis, at, name, (y + 20, y + 30 + CELL_HEIGHT), y + 14, is_new=False) for name, at in marks.items()
        ],
    )


def _cells(broker: Broker, log: Log) -> dict[int, RecordCell]:
    """The records of a log, by offset, with their sizes."""
    offsets = range(log.log_start_offset, log.log_end_offset)
    fills = {offset: svg.COMMITTED if offset < log.high_watermark else svg.OPEN for offset in offsets}
    return {offset: RecordCell(f"{broker.record_bytes[offset]} B", fill) for offset, fill in fills.items()}


def _waiting(broker: Broker) -> list[tuple[str, str, list[tuple[str, bool]]]]:
    """The rows: what is waited for, and each who waits, with whether it came just now."""
    leader = broker.partition.leader
    followers, producers = ((), ()) if leader is None else (leader.waiting.fetches, leader.waiting.produces)
    new_fetches = {
        each.broker_id for each in broker.effects if isinstance(each, events.FetchHandled) and each.is_parked
    }
    new_produces = {each.request for each in broker.effects if isinstance(each, events.ProduceParked)}
    new_consumers = {each.name for each in broker.effects if isinstance(each, ConsumerParked)}
    new_deletes = {each.request for each in broker.effects if isinstance(each, DeleteParked)}
    return [
        (
            "followers",
            "wait for an append",
            [
                (f"broker {each.broker_id} from {each.fetch_offset}", each.broker_id in new_fetches)
                for each in followers
            ],
        ),
        (
            "consumers",
            "wait for committed bytes",
            [(_consumer_words(broker, each.fetch), each.fetch.name in new_consumers) for each in broker.consumers],
        ),
        (
            "producers, acks=all",
            "wait for the HW",
            [(f"p{each.request}: HW {each.required_offset}", each.request in new_produces) for each in producers],
        ),
        (
            "deleting records",
            "wait for the low watermark",
            [
                (f"d{each.request}: {broker.low_watermark} of {each.required_offset}", each.request in new_deletes)
                for each in broker.deletes
            ],
        ),
    ]


def _consumer_words(broker: Broker, fetch: ConsumerFetch) -> str:
    return f"{fetch.name} from {fetch.offset}: {broker.committed_bytes(fetch.offset)} of {fetch.min_bytes} B"


def describe_requests(frame: Frame[Broker, RequestEvent], before: Frame[Broker, RequestEvent] | None = None) -> str:
    """What the last event did, and who was woken by it.

    >>> from kafkalearn.purgatory.requests import ConsumerFetch, Settings, SizedProduce, simulate
    >>> from kafkalearn.replication import Produce
    >>> describe_requests(simulate(Settings(replica_count=1), [ConsumerFetch("c1", 0), SizedProduce(Produce())])[2])
    'A producer appends with acks=all. p1 gets the answer: written. c1 is woken, the log is read again: 1 record, HW 1.'
    """
    broker: Broker = frame.state
    verb = "gets" if isinstance(frame.event, ConsumerFetch) else "is woken, the log is read again:"
    effects = [_effect_words(effect, verb) for effect in broker.effects]
    return " ".join(words for words in [_event_words(frame.event, broker), *effects] if words)


def _event_words(event: object, broker: Broker) -> str:
    match event:
        case None:
            return "An empty partition; nobody waits."
        case ConsumerFetch(name, offset, min_bytes):
            parked = next((each for each in broker.effects if isinstance(each, ConsumerParked)), None)
            if parked is None:
                return f"{name} asks from offset {offset}."
            some = "nothing is committed there"
            if min_bytes > 1:
                some = f"the first read finds {parked.found_bytes:,} of {min_bytes:,} bytes"
            return f"{name} asks from offset {offset}: {some}, so it waits."
        case DelayedDelete(before_offset):
            below = "up to the HW" if before_offset < 0 else f"below offset {before_offset}"
            return f"An administrator deletes the records {below}."
        case SizedProduce() | events.TimePassed():
            return f"{capitalised(in_words(event))}."
        case events.Fetch(broker_id):
            return f"Broker {broker_id} fetches."
        case events.BrokerFrozen(broker_id):
            return f"Broker {broker_id} freezes."
        case events.LeaderElected(broker_id):
            return f"Broker {broker_id} is elected."
    return f"{type(event).__name__}."


def _effect_words(effect: object, verb: str) -> str:
    match effect:
        case events.FetchHandled(is_parked=True):
            return "There is nothing new: its fetch waits."
        case events.FetchAnswered(broker_id, high_watermark, records):
            return f"Broker {broker_id} gets {counted(len(records), 'record')} and HW {high_watermark}."
        case events.ProduceParked(request):
            return f"p{request} waits for the HW."
        case events.ProduceAnswered(request, error):
            return f"p{request} gets the answer: {'written' if error == events.NONE else error}."
        case DeleteParked():
            return f"{capitalised(in_words(effect))}."
        case DeleteAnswered(request, low_watermark, error):
            answer = f"deleted, the low watermark is {low_watermark}" if error == events.NONE else error
            return f"d{request} gets the answer: {answer}."
        case ConsumerAnswered(name, high_watermark, records, error):
            answer = f"{counted(len(records), 'record')}, HW {high_watermark}" if error == events.NONE else error
            return f"{name} {verb} {answer}."
    return ""


def requests_text(frame: Frame[Broker, RequestEvent], before: Frame[Broker, RequestEvent] | None = None) -> str:
    """The same as plain text.

    >>> from kafkalearn.purgatory.requests import ConsumerFetch, Settings, simulate
    >>> print(requests_text(simulate(Settings(replica_count=2), [ConsumerFetch("c1", 0)])[1]))
    c1 asks from offset 0: nothing is committed there, so it waits.
    time 0 ms, HW 0, LEO 0
      followers: nobody
      consumers: c1 from 0: 0 of 1 B
      producers, acks=all: nobody
      deleting records: nobody
    """
    broker: Broker = frame.state
    leader = broker.partition.leader
    ends = "no leader" if leader is None else f"HW {leader.high_watermark}, LEO {leader.log_end_offset}"
    lines = [describe_requests(frame, before), f"time {broker.partition.now_ms} ms, {ends}"]
    for title, _, entries in _waiting(broker):
        lines.append(f"  {title}: " + (", ".join(words for words, _ in entries) or "nobody"))
    return "\n".join(lines)
