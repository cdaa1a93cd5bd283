"""Delayed operations: those that brokers really have or had, each with its keys and its condition.

==============  ======================  ===========================================  =======================
kind            watches                 done when                                    when its time is over
==============  ======================  ===========================================  =======================
produce         its partitions          all high watermarks have passed the records  REQUEST_TIMED_OUT
fetch           its partitions          enough bytes are readable in all             answered with what is there
delete records  its partitions          all low watermarks have reached the offsets  REQUEST_TIMED_OUT
join            the group               all known members have rejoined              the missing are dropped
initial join    the group               never by an event                            the first generation begins
heartbeat       group and member        any sign of life (by force)                  the member is removed
==============  ======================  ===========================================  =======================

The last three are the Scala group coordinator's, with its purgatories ``Rebalance`` and ``Heartbeat``: the default up
to 3.9, still in the jar of 4.0, gone in 4.1. The coordinator that is the default since 4.0 has no purgatory: there
they are timers of its event loop, in the same kind of timing wheels (`kafkalearn.purgatory.wheel`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkalearn.arguments import mapping, one_of, text, whole_number
from kafkalearn.fields import Checked
from kafkalearn.purgatory.operations.conditions import CaughtUp, Condition, Never, Reached, SumReached


@dataclass(frozen=True, slots=True)
class Operation(Checked):
    """A request that may have to wait."""

    name: str
    keys: tuple[str, ...]  # what it watches, such as "orders-0" or "billing c1"
    condition: Condition
    timeout_ms: int
    kind: str = ""  # "produce", "fetch", "delete records", "join", "heartbeat": for the reader


def delayed_produce(name: str, last_offsets: Mapping[str, int], timeout_ms: int = 30_000) -> Operation:
    """A produce request with acks=all: waits until every partition's high watermark is past its last record.

    Parameters
    ----------
    last_offsets : mapping
        Partition -> offset of the last record written there, as ``{"orders-0": 7}``.
    timeout_ms : int
        The producer's ``request.timeout.ms``.

    Examples
    --------
    >>> str(delayed_produce("p1", {"orders-0": 7}).condition)
    'HW orders-0 >= 8'

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedProduce``.
    """
    offsets = _numbers("last_offsets", last_offsets)
    required = tuple((f"HW {partition}", offset + 1) for partition, offset in offsets.items())
    return Operation(name, tuple(last_offsets), Reached(required), timeout_ms, "produce")


def delayed_fetch(
    name: str, start_bytes: Mapping[str, int], min_bytes: int = 1, max_wait_ms: int = 500, up_to: str = "HW"
) -> Operation:
    """A fetch that found too little: waits until its partitions have `min_bytes` more to read, together.

    Parameters
    ----------
    start_bytes : mapping
        Partition -> bytes of its log before the offset that the fetch starts from.
    min_bytes, max_wait_ms : int
        ``fetch.min.bytes`` and ``fetch.max.wait.ms``; a follower's are 1 and 500 as well.
    up_to : str
        ``"HW"`` for a consumer, who may read what is committed; ``"LEO"`` for a follower, who reads everything.

    Examples
    --------
    >>> str(delayed_fetch("c1", {"orders-0": 0}, min_bytes=250).condition)
    'HW bytes orders-0 >= 250'

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedFetch``.
    """
    one_of("end of what may be read", up_to, ("HW", "LEO"))
    before = _numbers("start_bytes", start_bytes)
    counted = tuple((f"{up_to} bytes {partition}", count) for partition, count in before.items())
    return Operation(name, tuple(start_bytes), SumReached(counted, min_bytes), max_wait_ms, "fetch")


def _numbers(name: str, given: Mapping[str, int]) -> dict[str, int]:
    """By partition, what is given of it; each a whole number of at least 0."""
    numbers = mapping(name, given, of="partition to number")
    return {
        text("partition", each): whole_number(f"{name}[{each!r}]", number, at_least=0)
        for each, number in numbers.items()
    }


def delayed_delete_records(name: str, offsets: Mapping[str, int], timeout_ms: int = 30_000) -> Operation:
    """A DeleteRecords request: waits until all live replicas of every partition begin at the offset, or above it.

    Parameters
    ----------
    offsets : mapping
        Partition -> the offset below which records are deleted, as ``{"orders-0": 7}``.
    timeout_ms : int
        The administrator's timeout.

    Examples
    --------
    >>> str(delayed_delete_records("d1", {"orders-0": 7}).condition)
    'low watermark orders-0 >= 7'

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedDeleteRecords``, ``Partition.lowWatermarkIfLeader``; KIP-107.
    """
    numbers = _numbers("offsets", offsets)
    required = tuple((f"low watermark {partition}", offset) for partition, offset in numbers.items())
    return Operation(name, tuple(numbers), Reached(required), timeout_ms, "delete records")


def delayed_join(
    name: str, group: str, member_count: int | None = None, rebalance_timeout_ms: int = 300_000
) -> Operation:
    """A rebalance: waits until all members that the coordinator knows have sent JoinGroup again.

    Parameters
    ----------
    member_count : int, optional
        How many members the group has; without it, as many as the fact ``"members <group>"`` says at any time, since
        a member may be removed while the others wait for it.

    Examples
    --------
    >>> str(delayed_join("rebalance 5", "billing").condition)
    'rejoined billing >= members billing'
    >>> str(delayed_join("rebalance 5", "billing", 3).condition)
    'rejoined billing >= 3'

    References
    ----------
    Apache Kafka to 3.9, ``kafka.coordinator.group.DelayedJoin`` (in 4.0 not the default); a timer of the event loop
    since.
    """
    rejoined = f"rejoined {text('group', group)}"
    if member_count is None:
        return Operation(name, (group,), CaughtUp(rejoined, f"members {group}"), rebalance_timeout_ms, "join")
    needed = Reached(((rejoined, whole_number("member_count", member_count, at_least=0)),))
    return Operation(name, (group,), needed, rebalance_timeout_ms, "join")


def initial_delayed_join(name: str, group: str, initial_rebalance_delay_ms: int = 3000) -> Operation:
    """The first rebalance of an empty group: waits for members to come, and only time ends it.

    >>> str(initial_delayed_join("rebalance 1", "billing").condition)
    'no event'

    References
    ----------
    Apache Kafka to 3.9, ``kafka.coordinator.group.InitialDelayedJoin`` (in 4.0 not the default), KIP-134.
    """
    return Operation(name, (group,), Never(), initial_rebalance_delay_ms, "join")


def delayed_heartbeat(name: str, group: str, member: str, session_timeout_ms: int = 45_000) -> Operation:
    """The life of a member: each sign of life completes it by force, and parks the next; time removes the member.

    >>> delayed_heartbeat("c1 beat 1", "billing", "c1").keys
    ('billing c1',)

    References
    ----------
    Apache Kafka to 3.9, ``kafka.coordinator.group.DelayedHeartbeat`` (in 4.0 not the default); a timer of the event
    loop since.
    """
    watched = f"{text('group', group)} {text('member', member)}"
    return Operation(name, (watched,), Never(), session_timeout_ms, "heartbeat")
