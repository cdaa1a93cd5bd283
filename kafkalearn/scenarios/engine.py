"""The engine that plays scenarios: the one discrete-event engine of the library.

All other simulators are a pure ``step(settings, state, event)``, and a run of theirs is a list of events that is known
before it begins. A scenario cannot be run so: its few events (a consumer joins, pauses, crashes) say only what happens
to the consumers from outside. Everything else they do on their own, in virtual time: each sends heartbeats by its own
timer, polls when its work is done, answers the coordinator after the latency of the network. When the next request
comes, and which, follows from all that came before, so a list of events cannot be given in advance; it has to be found
on the way, by a queue of calls in the order of time. The coordinators inside are the pure simulators of
`kafkalearn.groups.classic`, `kafkalearn.groups.consumer` and `kafkalearn.groups.mixed`, led step by step.

The engine is put together from objects that know little of each other: a `Clock` with the queue, the `Network`, the
`Threads` of the processes, the `Processes` themselves, a `Recorder` that keeps the moments, and the `Protocol`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkalearn.base.errors import IllegalEvent, counted
from kafkalearn.scenarios import events
from kafkalearn.scenarios.consumers import SCENARIO, Clock, Consumer, Network, Processes, Protocol, Recorder, Threads


@dataclass(frozen=True, slots=True)
class World:
    """One world for one run, put together by `new_world`; a protocol works with its parts."""

    settings: events.Settings
    topics: dict[str, int]  # partition counts by topic; they change
    consumers: Mapping[str, Consumer]  # by name
    clock: Clock
    threads: Threads
    network: Network
    processes: Processes
    recorder: Recorder


def new_world(scenario: events.Scenario, settings: events.Settings, clock: Clock, recorder: Recorder) -> World:
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


EVENT_WORDS = {
    events.Leaves: "leaving",
    events.Crashes: "a crash",
    events.CrashesAndReturns: "a crash",
    events.Restarts: "a restart",
    events.Pauses: "a pause",
    events.Processing: "work",
    events.Disconnected: "a lost connection",
    events.Subscribes: "a subscription",
}
"""What each event is called when it cannot have an effect."""


class Engine:
    """Plays one scenario in one world with one protocol."""

    def __init__(self, scenario: events.Scenario, world: World, protocol: Protocol) -> None:
        """Nothing has happened yet."""
        self._scenario = scenario
        self._world = world
        self._protocol = protocol
        subscriptions = [scenario.subscription(member) for member in scenario.members]
        subscriptions += [event.to for event in scenario.events if isinstance(event, events.Subscribes)]
        self._subscriptions = tuple(dict.fromkeys(subscriptions))
        self._topics_so_far = {name for name, _ in scenario.topics}

    def run(self) -> Recorder:
        """Play the scenario to its end; what came of it is the recorder's."""
        clock, recorder = self._world.clock, self._world.recorder
        self._keep_moment()
        for event in self._scenario.events:
            clock.at(event.at_ms, SCENARIO, self._apply, event)
        clock.run(self._scenario.end_ms, self._after_each_ms, len(self._scenario.members))
        recorder.end(self._scenario.end_ms)
        return recorder

    def _after_each_ms(self) -> None:
        if self._world.recorder.has_notes:
            self._keep_moment()

    def _keep_moment(self) -> None:
        """Of the topics, those count that somebody in this group subscribes to at some time."""
        topics = {
            name: count
            for name, count in self._world.topics.items()
            if any(each.covers(name) for each in self._subscriptions) or not self._subscriptions
        }
        self._world.recorder.keep(self._protocol.view(), self._world.consumers.values(), topics)

    def _apply(self, event: events.ScenarioEvent) -> None:
        """Do to the world what an event of the scenario says."""
        if isinstance(event, events.TopicEvent):
            return self._change_topic(event)
        consumer = self._world.consumers[event.member]
        if isinstance(event, events.Speaks):
            consumer.protocol = event.protocol
            return None
        if isinstance(event, events.Joins):
            if consumer.is_running:
                raise IllegalEvent(f"{event}: {event.member} is running already")
            return self._start(consumer)
        if not consumer.is_running:
            return self._world.recorder.note(
                f"{consumer.name} is not running: {EVENT_WORDS[type(event)]} has no effect"
            )
        if isinstance(event, events.Leaves | events.Restarts) and consumer.is_paused(self._world.clock.now_ms):
            return self._world.clock.at(consumer.paused_until_ms, SCENARIO, self._apply, event)
        return self._apply_to_running(consumer, event)

    def _apply_to_running(self, consumer: Consumer, event: events.ScenarioEvent) -> None:
        processes = self._world.processes
        match event:
            case events.Leaves():
                processes.close(consumer, f"{consumer.name} leaves")
            case events.Crashes():
                processes.end(consumer, f"{consumer.name} crashes")
            case events.Restarts(after_ms=after_ms):
                processes.close(consumer, f"{consumer.name} is restarted")
                self._start_later(consumer, after_ms)
            case events.CrashesAndReturns(after_ms=after_ms):
                processes.end(consumer, f"{consumer.name} crashes")
                self._start_later(consumer, after_ms)
            case events.Pauses(for_ms=for_ms):
                processes.pause(consumer, for_ms)
            case events.Processing(for_ms=for_ms):
                processes.work(consumer, for_ms)
            case events.Disconnected(for_ms=for_ms):
                processes.disconnect(consumer, for_ms)
            case events.Subscribes(to=subscription):
                processes.subscribe(consumer, subscription)

    def _start(self, consumer: Consumer) -> None:
        self._world.processes.start(consumer, self._protocol.client)

    def _start_later(self, consumer: Consumer, after_ms: int) -> None:
        self._world.clock.at(self._world.clock.now_ms + after_ms, SCENARIO, self._start, consumer)

    def _change_topic(self, event: events.TopicEvent) -> None:
        self._check_topic(event)
        topics, topic = self._world.topics, event.topic
        if isinstance(event, events.Deleted):
            del topics[topic]
            self._world.recorder.note(f"{topic} is deleted")
        else:
            topics[topic] = event.partition_count
            verb = "grows to" if isinstance(event, events.Grows) else "is created with"
            self._world.recorder.note(f"{topic} {verb} {counted(event.partition_count, 'partition')}")
        self._protocol.topic_changed(topic)

    def _check_topic(self, event: events.TopicEvent) -> None:
        topics = self._world.topics
        words = ", ".join(f"{name} with {count}" for name, count in topics.items()) or "none"
        if isinstance(event, events.Created):
            if event.topic in self._topics_so_far:
                raise IllegalEvent(f"{event}: there is or was such a topic; give the new one a name of its own")
            self._topics_so_far.add(event.topic)
        elif event.topic not in topics:
            raise IllegalEvent(f"{event}: there is no such topic then; there are: {words}")
        elif isinstance(event, events.Grows) and event.partition_count <= topics[event.topic]:
            raise IllegalEvent(f"{event}: topics can only grow; there are {words}")
