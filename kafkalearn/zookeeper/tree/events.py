"""What happens to a ZooKeeper: sessions come and go, their clients send requests, time passes.

Sessions have names here, where ZooKeeper has numbers of 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Millis, Whole
from kafkalearn.phrases import shown

ANY_VERSION = -1


def znode_path(name: str, value: object) -> str:
    """`value` itself if it can be the path of a node: it begins with a stroke, and no name in it is empty.

    >>> znode_path("path", "/consumers/")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: path must be like /consumers/billing, with no empty, '.' or '..' name, got \
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


@dataclass(frozen=True, slots=True)
class SessionOpened(Checked):
    """A client connects and gets a session; it asks for a time-out."""

    session: str
    timeout_ms: Millis = 6000


@dataclass(frozen=True, slots=True)
class SessionClosed(Checked):
    """A client closes its session; its ephemeral nodes go at once."""

    session: str


@dataclass(frozen=True, slots=True)
class SessionExpired(Checked):
    """ZooKeeper has not heard of a session for its time-out: for schedules without time. `TimePassed` does the same."""

    session: str


@dataclass(frozen=True, slots=True)
class Create(Checked):
    """A node is to be created; its parent has to be there."""

    session: str
    path: Path
    data: str | None = None
    is_ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class Delete(Checked):
    """A node without children is to be deleted, if it has this version."""

    session: str
    path: Path
    version: Version = ANY_VERSION


@dataclass(frozen=True, slots=True)
class SetData(Checked):
    """The data of a node is to be replaced, if it has this version."""

    session: str
    path: Path
    data: str | None
    version: Version = ANY_VERSION


@dataclass(frozen=True, slots=True)
class GetData(Checked):
    """A client reads a node, and may leave a watch."""

    session: str
    path: Path
    leaves_watch: bool = False


@dataclass(frozen=True, slots=True)
class GetChildren(Checked):
    """A client asks for the names below a node, and may leave a watch."""

    session: str
    path: Path
    leaves_watch: bool = False


@dataclass(frozen=True, slots=True)
class Exists(Checked):
    """A client asks whether a node is there; the watch that it may leave also waits for one that is not."""

    session: str
    path: Path
    leaves_watch: bool = False


@dataclass(frozen=True, slots=True)
class Ping(Checked):
    """A client that asked nothing for a third of its time-out says that it lives."""

    session: str


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """The clock moves on, and sessions that are due expire."""

    ms: Millis


Request: TypeAlias = Create | Delete | SetData | GetData | GetChildren | Exists | Ping
TreeEvent: TypeAlias = SessionOpened | SessionClosed | SessionExpired | Request | TimePassed
