"""Records what classes of released Kafkas answer to fixed questions: tests/vectors/versions/released-classes.json.

    python3 -m tools.released_classes            every line that kafkalearn.live starts
    python3 -m tools.released_classes 4.3        only these, the others as they are recorded
    python3 -m tools.released_classes 4.3=4.3.2  the same for another patch

Asked are `Utils.murmur2`, `Utils.abs`, the assignors of the Java client, `ApiKeys`, the generated classes of the
records of the offsets topic, and which settings are deprecated (AskClasses.java). An answer is kept with the first line
that gives it and the lines where it changes. The questions are drawn from a seed. It prints what has changed.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafkalearn.live.jars import ProgramFailed, releases
from kafkalearn.offsets.records import RECORD_TYPES
from tools.kafka_jars import broker_jars, run_class
from tools.recordings import differences, numbers_of, text_of
from tools.settings.rows import compressed, expanded

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "versions" / "released-classes.json"
SEED = 14
KEYS, GROUPS, ASSIGNED = 60, 60, 40
CONFIG_CLASSES = (
    "consumer=org.apache.kafka.clients.consumer.ConsumerConfig",
    "producer=org.apache.kafka.clients.producer.ProducerConfig",
    "admin=org.apache.kafka.clients.admin.AdminClientConfig",
    "broker=kafka.server.KafkaConfig",
    "topic=org.apache.kafka.storage.internals.log.LogConfig",
    "group=org.apache.kafka.coordinator.group.GroupConfig",
)
"""Whose documentation is asked what is deprecated."""

ABOUT = (
    "What classes of released Kafkas answer to fixed questions: Utils.murmur2 and toPositive of keys in hex; Utils.abs "
    "of the hash of group ids; RangeAssignor, RoundRobinAssignor, StickyAssignor and CooperativeStickyAssignor for new "
    "groups; the oldest and newest version of each request in ApiKeys; the fields of each version of the generated "
    "classes of the offsets topic's records; which settings their documentation calls deprecated, and the release "
    "without them (-: it does not say). Of each question {line: answer}, only the lines where it changes; null: "
    "the release has no such class, version or request. asked: the release of each line. Written by "
    "python3 -m tools.released_classes."
)


def main(words: list[str]) -> int:
    """Ask the lines named, or all; write the file and print what has changed in it."""
    old = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"asked": {}, "answers": {}}
    wanted = {line: patch or releases()[line].version for line, _, patch in (word.partition("=") for word in words)}
    wanted = wanted or {line: each.version for line, each in releases().items()}
    new = taken_in(old, {line: answers_of(version) for line, version in wanted.items()}, wanted)
    changed = differences(old["answers"], new["answers"])
    print("\n".join([f"{RECORDED.name}: {len(changed)} changes", *changed]))
    RECORDED.write_text(text_of(new, "answers"), encoding="utf-8")
    return 0


def questions() -> list[str]:
    """What is asked, as AskClasses takes it."""
    draw = random.Random(SEED)
    keys = ["-", *(draw.randbytes(draw.randint(1, 24)).hex() for _ in range(KEYS))]
    letters = "abcdefghijklmnopqrstuvwxyz-_.0123456789"
    groups = ["polygenelubricants", *("".join(draw.choices(letters, k=draw.randint(1, 30))) for _ in range(GROUPS))]
    layouts = sorted({each.name for type_ in RECORD_TYPES.values() for each in (type_.key, type_.value)})
    return [
        "apis",
        " ".join(["layouts", *layouts]),
        *(f"deprecated {each}" for each in CONFIG_CLASSES),
        *(f"key {each}" for each in keys),
        *(f"group {each}" for each in groups),
        *(_group(draw) for _ in range(ASSIGNED)),
    ]


def _group(draw: random.Random) -> str:
    """A new group: some topics, and members of which each subscribes to all or some of them."""
    topics = [f"t{number}" for number in range(draw.randint(1, 4))]
    counts = ",".join(f"{topic}={draw.randint(1, 9)}" for topic in topics)
    is_equal = draw.random() < 0.5
    members = []
    for number in range(draw.randint(1, 6)):
        subscribed = topics if is_equal else sorted(draw.sample(topics, draw.randint(1, len(topics))))
        members.append(f"c{number}:{';'.join(subscribed)}")
    return f"assign {counts} {','.join(members)}"


def answers_of(version: str) -> dict[str, str]:
    """What a release answers, by question."""
    print(f"asking {version}", flush=True)
    answers = {}
    for line in run_class(broker_jars(version), "AskClasses", *questions()).splitlines():
        kind, *parts = line.split("\t")
        size = {"api": 2, "layout": 2, "deprecated": 2, "key": 1, "group": 1, "assign": 3}[kind]
        answers[" ".join([kind, *parts[:size]])] = " ".join(parts[size:])
    return answers


def taken_in(old: dict[str, Any], read: Mapping[str, Mapping[str, str]], asked: Mapping[str, str]) -> dict[str, Any]:
    """The recording with what these lines answer now.

    >>> old = {"asked": {"4.0": "4.0.2"}, "answers": {"group a": {"4.0": "97"}}}
    >>> taken_in(old, {"4.1": {"group a": "97", "api 1 Fetch": "4 17"}}, {"4.1": "4.1.2"})["answers"]
    {'api 1 Fetch': {'4.1': '4 17'}, 'group a': {'4.0': '97'}}
    """
    both = {**old["asked"], **asked}
    names = sorted({*old["answers"], *(name for each in read.values() for name in each)})
    by_name = {
        name: expanded(old["answers"].get(name, {})) | {line: each.get(name) for line, each in read.items()}
        for name in names
    }
    return _recording({line: both[line] for line in sorted({*old["asked"], *read}, key=numbers_of)}, by_name)


def without(recorded: dict[str, Any], line: str) -> dict[str, Any]:
    """The recording as if a line had never been asked.

    >>> asked = {"4.2": "4.2.1", "4.3": "4.3.1"}
    >>> without({"asked": asked, "answers": {"a": {"4.2": "1", "4.3": "2"}, "b": {"4.3": "1"}}}, "4.3")["answers"]
    {'a': {'4.2': '1'}}
    """
    asked = {each: version for each, version in recorded["asked"].items() if each != line}
    return _recording(asked, {name: expanded(by_line) for name, by_line in recorded["answers"].items()})


def _recording(asked: Mapping[str, str], by_name: Mapping[str, Mapping[str, str | None]]) -> dict[str, Any]:
    """What the file says of these lines; a question that none of them answers is left out."""
    kept = {
        name: compressed({line: by_line.get(line) for line in asked}, first=None) for name, by_line in by_name.items()
    }
    return {"about": ABOUT, "asked": asked, "answers": {name: answers for name, answers in kept.items() if answers}}


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ProgramFailed as reason:
        sys.exit(f"kafkalearn: {reason}")
