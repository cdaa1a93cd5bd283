"""The log, as the contract sees it."""

from kafkalearn.log import (
    Append,
    Clean,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    Restart,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
)
from tests.contract.simulator import Run, Simulator


def put(at_ms, *pairs):
    return Append(tuple(NewBatch(((key, value, at_ms),)) for key, value in pairs))


IN_A_TRANSACTION = Append((NewBatch((("c", "1", 2000),), None, 7, 0, 0, is_transactional=True),))

SIMULATOR = Simulator(
    home="kafkalearn.log",
    runs=(
        Run(
            Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=100),
            (
                *(put(0, ("a", "1"), ("b", "1")), put(1000, ("a", None)), Roll(), Clean(2000)),
                *(IN_A_TRANSACTION, EndTransaction(7, False, 2500), put(2600, ("b", "2"), (None, "x")), Roll()),
                *(SetHighWatermark(4), Clean(3000), SetHighWatermark(None), Clean(3100), ProducerExpired(7)),
                *(CleanerFailed(), Clean(3200), Restart(), MoveLogStart(3)),
            ),
        ),
        Run(
            Settings("compact,delete", segment_bytes=150, retention_ms=100),
            (
                *(put(0, ("a", "1"), ("b", "1"), ("a", "2")), CleanerRound(50), put(200, ("c", "1")), Retain(250)),
                *(MoveLogStart(3), MoveLogStart(99)),
            ),
        ),
    ),
    senseless=(SetHighWatermark(1),),
)
