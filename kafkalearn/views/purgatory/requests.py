"""A partition and all who wait for it: its log with its marks, and who waits, in four rows."""

from __future__ import annotations

from kafkalearn.phrases import counted
from kafkalearn.purgatory.requests.effects import ConsumerAnswered, ConsumerParked, DeleteAnswered, DeleteParked
from kafkalearn.purgatory.requests.events import ConsumerFetch, DelayedDelete, RequestEvent, SizedProduce
from kafkalearn.purgatory.requests.state import Broker
from kafkalearn.replication.effects import NONE, FetchAnswered, FetchHandled, ProduceAnswered, ProduceParked
from kafkalearn.replication.events import BrokerFrozen, Fetch, LeaderElected, TimePassed
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, READ, SMALL, TITLE, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import edge, filled, line, rect, text

LOG_TOP, CELL_WIDTH, CELL_HEIGHT, LOG_LEFT, MOST_CELLS = 110, 62, 46, 330, 10
ROWS_TOP, ROW_HEIGHT, ROW_COUNT = 208, 62, 4
COMMITTED, UNCOMMITTED = Fill(READ, ""), fill(1)


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
    return picture(
        ROWS_TOP + ROW_COUNT * ROW_HEIGHT + 22,
        text(25, 38, f"A leader and those who wait, at {broker.partition.now_ms:,} ms", TITLE, bold=True),
        text(25, 66, "log: plain below the HW (committed), hatched above it", SMALL, colour=MUTED),
        *_log(broker),
        *(
            _row(title, aside, entries, ROWS_TOP + at * ROW_HEIGHT)
            for at, (title, aside, entries) in enumerate(_waiting(broker))
        ),
        label=describe_requests(frame, before),
    )


def _log(broker: Broker) -> list[str]:
    leader = broker.partition.leader
    if leader is None:
        return [text(25, LOG_TOP + 30, "no leader", BODY, bold=True)]
    log = leader.log
    first = max(log.log_start_offset, log.log_end_offset - MOST_CELLS)
    offsets = range(first, log.log_end_offset)
    parts = [text(25, LOG_TOP + 30, f"broker {broker.partition.controller.leader} leads", BODY, bold=True)]
    for at, offset in enumerate(offsets):
        x = LOG_LEFT + at * CELL_WIDTH
        look = COMMITTED if offset < log.high_watermark else UNCOMMITTED
        parts += [
            filled(look, (x, LOG_TOP, CELL_WIDTH - 4, CELL_HEIGHT)),
            rect(x, LOG_TOP, CELL_WIDTH - 4, CELL_HEIGHT, stroke=INK, stroke_width=1.5),
            text(x + CELL_WIDTH / 2 - 2, LOG_TOP + CELL_HEIGHT + 20, str(offset), SMALL, "middle", MUTED),
            text(x + CELL_WIDTH / 2 - 2, LOG_TOP + 30, f"{broker.record_bytes[offset]} B", SMALL, "middle"),
        ]
    if log.log_start_offset:
        parts.append(text(25, LOG_TOP + 54, f"log start {log.log_start_offset}", SMALL, colour=MARK, bold=True))
    for name, offset, y in (("HW", log.high_watermark, LOG_TOP - 12), ("LEO", log.log_end_offset, LOG_TOP - 12)):
        x = LOG_LEFT + max(0, offset - first) * CELL_WIDTH - 2
        is_shifted = name == "LEO" and log.high_watermark == log.log_end_offset
        words = f"HW = LEO = {offset}" if is_shifted else f"{name} {offset}"
        if name == "HW" and log.high_watermark == log.log_end_offset:
            continue
        parts += [
            line(x, y + 2, x, LOG_TOP + CELL_HEIGHT + 4, MARK, 4),
            text(x, y - 4, words, SMALL, "middle", bold=True),
        ]
    return parts


def _waiting(broker: Broker) -> list[tuple[str, str, list[tuple[str, bool]]]]:
    """The rows: what is waited for, and each who waits, with whether it came just now."""
    leader = broker.partition.leader
    followers, producers = ((), ()) if leader is None else (leader.waiting.fetches, leader.waiting.produces)
    new_fetches = {each.broker_id for each in broker.effects if isinstance(each, FetchHandled) and each.is_parked}
    new_produces = {each.request for each in broker.effects if isinstance(each, ProduceParked)}
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


def _row(title: str, aside: str, entries: list[tuple[str, bool]], top: float) -> str:
    parts = [
        line(25, top, WIDTH - 25, top, MUTED, 1),
        text(25, top + 28, title, BODY, bold=True),
        text(25, top + 49, aside, SMALL, colour=MUTED),
    ]
    x = LOG_LEFT - 60
    for words, is_new in entries:
        width = 9.2 * len(words) + 22
        parts += [
            rect(x, top + 12, width, 38, EMPTY, rx=5, **edge(is_new)),
            text(x + width / 2, top + 37, words, SMALL + 1, "middle"),
        ]
        x += width + 12
    return "\n".join(parts)


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
        case SizedProduce(produce):
            return f"A producer appends with acks={produce.acks}."
        case Fetch(broker_id):
            return f"Broker {broker_id} fetches."
        case TimePassed(ms):
            return f"{ms:,} ms pass."
        case BrokerFrozen(broker_id):
            return f"Broker {broker_id} freezes."
        case LeaderElected(broker_id):
            return f"Broker {broker_id} is elected."
    return f"{type(event).__name__}."


def _effect_words(effect: object, verb: str) -> str:
    match effect:
        case FetchHandled(is_parked=True):
            return "There is nothing new: its fetch waits."
        case FetchAnswered(broker_id, high_watermark, records):
            return f"Broker {broker_id} gets {counted(len(records), 'record')} and HW {high_watermark}."
        case ProduceParked(request):
            return f"p{request} waits for the HW."
        case ProduceAnswered(request, error):
            return f"p{request} gets the answer: {'written' if error == NONE else error}."
        case DeleteParked(request):
            return f"The leader has deleted them; d{request} waits for the other replicas."
        case DeleteAnswered(request, low_watermark, error):
            answer = f"deleted, the low watermark is {low_watermark}" if error == NONE else error
            return f"d{request} gets the answer: {answer}."
        case ConsumerAnswered(name, high_watermark, records, error):
            answer = f"{counted(len(records), 'record')}, HW {high_watermark}" if error == NONE else error
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
