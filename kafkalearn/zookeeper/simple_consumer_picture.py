"""An application on the low-level consumer, shown: what it asked and was answered in words, and a picture.

In the picture stand what it believes, whom it asks, and what the brokers have. The settings come first, so that they
can be bound once: ``play(trace, partial(draw_simple_consumer, settings))``.
"""

from __future__ import annotations

from kafkalearn.base.errors import capitalised
from kafkalearn.base.facts import in_words, span
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    beside,
    cells,
    free,
    label,
    legend,
    panel,
    row,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.zookeeper import simple_consumer
from kafkalearn.zookeeper.fetching.cluster import BROKER_EVENTS, NO_CONNECTION, Appended
from kafkalearn.zookeeper.simple_consumer import (
    Fetch,
    Fetched,
    FindLeader,
    FindOffset,
    Reader,
    Settings,
    SimpleConsumerEvent,
)


def describe_simple_consumer(
    frame: Frame[Reader, SimpleConsumerEvent], before: Frame[Reader, SimpleConsumerEvent] | None = None
) -> str:
    """A sentence about a frame of `kafkalearn.zookeeper.simple_consumer`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching import Append, LeaderMoved
    >>> from kafkalearn.zookeeper.simple_consumer import Fetch, FindLeader, FindOffset, Settings, simulate
    >>> events = [Append("orders", 0, 3), FindLeader(2), FindOffset("smallest"), Fetch(), LeaderMoved("orders", 0, 2)]
    >>> for frame in simulate(Settings(), [*events, Fetch()]):
    ...     print(describe_simple_consumer(frame))
    The application knows no leader and no offset.
    Offsets 0 to 2 are new in orders-0.
    The application asks broker 2 who leads: broker 1.
    It asks for the smallest offset: 0.
    It fetches, and gets 0 to 2.
    Broker 2 leads orders-0 now.
    It fetches, and broker 1 answers NOT_LEADER_FOR_PARTITION.
    """
    if frame.event is None:
        return "The application knows no leader and no offset."
    return f"{capitalised(_words(frame))}."


def answer_words(effect: simple_consumer.Effect) -> str:
    """What a broker answered, in a few words.

    >>> answer_words(Fetched((3, 4))), answer_words(simple_consumer.Refused(1, "OFFSET_OUT_OF_RANGE"))
    ('3 to 4', 'OFFSET_OUT_OF_RANGE')
    """
    match effect:
        case simple_consumer.LeaderFound(_, leader):
            return f"broker {leader}"
        case simple_consumer.OffsetFound(offset):
            return str(offset)
        case simple_consumer.Fetched(offsets):
            return span(offsets) if offsets else "nothing new"
        case simple_consumer.TooLarge(offset):
            return f"{offset} is too large"
        case simple_consumer.Refused(_, error):
            return error
    return ""


def _words(frame: Frame[Reader, SimpleConsumerEvent]) -> str:
    effect = frame.state.effects[-1] if frame.state.effects else None
    match frame.event:
        case simple_consumer.FindLeader(broker_id):
            return f"the application asks broker {broker_id} who leads: {_answer(effect)}"
        case simple_consumer.FindOffset(reset):
            return f"it asks for the {reset} offset: {_answer(effect)}"
        case simple_consumer.Fetch():
            return f"it fetches, and {_fetched(effect)}"
        case simple_consumer.Save():
            return f"it saves offset {frame.state.saved}; no broker hears of it"
        case simple_consumer.Restart():
            saved = frame.state.saved
            return f"it dies and starts again: {'it saved nothing' if saved is None else f'it saved {saved}'}"
    return in_words(effect) if isinstance(effect, Appended) else in_words(frame.event)


def _answer(effect: simple_consumer.Effect | None) -> str:
    match effect:
        case None:
            return ""
        case simple_consumer.Refused(_, error) if error == NO_CONNECTION:
            return "it cannot be reached"
    return answer_words(effect)


