"""The shop as a picture: producers left, brokers with their logs in the middle, consumers right; and its words.

One colour means one thing: amber is not safe yet, green is committed, a dashed outline is gone or on a dead broker's
disk, a blue name leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkalearn import tiny
from kafkalearn.base.errors import listed
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.journey.model import (
    BROKERS,
    CONSUMERS,
    PARTITIONS,
    BrokerCrashed,
    BrokerStarted,
    Commit,
    Cut,
    Event,
    FollowersFetch,
    Join,
    Journey,
    LeaderChanged,
    Leave,
    Poll,
    Producer,
    Replica,
    Send,
    Told,
    Travelled,
    label_of,
)

WIDTH, HEIGHT = 480, 428  # on a phone of 360 pixels letters of 16 are still 11.4 high
LETTERS = 16
OPEN, COMMITTED, LEADS = svg.OPEN.colour, svg.COMMITTED.colour, svg.LEADER
TOP, BROKER_HEIGHT, APART = 34, 116, 10
LEFT, RIGHT, SIDE = 102, 382, 92  # of a broker's box; how wide a producer or a consumer is
ROW, TILE, TILES_AT = 28, 30, 196  # pixels from row to row, of a tile's width, where tiles begin
MOST = 6  # tiles in a row; of a commit, which is wider, four
Place = str | tuple[int, str]
Point = tuple[float, float]


def draw_journey(frame: Frame[Journey, Event], before: Frame[Journey, Event] | None = None) -> Picture:
    """The shop at one moment; what was cut since the moment before stays as a ghost.

    Examples
    --------
    >>> from kafkalearn.journey import Send, Settings, simulate
    >>> drawn = draw_journey(simulate(Settings(), [Send("ann")])[-1])
    >>> drawn.size, drawn.label[:44]
    ((480.0, 428.0), 'orders-0 on broker 1: A1, nothing committed.')
    """
    state = frame.state
    heads = ((6, "start", "producers"), ((LEFT + RIGHT) / 2, "middle", "brokers"), (WIDTH - 6, "end", "consumers"))
    return picture(
        HEIGHT,
        *(svg.text(x, 22, words, LETTERS, anchor, svg.MUTED) for x, anchor, words in heads),
        *(line for each in BROKERS for line in _broker(state, each)),
        *(line for place, each in enumerate(state.producers) for line in _producer(each, _side_top(place))),
        *(line for place, name in enumerate(CONSUMERS) for line in _consumer(state, name, _side_top(place))),
        *_legend(),
        *_travelling(state, before),
        label=_label(state),
        width=WIDTH,
    )


def _side_top(place: int) -> float:
    return TOP + 34 + place * (BROKER_HEIGHT + APART + 40)


def _broker_top(broker: int) -> float:
    return TOP + BROKERS.index(broker) * (BROKER_HEIGHT + APART)


def _broker(state: Journey, broker: int) -> Iterator[str]:
    top, is_alive = _broker_top(broker), broker in state.alive
    look = {} if is_alive else {"stroke": svg.MUTED, "stroke_width": 1, "stroke_dasharray": "4 4"}
    fill = svg.EMPTY if is_alive else "none"
    yield svg.rect(LEFT, top, RIGHT - LEFT, BROKER_HEIGHT, fill, rx=8, data_broker=f"broker {broker}", **look)
    yield svg.text(LEFT + 12, top + 21, f"broker {broker}", LETTERS, bold=True)
    if not is_alive:
        yield svg.text(RIGHT - 12, top + 21, "dead", LETTERS, "end", svg.MARK)
    elif state.coordinator == broker:
        yield svg.text(RIGHT - 12, top + 21, "coordinator", LETTERS, "end", LEADS)
    for number, (name, partition) in enumerate(zip(PARTITIONS, state.partitions, strict=True)):
        middle = _row(broker, number)
        leads = partition.leader == broker
        yield svg.text(LEFT + 12, middle + 6, name, LETTERS, colour=LEADS if leads else svg.MUTED, bold=leads)
        yield from _log(partition.on(broker), partition.committed, middle, is_alive, name == "commits")


def _row(broker: int, number: int) -> float:
    return _broker_top(broker) + 44 + number * ROW


def _log(
    replica: Replica, committed: tuple[tiny.Record, ...], middle: float, is_alive: bool, is_wide: bool
) -> Iterator[str]:
    yield svg.line(TILES_AT, middle + 12.5, RIGHT - 10, middle + 12.5, svg.FAINT, 1)
    for x, record in _tiles(replica, is_wide):
        fill = (COMMITTED if record in committed else OPEN) if is_alive else "none"
        yield from _tile(x, middle, label_of(record), fill, _width(is_wide))


def _width(is_wide: bool) -> float:
    return 44 if is_wide else TILE


def _tiles(replica: Replica, is_wide: bool) -> Iterator[tuple[float, tiny.Record]]:
    """The last records of a log, each with the middle of its tile."""
    most = MOST - 2 if is_wide else MOST
    for place, record in enumerate(replica.records[-most:]):
        yield TILES_AT + (place + 0.5) * _width(is_wide), record


def _tile(x: float, middle: float, label: str, fill: str, width: float = TILE) -> Iterator[str]:
    look = {"stroke": svg.MUTED, "stroke_width": 1, "stroke_dasharray": "3 3"} if fill == "none" else {}
    yield svg.rect(x - width / 2 + 1.5, middle - 10.5, width - 3, 21, fill, rx=5, **look)
    yield svg.text(x, middle + 5.5, label, LETTERS, "middle", svg.MUTED if fill == "none" else svg.INK)


def _producer(producer: Producer, top: float) -> Iterator[str]:
    yield svg.text(6, top + 16, producer.name, LETTERS, bold=True)
    rows = [
        ("again" if producer.again else "next", producer.next, "none"),
        ("waits", producer.unanswered[-1] if producer.unanswered else "", OPEN),
        ("told", producer.told[-1] if producer.told else "", COMMITTED),
    ]
    for number, (words, label, fill) in enumerate(rows):
        middle = top + 40 + number * ROW
        colour = svg.MARK if words == "again" else svg.MUTED
        yield svg.text(6, middle + 5.5, words, LETTERS, colour=colour)
        if label:
            yield from _tile(6 + 50 + TILE / 2, middle, label, fill)


def _consumer(state: Journey, name: str, top: float) -> Iterator[str]:
    left = RIGHT + 10
    consumer = next((each for each in state.consumers if each.name == name), None)
    yield svg.text(left, top + 16, name, LETTERS, bold=True, colour=svg.INK if consumer else svg.MUTED)
    if consumer is None:
        yield svg.text(left, top + 45, "has left", LETTERS, colour=svg.MUTED)
        return
    for place, number in enumerate(consumer.partitions):
        middle = top + 40 + place * 2 * ROW
        yield svg.text(left, middle + 5.5, PARTITIONS[number], LETTERS, colour=svg.MUTED)
        yield svg.text(left, middle + ROW + 5.5, f"at {state.positions[number]}", LETTERS)
        if label := next((label for which, label in reversed(consumer.read) if which == number), ""):
            yield from _tile(left + 42 + TILE / 2, middle + ROW, label, COMMITTED)


def _legend() -> Iterator[str]:
    """The four meanings, below the brokers, each in its own look."""
    yield svg.rect(LEFT + 4, HEIGHT - 19, 14, 12, OPEN, rx=3)
    yield svg.text(LEFT + 23, HEIGHT - 8, "written", LETTERS, colour=svg.MUTED)
    yield svg.rect(LEFT + 92, HEIGHT - 19, 14, 12, COMMITTED, rx=3)
    yield svg.text(LEFT + 111, HEIGHT - 8, "committed", LETTERS, colour=svg.MUTED)
    yield svg.text(RIGHT - 6, HEIGHT - 8, "leads", LETTERS, "end", LEADS, bold=True)


# What travels: a page lets it move, and where nothing moves it is not seen.


def _travelling(state: Journey, before: Frame[Journey, Event] | None) -> Iterator[str]:
    """A ghost for each record that was cut; and for each thing that travelled its ways, for a page that moves them."""
    for effect in state.effects:
        if isinstance(effect, Cut) and before is not None:
            yield from _ghost(before.state, effect)
    ways = ";".join(_ways(state))
    if ways:
        yield svg.element("g", "", data_ways=ways)


def _ghost(before: Journey, cut: Cut) -> Iterator[str]:
    number, is_wide = PARTITIONS.index(cut.partition), cut.partition == "commits"
    middle, width = _row(cut.broker, number), _width(is_wide)
    for x, record in _tiles(before.partitions[number].on(cut.broker), is_wide):
        if label_of(record) == cut.record:
            left, right = x - width / 2 + 1.5, x + width / 2 - 1.5
            yield svg.rect(left, middle - 10.5, right - left, 21, rx=5, stroke=svg.MARK, stroke_width=1.5)
            yield svg.text(x, middle + 5.5, cut.record, LETTERS, "middle", svg.MARK)
            yield svg.line(left, middle + 10.5, right, middle - 10.5, svg.MARK, 1.5)


def _ways(state: Journey) -> Iterator[str]:
    """``words,x,y,x,y`` for each thing that went from one place to another in this step."""
    for effect in state.effects:
        if isinstance(effect, Travelled):
            ends = (_place(state, effect.source, effect.what), _place(state, effect.target, effect.what))
        elif isinstance(effect, Told):
            number = next(
                place
                for place, each in enumerate(state.partitions[:2])
                if effect.record in map(label_of, each.committed)
            )
            ends = (
                _place(state, (effect.leader, PARTITIONS[number]), effect.record),
                _place(state, effect.producer, "told"),
            )
        else:
            continue
        words = "ok" if isinstance(effect, Told) else effect.what
        yield ",".join([words, *(svg.number(each) for end in ends for each in end)])


def _place(state: Journey, place: Place, what: str) -> Point:
    """Where something begins or ends its way: its tile where it has one, else the middle of who has it."""
    if isinstance(place, tuple):
        broker, name = place
        number = PARTITIONS.index(name)
        tiles = {label_of(record): x for x, record in _tiles(state.partitions[number].on(broker), name == "commits")}
        return tiles.get(what, TILES_AT + 20), _row(broker, number)
    names = [each.name for each in state.producers]
    if place in names:
        return 56 + TILE / 2, _side_top(names.index(place)) + 40 + (2 * ROW if what == "told" else 0)
    top = _side_top(CONSUMERS.index(place))
    owned = next((each.partitions for each in state.consumers if each.name == place), ())
    shown = [number for number in owned if _is_of(what, number)]
    return RIGHT + 52 + TILE / 2, top + 40 + ROW + (2 * ROW * owned.index(shown[0]) if shown else 0)


def _is_of(what: str, number: int) -> bool:
    """Whether a record, or a commit, is of a partition of the topic."""
    return what.startswith(f"{number}→") or (what[0] == "AD"[number] and "→" not in what)


# Its words.


def _label(state: Journey) -> str:
    sentences = []
    for name, partition in zip(PARTITIONS, state.partitions, strict=True):
        if partition.leader is None:
            sentences.append(f"{name}: nobody leads.")
            continue
        labels, committed = partition.on(partition.leader).labels, partition.committed
        held = f"{listed(labels, 'and')}, {len(committed) or 'nothing'} committed" if labels else "nothing"
        sentences.append(f"{name} on broker {partition.leader}: {held}.")
    return " ".join(sentences)


def describe_journey(frame: Frame[Journey, Event], before: Frame[Journey, Event] | None = None) -> str:
    """What happened, first the cause, in a sentence or two.

    Examples
    --------
    >>> from kafkalearn.journey import Send, Settings, simulate
    >>> describe_journey(simulate(Settings(), [Send("ann")])[-1])
    'ann sends A1. Its key goes to orders-0, and broker 1, which leads it, writes it down.'
    """
    state, event = frame.state, frame.event
    match event:
        case None:
            return "Two producers send to the topic orders; each record is to be safe on three brokers, and read once."
        case Send():
            return _words_of_a_send(state, event, before)
        case FollowersFetch():
            return _words_of_a_fetch(state, before)
        case Poll():
            return _words_of_a_poll(state, event)
        case Commit():
            return _words_of_a_commit(state, event)
        case Leave() | Join():
            return _words_of_a_rebalance(state, event)
        case BrokerCrashed():
            return _words_of_a_death(state, event, before)
        case BrokerStarted():
            return f"Broker {event.broker_id} comes back with what is on its disk. It follows, and leads nothing yet."
    return str(event)


def _went(state: Journey) -> list[Travelled]:
    return [each for each in state.effects if isinstance(each, Travelled)]


def _words_of_a_send(state: Journey, event: Send, before: Frame[Journey, Event] | None) -> str:
    (went,) = _went(state)
    broker, partition = went.target
    if any(isinstance(each, Told) for each in state.effects):
        return f"{event.producer} sends {went.what} again. Broker {broker} has it already, and says so."
    if before and any(went.what in each.again for each in before.state.producers):
        begin = f"{event.producer} was told nothing, and sends {went.what} again:"
        return f"{begin} now to broker {broker}, which writes it down."
    begin = f"{event.producer} sends {went.what}. Its key goes to {partition},"
    return f"{begin} and broker {broker}, which leads it, writes it down."


def _words_of_a_fetch(state: Journey, before: Frame[Journey, Event] | None) -> str:
    copied = sorted({each.what for each in _went(state)})
    told = [each for each in state.effects if isinstance(each, Told)]
    cut = sorted({each.record for each in state.effects if isinstance(each, Cut)})
    safe = _newly_committed(state, before)
    parts = []
    if cut:
        lost = listed(cut, "and")
        broker = next(each.broker for each in state.effects if isinstance(each, Cut))
        begin = f"Broker {broker} cuts off its own {lost}:"
        parts.append(f"{begin} that was never committed, and its log goes on as the leader's does.")
    if copied:
        parts.append(f"The followers fetch, and copy {listed(copied, 'and')}.")
    if safe:
        begin = "" if copied else "They ask for what comes next, so the leaders know that all have the rest: "
        verb = "is" if len(safe) == 1 else "are"
        parts.append(f"{begin}{listed(safe, 'and')} {verb} committed{_and_told(told)}.")
    return " ".join(parts) or "The followers fetch. Nothing is new to them."


def _newly_committed(state: Journey, before: Frame[Journey, Event] | None) -> list[str]:
    were: set[str] = set()
    for each in before.state.partitions if before else ():
        were |= {*map(label_of, each.committed)}
    return sorted({label_of(record) for each in state.partitions for record in each.committed} - were)


def _and_told(told: Iterable[Told]) -> str:
    names = sorted({each.producer for each in told})
    return f", and {listed(names, 'and')} {'is' if len(names) == 1 else 'are'} told" if names else ""


def _words_of_a_poll(state: Journey, event: Poll) -> str:
    read = [each.what for each in _went(state)]
    if not read:
        return f"{event.consumer} polls, and gets nothing: there is nothing committed that it has not read."
    consumer = next(each for each in state.consumers if each.name == event.consumer)
    at = listed([f"offset {state.positions[number]} of {PARTITIONS[number]}" for number in consumer.partitions], "and")
    return f"{event.consumer} polls and reads {listed(read, 'and')}. It goes on at {at}."


def _words_of_a_commit(state: Journey, event: Commit) -> str:
    went = _went(state)
    written = listed([each.what for each in went], "and")
    return (
        f"{event.consumer} commits: it has broker {state.coordinator}, the group's coordinator, write down {written}"
        f", the next offset of {'its partition' if len(went) == 1 else 'each partition'}."
    )


def _words_of_a_rebalance(state: Journey, event: Leave | Join) -> str:
    owned = [
        f"{each.name} reads {listed([PARTITIONS[number] for number in each.partitions], 'and') or 'nothing'}"
        for each in state.consumers
    ]
    verb = "leaves" if isinstance(event, Leave) else "joins"
    if not owned:
        return f"{event.consumer} leaves. Nobody reads."
    return f"{event.consumer} {verb}. Now {listed(owned, 'and')}, from where the last commit says."


def _words_of_a_death(state: Journey, event: BrokerCrashed, before: Frame[Journey, Event] | None) -> str:
    changed = [each for each in state.effects if isinstance(each, LeaderChanged)]
    parts = [f"Broker {event.broker_id} dies."]
    for each in changed:
        if each.after is None:
            parts.append(f"Nobody can lead {each.partition}.")
        elif each.partition == "commits":
            parts.append(f"Broker {each.after} leads commits, and so is the coordinator.")
        else:
            parts.append(f"Broker {each.after}, which is in sync, leads {each.partition}.")
    if not changed:
        parts.append("It led nothing: the leaders wait for it no longer.")
    if again := [label for each in state.producers for label in each.again]:
        parts.append(f"{listed(again, 'and')} had no answer yet.")
    if safe := _newly_committed(state, before):
        parts.append(f"So {listed(safe, 'and')} {'is' if len(safe) == 1 else 'are'} committed.")
    return " ".join(parts)
