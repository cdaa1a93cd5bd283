"""A consumer group and its coordinator: joins, heartbeats, rebalances, and the time they cost.

- `kafkalearn.group.classic`: the coordinator of the classic protocol, one request at a time
- `kafkalearn.group.consumer`: that of KIP-848
- `kafkalearn.group.scenario`: stories of a few lines, played with either, judged and improved
- `kafkalearn.group.world`: what they are played in: consumers with two threads, settings, virtual time, reading
- `kafkalearn.group.clients`: the client side of both protocols
"""

from kafkalearn.group.scenario.finder import find_change
from kafkalearn.group.scenario.simulator import simulate

__all__ = ["find_change", "simulate"]
