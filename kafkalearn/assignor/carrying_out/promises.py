"""What holds in every rebalance, and what a user hopes for: an eager one keeps little of that."""

from __future__ import annotations

from kafkalearn.assignor.carrying_out.effects import StartedReading
from kafkalearn.assignor.carrying_out.settings import Settings
from kafkalearn.assignor.carrying_out.state import Group
from kafkalearn.promises import Since, judges


def _has_one_reader_each(settings: Settings, group: Group) -> bool:
    read = [partition for owned in group.reading.values() for partition in owned]
    return len(set(read)) == len(read)


def _is_unread_in_between(settings: Settings, before: Group, group: Group) -> bool:
    reader = before.reading.owners()
    return all(reader.get(each) in (None, member_id) for each, member_id in group.reading.owners().items())


def _reads_on(settings: Settings, before: Group, group: Group) -> bool:
    return not any(
        set(started.partitions) & set(before.assigned.get(started.member_id, ()))
        for started in group.effects
        if isinstance(started, StartedReading)
    )


INVARIANTS = {
    "no partition has two readers": _has_one_reader_each,
    "a partition that changes its reader is read by nobody in between": Since(_is_unread_in_between),
    "everybody reads what it was assigned, or nothing": lambda settings, group: all(
        owned in ((), group.assigned.get(member_id)) for member_id, owned in group.reading.items()
    ),
    "only members of the group read": lambda settings, group: (
        set(group.reading) == {member.member_id for member in group.members}
    ),
}

PROMISES = {
    "every partition is read": lambda settings, group: not group.unread,
    "the group never stops as a whole": lambda settings, group: not group.has_stopped,
    "nobody stops reading what it keeps": Since(_reads_on),
}

check, broken = judges(INVARIANTS, PROMISES)
