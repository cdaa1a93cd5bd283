"""``syncedRebalance``: its lock, its tries, its eight steps, and the assignment that each consumer computes."""

from __future__ import annotations

from functools import lru_cache

from kafkalearn.assignors.members import Assignment, OldConsumer
from kafkalearn.assignors.registry import assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.zookeeper import layout
from kafkalearn.zookeeper.connector import model
from kafkalearn.zookeeper.connector.process import (
    GroupUpdate,
    close,
    commit,
    committed_offset,
    in_range,
    leave_lock,
    topics_changed,
)
from kafkalearn.zookeeper.subscriptions import Filtered, read_subscription, stream_counts
from kafkalearn.zookeeper.tree import NODE_EXISTS

# What a consumer reads of the whole group, and the assignment that it computes from it, for itself alone.


class NoView(Exception):  # noqa: N818  (no error of ours: Kafka writes it to the log, and the try has failed)
    """The group cannot be read as it stands in ZooKeeper."""


def own_topics(update: GroupUpdate, name: str) -> dict[str, int]:
    """The threads by topic that the consumer's own node comes to: it reads what it wrote."""
    return _topics_of(update, name, update.connectors[name].consumer_id)


def threads_of_group(update: GroupUpdate, name: str) -> tuple[list[OldConsumer], tuple[str, ...], dict[str, int]]:
    """All consumers with their threads by topic, their ids, and the partitions of all their topics."""
    own_topics(update, name)
    ids = update.children(name, layout.ids_path(update.settings.group))
    threads = [OldConsumer(each, _topics_of(update, name, each)) for each in ids]
    topics = dict.fromkeys(topic for each in threads for topic, _ in each.stream_counts)
    counts = {topic: len(layout.read_topic(update.data(name, layout.topic_path(topic)))) for topic in topics}
    members = update.children(name, layout.ids_path(update.settings.group))
    return threads, members, {topic: count for topic, count in counts.items() if count}


def own_part(
    update: GroupUpdate, name: str, threads: list[OldConsumer], partition_counts: dict[str, int]
) -> tuple[model.PartitionInfo, ...]:
    """The partitions of the consumer's own threads."""
    settings, own = update.settings, update.connectors[name].consumer_id
    try:
        assignment = _assigned(
            settings.partition_assignment_strategy,
            tuple(partition_counts.items()),
            tuple(threads),
            settings.release,
        )
    except KafkaLearnError as reason:  # roundrobin up to 0.10.1, of threads that are not alike
        raise NoView(f"java.lang.IllegalArgumentException: {reason}") from None
    mine = [
        model.PartitionInfo(topic, partition, thread)
        for thread, partitions in assignment.items()
        if layout.consumer_of_thread(thread) == own
        for topic, partition in partitions
    ]
    return tuple(sorted(mine))


@lru_cache(maxsize=1024)
def _assigned(
    strategy: str, counts: tuple[tuple[str, int], ...], threads: tuple[OldConsumer, ...], release: str
) -> Assignment:
    """Everybody computes the same from the same view."""
    return assign(strategy, dict(counts), threads, side="old-consumer", release=release)


def _topics_of(update: GroupUpdate, name: str, consumer_id: str) -> dict[str, int]:
    content = update.data(name, layout.consumer_path(update.settings.group, consumer_id))
    if content is None:
        raise NoView(f"the node of {consumer_id} is gone")
    try:
        return stream_counts(
            read_subscription(content),
            lambda: update.children(name, layout.BROKER_TOPICS),
            excludes_internal=update.settings.exclude_internal_topics,
        )
    except AssertionError as reason:
        raise NoView(f"java.lang.AssertionError: {reason}") from None
    except KafkaLearnError as reason:
        raise NoView(str(reason)) from None


# ``syncedRebalance``: one thread at a time, up to four tries of eight steps, a pause after each that failed. The
# threads of all consumers do this at once, and nobody waits for anybody: what keeps two from reading the same partition
# is that the node of its owner can be created once.


