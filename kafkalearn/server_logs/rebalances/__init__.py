"""Events -> the rebalances of each group: when, how long, why, and who is behind it.

`histories` takes the events of brokers and clients together. The rebalances of a group are read from its coordinator's
log, by the protocol that it speaks (`classic`, `consumer`). Where that log says too little, the logs of the clients
are asked (`own_words`); where there is none, they are all there is (`by_clients`).
"""

from kafkalearn.server_logs.rebalances.history import histories
from kafkalearn.server_logs.rebalances.rebalance import CLASSIC, CONSUMER, GroupHistory, Rebalance

__all__ = ["CLASSIC", "CONSUMER", "GroupHistory", "Rebalance", "histories"]
