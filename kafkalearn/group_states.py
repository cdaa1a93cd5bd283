"""The states of a group, by Kafka's names: the one place where they are spelled.

>>> CLASSIC_STATES
('Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable', 'Dead')

References
----------
Apache Kafka 4.3, ``GroupState``.
"""

from __future__ import annotations

EMPTY = "Empty"
PREPARING = "PreparingRebalance"
COMPLETING = "CompletingRebalance"  # AwaitingSync up to 1.0
STABLE = "Stable"
DEAD = "Dead"
ASSIGNING = "Assigning"
RECONCILING = "Reconciling"
NOT_READY = "NotReady"  # of a streams group only: its topology is not known, or not checked yet

CLASSIC_STATES = (EMPTY, PREPARING, COMPLETING, STABLE, DEAD)
CONSUMER_STATES = {
    EMPTY: "it has no members",
    ASSIGNING: "the group epoch is higher than the assignment epoch: a new target is due",
    RECONCILING: "some member has not reached its target",
    STABLE: "every member has reached its target",
    DEAD: "it was deleted, or its last offset expired while it had no members",
}
"""The states of a KIP-848 group, with their meaning; they follow from the members and are stored nowhere."""

REBALANCING_STATES = (PREPARING, COMPLETING, ASSIGNING, RECONCILING)
"""Those in which a group has not agreed yet."""
