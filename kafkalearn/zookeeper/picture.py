"""A group of old consumers and its ZooKeeper, shown: what each turn did in words, and a picture.

In the picture stand ZooKeeper's nodes with owners and watches, and beside them the consumers. The settings come first,
so that they can be bound once: ``play(trace, partial(draw_zookeeper, settings))``.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.base.errors import begun, counted, listed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.zookeeper import layout
from kafkalearn.zookeeper.connector import model
from kafkalearn.zookeeper.connector.model import (
    ASSIGN,
    BACKOFF,
    STAGES,
    Attempt,
    Connector,
    ConnectorEffect,
    ConnectorEvent,
    Group,
    Notified,
    Settings,
)
from kafkalearn.zookeeper.tree import Node, Tree

# The words.

LONGEST_NAME = 24  # characters of a consumer's or a topic's name
MOST_SAID = 4  # effects of a kind
FIRST_WORDS = ("the", "topic", "broker", "watches", "try", "session", "and")


def name_of(name: str) -> str:
    """A name, short enough for a sentence."""
    return svg.cut_name(name, LONGEST_NAME)


def stage_words(connector: Connector) -> str:
    """What a consumer is doing, in a few words.

    >>> from kafkalearn.zookeeper.subscriptions import Streams
    >>> stage_words(Connector("c1", "billing_c1", session="c1", subscription=Streams({"orders": 1})))
    'reads nothing'
    """
    if not connector.is_running:
        return "is not running"
    attempt = connector.attempt
    if attempt is None:
        if connector.has_given_up:
            return "has given up, reads nothing"
        return "reads" if connector.reads else "reads nothing"
    if attempt.stage == BACKOFF:
        return f"try {attempt.number + 1} failed, waits"
    return f"try {attempt.number + 1}, {STAGES.index(attempt.stage) + 1}. {attempt.stage}"


def describe_zookeeper(frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None = None) -> str:
    """What the last event did, in a sentence or two.

    Parameters
    ----------
    frame, before : Frame
        A frame of `kafkalearn.zookeeper.connector.simulate` and the one before it.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, Settings, TopicCreated, simulate
    >>> describe_zookeeper(simulate(Settings(), [BrokerStarted(0), TopicCreated("orders", 2)])[2])
    'Topic orders is created with 2 partitions.'
    """
    group: Group = frame.state
    if frame.event is None:  # what led here is no part of this run
        return "Here it begins." if group.connectors else "Nothing has happened yet."
    said = [_event_words(frame, before), *_effects_words(group)]
    return " ".join(f"{begun(each, FIRST_WORDS)}." for each in said if each)


def _event_words(frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None) -> str:
    match frame.event:
        case model.RebalanceStep(who):
            return _step_words(who, frame, before)
    return in_words(frame.event)


def _step_words(consumer: str, frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None) -> str:
    """Which of the eight steps it was, and for the fourth what the consumer saw."""
    had = None if before is None else before.state.connector(consumer)
    who = name_of(consumer)
    if had is None or had.attempt is None:
        return f"{who} goes on with its rebalance"
    if had.attempt.stage == BACKOFF:
        return f"the pause of {who} is over"
    words = f"{who}, step {STAGES.index(had.attempt.stage) + 1}: {had.attempt.stage}"
    goes_on = frame.state.connector(consumer)
    now = None if goes_on is None else goes_on.attempt
    if had.attempt.stage == ASSIGN and now is not None and now.members:
        words += f"; it sees {listed(name_of(each) for each in now.members)}"
    return words


def _effects_words(group: Group) -> list[str]:
    said: list[str] = []
    notified = [effect for effect in group.effects if isinstance(effect, Notified)]
    if notified:
        names = list(dict.fromkeys(name_of(effect.consumer) for effect in notified))
        places = list(dict.fromkeys(name_of(layout.last_name(effect.path)) for effect in notified))
        said.append(f"watches tell {_some(names)} that {_some(places)} changed")
    others = [effect for effect in group.effects if not isinstance(effect, Notified)]
    words = list(filter(None, map(_effect_words, others)))
    hidden = len(words) - MOST_SAID
    return [*said, *words[:MOST_SAID], *([f"and {hidden} more"] if hidden > 0 else [])]


def _some(names: list[str]) -> str:
    shown = names[:MOST_SAID]
    return listed(shown if len(names) <= MOST_SAID else [*shown, f"{len(names) - MOST_SAID} more"])


def _effect_words(effect: ConnectorEffect) -> str:
    match effect:
        case model.Released(who, partitions):
            return f"{name_of(who)} releases {_some([name_of(str(each)) for each in partitions])}"
        case model.Owned(who, partitions):
            return f"{name_of(who)} owns {_some([name_of(str(each)) for each in partitions])}"
        case model.OwnedByAnother(_, partition, thread):
            return f"{name_of(str(partition))} is owned by {name_of(thread or 'nobody')} still"
        case model.AttemptFailed(who, number, why):
            return f"try {number + 1} of {name_of(who)} has failed: {svg.cut_name(why, 60)}"
        case model.RecordsRead(_, topic, partition, first, last):
            return f"{counted(last - first, 'record')} of {name_of(topic)}-{partition}, from offset {first:,}"
    return in_words(effect)


def zookeeper_text(frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None = None) -> str:
    """A frame as a few lines of text: what happened, the nodes, the consumers.

    >>> from kafkalearn.zookeeper.connector import BrokerStarted, Settings, TopicCreated, simulate
    >>> print(zookeeper_text(simulate(Settings(), [BrokerStarted(0), TopicCreated("orders", 2)])[2]))
    Topic orders is created with 2 partitions.
      /brokers/ids/0 (broker 0)
      /brokers/topics/orders
    """
    group: Group = frame.state
    lines = [describe_zookeeper(frame, before)]
    for path, node in group.tree.nodes:
        if group.tree.children(path) or path in ("/", "/consumers"):
            continue
        content = "" if not node.data or node.data.startswith("{") else f" = {svg.cut_name(node.data, 60)}"
        session = f" ({name_of(node.session)})" if node.session is not None else ""
        lines.append(f"  {svg.cut_name(path, 80)}{content}{session}")
    lines += [f"  {name_of(each.name)} {stage_words(each)}" for each in group.connectors]
    return "\n".join(lines)


# The nodes as rows: path, content, session, who watches, and what has just changed.

LEFT, RIGHT = 22, 612
ROW_HEIGHT = 27
MOST_ROWS = 16
FEW = 2  # sessions that are named
NAME_LENGTH, CONTENT_LENGTH, WATCHERS_LENGTH = 24, 26, 13
EPHEMERAL, PERSISTENT = svg.Fill(svg.OPEN.colour, ""), svg.Fill(svg.EMPTY, "")
WAS, IS, CAME, CHANGED = "was", "is", "came", "changed"


class Row(NamedTuple):
    """A line of the tree."""

    path: str
    depth: int
    name: str
    content: str = ""
    session: str | None = None
    watchers: tuple[str, ...] = ()
    change: str = IS  # `WAS`: it is gone, `CAME`, `CHANGED`


def tree_rows(group_id: str, group: Group, before: Group | None) -> list[Row]:
    """The lines of a tree, those of nodes that are just gone among them; of too many the last are counted."""
    tree = group.tree
    had = tree if before is None else before.tree
    rows: list[Row] = []
    for path, short in _places(group_id, tree, had):
        names = _sorted({*tree.children(path), *had.children(path)})
        if not names and tree.node(path) is None:
            continue
        rows.append(Row(path, 0, short, "", None, _watchers(tree, path)))
        rows += [_row(f"{path}/{name}", name, tree, had) for name in names]
    return rows


def _places(group_id: str, tree: Tree, had: Tree) -> list[tuple[str, str]]:
    """The nodes whose children are shown, with their names: the group's own in front."""
    top = layout.group_path(group_id)
    places = [(layout.ids_path(group_id), "ids")]
    for kind in ("owners", "offsets"):
        path = f"{top}/{kind}"
        topics = _sorted({*tree.children(path), *had.children(path)})
        places += [(f"{path}/{topic}", f"{kind}/{svg.cut_name(topic, 16)}") for topic in topics]
    return [*places, (layout.BROKER_TOPICS, "/brokers/topics"), (layout.BROKER_IDS, "/brokers/ids")]


