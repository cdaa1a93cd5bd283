"""What the clients of a story ask their coordinator for: tests/vectors/group/client-stories.json.

A story of `kafkalearn.scenarios` is played by real consumers of either protocol, at its own times, before a proxy that
reads what they send.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping, Sequence
from itertools import count, pairwise
from typing import Any

from confluent_kafka.admin import NewPartitions

from kafkalearn.live import Kafka
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.requests import request_of
from kafkalearn.scenarios import events
from kafkalearn.scenarios.text import scenario
from tools.real.rebalances import ASSIGNORS
from tools.real.told import Clients, config_text, places_of

FILE = "group/client-stories.json"
ABOUT = (
    "Stories in the language of kafkalearn.scenarios, played by Java consumers: the protocol of those of whom the "
    "story says nothing, the settings of clients and broker. Requests, for each process (c1.2 is the second of c1), in "
    "order: JoinGroup (whether it names a member id, assignors, group.instance.id, session and rebalance timeout), "
    "SyncGroup (generation, how many assignments it brings), LeaveGroup; ConsumerGroupHeartbeat (epoch, topics, how "
    "many partitions it says that it owns, group.instance.id, rebalance timeout, assignor; null: it does not say). "
    "Heartbeats that say nothing are left out. Beats: the median of the ms between two heartbeats that follow each "
    "other without anything else between them. Rests: ms, and how many partitions each running process that is not at "
    "work owns, just before something happens and at the end. No rebalance listeners, enable.auto.commit=false (true "
    "in: a topic grows, range). Written by python3 -m tools.real stories."
)
BROKER = {
    "group.initial.rebalance.delay.ms": 500,
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.assignment.interval.ms": 0,
}
OF_THE_BROKER_ALONE = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.assignor.offload.enable": False,
    "offsets.topic.num.partitions": 1,
}
CLIENT = {"heartbeat.interval.ms": 200, "session.timeout.ms": 8000, "metadata.max.age.ms": 1000}
LATE_S = 0.5
NOTED = ("JoinGroup", "SyncGroup", "LeaveGroup", "Heartbeat", "ConsumerGroupHeartbeat")
BEATS = ("Heartbeat", "ConsumerGroupHeartbeat")
END = "\nthe end is at {} s"
JOIN = "at 0 s: c1 joins\nat 1500 ms: c2 joins\n"

COMES_AND_GOES = JOIN + "at 4 s: c3 joins\nat 8 s: c2 leaves\nat 12 s: c1 leaves" + END.format(16)
STATIC = "c1, c2 are static\n" + JOIN + "at 4 s: c2 restarts after 1 s\nat 9 s: c1 leaves" + END.format(12)
TOO_LONG = "c1 has max.poll.interval.ms 2 s\n" + JOIN + "at 4 s: c1 works 5 s on one poll" + END.format(14)
STATIC_TOO_LONG = "c1, c2 are static\n" + TOO_LONG
WORKS_MEANWHILE = "at 0 s: c1 joins\nat 4 s: c1 works 4 s on one poll\nat 5 s: c2 joins" + END.format(13)
SUBSCRIBES = (
    "topic orders has 4 partitions\ntopic refunds has 2 partitions\nc1 subscribes to orders\n"
    "c2 subscribes to orders, refunds\n" + JOIN + "at 4 s: c1 subscribes to refunds" + END.format(9)
)
GROWS = "topic orders has 4 partitions\n" + JOIN + "at 4 s: orders grows to 6 partitions" + END.format(10)
TAKEN_BACK = (
    "topic orders has 2 partitions\n" + JOIN + "at 4 s: c1 works 10 s on one poll\n"
    "at 5 s: c2 restarts after 2 s" + END.format(18)
)
THERE_AND_BACK = (
    JOIN + "at 4 s: c1 restarts after 1 s as consumer\nat 9 s: c2 restarts after 1 s as consumer\n"
    "at 14 s: c1 restarts after 1 s as classic\nat 19 s: c2 restarts after 1 s as classic" + END.format(24)
)
HALFWAY = (
    "at 0 s: c1 (classic) joins\nat 2 s: c2 (consumer) joins\nat 4 s: c3 (classic) joins\nat 8 s: c2 leaves\n"
    "at 12 s: c1 restarts after 1 s" + END.format(17)
)

CASES: Sequence[tuple[str, str, str, str | None]] = (
    *(
        (f"comes and goes, {each}", COMES_AND_GOES, "classic", each)
        for each in ("range", "sticky", "cooperative-sticky")
    ),
    ("comes and goes", COMES_AND_GOES, "consumer", None),
    ("static, range", STATIC, "classic", "range"),
    ("too long a poll, range", TOO_LONG, "classic", "range"),
    ("too long a poll", TOO_LONG, "consumer", None),
    ("too long a poll, static, range", STATIC_TOO_LONG, "classic", "range"),
    ("too long a poll, static", STATIC_TOO_LONG, "consumer", None),
    ("at work when another joins, cooperative-sticky", WORKS_MEANWHILE, "classic", "cooperative-sticky"),
    ("at work when another joins", WORKS_MEANWHILE, "consumer", None),
    ("subscribes anew, cooperative-sticky", SUBSCRIBES, "classic", "cooperative-sticky"),
    ("subscribes anew", SUBSCRIBES, "consumer", None),
    ("a topic grows", GROWS, "consumer", None),
    ("a target is taken back", TAKEN_BACK, "consumer", None),
    ("there and back", THERE_AND_BACK, "classic", "range"),
    ("half of it new", HALFWAY, "classic", "range"),
)


class Ear:
    """What the proxy has heard, by the client that sent it."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.requests: dict[str, list[tuple[float, list[Any]]]] = {}

    def hear(self, name: str, _: int, message: bytes) -> None:
        """Keep a request about a group."""
        if name in NOTED:
            api, _, client_id, fields = request_of(message)
            self.requests.setdefault(client_id, []).append((time.monotonic(), kept_of(api.name, fields)))


