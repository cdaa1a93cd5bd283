"""The world of a scenario: consumers with two threads, settings, a network, virtual time, and what came of it.

A group protocol is plugged in: `Protocol` says what it must answer, `World` what it may ask for. Whatever has to do
with time, threads, crashes, pauses and reading is here, and the same for every protocol.

A consumer has a *poll thread*, which calls poll(), works on the records and joins the group, and a *heartbeat thread*.
A pause stops both; work on one poll stops only the first. Reading is a flow: records come evenly to all partitions,
and a partition is read while a consumer that believes to own it is reading.
"""

from kafkalearn.group.world.consumers import DOINGS, Consumer
from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Grows,
    IsCutOff,
    Joins,
    Leaves,
    Pauses,
    Restarts,
    Scenario,
    ScenarioEvent,
    Works,
)
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.group.world.protocol import GroupView, Protocol
from kafkalearn.group.world.reading import REASONS
from kafkalearn.group.world.recorder import MemberMoment, Moment, Rebalance
from kafkalearn.group.world.settings import MemberSettings, Settings
from kafkalearn.group.world.world import World

__all__ = [
    "DOINGS",
    "REASONS",
    "Consumer",
    "Crashes",
    "CrashesAndReturns",
    "GroupView",
    "Grows",
    "IsCutOff",
    "Joins",
    "Leaves",
    "MemberMoment",
    "MemberSettings",
    "Moment",
    "Outcome",
    "Pauses",
    "Protocol",
    "Rebalance",
    "Restarts",
    "Scenario",
    "ScenarioEvent",
    "Settings",
    "Works",
    "World",
]
