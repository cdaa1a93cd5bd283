"""Who leads in a cluster, what a dead broker leaves to others, what a plan moves: in words and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kafkalearn.base.durations import whole_units
from kafkalearn.base.errors import KafkaLearnError, capitalised, counted, listed
from kafkalearn.base.events import BrokerFenced, BrokerUnfenced, TimePassed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
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
    row,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.operations.leadership import (
    Cluster,
    Effect,
    ElectionAnswered,
    ElectLeaders,
    Event,
    ImbalanceFound,
    LeaderChanged,
    Led,
    Moved,
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
            return f"an administrator has the preferred {_leaders_asked_for(topic, partition)} elected"
    return in_words(event)


def _leaders_asked_for(topic: str | None, partition: int | None) -> str:
    if partition is None:
        return "leaders" if topic is None else f"leaders of {topic}"
    return f"leaders of each topic's partition {partition}" if topic is None else f"leader of {topic}-{partition}"


def _effect_words(effect: Effect) -> str:
    match effect:
        case ImbalanceFound(broker_id, preferred, not_led, is_over) if not_led:
            stays = "" if is_over else ", too few to give them back"
            return f"broker {broker_id} does not lead {not_led} of {preferred} that it is preferred for{stays}"
        case ElectionAnswered(topic, partition, error) if error != NONE:
            return f"{topic}-{partition}: {error}"
    return ""


# Who leads in a cluster, drawn: a row for each broker, as long as what it leads.

NAMES, BAR_ROOM, BAR_HEIGHT, ROW_HEIGHT = 156, 560, 32, 50  # pixels: of names, of the longest bar, of a row
MOST_BROKERS = 7
OWN, OTHERS = svg.FILLS[0], svg.FILLS[1]
LEADS = {OWN: "leads, and is preferred", OTHERS: "leads in place of another"}


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
    leaderless = sum(each.leader is None for each in state.partitions)
    page = stack(
        row(
            label(capitalised(event_words(frame.event)), svg.TITLE, bold=True),
            label(whole_units(state.now_ms), svg.BODY, svg.MUTED),
            width=WIDE,
        ),
        space(height=6),
        *(_row(each, was[place], BAR_ROOM / longest) for place, each in enumerate(found)),
        space(height=4),
        line_of(space(NAMES), legend(LEADS, LEADS), _preferred(), gap=20),
        space(height=6),
        label(f"without a leader: {counted(leaderless, 'partition')}", **svg.stress(bool(leaderless), svg.MUTED)),
    )
    return sheet(page, describe_leadership(settings, frame, before))


def _row(share: Share, was: Share, unit: float) -> Block:
    """A broker: its name, what it leads as a bar with a line where it would end, and both in words."""
    is_new = share.led != was.led
    name = stack(
        label(f"broker {share.broker_id}", svg.BODY, bold=True, width=NAMES),
        label("" if share.is_alive else "fenced", colour=svg.MARK, bold=True),
        gap=-4,
    )
    leads = bar(
        [(OWN, share.led_as_preferred * unit), (OTHERS, (share.led - share.led_as_preferred) * unit)],
        height=BAR_HEIGHT,
        width=BAR_ROOM,
    )
    mark = free(
        BAR_ROOM,
        ROW_HEIGHT - 8,
        lambda x, y: leads.draw(x, y + (ROW_HEIGHT - 8 - BAR_HEIGHT) / 2),
        lambda x, y: [svg.line(x + share.preferred * unit, y, x + share.preferred * unit, y + ROW_HEIGHT - 8)],
    )
    room = WIDE - 28 - NAMES - BAR_ROOM
    said = stack(
        label(f"leads {share.led}", svg.BODY, svg.MARK if is_new else svg.INK, bold=True, width=room, at_end=True),
        label(f"preferred for {share.preferred}", colour=svg.MUTED, width=room, at_end=True),
        gap=-4,
    )
    inside = beside(name, mark, said, height=ROW_HEIGHT)
    return stack(panel(inside, width=WIDE, height=ROW_HEIGHT, is_on=share.is_alive, is_new=is_new), space(height=8))


def _preferred() -> Block:
    """What the line of a row says."""
    line = free(8, 20, lambda x, y: [svg.line(x + 4, y + 3, x + 4, y + 19)])
    return row(line, label("what it is preferred for", colour=svg.MUTED))


# What a plan has brokers copy, drawn.

LOADS_NAMES, LOADS_ROOM = 110, 620  # pixels: of names, of the longest bar
MOST_ROW_HEIGHT, MOST_HEIGHT = 48, 420
MOST_LOADS = 24
IN, OUT = svg.FILLS[2], svg.FILLS[1]
COPIES = {IN: "receives", OUT: "sends"}
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
        return sheet(label("The plan copies nothing", svg.TITLE, bold=True), "The plan copies nothing.")
    _require_room(moved)
    longest = max(1, *(max(each.in_bytes, each.out_bytes) for each in moved))
    page = stack(
        label(f"The plan copies {size_words(total)}", svg.TITLE, bold=True),
        space(height=14),
        *(_copies(each, longest, _step(len(moved))) for each in moved),
        line_of(space(LOADS_NAMES), legend(COPIES, COPIES, width=LOADS_ROOM), gap=0),
    )
    said = filter(None, (_moved_words(each.broker_id, each.in_bytes, each.out_bytes) for each in moved))
    return sheet(page, f"The plan copies {size_words(total)}: {'; '.join(said)}.")


def _copies(moved: Moved, longest: int, step: float) -> Block:
    """What a broker receives, and below it what it sends; of many brokers only the most is said."""
    half, unit = (step - 10) / 2, LOADS_ROOM / longest
    lines = []
    for fill, verb, amount in ((IN, "in", moved.in_bytes), (OUT, "out", moved.out_bytes)):
        is_most = amount == longest
        words = f"{verb} {size_words(amount)}" if step >= MOST_ROW_HEIGHT or is_most else ""
        colour, room = svg.MARK if is_most else svg.INK, WIDE - LOADS_NAMES - LOADS_ROOM
        lines.append(
            beside(
                bar([(fill, amount * unit)], height=half, width=LOADS_ROOM),
                label(words, colour=colour, bold=is_most, width=room, at_end=True),
                height=half,
            )
        )
    name = label(f"broker {moved.broker_id}", bold=True, width=LOADS_NAMES)
    return stack(beside(name, stack(*lines), height=2 * half), space(height=10))


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


def _moved_words(broker_id: int, in_bytes: int, out_bytes: int) -> str:
    parts = (("receives", in_bytes), ("sends", out_bytes))
    words = [f"{verb} {size_words(amount)}" for verb, amount in parts if amount]
    return f"broker {broker_id} {listed(words)}" if words else ""