def _fetched(effect: simple_consumer.Effect | None) -> str:
    match effect:
        case simple_consumer.Refused(broker_id, error):
            return f"broker {broker_id} {'cannot be reached' if error == NO_CONNECTION else f'answers {error}'}"
        case simple_consumer.TooLarge(offset):
            return f"gets no whole record: {offset} is larger than it asked for"
        case simple_consumer.Fetched(offsets) if offsets:
            return f"gets {span(offsets)}"
    return "there is nothing new"


# The picture.

APPLICATION, BROKER = (300, 138), (315, 46)  # width and height in pixels
BROKER_GAP, MOST_BROKERS = 14, 4
CELL, CELL_HEIGHT, SHOWN_RECORDS = 38, 30, 24
MARKS = 64  # pixels below the records, for the application's offsets
FILLS = {svg.NOTHING: "not handled yet", svg.Fill(svg.READ, ""): "handled once", svg.TWICE: "handled again"}


def draw_simple_consumer(
    settings: Settings,
    frame: Frame[Reader, SimpleConsumerEvent],
    before: Frame[Reader, SimpleConsumerEvent] | None = None,
) -> Picture:
    """One moment of an application that reads by hand, drawn; what has just happened has a marked edge.

    Parameters
    ----------
    settings : kafkalearn.zookeeper.simple_consumer.Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.zookeeper.simple_consumer.simulate` and the one before it: whom it was connected to.

    Examples
    --------
    >>> from kafkalearn.zookeeper.simple_consumer import simulate
    >>> draw_simple_consumer(Settings(), simulate(Settings(), [FindLeader(2)])[1]).label
    'The application asks broker 2 who leads: broker 1.'
    """
    reader = frame.state
    shown = settings.broker_ids[:MOST_BROKERS]
    hidden = len(settings.broker_ids) - len(shown)
    brokers = stack(*(_broker(settings, reader, each) for each in shown), gap=BROKER_GAP)
    application = _application(frame)
    page = stack(
        row(
            label(f"{svg.cut_name(str(settings.topic_partition), 30)}, read by hand", svg.TITLE, bold=True),
            label(f"{hidden} more brokers" if hidden > 0 else "", colour=svg.MUTED),
            width=WIDE,
        ),
        space(height=4),
        label(describe_simple_consumer(frame), svg.BODY - 1, svg.MARK),
        space(height=8),
        free(
            WIDE,
            max(application.height, brokers.height),
            application.draw,
            lambda x, y: brokers.draw(x + WIDE - brokers.width, y),
            lambda x, y: _request(frame, before, shown, (x + application.width, x + WIDE - brokers.width), y),
        ),
        space(height=12),
        legend(FILLS, FILLS, width=WIDE),
        space(height=6),
        _log(settings, reader),
    )
    return sheet(page, describe_simple_consumer(frame), below=0)


def _application(frame: Frame[Reader, SimpleConsumerEvent]) -> Block:
    """What the application knows; all of it is its own."""
    reader = frame.state
    acts = frame.event is not None and not isinstance(frame.event, BROKER_EVENTS)
    knows = (
        ("takes for the leader", "nobody" if reader.leader is None else f"broker {reader.leader}"),
        ("fetches next", "unknown" if reader.offset is None else str(reader.offset)),
        ("has saved", "nothing" if reader.saved is None else str(reader.saved)),
    )
    inside = stack(
        space(height=10),
        label("the application", svg.BODY, bold=True),
        space(height=8),
        *(label(f"{name}: {value}") for name, value in knows),
        gap=4,
    )
    width, height = APPLICATION
    return panel(inside, width=width, height=height, is_new=acts)


