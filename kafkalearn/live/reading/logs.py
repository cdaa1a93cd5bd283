"""The log of a partition, asked of its leader: offsets, epochs, batches and records. No group is involved."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.live.reading.partitions import ReadsPartitions
from kafkalearn.segments import parse_segment
from kafkalearn.segments.batches import Batch
from kafkalearn.segments.records import Record

LATEST, EARLIEST = -1, -2  # in place of a timestamp
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
NEWEST_WITH_NAMES = 12  # from 13 on a Fetch names topics by their ids
NEWEST_WITHOUT_TIMEOUT = 9  # of ListOffsets: from 10 on, with Kafka 4.0, it says how long remote storage may take
FETCH_BYTES = 8 * 2**20
CONSUMER = -1  # in place of a replica's broker id


class ReadsLogs(ReadsPartitions):
    """Logs, read."""

    def high_watermark(self, topic: str, partition: int) -> int:
        """The high watermark (HW): the end of what consumers may read, exclusive."""
        return self._list_offset(topic, partition, LATEST, READ_UNCOMMITTED)

    def last_stable_offset(self, topic: str, partition: int) -> int:
        """The last stable offset (LSO): the end of what consumers that read committed records may read, exclusive."""
        return self._list_offset(topic, partition, LATEST, READ_COMMITTED)

    def log_start_offset(self, topic: str, partition: int) -> int:
        """Where the log begins."""
        return self._list_offset(topic, partition, EARLIEST, READ_UNCOMMITTED)

    def _list_offset(self, topic: str, partition: int, timestamp: int, isolation: int) -> int:
        asked = {"partitionIndex": partition, "timestamp": timestamp}
        answer = self._ask_leader(
            topic,
            partition,
            "ListOffsets",
            {
                "replicaId": CONSUMER,
                "isolationLevel": isolation,
                "topics": [{"name": topic, "partitions": [asked]}],
            },
            NEWEST_WITHOUT_TIMEOUT,
        )
        (found,) = answer["topics"][0]["partitions"]
        refuse_error(found, f"offsets of {topic}-{partition}")
        return found["offset"]

    def leader_epochs(self, topic: str, partition: int) -> tuple[tuple[int, int], ...]:
        """The leader epochs that the leader's log has, each with the offset where it begins.

        An epoch in which no record was written is not among them: its end is where it began.
        """
        newest, end = self._end_of_epoch(topic, partition, self.partition(topic, partition).leader_epoch)
        found: list[tuple[int, int]] = []
        while newest >= 0:
            below, below_end = self._end_of_epoch(topic, partition, newest - 1) if newest else (-1, -1)
            start = below_end if below >= 0 else self.log_start_offset(topic, partition)
            if start < end:
                found.append((newest, start))
            newest, end = below, start
        return tuple(reversed(found))

    def end_offset_for(self, topic: str, partition: int, leader_epoch: int) -> tuple[int, int]:
        """For a leader epoch the newest one not above it that the leader's log has, and where that ends; -1: none."""
        return self._end_of_epoch(topic, partition, leader_epoch)

    def _end_of_epoch(self, topic: str, partition: int, epoch: int) -> tuple[int, int]:
        asked = {"partition": partition, "currentLeaderEpoch": -1, "leaderEpoch": epoch}
        answer = self._ask_leader(
            topic,
            partition,
            "OffsetForLeaderEpoch",
            {"replicaId": CONSUMER, "topics": [{"topic": topic, "partitions": [asked]}]},
        )
        (found,) = answer["topics"][0]["partitions"]
        refuse_error(found, f"epochs of {topic}-{partition}")
        return found["leaderEpoch"], found["endOffset"]

    def batches(self, topic: str, partition: int, start: int | None = None, stop: int | None = None) -> Iterator[Batch]:
        """The batches of a partition up to its high watermark, as they lie in the leader's log.

        Parameters
        ----------
        topic, partition : str, int
            Which log.
        start, stop : int or None
            Offsets: the first batch is the one that has `start`, or the next one; none begins at `stop` or behind it.
            None: from the log start, up to the high watermark as it is now.

        Raises
        ------
        NoAnswer, Refused
            If the leader gives no answer, or an error, such as OFFSET_OUT_OF_RANGE.
        """
        offset = self.log_start_offset(topic, partition) if start is None else start
        end = self.high_watermark(topic, partition)
        end = end if stop is None else min(stop, end)
        while offset < end:
            found = self._fetch(topic, partition, offset)
            if not found:
                return  # what is left was cleaned away
            for batch in found:
                if batch.base_offset >= end:
                    return
                yield batch
            offset = found[-1].last_offset + 1

    def records(
        self, topic: str, partition: int, start: int | None = None, stop: int | None = None
    ) -> Iterator[Record]:
        """The data records of a partition, by offset; arguments and errors as for `batches`."""
        for batch in self.batches(topic, partition, start, stop):
            for record in batch.records:
                is_wanted = (start is None or record.offset >= start) and (stop is None or record.offset < stop)
                if record.control is None and is_wanted:
                    yield record

    def _fetch(self, topic: str, partition: int, offset: int) -> tuple[Batch, ...]:
        asked = {"partition": partition, "fetchOffset": offset, "partitionMaxBytes": FETCH_BYTES}
        values = {"maxWaitMs": 100, "minBytes": 1, "topics": [{"topic": topic, "partitions": [asked]}]}
        known = self.metadata([topic])
        leader = known.leaders.get((topic, partition))
        if leader is None:
            raise KafkaLearnError(f"{topic}-{partition} has no leader to read from, or does not exist")
        version = self._version(leader, "Fetch", NEWEST_WITH_NAMES)
        answer = self._ask(leader, "Fetch", {"replicaId": CONSUMER, **values, "forgottenTopicsData": []}, version)
        refuse_error(answer, f"records of {topic}-{partition}")
        (found,) = answer["responses"][0]["partitions"]
        refuse_error(found, f"records of {topic}-{partition}")
        segment = parse_segment(found["records"] or b"", topic, partition, offset)
        return tuple(batch for batch in segment.batches if batch.last_offset >= offset)
