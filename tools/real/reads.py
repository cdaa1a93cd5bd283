"""What the members of groups read of a topic: tests/vectors/consuming/members-read.json.

Consumers join and leave groups, records are written, and the members read on, member by member. While the group
changes they read nothing, as all that they own is paused.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live import Kafka
from tools.real.rebalances import ASSIGNORS
from tools.real.told import Clients, config_text

FILE = "consuming/members-read.json"
ABOUT = (
    "Consumers of the classic protocol whose groups read one topic. Events: produce (partition), join and leave "
    "(group, member), poll (group, member: one poll that gives records), drain (group, member: polls until it has read "
    "all that it owns); after each poll with records the member commits what it has read. Said, for each event: of "
    "join and leave, for each member then its partitions and its position in each; of poll and drain the offsets of "
    "each poll, by partition. Committed: the offsets of each group at the end. max.poll.records is most. Written by "
    "python3 -m tools.real reads."
)
SEED = 53
QUIET_S = 0.7
RESETS = ("earliest", "latest")
Event = list[Any]

KEPT_OR_NOT: list[Event] = [
    ["join", "g", "a"], ["produce", 0], ["produce", 1], ["join", "g", "b"], ["drain", "g", "a"], ["drain", "g", "b"],
]  # fmt: skip
TOLD: Sequence[tuple[str, int, str, str, int, list[Event]]] = (
    (
        "what a member keeps it reads on in a cooperative group", 2, "cooperative-sticky", "latest", 2,
        KEPT_OR_NOT,
    ),
    (
        "in an eager group it begins anew", 2, "sticky", "latest", 2,
        KEPT_OR_NOT,
    ),
    (
        "what comes before the first commit is missed", 1, "range", "latest", 2,
        [
            ["join", "g", "a"], ["produce", 0], ["leave", "g", "a"], ["join", "g", "b"], ["produce", 0],
            ["poll", "g", "b"],
        ],
    ),
    (
        "a new owner reads on from what is committed", 1, "range", "earliest", 2,
        [
            *[["produce", 0]] * 5, ["join", "g", "a"], ["join", "g", "b"], ["poll", "g", "a"], ["leave", "g", "a"],
            ["poll", "g", "b"], ["poll", "g", "b"],
        ],
    ),
    (
        "two groups do not notice each other", 2, "range", "earliest", 2,
        [
            ["join", "g", "a"], ["join", "h", "c"], ["produce", 0], ["produce", 1], ["drain", "g", "a"],
            ["join", "g", "b"], ["produce", 0], ["drain", "h", "c"], ["leave", "g", "a"], ["drain", "g", "b"],
        ],
    ),
    (
        "a member beyond the partitions takes over", 1, "roundrobin", "earliest", 2,
        [
            ["join", "g", "a"], ["join", "g", "b"], ["produce", 0], ["produce", 0], ["produce", 0], ["poll", "g", "a"],
            ["leave", "g", "a"], ["poll", "g", "b"],
        ],
    ),
)  # fmt: skip


def drawn(number: int) -> tuple[str, int, str, str, int, list[Event]]:
    """A script by chance."""
    chance = random.Random(f"{SEED}/{number}")
    assignor, partitions = list(ASSIGNORS)[number % len(ASSIGNORS)], chance.randint(1, 4)
    members: dict[str, list[str]] = {"g": [], "h": []}
    events: list[Event] = []
    produced = 0
    for _ in range(14):
        group = chance.choice("ggh")
        kind = chance.choice(("produce", "produce", "join", "leave", "read", "read"))
        there = members[group]
        free = [each for each in "abc" if f"{group}{each}" not in there]
        if kind == "produce":
            for _ in range(chance.randint(1, 4)):
                events.append(["produce", produced % partitions])
                produced += 1
        elif kind == "join" and free:
            there.append(f"{group}{chance.choice(free)}")
            events.append(["join", group, there[-1]])
        elif kind == "leave" and there:
            events.append(["leave", group, there.pop(chance.randrange(len(there)))])
        elif kind == "read" and there:
            who = chance.choice(there)
            events.append(["poll" if partitions == 1 else "drain", group, who])
    return f"by chance, {number}", partitions, assignor, chance.choice(RESETS), chance.randint(1, 3), events


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by a broker and clients of a release."""
    cases = []
    config = {"offsets.topic.num.partitions": 1, "group.initial.rebalance.delay.ms": 0}
    with Kafka(release=line, config=config) as kafka, Clients(kafka.bootstrap, version) as clients:
        for number, script in enumerate([*TOLD, *map(drawn, range(8))]):
            cases.append(_played(kafka, clients, number, *script))
            print(script[0], flush=True)
    return cases


