"""A group of old consumers and its ZooKeeper, shown: what each turn did in words, and a picture.

In the picture stand ZooKeeper's nodes with owners and watches, and beside them the consumers. The settings come first,
so that they can be bound once: ``play(trace, partial(draw_zookeeper, settings))``.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.base.errors import begun, counted, listed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import axes, kit, svg
from kafkalearn.drawing.player import Picture
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

TREE, NODE, ROW_HEIGHT = 620, 440, 27  # pixels: the tree, the box of a node in it
MOST_ROWS = 16
FEW = 2  # sessions that are named
NAME_LENGTH, CONTENT_LENGTH, WATCHERS_LENGTH = 21, 24, 8
EPHEMERAL, PERSISTENT = svg.fill(5), svg.NOTHING
KINDS = {EPHEMERAL: "ephemeral: goes with its session", PERSISTENT: "persistent"}
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


def _chosen(rows: list[Row]) -> list[Row]:
    """What changes is always shown, then what stands above all, then the first of the others."""
    wanted = sorted(rows, key=lambda row: (row.change == IS, row.depth, rows.index(row)))[: MOST_ROWS - 1]
    return [row for row in rows if row in wanted]


def _tree(rows: list[Row]) -> kit.Block:
    """The rows below each other; of too many the last are counted."""
    shown = rows if len(rows) <= MOST_ROWS else _chosen(rows)
    hidden = len(rows) - len(shown)
    more = [kit.label(f"and {hidden} more", colour=svg.MUTED)] if hidden else []
    return kit.stack(*(_node(each) if each.depth else _heading(each) for each in shown), *more)


def _heading(row: Row) -> kit.Block:
    return kit.free(
        TREE,
        ROW_HEIGHT,
        lambda x, y: [svg.text(x, y + 20, svg.cut_end(row.name, 30), svg.SMALL, bold=True), *_watching(row, x, y)],
    )


def _node(row: Row) -> kit.Block:
    """A node with what stands in it: new ones are marked, one that is gone stays as a ghost."""
    name, content = svg.cut_name(row.name, NAME_LENGTH), svg.cut_name(row.content, CONTENT_LENGTH)

    def draw(x: float, y: float) -> list[str]:
        box = (x + 14, y + 2, NODE, ROW_HEIGHT - 4)
        if row.change == WAS:
            return [axes.ghost(box, f"{name}  {content}".strip(), svg.MARK)]
        new = row.change in (CAME, CHANGED)
        return [
            svg.filled(EPHEMERAL if row.session else PERSISTENT, box),
            svg.outlined(box, stroke=svg.MARK, stroke_width=svg.STRONG) if new else "",
            svg.text(box[0] + 10, y + 19, name, svg.SMALL),
            svg.text(box[0] + NODE - 10, y + 19, content, svg.SMALL, "end"),
            *_watching(row, x, y),
        ]

    return kit.free(TREE, ROW_HEIGHT, draw)


def _watching(row: Row, x: float, y: float) -> list[str]:
    """Who is notified of the next change."""
    count = len(row.watchers)
    words = svg.cut_end(", ".join(row.watchers), WATCHERS_LENGTH) if count <= FEW else str(count)
    return [svg.text(x + TREE, y + 19, f"watched by {words}", svg.SMALL, "end", svg.MUTED)] if count else []


# The picture.

LEFT, GAP = 22, 26
MOST_CARDS, CARD_HEIGHT = 4, 100
CARD = svg.WIDTH - 2 * LEFT - TREE - GAP
STEP_WIDTH, PAD = 32, 12
MOST_PARTITIONS = 6
DONE, NEXT, FAILED, LATER = svg.Fill(svg.READ, ""), svg.OPEN, svg.LOST, svg.Fill(svg.PANEL, "")


def draw_zookeeper(
    settings: Settings, frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None = None
) -> Picture:
    """One moment of a group of old consumers, drawn.

    Parameters
    ----------
    settings : kafkalearn.zookeeper.connector.Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.zookeeper.connector.simulate` and the one before it; what changed between them is
        marked, what is gone is a ghost.

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
    tree = _tree(rows)
    consumers = kit.stack(
        *(_card(each, before) for each in cards),
        *([kit.label(f"{hidden} more consumers", colour=svg.MUTED)] if hidden else []),
        gap=8,
    )
    height = max(tree.height, consumers.height) + 8
    used = [EPHEMERAL if row.session else PERSISTENT for row in rows if row.depth and row.change != WAS]
    page = kit.stack(
        kit.label(f"/consumers/{svg.cut_name(settings.group, 30)}", svg.TITLE, bold=True),
        kit.space(height=6),
        kit.free(TREE, height, tree.draw, lambda x, y: consumers.draw(x + TREE + GAP, y)),
        kit.free(TREE, ROW_HEIGHT, kit.legend(used, KINDS).draw),
    )
    return kit.sheet(page, describe_zookeeper(frame, before), left=LEFT)


def _shown(group: Group, before: Frame[Group, ConnectorEvent] | None) -> list[Connector]:
    """The consumers that fit; of many, those that something happens to first."""
    if len(group.connectors) <= MOST_CARDS:
        return list(group.connectors)
    changed = [each for each in group.connectors if before is None or before.state.connector(each.name) != each]
    chosen = list(dict.fromkeys([*changed, *group.connectors]))[:MOST_CARDS]
    return [each for each in group.connectors if each in chosen]


def _card(connector: Connector, before: Frame[Group, ConnectorEvent] | None) -> kit.Block:
    """One consumer: its steps, what it believes to own, whether it is called."""
    is_new = before is not None and before.state.connector(connector.name) != connector
    name = svg.MARK if is_new else svg.INK if connector.is_running else svg.MUTED
    room = CARD - 2 * PAD
    attempt = "" if connector.attempt is None else f", try {connector.attempt.number + 1}"
    stage = stage_words(connector).removeprefix(attempt.removeprefix(", ")).lstrip(" ,")
    inside = kit.stack(
        kit.row(
            kit.label(svg.cut_name(connector.name, 14 - len(attempt)) + attempt, svg.BODY, name, bold=True),
            kit.label(_called(connector), colour=svg.MARK, at_end=True),
            width=room,
        ),
        kit.label(stage, colour=svg.INK if connector.is_running else svg.MUTED, width=room),
        _steps(connector.attempt) if connector.attempt else kit.space(height=0),
        _owned(connector, room),
        gap=1,
    )
    padded = kit.stack(kit.space(height=4), inside)
    return kit.panel(padded, width=CARD, height=CARD_HEIGHT, pad=PAD, is_on=connector.is_running)


def _called(connector: Connector) -> str:
    """Whether something waits to be done."""
    if connector.is_triggered:
        return "is to rebalance"
    return f"{len(connector.notices)} to handle" if connector.notices else ""


def _steps(attempt: Attempt) -> kit.Block:
    """The eight steps: done, next, still to come."""
    place = len(STAGES) if attempt.stage == BACKOFF else STAGES.index(attempt.stage)
    fills = [DONE if at < place else NEXT if at == place else LATER for at in range(len(STAGES))]
    if attempt.stage == BACKOFF:
        fills = [FAILED] * len(STAGES)
    return kit.line_of(
        *(kit.chip([str(at)], fill, width=STEP_WIDTH, height=20) for at, fill in enumerate(fills, 1)), gap=3
    )


def _owned(connector: Connector, room: float) -> kit.Block:
    """The partitions of its registry."""
    infos = connector.registry
    if not infos:
        return kit.label("owns nothing, as it believes", colour=svg.MUTED)
    topics = {info.topic for info in infos}
    words = [str(info.partition) if len(topics) == 1 else str(info.topic_partition) for info in infos]
    more = f", {len(words) - MOST_PARTITIONS} more" if len(words) > MOST_PARTITIONS else ""
    verb = "fetches" if connector.is_fetching else "holds"
    return kit.label(f"{verb} {', '.join(words[:MOST_PARTITIONS])}{more}", width=room)
