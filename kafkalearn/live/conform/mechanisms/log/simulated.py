"""The same script on the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kafkalearn.live.conform.mechanism import Answer, Case
from kafkalearn.live.conform.mechanisms.log.canaries import NEVER_MS
from kafkalearn.live.conform.mechanisms.log.scripts import (
    SEGMENT_MS,
    DeleteRecords,
    End,
    OffsetsAsked,
    Pass,
    Retention,
    Step,
    Write,
    steps_of,
)
from kafkalearn.live.conform.mechanisms.log.shown import answer_of, questions, shown_log
from kafkalearn.log.effects import Appended, AppendRefused, DeleteRecordsRefused, DuplicateRecognised
from kafkalearn.log.events import Append, CleanerRound, EndTransaction, LogEvent, MoveLogStart, Retain
from kafkalearn.log.list_offsets import list_offset
from kafkalearn.log.promises import check
from kafkalearn.log.settings import Settings
from kafkalearn.log.simulator import step as step_of_log
from kafkalearn.log.state import Log, start

NO_OFFSET = -1


def say(release: str, case: Case, seen: Answer) -> Answer:
    """What the simulator answers; from the broker's answer it takes the times that only the broker knows."""
    began_ms = seen["began_ms"]
    log = SimulatedLog(release, case, began_ms)
    steps = zip(steps_of(case, began_ms), seen["after"], strict=True)
    return {"began_ms": began_ms, "after": [log.play(step, there) for step, there in steps], "end": log.end()}


class SimulatedLog:
    """`kafkalearn.live.conform.mechanisms.log.playing.RealLog`, simulated."""

    def __init__(self, release: str, case: Case, began_ms: int) -> None:
        """An empty log."""
        self._began_ms = began_ms
        self._settings = Settings(
            case["policy"], release, segment_ms=SEGMENT_MS, retention_ms=-1, min_compaction_lag_ms=NEVER_MS,
            min_cleanable_dirty_ratio=case["dirty_ratio"],
        )  # fmt: skip
        self._log: Log = start(self._settings)

    def play(self, step: Step, there: Any) -> Answer:
        """What one step led to; `there` is what it led to on the broker."""
        match step:
            case Write(batch):
                return self._answer_of(Append((batch,)))
            case End(producer_id, producer_epoch, is_commit):
                # The broker's clock gave a marker its time; of one that it refused nothing is known.
                after_ms = there[1] or 0
                answer = self._answer_of(
                    EndTransaction(producer_id, is_commit, self._began_ms + after_ms, producer_epoch)
                )
                return [answer[0], after_ms if answer[0] == "NONE" else None]
            case Pass(_, delete_retention_ms):
                return self._pass(delete_retention_ms, there)
            case Retention(_, bytes_left):
                return self._retain(bytes_left, there)
            case DeleteRecords(offset):
                return self._delete(offset)
            case OffsetsAsked(times_ms):
                self._look()
                return [
                    answer_of(list_offset(self._log, each, level), self._began_ms)
                    for each, level in questions(times_ms)
                ]

    def _step(self, event: LogEvent, **settings: object) -> None:
        changed = replace(self._settings, **settings)
        self._log = step_of_log(changed, self._log, event)
        check(changed, self._log)

    def _answer_of(self, event: Append | EndTransaction) -> list[Any]:
        self._step(event)
        for effect in self._log.effects:
            match effect:
                case AppendRefused(error):
                    return [error, NO_OFFSET]
                case Appended(first_offset) | DuplicateRecognised(first_offset):
                    return ["NONE", first_offset]
        raise AssertionError(f"{event} led to neither an offset nor an error: {self._log.effects}")

    def _look(self) -> None:
        """A round that cleans nothing, as a broker has them all the time: what is below the log start goes."""
        self._step(CleanerRound(self._began_ms) if self._settings.is_compacted else Retain(self._began_ms))

    def _pass(self, delete_retention_ms: int, there: Mapping[str, Any]) -> Answer:
        lag_ms, cleaned_ms = there["lag_ms"], there["cleaned_ms"]
        self._look()
        self._step(
            CleanerRound(self._began_ms + cleaned_ms), min_compaction_lag_ms=lag_ms,
            delete_retention_ms=delete_retention_ms,
        )  # fmt: skip
        self._take_sizes(there.get("codec_bytes", {}))
        return {**there, "log": self.shown()}

    def _take_sizes(self, codec_bytes: Mapping[str, int]) -> None:
        """What less data takes only the codec knows; where it is not given, it is an estimate."""
        segments = [
            replace(
                segment,
                batches=tuple(
                    replace(batch, size_bytes=codec_bytes.get(str(batch.base_offset), batch.size_bytes))
                    for batch in segment.batches
                ),
            )
            for segment in self._log.segments
        ]
        self._log = replace(self._log, segments=tuple(segments))

    def _retain(self, bytes_left: int | None, there: Mapping[str, Any]) -> Answer:
        retention_ms, retained_ms = there["retention_ms"], there["retained_ms"]
        self._step(
            Retain(self._began_ms + retained_ms), retention_ms=retention_ms,
            retention_bytes=-1 if bytes_left is None else bytes_left,
        )  # fmt: skip
        return {"retention_ms": retention_ms, "retained_ms": retained_ms, "log": self.shown()}

    def _delete(self, offset: int) -> Answer:
        self._step(MoveLogStart(offset))
        refused = [each.error for each in self._log.effects if isinstance(each, DeleteRecordsRefused)]
        answer = [refused[0], NO_OFFSET] if refused else ["NONE", self._log.log_start_offset]
        self._look()
        return {"answer": answer, "log": self.shown()}

    def end(self) -> dict[str, Any]:
        """What is left when what is below the log start is gone, too."""
        self._look()
        return self.shown()

    def shown(self) -> dict[str, Any]:
        """As the broker's log is shown."""
        log = self._log
        return shown_log(log.checkpoint, log.log_start_offset, log.segments, self._began_ms)
