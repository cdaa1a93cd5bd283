"""A broker dies and its groups move, in words and drawn; and how long loads take, as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkalearn.base.checks import mapping, number
from kafkalearn.base.errors import KafkaLearnError, capitalised
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    bar,
    beside,
    free,
    label,
    legend,
    line_of,
    panel,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.operations.coordinator_life import model as life
from kafkalearn.operations.failover import (
    BrokerCrashed,
    BrokerStarted,
    BrokerStopped,
    Event,
    Failover,
    Heard,
    SecondPassed,
    Settings,
)
from kafkalearn.operations.leadership import LeaderChanged

STATUS_WORDS = {
    "owned": "coordinates the groups",
    "loading": "loads the groups",
    "not owned": "is no coordinator",
    "failed": "could not load the groups",
}


def describe_failover(
    settings: Settings, frame: Frame[Failover, Event], before: Frame[Failover, Event] | None = None
) -> str:
    """What happened in a second, and what clients heard.

    >>> from kafkalearn.operations.failover import simulate
    >>> trace = simulate(Settings(), [BrokerCrashed(1), SecondPassed()])
    >>> describe_failover(Settings(), trace[2], trace[1])
    'Second 1: the classic member hears no connection, looks for the coordinator; the KIP-848 member hears no \
connection, looks for the coordinator; the committer hears no connection, looks for the coordinator.'
    """
    said = [words for words in (_effect_words(each) for each in frame.state.effects) if words]
    last = {each.client: each for each in frame.state.effects if isinstance(each, Heard)}
    for name, each in last.items():
        said.append(f"the {name} hears {'no error' if each.error == 'NONE' else each.error}, {each.then}")
    return f"{capitalised(event_words(frame))}: {'; '.join(said) or 'nobody asks'}."


def failover_text(
    settings: Settings, frame: Frame[Failover, Event], before: Frame[Failover, Event] | None = None
) -> str:
    """A frame as plain text: what happened, and a line for each broker.

    >>> from kafkalearn.operations.failover import simulate
    >>> print(failover_text(Settings(), simulate(Settings(), [BrokerCrashed(1)])[1]).splitlines()[1])
    broker 1: is down
    """
    lines = [f"broker {each}: {broker_words(frame.state, each)}" for each in settings.broker_ids]
    return "\n".join([describe_failover(settings, frame, before), *lines])


def event_words(frame: Frame[Failover, Event]) -> str:
    """What a frame's event is called."""
    match frame.event:
        case BrokerCrashed(broker_id):
            return f"broker {broker_id} dies"
        case BrokerStopped(broker_id):
            return f"broker {broker_id} is shut down"
        case BrokerStarted(broker_id):
            return f"broker {broker_id} is back"
        case SecondPassed():
            return f"second {frame.state.second}"
    return "the start"


def broker_words(state: Failover, broker_id: int) -> str:
    """What a broker is at a moment."""
    if not state.is_up(broker_id):
        return "is down" if state.life.is_up(broker_id) else "is down, and the cluster knows"
    return STATUS_WORDS[state.life.coordinator(broker_id).status]


def _effect_words(effect: object) -> str:
    match effect:
        case LeaderChanged(leader=None):
            return "nobody can lead the partition"
        case LeaderChanged(leader=leader):
            return f"broker {leader} leads the partition"
        case life.LoadBegun() | life.LoadEnded() | life.MemberExpired():
            return in_words(effect)
        case life.LoadFailed(broker_id=broker_id):
            return f"the load of broker {broker_id} fails"
        case life.Resigned(broker_id=broker_id):
            return f"broker {broker_id} resigns"
        case life.OrderIgnored(broker_id=broker_id, reason=reason):
            return f"broker {broker_id} ignores an order, since {reason}"
    return ""


# A broker dies and its groups move, drawn: a row for each client, a column for each second, and what it heard.

NAMES, GRID_ROOM = 190, 770  # pixels: of the names of clients, and of all seconds
BROKER_HEIGHT, ROW_HEIGHT, CELL_HEIGHT = 26, 46, 34
MOST_SECONDS = 60

