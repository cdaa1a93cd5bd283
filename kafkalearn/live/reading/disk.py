"""The disk of one broker: the logs of its replicas and its checkpoints, read by our own reader.

Files of a broker that runs can be read at any time: what it has written is there at once, flushed or not.
"""

from __future__ import annotations

import time
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.errors import NotThere
from kafkalearn.segments.batches import Batch
from kafkalearn.segments.checkpoints import read_checkpoint
from kafkalearn.segments.files import Segment, read_segment
from kafkalearn.segments.records import Record
from kafkalearn.topic_partition import TopicPartition

HIGH_WATERMARKS, LOG_STARTS = "replication-offset-checkpoint", "log-start-offset-checkpoint"
CLEANED, RECOVERY_POINTS = "cleaner-offset-checkpoint", "recovery-point-offset-checkpoint"
EPOCHS = "leader-epoch-checkpoint"
TRIES, PAUSE_S = 20, 0.05


class Disk:
    """The log folder of one broker."""

    def __init__(self, folder: Path) -> None:
        """As its ``log.dirs`` names it."""
        self.folder = folder

    def replicas(self) -> tuple[TopicPartition, ...]:
        """The partitions that have a replica here."""
        places = []
        for path in self.folder.iterdir():
            topic, _, number = path.name.rpartition("-")
            if path.is_dir() and topic and number.isdecimal():
                places.append(TopicPartition(topic, int(number)))
        return tuple(sorted(places))

    def segments(self, topic: str, partition: int) -> tuple[Segment, ...]:
        """The segments of a replica, by base offset; the last one is active.

        Raises
        ------
        NotThere
            If there is no such replica here, or a file of it cannot be read.
        """
        folder = self._folder_of(topic, partition)
        for attempt in range(TRIES):
            paths = sorted(folder.glob("*.log"))
            try:
                return tuple(read_segment(path, topic, partition, has_checksum=False) for path in paths)
            except KafkaLearnError as error:
                if attempt == TRIES - 1 or all(path.exists() for path in paths):
                    raise NotThere(str(error)) from None
            time.sleep(PAUSE_S)  # the cleaner puts other files in the place of these just now
        raise AssertionError("unreachable")

    def batches(self, topic: str, partition: int) -> tuple[Batch, ...]:
        """The batches of a replica, in order."""
        return tuple(batch for segment in self.segments(topic, partition) for batch in segment.batches)

    def records(self, topic: str, partition: int) -> tuple[Record, ...]:
        """The data records of a replica, in order."""
        return tuple(
            record for batch in self.batches(topic, partition) for record in batch.records if record.control is None
        )

    def log_end_offset(self, topic: str, partition: int) -> int:
        """The log end offset (LEO) of a replica: the offset that its next record will get."""
        active = self.segments(topic, partition)[-1]
        return active.batches[-1].last_offset + 1 if active.batches else active.base_offset

    def leader_epochs(self, topic: str, partition: int) -> tuple[tuple[int, int], ...]:
        """The leader epochs of a replica, each with the offset where it begins, as its file on disk has them."""
        path = self._folder_of(topic, partition) / EPOCHS
        lines = path.read_text(encoding="utf-8").split("\n")[2:] if path.exists() else []
        pairs = (line.split() for line in lines if line.strip())
        return tuple((int(epoch), int(start)) for epoch, start in pairs)

    def checkpoint(self, name: str) -> dict[TopicPartition, int]:
        """A checkpoint file of the broker: an offset for each partition; empty if it was not written yet.

        Parameters
        ----------
        name : str
            `HIGH_WATERMARKS`, `LOG_STARTS`, `CLEANED` or `RECOVERY_POINTS`.
        """
        return {TopicPartition(*place): offset for place, offset in read_checkpoint(self.folder / name).items()}

    def _folder_of(self, topic: str, partition: int) -> Path:
        folder = self.folder / f"{topic}-{partition}"
        if not folder.is_dir():
            there = ", ".join(map(str, self.replicas())) or "nothing"
            raise NotThere(f"there is no replica of {topic}-{partition} in {self.folder}; there is {there}")
        return folder
