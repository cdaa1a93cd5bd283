"""Who leads in a cluster, drawn: a row for each broker, as long as what it leads.

A frame of a run of `kafkalearn.operations.leadership` becomes one drawing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.leadership import Cluster, Settings
from kafkalearn.operations.leadership.events import Event
from kafkalearn.phrases import capitalised, counted
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, FILLS, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH
from kafkalearn.views.drawing.svg import edge, filled, line, outlined, rect, text
from kafkalearn.views.operations.leadership_words import Share, clock, describe_leadership, event_words, shares

LEFT, BAR_LEFT, BAR_ROOM = 20, 190, 560
TOP, ROW_HEIGHT, BAR_DOWN, BAR_HEIGHT = 56, 58, 9, 32
MOST_BROKERS = 7
OWN, OTHERS = FILLS[0], FILLS[1]


def draw_leadership(
    settings: Settings,
    frame: Frame[Cluster, Event],
    before: Frame[Cluster, Event] | None = None,
) -> Picture:
    """One moment: what each broker leads, as it is preferred or in place of others, and what it would lead.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import BrokerLost, simulate
    >>> settings = Settings((1, 2, 3))
    >>> trace = simulate(settings, [BrokerLost(2)])
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
            "draw_load shows more of them"
        )
    state = frame.state
    found, was = shares(settings, state), shares(settings, (before or frame).state)
    longest = max(1, *(max(each.led, each.preferred) for each in (*found, *was)))
    bottom = TOP + ROW_HEIGHT * len(found)
    leaderless = sum(each.leader is None for each in state.partitions)
    return picture(
        bottom + 68,
        text(LEFT, 36, capitalised(event_words(frame.event)), TITLE, bold=True),
        text(WIDTH - LEFT, 36, clock(state.now_ms), BODY, "end", MUTED),
        *(
            shape
            for place, each in enumerate(found)
            for shape in _row(each, was[place], TOP + ROW_HEIGHT * place, BAR_ROOM / longest)
        ),
        *_legend(bottom + 26),
        text(LEFT, bottom + 56, f"without a leader: {counted(leaderless, 'partition')}", SMALL,
             colour=MARK if leaderless else MUTED, bold=bool(leaderless)),
        label=describe_leadership(settings, frame, before),
    )  # fmt: skip


def _row(share: Share, was: Share, top: float, unit: float) -> Iterator[str]:
    is_new = share.led != was.led
    ground, border = PANEL if share.is_alive else EMPTY, edge(is_new, MUTED, marked_width=3)
    yield rect(LEFT, top, WIDTH - 2 * LEFT, ROW_HEIGHT - 8, ground, rx=6, **border)
    yield text(LEFT + 14, top + 24, f"broker {share.broker_id}", BODY, bold=True)
    yield text(LEFT + 14, top + 42, "" if share.is_alive else "fenced", SMALL, colour=MARK, bold=True)
    y = top + BAR_DOWN
    own = (BAR_LEFT, y, share.led_as_preferred * unit, BAR_HEIGHT)
    others = (BAR_LEFT + own[2], y, (share.led - share.led_as_preferred) * unit, BAR_HEIGHT)
    for look, box in ((OWN, own), (OTHERS, others)):
        if box[2]:
            yield filled(look, box)
            yield outlined(box, stroke=INK, width=1.5)
    x = BAR_LEFT + share.preferred * unit
    yield line(x, top + 4, x, top + ROW_HEIGHT - 12, INK, 4)
    yield text(WIDTH - LEFT - 14, top + 24, f"leads {share.led}", BODY, "end", bold=True,
               colour=MARK if is_new else INK)  # fmt: skip
    yield text(WIDTH - LEFT - 14, top + 42, f"preferred for {share.preferred}", SMALL, "end", colour=MUTED)


def _legend(top: float) -> Iterator[str]:
    places = ((OWN, "leads, and is preferred", BAR_LEFT), (OTHERS, "leads in place of another", BAR_LEFT + 240))
    for look, words, x in places:
        box = (x, top - 13, 22, 16)
        yield filled(look, box)
        yield outlined(box, stroke=INK, width=1.5)
        yield text(x + 30, top, words, SMALL, colour=MUTED)
    yield line(BAR_LEFT + 490, top - 14, BAR_LEFT + 490, top + 4, INK, 4)
    yield text(BAR_LEFT + 502, top, "what it is preferred for", SMALL, colour=MUTED)