def _played(
    kafka: Kafka, clients: Clients, number: int, name: str, partitions: int, assignor: str, reset: str, most: int,
    events: Sequence[Event],
) -> dict[str, Any]:  # fmt: skip
    topic = f"members-read-{number}"
    kafka.create_topic(topic, partitions)
    label = {(group, member): f"{number}-{group}-{member}" for _, group, member in events_of_members(events)}
    members: dict[str, list[str]] = {group: [] for group, _ in label}
    said = []
    for event in events:
        kind, *rest = event
        if kind == "produce":
            kafka.send(topic, [b"record"], partition=rest[0])
            said.append(None)
            continue
        group, member = rest
        own = label[group, member]
        if kind == "join":
            config = {
                "group.id": f"{group}-{number}",
                "partition.assignment.strategy": f"org.apache.kafka.clients.consumer.{ASSIGNORS[assignor]}",
                "heartbeat.interval.ms": 100,
                "enable.auto.commit": False,
                "auto.offset.reset": reset,
                "max.poll.records": most,
            }
            clients.ask(own, "consumer", config_text(config))
            clients.ask(own, "hold")
            clients.ask(own, "subscribe", topic)
            members[group].append(member)
        if kind == "leave":
            members[group].remove(member)
        if kind in ("join", "leave"):
            there = {label[group, each]: each for each in members[group]}
            clients.ask_all(there, "run", "")
            if kind == "leave":
                clients.ask(own, "close")
            said.append(_at_rest(kafka, clients, f"{group}-{number}", there))
            clients.ask_all(there, "rest")
        else:
            (polled,) = clients.ask(own, "drain", 1 if kind == "poll" else 1000)
            said.append([_by_partition(each) for each in polled.split()])
    committed = {
        group: {str(place.partition): each.offset for place, each in kafka.committed(f"{group}-{number}").items()}
        for group in members
    }
    for group, there in members.items():
        for each in there:
            clients.ask(label[group, each], "close")
    return {
        "name": name, "partitions": partitions, "assignor": assignor, "reset": reset, "most": most, "topic": topic,
        "events": events, "said": said, "committed": committed,
    }  # fmt: skip


def events_of_members(events: Sequence[Event]) -> list[Event]:
    """The events that are about a member."""
    return [each for each in events if each[0] != "produce"]


def _at_rest(kafka: Kafka, clients: Clients, group: str, there: dict[str, str]) -> dict[str, dict[str, int]]:
    """For each member what it owns, with its position in it."""
    time.sleep(QUIET_S)

    def is_at_rest() -> bool:
        try:
            found = kafka.group(group)
        except KafkaLearnError:  # nobody has joined it yet
            return False
        state = "Stable" if there else "Empty"
        return clients.quiet_for(QUIET_S, there) and found.state == state and len(found.members) == len(there)

    clients.wait(is_at_rest, f"{group} does not come to rest")
    positions = clients.ask_all(there, "positions")
    return {
        there[name]: {
            each.rpartition("=")[0].rpartition("-")[2]: int(each.rpartition("=")[2])
            for each in words[0].split(",")
            if each
        }
        for name, words in positions.items()
    }


def _by_partition(polled: str) -> dict[str, list[int]]:
    """The offsets of a poll by partition, in the order in which they were given."""
    found: dict[str, list[int]] = {}
    for each in polled.split(","):
        place, _, offset = each.rpartition(":")
        found.setdefault(place.rpartition("-")[2], []).append(int(offset))
    return found
