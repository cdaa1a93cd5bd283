"""The log, a reader that crosses it, and a load beside its cleaner."""

from kafkalearn.log import (
    Append,
    BrokerRestarted,
    Clean,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
)
from kafkalearn.log.reader import Read
from kafkalearn.operations import loading
from kafkalearn.operations.loading import LoadBegun, LoadRead, Written
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}


# The log.
def put(at_ms, *pairs):
    return Append(tuple(NewBatch(((key, value, at_ms),)) for key, value in pairs))


IN_A_TRANSACTION = Append((NewBatch((("c", "1", 2000),), None, 7, 0, 0, is_transactional=True),))
SIMULATORS["log"] = Simulator(
    home="kafkalearn.log",
    runs=(
        Run(
            Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=100),
            (
                *(put(0, ("a", "1"), ("b", "1")), put(1000, ("a", None)), Roll(), Clean(2000)),
                *(IN_A_TRANSACTION, EndTransaction(7, False, 2500), put(2600, ("b", "2"), (None, "x")), Roll()),
                *(SetHighWatermark(4), Clean(3000), SetHighWatermark(None), Clean(3100), ProducerExpired(7)),
                *(CleanerFailed(), Clean(3200), BrokerRestarted(), MoveLogStart(3)),
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

# A log and a reader that crosses it.
SIMULATORS["reader"] = Simulator(
    home="kafkalearn.log.reader",
    runs=(
        Run(
            Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=100),
            (
                *(put(0, ("anna", "1")), Read(1, now_ms=10), put(20, ("anna", None)), Roll(), Clean(100)),
                *(put(150, ("ben", "1")), Roll(), Clean(200), Read(now_ms=300), Read()),
            ),
        ),
    ),
    senseless=(EndTransaction(7, True, 0), SetHighWatermark(1)),
    effects_in=("kafkalearn.log.model",),
)

# A load beside the cleaner.
LOADED = (
    Written("A", 1, (0,)),
    Written("A", 2),
    Written("B", 2, (0,)),
    Written("A", 3, (1,)),
    Roll(),
    LoadBegun(),
    LoadRead(1),
    Clean(0),
    LoadRead(1),
)
SIMULATORS["load_beside_cleaner"] = Simulator(
    home="kafkalearn.operations.loading",
    runs=(
        Run(loading.Settings(), (*LOADED, LoadRead(9))),
        Run(loading.Settings("4.0.1"), (*LOADED, LoadBegun(), LoadRead(9))),
    ),
    senseless=(LoadRead(),),
)
