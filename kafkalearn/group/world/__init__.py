"""The world of a scenario: consumers with two threads, settings, a network, virtual time, and what came of it.

A group protocol is plugged in: `Protocol` is what it must offer, `World` what it can use. Whatever has to do with time,
threads, crashes, pauses and reading is here, and the same for every protocol. `kafkalearn.group.world.engine` plays.

A consumer has a *poll thread*, which calls poll(), processes the records and joins the group, and a *heartbeat thread*.
A pause stops both; work on one poll stops only the first. Reading is a flow: records come evenly to all partitions,
and a partition is read while a consumer that believes to own it is reading.
"""

from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Disconnected,
    Grows,
    Joins,
    Leaves,
    Pauses,
    Processing,
    Restarts,
    Scenario,
    Subscribes,
)
from kafkalearn.group.world.subscriptions import Subscription

__all__ = [
    "Crashes",
    "CrashesAndReturns",
    "Created",
    "Deleted",
    "Disconnected",
    "Grows",
    "Joins",
    "Leaves",
    "Pauses",
    "Processing",
    "Restarts",
    "Scenario",
    "Subscribes",
    "Subscription",
]