def rebalance_step(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """The next step of the try that is going on."""
    try:
        _STEPS[attempt.stage](update, name, attempt)
    except NoView as reason:
        _failed(update, name, attempt, str(reason))


def _read(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """1. Which brokers are there, what did I subscribe to? Without a broker all stays as it is."""
    if update.connectors[name].is_closing:
        return _over(update, name)
    _brokers(update, name)
    topics = own_topics(update, name)
    if not _brokers(update, name):
        update.change(name, watches_brokers=True)
        update.listen_to_children(name, layout.BROKER_IDS)
        return _succeeded(update, name, attempt)
    return _next(update, name, attempt._replace(stage=model.STOP, topics=tuple(topics)))


def _brokers(update: GroupUpdate, name: str) -> tuple[str, ...]:
    """The ids of the brokers; each node is read for its address."""
    ids = update.children(name, layout.BROKER_IDS)
    for each in ids:
        update.data(name, layout.broker_path(int(each)))
    return ids


def _stop(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """2. Stop the leader finder and the fetchers, clear the queues; commit, if that is done automatically."""
    _stop_fetchers(update, name)
    _next(update, name, attempt._replace(stage=model.RELEASE))


def _stop_fetchers(update: GroupUpdate, name: str) -> None:
    update.change(name, is_fetching=False)
    if update.settings.auto_commit_enable:
        commit(update, name)


def _release(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """3. Delete the nodes of the partitions that this consumer believes to own, whosever they are now."""
    owned = update.connectors[name].owned
    for partition in owned:
        update.delete(name, layout.owner_path(update.settings.group, *partition))
    if owned:
        update.emit(model.Released(name, owned))
    update.change(name, registry=())
    _next(update, name, attempt._replace(stage=model.ASSIGN))


def _assign(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """4. Read the whole group and compute everybody's partitions; the own part is kept."""
    threads, members, partition_counts = threads_of_group(update, name)
    infos = own_part(update, name, threads, partition_counts)
    _next(update, name, attempt._replace(stage=model.OFFSETS, members=members, infos=infos))


def _offsets(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """5. Read the committed offset of each partition."""
    offsets = [committed_offset(update, name, info.topic_partition) for info in attempt.infos]
    infos = tuple(
        info._replace(consumed=offset, committed=offset) for info, offset in zip(attempt.infos, offsets, strict=True)
    )
    _next(update, name, attempt._replace(stage=model.BUILD, infos=infos))


def _build(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """6. Make a registry of them, which nobody sees yet."""
    if update.connectors[name].is_closing:
        return _failed(update, name, attempt, "it is shutting down")
    return _next(update, name, attempt._replace(stage=model.OWN))


def _own(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """7. Create the owners' nodes. If one is there already, delete those just created, and fail."""
    created: list[model.PartitionInfo] = []
    conflict = None
    for info in attempt.infos:
        if _create_owner(update, name, info):
            created.append(info)
        else:
            conflict = info.topic_partition
    if conflict is not None:
        for info in created:
            update.delete(name, layout.owner_path(update.settings.group, *info.topic_partition))
        return _failed(update, name, attempt, f"{conflict} has another owner", conflict)
    if attempt.infos:
        update.emit(model.Owned(name, tuple(info.topic_partition for info in attempt.infos)))
    return _next(update, name, attempt._replace(stage=model.START))


def _create_owner(update: GroupUpdate, name: str, info: model.PartitionInfo) -> bool:
    """Whether the node says now that the thread owns it; a node that says so already is taken for one's own."""
    path = layout.owner_path(update.settings.group, info.topic, info.partition)
    if update.create_ephemeral(name, path, info.thread) != NODE_EXISTS:
        return True
    stored = update.data(name, path)
    if stored == info.thread:
        return True
    update.emit(model.OwnedByAnother(name, info.topic_partition, stored))
    return False


def _start(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """8. Publish the registry, start the fetchers."""
    registry = tuple(in_range(update, info) for info in attempt.infos)
    update.change(name, registry=registry, is_fetching=True)
    _succeeded(update, name, attempt)


def _go_on(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    """The pause is over: the next try, or the exception."""
    if attempt.number + 1 < update.settings.rebalance_max_retries:
        return _next(update, name, model.Attempt(attempt.thread, attempt.number + 1))
    connector = update.change(name, has_given_up=True)
    update.emit(model.GaveUp(name, attempt.thread))
    if attempt.thread == model.MAIN:
        retries = update.settings.rebalance_max_retries
        words = f"{connector.consumer_id} can't rebalance after {retries} retries"
        update.emit(model.Threw(name, f"kafka.common.ConsumerRebalanceFailedException: {words}"))
    return _over(update, name)


_STEPS = {
    model.READ: _read,
    model.STOP: _stop,
    model.RELEASE: _release,
    model.ASSIGN: _assign,
    model.OFFSETS: _offsets,
    model.BUILD: _build,
    model.OWN: _own,
    model.START: _start,
    model.BACKOFF: _go_on,
}


def _next(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    update.change(name, attempt=attempt)


def _failed(
    update: GroupUpdate, name: str, attempt: model.Attempt, why: str, conflict: TopicPartition | None = None
) -> None:
    """The fetchers are stopped and all queues cleared, whatever step it was; then the pause."""
    update.emit(model.AttemptFailed(name, attempt.number, why))
    _stop_fetchers(update, name)
    _next(update, name, attempt._replace(stage=model.BACKOFF, infos=(), conflict=conflict))


def _succeeded(update: GroupUpdate, name: str, attempt: model.Attempt) -> None:
    connector = update.change(name, has_given_up=False)
    update.emit(model.Rebalanced(name, connector.owned, attempt.number + 1))
    if attempt.thread == model.MAIN:
        update.change(name, has_streams=True)
        if isinstance(connector.subscription, Filtered):
            _watch_topics(update, name)
    _over(update, name)


def _watch_topics(update: GroupUpdate, name: str) -> None:
    """With a filter, listen to the list of all topics too, and look whether it has changed meanwhile."""
    update.change(name, watches_topics=True)
    update.listen_to_children(name, layout.BROKER_TOPICS)
    topics_changed(update, name)


def _over(update: GroupUpdate, name: str) -> None:
    """The rebalance is over, whatever came of it; a consumer that is shutting down ends now."""
    if update.connectors[name].is_closing:
        close(update, name)
    else:
        leave_lock(update, name)
