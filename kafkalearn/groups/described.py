"""What a tool shows of a group: the answer to the request that it asks with, by the group's type.

There are two requests. *DescribeGroups* is the old one and knows classic groups; *ConsumerGroupDescribe* came with
KIP-848 and knows groups of the new protocol. A group has one type at a time, and is of the new one as soon as one
member is, whatever the others speak. Who asks with the wrong request gets an answer, too: up to version 5 of
DescribeGroups it is state *Dead*, without an error and without members, as of a group that was never there.

So a dashboard that knows the old request alone shows a group that reads as dead. The Java client's
``Admin.describeConsumerGroups``, and ``kafka-consumer-groups`` with it, asks with the new request first, and with the
old one where that is refused; so do they in 3.9 and later.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.base.checks import one_of, whole_number
from kafkalearn.groups.defaults import STABLE

CLASSIC, CONSUMER = "classic", "consumer"
DESCRIBE_GROUPS, CONSUMER_GROUP_DESCRIBE = "DescribeGroups", "ConsumerGroupDescribe"
NOT_FOUND = "GROUP_ID_NOT_FOUND"
DEAD = "Dead"
SAYS_NOT_FOUND_SINCE = 6  # version of DescribeGroups, since Kafka 4.0 (KIP-1043)


@dataclass(frozen=True, slots=True)
class Described:
    """What an answer says of a group."""

    state: str
    error: str = "NONE"
    has_members: bool = True


def described(group_type: str | None, request: str, version: int = 0, *, state: str = STABLE) -> Described:
    """The answer about a group.

    Parameters
    ----------
    group_type : str or None
        ``"classic"``, ``"consumer"`` (all groups with at least one member of the new protocol), or None: there is none.
    request : str
        ``"DescribeGroups"`` or ``"ConsumerGroupDescribe"``.
    version : int
        Of the request.
    state : str
        The group's own.

    Examples
    --------
    >>> described("consumer", "DescribeGroups", 5)
    Described(state='Dead', error='NONE', has_members=False)
    >>> described("consumer", "DescribeGroups", 6).error, described("consumer", "ConsumerGroupDescribe").state
    ('GROUP_ID_NOT_FOUND', 'Stable')

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.describeGroups``, ``consumerGroupDescribe``; KIP-848, KIP-1043.
    """
    if group_type is not None:
        one_of("group_type", group_type, (CLASSIC, CONSUMER))
    one_of("request", request, (DESCRIBE_GROUPS, CONSUMER_GROUP_DESCRIBE))
    whole_number("version", version, at_least=0, at_most=6 if request == DESCRIBE_GROUPS else 1)
    if group_type == (CLASSIC if request == DESCRIBE_GROUPS else CONSUMER):
        return Described(state)
    says_so = request == CONSUMER_GROUP_DESCRIBE or version >= SAYS_NOT_FOUND_SINCE
    return Described(DEAD, NOT_FOUND if says_so else "NONE", has_members=False)


def shown_by_admin(group_type: str | None, *, state: str = STABLE) -> Described:
    """What Kafka's own tools of 3.9 and later show: they ask with the new request, and with the old one if refused.

    >>> [shown_by_admin(each).state for each in ("classic", "consumer")]
    ['Stable', 'Stable']
    """
    answer = described(group_type, CONSUMER_GROUP_DESCRIBE, state=state)
    return answer if answer.error == "NONE" else described(group_type, DESCRIBE_GROUPS, 6, state=state)