def _sorted(names: set[str]) -> list[str]:
    """Numbers as numbers, all others after them."""
    return sorted(names, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name))


def _row(path: str, name: str, tree: Tree, had: Tree) -> Row:
    node, earlier = tree.node(path), had.node(path)
    change = IS
    if node is None:
        change = WAS
    elif earlier is None:
        change = CAME
    elif node != earlier:
        change = CHANGED
    shown = node or earlier
    content, session = ("", None) if shown is None else (_content(path, shown), shown.session)
    return Row(path, 1, name, content, session, _watchers(tree, path), change)


def _content(path: str, node: Node) -> str:
    """What stands in a node, in short."""
    if node.data is None or path.startswith(layout.BROKER_IDS):
        return ""
    if path.startswith(layout.BROKER_TOPICS):
        return f"partitions 0 to {len(layout.read_topic(node.data)) - 1}"
    if "/ids/" in path:
        read = layout.read_registration(node.data)
        streams = ", ".join(f"{topic}: {count}" for topic, count in read.subscription)
        return streams if read.pattern == layout.STATIC else f"{read.pattern} {streams}"
    return node.data


def _watchers(tree: Tree, path: str) -> tuple[str, ...]:
    return tuple(sorted({watch.session for watch in tree.watches if watch.path == path}))


