"""Consumers that commit and crash: what a real client reads twice, or not at all.

Each is a process of its own, so that it can crash: ``python -m`` this module, with its settings as JSON. Each line that
it reads is a command in JSON: ``["poll", most]``, ``["commit", offset]`` (None: its position) or ``["close"]``; it
prints an answer for each, and one when it has its partition. Between polls its partition is paused, so that nothing is
fetched beforehand.

A case has ``records`` that are there at the start, ``is_auto``, whether closing commits, ``is_standalone``, whether
consumers name their partition themselves, and ``actions``, each a list of its kind and its words: ``poll`` (at most
so many), ``process`` (so many), ``commit`` (an offset, or None: its position), ``crash``, ``close``, ``append``
(records), ``delete`` (up to an offset). Where a consumer is needed and none runs, one is started. At the end all that
is left is read, processed and committed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism, TooSlow, line
from kafkalearn import commits
from kafkalearn.base import topic_partition
from kafkalearn.commits.model import CommitEvent, CommitRefused, Polled
from kafkalearn.live.clients import client_config
from kafkalearn.live.errors import NotReached
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading import refuse_error

__all__ = [
    "CRASHES",
]

LOST = "lost"
STEP_S = 0.05
PATIENCE_S = 20.0
SETTINGS = {
    "auto.offset.reset": "earliest",
    "auto.commit.interval.ms": 3_600_000,  # only closing commits
    "session.timeout.ms": 1000,
    "heartbeat.interval.ms": 300,
}


class OneConsumer:
    """The one member of a group, or a consumer that names its partition itself."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        """Start, and wait for the partition."""
        self._place = TopicPartition(asked["topic"], 0)
        own = {**SETTINGS, "group.id": asked["group"], "enable.auto.commit": asked["is_auto"]}
        self._consumer = Consumer(client_config(asked["bootstrap"], own))
        self._is_auto, self._has_consumed = asked["is_auto"], False
        self._is_ready = self._is_lost = False
        if asked["is_standalone"]:
            self._consumer.assign([self._place])
            self._pause(self._consumer, [self._place])
        else:
            self._consumer.subscribe([self._place.topic], on_assign=self._take, on_lost=self._lose)
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_ready and time.monotonic() < deadline:
            self._consumer.poll(STEP_S)
        (committed,) = self._consumer.committed([self._place], timeout=PATIENCE_S)
        self._position = self._within(committed.offset)

    def answer(self, command: str, *words: Any) -> Any:
        """What a command led to; `LOST` if the member was taken for dead meanwhile."""
        led_to = self._led_to(command, *words)
        return LOST if self._is_lost else led_to

    def _led_to(self, command: str, *words: Any) -> Any:
        if command == "poll":
            return self._poll(*words)
        if command == "commit":
            return self._commit(*words)
        if self._is_auto and not self._has_consumed:
            self._commit(None)  # librdkafka would commit nothing; a consumer of Java commits its position
        return self._consumer.close()

    def _lose(self, _consumer: Consumer, _places: list[TopicPartition]) -> None:
        self._is_lost = True

    def _take(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        consumer.assign(places)
        self._pause(consumer, places)

    def _pause(self, consumer: Consumer, places: list[TopicPartition]) -> None:
        consumer.pause(places)
        self._is_ready = bool(places)

    def _poll(self, most: int) -> list[int]:
        """The offsets of the next records, as many as there are up to `most`."""
        self._consumer.resume([self._place])
        found: list[Message] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(found) < most and time.monotonic() < deadline:
            message = self._consumer.poll(STEP_S)
            if message is not None and message.error() is None:
                found.append(message)
                self._position, self._has_consumed = message.offset() + 1, True
            elif message is None and self._is_at_the_end():
                break
        self._consumer.pause([self._place])
        return [message.offset() for message in found]

    def _is_at_the_end(self) -> bool:
        self._position = self._within(self._position)
        _, high = self._consumer.get_watermark_offsets(self._place, timeout=PATIENCE_S)
        return self._position >= high

    def _within(self, offset: int) -> int:
        """The offset, or where the log begins if it is not in the log."""
        low, high = self._consumer.get_watermark_offsets(self._place, timeout=PATIENCE_S)
        return offset if low <= offset <= high else low

    def _commit(self, offset: int | None) -> str:
        """Commit an offset, or the position."""
        committed = TopicPartition(self._place.topic, 0, self._position if offset is None else offset)
        try:
            self._consumer.commit(offsets=[committed], asynchronous=False)
        except KafkaException as error:
            return error.args[0].name()
        return "NONE"


def main() -> int:
    """Answer one command after the other; the exit code is 0."""
    consumer = OneConsumer(json.loads(sys.argv[1]))
    print(json.dumps("ready"), flush=True)
    for text in sys.stdin:
        print(json.dumps(consumer.answer(*json.loads(text))), flush=True)
    return 0


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
    action = strategies.one_of([line(kind, *kinds[kind]) for kind in often])
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
            [sys.executable, "-m", __name__, json.dumps(asked)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._answer()

    def ask(self, *command: Any) -> Any:
        """What a command led to."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if answer == LOST:
            raise TooSlow("a member that lives has sent no heartbeat within its session")
        return answer

    def crash(self) -> None:
        """End it as a crash does."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not said:
            raise NotReached("the consumer's process has ended, and was not to")
        return json.loads(said)


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
    found = kafka.committed(group).get(topic_partition.TopicPartition(topic, 0))
    return None if found is None else found.offset


def say(release: str, case: Case, seen: Answer) -> Answer:
    """The same of the simulator."""
    settings = commits.Settings(
        case["records"], None, case["is_auto"], auto_offset_reset="earliest", max_poll_records=ALL // 10
    )
    pipeline, number, after = commits.start(settings), 0, []
    for kind, *words in sensible(case):
        number += kind == "start"
        led_to: Any = None
        for event in _events(pipeline, case, f"c{number}", kind, *words):
            pipeline = commits.step(settings, pipeline, event)
            led_to = _led_to(pipeline, kind)
        after.append([kind, led_to, pipeline.committed])
    processed = [each.offset for each in pipeline.sink.writes]
    return {
        "after": after,
        "twice": [each for each in range(pipeline.log_end) if processed.count(each) > 1],
        "never": [each for each in range(pipeline.log_end) if each not in processed],
    }


def _events(pipeline: commits.Pipeline, case: Case, name: str, kind: str, *words: Any) -> list[CommitEvent]:
    consumer = pipeline.consumer(name)
    match kind:
        case "start":
            return [commits.Assign(name) if case["is_standalone"] else commits.Start(name)]
        case "poll":
            return [commits.Poll(name, min(words[0], ALL // 10))]
        case "process":
            return [commits.Process(name)] * min(words[0], len(consumer.unprocessed))
        case "commit":
            return [commits.CommitSync(name, words[0])]
        case "append":
            return [commits.Produce(words[0])]
        case "delete":
            return [commits.Delete(words[0])] if words[0] > pipeline.log_start else []
    return [commits.Crash(name) if kind == "crash" else commits.Close(name)]


def _led_to(pipeline: commits.Pipeline, kind: str) -> Any:
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

if __name__ == "__main__":
    sys.exit(main())
