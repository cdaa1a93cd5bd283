"""The same records pulled and pushed, in words and as a picture: the log with its readers above, the queues below.

`draw_push` draws one moment of a run, to the size that all its moments need.
"""

from __future__ import annotations

from kafkalearn.base.errors import counted, listed
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.consuming import push
from kafkalearn.consuming.push import Brokers, Event, Queue, broker_load, missed_by_pull
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture


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


LEAST_LEFT, RIGHT = 150, 250
HIGHEST = 590  # a picture fits a window of 1280 x 800
HEAD, LOG, LEGEND = 52, 40, 30  # the heading of each half; the log's own lane; what the fills mean
LARGEST_CELL, SMALLEST_CELL = 46, 30
READ, SENT, WAITING = svg.fill(2), svg.fill(1), svg.fill(0)


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
    (1000.0, 266.0)
    """
    brokers = frame.state
    cells, count = _Cells(trace), len(brokers.readers)
    lane = min(42.0, max(24.0, (HIGHEST - 2 * HEAD - LOG - LEGEND - 24) / (2 * count)))
    bar = min(30.0, lane)
    pull, push = load_words(brokers)
    middle = HEAD + LOG + bar * count + 14
    parts = [
        _heading(0, "pull: one log, as in Kafka", pull),
        _log(brokers, cells, HEAD, is_marked=before is not None),
        *(_reader(brokers, cells, at, HEAD + LOG + at * bar, bar) for at in range(count)),
        svg.line(25, middle, svg.WIDTH - 25, middle, svg.FAINT, svg.HAIR),
        _heading(middle, "push: a queue for each consumer", push),
    ]
    for at, queue in enumerate(brokers.queues):
        parts.append(_queue(brokers, queue, cells, (middle + HEAD + at * lane, lane), before is not None))
    bottom = middle + HEAD + count * lane + 6
    refused = f"{counted(brokers.refused_count, 'record')} refused" if brokers.refused_count else ""
    parts += [_legend(bottom), svg.text(svg.WIDTH - 25, bottom + 18, refused, svg.SMALL, "end", svg.MARK, bold=True)]
    return picture(bottom + LEGEND, *parts, label=describe_push(frame))


class _Cells:
    """Where the cells of a run are drawn: right of the longest name, as large as the longest lane allows."""

    def __init__(self, trace: Trace[Brokers, Event]) -> None:
        states = [frame.state for frame in trace]
        names = [reader.consumer for reader in states[0].readers]
        held = [len(queue.held) for state in states for queue in state.queues]
        most = max(1, *(state.log_end - state.log_start for state in states), *held)
        self.left = max(LEAST_LEFT, 30 + svg.name_width(names) + 14)
        room = svg.WIDTH - self.left - RIGHT
        self.width = max(SMALLEST_CELL, min(LARGEST_CELL, room / most))
        self.shown = max(1, int(room / self.width + 0.001))

    def x(self, slot: int) -> float:
        return self.left + slot * self.width


def _legend(top: float) -> str:
    parts, x = [], 30.0
    for look, words in ((READ, "read"), (SENT, "sent, not acknowledged"), (WAITING, "waits to be sent")):
        parts.append(svg.legend([(x, look, words)], top + 18, size=(30, 20), up=16, gap=38, colour=svg.INK))
        x += 38 + svg.text_width(words) + 24
    return "\n".join(parts)


def _heading(top: float, words: str, load: str) -> str:
    return "\n".join(
        [
            svg.text(25, top + 36, words, svg.TITLE, bold=True),
            svg.text(svg.WIDTH - 25, top + 36, load, svg.BODY, "end", bold=True),
        ]
    )


def _cell(x: float, top: float, width: float, height: float, number: int, is_new: bool) -> str:
    box = (x, top + 3, width - 3, height - 7)
    edge = svg.outlined(box, **svg.edge(is_new))
    return "\n".join([edge, svg.text(x + (width - 3) / 2, top + height / 2 + 5, str(number), svg.SMALL, "middle")])


def _log(brokers: Brokers, cells: _Cells, top: float, is_marked: bool) -> str:
    """The log: its newest records where not all of them have room, and how many stand before them."""
    first = max(brokers.log_start, brokers.log_end - cells.shown)
    new = {each.offset for each in brokers.effects if isinstance(each, push.Appended)} if is_marked else set()
    parts = [svg.text(30, top + LOG / 2 + 5, "the log", svg.BODY, bold=True)]
    parts += [
        _cell(cells.x(number - first), top, cells.width, LOG, number, number in new)
        for number in range(first, brokers.log_end)
    ]
    older = f"and {first - brokers.log_start} older; " if first > brokers.log_start else ""
    words = f"{older}{brokers.log_start} deleted" if brokers.log_start else older.removesuffix("; ")
    parts.append(svg.text(svg.WIDTH - 25, top + LOG / 2 + 5, words, svg.SMALL, "end", svg.MUTED))
    return "\n".join(parts)


def _reader(brokers: Brokers, cells: _Cells, at: int, top: float, height: float) -> str:
    reader = brokers.readers[at]
    first = max(brokers.log_start, brokers.log_end - cells.shown)
    base, length = top + height / 2 + 5, brokers.log_end - first
    parts = [
        svg.text(30, base, svg.cut_name(reader.consumer), svg.SMALL),
        svg.rect(cells.left, top + 5, max(1, length) * cells.width - 3, height - 10, svg.EMPTY),
    ]
    if reader.position > first:
        box = (cells.left, top + 5, (reader.position - first) * cells.width - 3, height - 10)
        parts += [svg.filled(READ, box), svg.outlined(box, stroke=svg.INK)]
    missed = missed_by_pull(brokers, reader)
    words = f"offset {reader.position}, lag {brokers.log_end - reader.position}"
    parts.append(svg.text(svg.WIDTH - 25, base, f"{words}{f', missed {missed}' if missed else ''}", svg.SMALL, "end"))
    return "\n".join(parts)


def _queue(brokers: Brokers, queue: Queue, cells: _Cells, box: tuple[float, float], is_marked: bool) -> str:
    """A queue: what was sent is amber, what waits is plain."""
    top, height = box
    base, new = top + height / 2 + 5, brokers.log_end - 1
    is_new = is_marked and any(isinstance(each, push.Appended) for each in brokers.effects)
    parts = [svg.text(30, base, svg.cut_name(queue.consumer), svg.SMALL)]
    if not queue.held:
        parts.append(svg.text(cells.left, base, "empty", svg.SMALL, colour=svg.MUTED))
    drawn = queue.held[: cells.shown]
    for slot, number in enumerate(drawn):
        look = SENT if slot < len(queue.unacknowledged) else WAITING
        parts.append(svg.filled(look, (cells.x(slot), top + 3, cells.width - 3, height - 7)))
        parts.append(_cell(cells.x(slot), top, cells.width, height, number, is_new and number == new))
    more = f"and {len(queue.held) - len(drawn)} newer; " if len(queue.held) > len(drawn) else ""
    words = f"{more}{len(queue.unacknowledged)} sent, {len(queue.waiting)} waiting"
    dropped = f", {queue.dropped_count} dropped" if queue.dropped_count else ""
    has_lost = is_marked and any(
        isinstance(each, push.Dropped) and each.consumer == queue.consumer for each in brokers.effects
    )
    parts.append(
        svg.text(
            svg.WIDTH - 25, base, words + dropped, svg.SMALL, "end", svg.MARK if has_lost else svg.INK, bold=has_lost
        )
    )
    return "\n".join(parts)
