"""Records what released classes and producers say of single rules: tests/vectors/answers/rule-answers.json.

    python3 -m tools.rule_answers

The questions are drawn here from a seed. Classes of brokers are those of the releases that `kafkalearn.live` starts;
the producers are of every rule for records without a key, those that can reach a broker of today before a real one.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from kafkalearn.live.jars import fetch, jar_paths, releases
from kafkalearn.live.kafka import Kafka
from tools.kafka_jars import HERE, client_jars, run_class
from tools.recordings import text_of

RECORDED = HERE.parent / "tests" / "vectors" / "answers" / "rule-answers.json"
SEED = 53
BROKERS = ("4.2", "4.3", "4.4")
DEALING = ("0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.1.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.3.1")
STICKY = ("2.4.1", "2.8.2", "3.2.3", "3.3.2", "3.9.2", "4.4.0")
ABOUT = (
    "What released classes answered, and where released producers put records without a key. index: "
    "OffsetIndex.lookup; reassignment: PartitionReassignmentReplicas.maybeCompleteReassignment; batches: "
    "PersisterStateBatchCombiner; checkpoint: OffsetCheckpointFile.read; plan: "
    "ReassignPartitionsCommand.formatAsReassignmentJson; murmur2: of a first byte and a length, each byte 7 more "
    "than the last: question, then the answer by release where releases differ, else one for all. dealt: the "
    "default partitioner alone, asked for each topic in turn, those of `available` having leaders; sent: a "
    "producer whose batches wait (linger.ms 100 s) before a broker of 4.4: values' sizes, partition of each. "
    "Written by python3 -m tools.rule_answers."
)


def questions() -> dict[str, list[list[str]]]:
    """All that the broker's classes are asked, by kind."""
    draw = Random(SEED)
    return {
        "index": [_index(draw) for _ in range(60)],
        "reassignment": [_reassignment(draw) for _ in range(120)],
        "batches": [_batches(draw) for _ in range(120)],
        "checkpoint": [[text] for text in _checkpoints(draw)],
        "plan": [[_plan(draw)] for _ in range(40)],
        "murmur2": [
            [f"{draw.randrange(256)},{size}"] for size in (*range(125, 140), 255, 256, 257, 1000, 4099, 70_001)
        ],
    }


def _index(draw: Random) -> list[str]:
    base = draw.choice([0, 0, 7, 1000])
    offsets = sorted(draw.sample(range(base, base + 60), draw.randint(0, 8)))
    positions = sorted(draw.sample(range(100, 9000), len(offsets)))
    entries = ";".join(f"{offset},{at}" for offset, at in zip(offsets, positions, strict=True))
    return [str(base), entries, _joined(range(base, base + 62))]


def _reassignment(draw: Random) -> list[str]:
    brokers = draw.sample(range(1, 8), draw.randint(2, 6))
    adding = sorted(draw.sample(brokers, draw.randint(0, len(brokers) - 1)))
    rest = [each for each in brokers if each not in adding]
    removing = sorted(draw.sample(rest, draw.randint(0, len(rest))))
    isr = draw.sample(brokers, draw.randint(1, len(brokers)))
    return [_joined(brokers), _joined(adding), _joined(removing), _joined(isr)]


def _batches(draw: Random) -> list[str]:
    def some(most: int) -> str:
        found = []
        for _ in range(draw.randint(0, most)):
            first = draw.randint(0, 30)
            found.append(f"{first},{first + draw.randint(0, 9)},{draw.choice([0, 2, 3, 4])},{draw.randint(1, 3)}")
        return ";".join(found)

    return [some(4), some(4), str(draw.choice([-1, -1, 0, 5, 20]))]


