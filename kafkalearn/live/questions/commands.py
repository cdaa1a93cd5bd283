"""The articles' walk through Kafka's command-line tools, from a new topic to the bytes of a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkalearn.live.kafka import Kafka
from kafkalearn.live.questions.coordinators import partitions_of_groups
from kafkalearn.live.reading.groups import OFFSETS_TOPIC
from kafkalearn.offsets import decode_key, decode_value, formatter_line
from kafkalearn.offsets.records.record_types import OFFSET_TYPES
from kafkalearn.segments.records import Record

TOPIC, GROUP, RECORDS = "tp_test_01", "console-consumer-77682", 60
FORMATTER = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
WAIT_MS = "20000"


def command_walk(release: str) -> dict[str, object]:
    """What each tool printed, without what differs from run to run: ids, times, which partition took the records."""
    with Kafka(1, release) as kafka:
        created = kafka.tool("topics", "--create", "--topic", TOPIC, "--partitions", "5", "--replication-factor", "1")
        sent = "".join(f"hello {number}\n" for number in range(1, RECORDS + 1))
        kafka.tool("console-producer", "--topic", TOPIC, said=sent)
        ends = kafka.tool("get-offsets", "--topic", TOPIC)
        consumed = kafka.tool(
            *("console-consumer", "--topic", TOPIC, "--group", GROUP, "--from-beginning"),
            *("--max-messages", str(RECORDS), "--timeout-ms", WAIT_MS),
        )
        groups = kafka.tool("consumer-groups", "--list")
        partition = partitions_of_groups(kafka)[GROUP]
        records = kafka.disk(1).records(OFFSETS_TOPIC, partition)
        printed = kafka.tool(
            *("console-consumer", "--topic", OFFSETS_TOPIC, "--partition", str(partition), "--offset", "earliest"),
            *("--max-messages", str(len(records)), "--timeout-ms", WAIT_MS, "--formatter", FORMATTER),
        )
        ours = [formatter_line(each.key, each.value, kafka.release.version) for each in records]
        committed = dict(_committed(records))
        return {
            "create": created.strip().splitlines()[-1],
            "log ends": sorted(int(line.rpartition(":")[2]) for line in ends.split()),
            "consumed": consumed == sent,
            "groups": groups.split(),
            "partition": partition,
            "partitions with a commit": sorted(committed),
            "committed offsets": sorted(committed.values()),
            "printed as we print it": printed == "".join(line for line in ours if line is not None),
        }


def _committed(records: Iterable[Record]) -> Iterator[tuple[int, int]]:
    """Partition and offset of each commit."""
    for each in records:
        kind, key = decode_key(each.key)
        if kind.number in OFFSET_TYPES and each.value is not None:
            yield key["partition"], decode_value(kind, each.value)[1]["offset"]