def _broker(settings: Settings, reader: Reader, broker_id: int) -> Block:
    """A broker: whether it runs, whether it leads."""
    is_up = broker_id in reader.cluster.live_brokers
    leads = reader.cluster.log(settings.topic_partition).leader == broker_id
    width, height = BROKER
    words = "leads" if leads else "does not lead"
    colour = svg.MUTED if not is_up else svg.LEADER if leads else svg.INK
    name, does = label(f"broker {broker_id}", svg.BODY, colour, bold=True), label(words if is_up else f"down, {words}")
    inside = beside(row(name, does, width=width - 28), height=height)
    return panel(inside, width=width, height=height, is_on=is_up)


def _request(
    frame: Frame[Reader, SimpleConsumerEvent],
    before: Frame[Reader, SimpleConsumerEvent] | None,
    shown: tuple[int, ...],
    between: tuple[float, float],
    top: float,
) -> list[str]:
    """The request of this moment as an arrow to who was asked, with the answer on it."""
    event, effects = frame.event, frame.state.effects
    if not effects or not isinstance(event, FindLeader | FindOffset | Fetch):
        return []
    asked = event.broker_id if isinstance(event, FindLeader) else (before or frame).state.leader
    if asked not in shown:
        return []
    (left, right), height = between, BROKER[1]
    y = top + shown.index(asked) * (height + BROKER_GAP) + height / 2
    names = {FindLeader: "who leads?", FindOffset: "which offset?", Fetch: "fetch"}
    middle, answer = (left + right) / 2, svg.cut_end(answer_words(effects[-1]), 32)
    return [
        svg.arrow(left + 8, y, right - 8, y, svg.MARK),
        svg.text(middle, y - 9, names[type(event)], svg.SMALL, "middle"),
        svg.text(middle, y + 22, answer, svg.SMALL, "middle", svg.MARK, bold=True),
    ]


def _log(settings: Settings, reader: Reader) -> Block:
    """The last records of the partition: handled never, once, again; the next and the saved offset below."""
    log = reader.cluster.log(settings.topic_partition)
    got = {offset for each in reader.effects if isinstance(each, Fetched) for offset in each.offsets}
    new = {offset for each in reader.effects if isinstance(each, Appended) for offset in each.offsets}
    first = max(log.start_offset, log.end_offset - SHOWN_RECORDS + 1)
    shown = range(first, log.end_offset)
    times = {offset: min(reader.handled.count(offset), len(FILLS) - 1) for offset in shown}
    records = cells(
        len(shown),
        CELL,
        {fill: [at - first for at, count in times.items() if count == rank] for rank, fill in enumerate(FILLS)},
        {at - first: str(at) for at in shown},
        height=CELL_HEIGHT,
        marked=[at - first for at in shown if at in got | new],
        has_edges=False,
    )
    none = label(f"none; the next offset is {log.end_offset}", colour=svg.MUTED)
    marks = (("next", reader.offset, 16), ("saved", reader.saved, 38))
    return free(
        WIDE,
        CELL_HEIGHT + MARKS,
        records.draw if shown else none.draw,
        lambda x, y: [
            _mark(name, offset, (log.start_offset, first, log.end_offset), (x, y + CELL_HEIGHT + 4), length)
            for name, offset, length in marks
            if offset is not None
        ],
    )


def _mark(name: str, offset: int, log: tuple[int, int, int], corner: tuple[float, float], length: float) -> str:
    """An offset of the application's, as a line down from its place in the log; said where it lies outside."""
    start, first, end = log  # of the log, and of what is drawn of it
    left, top = corner
    is_inside = start <= offset <= end
    x = left + (min(max(offset, first), end) - first) * CELL + (12 if name == "next" else 20)
    words = name if first <= offset <= end else f"{name}: {offset}" if is_inside else f"{name}: {offset}, out of range"
    colour, right = svg.INK if is_inside else svg.MARK, x > svg.WIDTH - 160
    said = svg.text(x - 7 if right else x + 14, top + length + 2, words, svg.SMALL, "end" if right else "start", colour)
    return "\n".join([svg.line(x, top, x, top + length, colour), said])
