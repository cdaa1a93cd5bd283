"""A consumer ends: it is shut down, or its process dies."""

from __future__ import annotations

from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.offsets import commit
from kafkalearn.zookeeper.tree.events import SessionClosed


def shut_down(update: GroupUpdate, name: str) -> None:
    """No rebalance begins any more; the end comes when the one that is going on is over."""
    connector = update.change(name, is_closing=True, is_triggered=False, waiting=())
    if connector.attempt is None:
        close(update, name)


def close(update: GroupUpdate, name: str) -> None:
    """Stop fetching, commit if that is done automatically, close the session: all nodes go at once."""
    connector = update.change(name, is_fetching=False)
    if update.tree.session(connector.session) is not None:
        if update.settings.auto_commit_enable:
            commit(update, name)
        update.happen(SessionClosed(connector.session))
    end(update, name)


def end(update: GroupUpdate, name: str) -> None:
    """The process is gone."""
    update.change(
        name,
        is_running=False,
        is_closing=False,
        is_fetching=False,
        is_triggered=False,
        registry=(),
        notices=(),
        attempt=None,
        waiting=(),
        has_given_up=False,
    )
