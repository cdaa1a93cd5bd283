"""A group of old consumers as a picture: ZooKeeper's nodes with owners and watches, and the consumers beside them.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_zookeeper, settings))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kafkalearn.trace import Frame, Trace
from kafkalearn.views.drawing.frames import Animation, animation
from kafkalearn.views.drawing.names import cut_end, cut_name, two_lines
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, READ, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import edge, filled, rect, text
from kafkalearn.views.zookeeper.tree import draw_rows, tree_rows
from kafkalearn.views.zookeeper.words import describe_zookeeper, stage_words
from kafkalearn.zookeeper.connector.events import ConnectorEvent
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.state import BACKOFF, STAGES, Connector, Group

TOP = 112
CARD_LEFT, CARD_HEIGHT, CARD_GAP, MOST_CARDS = 634, 100, 8, 4
STEP_WIDTH, STEP_GAP = 36, 4
MOST_CHIPS, LINE_LENGTH = 6, 100
DONE, NEXT, FAILED, LATER = Fill(READ, ""), Fill("#f2b94b", "/"), Fill("#ee8f73", "\\"), Fill(EMPTY, "")


def draw_zookeeper(
    settings: Settings, frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None = None
) -> Picture:
    """One moment of a group of old consumers, drawn.

    Parameters
    ----------
    settings : kafkalearn.zookeeper.connector.Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.zookeeper.connector.simulate` and the one before it; what changed between them has a
        thick border, what is gone is struck through.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, TopicCreated, simulate
    >>> draw_zookeeper(Settings(), simulate(Settings(), [BrokerStarted(), TopicCreated("orders", 2)])[2]).label
    'Topic orders is created with 2 partitions.'
    """
    group: Group = frame.state
    rows = tree_rows(settings.group, group, None if before is None else before.state)
    cards = _shown(group, before)
    hidden = len(group.connectors) - len(cards)
    bottom = TOP + MOST_CARDS * (CARD_HEIGHT + CARD_GAP)  # the same in all frames of a run
    return picture(
        bottom + 46,
        text(22, 38, f"/consumers/{cut_name(settings.group, 30)}", TITLE, bold=True),
        *_sentence(describe_zookeeper(frame, before)),
        draw_rows(rows, TOP),
        *(_card(each, before, TOP + at * (CARD_HEIGHT + CARD_GAP)) for at, each in enumerate(cards)),
        _legend(bottom + 30),
        text(WIDTH - 22, bottom + 30, f"{hidden} more consumers", SMALL, "end", MUTED) if hidden else "",
        label=describe_zookeeper(frame, before),
    )


def animate_zookeeper(
    settings: Settings,
    trace: Trace[Group, ConnectorEvent],
    *,
    title: str = "",
    start: int = 0,
    stills: Sequence[int] | None = None,
) -> Animation:
    """Every moment of a run drawn, for `play`.

    Parameters
    ----------
    settings, trace
        A run of `kafkalearn.zookeeper.connector.simulate`, and its settings.
    title, start, stills
        As in `kafkalearn.views.drawing.frames.animation`.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, simulate
    >>> len(animate_zookeeper(Settings(), simulate(Settings(), [BrokerStarted()])).pictures)
    2
    """
    draw = partial(draw_zookeeper, settings)
    return animation(trace, draw, describe_zookeeper, title=title, start=start, stills=stills)


def _sentence(words: str) -> list[str]:
    """What happened, in at most two lines."""
    lines = two_lines(words, LINE_LENGTH)
    return [text(22, 66 + 24 * at, each, BODY - 1, colour=MARK) for at, each in enumerate(lines)]


def _shown(group: Group, before: Frame[Group, ConnectorEvent] | None) -> list[Connector]:
    """The consumers that fit; of many, those that something happens to first."""
    if len(group.connectors) <= MOST_CARDS:
        return list(group.connectors)
    changed = [each for each in group.connectors if before is None or before.state.connector(each.name) != each]
    chosen = list(dict.fromkeys([*changed, *group.connectors]))[:MOST_CARDS]
    return [each for each in group.connectors if each in chosen]


def _card(connector: Connector, before: Frame[Group, ConnectorEvent] | None, top: float) -> str:
    """One consumer: its steps, what it believes to own, whether it is called."""
    was = None if before is None else before.state.connector(connector.name)
    is_changed = before is not None and was != connector
    width = WIDTH - 22 - CARD_LEFT
    colour = INK if connector.is_running else MUTED
    return "\n".join(
        [
            rect(CARD_LEFT, top, width, CARD_HEIGHT, PANEL, rx=5, **edge(is_changed, width=1.25, marked_width=3)),
            text(CARD_LEFT + 12, top + 24, cut_name(connector.name, 14), BODY, bold=True, colour=colour),
            text(WIDTH - 34, top + 23, _called(connector), SMALL, "end", MARK),
            text(CARD_LEFT + 12, top + 46, cut_end(stage_words(connector), 39), SMALL, colour=colour),
            _steps(connector, top + 54) if connector.attempt else "",
            *_owned(connector, top + 80),
        ]
    )


def _called(connector: Connector) -> str:
    """Whether something waits to be done."""
    if connector.is_triggered:
        return "is to rebalance"
    return f"{len(connector.notices)} to handle" if connector.notices else ""


def _steps(connector: Connector, top: float) -> str:
    """The eight steps as boxes: done, next, still to come."""
    attempt = connector.attempt
    place = len(STAGES) if attempt.stage == BACKOFF else STAGES.index(attempt.stage)
    drawn = []
    for at in range(len(STAGES)):
        fill = FAILED if attempt.stage == BACKOFF else DONE if at < place else NEXT if at == place else LATER
        box = (CARD_LEFT + 12 + at * (STEP_WIDTH + STEP_GAP), top, STEP_WIDTH, 18)
        drawn += [filled(fill, box), rect(*box, stroke=MUTED, stroke_width=0.75)]
        drawn += [rect(box[0] + STEP_WIDTH / 2 - 8, top + 1, 16, 16, PANEL, rx=3)]
        drawn += [text(box[0] + STEP_WIDTH / 2, top + 14.5, str(at + 1), SMALL, "middle")]
    return "\n".join(drawn)


def _owned(connector: Connector, top: float) -> list[str]:
    """The partitions of its registry; hatched while nobody fetches them."""
    infos = connector.registry
    if not infos:
        return [text(CARD_LEFT + 12, top + 14, "owns nothing, as it believes", SMALL, colour=MUTED)]
    topics = {info.topic for info in infos}
    words = [str(info.partition) if len(topics) == 1 else str(info.topic_partition) for info in infos]
    more = f", {len(words) - MOST_CHIPS} more" if len(words) > MOST_CHIPS else ""
    verb = "fetches" if connector.is_fetching else "holds"
    return [text(CARD_LEFT + 12, top + 14, cut_end(f"{verb} {', '.join(words[:MOST_CHIPS])}{more}", 39), SMALL)]


def _legend(y: float) -> str:
    return "\n".join(
        [
            filled(Fill("#f7dfa8", ""), (22, y - 13, 26, 16)),
            rect(22, y - 13, 26, 16, stroke=MUTED, stroke_width=0.75),
            text(54, y, "ephemeral: goes with its session", SMALL),
            filled(Fill(EMPTY, ""), (320, y - 13, 26, 16)),
            rect(320, y - 13, 26, 16, stroke=MUTED, stroke_width=0.75),
            text(352, y, "persistent", SMALL),
            text(460, y, "struck through: just gone", SMALL, colour=MUTED),
        ]
    )
