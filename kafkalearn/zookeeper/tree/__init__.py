"""A small ZooKeeper: persistent and ephemeral nodes, versions, sessions that expire, watches that fire once.

A simulator: its events are requests of sessions, sessions that open and end, and time.
"""

from kafkalearn.zookeeper.tree.events import (
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Ping,
    SessionClosed,
    SessionExpired,
    SessionOpened,
    SetData,
    TimePassed,
)
from kafkalearn.zookeeper.tree.promises import PROMISES, broken, check
from kafkalearn.zookeeper.tree.settings import Settings
from kafkalearn.zookeeper.tree.simulator import simulate, step
from kafkalearn.zookeeper.tree.state import start

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
