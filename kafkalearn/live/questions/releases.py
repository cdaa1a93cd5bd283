"""The same questions to two releases, side by side."""

from __future__ import annotations

import struct

from confluent_kafka.admin import ConfigResource

from kafkalearn.live.errors import Refused
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.questions.coordinators import commit_one, place_offsets_topic
from kafkalearn.live.reading.groups import OFFSETS_TOPIC
from kafkalearn.offsets import decode_key, decode_value

OLDER, NEWER = "4.0", "4.3"
GROUP = "billing"
SETTING = "group.coordinator.append.linger.ms"
SMALL_SEGMENT = {"segment.bytes": 1000}
TIMEOUT_S = 10.0
OLD_PLACES = struct.Struct(">hqihq")  # version, offset, leader epoch, the length of metadata that is empty, commit time


def releases_side_by_side(release: str = NEWER) -> dict[str, dict[str, object]]:
    """Of 4.0, and of a newer release, what each answers to the same requests."""
    return {line: _answers_of(line) for line in dict.fromkeys((OLDER, release))}


def _answers_of(line: str) -> dict[str, object]:
    with Kafka(1, line) as kafka:
        place_offsets_topic(kafka, 1)
        kafka.create_topic("orders")
        commit_one(kafka, kafka.coordinator(GROUP), GROUP)
        partition, value = _commit_on_the_disk(kafka)
        return {
            "partition of billing": partition,
            "version of a commit's value": decode_value(1, value)[0],
            "bytes of a commit's value": len(value),
            "read at the places of 4.0": _read_at_old_places(value),
            "a topic with segment.bytes=1000": _created(kafka),
            SETTING: _setting(kafka),
        }


def _commit_on_the_disk(kafka: Kafka) -> tuple[int, bytes]:
    disk = kafka.disk(1)
    for topic, partition in disk.replicas():
        for each in disk.records(topic, partition) if topic == OFFSETS_TOPIC else ():
            if decode_key(each.key)[1]["group"] == GROUP:
                return partition, each.value
    raise AssertionError("the commit was answered, so it is on the disk")


def _read_at_old_places(value: bytes) -> dict[str, bool]:
    """Which fields come out right if the places are those of version 3 with no metadata, as 4.0 writes them."""
    _, offset, epoch, _, at_ms = OLD_PLACES.unpack(value[: OLD_PLACES.size])
    fields = decode_value(1, value)[1]
    return {
        "offset": offset == fields["offset"],
        "leader epoch": epoch == fields["leaderEpoch"],
        "commit time": at_ms == fields["commitTimestamp"],
    }


def _created(kafka: Kafka) -> str:
    try:
        kafka.create_topic("small", config=SMALL_SEGMENT)
    except Refused as error:
        return error.error
    return "created"


def _setting(kafka: Kafka) -> int:
    admin = kafka.admin()
    (future,) = admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, "1")]).values()
    return int(future.result(TIMEOUT_S)[SETTING].value)
