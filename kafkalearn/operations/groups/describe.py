"""``kafka-consumer-groups --describe``: the offsets of a group, in the columns of each release from 0.9 on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkalearn.arguments import flag
from kafkalearn.consuming.describe import DescribedPartition, describe_group, describe_warning
from kafkalearn.errors import KafkaLearnError
from kafkalearn.group_states import DEAD, REBALANCING_STATES
from kafkalearn.java_collections import hash_order
from kafkalearn.offsets.groups import Group
from kafkalearn.operations.groups.columns import NEW_TEXTS, is_known, line, unknown_group, widest
from kafkalearn.operations.groups.topic_logs import Topics, checked_topics, log_of
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

OWNER_COLUMNS = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")
OWNER_WIDTHS = (30, 30, 10, 15, 15, 15, 0)
EPOCH_COLUMNS = (
    *("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    *("CONSUMER-ID", "HOST", "CLIENT-ID"),
)


def describe_offsets(
    group: Group, topics: Topics, release: str | Release = DEFAULT_RELEASE, *, is_verbose: bool = False
) -> str:
    """What the tool prints on standard output about the offsets of a group.

    Up to 0.10.1 it listed only what members owned, with an owner in place of member, host and client; of an empty group
    it knew nothing, though its offsets were there. From 0.10.2 to 1.0, before there was ``--members``, members that own
    nothing had a line of their own; up to 2.0 no member was shown before the group's first commit.

    Parameters
    ----------
    group : Group
        As the store of offsets keeps it (`kafkalearn.offsets`), members in the order in which the broker has them.
    topics : mapping of str to sequence of PartitionLog
        Where the logs end.
    release : str or Release
        Of the tool, at least 0.9.
    is_verbose : bool
        ``--verbose`` (since 4.0): with the leader epochs of the commits.

    Returns
    -------
    str
        To the character, with all its empty lines; what goes to standard error is `describe_warning`'s.

    Examples
    --------
    >>> from kafkalearn.offsets.groups import Committed, Member
    >>> from kafkalearn.operations.groups import PartitionLog
    >>> member = Member("c1-3f", "c1", "/10.0.0.7", assigned=(TopicPartition("orders", 0),))
    >>> group = Group("billing", state="Stable", members=(member,), offsets=(Committed("orders", 0, 5),))
    >>> logs = {"orders": [PartitionLog(7)]}
    >>> print(describe_offsets(group, logs, "0.9.0"), end="")
    GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
    billing, orders, 0, 5, 7, 2, c1_/10.0.0.7
    >>> describe_offsets(group, logs).split()[-9:]
    ['billing', 'orders', '0', '5', '7', '2', 'c1-3f', '/10.0.0.7', 'c1']

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``ConsumerGroupCommand``.
    """
    checked_topics(topics)
    if flag("is_verbose", is_verbose) and not at_least("4.0", release):
        raise KafkaLearnError(f"--describe with --verbose shows leader epochs since 4.0, got release {release!s}")
    if not at_least("0.10.2", release):
        return _with_owners(group, topics, release)
    if not is_known(group, release):
        return unknown_group(group.group_id, release)
    partitions = list(described_partitions(group, topics, release))
    owned = [each for each in partitions if each.topic is not None]
    if is_verbose and owned:
        return _with_epochs(group, owned)
    return describe_group(group.group_id, partitions, group.state, release)


def offsets_warning(group: Group) -> str:
    """What the tool prints on standard error about a group; nothing for a stable one.

    >>> offsets_warning(Group("billing"))
    "\\nConsumer group 'billing' has no active members.\\n"
    """
    return describe_warning(group.group_id, group.state)


def described_partitions(
    group: Group, topics: Topics, release: str | Release = DEFAULT_RELEASE
) -> Iterator[DescribedPartition]:
    """What members own, the member with most first; then what only has an offset.

    Since 4.1 by topic and partition; in 3.9 and 4.0 in the order of Java's HashMap. Before, a Scala map of more than
    four has an order of its own: here they are by partition.
    """
    if not group.offsets and not at_least("2.1", release):
        return
    owned: set[TopicPartition] = set()
    for member in sorted(group.members, key=lambda each: -len(each.assigned)):
        owned.update(member.assigned)
        owner = (member.member_id, member.client_host, member.client_id)
        yield from (_partition(group, topics, at, *owner) for at in _in_order(member.assigned, release))
        if not member.assigned:
            yield DescribedPartition(None, None, None, None, *owner)
    left = _in_order((each.at for each in group.offsets if each.at not in owned), release)
    yield from (_partition(group, topics, at) for at in left)


def _in_order(places: Iterable[TopicPartition], release: str | Release) -> list[TopicPartition]:
    if at_least(NEW_TEXTS, release):
        return sorted(places)
    by_partition = sorted(places, key=lambda at: (at.partition, at.topic))
    return hash_order(by_partition) if at_least("3.9", release) else by_partition


def _partition(group: Group, topics: Topics, at: TopicPartition, *owner: str) -> DescribedPartition:
    committed, log = group.offset(*at), log_of(topics, at)
    offset, end = None if committed is None else committed.offset, None if log is None else log.end
    return DescribedPartition(*at, offset, end, *owner)


def _with_epochs(group: Group, partitions: list[DescribedPartition]) -> str:
    rows = []
    for each in partitions:
        committed = None if each.topic is None or each.partition is None else group.offset(each.topic, each.partition)
        epoch = None if committed is None else committed.leader_epoch
        numbers = (epoch, each.current_offset, each.log_end_offset, each.lag)
        owner = (each.consumer_id, each.host, each.client_id)
        rows.append((group.group_id, each.topic, each.partition, *numbers, *owner))
    group_width, topic, _, _, _, _, _, consumer, host, _ = (
        widest(15, ["-" if each is None else each for each in column]) for column in zip(*rows, strict=True)
    )
    widths = (group_width, topic, 10, 15, 15, 15, 15, consumer, host, 0)
    return "".join(f"\n{line(row, widths)}" for row in (EPOCH_COLUMNS, *rows)) + "\n"


def _with_owners(group: Group, topics: Topics, release: str | Release) -> str:
    """The tool of 0.9 to 0.10.1."""
    if not at_least("0.9.0", release):
        raise KafkaLearnError(f"what --describe printed of groups in Kafka is modelled since 0.9, got {release!s}")
    is_unknown = group.state == DEAD or not group.members
    if not at_least("0.10.0", release) or not at_least("0.10.1", release):
        if is_unknown or group.state in REBALANCING_STATES:
            return f"Consumer group `{group.group_id}` does not exist or is rebalancing.\n"
    elif group.state == DEAD:
        return f"Consumer group `{group.group_id}` does not exist.\n"
    elif is_unknown or group.state in REBALANCING_STATES:
        return f"Consumer group `{group.group_id}` is rebalancing.\n"
    rows = list(_owner_rows(group, topics))
    if not at_least("0.10.0", release):
        header = ", ".join(name.replace("-", " ") for name in OWNER_COLUMNS)
        return "".join(f"{each}\n" for each in (header, *(", ".join(map(str, row)) for row in rows)))
    return "".join(f"{line(row, OWNER_WIDTHS)}\n" for row in (OWNER_COLUMNS, *rows))


def _owner_rows(group: Group, topics: Topics) -> Iterable[tuple[object, ...]]:
    for member in group.members:
        for at in sorted(member.assigned, key=lambda each: each.partition):
            found = _partition(group, topics, at)
            numbers = (found.current_offset, found.log_end_offset, found.lag)
            shown = ("unknown" if each is None else each for each in numbers)
            yield (group.group_id, *at, *shown, f"{member.client_id}_{member.client_host}")
