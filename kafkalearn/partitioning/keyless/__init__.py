"""Where a record without a key lands, by Kafka release: round robin, sticky, uniform sticky.

The Java producer has had four rules, `RULES`. Up to 2.3 it dealt keyless records out one by one, from a counter
with a random start. Since 2.4 it stays on one partition (*sticky*) so that batches fill up: until a new batch has
to be opened (KIP-480), or, since 3.3, until enough bytes went there (KIP-794), and then draws another one.

A simulator: the state is a producer, the events are `Send`, `SendToOtherTopic`, `Drain` and `SenderLooks`; `sends`
makes the events of many records. Nothing is random in it: `Settings.draw` stands for the producer's random source.
"""

from kafkalearn.partitioning.keyless.events import Drain, Send, SenderLooks, SendToOtherTopic, sends
from kafkalearn.partitioning.keyless.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.partitioning.keyless.settings import RULES, Settings, rule_of, seeded
from kafkalearn.partitioning.keyless.simulator import simulate, step
from kafkalearn.partitioning.keyless.state import start
from kafkalearn.partitioning.keyless.uniform import queue_weights

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "RULES",
    "Drain",
    "Send",
    "SendToOtherTopic",
    "SenderLooks",
    "Settings",
    "broken",
    "check",
    "queue_weights",
    "rule_of",
    "seeded",
    "sends",
    "simulate",
    "start",
    "step",
]
