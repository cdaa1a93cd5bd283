"""When a committed offset expires: the two rules, before and since 2.1 (KIP-211).

Up to 2.0 every commit carries its own time of expiry, and the sweep does not look at the group: a partition that
gets no new commit for the retention time loses its offset although it is being consumed. Since 2.1 the kind of group
decides. An offset of a topic that a member subscribes to does not expire. The offsets of a classic group that has no
members count from when it became Empty, all at once; those of a group of a newer protocol (KIP-848, streams) or of a
standalone consumer, and those of a topic that no member subscribes to, each from its last commit. So a KIP-848 group
that runs for weeks keeps an old commit, and loses it with the first sweep after its last member has left.
"""

from __future__ import annotations

from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.offsets.groups import CLASSIC, SHARE, Committed, Group
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least


def is_expired(
    group: Group,
    committed: Committed,
    now_ms: int,
    retention_ms: int,
    release: str = DEFAULT_RELEASE,
    is_pending: bool = False,
) -> bool:
    """Whether the sweep removes an offset at a time.

    Parameters
    ----------
    group : Group
        Who committed it, in the state it is in.
    committed : Committed
        The offset.
    now_ms, retention_ms : int
        The clock, and ``offsets.retention.minutes`` in milliseconds.
    release : str
        Of the broker.
    is_pending : bool
        Another commit for the partition has begun: up to 3.9 one that is in flight, since 4.0 one in a transaction
        that has not ended.

    Examples
    --------
    >>> group = Group("billing", state=EMPTY, protocol_type="consumer", state_ms=1_000_000)
    >>> committed = Committed("orders", 0, 7, commit_ms=700_000)
    >>> [is_expired(group, committed, now_ms, retention_ms=1000) for now_ms in (1_000_999, 1_001_000)]
    [False, True]
    >>> is_expired(Group("billing", "consumer"), committed, 701_000, retention_ms=1000)  # KIP-848: from the commit
    True

    References
    ----------
    Apache Kafka, ``GroupMetadata.removeExpiredOffsets`` (0.10.1 to 3.9); since 4.0
    ``OffsetMetadataManager.cleanupExpiredOffsets`` with ``OffsetExpirationConditionImpl``, and
    ``offsetExpirationCondition`` of ``ClassicGroup``, ``ConsumerGroup`` and ``StreamsGroup``.
    """
    at_ms = None if is_pending else expires_ms(group, committed, retention_ms, release)
    return at_ms is not None and now_ms >= at_ms


def expires_ms(group: Group, committed: Committed, retention_ms: int, release: str = DEFAULT_RELEASE) -> int | None:
    """The first moment at which the sweep removes an offset, if the group stays as it is; None: never.

    Arguments are those of `is_expired`.

    >>> group = Group("billing", state=EMPTY, protocol_type="consumer", state_ms=1_000_000)
    >>> expires_ms(group, Committed("orders", 0, 7, commit_ms=700_000), retention_ms=1000)
    1001000
    """
    if not at_least("2.1", release):
        expire_ms = committed.commit_ms + retention_ms if committed.expire_ms is None else committed.expire_ms
        return expire_ms + 1
    base_ms = _base_ms(group, committed, release)
    if base_ms is None:
        return None
    return base_ms + retention_ms if committed.expire_ms is None else committed.expire_ms


def _base_ms(group: Group, committed: Committed, release: str) -> int | None:
    """What the retention counts from since 2.1; None: it does not count."""
    if group.kind == SHARE:
        return None  # it commits nothing
    if group.kind != CLASSIC:
        return None if is_subscribed(group, committed.topic) else committed.commit_ms
    if not group.protocol_type:
        return committed.commit_ms
    if group.state == EMPTY:
        return committed.commit_ms if group.state_ms is None else group.state_ms
    knows_subscriptions = group.protocol_type == "consumer" and at_least("2.4", release)
    in_right_state = group.state == STABLE or not _only_when_stable(release)
    if knows_subscriptions and in_right_state and not is_subscribed(group, committed.topic):
        return committed.commit_ms
    return None


def is_subscribed(group: Group, topic: str) -> bool:
    """Whether a member subscribes to the topic, or may: where one subscription cannot be read, all are taken to."""
    return any(member.subscribed is None or topic in member.subscribed for member in group.members)


def _only_when_stable(release: str) -> bool:
    """Whether offsets of a group with members expire in state Stable only: not in 2.4 to 2.8.1, 3.0.0 and 3.1.0."""
    fixed_in = next(
        fixed for line, fixed in (("3.2", "3.2"), ("3.1", "3.1.1"), ("3.0", "3.0.1"), ("0.8.2", "2.8.2"))
        if at_least(line, release)
    )  # fmt: skip
    return at_least(fixed_in, release)
