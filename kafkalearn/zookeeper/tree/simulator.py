"""A small ZooKeeper: one tree of nodes, asked by sessions, one request at a time.

What old consumers need of it is all here: nodes that last and nodes that go with a session, versions, watches that
report one change each, sessions that expire.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.trace import Trace, run
from kafkalearn.zookeeper.layout import parent_path
from kafkalearn.zookeeper.tree.changes import created, deleted, with_data, with_watch, without_session
from kafkalearn.zookeeper.tree.effects import (
    BAD_VERSION,
    NO_CHILDREN_FOR_EPHEMERALS,
    NO_NODE,
    NODE_EXISTS,
    NOT_EMPTY,
    SESSION_EXPIRED,
    Answered,
)
from kafkalearn.zookeeper.tree.events import (
    ANY_VERSION,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Ping,
    Request,
    SessionClosed,
    SessionExpired,
    SessionOpened,
    SetData,
    TimePassed,
    TreeEvent,
)
from kafkalearn.zookeeper.tree.settings import Settings
from kafkalearn.zookeeper.tree.state import CHILDREN, DATA, Node, Session, Tree, start

REQUESTS = (Create, Delete, SetData, GetData, GetChildren, Exists, Ping)
EVENTS = (SessionOpened, SessionClosed, SessionExpired, *REQUESTS, TimePassed)


def step(settings: Settings, tree: Tree, event: TreeEvent) -> Tree:
    """The ZooKeeper after `event`; its `effects` are the answer, the watches that fired, the sessions that ended.

    A request of a session that is not open is answered with ``SessionExpired``, as ZooKeeper does.

    Raises
    ------
    IllegalEvent
        If a session is opened twice, or one is to end that is not open.

    Examples
    --------
    >>> from kafkalearn.zookeeper.tree.events import Create, GetChildren, SessionExpired, SessionOpened
    >>> events = [SessionOpened("c1"), SessionOpened("c2"), Create("c1", "/ids"), Create("c1", "/ids/c1", "", True)]
    >>> trace = simulate(Settings(), [*events, GetChildren("c2", "/ids", leaves_watch=True), SessionExpired("c1")])
    >>> trace[-2].state.effects
    (Answered(session='c2', result='OK', data=None, children=('c1',), version=None),)
    >>> for effect in trace[-1].state.effects:
    ...     print(effect)
    WatchFired(session='c2', path='/ids', what='NodeChildrenChanged')
    SessionEnded(session='c1', removed=('/ids/c1',), has_expired=True)

    References
    ----------
    ZooKeeper 3.4.10, ``DataTree``, ``WatchManager``, ``PrepRequestProcessor``, ``SessionTrackerImpl``.
    """
    tree = replace(tree, effects=())
    match event:
        case SessionOpened(session, timeout_ms):
            return _open(settings, tree, session, timeout_ms)
        case SessionClosed(session) | SessionExpired(session):
            if tree.session(session) is None:
                names = ", ".join(each.name for each in tree.sessions) or "none"
                raise IllegalEvent(f"no session {session!r} is open; open: {names}")
            return without_session(tree, session, has_expired=isinstance(event, SessionExpired))
        case TimePassed(ms):
            return _pass(tree, ms)
    if isinstance(event, REQUESTS):
        return _request(settings, tree, event)
    raise no_event(event, EVENTS)


def simulate(settings: Settings, events: Iterable[TreeEvent], initial: Tree | None = None) -> Trace[Tree, TreeEvent]:
    """The trace of some events, from `initial` or from an empty ZooKeeper.

    >>> [len(frame.state.sessions) for frame in simulate(Settings(), [SessionOpened("c1"), TimePassed(8000)])]
    [0, 1, 0]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def _open(settings: Settings, tree: Tree, session: str, timeout_ms: int) -> Tree:
    if tree.session(session) is not None:
        raise IllegalEvent(f"a session {session!r} is open already; give each a name of its own")
    granted_ms = settings.granted_timeout_ms(timeout_ms)
    opened = Session(session, granted_ms, settings.expiry_ms(tree.now_ms, granted_ms))
    return replace(tree, sessions=(*tree.sessions, opened))


