"""What always holds in a ZooKeeper: nodes hang together, ephemeral ones go with their session, watches fire once."""

from __future__ import annotations

from kafkalearn.promises import Promises, Since, judges
from kafkalearn.zookeeper.layout import parent_path
from kafkalearn.zookeeper.tree.effects import OK, Answered, SessionEnded, WatchFired
from kafkalearn.zookeeper.tree.settings import Settings
from kafkalearn.zookeeper.tree.state import Tree


def _has_parents(settings: Settings, tree: Tree) -> bool:
    paths = {path for path, _ in tree.nodes}
    return all(parent_path(path) in paths for path in paths)


def _has_no_child_below_ephemerals(settings: Settings, tree: Tree) -> bool:
    ephemeral = {path for path, node in tree.nodes if node.is_ephemeral}
    return not any(parent_path(path) in ephemeral for path, _ in tree.nodes)


def _ephemerals_have_a_session(settings: Settings, tree: Tree) -> bool:
    sessions = {session.name for session in tree.sessions}
    return all(node.session in sessions for _, node in tree.nodes if node.is_ephemeral)


def _watches_have_a_session(settings: Settings, tree: Tree) -> bool:
    sessions = {session.name for session in tree.sessions}
    return all(watch.session in sessions for watch in tree.watches)


def _has_notified_of_every_watch_that_is_gone(settings: Settings, before: Tree, tree: Tree) -> bool:
    """The watches of a session go with it in silence, but for those that fired before it ended."""
    sessions = {session.name for session in tree.sessions}
    gone = {(watch.session, watch.path) for watch in before.watches if watch not in tree.watches}
    notified = {(effect.session, effect.path) for effect in tree.effects if isinstance(effect, WatchFired)}
    return {each for each in gone if each[0] in sessions} <= notified <= gone


INVARIANTS: Promises = {
    "every node has a parent": _has_parents,
    "nothing is below an ephemeral node": _has_no_child_below_ephemerals,
    "an ephemeral node goes with its session": _ephemerals_have_a_session,
    "a watch goes with its session": _watches_have_a_session,
    "paths are sorted, each there once": lambda settings, tree: (
        [path for path, _ in tree.nodes] == sorted({path for path, _ in tree.nodes})
    ),
    "no session is open past its time": lambda settings, tree: all(
        session.expires_ms > tree.now_ms for session in tree.sessions
    ),
    "a watch fires once and is gone": Since(_has_notified_of_every_watch_that_is_gone),
    "a request is answered once": lambda settings, tree: (
        sum(isinstance(effect, Answered) for effect in tree.effects) <= 1
    ),
}
NO_SESSION_EXPIRES = "no session expires"
NO_REQUEST_REFUSED = "no request is refused"

PROMISES: Promises = {
    NO_SESSION_EXPIRES: lambda settings, tree: (
        not any(isinstance(effect, SessionEnded) and effect.has_expired for effect in tree.effects)
    ),
    NO_REQUEST_REFUSED: lambda settings, tree: all(
        effect.result == OK for effect in tree.effects if isinstance(effect, Answered)
    ),
}
"""What a client would like, and has to live without: it may be paused too long, and others are quicker."""

check, broken = judges(INVARIANTS, PROMISES)
