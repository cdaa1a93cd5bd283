"""The parts that make up the world of a scenario; a protocol works with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkalearn.group.world.clock import Clock
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.events import Scenario
from kafkalearn.group.world.network import Network
from kafkalearn.group.world.processes import Processes
from kafkalearn.group.world.recorder import Recorder
from kafkalearn.group.world.settings import Settings
from kafkalearn.group.world.threads import Threads


@dataclass(frozen=True, slots=True)
class World:
    """One world for one run. Its parts are objects of their own, put together by `new_world`."""

    settings: Settings
    topics: dict[str, int]  # partition counts by topic; they change
    consumers: Mapping[str, Consumer]  # by name
    clock: Clock
    threads: Threads
    network: Network
    processes: Processes
    recorder: Recorder


def new_world(scenario: Scenario, settings: Settings, clock: Clock, recorder: Recorder) -> World:
    """A world for a scenario in which nobody has started yet.

    Parameters
    ----------
    scenario : Scenario
        Its members and topics are taken.
    settings : Settings
        Those of the broker and of each consumer.
    clock : Clock
        The time that everything lives by.
    recorder : Recorder
        With the same clock.
    """
    threads = Threads(clock)
    names = scenario.members
    consumers = {
        name: Consumer(
            name, settings.of(name), settings["processing.ms"], index, len(names), scenario.subscription(name)
        )
        for index, name in enumerate(names)
    }
    return World(
        settings,
        dict(scenario.topics),
        consumers,
        clock,
        threads,
        Network(clock, threads, settings["latency.ms"]),
        Processes(clock, threads, recorder),
        recorder,
    )