def _pass(tree: Tree, ms: int) -> Tree:
    """Sessions expire in the order of their times; of one tick, in the order in which they were opened."""
    until_ms = tree.now_ms + ms
    for session in sorted(tree.sessions, key=lambda each: each.expires_ms):
        if session.expires_ms <= until_ms:
            tree = without_session(replace(tree, now_ms=session.expires_ms), session.name, has_expired=True)
    return replace(tree, now_ms=until_ms)


def _request(settings: Settings, tree: Tree, request: Request) -> Tree:
    session = tree.session(request.session)
    if session is None:
        return _answered(tree, Answered(request.session, SESSION_EXPIRED))
    expires_ms = settings.expiry_ms(tree.now_ms, session.timeout_ms)
    if expires_ms > session.expires_ms:
        heard = session._replace(expires_ms=expires_ms)
        tree = replace(tree, sessions=tuple(heard if each is session else each for each in tree.sessions))
    match request:
        case Create():
            return _create(tree, request)
        case Delete(path=path):
            return _delete(tree, request, tree.node(path))
        case SetData(path=path):
            return _set_data(tree, request, tree.node(path))
        case Exists(path=path) | GetData(path=path):
            return _get_data(tree, request, tree.node(path))
        case GetChildren(path=path):
            return _get_children(tree, request, tree.node(path))
    return _answered(tree, Answered(request.session))


def _create(tree: Tree, request: Create) -> Tree:
    parent = tree.node(parent_path(request.path))
    result = None
    if parent is None:
        result = NO_NODE
    elif tree.node(request.path) is not None:
        result = NODE_EXISTS
    elif parent.is_ephemeral:
        result = NO_CHILDREN_FOR_EPHEMERALS
    if result is not None:
        return _answered(tree, Answered(request.session, result))
    node = Node(request.data, request.session if request.is_ephemeral else None)
    return _answered(created(tree, request.path, node), Answered(request.session))


def _delete(tree: Tree, request: Delete, node: Node | None) -> Tree:
    if node is None:
        return _answered(tree, Answered(request.session, NO_NODE))
    if not _has_version(node, request.version):
        return _answered(tree, Answered(request.session, BAD_VERSION))
    if tree.children(request.path):
        return _answered(tree, Answered(request.session, NOT_EMPTY))
    return _answered(deleted(tree, request.path), Answered(request.session))


def _set_data(tree: Tree, request: SetData, node: Node | None) -> Tree:
    if node is None:
        return _answered(tree, Answered(request.session, NO_NODE))
    if not _has_version(node, request.version):
        return _answered(tree, Answered(request.session, BAD_VERSION))
    return _answered(with_data(tree, request.path, request.data), Answered(request.session, version=node.version + 1))


def _has_version(node: Node, version: int) -> bool:
    return version in (ANY_VERSION, node.version)


def _get_data(tree: Tree, request: Exists | GetData, node: Node | None) -> Tree:
    """Only `Exists` leaves a watch where there is no node, and it does not tell the data."""
    only_asks = isinstance(request, Exists)
    if request.leaves_watch and (node is not None or only_asks):
        tree = with_watch(tree, request.path, DATA, request.session)
    if node is None:
        return _answered(tree, Answered(request.session, NO_NODE))
    return _answered(tree, Answered(request.session, data=None if only_asks else node.data, version=node.version))


def _get_children(tree: Tree, request: GetChildren, node: Node | None) -> Tree:
    if node is None:
        return _answered(tree, Answered(request.session, NO_NODE))
    if request.leaves_watch:
        tree = with_watch(tree, request.path, CHILDREN, request.session)
    return _answered(tree, Answered(request.session, children=tree.children(request.path)))


def _answered(tree: Tree, answer: Answered) -> Tree:
    return replace(tree, effects=(*tree.effects, answer))
