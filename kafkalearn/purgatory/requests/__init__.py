"""A partition with everybody who waits for it: followers, producers with acks=all, consumers, administrators.

A simulator: its events are those of `kafkalearn.replication`, whose `Settings` it has, and `ConsumerFetch`,
`SizedProduce` and `DelayedDelete` beside them.
"""

from kafkalearn.purgatory.requests.events import ConsumerFetch, DelayedDelete, SizedProduce
from kafkalearn.purgatory.requests.promises import PROMISES, broken, check
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.simulator import simulate, step
from kafkalearn.purgatory.requests.state import start

__all__ = [
    "PROMISES",
    "ConsumerFetch",
    "DelayedDelete",
    "Settings",
    "SizedProduce",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
