"""A small ZooKeeper: persistent and ephemeral nodes, versions, sessions that expire, watches that fire once.

A simulator: its events are requests of sessions, sessions that open and end, and time. What old consumers need of a
ZooKeeper is all here. Sessions have names, where ZooKeeper has numbers of 64 bits.

>>> [len(frame.state.sessions) for frame in simulate(Settings(), [SessionOpened("c1"), TimePassed(8000)])]
[0, 1, 0]
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import NOT_GIVEN, Checked, FilledIn, Millis, Whole, check_fields, fill_in, text
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown
from kafkalearn.base.events import TimePassed
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.zookeeper.layout import parent_path

__all__ = [
    "PROMISES",
    "Create",
    "Delete",
    "Exists",
    "GetChildren",
    "GetData",
    "Ping",
    "SessionClosed",
    "SessionExpired",
    "SessionOpened",
    "SetData",
    "Settings",
    "TimePassed",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


# What an event led to: an answer, watches that fire, sessions that end.

OK = "OK"
NO_NODE, NODE_EXISTS, BAD_VERSION, NOT_EMPTY = "NoNode", "NodeExists", "BadVersion", "NotEmpty"
NO_CHILDREN_FOR_EPHEMERALS, SESSION_EXPIRED = "NoChildrenForEphemerals", "SessionExpired"
"""The results of a request by the names of ZooKeeper's ``KeeperException.Code``, in the form of its messages."""

NODE_CREATED, NODE_DELETED = "NodeCreated", "NodeDeleted"
NODE_DATA_CHANGED, NODE_CHILDREN_CHANGED = "NodeDataChanged", "NodeChildrenChanged"
"""What a watch tells: the names of ``Watcher.Event.EventType``. It does not tell what the new data or children are."""


class Answered(facts.Effect):
    """The answer to a request. What was not asked for is None."""

    session: str
    result: str = OK
    data: str | None = None
    children: tuple[str, ...] | None = None
    version: int | None = None


class WatchFired(facts.Effect):
    """A session is notified that something has changed; the watch is gone with that."""

    session: str
    path: str
    what: str  # `NODE_CREATED`, ...


class SessionEnded(facts.Effect):
    """A session was closed or has expired, and its ephemeral nodes are gone."""

    session: str
    removed: tuple[str, ...]  # paths
    has_expired: bool


TreeEffect: TypeAlias = Answered | WatchFired | SessionEnded


# What happens to a ZooKeeper: sessions come and go, their clients send requests, time passes.

ANY_VERSION = -1


def znode_path(name: str, value: object) -> str:
    """`value` itself if it can be the path of a node: it begins with a stroke, and no name in it is empty.

    >>> znode_path("path", "/consumers/")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: path must be like /consumers/billing, with no empty, '.' or '..' name, got \
'/consumers/'
    """
    path = text(name, value)
    names = path.split("/")
    if path != "/" and (names[0] or len(names) < 2 or any(each in ("", ".", "..") for each in names[1:])):
        raise KafkaLearnError(
            f"{name} must be like /consumers/billing, with no empty, '.' or '..' name, got {shown(path)}"
        )
    return path


Path: TypeAlias = Annotated[str, znode_path]
Version: TypeAlias = Annotated[int, Whole(ANY_VERSION)]


class SessionOpened(facts.Event):
    """A client connects and gets a session; it asks for a time-out."""

    session: str
    timeout_ms: Millis = 6000


class SessionClosed(facts.Event):
    """A client closes its session; its ephemeral nodes go at once."""

    session: str


class SessionExpired(facts.Event, says="ZooKeeper ends the session {session:cut 24}"):
    """ZooKeeper has not heard of a session for its time-out: for schedules without time. `TimePassed` does the same."""

    session: str


class Create(facts.Event):
    """A node is to be created; its parent has to be there."""

    session: str
    path: Path
    data: str | None = None
    is_ephemeral: bool = False


class Delete(facts.Event):
    """A node without children is to be deleted, if it has this version."""

    session: str
    path: Path
    version: Version = ANY_VERSION


class SetData(facts.Event):
    """The data of a node is to be replaced, if it has this version."""

    session: str
    path: Path
    data: str | None
    version: Version = ANY_VERSION


class GetData(facts.Event):
    """A client reads a node, and may leave a watch."""

    session: str
    path: Path
    leaves_watch: bool = False


class GetChildren(facts.Event):
    """A client asks for the names below a node, and may leave a watch."""

    session: str
    path: Path
    leaves_watch: bool = False


class Exists(facts.Event):
    """A client asks whether a node is there; the watch that it may leave also waits for one that is not."""

    session: str
    path: Path
    leaves_watch: bool = False


class Ping(facts.Event):
    """A client that asked nothing for a third of its time-out says that it lives."""

    session: str


