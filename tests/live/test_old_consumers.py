"""Groups of real old consumers of 1.1.1 on their ZooKeeper under random operations; the simulator does the same.

The ledger's live column is about the releases of `kafkalearn.live`, and 1.1 is none: so no rule is marked as held here.
"""

from __future__ import annotations

import json
import random
import time
from bisect import insort
from pathlib import Path
from types import TracebackType

import pytest

from kafkalearn.live.errors import KafkaNotFetched, wait_for
from kafkalearn.live.jars import Jar, Module, Release, fetch, jar_paths, start_source
from kafkalearn.live.reading import metadata_request
from kafkalearn.live.requests import Connection
from kafkalearn.zookeeper.connector import step
from tests.zookeeper.replaying import Player

# Kafka 1.1.1, its ZooKeeper and its old consumers, in one Java process that does what it is told.
HERE = Path(__file__).resolve().parent / "zookeeper_era"
JARS = HERE / "jars.json"
OPTIONS = (
    "-Xmx300m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Dzookeeper.jmx.log4j.disable=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
)
STILL_S, AT_MOST_S = 1.2, 60.0


def era() -> Release:
    """The release and its jars, each by its hash."""
    recorded = json.loads(JARS.read_text(encoding="utf-8"))
    jars = tuple(Jar(Module(*name.split(":")), *facts) for name, facts in recorded["jars"].items())
    return Release("1.1", recorded["version"], jars)


class OldCluster:
    """A broker and its ZooKeeper; consumers are started in it by name."""

    def __init__(self, folder: Path) -> None:
        """Fetch the jars, once on a machine, and start; what it writes goes to a folder.

        Raises
        ------
        KafkaNotFetched
            If the jars cannot be had.
        """
        fetch(era())
        self.errors = folder / "errors"
        with self.errors.open("w") as errors:
            program, jars = HERE / "OldGroup.java", jar_paths(era())
            self.process = start_source(program, jars, str(folder), options=OPTIONS, errors=errors)
        ready = self.process.stdout.readline().strip()
        assert ready == "ready", self.errors.read_text()[-2000:]

    def __enter__(self) -> OldCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, *words: object) -> str:
        """The answer to a command: ``done``, what was thrown, or JSON."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def nodes(self, group: str) -> dict[str, str]:
        """The content of the group's nodes, once they have not changed for a second: nobody takes or gives any more."""
        last, since, deadline = None, time.monotonic(), time.monotonic() + AT_MOST_S
        while time.monotonic() < deadline:
            now = self.ask("nodes", group)
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since >= STILL_S:
                break
            time.sleep(0.1)
        return json.loads(last)

    def read_into(self, read: dict[str, list]) -> dict[str, list]:
        """By member what was read, with what is new since it was asked last."""
        for member, *record in json.loads(self.ask("read")):
            insort(read.setdefault(member, []), record)
        return read


def state_of(nodes: dict[str, str], group: str) -> dict[str, dict]:
    """Nodes as a recorded step has them: ids, owners, offsets."""
    found: dict[str, dict] = {"ids": {}, "owners": {}, "offsets": {}}
    for path, content in nodes.items():
        match path.removeprefix(f"/consumers/{group}/").split("/"):
            case ["ids", name]:
                written = json.loads(content)
                found["ids"][name] = [written["subscription"], written["pattern"]]
            case ["owners" | "offsets" as kind, topic]:
                found[kind][topic] = {}
            case ["owners" | "offsets" as kind, topic, partition]:
                found[kind][topic][partition] = content
    return found


pytestmark = pytest.mark.live

NAMES = ("c1", "c10", "c2", "Z", "m_1")


@pytest.fixture(scope="module")
def old_cluster(tmp_path_factory):
    try:
        cluster = OldCluster(tmp_path_factory.mktemp("zookeeper-era"))
    except KafkaNotFetched as error:
        pytest.skip(f"no Kafka of the ZooKeeper era here: {error}")
    with cluster:
        yield cluster


