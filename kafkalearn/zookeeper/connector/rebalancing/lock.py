"""The lock of a consumer: of its threads, one rebalances at a time."""

from __future__ import annotations

from kafkalearn.zookeeper.connector.effects import RebalanceBegan
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.state import Attempt


def ask_for_rebalance(update: GroupUpdate, name: str, thread: str) -> None:
    """A thread wants the lock: it gets it, or waits until the one that has it is done."""
    connector = update.connectors[name]
    if connector.attempt is not None:
        update.change(name, waiting=(*connector.waiting, thread))
    else:
        update.emit(RebalanceBegan(name, thread))
        update.change(name, attempt=Attempt(thread))


def leave_lock(update: GroupUpdate, name: str) -> None:
    """The lock is free: of the threads that wait for it, the first gets it."""
    connector = update.change(name, attempt=None)
    if connector.waiting:
        first, *rest = connector.waiting
        update.change(name, waiting=tuple(rest))
        ask_for_rebalance(update, name, first)
