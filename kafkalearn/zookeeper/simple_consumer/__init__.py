"""The low-level consumer: an application that does by hand what the other consumers do by themselves.

``SimpleConsumer`` is a connection to one broker and a way to build requests. Who leads the partition, where to begin,
what an error means, where to go on after a crash: all this is the application's. The stepper does one request at a
time, for one partition, as Kafka's own example of 0.8 did it.

>>> from kafkalearn.zookeeper.fetching import Append, LeaderMoved
>>> first = [Append("orders", 0, count=3), FindLeader(1), FindOffset("smallest"), Fetch(), Save()]
>>> for frame in simulate(Settings(), [*first, LeaderMoved("orders", 0, 2), Fetch(), FindLeader(1), Fetch()])[2:]:
...     print(type(frame.event).__name__, *frame.state.effects)
FindLeader LeaderFound(asked_id=1, leader=1)
FindOffset OffsetFound(offset=0)
Fetch Fetched(offsets=(0, 1, 2))
Save Saved(offset=3)
LeaderMoved
Fetch Refused(broker_id=1, error='NOT_LEADER_FOR_PARTITION')
FindLeader LeaderFound(asked_id=1, leader=2)
Fetch Fetched(offsets=())
"""

from kafkalearn.zookeeper.simple_consumer.effects import Refused
from kafkalearn.zookeeper.simple_consumer.events import Fetch, FindLeader, FindOffset, Restart, Save, Seek
from kafkalearn.zookeeper.simple_consumer.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.zookeeper.simple_consumer.settings import Settings
from kafkalearn.zookeeper.simple_consumer.simulator import simulate, step
from kafkalearn.zookeeper.simple_consumer.state import start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Fetch",
    "FindLeader",
    "FindOffset",
    "Refused",
    "Restart",
    "Save",
    "Seek",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