def draw_rows(rows: list[Row], top: float) -> str:
    """The rows below each other, from a height on."""
    shown = rows if len(rows) <= MOST_ROWS else _chosen(rows)
    hidden = len(rows) - len(shown)
    drawn = [_draw(row, top + at * ROW_HEIGHT) for at, row in enumerate(shown)]
    if hidden:
        drawn.append(
            svg.text(LEFT + 24, top + len(shown) * ROW_HEIGHT + 20, f"and {hidden} more", svg.SMALL, colour=svg.MUTED)
        )
    return "\n".join(drawn)


def _chosen(rows: list[Row]) -> list[Row]:
    """What changes is always shown, then what stands above all, then the first of the others."""
    wanted = sorted(rows, key=lambda row: (row.change == IS, row.depth, rows.index(row)))[: MOST_ROWS - 1]
    return [row for row in rows if row in wanted]


def _draw(row: Row, top: float) -> str:
    if row.depth == 0:
        return "\n".join(
            [
                svg.line(LEFT, top + 1, RIGHT, top + 1, svg.FAINT, svg.HAIR),
                svg.text(LEFT, top + 20, svg.cut_end(row.name, 30), svg.SMALL, bold=True),
                _watching(row, top),
            ]
        )
    box = (LEFT + 20, top + 3, 390, ROW_HEIGHT - 5)
    is_new = row.change in (CAME, CHANGED)
    colour = svg.MUTED if row.change == WAS else svg.INK
    fill = EPHEMERAL if row.session else PERSISTENT
    return "\n".join(
        [
            "" if row.change == WAS else svg.filled(fill, box),
            svg.rect(*box, **svg.edge(is_new)),
            svg.text(LEFT + 28, top + 20, svg.cut_name(row.name, NAME_LENGTH), svg.SMALL, colour=colour),
            svg.text(RIGHT - 188, top + 20, svg.cut_name(row.content, CONTENT_LENGTH), svg.SMALL, "end", colour),
            svg.line(LEFT + 24, top + 15, RIGHT - 184, top + 15, svg.MARK) if row.change == WAS else "",
            _watching(row, top),
        ]
    )


def _watching(row: Row, top: float) -> str:
    """Who is notified of the next change."""
    if not row.watchers:
        return ""
    count = len(row.watchers)
    words = svg.cut_end(", ".join(row.watchers), WATCHERS_LENGTH) if count <= FEW else f"{count} sessions"
    return "\n".join(
        [
            svg.filled(svg.Fill(svg.READ, ""), (RIGHT - 176, top + 5, 168, ROW_HEIGHT - 9)),
            svg.rect(RIGHT - 176, top + 5, 168, ROW_HEIGHT - 9, stroke=svg.FAINT, stroke_width=svg.HAIR, rx=9),
            svg.text(RIGHT - 92, top + 20, f"watch: {words}", svg.SMALL, "middle"),
        ]
    )


# The picture.

