"""What always holds while a group reads a partition whose log may be cut, and what its users hope for.

>>> from kafkalearn.consuming.truncation import Assign, Commit, Poll, Settings, simulate
>>> from kafkalearn.replication import DeleteRecords, Produce, Settings as TopicSettings
>>> settings = Settings(TopicSettings(replica_count=1))
>>> events = [Produce(), Assign("A"), Poll(), Poll(), Produce(2), DeleteRecords(2), Poll(), Poll(), Poll()]
>>> broken(settings, simulate(settings, events)[-1].state)
('no record between two that were given is left out',)
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType

from kafkalearn.consuming.truncation.settings import Settings
from kafkalearn.consuming.truncation.state import GroupRead, Reading
from kafkalearn.promises import Predicate, Since, judges

ONE_OWNER = "the partition belongs to at most one consumer"
GOES_ON = "what a group has read stays read"

NONE_AGAIN = "no record that the group has committed is given to it again"
NONE_SKIPPED = "no record between two that were given is left out"
NONE_UNNOTICED = "no position is beyond the log that its consumer reads"


def _has_one_owner(settings: Settings, group: GroupRead) -> bool:
    return sum(each.position is not None for each in group.consumers) <= 1


def _only_grows(settings: Settings, before: GroupRead, group: GroupRead) -> bool:
    return group.readings[: len(before.readings)] == before.readings


def _none_again(settings: Settings, group: GroupRead) -> bool:
    values = [reading.value for reading in group.readings]
    return not any(
        reading.was_committed and reading.value in values[:place] for place, reading in enumerate(group.readings)
    )


def _none_skipped(settings: Settings, group: GroupRead) -> bool:
    return all(_follows(before, after) for before, after in pairwise(group.readings))


def _follows(before: Reading, after: Reading) -> bool:
    return after.offset <= before.offset + 1


def _none_unnoticed(settings: Settings, group: GroupRead) -> bool:
    owner, leader = group.owner, group.partition.leader
    if owner is None or leader is None or owner.doing != "fetching" or not owner.knows_leader:
        return True
    if owner.leader != group.partition.controller.leader or owner.leader_epoch != leader.broker.leader_epoch:
        return True  # it will hear that from the broker it asks
    return owner.own_position.offset <= leader.log_end_offset


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {ONE_OWNER: _has_one_owner, GOES_ON: Since(_only_grows)}
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {NONE_AGAIN: _none_again, NONE_SKIPPED: _none_skipped, NONE_UNNOTICED: _none_unnoticed}
)
"""What a user hopes for. What was read and not committed may always come again; a reset brings the rest too."""

check, broken = judges(INVARIANTS, PROMISES)
