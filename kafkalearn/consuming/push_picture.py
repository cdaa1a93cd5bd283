"""The same records pulled and pushed, in words and as a picture: the log with its readers above, the queues below.

`draw_push` draws one moment of a run, to the size that all its moments need.
"""

from __future__ import annotations

from kafkalearn.base.errors import counted, listed
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.consuming import push
from kafkalearn.consuming.push import Brokers, Event, Queue, broker_load, missed_by_pull
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    at_ends,
    bar,
    beside,
    cells,
    free,
    label,
    legend,
    rule,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture


def describe_push(frame: Frame[Brokers, Event], before: Frame[Brokers, Event] | None = None) -> str:
    """A sentence or two about a frame of `kafkalearn.consuming.push`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Process, Produce, Settings, simulate
    >>> for frame in simulate(Settings(("billing", "search")), [Produce(), Process("billing")]):
    ...     print(describe_push(frame))
    Nothing is written yet: the log is empty, and so are the queues of billing and search.
    Record 0 is written: once to the log, once to each queue. Pushed to billing: 0. Pushed to search: 0.
    billing processes 0: it pulled the record and commits 1; it acknowledges what was pushed, which is forgotten.
    """
    brokers = frame.state
    match frame.event:
        case push.Produce():
            return " ".join(_produce_words(brokers))
        case push.Process(consumer):
            return _process_words(brokers, consumer)
        case push.Rewind(consumer):
            (rewound,) = (each for each in brokers.effects if isinstance(each, push.Rewound))
            return (
                f"{consumer} goes back to offset {rewound.offset} of the log. The broker that pushes has nothing to "
                "go back to: it has forgotten what was acknowledged."
            )
    names = listed(reader.consumer for reader in brokers.readers)
    return f"Nothing is written yet: the log is empty, and so are the queues of {names}."


def _produce_words(brokers: Brokers) -> list[str]:
    number = brokers.log_end - 1
    words = [f"Record {number} is written: once to the log, once to each queue."]
    for effect in brokers.effects:
        match effect:
            case push.Refused():
                words[0] = f"Record {number} is written to the log; the broker that pushes refuses it: a queue is full."
            case push.Deleted(offset):
                words.append(f"Retention deletes record {offset} of the log.")
            case push.Dropped(consumer, dropped):
                words.append(f"The full queue of {consumer} drops {dropped}.")
            case push.Pushed(consumer, numbers):
                words.append(f"Pushed to {consumer}: {_numbers(numbers)}.")
    return words


def _process_words(brokers: Brokers, consumer: str) -> str:
    missed = [each.count for each in brokers.effects if isinstance(each, push.Missed)]
    pulled = [number for each in brokers.effects if isinstance(each, push.Pulled) for number in each.offsets]
    done = [number for each in brokers.effects if isinstance(each, push.Acknowledged) for number in each.numbers]
    position = brokers.reader(consumer).position
    were = "was" if missed == [1] else "were"
    gone = f"{counted(missed[0], 'record')} of the log {were} deleted unread. " if missed else ""
    if not pulled and not done:
        return f"{gone}{consumer} has processed all there is."
    if pulled == done:
        it = "the record" if len(pulled) == 1 else "the records"
        return (
            f"{gone}{consumer} processes {_numbers(pulled)}: it pulled {it} and commits {position}; it acknowledges "
            "what was pushed, which is forgotten."
        )
    from_log = f"pulls {_numbers(pulled)} and commits {position}" if pulled else "finds nothing more in the log"
    from_queue = f"of its queue it acknowledges {_numbers(done)}" if done else "its queue is empty"
    return f"{gone}{consumer} {from_log}; {from_queue}."


def _numbers(numbers: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, numbers))


def load_words(brokers: Brokers) -> tuple[str, str]:
    """What each broker keeps, a sentence for each.

    >>> from kafkalearn.consuming.push import Settings, start
    >>> load_words(start(Settings(("billing",))))
    ('the broker keeps 0 records and 1 offset', 'the broker keeps 0 copies, each with its state')
    """
    pull, push = broker_load(brokers)
    return (
        f"the broker keeps {counted(pull['records held'], 'record')} and {counted(pull['remembered'], 'offset')}",
        f"the broker keeps {counted(push['records held'], 'copy', 'copies')}, each with its state",
    )


