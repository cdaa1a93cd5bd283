"""Who leads in a cluster, what a dead broker leaves to others, what a plan moves: in words and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kafkalearn.base.durations import whole_units
from kafkalearn.base.errors import KafkaLearnError, capitalised, counted, listed
from kafkalearn.base.events import BrokerFenced, BrokerUnfenced, TimePassed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.operations.leadership import (
    Cluster,
    Effect,
    ElectionAnswered,
    ElectLeaders,
    Event,
    ImbalanceFound,
    LeaderChanged,
    Led,
    Settings,
    moved_bytes,
)
from kafkalearn.operations.reassignment import Target
from kafkalearn.replication.events import NONE

# Who leads in a cluster, in words.


class Share(NamedTuple):
    """What one broker leads, and what it would lead if all preferred leaders did."""

    broker_id: int
    led: int
    led_as_preferred: int
    preferred: int
    is_alive: bool


def shares(settings: Settings, cluster: Cluster) -> tuple[Share, ...]:
    """The share of every broker, in the order of the settings.

    >>> from kafkalearn.operations.leadership import start
    >>> shares(Settings((1, 2)), start(Settings((1, 2))))[1]
    Share(broker_id=2, led=1, led_as_preferred=1, preferred=1, is_alive=True)
    """
    led = Counter(each.leader for each in cluster.partitions)
    own = Counter(each.leader for each in cluster.partitions if each.leader == each.preferred)
    preferred = Counter(each.preferred for each in cluster.partitions)
    return tuple(
        Share(each, led[each], own[each], preferred[each], each not in cluster.fenced) for each in settings.broker_ids
    )


def describe_leadership(
    settings: Settings,
    frame: Frame[Cluster, Event],
    before: Frame[Cluster, Event] | None = None,
) -> str:
    """What happened, how many leaders changed, and what each broker leads.

    >>> from kafkalearn.operations.leadership import simulate
    >>> settings = Settings((1, 2, 3))
    >>> trace = simulate(settings, [BrokerFenced(2), BrokerUnfenced(2), TimePassed(300_000)])
    >>> describe_leadership(settings, trace[3], trace[2])
    '300 s pass. Broker 2 does not lead 1 of 1 that it is preferred for. Another broker leads 1 partition. Broker 1 \
leads 1, broker 2 1 and broker 3 1.'
    """
    said = [event_words(frame.event)]
    if frame.event is not None:
        said += [each for each in map(_effect_words, frame.state.effects) if each]
        changes = [each for each in frame.state.effects if isinstance(each, LeaderChanged)]
        moved = sum(each.leader is not None for each in changes)
        if moved:
            said.append(f"another broker leads {counted(moved, 'partition')}")
        if lost := len(changes) - moved:
            said.append(f"nobody leads {counted(lost, 'partition')} any more")
    led = [(each.broker_id, each.led) for each in shares(settings, frame.state)]
    said.append(listed(f"broker {broker_id} {'leads ' * (not at)}{count}" for at, (broker_id, count) in enumerate(led)))
    return " ".join(f"{capitalised(each)}." for each in said)


def leadership_text(
    settings: Settings,
    frame: Frame[Cluster, Event],
    before: Frame[Cluster, Event] | None = None,
) -> str:
    """A frame as plain text: what happened, and a line for each broker.

    >>> from kafkalearn.operations.leadership import simulate
    >>> settings = Settings((1, 2, 3))
    >>> print(leadership_text(settings, simulate(settings, [BrokerFenced(2)])[1]).splitlines()[2])
    broker 2 (fenced): leads 0, 0 of them as preferred; preferred for 1
    """
    lines = [
        f"broker {each.broker_id}{'' if each.is_alive else ' (fenced)'}: leads {each.led}, {each.led_as_preferred} of "
        f"them as preferred; preferred for {each.preferred}"
        for each in shares(settings, frame.state)
    ]
    return "\n".join([describe_leadership(settings, frame, before), *lines, whole_units(frame.state.now_ms)])


def event_words(event: Event | None) -> str:
    """The event, without its end.

    >>> event_words(ElectLeaders("orders", 3))
    'an administrator has the preferred leader of orders-3 elected'
    """
    match event:
        case None:
            return "the start"
        case BrokerFenced(broker_id):
            return f"broker {broker_id} is lost"
        case BrokerUnfenced(broker_id):
            return f"broker {broker_id} is back and in sync"
        case TimePassed(ms):
            return f"{whole_units(ms)} pass"
        case ElectLeaders(topic, partition):
            of_what = "leaders" if topic is None else f"leader of {topic}-{partition}"
            return f"an administrator has the preferred {of_what} elected"
    return in_words(event)


def _effect_words(effect: Effect) -> str:
    match effect:
        case ImbalanceFound(broker_id, preferred, not_led, is_over) if not_led:
            stays = "" if is_over else ", too few to give them back"
            return f"broker {broker_id} does not lead {not_led} of {preferred} that it is preferred for{stays}"
        case ElectionAnswered(topic, partition, error) if error != NONE:
            return f"{topic}-{partition}: {error}"
    return ""


# Who leads in a cluster, drawn: a row for each broker, as long as what it leads.

LEFT, BAR_LEFT, BAR_ROOM = 20, 190, 560
TOP, ROW_HEIGHT, BAR_DOWN, BAR_HEIGHT = 56, 58, 9, 32
MOST_BROKERS = 7
OWN, OTHERS = svg.FILLS[0], svg.FILLS[1]


def draw_leadership(
    settings: Settings,
    frame: Frame[Cluster, Event],
    before: Frame[Cluster, Event] | None = None,
) -> Picture:
    """One moment: what each broker leads, as it is preferred or in place of others, and what it would lead.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import BrokerFenced, simulate
    >>> settings = Settings((1, 2, 3))
    >>> trace = simulate(settings, [BrokerFenced(2)])
    >>> draw_leadership(settings, trace[1], trace[0]).label
    'Broker 2 is lost. Another broker leads 1 partition. Broker 1 leads 1, broker 2 0 and broker 3 2.'

    Raises
    ------
    KafkaLearnError
        If there are more than seven brokers: they would not fit a screen.
    """
    if len(settings.broker_ids) > MOST_BROKERS:
        raise KafkaLearnError(
            f"the picture has room for {MOST_BROKERS} brokers, got {len(settings.broker_ids)}; "
            "load_without lists what any number of them lead"
        )
    state = frame.state
    found, was = shares(settings, state), shares(settings, (before or frame).state)
    longest = max(1, *(max(each.led, each.preferred) for each in (*found, *was)))
    bottom = TOP + ROW_HEIGHT * len(found)
    leaderless = sum(each.leader is None for each in state.partitions)
    return picture(
        bottom + 68,
        svg.text(LEFT, 36, capitalised(event_words(frame.event)), svg.TITLE, bold=True),
        svg.text(svg.WIDTH - LEFT, 36, whole_units(state.now_ms), svg.BODY, "end", svg.MUTED),
        *(
            shape
            for place, each in enumerate(found)
            for shape in _row(each, was[place], TOP + ROW_HEIGHT * place, BAR_ROOM / longest)
        ),
        *_meanings(bottom + 26),
        svg.text(
            LEFT,
            bottom + 56,
            f"without a leader: {counted(leaderless, 'partition')}",
            svg.SMALL,
            **svg.stress(bool(leaderless), svg.MUTED),
        ),
        label=describe_leadership(settings, frame, before),
    )


def _row(share: Share, was: Share, top: float, unit: float) -> Iterator[str]:
    is_new = share.led != was.led
    yield svg.card((LEFT, top, svg.WIDTH - 2 * LEFT, ROW_HEIGHT - 8), is_new, share.is_alive)
    yield svg.text(LEFT + 14, top + 24, f"broker {share.broker_id}", svg.BODY, bold=True)
    yield svg.text(LEFT + 14, top + 42, "" if share.is_alive else "fenced", svg.SMALL, colour=svg.MARK, bold=True)
    y = top + BAR_DOWN
    own = (BAR_LEFT, y, share.led_as_preferred * unit, BAR_HEIGHT)
    others = (BAR_LEFT + own[2], y, (share.led - share.led_as_preferred) * unit, BAR_HEIGHT)
    for look, box in ((OWN, own), (OTHERS, others)):
        if box[2]:
            yield svg.filled(look, box)
            yield svg.outlined(box)
    x = BAR_LEFT + share.preferred * unit
    yield svg.line(x, top + 4, x, top + ROW_HEIGHT - 12, svg.INK)
    yield svg.text(
        svg.WIDTH - LEFT - 14,
        top + 24,
        f"leads {share.led}",
        svg.BODY,
        "end",
        bold=True,
        colour=svg.MARK if is_new else svg.INK,
    )
    yield svg.text(
        svg.WIDTH - LEFT - 14, top + 42, f"preferred for {share.preferred}", svg.SMALL, "end", colour=svg.MUTED
    )


def _meanings(y: float) -> Iterator[str]:
    leads = ((BAR_LEFT, OWN, "leads, and is preferred"), (BAR_LEFT + 240, OTHERS, "leads in place of another"))
    yield svg.legend(leads, y)
    yield svg.line(BAR_LEFT + 490, y - 14, BAR_LEFT + 490, y + 4, svg.INK)
    yield svg.text(BAR_LEFT + 502, y, "what it is preferred for", svg.SMALL, colour=svg.MUTED)


# What a plan has brokers copy, drawn.

LOADS_LEFT, LOADS_ROOM, LOADS_TOP = 130, 620, 70  # of the bars
MOST_ROW_HEIGHT, MOST_HEIGHT = 48, 420
MOST_LOADS = 24
IN, OUT = svg.FILLS[2], svg.FILLS[1]
UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


def draw_moves(partitions: Sequence[Led], plan: Sequence[Target]) -> Picture:
    """What a plan has each broker receive and send, in bytes; the largest of all sets how long it takes.

    Parameters
    ----------
    partitions : sequence of Led
        Before the plan, with their sizes.
    plan : sequence of Target
        As `kafkalearn.operations.reassignment.plan_of` makes it.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import partition_of
    >>> partitions = [partition_of("orders", 0, [1, 2], size_bytes=2_000_000)]
    >>> draw_moves(partitions, [Target("orders", 0, (3, 2))]).label
    'The plan copies 2.0 MB: broker 1 sends 2.0 MB; broker 3 receives 2.0 MB.'
    """
    moved = moved_bytes(partitions, plan)
    total = sum(each.in_bytes for each in moved)
    if not moved:
        return picture(
            60, svg.text(LEFT, 36, "The plan copies nothing", svg.TITLE, bold=True), label="The plan copies nothing."
        )
    _require_room(moved)
    longest = max(1, *(max(each.in_bytes, each.out_bytes) for each in moved))
    unit, step = LOADS_ROOM / longest, _step(len(moved))
    half = (step - 10) / 2
    bottom = LOADS_TOP + step * len(moved)
    shapes = [svg.text(LEFT, 36, f"The plan copies {size_words(total)}", svg.TITLE, bold=True)]
    for place, each in enumerate(moved):
        top = LOADS_TOP + step * place
        boxes = (
            (IN, (LOADS_LEFT, top, each.in_bytes * unit, half)),
            (OUT, (LOADS_LEFT, top + half, each.out_bytes * unit, half)),
        )
        shapes += _bars(f"broker {each.broker_id}", boxes, top + half + 6)
        for at, amount in enumerate((each.in_bytes, each.out_bytes)):
            is_busiest, words = amount == longest, ("in ", "out ")[at] + size_words(amount)
            y = top + half * at + half / 2 + 6
            if step >= MOST_ROW_HEIGHT or is_busiest:
                shapes.append(
                    svg.text(
                        svg.WIDTH - LEFT, y, words, svg.SMALL, "end", svg.MARK if is_busiest else svg.INK, is_busiest
                    )
                )
    shapes.append(svg.legend(((LOADS_LEFT, IN, "receives"), (LOADS_LEFT + 170, OUT, "sends")), bottom + 22))
    said = filter(None, (_moved_words(each.broker_id, each.in_bytes, each.out_bytes) for each in moved))
    return picture(bottom + 42, *shapes, label=f"The plan copies {size_words(total)}: {'; '.join(said)}.")


def size_words(size_bytes: int) -> str:
    """A size as disks are sold, in thousands.

    >>> size_words(2_320_000_000), size_words(12)
    ('2.3 GB', '12 bytes')
    """
    for unit, name in UNITS:
        if size_bytes >= unit:
            return f"{size_bytes / unit:,.1f} {name}"
    return counted(size_bytes, "byte")


def _step(count: int) -> float:
    """The height of a row: less where there are many."""
    return min(MOST_ROW_HEIGHT, MOST_HEIGHT / count)


def _require_room(brokers: Sequence[object]) -> None:
    if len(brokers) > MOST_LOADS:
        raise KafkaLearnError(f"the picture has room for {MOST_LOADS} brokers, got {len(brokers)}")


def _bars(name: str, boxes: Iterable[tuple[svg.Fill, svg.Box]], middle: float) -> Iterator[str]:
    yield svg.text(LEFT, middle, name, svg.SMALL, bold=True)
    for look, box in boxes:
        if box[2]:
            yield svg.filled(look, box)
            yield svg.outlined(box)


def _moved_words(broker_id: int, in_bytes: int, out_bytes: int) -> str:
    parts = (("receives", in_bytes), ("sends", out_bytes))
    words = [f"{verb} {size_words(amount)}" for verb, amount in parts if amount]
    return f"broker {broker_id} {listed(words)}" if words else ""