def drawn(rng: random.Random, group: str) -> list[dict]:
    """Operations that may follow each other: two topics, then joins, leaves, growth, records and commits."""
    sizes = {f"{name}-{group}": rng.randint(1, 5) for name in ("orders", "clicks")}
    ops = [{"op": "create", "topic": topic, "partitions": count} for topic, count in sizes.items()]
    streams, members = {topic: rng.randint(1, 2) for topic in sizes}, []
    for _ in range(7):
        kinds = ["join", "join", "grow", "produce", "produce", "commit", "leave"] if members else ["join"]
        kind, topic = rng.choice(kinds), rng.choice(sorted(sizes))
        free = [each for each in NAMES if each not in members]
        if kind == "join" and free:
            members.append(rng.choice(free))
            as_filter = rng.random() < 0.3
            asked = {"filter": ["white", f".*-{group}", 1]} if as_filter else {"topics": streams}
            ops.append({"op": kind, "member": members[-1], **asked})
        elif kind in ("leave", "commit"):
            member = rng.choice(members)
            ops.append({"op": kind, "member": member})
            if kind == "leave":
                members.remove(member)
        elif kind == "grow":
            sizes[topic] += rng.randint(1, 2)
            ops.append({"op": kind, "topic": topic, "to": sizes[topic]})
        elif kind == "produce":
            ops.append({"op": kind, "topic": topic, "partitions": sizes[topic], "each": rng.randint(1, 3)})
    return ops


def command(op: dict, group: str, strategy: str) -> list[object]:
    """An operation in the words of the Java program."""
    match op["op"]:
        case "create":
            return ["create", op["topic"], op["partitions"]]
        case "grow":
            return ["grow", op["topic"], op["to"]]
        case "produce":
            return ["produce", op["topic"], op["partitions"], op["each"]]
        case "join" if "filter" in op:
            _, regex, count = op["filter"]
            return ["join", group, op["member"], strategy, f"filter={regex}:{count}"]
        case "join":
            wanted = ",".join(f"{topic}:{count}" for topic, count in op["topics"].items())
            return ["join", group, op["member"], strategy, f"topics={wanted}"]
    return [op["op"], op["member"]]


@pytest.mark.parametrize(("seed", "strategy"), [(1, "range"), (2, "range"), (3, "roundrobin")])
def test_random_operations_leave_the_nodes_and_records_of_the_simulator(old_cluster, seed, strategy):
    group = f"g{seed}"
    config = {"partition.assignment.strategy": strategy, "zookeeper.session.timeout.ms": "30000"}
    player = Player({"group": group, "config": config, "own_id": None}, step)

    def look() -> dict:
        return state_of(old_cluster.nodes(group), group)

    for op in drawn(random.Random(seed), group):
        answer = old_cluster.ask(*command(op, group, strategy))
        assert answer == "done", (op, answer)
        player.play({"op": op})
        nodes = {"ids": player.ids, "owners": player.owners, "offsets": player.offsets}
        wait_for(look, nodes, f"after {op}", AT_MOST_S)
        ours = {name: sorted(records) for name, records in player.read.items() if records}
        read: dict[str, list] = {}
        wait_for(lambda read=read: old_cluster.read_into(read), ours, f"records after {op}", AT_MOST_S)


def test_a_metadata_request_created_the_offsets_topic_whatever_it_and_the_broker_said(old_cluster):
    """The broker has ``auto.create.topics.enable`` false, and the request allows nothing to be created."""
    offsets, other = "__consumer_offsets", "nobody-made-it"
    with Connection("127.0.0.1", int(old_cluster.ask("port"))) as connection:

        def seen(topics: list[str] | None) -> set[str]:
            answer = connection.call("Metadata", metadata_request(topics), version=4)
            return {each["name"] for each in answer["topics"] if not each["errorCode"]}

        assert offsets not in seen(None)
        seen([offsets, other])
        wait_for(lambda: offsets in seen(None), True, "the offsets topic is there:")
        assert other not in seen(None)
