"""When a coordinator's timers fire that began with a load: tests/vectors/operations/coordinator-timers.json."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import commit, consumer_heartbeat, join_group, sync_group

FILE = "operations/coordinator-timers.json"
SESSION_MS, CONSUMER_SESSION_MS, CHECK_MS = 5000, 4000, 9000
CONFIG = {
    "offsets.topic.num.partitions": 1,
    "group.min.session.timeout.ms": 500,
    "group.consumer.min.session.timeout.ms": 500,
    "group.consumer.session.timeout.ms": CONSUMER_SESSION_MS,
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 500,
    "offsets.retention.check.interval.ms": CHECK_MS,
}
ABOUT = (
    "A broker is killed and started again, and nobody says anything to it: a member of a classic group, a member of a "
    "KIP-848 group, and an offset that had expired long before. Silent: how long the members had been silent when the "
    "broker was killed. Gone: how many ms after the end of the load each was no longer there (looked at 20 times a "
    f"second). Sessions of {SESSION_MS} and {CONSUMER_SESSION_MS} ms, offsets.retention.check.interval.ms {CHECK_MS}. "
    "Written by python3 -m tools.real timers."
)
LOADED = re.compile(r"^\[([^\]]+)\].*Finished loading of metadata from __consumer_offsets-0 ")
SILENT_S = (0.5, 2.0, 3.0)


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by one broker of a release."""
    cases = []
    with Kafka(release=line, config=CONFIG, has_logs=True) as kafka:
        kafka.create_topic("orders", 1)
        for number, silent_s in enumerate(SILENT_S):
            cases.append({"name": f"silent for {silent_s:g} s", **_played(kafka, number, silent_s)})
            print(cases[-1], flush=True)
    return cases


def _played(kafka: Kafka, number: int, silent_s: float) -> dict[str, Any]:
    names = {kind: f"{kind}-{number}" for kind in ("classic", "consumer", "expired")}
    for group in names.values():
        kafka.coordinator(group)
    kafka.ask(1, "OffsetCommit", commit(names["expired"], {TopicPartition("orders", 0): 5}, retention_ms=1), 2)
    kafka.ask(1, "ConsumerGroupHeartbeat", consumer_heartbeat(names["consumer"], "m", 0, ["orders"], {}, None, 60_000))
    joined = kafka.ask(1, "JoinGroup", join_group(names["classic"], "", {"range": b""}, SESSION_MS, 60_000), 3)
    member_id, generation = joined["memberId"], joined["generationId"]
    kafka.ask(1, "SyncGroup", sync_group(names["classic"], member_id, generation, {member_id: b""}), 2)
    time.sleep(silent_s)
    before = len(_loads(kafka))
    kafka.kill(1)
    kafka.restart(1)
    loads = wait_for(lambda: _loads(kafka), lambda found: len(found) > before, "the load")
    words = {"includeAuthorizedOperations": False}
    looks: dict[str, Callable[[], bool]] = {
        "classic": lambda: _has_member(kafka, "DescribeGroups", {"groups": [names["classic"]], **words}),
        "consumer": lambda: _has_member(kafka, "ConsumerGroupDescribe", {"groupIds": [names["consumer"]], **words}),
        "expired": lambda: bool(kafka.committed(names["expired"])),
    }
    there = {name: look() for name, look in looks.items()}
    if not all(there.values()):
        raise TimeoutError(f"the load came too late: {there}")
    gone: dict[str, int] = {}
    while len(gone) < len(looks):
        for name in (each for each in looks if each not in gone):
            if not looks[name]():
                gone[name] = round(1000 * (time.time() - loads[-1]))
        time.sleep(0.05)
    return {"silent": round(1000 * silent_s), "gone": gone}


def _has_member(kafka: Kafka, name: str, words: dict[str, Any]) -> bool:
    (found,) = kafka.ask(1, name, words)["groups"]
    return bool(found["members"])


def _loads(kafka: Kafka) -> list[float]:
    """When each load ended, in seconds of the clock."""
    found = (LOADED.match(line) for line in kafka.server_log(1))
    return [datetime.strptime(each[1], "%Y-%m-%d %H:%M:%S,%f").timestamp() for each in found if each]
