"""A log and a reader that crosses it, as the contract sees them."""

from kafkalearn.log import Append, Clean, EndTransaction, NewBatch, Roll, SetHighWatermark, Settings
from kafkalearn.log.reader import Read
from tests.contract.simulator import Run, Simulator


def put(key, value, at_ms):
    return Append((NewBatch(((key, value, at_ms),)),))


SIMULATOR = Simulator(
    home="kafkalearn.log.reader",
    runs=(
        Run(
            Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=100),
            (
                *(put("anna", "1", 0), Read(1, now_ms=10), put("anna", None, 20), Roll(), Clean(100)),
                *(put("ben", "1", 150), Roll(), Clean(200), Read(now_ms=300), Read()),
            ),
        ),
    ),
    senseless=(EndTransaction(7, True, 0), SetHighWatermark(1)),
    effects_in=("kafkalearn.log.model",),
)
