"""Records when a partition forgets a producer that is silent: tests/vectors/transactions/silent-producers.json.

    python3 -m tools.silent_producers

Histories in the form that `kafkalearn.transactions.history` asks again: brokers with a short
``producer.id.expiration.ms`` are asked step by step, and looked at after each.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.mechanisms.transactions import GROUPS, IDS, PARTITIONS, _Broker
from kafkalearn.live.jars import releases
from kafkalearn.live.kafka import Kafka
from tools.kafka_jars import HERE
from tools.recordings import text_of

RECORDED = HERE.parent / "tests" / "vectors" / "transactions" / "silent-producers.json"
LINES = ("4.2", "4.3", "4.4")
CONFIG = {"producer.id.expiration.ms": 4000, "producer.id.expiration.check.interval.ms": 500}
SILENCE_MS, SHORT_MS = 8000, 500
ABOUT = (
    "Producers that are silent for longer than producer.id.expiration.ms: each answer, and what an observer saw after "
    "it. The form is that of kafkalearn.transactions.history. Of 4.2.1 the last but one is left out: that machine was "
    "so slow that a wait of 3 s took more than 4. Written by python3 -m tools.silent_producers."
)
REPLAY = {
    "histories": [{"call": "tests.replay.asked.history_steps", "with": {"history": "$"}, "gives": "$steps"}],
}
Step = tuple[str, int | None, dict[str, Any]]


def began(name: str = "x1") -> Step:
    """A transactional id gets its producer id, which it may use without transactions, too."""
    return "InitProducerId", 5, {"id": name, "timeout": 60_000}


def sent(sequence: int, records: int = 1, epoch: int = 0, name: str | None = None, pid: str = "P0") -> Step:
    """A batch; of a transaction, if an id is named."""
    place = {"partition": "t-0", "pid": pid, "epoch": epoch, "sequence": sequence, "records": records}
    return "Produce", 12 if name else 11, {"id": name, "transactional": name is not None, **place}


def ended(epoch: int, commit: bool = True) -> Step:
    """A transaction is ended."""
    return "EndTxn", 5, {"id": "x1", "pid": "P0", "epoch": epoch, "commit": commit}


def waited(ms: int = SILENCE_MS) -> Step:
    """Nobody does anything."""
    return "Wait", None, {"ms": ms}


HISTORIES: Mapping[str, Sequence[Step]] = {
    "the next sequence is taken, after a silence": [began(), sent(0, 3), waited(), sent(3), sent(4)],
    "any sequence is taken, after a silence": [began(), sent(0, 3), waited(), sent(17), sent(3)],
    "what was sent is written again, after a silence": [began(), sent(0), sent(0), waited(), sent(0)],
    "a gap is refused, without one": [began(), sent(0), sent(2), waited(SHORT_MS), sent(2), sent(1)],
    "an old epoch is taken, after a silence": [
        began(), sent(0), began(), sent(0, epoch=1), sent(1), waited(), sent(1), sent(7, epoch=1),
    ],
    "an open transaction is kept, and forgotten a silence after its end": [
        began(), sent(0, name="x1"), waited(), sent(1, name="x1"), ended(0), waited(), sent(5, epoch=1, name="x1"),
    ],
    "an aborted one likewise": [
        began(), sent(0, name="x1"), ended(0, commit=False), waited(), sent(0, epoch=1, name="x1"), ended(1), waited(),
    ],
    "each producer has its own time": [
        began(), began("x2"), sent(0), waited(3000), sent(0, pid="P1"), waited(2000), sent(4), sent(1, pid="P1"),
        waited(), sent(9, pid="P1"),
    ],
    "who goes on is not forgotten": [
        began(), sent(0), waited(2500), sent(1), waited(2500), sent(2), waited(2500), sent(4), sent(3),
    ],
}  # fmt: skip


def recorded(kafka: Kafka, number: int, name: str, steps: Sequence[Step]) -> dict[str, Any]:
    """One history on a broker."""
    broker = _Broker(kafka, lambda word: f"h{number}-{word}")
    played = []
    for do, version, q in steps:
        if do == "Wait":
            time.sleep(q["ms"] / 1000)
            played.append({"do": do, "v": version, "q": q, "a": {}, "now": broker._changed()})
        else:
            played.append({"do": do, "v": version, "q": q, **broker.play(do, version, q)})
    return {
        "name": name, "kafka": kafka.release.version, "transaction.version": 2, "config": CONFIG, "ids": list(IDS),
        "groups": list(GROUPS), "partitions": len(PARTITIONS), "steps": played,
    }  # fmt: skip


def main(_: Sequence[str]) -> int:
    """Ask each line, and write the file."""
    histories = []
    for line in LINES:
        one_partition = {"transaction.state.log.num.partitions": 1, "offsets.topic.num.partitions": 1}
        with Kafka(release=line, config={**one_partition, **CONFIG}, transaction_version=2) as kafka:
            for number, (name, steps) in enumerate(HISTORIES.items()):
                histories.append(recorded(kafka, number, name, steps))
    asked = [releases()[line].version for line in LINES]
    content = {"about": ABOUT, "replay": REPLAY, "asked": asked, "histories": histories}
    RECORDED.write_text(text_of(content, "histories"), encoding="utf-8")
    print(json.dumps({"histories": len(histories), "steps": sum(len(each["steps"]) for each in histories)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