Request: TypeAlias = Create | Delete | SetData | GetData | GetChildren | Exists | Ping
TreeEvent: TypeAlias = SessionOpened | SessionClosed | SessionExpired | Request | TimePassed


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The settings of a ZooKeeper by its own names, with its defaults.

    Parameters
    ----------
    tick_time_ms : int
        ``tickTime``. Sessions end at whole ticks only.
    min_session_timeout_ms, max_session_timeout_ms : int or None
        What a client may ask for; None: 2 and 20 ticks.

    Raises
    ------
    KafkaLearnError
        If a field is not a whole number within its bounds, or the least time-out is above the most.

    Examples
    --------
    >>> settings = Settings()
    >>> settings.granted_timeout_ms(1000), settings.granted_timeout_ms(6000), settings.granted_timeout_ms(100_000)
    (4000, 6000, 40000)

    References
    ----------
    ZooKeeper 3.4, ``ServerConfig``, ``ZooKeeperServer.processConnectRequest``.
    """

    tick_time_ms: Annotated[int, Whole(1, 3_600_000)] = 2000
    min_session_timeout_ms: FilledIn[Millis] = NOT_GIVEN
    max_session_timeout_ms: FilledIn[Millis] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what depends on the tick."""
        check_fields(self)
        fill_in(self, min_session_timeout_ms=2 * self.tick_time_ms, max_session_timeout_ms=20 * self.tick_time_ms)
        if self.min_session_timeout_ms > self.max_session_timeout_ms:
            raise KafkaLearnError(
                f"min_session_timeout_ms ({self.min_session_timeout_ms}) must not be above max_session_timeout_ms "
                f"({self.max_session_timeout_ms})"
            )

    def granted_timeout_ms(self, asked_ms: int) -> int:
        """The session time-out that a client gets which asks for one."""
        return min(max(asked_ms, self.min_session_timeout_ms), self.max_session_timeout_ms)

    def expiry_ms(self, heard_ms: int, timeout_ms: int) -> int:
        """When a session ends that was heard of last at a moment: the next whole tick after its time-out.

        >>> Settings().expiry_ms(100, 6000), Settings().expiry_ms(1999, 6000), Settings().expiry_ms(2000, 6000)
        (8000, 8000, 10000)
        """
        return ((heard_ms + timeout_ms) // self.tick_time_ms + 1) * self.tick_time_ms


# A ZooKeeper at one moment.

DATA, CHILDREN = "data", "children"
"""The two kinds of watches. One on data is also set by asking whether a node exists, and waits for it to come."""


class Node(NamedTuple):
    """A znode."""

    data: str | None = None
    session: str | None = None  # that it goes with; None: it is persistent
    version: int = 0  # how often its data was set since it was created

    @property
    def is_ephemeral(self) -> bool:
        """Whether it goes with a session."""
        return self.session is not None


class Session(NamedTuple):
    """A session that is open."""

    name: str
    timeout_ms: int
    expires_ms: int  # if nothing more is heard of its client


class Watch(NamedTuple):
    """A session wants to be notified of the next change."""

    path: str
    kind: str  # `DATA` or `CHILDREN`
    session: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A ZooKeeper; `effects` are what the last event led to."""

    nodes: tuple[tuple[str, Node], ...] = (("/", Node()),)  # sorted by path
    sessions: tuple[Session, ...] = ()  # in the order they were opened
    watches: tuple[Watch, ...] = ()  # sorted
    now_ms: int = 0
    transaction_count: int = field(default=0, compare=False)  # ZooKeeper's zxid: every change has a number
    effects: tuple[TreeEffect, ...] = field(default=(), compare=False)

    def node(self, path: str) -> Node | None:
        """The node at a path; None: there is none."""
        place = bisect_left(self.nodes, (path,))
        return self.nodes[place][1] if place < len(self.nodes) and self.nodes[place][0] == path else None

    def children(self, path: str) -> tuple[str, ...]:
        """The names of the nodes directly below a path, sorted."""
        above = path if path.endswith("/") else f"{path}/"
        first = bisect_left(self.nodes, (above,))
        last = bisect_left(self.nodes, (above[:-1] + "0",))  # "0" is the character after "/"
        names = (each[len(above) :] for each, _ in self.nodes[first:last])
        return tuple(name for name in names if name and "/" not in name)

    def session(self, name: str) -> Session | None:
        """The open session of a name; None: there is none."""
        return next((each for each in self.sessions if each.name == name), None)

    def ephemerals(self, session: str) -> tuple[str, ...]:
        """The paths of the nodes that go with a session."""
        return tuple(path for path, node in self.nodes if node.session == session)


def start(settings: Settings) -> Tree:
    """A ZooKeeper with nothing in it but the root.

    >>> start(Settings()).children("/")
    ()
    """
    return Tree()


# The changes of a tree, each with the watches that it fires; whether they are allowed is decided before.


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
    >>> from kafkalearn.zookeeper.tree import Create, GetChildren, SessionExpired, SessionOpened
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

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
