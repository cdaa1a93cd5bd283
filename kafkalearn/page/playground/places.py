"""Which broker coordinates my group, and which partition gets my record."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.coordinator import look_up
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT
from kafkalearn.page.playground.fields import bytes_field, choice_field, number_field, text_field
from kafkalearn.page.playground.shown import played, rows_html
from kafkalearn.partitioning import PARTITIONERS, partition_for_key
from kafkalearn.views.coordinator.picture import draw_lookup
from kafkalearn.views.coordinator.words import describe_lookup
from kafkalearn.views.drawing.frames import animation

CLIENTS = {
    "murmur2": "Java; librdkafka with murmur2 or murmur2_random",
    "crc32": "librdkafka's default, so Python, .NET, Go by Confluent",
    "fnv1a": "Sarama; librdkafka with fnv1a",
    "murmur2-unmasked": "no client: murmur2 without the mask, a known mistake",
    "spark": "Spark's own shuffle: which task, no partition of Kafka",
}
"""Who follows which rule of `PARTITIONERS`."""


def coordinator(fields: Mapping[str, object]) -> dict[str, object]:
    """The look-up of a group's coordinator, step by step.

    Parameters
    ----------
    fields : mapping
        ``group``; ``describe``: what ``kafka-topics.sh --describe --topic __consumer_offsets`` prints, or nothing and
        then ``brokers`` and ``partitions``, numbers.

    Examples
    --------
    >>> coordinator({"group": "billing", "brokers": "3", "partitions": "50"})["text"]
    'Partition 9 of __consumer_offsets is led by broker 1: it coordinates billing.'
    """
    group, describe = str(fields.get("group") or ""), text_field(fields, "describe")
    if describe:
        trace = look_up(group, describe=describe)
    else:
        brokers = number_field(fields, "brokers", 3)
        trace = look_up(
            group,
            brokers=brokers,
            partition_count=number_field(fields, "partitions", OFFSETS_PARTITION_COUNT),
        )
    last = trace[-1].state
    place = f"Partition {last.partition} of __consumer_offsets"
    if last.broker_id is None:
        words = f"{place} has no leader: FindCoordinator for {group} is answered COORDINATOR_NOT_AVAILABLE."
    else:
        words = f"{place} is led by broker {last.broker_id}: it coordinates {group}."
    return {"text": words} | played(animation(trace, draw_lookup, describe_lookup, start=-1))


def partition(fields: Mapping[str, object]) -> dict[str, object]:
    """The partition of a record with a key, by the rule of each client.

    Parameters
    ----------
    fields : mapping
        ``key``: text, or bytes in hex or base64 if ``form`` is ``bytes``; ``partitions``: of the topic.

    Examples
    --------
    >>> partition({"key": "user-42", "partitions": "6"})["text"]
    'Java puts it into partition 4 of 6; of the clients here 3 agree with no other.'
    """
    count = number_field(fields, "partitions", 6)
    if choice_field(fields, "form", ("text", "bytes")) == "text":
        key = str(fields.get("key") or "").encode()
    else:
        key = bytes_field(fields, "key") or b""
    found = {name: partition_for_key(key, count, name) for name in PARTITIONERS}
    rows = [
        {"rule": name, "partition": place if 0 <= place < count else f"{place}, which is none", "who": CLIENTS[name]}
        for name, place in found.items()
    ]
    real = [found[name] for name in ("murmur2", "crc32", "fnv1a")]
    alone = sum(real.count(place) == 1 for place in real)
    others = f"of the clients here {alone} agree with no other" if alone else "all clients here agree"
    words = f"Java puts it into partition {found['murmur2']} of {count}; {others}."
    return {"text": words, "html": rows_html(rows)}