def _checkpoints(draw: Random) -> Iterable[str]:
    yield from ("0|0|", "0|1|orders 0 5|", "0|2|orders 0 5|orders 1 7|", "0|1|a.b-c_d 11 9223372036854775807|")
    yield from (
        "",
        "0|",
        "0|1|",
        "1|0|",
        "x|0|",
        "0|x|",
        "0|-1|",
        "0|1|orders 0|",
        "0|1|orders 0 5 6|",
        "0|1|orders x 5|",
    )
    yield from ("0|1|orders 0 x|", "0|2|orders 0 5|", "0|1|orders 0 5|orders 1 7|", "0|0|orders 0 5|", "0|1|orders 0 5")
    yield from ("0|1|orders   0  5|", "0|2|orders 0 5|orders 0 7|", "0|1|orders 0 -1|", "0|1||", "0|1| orders 0 5|")
    for _ in range(10):
        lines = [f"{draw.choice('abc')} {place} {draw.randint(0, 10**12)}" for place in range(draw.randint(1, 6))]
        yield "|".join(["0", str(len(lines)), *lines, ""])


def _plan(draw: Random) -> str:
    places = draw.sample(
        [(topic, each) for topic in ("orders", "a-b", "z_1", "A.b") for each in range(4)], draw.randint(0, 6)
    )
    return ";".join(f"{topic},{each},{_joined(draw.sample(range(1, 9), draw.randint(1, 4)))}" for topic, each in places)


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def class_answers(asked: dict[str, list[list[str]]], line: str) -> dict[str, list[str]]:
    """What the classes of a release line answer, by kind, in the order of the questions."""
    release = releases()[line]
    fetch(release)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "questions"
        lines = ["\t".join([kind, *each]) for kind, all_of_it in asked.items() for each in all_of_it]
        file.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
        said = iter(run_class(jar_paths(release), "AskRules", str(file)).splitlines())
    return {kind: [next(said) for _ in all_of_it] for kind, all_of_it in asked.items()}


def dealt() -> Iterable[dict[str, Any]]:
    """What the default partitioners up to 2.3 say."""
    draw = Random(SEED)
    for version in DEALING:
        for count, available, names in (
            (5, range(5), "a"),
            (6, range(6), "ab"),
            (5, (0, 1, 3), "a"),
            (4, (1, 3), "abb"),
        ):
            topics = [draw.choice(names) for _ in range(40)]
            words = ["class", str(count), _joined(available), ",".join(topics)]
            said = run_class(client_jars(version), "AskKeyless", *words).strip()
            yield _sent(version, said, partition_count=count, available=[*available], topics="".join(topics))


def sent() -> Iterable[dict[str, Any]]:
    """What producers since 2.4 do before a broker."""
    draw = Random(SEED)
    with Kafka(release="4.4") as kafka:
        for version in STICKY:
            for number, (count, batch_size) in enumerate(((3, 1000), (5, 4000), (8, 500))):
                topic = f"t-{version}-{number}"
                kafka.create_topic(topic, partitions=count)
                sizes = [draw.choice([20, 100, 100, 300, 700]) for _ in range(80)]
                words = ["producer", kafka.bootstrap, topic, _joined(sizes), str(batch_size)]
                said = run_class(client_jars(version), "AskKeyless", *words).strip()
                yield _sent(version, said, partition_count=count, batch_size=batch_size, sizes=sizes)


def _sent(version: str, said: str, **asked: Any) -> dict[str, Any]:
    return {"release": version, **asked, "partitions": [int(each) for each in said.splitlines()[-1].split(",")]}


def answer(by_release: dict[str, str]) -> str | dict[str, str]:
    """One answer where all releases give it, else each release's own."""
    return by_release if len({*by_release.values()}) > 1 else next(iter(by_release.values()))


def main(_: Sequence[str]) -> int:
    """Ask all of them, and write the file."""
    asked = questions()
    said = {releases()[line].version: class_answers(asked, line) for line in BROKERS}
    kinds = {
        kind: [
            [*each, answer({version: answers[kind][at] for version, answers in said.items()})]
            for at, each in enumerate(all_of_it)
        ]
        for kind, all_of_it in asked.items()
    }
    content = {"about": ABOUT, "asked": [*said], **kinds, "dealt": [*dealt()], "sent": [*sent()]}
    RECORDED.write_text(text_of(content, *kinds, "dealt", "sent"), encoding="utf-8")
    print(", ".join(f"{len(content[kind])} {kind}" for kind in (*kinds, "dealt", "sent")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
