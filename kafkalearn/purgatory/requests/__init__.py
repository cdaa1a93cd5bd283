"""A partition with everybody who waits for it: followers, producers with acks=all, and consumers.

A simulator: its events are those of `kafkalearn.replication`, whose `Settings` it has, and `ConsumerFetch` and
`SizedProduce` beside them.
"""

from kafkalearn.purgatory.requests.events import ConsumerFetch, SizedProduce
from kafkalearn.purgatory.requests.promises import PROMISES, broken, check
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.simulator import simulate, step
from kafkalearn.purgatory.requests.state import start

__all__ = [
    "PROMISES",
    "ConsumerFetch",
    "Settings",
    "SizedProduce",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
