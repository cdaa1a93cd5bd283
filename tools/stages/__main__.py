"""Records what a real Kafka answers in each stage: kafkalearn/exercises/build/recorded.json.

    python3 -m tools.stages           every stage, on a cluster of three brokers; about five minutes
    python3 -m tools.stages expiry    these stages alone, the others as they are recorded

Each stage is asked until the same answers have come twice. Nothing of them is computed by `kafkalearn`;
`kafkalearn.exercises.build.comparing.normal` takes away what is not compared. It prints what has changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafkalearn.exercises.build.comparing import normal
from kafkalearn.exercises.build.playing import SETTINGS, TOPICS, Step, as_json
from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.questions import place_offsets_topic
from kafkalearn.live.request_values import error_name, heartbeat
from kafkalearn.live.stage_wire import Wire, group_of_ours
from kafkalearn.releases.lines import DEFAULT_RELEASE
from tools.recordings import differences
from tools.stages.scripts import SCRIPTS

RECORDED = Path(__file__).parents[2] / "kafkalearn" / "exercises" / "build" / "recorded.json"
ABOUT = (
    "The stages of Build your own coordinator: the requests of each, and what broker 1 of three answered; partition p "
    "of the offsets topic, which has 50, was led by broker p mod 3 + 1. answers: what came after a step and before the "
    "next one, each with the number of the step that asked, from 0. What is drawn at random stands in angle brackets. "
    "Bytes are texts, a character a byte. Written by python3 -m tools.stages."
)
SWEPT = "expiry"
"""The stage that waits for the sweep of old offsets; every other one needs that no sweep comes: Kafka's takes a group
away that has nobody but who was told an id, and with it that id."""
NEVER_MS = 3_600_000
AROUND = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.assignor.offload.enable": False,
    "offsets.topic.replication.factor": 1,
}
"""What the brokers need beside the settings of the stages."""
LOADED, MOST_TIMES = 200, 4


@contextmanager
def cluster(is_swept: bool, release: str = DEFAULT_RELEASE) -> Iterator[Kafka]:
    """A cluster as the stages have it, once its broker 1 answers for all of its groups."""
    swept = {} if is_swept else {"offsets.retention.check.interval.ms": NEVER_MS}
    with Kafka(3, release, config={**SETTINGS, **AROUND, **swept}) as kafka:
        place_offsets_topic(kafka, 3)
        for name, topic in TOPICS.items():
            kafka.create_topic(name, topic.partitions)
        for group_id in {group_of_ours("loaded") for _ in range(LOADED)}:
            asked = heartbeat(group_id, "nobody", 1)
            wait_for(
                lambda asked=asked: error_name(kafka.ask(1, "Heartbeat", asked)["errorCode"]),
                "UNKNOWN_MEMBER_ID",
                f"broker 1 coordinates {group_id!r}:",
            )
        yield kafka


def address_of(kafka: Kafka) -> tuple[str, int]:
    """Where broker 1 listens."""
    host, _, port = kafka.bootstrap.partition(",")[0].rpartition(":")
    return host, int(port)


def asked(address: tuple[str, int], script: Sequence[Step]) -> list[Step]:
    """A script with the answers of a broker."""
    with Wire(*address) as wire:
        came = wire.played(script, lambda number, come: True)
        answers = [
            sorted(
                (
                    {"step": each["step"], "answer": normal(wire.names().named(as_json(each["answer"])))}
                    for each in come
                ),
                key=lambda each: each["step"],
            )
            for come in came
        ]
    return [{**step, "answers": each} for step, each in zip(script, answers, strict=True)]


def asked_twice(address: tuple[str, int], name: str) -> list[Step]:
    """The answers that came twice: once a busy machine may take longer for one than is looked for it.

    Raises
    ------
    AssertionError
        If each time others came.
    """
    seen: list[list[Step]] = []
    while len(seen) < MOST_TIMES:
        seen.append(asked(address, SCRIPTS[name]))
        if seen[-1] in seen[:-1]:
            return seen[-1]
    raise AssertionError(f"{name} was answered in {MOST_TIMES} ways: {seen}")


def recorded(names: Sequence[str]) -> tuple[str, dict[str, list[Step]]]:
    """The release, and these stages, each with its answers."""
    found: dict[str, list[Step]] = {}
    version = ""
    for is_swept in (False, True):
        wanted = [name for name in names if (name == SWEPT) is is_swept]
        if wanted:
            with cluster(is_swept) as kafka:
                version = kafka.release.version
                for name in wanted:
                    found[name] = asked_twice(address_of(kafka), name)
    return version, found


def text_of(whole: Mapping[str, Any]) -> str:
    """The file: a line for each step."""
    lines = [f"  {json.dumps(name)}: [\n" + ",\n".join(f"   {json.dumps(step)}" for step in steps) + "\n  ]"
             for name, steps in whole["stages"].items()]  # fmt: skip
    head = json.dumps({name: each for name, each in whole.items() if name != "stages"}, indent=1)
    return f"{head[:-2]},\n" + ' "stages": {\n' + ",\n".join(lines) + "\n }\n}\n"


def main(words: Sequence[str]) -> int:
    """Write the file; the exit code."""
    unknown = [each for each in words if each not in SCRIPTS]
    if unknown:
        print(f"no stage is called {', '.join(unknown)}; there are {', '.join(SCRIPTS)}", file=sys.stderr)
        return 2
    before = json.loads(RECORDED.read_text("utf-8"))["stages"] if RECORDED.exists() else {}
    version, found = recorded(words or list(SCRIPTS))
    stages = {name: found.get(name, before.get(name)) for name in SCRIPTS if name in found or name in before}
    whole = {"about": ABOUT, "release": version, "settings": dict(SETTINGS), "stages": stages}
    RECORDED.write_text(text_of(whole), encoding="utf-8")
    for each in differences(before, stages):
        print(each[:300])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