def push_text(frame: Frame[Brokers, Event], before: Frame[Brokers, Event] | None = None) -> str:
    """A frame of `kafkalearn.consuming.push` in plain text: the log with its readers, and the queues.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Produce, Settings, simulate
    >>> print(push_text(simulate(Settings(("billing",), prefetch=1), [Produce(), Produce()])[-1]))
    Record 1 is written: once to the log, once to each queue.
    log: 0 1; the broker keeps 2 records and 1 offset
      billing: offset 0, lag 2, read 0, missed 0
    queues: the broker keeps 2 copies, each with its state
      billing: sent 0, waiting 1, read 0, dropped 0
    """
    brokers = frame.state
    pull, push = load_words(brokers)
    log = " ".join(map(str, range(brokers.log_start, brokers.log_end))) or "empty"
    lines = [describe_push(frame), f"log: {log}; {pull}"]
    for reader in brokers.readers:
        counts = f"read {reader.read_count}, missed {missed_by_pull(brokers, reader)}"
        lag = brokers.log_end - reader.position
        lines.append(f"  {reader.consumer}: offset {reader.position}, lag {lag}, {counts}")
    refused = f"; {counted(brokers.refused_count, 'record')} refused" if brokers.refused_count else ""
    lines.append(f"queues: {push}{refused}")
    for queue in brokers.queues:
        sent, waiting = (_numbers(each) or "nothing" for each in (queue.unacknowledged, queue.waiting))
        counts = f"read {queue.read_count}, dropped {queue.dropped_count}"
        lines.append(f"  {queue.consumer}: sent {sent}, waiting {waiting}, {counts}")
    return "\n".join(lines)


LEAST_NAMES, WORDS = 134, 225  # pixels: of names on the left, of counts on the right
HIGHEST = 590  # a picture fits a window of 1280 x 800
HEAD, LOG, LEGEND = 52, 40, 30  # the heading of each half; the log's own lane; what the fills mean
LARGEST_CELL, SMALLEST_CELL = 46, 30
READ, SENT, WAITING = svg.fill(2), svg.fill(1), svg.fill(0)
FILLS = {READ: "read", SENT: "sent, not acknowledged", WAITING: "waits to be sent"}


def draw_push(
    trace: Trace[Brokers, Event], frame: Frame[Brokers, Event], before: Frame[Brokers, Event] | None = None
) -> Picture:
    """One moment of a log and of queues that got the same records, drawn.

    Parameters
    ----------
    trace : tuple of Frame
        The whole run: every frame of it is drawn to the same size.
    frame, before : Frame
        A frame of it and the one before; without that one, what is new is not marked.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Produce, Settings, simulate
    >>> trace = simulate(Settings(("billing",)), [Produce()])
    >>> draw_push(trace, trace[1], trace[0]).size
    (1000.0, 259.25)
    """
    brokers, places, count = frame.state, _Places(trace), len(frame.state.readers)
    lane = min(42.0, max(24.0, (HIGHEST - 2 * HEAD - LOG - LEGEND - 24) / (2 * count)))
    pull, push = load_words(brokers)
    refused = f"{counted(brokers.refused_count, 'record')} refused" if brokers.refused_count else ""
    is_marked = before is not None
    page = stack(
        _heading("pull: one log, as in Kafka", pull),
        _log(brokers, places, is_marked=is_marked),
        *(_reader(brokers, places, at, min(30.0, lane)) for at in range(count)),
        space(height=10),
        rule(),
        space(height=6),
        _heading("push: a queue for each consumer", push),
        *(_queue(brokers, queue, places, lane, is_marked=is_marked) for queue in brokers.queues),
        space(height=6),
        at_ends(legend(FILLS, FILLS, width=WIDE - 250), label(refused, colour=svg.MARK, bold=True, at_end=True)),
    )
    return sheet(page, describe_push(frame), top=8, below=8)


