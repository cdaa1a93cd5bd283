"""Which member of a consumer group reads which partition: Kafka's assignors, asked by name.

An *assignor* gets the partitions of each topic and the members with their subscriptions, and answers with an
*assignment*: every partition of a subscribed topic belongs to exactly one member. `assign` runs the assignor of a
name, and where several sides have one of that name, of a side:

- in the client that leads the group: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``;
- in the broker (KIP-848): ``uniform`` and ``range``, with ``side="broker"``;
- in every consumer of the time before the coordinator (up to 1.1): ``range`` and ``roundrobin``, with
  ``side="old-consumer"``.

The answer is Kafka's own, in the order of Kafka's own lists: wherever its code walks a hash map, so do we
(`kafkalearn.base.java`). What racks change is in `kafkalearn.assignors.racks`.

`rejoin` is what the members report the next time, `cooperative_rounds` the two rounds of a cooperative group. `load`
and `change` measure, `fewest_moves` is what must move at least, `compare` puts assignors side by side, `broken_laws`
judges any assignment, also one of your own.

`rebalance` carries a change out moment by moment, eager or cooperative (`kafkalearn.assignors.carrying_out` is its
simulator); `random_rebalance` draws one. `judge_assignor` tries an assignor of your own on hundreds of groups and
finds the smallest for which it fails.
"""

from kafkalearn.assignors.carrying_out import rebalance
from kafkalearn.assignors.judging import judge_assignor, random_rebalance
from kafkalearn.assignors.laws import broken_laws, change, fewest_moves, load
from kafkalearn.assignors.members import Assignment, Member, OldConsumer
from kafkalearn.assignors.registry import assign, compare, cooperative_rounds, rejoin

__all__ = [
    "Assignment",
    "Member",
    "OldConsumer",
    "assign",
    "broken_laws",
    "change",
    "compare",
    "cooperative_rounds",
    "fewest_moves",
    "judge_assignor",
    "load",
    "random_rebalance",
    "rebalance",
    "rejoin",
]
