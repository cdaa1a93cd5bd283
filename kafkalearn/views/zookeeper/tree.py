"""The nodes of ZooKeeper as rows of a picture: path, content, session, who watches, and what has just changed."""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.views.drawing.names import cut_end, cut_name
from kafkalearn.views.drawing.style import EMPTY, INK, MARK, MUTED, READ, SMALL, Fill
from kafkalearn.views.drawing.svg import filled, line, rect, text
from kafkalearn.zookeeper.connector.state import Group
from kafkalearn.zookeeper.contents import STATIC, read_registration, read_topic
from kafkalearn.zookeeper.layout import BROKER_IDS, BROKER_TOPICS, group_path, ids_path
from kafkalearn.zookeeper.tree.state import Node, Tree

LEFT, RIGHT = 22, 612
ROW_HEIGHT = 27
MOST_ROWS = 16
FEW = 2  # sessions that are named
NAME_LENGTH, CONTENT_LENGTH, WATCHERS_LENGTH = 24, 26, 13
EPHEMERAL, PERSISTENT = Fill("#f7dfa8", ""), Fill(EMPTY, "")
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
    top = group_path(group_id)
    places = [(ids_path(group_id), "ids")]
    for kind in ("owners", "offsets"):
        path = f"{top}/{kind}"
        topics = _sorted({*tree.children(path), *had.children(path)})
        places += [(f"{path}/{topic}", f"{kind}/{cut_name(topic, 16)}") for topic in topics]
    return [*places, (BROKER_TOPICS, "/brokers/topics"), (BROKER_IDS, "/brokers/ids")]


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
    return Row(path, 1, name, _content(path, shown), shown.session, _watchers(tree, path), change)


def _content(path: str, node: Node) -> str:
    """What stands in a node, in short."""
    if node.data is None:
        return ""
    if path.startswith(BROKER_IDS):
        return ""
    if path.startswith(BROKER_TOPICS):
        return f"partitions 0 to {len(read_topic(node.data)) - 1}"
    if "/ids/" in path:
        read = read_registration(node.data)
        streams = ", ".join(f"{topic}: {count}" for topic, count in read.subscription)
        return streams if read.pattern == STATIC else f"{read.pattern} {streams}"
    return node.data


def _watchers(tree: Tree, path: str) -> tuple[str, ...]:
    return tuple(sorted({watch.session for watch in tree.watches if watch.path == path}))


def draw_rows(rows: list[Row], top: float) -> str:
    """The rows below each other, from a height on."""
    shown = rows if len(rows) <= MOST_ROWS else _chosen(rows)
    hidden = len(rows) - len(shown)
    drawn = [_draw(row, top + at * ROW_HEIGHT) for at, row in enumerate(shown)]
    if hidden:
        drawn.append(text(LEFT + 24, top + len(shown) * ROW_HEIGHT + 20, f"and {hidden} more", SMALL, colour=MUTED))
    return "\n".join(drawn)


def _chosen(rows: list[Row]) -> list[Row]:
    """What changes is always shown, then what stands above all, then the first of the others."""
    wanted = sorted(rows, key=lambda row: (row.change == IS, row.depth, rows.index(row)))[: MOST_ROWS - 1]
    return [row for row in rows if row in wanted]


def _draw(row: Row, top: float) -> str:
    if row.depth == 0:
        return "\n".join(
            [
                line(LEFT, top + 1, RIGHT, top + 1, MUTED, 0.75),
                text(LEFT, top + 20, cut_end(row.name, 30), SMALL, bold=True),
                _watching(row, top),
            ]
        )
    box = (LEFT + 20, top + 3, 390, ROW_HEIGHT - 5)
    is_new = row.change in (CAME, CHANGED)
    colour = MUTED if row.change == WAS else INK
    fill = EPHEMERAL if row.session else PERSISTENT
    return "\n".join(
        [
            "" if row.change == WAS else filled(fill, box),
            rect(*box, stroke=MARK if is_new else MUTED, stroke_width=3 if is_new else 0.75),
            text(LEFT + 28, top + 20, cut_name(row.name, NAME_LENGTH), SMALL, colour=colour),
            text(RIGHT - 188, top + 20, cut_name(row.content, CONTENT_LENGTH), SMALL, "end", colour),
            line(LEFT + 24, top + 15, RIGHT - 184, top + 15, MARK, 2) if row.change == WAS else "",
            _watching(row, top),
        ]
    )


def _watching(row: Row, top: float) -> str:
    """Who is notified of the next change."""
    if not row.watchers:
        return ""
    count = len(row.watchers)
    words = cut_end(", ".join(row.watchers), WATCHERS_LENGTH) if count <= FEW else f"{count} sessions"
    return "\n".join(
        [
            filled(Fill(READ, ""), (RIGHT - 176, top + 5, 168, ROW_HEIGHT - 9)),
            rect(RIGHT - 176, top + 5, 168, ROW_HEIGHT - 9, stroke=MUTED, stroke_width=0.75, rx=9),
            text(RIGHT - 92, top + 20, f"watch: {words}", SMALL, "middle"),
        ]
    )
