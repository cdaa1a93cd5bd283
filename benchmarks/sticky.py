"""A sticky assignment of a million partitions: ours beside Kafka's own Java class and beside kafka-python.

500 topics of 2,000 partitions, 2,000 members that subscribe to all: assigned fresh, and again after one has left.
Kafka and we get the same group and must give the same answer; a checksum over every list shows it. Our assignment
makes its topic-partitions when they are looked at, so it is timed twice: the answer, and the answer with all of it
listed. kafka-python has a rule of its own and would take hours; it is compared on a hundredth of the partitions.

Kafka's class comes with the jars that `kafkalearn.live` fetches once, and is driven by `StickyTimes.java`, compiled as
it starts: a Java runtime is enough. Where the jars cannot be had, the run says so and goes on without.

Run it with ``python benchmarks/sticky.py [rounds]``.
"""

from __future__ import annotations

import logging
import sys
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from types import SimpleNamespace

from kafka import TopicPartition as KafkaPythonPartition
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from kafkalearn.assignors import Assignment, Member, assign, rejoin
from kafkalearn.base.tables import text_table
from kafkalearn.live.errors import KafkaNotFetched
from kafkalearn.live.jars import ProgramFailed, fetch, find_release, jar_paths, run_source

HERE = Path(__file__).resolve().parent
KAFKA = "4.3"
STAGES = ("fresh", "leave")


@dataclass(frozen=True, slots=True)
class Group:
    """The group that is assigned."""

    topic_count: int
    partition_count: int  # of each topic
    member_count: int

    @property
    def topics(self) -> dict[str, int]:
        return {f"topic-{number:03}": self.partition_count for number in range(self.topic_count)}

    @property
    def member_ids(self) -> list[str]:
        return [f"consumer-{number:04}" for number in range(self.member_count)]

    def __str__(self) -> str:
        return f"{self.topic_count * self.partition_count:,} on {self.member_count:,}"


LARGE = Group(500, 2000, 2000)
SMALL = Group(50, 200, 200)


@dataclass(frozen=True, slots=True)
class Times:
    """What one contender took for a stage."""

    group: Group
    stage: str
    who: str
    seconds: tuple[float, ...]
    checksum: int | None = None


def timed(rounds: int, work: Callable[[], object]) -> tuple[tuple[float, ...], object]:
    """The seconds of each round, and what the last one made."""
    seconds = []
    for _ in range(rounds):
        made = None  # what the round before made is given back before the clock starts
        begin = perf_counter()
        made = work()
        seconds.append(perf_counter() - begin)
    return tuple(seconds), made


def time_ours(group: Group, rounds: int) -> Iterable[Times]:
    topics = tuple(group.topics)
    members = [Member(member_id, topics) for member_id in group.member_ids]
    for stage in STAGES:
        seconds, assignment = timed(rounds, lambda members=members: assign("sticky", group.topics, members))
        yield Times(group, stage, "kafkalearn", seconds)
        seconds, assignment = timed(rounds, lambda members=members: listed(assign("sticky", group.topics, members)))
        yield Times(group, stage, "kafkalearn, all listed", seconds, checksum(assignment))
        members = rejoin("sticky", members[1:], assignment, generation=1)


def listed(assignment: Assignment) -> Assignment:
    """The assignment, after every topic-partition in it has been made."""
    for _ in assignment.values():
        pass
    return assignment


def checksum(assignment: Assignment) -> int:
    """The CRC-32 of all lists as text, as `StickyTimes.java` takes it."""
    crc = 0
    for member_id in sorted(assignment):
        crc = zlib.crc32(f"{member_id}:".encode(), crc)
        crc = zlib.crc32("".join(f" {partition}" for partition in assignment[member_id]).encode(), crc)
    return crc


def time_java(group: Group, rounds: int) -> Iterable[Times]:
    sizes = map(str, (group.topic_count, group.partition_count, group.member_count, rounds))
    release = find_release(KAFKA)
    fetch(release)
    printed = run_source(HERE / "StickyTimes.java", jar_paths(release), *sizes, options=["-Xmx4g"])
    words = [line.split() for line in printed.split("\n") if line]
    for stage in STAGES:
        seconds = tuple(float(word[1]) / 1000 for word in words if word[0] == stage)
        crc = next(int(word[2]) for word in words if word[:2] == ["crc32", stage])
        yield Times(group, stage, f"Kafka {release.version} (Java)", seconds, crc)


def time_kafka_python(group: Group, rounds: int) -> Iterable[Times]:
    logging.disable(logging.CRITICAL)
    cluster = SimpleNamespace(
        topics=lambda: set(group.topics), partitions_for_topic=lambda topic: set(range(group.topics[topic]))
    )
    owned: dict[str, list | None] = dict.fromkeys(group.member_ids)
    for stage in STAGES:
        members = [
            SimpleNamespace(member_id=member_id, metadata=StickyPartitionAssignor._metadata(group.topics, had, 1))
            for member_id, had in owned.items()
        ]
        seconds, answer = timed(rounds, lambda members=members: StickyPartitionAssignor().assign(cluster, members))
        yield Times(group, stage, "kafka-python", seconds)
        owned = {
            member_id: [KafkaPythonPartition(*partition) for partition in answer[member_id].partitions()]
            for member_id in group.member_ids[1:]
        }


def rows(times: Iterable[Times]) -> list[dict[str, str]]:
    """A row for each contender and stage, with its median as a multiple of our answer's."""
    times = sorted(times, key=lambda each: (-each.group.member_count, STAGES.index(each.stage)))
    ours = {(each.group, each.stage): median(each.seconds) for each in times if each.who == "kafkalearn"}
    return [
        {
            "partitions, members": str(each.group),
            "stage": each.stage,
            "who": each.who,
            "median s": f"{median(each.seconds):.3f}",
            "best s": f"{min(each.seconds):.3f}",
            "times ours": f"{median(each.seconds) / ours[each.group, each.stage]:.1f}",
        }
        for each in times
    ]


def main(rounds: int = 5) -> None:
    """Measure, compare the answers and print."""
    times = [*time_ours(LARGE, rounds), *time_ours(SMALL, rounds)]
    try:
        times += [*time_java(LARGE, rounds), *time_java(SMALL, rounds)]
    except (KafkaNotFetched, ProgramFailed) as reason:
        print(f"Not compared with Kafka's own class: {reason}")
    times += time_kafka_python(SMALL, 1)
    print(f"{rounds} rounds (kafka-python: 1), Python {sys.version.split()[0]}")
    print(text_table(rows(times)))
    for group in (LARGE, SMALL):
        for stage in STAGES:
            sums = {each.checksum for each in times if (each.group, each.stage) == (group, stage)} - {None}
            print(f"{group}, {stage}: {'the same answer' if len(sums) == 1 else f'DIFFERENT ANSWERS {sums}'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