class _Places:
    """The places of a run's records: right of the longest name, as wide as the longest lane allows."""

    def __init__(self, trace: Trace[Brokers, Event]) -> None:
        states = [frame.state for frame in trace]
        names = [reader.consumer for reader in states[0].readers]
        held = [len(queue.held) for state in states for queue in state.queues]
        most = max(1, *(state.log_end - state.log_start for state in states), *held)
        self.names = max(LEAST_NAMES, svg.name_width(names) + 28)
        room = WIDE - self.names - WORDS
        self.width = max(SMALLEST_CELL, min(LARGEST_CELL, room / most))
        self.shown = max(1, int(room / self.width + 0.001))

    def lane(self, name: Block, records: Block, words: Block, height: float) -> Block:
        """A name, records, and their counts at the right end."""
        named = free(self.names, name.height, name.draw)
        return at_ends(beside(named, records), words, height=height)


def _heading(words: str, load: str) -> Block:
    return at_ends(label(words, svg.TITLE, bold=True), label(load, svg.BODY, bold=True, at_end=True), height=44)


def _log(brokers: Brokers, places: _Places, *, is_marked: bool) -> Block:
    """The log: its newest records where not all of them have room, and how many stand before them."""
    first = max(brokers.log_start, brokers.log_end - places.shown)
    shown = range(first, brokers.log_end)
    new = {each.offset for each in brokers.effects if isinstance(each, push.Appended)} if is_marked else set()
    records = cells(
        len(shown),
        places.width,
        {svg.Fill(svg.PANEL, ""): range(len(shown))},
        {offset - first: str(offset) for offset in shown},
        height=LOG - 7,
        marked=[offset - first for offset in shown if offset in new],
    )
    older = f"and {first - brokers.log_start} older; " if first > brokers.log_start else ""
    words = f"{older}{brokers.log_start} deleted" if brokers.log_start else older.removesuffix("; ")
    name = label("the log", svg.BODY, bold=True)
    return places.lane(name, records, label(words, colour=svg.MUTED, at_end=True), LOG)


def _reader(brokers: Brokers, places: _Places, at: int, height: float) -> Block:
    """How far a reader has come in the log."""
    reader = brokers.readers[at]
    first = max(brokers.log_start, brokers.log_end - places.shown)
    long = max(1, brokers.log_end - first) * places.width - 4
    read = bar([(READ, max(0, (reader.position - first) * places.width - 4))], height=height - 10)
    track = free(
        long + 4,
        height - 10,
        lambda x, y: [svg.filled(svg.NOTHING, (x + 2, y, long, height - 10))],
        lambda x, y: read.draw(x + 2, y),
    )
    missed = missed_by_pull(brokers, reader)
    words = f"offset {reader.position}, lag {brokers.log_end - reader.position}{f', missed {missed}' if missed else ''}"
    return places.lane(label(svg.cut_name(reader.consumer)), track, label(words, at_end=True), height)


def _queue(brokers: Brokers, queue: Queue, places: _Places, height: float, *, is_marked: bool) -> Block:
    """A queue: what was sent is amber, what waits is blue."""
    is_new = is_marked and any(isinstance(each, push.Appended) for each in brokers.effects)
    drawn = queue.held[: places.shown]
    sent_count = min(len(queue.unacknowledged), len(drawn))
    records = cells(
        len(drawn),
        places.width,
        {SENT: range(sent_count), WAITING: range(sent_count, len(drawn))},
        {slot: str(number) for slot, number in enumerate(drawn)},
        height=height - 7,
        marked=[slot for slot, number in enumerate(drawn) if is_new and number == brokers.log_end - 1],
    )
    more = f"and {len(queue.held) - len(drawn)} newer; " if len(queue.held) > len(drawn) else ""
    dropped = f", {queue.dropped_count} dropped" if queue.dropped_count else ""
    words = f"{more}{len(queue.unacknowledged)} sent, {len(queue.waiting)} waiting{dropped}"
    has_lost = is_marked and any(
        isinstance(each, push.Dropped) and each.consumer == queue.consumer for each in brokers.effects
    )
    return places.lane(
        label(svg.cut_name(queue.consumer)),
        records if drawn else label("empty", colour=svg.MUTED),
        label(words, at_end=True, **svg.stress(has_lost)),
        height,
    )