SERVED, ALONE, SENT_AWAY, WAITS = svg.FILLS[2], svg.FILLS[1], svg.FILLS[3], svg.FILLS[4]
LOOKS = {"NONE": SERVED, "no connection": ALONE, "COORDINATOR_LOAD_IN_PROGRESS": WAITS}
MEANINGS = {
    SERVED: "served",
    ALONE: "no connection",
    SENT_AWAY: "sent away, or nobody coordinates",
    WAITS: "COORDINATOR_LOAD_IN_PROGRESS",
}

Cells = tuple[tuple[str, int, str], ...]  # client, second, error


def draw_failover(
    settings: Settings,
    trace: Trace[Failover, Event],
    frame: Frame[Failover, Event],
    before: Frame[Failover, Event] | None = None,
) -> Picture:
    """One moment of a run, with all that clients have heard so far.

    Examples
    --------
    >>> from kafkalearn.operations.failover import simulate
    >>> trace = simulate(Settings(), [BrokerCrashed(1), SecondPassed()])
    >>> draw_failover(Settings(), trace, trace[1]).label
    'Broker 1 dies: nobody asks.'

    Raises
    ------
    KafkaLearnError
        If the run is longer than a minute: its seconds would be too narrow to read.
    """
    last_s = trace[-1].state.second
    if last_s > MOST_SECONDS:
        raise KafkaLearnError(f"the picture has room for {MOST_SECONDS} seconds, got {last_s}; take a part of the run")
    heard = tuple(cell for each in trace if each.index <= frame.index for cell in _cells(each))
    state = frame.state
    unit = GRID_ROOM / max(last_s, 1)
    clients = stack(*(_row(each.name, heard, unit, last_s, state.second) for each in state.clients))
    page = stack(
        label(capitalised(event_words(frame)), svg.TITLE, bold=True),
        space(height=6),
        *_brokers(settings, state, (before or frame).state),
        space(height=6),
        beside(label("second", colour=svg.MUTED, width=NAMES), _seconds(last_s, unit)),
        free(
            WIDE,
            clients.height,
            lambda x, y: [svg.line(x + NAMES, y, x + NAMES, y + clients.height - 6, svg.FAINT, svg.HAIR)],
            clients.draw,
        ),
        space(height=8),
        legend(MEANINGS, MEANINGS, width=WIDE - 60),
    )
    return sheet(page, describe_failover(settings, frame, before))


def _cells(frame: Frame[Failover, Event]) -> Cells:
    """Of each client what it heard last in this second."""
    last = {each.client: each.error for each in frame.state.effects if isinstance(each, Heard)}
    return tuple((client, frame.state.second, error) for client, error in last.items())


def _brokers(settings: Settings, state: Failover, was: Failover) -> Iterator[Block]:
    for broker_id in settings.broker_ids:
        words, old = broker_words(state, broker_id), broker_words(was, broker_id)
        said = beside(label(f"broker {broker_id} {words}", **svg.stress(words != old)), height=BROKER_HEIGHT)
        look = {"is_on": state.is_up(broker_id), "is_new": words != old}
        yield stack(panel(said, width=WIDE, height=BROKER_HEIGHT, pad=12, **look), space(height=4))


def _seconds(last_s: int, unit: float) -> Block:
    """The numbers of the seconds, or of every fifth."""
    step = 1 if last_s <= 20 else 5
    places = [((second - 0.5) * unit, str(second)) for second in range(step, last_s + 1, step)]

    def draw(x: float, y: float) -> list[str]:
        return [svg.words_at([(x + at, y + 16, words) for at, words in places], svg.SMALL, fill=svg.MUTED)]

    return free(GRID_ROOM, 22, draw)


