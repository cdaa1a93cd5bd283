"""What waits in a broker's purgatories, by its metrics: tests/vectors/purgatory/delayed-operations.json."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import encode_batch, error_name
from tools.real.metrics import Metrics

FILE = "purgatory/delayed-operations.json"
ABOUT = (
    "Two brokers and a topic of two partitions that both have, led by broker 1; broker 2 stands still, so that no high "
    "watermark and no low watermark moves. Three requests with a timeout are sent to broker 1: Produce (acks=-1, a "
    "batch for each partition), Fetch (of a consumer, more bytes than there are) and DeleteRecords (of partition 0). "
    "Before: offsets and bytes of each partition. Waiting: how much more than before the metrics PurgatorySize "
    "(entries on the lists of keys) and NumDelayedOperations of two purgatories said; in the third, of fetches, the "
    "brokers' own wait, too. Then broker 2 goes on (ended by: event), or it does not (time); answers, and how much "
    "more there was than before 2 s later. Written by python3 -m tools.real delayed."
)
CONFIG = {
    "broker.session.timeout.ms": 120_000,
    "replica.lag.time.max.ms": 120_000,
    "connections.max.idle.ms": 600_000,
}
FIRST, BYTES = 3, 100_000
VERSIONS = {"Produce": 12, "Fetch": 12, "DeleteRecords": 2}
SIZED = ("Produce", "DeleteRecords")
CASES = (("event", 60_000), ("time", 3000))
PURGATORIES = "kafka.server:type=DelayedOperationPurgatory,name={},delayedOperation=*"


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by two brokers of a release."""
    with Kafka(2, line, CONFIG) as kafka, Metrics(kafka) as metrics:
        return [_played(kafka, metrics, number, *case) for number, case in enumerate(CASES)]


def _played(kafka: Kafka, metrics: Metrics, number: int, ended_by: str, timeout_ms: int) -> dict[str, Any]:
    topic = f"delayed-{number}"
    kafka.create_topic(topic, assignment=[[1, 2], [1, 2]])
    for partition in (0, 1):
        kafka.send(topic, ["record"] * FIRST, partition=partition)
    kafka.freeze(2)
    sizes = [sum(batch.size_bytes for batch in kafka.disk(1).batches(topic, partition)) for partition in (0, 1)]
    batch = encode_batch([(None, b"one more", 1000)])
    words: dict[str, dict[str, Any]] = {
        "Produce": {
            "transactionalId": None, "acks": -1, "timeoutMs": timeout_ms,
            "topicData": [{"name": topic, "partitionData": [{"index": each, "records": batch} for each in (0, 1)]}],
        },
        "Fetch": {
            "maxWaitMs": timeout_ms, "minBytes": BYTES if ended_by == "time" else 1,
            "topics": [
                {
                    "topic": topic,
                    "partitions": [
                        {"partition": each, "fetchOffset": FIRST, "partitionMaxBytes": 10 * BYTES} for each in (0, 1)
                    ],
                }
            ],
            "forgottenTopicsData": [],
        },
        "DeleteRecords": {
            "topics": [{"name": topic, "partitions": [{"partitionIndex": 0, "offset": FIRST - 1}]}],
            "timeoutMs": timeout_ms,
        },
    }  # fmt: skip
    with ThreadPoolExecutor() as pool:
        before = _sizes(metrics)
        asked = {name: pool.submit(_asked, kafka, name, its, timeout_ms) for name, its in words.items()}
        wait_for(lambda: all(_sizes(metrics)[name][1] > before[name][1] for name in SIZED), True, "what waits")
        time.sleep(0.5)
        waiting = _more_than(before, _sizes(metrics))
        if ended_by == "event":
            kafka.thaw(2)
        answers = {name: _errors(future) for name, future in asked.items()}
    time.sleep(2)
    left = _more_than(before, _sizes(metrics))
    if ended_by == "time":
        kafka.thaw(2)
    return {
        "name": f"ended by {ended_by}", "ended_by": ended_by, "timeout": timeout_ms,
        "before": [[FIRST, each] for each in sizes],
        "batch": len(batch), "min_bytes": words["Fetch"]["minBytes"], "delete_before": FIRST - 1, "waiting": waiting,
        "answers": answers, "left": left,
    }  # fmt: skip


def _more_than(before: dict[str, list[int]], now: dict[str, list[int]]) -> dict[str, list[int]]:
    return {name: [after - its for after, its in zip(now[name], before[name], strict=True)] for name in SIZED}


def _asked(kafka: Kafka, name: str, words: dict[str, Any], timeout_ms: int) -> dict[str, Any]:
    with kafka.connection(1, client_id=name) as connection:
        return connection.call(name, words, VERSIONS[name], timeout_s=timeout_ms / 1000 + 30)


def _sizes(metrics: Metrics) -> dict[str, list[int]]:
    """By purgatory the entries on its lists and the operations that wait."""
    read = [
        metrics.read(PURGATORIES.format(name), "delayedOperation") for name in ("PurgatorySize", "NumDelayedOperations")
    ]
    return {name: [int(each[name]) for each in read] for name in read[0]}


def _errors(future: Future[dict[str, Any]]) -> list[str]:
    """The error of each partition of an answer."""

    def codes(fields: Any) -> list[int]:
        if isinstance(fields, list):
            return [code for each in fields for code in codes(each)]
        if isinstance(fields, dict) and "errorCode" in fields and ("partitionIndex" in fields or "index" in fields):
            return [fields["errorCode"]]
        return [code for each in fields.values() for code in codes(each)] if isinstance(fields, dict) else []

    return [error_name(code) for code in codes(future.result(120))]
