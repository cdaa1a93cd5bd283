"""A small ZooKeeper, held to the contract."""

from kafkalearn.zookeeper.tree import (
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
    Settings,
    TimePassed,
)
from tests.contract.simulator import Run, Simulator

EVENTS = (
    SessionOpened("c1"),
    SessionOpened("c2", 20_000),
    Create("c1", "/ids"),
    GetChildren("c2", "/ids", leaves_watch=True),
    Exists("c2", "/ids/c1", leaves_watch=True),
    Create("c1", "/ids/c1", "hello", is_ephemeral=True),
    Create("c1", "/ids/c1"),
    Create("c1", "/ids/c1/below"),
    Create("c1", "/nowhere/c1"),
    GetData("c2", "/ids/c1", leaves_watch=True),
    SetData("c1", "/ids/c1", "hello"),
    SetData("c1", "/ids/c1", "more", version=7),
    Delete("c2", "/ids"),
    TimePassed(3000),
    Ping("c1"),
    GetChildren("c2", "/ids", leaves_watch=True),
    TimePassed(8000),
    GetData("c1", "/ids"),
    SessionClosed("c2"),
)

SIMULATOR = Simulator(
    home="kafkalearn.zookeeper.tree",
    runs=(
        Run(Settings(), EVENTS),
        Run(Settings(tick_time_ms=500), (SessionOpened("a"), Create("a", "/x", None, True), SessionExpired("a"))),
    ),
    senseless=(SessionClosed("c1"), SessionExpired("c1")),
)
