"""Which member of a consumer group reads which partition: Kafka's assignors, asked by name.

An *assignor* is told the partitions of each topic and the members with their subscriptions, and answers with an
*assignment*: every partition of a subscribed topic to exactly one member. `assign` asks one of `ASSIGNORS`:

- in the client that leads the group: ``range``, ``roundrobin``, ``sticky``, ``cooperative-sticky``;
- in the broker (KIP-848): ``uniform`` and ``server-range``;
- in every consumer of the time before the coordinator (up to 1.1): ``legacy-range``, ``legacy-roundrobin``.

The answer is Kafka's own, in the order of Kafka's own lists: wherever its code walks a hash map, so do we
(`kafkalearn.java_collections`). Racks are not modelled: the answer is that of a group whose members name none.

A group goes on from there: `rejoin` is what its members report the next time, `cooperative_rounds` the two rounds
of a cooperative group. `load` and `change` measure, `fewest_moves` is what must move at least, `compare` puts
assignors side by side, `broken_laws` judges any assignment, also one of your own making.

`rebalance` tells a change moment by moment, eager or cooperative; `random_rebalance` draws one by chance.
`judge_assignor` tries an assignor of your own on hundreds of groups and comes back with the smallest that fails.
"""

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.carrying_out import Moment, rebalance
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.judging.judge import Judgement, judge_assignor
from kafkalearn.assignor.judging.laws import PROMISES, BrokenLaw, broken_laws
from kafkalearn.assignor.judging.measures import PROTOCOLS, Change, Load, change, load
from kafkalearn.assignor.judging.minimum import fewest_moves
from kafkalearn.assignor.judging.random_rebalances import Rebalance, random_rebalance
from kafkalearn.assignor.members import Member, OldConsumer
from kafkalearn.assignor.rebalancing import Round, compare, cooperative_rounds, rejoin
from kafkalearn.assignor.registry import ASSIGNORS, Assignor, assign

__all__ = [
    "ASSIGNORS",
    "PROMISES",
    "PROTOCOLS",
    "Assignment",
    "Assignor",
    "BrokenLaw",
    "Change",
    "GroupSpec",
    "Judgement",
    "Load",
    "Member",
    "Moment",
    "OldConsumer",
    "Rebalance",
    "Round",
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