def _row(name: str, heard: Cells, unit: float, last_s: int, now_s: int) -> Block:
    """What a client has heard in each second so far."""
    found = {second: error for client, second, error in heard if client == name}
    by_look: dict[svg.Fill, list[int]] = {}
    for second, error in found.items():
        by_look.setdefault(LOOKS.get(error, SENT_AWAY), []).append(second)

    def draw(x: float, y: float) -> list[str]:
        boxes = {second: (x + (second - 1) * unit + 1, y, unit - 2, CELL_HEIGHT) for second in found}
        return [
            *(svg.filled(look, *(boxes[second] for second in seconds)) for look, seconds in by_look.items()),
            *([svg.outlined(*boxes.values())] if boxes else []),
            *([svg.outlined(boxes[now_s], stroke=svg.MARK, stroke_width=svg.STRONG)] if now_s in boxes else []),
        ]

    cells = Block(unit * last_s, CELL_HEIGHT, draw)
    return beside(label(name, svg.BODY, bold=True, width=NAMES), cells, height=ROW_HEIGHT)


# How long each broker would load its groups, cleaned or not, drawn as two bars a broker.

BROKERS, BAR_ROOM, BAR_HEIGHT = 114, 680, 24  # pixels: of names, of the longest bar, of its height
MOST_BROKERS = 7
GROWN, CLEANED = svg.FILLS[1], svg.FILLS[2]
LOADS = {GROWN: "the log as it is", CLEANED: "after a pass of the cleaner"}


def draw_load_times(seconds: Mapping[int, tuple[float, float]]) -> Picture:
    """For each broker how long it loads all that it leads: the log as it is, and after a pass of the cleaner.

    Parameters
    ----------
    seconds : mapping of int to (float, float)
        By broker id; not cleaned, cleaned: as `kafkalearn.spark.operations.load_of_brokers` has them.

    Examples
    --------
    >>> draw_load_times({1: (21.25, 0.02), 2: (20.1, 0.02)}).label
    'Time of a load: broker 1 21.2 s, cleaned 0.02 s; broker 2 20.1 s, cleaned 0.02 s'

    Raises
    ------
    KafkaLearnError
        If there is no broker, or more than seven: they would not fit a screen.
    """
    given = mapping("seconds", seconds, of="broker id to (not cleaned, cleaned)")
    if not 1 <= len(given) <= MOST_BROKERS:
        raise KafkaLearnError(f"the picture has room for 1 to {MOST_BROKERS} brokers, got {len(given)}")
    checked = {
        broker_id: tuple(number(f"seconds[{broker_id}]", each, at_least=0) for each in pair)
        for broker_id, pair in sorted(given.items())
    }
    unit = BAR_ROOM / max(1e-9, *(grown for grown, _ in checked.values()))
    said = (f"broker {each} {words(grown)}, cleaned {words(left)}" for each, (grown, left) in checked.items())
    page = stack(
        label("How long each broker's groups would wait for a load", svg.TITLE, bold=True),
        space(height=14),
        *(_pair(broker_id, pair, unit) for broker_id, pair in checked.items()),
        line_of(space(BROKERS), legend(LOADS, LOADS, width=BAR_ROOM), gap=0),
    )
    return sheet(page, f"Time of a load: {'; '.join(said)}")


def words(seconds: float) -> str:
    """A time as it stands beside a bar.

    >>> words(21.25), words(0.0171), words(0)
    ('21.2 s', '0.017 s', '0 s')
    """
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2g} s"


def _pair(broker_id: int, pair: tuple[float, ...], unit: float) -> Block:
    """A broker's two bars, each with its time behind it."""
    bars = [
        line_of(
            bar([(fill, max(2, seconds * unit))], height=BAR_HEIGHT),
            label(words(seconds), colour=svg.INK if fill == CLEANED else svg.MARK, bold=fill == GROWN),
            gap=10,
        )
        for fill, seconds in zip((GROWN, CLEANED), pair, strict=True)
    ]
    name = label(f"broker {broker_id}", svg.BODY, bold=True, width=BROKERS)
    return stack(beside(name, stack(*bars, gap=2)), space(height=16))