TOP = 112
CARD_LEFT, CARD_HEIGHT, CARD_GAP, MOST_CARDS = 634, 100, 8, 4
STEP_WIDTH, STEP_GAP = 36, 4
MOST_CHIPS, LINE_LENGTH = 6, 100
DONE, NEXT, FAILED, LATER = (
    svg.Fill(svg.READ, ""),
    svg.OPEN,
    svg.LOST,
    svg.Fill(svg.EMPTY, ""),
)


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
        marked border, what is gone is struck through.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, TopicCreated, simulate
    >>> draw_zookeeper(Settings(), simulate(Settings(), [BrokerStarted(0), TopicCreated("orders", 2)])[2]).label
    'Topic orders is created with 2 partitions.'
    """
    group: Group = frame.state
    rows = tree_rows(settings.group, group, None if before is None else before.state)
    cards = _shown(group, before)
    hidden = len(group.connectors) - len(cards)
    bottom = TOP + MOST_CARDS * (CARD_HEIGHT + CARD_GAP)  # the same in all frames of a run
    return picture(
        bottom + 46,
        svg.text(22, 38, f"/consumers/{svg.cut_name(settings.group, 30)}", svg.TITLE, bold=True),
        *_sentence(describe_zookeeper(frame, before)),
        draw_rows(rows, TOP),
        *(_card(each, before, TOP + at * (CARD_HEIGHT + CARD_GAP)) for at, each in enumerate(cards)),
        _legend(bottom + 30),
        svg.text(svg.WIDTH - 22, bottom + 30, f"{hidden} more consumers", svg.SMALL, "end", svg.MUTED)
        if hidden
        else "",
        label=describe_zookeeper(frame, before),
    )


def _sentence(words: str) -> list[str]:
    """What happened, in at most two lines."""
    lines = svg.two_lines(words, LINE_LENGTH)
    return [svg.text(22, 66 + 24 * at, each, svg.BODY - 1, colour=svg.MARK) for at, each in enumerate(lines)]


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
    width = svg.WIDTH - 22 - CARD_LEFT
    colour = svg.INK if connector.is_running else svg.MUTED
    return "\n".join(
        [
            svg.card((CARD_LEFT, top, width, CARD_HEIGHT), is_changed),
            svg.text(CARD_LEFT + 12, top + 24, svg.cut_name(connector.name, 14), svg.BODY, bold=True, colour=colour),
            svg.text(svg.WIDTH - 34, top + 23, _called(connector), svg.SMALL, "end", svg.MARK),
            svg.text(CARD_LEFT + 12, top + 46, svg.cut_end(stage_words(connector), 39), svg.SMALL, colour=colour),
            _steps(connector.attempt, top + 54) if connector.attempt else "",
            *_owned(connector, top + 80),
        ]
    )


def _called(connector: Connector) -> str:
    """Whether something waits to be done."""
    if connector.is_triggered:
        return "is to rebalance"
    return f"{len(connector.notices)} to handle" if connector.notices else ""


def _steps(attempt: Attempt, top: float) -> str:
    """The eight steps as boxes: done, next, still to come."""
    place = len(STAGES) if attempt.stage == BACKOFF else STAGES.index(attempt.stage)
    drawn = []
    for at in range(len(STAGES)):
        fill = FAILED if attempt.stage == BACKOFF else DONE if at < place else NEXT if at == place else LATER
        box = (CARD_LEFT + 12 + at * (STEP_WIDTH + STEP_GAP), top, STEP_WIDTH, 18)
        drawn += [svg.filled(fill, box), svg.rect(*box, stroke=svg.FAINT, stroke_width=svg.HAIR)]
        drawn += [svg.text(box[0] + STEP_WIDTH / 2, top + 14.5, str(at + 1), svg.SMALL, "middle")]
    return "\n".join(drawn)


def _owned(connector: Connector, top: float) -> list[str]:
    """The partitions of its registry; amber while nobody fetches them."""
    infos = connector.registry
    if not infos:
        return [svg.text(CARD_LEFT + 12, top + 14, "owns nothing, as it believes", svg.SMALL, colour=svg.MUTED)]
    topics = {info.topic for info in infos}
    words = [str(info.partition) if len(topics) == 1 else str(info.topic_partition) for info in infos]
    more = f", {len(words) - MOST_CHIPS} more" if len(words) > MOST_CHIPS else ""
    verb = "fetches" if connector.is_fetching else "holds"
    return [
        svg.text(CARD_LEFT + 12, top + 14, svg.cut_end(f"{verb} {', '.join(words[:MOST_CHIPS])}{more}", 39), svg.SMALL)
    ]


def _legend(y: float) -> str:
    return "\n".join(
        [
            svg.filled(svg.Fill(svg.OPEN.colour, ""), (22, y - 13, 26, 16)),
            svg.rect(22, y - 13, 26, 16, stroke=svg.FAINT, stroke_width=svg.HAIR),
            svg.text(54, y, "ephemeral: goes with its session", svg.SMALL),
            svg.filled(svg.Fill(svg.EMPTY, ""), (320, y - 13, 26, 16)),
            svg.rect(320, y - 13, 26, 16, stroke=svg.FAINT, stroke_width=svg.HAIR),
            svg.text(352, y, "persistent", svg.SMALL),
            svg.text(460, y, "struck through: just gone", svg.SMALL, colour=svg.MUTED),
        ]
    )
