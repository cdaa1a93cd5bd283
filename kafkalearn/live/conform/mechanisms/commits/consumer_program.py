"""A consumer in a process of its own, so that it can crash: ``python -m`` this module, with its settings as JSON.

Each line that it reads is a command in JSON: ``["poll", most]``, ``["commit", offset]`` (None: its position) or
``["close"]``; it prints an answer for each, and one when it has its partition. Between polls its partition is paused,
so that nothing is fetched beforehand.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from kafkalearn.live.clients import client_config

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
        self._is_ready = False
        if asked["is_standalone"]:
            self._consumer.assign([self._place])
            self._pause(self._consumer, [self._place])
        else:
            self._consumer.subscribe([self._place.topic], on_assign=self._take)
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_ready and time.monotonic() < deadline:
            self._consumer.poll(STEP_S)
        (committed,) = self._consumer.committed([self._place], timeout=PATIENCE_S)
        self._position = self._within(committed.offset)

    def answer(self, command: str, *words: Any) -> Any:
        """What a command led to."""
        if command == "poll":
            return self._poll(*words)
        if command == "commit":
            return self._commit(*words)
        if self._is_auto and not self._has_consumed:
            self._commit(None)  # librdkafka would commit nothing; a consumer of Java commits its position
        return self._consumer.close()

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


if __name__ == "__main__":
    sys.exit(main())
