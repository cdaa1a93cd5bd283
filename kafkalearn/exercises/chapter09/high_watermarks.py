"""The rule of the high watermark as the exercise asks for it, its cases, and the ways people get it wrong."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from kafkalearn.replication.leader.in_sync import high_watermark_of
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import Leadership, Log, Proposal, Remote

Isr = tuple[int, ...]

HIGH_WATERMARK_CASES: tuple[tuple[int, int, Isr, Isr | None, Isr, dict[int, int]], ...] = (
    (0, 0, (1,), None, (), {}),
    (5, 0, (1,), None, (), {}),
    (5, 0, (1, 2), None, (2,), {2: 5}),
    (5, 0, (1, 2), None, (2,), {2: 3}),
    (5, 0, (1, 2), None, (), {2: -1}),
    (5, 4, (1, 2), None, (2,), {2: 3}),
    (5, 2, (1, 2, 3), None, (2, 3), {2: 5, 3: -1}),
    (10, 4, (1, 2, 3), None, (2, 3), {2: 8, 3: 6}),
    (10, 4, (1, 2, 3), None, (2,), {2: 10, 3: 5}),
    (10, 4, (1, 2), None, (2,), {2: 9, 3: 1}),
    (10, 4, (1, 2), None, (2,), {2: 9, 3: -1}),
    (10, 4, (1, 2), None, (2, 3), {2: 9, 3: 8}),
    (10, 6, (1, 2), (1, 2, 3), (2, 3), {2: 9, 3: 7}),
    (10, 6, (1, 2), (1, 2, 3), (2,), {2: 9, 3: 7}),
    (10, 6, (1, 2, 3), (1, 2), (2,), {2: 9, 3: 6}),
    (10, 6, (1, 2, 3), (1, 2), (2, 3), {2: 9, 3: 8}),
    (14, 7, (1, 2, 3), None, (2, 3), {2: 14, 3: 7}),
    (20, 3, (1, 2, 3, 4), None, (2, 3, 4), {2: 20, 3: 20, 4: 9}),
)
"""Arguments, the smallest first."""


def high_watermark(
    leader_end: int, high_watermark: int, isr: Isr, asked: Isr | None, caught_up: Isr, remote_ends: dict[int, int]
) -> int:
    """The leader's high watermark by the rules of Kafka 4.3, broker 1 being the leader.

    >>> high_watermark(10, 6, (1, 2), (1, 2, 3), (), {2: 9, 3: 7})
    7
    """
    count = max([1, *remote_ends])
    remotes = tuple(
        Remote(remote_ends[broker_id], last_caught_up_ms=0 if broker_id in caught_up else None)
        if broker_id in remote_ends
        else None
        for broker_id in range(1, count + 1)
    )
    leading = Leadership(0, isr, 0, None if asked is None else Proposal(asked))
    log = Log(first_offset=leader_end, high_watermark=high_watermark)
    return high_watermark_of(Settings(count), 0, lambda broker_id: True, log, leading, remotes)


def _smallest(counts: set[int], leader_end: int, remote_ends: dict[int, int]) -> int:
    return min([leader_end, *(end for broker, end in remote_ends.items() if broker in counts)])


def _all_replicas(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest(set(remote_ends), leader_end, remote_ends))


def _majority(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    ends = sorted([leader_end, *remote_ends.values()], reverse=True)
    return max(high_watermark, ends[len(ends) // 2])


def _isr_alone(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest(set(isr), leader_end, remote_ends))


def _without_the_asked(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest({*isr, *caught_up}, leader_end, remote_ends))


def _asked_instead(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(high_watermark, _smallest({*(asked or isr)}, leader_end, remote_ends))


def _may_fall(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    return max(0, _smallest({*isr, *(asked or ()), *caught_up}, leader_end, remote_ends))


def _skips_the_unknown(leader_end, high_watermark, isr, asked, caught_up, remote_ends):
    known = {broker: end for broker, end in remote_ends.items() if end >= 0}
    return max(high_watermark, _smallest({*isr, *(asked or ()), *caught_up}, leader_end, known))


wrong_by_name: MappingProxyType[str, Callable[..., int]] = MappingProxyType(
    {
        "all replicas": _all_replicas,
        "majority": _majority,
        "ISR alone": _isr_alone,
        "without the asked": _without_the_asked,
        "asked instead": _asked_instead,
        "may fall": _may_fall,
        "skips the unknown": _skips_the_unknown,
    }
)
"""What students answer, by the mistake."""
