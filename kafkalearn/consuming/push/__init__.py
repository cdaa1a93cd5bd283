"""Pull or push: the same records read from Kafka's log and, beside it, pushed from a queue for each consumer.

Who keeps the state, and what does a slow consumer cost? A broker that is asked keeps each record once, for as long as
retention says, and one offset for each consumer. A broker that pushes keeps each record for each consumer until it is
acknowledged. The log is Kafka's; the queues are **no rule of Kafka's**, only a comparison with it.

A simulator: the state is both brokers; `Produce`, `Process` and `Rewind` happen to both. `broker_load` compares them.
"""

from kafkalearn.consuming.push.events import Process, Produce, Rewind
from kafkalearn.consuming.push.load import broker_load
from kafkalearn.consuming.push.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.consuming.push.settings import Settings
from kafkalearn.consuming.push.simulator import simulate, step
from kafkalearn.consuming.push.state import start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Process",
    "Produce",
    "Rewind",
    "Settings",
    "broken",
    "broker_load",
    "check",
    "simulate",
    "start",
    "step",
]
