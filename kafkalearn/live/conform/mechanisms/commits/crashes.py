"""Consumers that commit and crash: what a real client reads twice, or not at all.

A case has ``records`` that are there at the start, ``is_auto``, whether closing commits, ``is_standalone``, whether
consumers name their partition themselves, and ``actions``, each a list of its kind and its words: ``poll`` (at most so
many), ``process`` (so many), ``commit`` (an offset, or None: its position), ``crash``, ``close``, ``append``
(records), ``delete`` (up to an offset). Where a consumer is needed and none runs, one is started. At the end all that
is left is read, processed and committed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies

from kafkalearn.commits import (
    Append,
    Assign,
    Close,
    CommitSync,
    Crash,
    Delete,
    Pipeline,
    Poll,
    Process,
    Settings,
    Start,
    start,
    step,
)
from kafkalearn.commits.effects import CommitRefused, Polled
from kafkalearn.commits.events import CommitEvent
from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.errors import NotReached
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.topic_partition import TopicPartition

PROGRAM = "kafkalearn.live.conform.mechanisms.commits.consumer_program"
ALL = 10**6
NEEDS_A_CONSUMER = ("poll", "process", "commit", "crash", "close")
MOST_RECORDS, MOST_ACTIONS = 8, 12
END = (("poll", ALL), ("process", ALL), ("commit", None), ("close",))
TIMEOUT_MS = 5_000


def cases(release: str) -> Any:
    """Runs of one group on one partition."""
    count = strategies.integers(1, 5)
    kinds = {
        "poll": (count,), "process": (count,), "commit": (strategies.none() | strategies.integers(0, 12),),
        "crash": (), "close": (), "append": (count,), "delete": (strategies.integers(0, 8),),
    }  # fmt: skip
    often = ("poll", "poll", "process", "process", "commit", "crash", "crash", "close", "append", "delete")
    action = strategies.one_of([strategies.tuples(strategies.just(kind), *kinds[kind]).map(list) for kind in often])
    return strategies.fixed_dictionaries(
        {
            "records": strategies.integers(0, MOST_RECORDS),
            "is_auto": strategies.booleans(),
            "is_standalone": strategies.booleans(),
            "actions": strategies.lists(action, min_size=1, max_size=MOST_ACTIONS),
        }
    )


def sensible(case: Case) -> Iterator[tuple[Any, ...]]:
    """The actions of a case with the starts between them, and records deleted only as far as there are any."""
    is_running, end = False, case["records"]
    for kind, *words in (*case["actions"], *END):
        if kind in NEEDS_A_CONSUMER and not is_running:
            is_running = True
            yield ("start",)
        if kind == "append":
            end += words[0]
        if kind == "delete":
            words = [min(words[0], end)]
        is_running = is_running and kind not in ("crash", "close")
        yield (kind, *words)


class RealConsumer:
    """A consumer in a process of its own."""

    def __init__(self, kafka: Kafka, group: str, topic: str, case: Case) -> None:
        """Start it, and wait until it has the partition."""
        asked = {
            "bootstrap": kafka.bootstrap, "group": group, "topic": topic,
            "is_auto": case["is_auto"], "is_standalone": case["is_standalone"],
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", PROGRAM, json.dumps(asked)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._answer()

    def ask(self, *command: Any) -> Any:
        """What a command led to."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def crash(self) -> None:
        """End it as a crash does."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise NotReached("the consumer's process has ended, and was not to")
        return json.loads(line)


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """After each action what it led to, and the committed offset; at the end how often each record was processed."""
    topic, group = new_name("topic"), new_name("group")
    kafka.create_topic(topic)
    kafka.coordinator(group)
    sent = kafka.send(topic, [f"m{number}" for number in range(case["records"])])
    assert len(sent) == case["records"]
    consumer: RealConsumer | None = None
    unprocessed: list[int] = []
    processed: list[int] = []
    after = []
    try:
        for kind, *words in sensible(case):
            led_to: Any = None
            if kind == "start":
                consumer, unprocessed = RealConsumer(kafka, group, topic, case), []
            elif kind == "append":
                kafka.send(topic, ["more"] * words[0])
            elif kind == "delete":
                _delete(kafka, topic, words[0])
            elif kind == "process":
                done, unprocessed = unprocessed[: words[0]], unprocessed[words[0] :]
                processed += done
            elif kind == "crash":
                consumer.crash()
                consumer = None
            else:
                led_to = consumer.ask(kind, *words)
                unprocessed += led_to if kind == "poll" else []
            if kind == "close":
                consumer.crash()
                consumer = None
            after.append([kind, led_to, _committed(kafka, group, topic)])
    finally:
        if consumer is not None:
            consumer.crash()
    end = kafka.high_watermark(topic, 0)
    return {
        "after": after,
        "twice": [each for each in range(end) if processed.count(each) > 1],
        "never": [each for each in range(end) if each not in processed],
    }


def _delete(kafka: Kafka, topic: str, offset: int) -> None:
    topics = [{"name": topic, "partitions": [{"partitionIndex": 0, "offset": offset}]}]
    answer = kafka.ask(1, "DeleteRecords", {"topics": topics, "timeoutMs": TIMEOUT_MS})
    refuse_error(answer["topics"][0]["partitions"][0], f"records of {topic}")


def _committed(kafka: Kafka, group: str, topic: str) -> int | None:
    found = kafka.committed(group).get(TopicPartition(topic, 0))
    return None if found is None else found.offset


def say(release: str, case: Case, seen: Answer) -> Answer:
    """The same of the simulator."""
    settings = Settings(
        case["records"], None, case["is_auto"], auto_offset_reset="earliest", max_poll_records=ALL // 10
    )
    pipeline, number, after = start(settings), 0, []
    for kind, *words in sensible(case):
        number += kind == "start"
        led_to: Any = None
        for event in _events(pipeline, case, f"c{number}", kind, *words):
            pipeline = step(settings, pipeline, event)
            led_to = _led_to(pipeline, kind)
        after.append([kind, led_to, pipeline.committed])
    processed = [each.offset for each in pipeline.sink.writes]
    return {
        "after": after,
        "twice": [each for each in range(pipeline.log_end) if processed.count(each) > 1],
        "never": [each for each in range(pipeline.log_end) if each not in processed],
    }


def _events(pipeline: Pipeline, case: Case, name: str, kind: str, *words: Any) -> list[CommitEvent]:
    consumer = pipeline.consumer(name)
    match kind:
        case "start":
            return [Assign(name) if case["is_standalone"] else Start(name)]
        case "poll":
            return [Poll(name, min(words[0], ALL // 10))]
        case "process":
            return [Process(name)] * min(words[0], len(consumer.unprocessed))
        case "commit":
            return [CommitSync(name, words[0])]
        case "append":
            return [Append(words[0])]
        case "delete":
            return [Delete(words[0])] if words[0] > pipeline.log_start else []
    return [Crash(name) if kind == "crash" else Close(name)]


def _led_to(pipeline: Pipeline, kind: str) -> Any:
    for effect in pipeline.effects:
        if kind == "poll" and isinstance(effect, Polled):
            return list(effect.offsets)
        if kind == "commit" and isinstance(effect, CommitRefused):
            return effect.error
    return "NONE" if kind == "commit" else None


CRASHES = Mechanism(
    name="consumers that commit and crash",
    rules=("position, commits, crashes", "where a consumer begins"),
    cases=cases,
    ask=ask,
    say=say,
    settings={"brokers": 1, "config": {"group.min.session.timeout.ms": 500, "offsets.topic.num.partitions": 1}},
    tries=2,
)
