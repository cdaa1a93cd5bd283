"""A load of a KIP-848 group while the log cleaner works on the same partition (KAFKA-19862).

The log has the records of what each member owns: the key is the member, the value its
epoch and its partitions. While the group lives, no partition has two owners: who gets one does so in a later record
than the one in which the owner before gave it up. The loader checks that, record by record. Between two of its reads
the cleaner may remove the record that gave a partition up, since a newer one of the same member is further on. Then
the loader sees the partition given to a second owner while the first still has it, in the epoch that it has read
before. Brokers of 4.0.0, 4.0.1, 4.1.0 and 4.1.1 throw an exception there, and nobody coordinates the partition.
Fixed ones let the higher epoch win: the newer record of the first member is still to come.

>>> from kafkalearn.log.events import Clean, Roll
>>> history = [Written("A", 1, (0,)), Written("A", 2), Written("B", 2, (0,)), Written("A", 3, (1,)), Roll()]
>>> events = [*history, LoadBegun(), LoadRead(1), Clean(0), LoadRead(1)]
>>> for release in ("4.1.1", "4.1.2"):
...     print(release, simulate(Settings(release), events)[-1].state.status)
4.1.1 failed
4.1.2 loading
"""

from kafkalearn.operations.loading.beside_cleaner.events import LoadBegun, LoadRead, Written
from kafkalearn.operations.loading.beside_cleaner.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.operations.loading.beside_cleaner.settings import Settings
from kafkalearn.operations.loading.beside_cleaner.simulator import simulate, step
from kafkalearn.operations.loading.beside_cleaner.state import start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "LoadBegun",
    "LoadRead",
    "Settings",
    "Written",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