def kept_of(name: str, fields: Mapping[str, Any]) -> list[Any]:
    """A request as it is kept."""
    if name == "JoinGroup":
        assignors = [each["name"] for each in fields["protocols"]]
        timeouts = [fields["sessionTimeoutMs"], fields["rebalanceTimeoutMs"]]
        return [name, bool(fields["memberId"]), assignors, fields["groupInstanceId"], *timeouts]
    if name == "SyncGroup":
        return [name, fields["generationId"], len(fields["assignments"])]
    if name == "ConsumerGroupHeartbeat":
        owned = fields["topicPartitions"]
        return [
            name,
            fields["memberEpoch"],
            fields["subscribedTopicNames"],
            None if owned is None else sum(len(each["partitions"]) for each in owned),
            fields["instanceId"],
            fields["rebalanceTimeoutMs"],
            fields["serverAssignor"],
        ]
    return [name]


def says_nothing(request: Sequence[Any]) -> bool:
    """Whether a request is a heartbeat and no more."""
    name, *rest = request
    return name == "Heartbeat" or (name == "ConsumerGroupHeartbeat" and rest[0] > 0 and rest[1] is rest[2] is None)


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by a broker and clients of a release."""
    ear, cases = Ear(), list[dict[str, Any]]()
    stories = [scenario(story) for _, story, _, _ in CASES]
    with Proxy(heard=ear.hear) as proxy:
        config = {**BROKER, **OF_THE_BROKER_ALONE, **proxy.config}
        with Kafka(release=line, config=config) as kafka:
            proxy.forward_to(kafka)
            with Clients(f"127.0.0.1:{proxy.port}", version) as clients:
                first = scenario("at 0 s: c1 joins" + END.format(5))
                for number, protocol in enumerate(("classic", "consumer"), start=len(CASES)):  # the first is slow
                    Play(kafka, clients, ear, number, first, protocol, None).run()
                for number, (name, story, protocol, assignor) in enumerate(CASES):
                    play = Play(kafka, clients, ear, number, stories[number], protocol, assignor)
                    said = {"story": story, "protocol": protocol, "assignor": assignor}
                    cases.append({"name": name, **said, "settings": {**BROKER, **CLIENT}, **play.run()})
                    print(name, flush=True)
    return cases


class Play:
    """One story, played."""

    def __init__(
        self, kafka: Kafka, clients: Clients, ear: Ear, number: int, story: events.Scenario, protocol: str,
        assignor: str | None,
    ) -> None:  # fmt: skip
        """Its topics are there; nobody has started."""
        self.kafka, self.clients, self.ear, self.story = kafka, clients, ear, story
        self.prefix, self.protocol, self.assignor = f"s{number}.", protocol, assignor
        self.spoken = dict[str, str]()
        self.incarnations: dict[str, int] = {}
        self.running: dict[str, str] = {}  # the label of each running process by member
        self.working: dict[str, float] = {}  # until when one is at work
        for topic, partitions in story.topics:
            kafka.create_topic(self.prefix + topic, partitions)
        time.sleep(1)  # until the coordinator knows them

    def run(self) -> dict[str, Any]:
        """Do at its time what the story says; requests, beats, rests."""
        numbers = count()
        queue: list[tuple[int, int, events.ScenarioEvent]] = [
            (each.at_ms, next(numbers), each) for each in self.story.events
        ]
        heapq.heapify(queue)
        begin_s = time.monotonic()
        rests: list[list[Any]] = []
        while queue:
            at_ms, _, event = heapq.heappop(queue)
            self._sleep_until(begin_s, at_ms)
            if at_ms and (not rests or rests[-1][0] != at_ms):
                rests.append([at_ms, self._owned()])
            self._do(event)
            if isinstance(event, events.Restarts):
                heapq.heappush(queue, (at_ms + event.after_ms, next(numbers), events.Joins(0, event.member)))
        end_ms = self.story.end_ms
        assert end_ms is not None
        self._sleep_until(begin_s, end_ms)
        rests.append([end_ms, self._owned()])
        labels = [label for label in self.ear.requests if label.startswith(self.prefix)]
        heard = {label.removeprefix(self.prefix): list(self.ear.requests[label]) for label in labels}
        for label in self.running.values():
            self.clients.ask(label, "close")
        return {
            "requests": {
                label: [self._plain(each) for _, each in some if not says_nothing(each)]
                for label, some in heard.items()
            },
            "beats": {label: median_ms(some) for label, some in heard.items()},
            "rests": rests,
        }

    def _plain(self, request: list[Any]) -> list[Any]:
        """Without the prefix that this machine's topics have."""
        if request[0] == "ConsumerGroupHeartbeat" and request[2] is not None:
            request[2] = sorted(each.removeprefix(self.prefix) for each in request[2])
        return request

    def _sleep_until(self, begin_s: float, at_ms: int) -> None:
        time.sleep(max(0.0, begin_s + at_ms / 1000 - time.monotonic()))

    def _owned(self) -> dict[str, int]:
        """How many partitions each process owns; of one that is at work nobody can tell."""
        labels = {label.removeprefix(self.prefix): label for label in self.running.values()}
        return {
            name: len(places_of(self.clients.ask(label, "owned")[0]))
            for name, label in labels.items()
            if time.monotonic() > self.working.get(label, 0.0)
        }

    def _do(self, event: events.ScenarioEvent) -> None:
        match event:
            case events.Speaks(member=member, protocol=protocol):
                self.spoken[member] = protocol
            case events.Joins(member=member):
                self._start(member)
            case events.Leaves(member=member) | events.Restarts(member=member):
                self.clients.tell(self.running.pop(member), "close")
            case events.Processing(member=member, for_ms=for_ms):
                self.working[self.running[member]] = time.monotonic() + for_ms / 1000 + LATE_S
                self.clients.tell(self.running[member], "work", for_ms)
            case events.Subscribes(member=member, to=to):
                self.clients.tell(self.running[member], "subscribeUnheard", self._topics(to))
            case events.Grows(topic=topic, partition_count=partitions):
                grown = [NewPartitions(self.prefix + topic, partitions)]
                admin = self.kafka.admin()
                for future in admin.create_partitions(grown).values():
                    future.result(30)
            case _:
                raise ValueError(f"real clients are not told to do this: {event}")

    def _topics(self, subscription: events.Subscription) -> str:
        return ",".join(self.prefix + each for each in subscription.topics)

    def _start(self, member: str) -> None:
        self.incarnations[member] = self.incarnations.get(member, 0) + 1
        label = self.running[member] = f"{self.prefix}{member}.{self.incarnations[member]}"
        protocol = self.spoken.get(member, self.protocol)
        config: dict[str, object] = {
            "group.id": self.prefix, "group.protocol": protocol, "enable.auto.commit": False,
            "auto.offset.reset": "earliest", "metadata.max.age.ms": CLIENT["metadata.max.age.ms"],
        }  # fmt: skip
        if protocol == "classic":
            config |= CLIENT
            if self.assignor is not None:
                name = f"org.apache.kafka.clients.consumer.{ASSIGNORS[self.assignor]}"
                config["partition.assignment.strategy"] = name
        if member in self.story.static:
            config["group.instance.id"] = member
        config |= {setting: value for who, setting, value in self.story.member_settings if who == member}
        self.clients.tell(label, "consumer", config_text(config))
        self.clients.tell(label, "subscribeUnheard", self._topics(self.story.subscription(member)))
        self.clients.tell(label, "run", "silently")


def median_ms(heard: Sequence[tuple[float, list[Any]]]) -> int | None:
    """The median of the ms between heartbeats that follow each other and say nothing; None: there are too few."""
    gaps = [
        round(1000 * (after_s - before_s))
        for (before_s, before), (after_s, after) in pairwise(heard)
        if says_nothing(before) and says_nothing(after)
    ]
    return sorted(gaps)[len(gaps) // 2] if len(gaps) >= 3 else None
