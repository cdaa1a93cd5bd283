"""Kafka 1.1.1, its ZooKeeper and its old consumers, in one Java process that does what it is told."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from types import TracebackType

from kafkalearn.live.jars import Jar, Module, Release, fetch, jar_paths, java_here, source_words

HERE = Path(__file__).resolve().parent
JARS = HERE / "jars.json"
OPTIONS = (
    "-Xmx300m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Dzookeeper.jmx.log4j.disable=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
)
STILL_S, AT_MOST_S = 1.2, 20.0


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
        words = source_words(HERE / "OldGroup.java", jar_paths(era()), str(folder), options=OPTIONS)
        self.errors = folder / "errors"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [str(java_here().executable), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
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
        """The content of the group's nodes, once they have not changed for a second."""
        last, since, deadline = None, time.monotonic(), time.monotonic() + AT_MOST_S
        while time.monotonic() < deadline:
            now = self.ask("nodes", group)
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since >= STILL_S:
                break
            time.sleep(0.1)
        return json.loads(last)


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
