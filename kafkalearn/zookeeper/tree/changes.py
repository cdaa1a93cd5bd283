"""The changes of a tree, each with the watches that it fires; whether they are allowed is decided before."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import replace

from kafkalearn.zookeeper.layout import parent_path
from kafkalearn.zookeeper.tree.effects import (
    NODE_CHILDREN_CHANGED,
    NODE_CREATED,
    NODE_DATA_CHANGED,
    NODE_DELETED,
    SessionEnded,
    WatchFired,
)
from kafkalearn.zookeeper.tree.state import CHILDREN, DATA, Node, Tree, Watch


def created(tree: Tree, path: str, node: Node) -> Tree:
    """The tree with one node more."""
    place = bisect_left(tree.nodes, (path,))
    nodes = (*tree.nodes[:place], (path, node), *tree.nodes[place:])
    tree = _counted(replace(tree, nodes=nodes))
    return _fired(_fired(tree, path, (DATA,), NODE_CREATED), parent_path(path), (CHILDREN,), NODE_CHILDREN_CHANGED)


def deleted(tree: Tree, path: str) -> Tree:
    """The tree with one node less; who watched both its data and its children is notified once."""
    place = bisect_left(tree.nodes, (path,))
    tree = _counted(replace(tree, nodes=(*tree.nodes[:place], *tree.nodes[place + 1 :])))
    tree = _fired(tree, path, (DATA, CHILDREN), NODE_DELETED)
    return _fired(tree, parent_path(path), (CHILDREN,), NODE_CHILDREN_CHANGED)


def with_data(tree: Tree, path: str, data: str | None) -> Tree:
    """The tree with other data in a node, whose version rises even if the data is the same."""
    place = bisect_left(tree.nodes, (path,))
    node = tree.nodes[place][1]
    changed = node._replace(data=data, version=node.version + 1)
    tree = _counted(replace(tree, nodes=(*tree.nodes[:place], (path, changed), *tree.nodes[place + 1 :])))
    return _fired(tree, path, (DATA,), NODE_DATA_CHANGED)


def without_session(tree: Tree, session: str, *, has_expired: bool) -> Tree:
    """The tree after a session: its watches go in silence, then its nodes, of which all others are notified."""
    tree = replace(
        tree,
        sessions=tuple(each for each in tree.sessions if each.name != session),
        watches=tuple(watch for watch in tree.watches if watch.session != session),
    )
    paths = tree.ephemerals(session)
    for path in paths:
        tree = deleted(tree, path)
    return replace(tree, effects=(*tree.effects, SessionEnded(session, paths, has_expired)))


def with_watch(tree: Tree, path: str, kind: str, session: str) -> Tree:
    """The tree with a watch; a second one of the same session on the same thing is none."""
    watch = Watch(path, kind, session)
    place = bisect_left(tree.watches, watch)
    if place < len(tree.watches) and tree.watches[place] == watch:
        return tree
    watches = list(tree.watches)
    insort(watches, watch)
    return replace(tree, watches=tuple(watches))


def _fired(tree: Tree, path: str, kinds: tuple[str, ...], what: str) -> Tree:
    fired = [watch for kind in kinds for watch in _on(tree, path, kind)]
    if not fired:
        return tree
    notified = sorted({watch.session for watch in fired})
    effects = (*tree.effects, *(WatchFired(session, path, what) for session in notified))
    return replace(tree, watches=tuple(each for each in tree.watches if each not in fired), effects=effects)


def _on(tree: Tree, path: str, kind: str) -> tuple[Watch, ...]:
    first = bisect_left(tree.watches, (path, kind))
    last = bisect_left(tree.watches, (path, kind + "\0"))
    return tree.watches[first:last]


def _counted(tree: Tree) -> Tree:
    return replace(tree, transaction_count=tree.transaction_count + 1)
