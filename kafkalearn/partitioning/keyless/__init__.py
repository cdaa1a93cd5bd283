"""Where a record without a key lands, by Kafka release: round robin, sticky, uniform sticky.

The Java producer has had four rules, `RULES`. Up to 2.3 it dealt keyless records out one by one, from a counter
with a random start. Since 2.4 it stays on one partition (*sticky*) so that batches fill up: until a new batch has
to be opened (KIP-480), or, since 3.3, until enough bytes went there (KIP-794), and then draws another one.

A simulator: `Producer` is the state, `Send`, `SendToOtherTopic`, `Drain` and `SenderLooks` are the events, `step`
is the rule. Nothing is random in it: `Settings.draw` stands for the producer's random source.
"""

from kafkalearn.partitioning.keyless.model import (
    RULES,
    Drain,
    KeylessEvent,
    Load,
    Placement,
    Producer,
    Send,
    SenderLooks,
    SendToOtherTopic,
    Settings,
    rule_of,
    seeded,
    start,
)
from kafkalearn.partitioning.keyless.simulator import check, placements, send_all, step
from kafkalearn.partitioning.keyless.uniform import queue_weights

__all__ = [
    "RULES",
    "Drain",
    "KeylessEvent",
    "Load",
    "Placement",
    "Producer",
    "Send",
    "SendToOtherTopic",
    "SenderLooks",
    "Settings",
    "check",
    "placements",
    "queue_weights",
    "rule_of",
    "seeded",
    "send_all",
    "start",
    "step",
]
