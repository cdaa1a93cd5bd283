"""Which member of a consumer group reads which partition: Kafka's assignors, asked by name.

An *assignor* gets the partitions of each topic and the members with their subscriptions, and answers with an
*assignment*: every partition of a subscribed topic belongs to exactly one member. `assign` runs the assignor of a
name, and where several sides have one of that name, of a side:

- in the client that leads the group: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``;
- in the broker (KIP-848): ``uniform`` and ``range``, with ``side="broker"``;
- in every consumer of the time before the coordinator (up to 1.1): ``range`` and ``roundrobin``, with
  ``side="old-consumer"``.

The answer is Kafka's own, in the order of Kafka's own lists: wherever its code walks a hash map, so do we
(`kafkalearn.java_collections`). Racks are not modelled: the answer is that of a group whose members name none.

`rejoin` is what the members report the next time, `cooperative_rounds` the two rounds of a cooperative group. `load`
and `change` measure, `fewest_moves` is what must move at least, `compare` puts assignors side by side, `broken_laws`
judges any assignment, also one of your own.

`rebalance` carries a change out moment by moment, eager or cooperative (`kafkalearn.assignor.carrying_out` is its
simulator); `random_rebalance` draws one. `judge_assignor` tries an assignor of your own on hundreds of groups and
finds the smallest for which it fails.
"""

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.carrying_out.simulator import rebalance
from kafkalearn.assignor.judging.judge import judge_assignor
from kafkalearn.assignor.judging.laws import broken_laws
from kafkalearn.assignor.judging.measures import change, load
from kafkalearn.assignor.judging.minimum import fewest_moves
from kafkalearn.assignor.judging.random_rebalances import random_rebalance
from kafkalearn.assignor.members import Member, OldConsumer
from kafkalearn.assignor.rebalancing import compare, cooperative_rounds, rejoin
from kafkalearn.assignor.registry import assign

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
