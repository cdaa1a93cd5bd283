"""``--describe --members``: who is in a group and what each member has, in the columns of each release."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafkalearn.arguments import flag
from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import utf16_key
from kafkalearn.offsets.groups import CLASSIC, Group, Member
from kafkalearn.operations.groups.columns import MISSING, NEW_TEXTS, is_3_9, is_known, line, unknown_group, widest
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

SHORTEST, SHORTEST_INSTANCE_ID, SHORTEST_ASSIGNMENT = 15, 17, 20
EPOCHS = ("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT")


def describe_members(group: Group, release: str | Release = DEFAULT_RELEASE, *, is_verbose: bool = False) -> str:
    """What ``--members`` prints on standard output, with ``--verbose`` what each member is assigned.

    Parameters
    ----------
    group : Group
        Members in the order in which the broker has them.
    release : str or Release
        Of the tool, at least 1.1.
    is_verbose : bool
        ``--verbose``. Since 4.0 with epochs and target, which members of the classic protocol do not have.

    Examples
    --------
    >>> from kafkalearn.offsets.groups import Member
    >>> orders = tuple(TopicPartition("orders", number) for number in (10, 9))
    >>> group = Group("billing", state="Stable", members=(Member("c1-3f", "c1", "/10.0.0.7", assigned=orders),))
    >>> describe_members(group, "2.2", is_verbose=True).splitlines()[2].split()
    ['c1-3f', '/10.0.0.7', 'c1', '2', 'orders(9,10)']
    >>> describe_members(group, is_verbose=True).splitlines()[2].split()
    ['billing', 'c1-3f', '/10.0.0.7', 'c1', '2', '-', 'orders:9,10', '-', '-']

    References
    ----------
    Apache Kafka 1.1 to 4.3, ``ConsumerGroupCommand.printMembers``. Left out: the column ``UPGRADED`` of a group whose
    members are of both protocols.
    """
    if not at_least("1.1", release):
        raise KafkaLearnError(f"--members is known since 1.1, got release {release!s}")
    if not is_known(group, release):
        only_header = describe_members(Group(group.group_id), release, is_verbose=is_verbose)
        is_odd = is_3_9(release)  # an error, and the header all the same
        return unknown_group(group.group_id, release) + (only_header if is_odd else "")
    if not group.members and not at_least("3.9", release):
        return ""
    columns = _columns(group, release)
    widths = [widest(least, [cell_of(group, each) for each in group.members]) for _, least, cell_of in columns]
    lines = [[name for name, _, _ in columns]]
    lines += [[cell_of(group, each) for _, _, cell_of in columns] for each in group.members]
    fixed = [f"{line(cells, widths)} " for cells in lines]
    ends = _assignments(group, release) if flag("is_verbose", is_verbose) else [""] * len(lines)
    return "\n" + "".join(f"{begin}{end}\n" for begin, end in zip(fixed, ends, strict=True))


def _columns(group: Group, release: str | Release) -> list[tuple[str, int, Callable[[Group, Member], object]]]:
    """Name, least width and cell of each column before the assignment."""
    has_instance_ids = at_least("2.6", release) and any(each.instance_id for each in group.members)
    instance_id = ("GROUP-INSTANCE-ID", SHORTEST_INSTANCE_ID, lambda _, member: member.instance_id or "")
    return [
        *[("GROUP", SHORTEST, lambda group, _: group.group_id)] * at_least("2.3", release),
        ("CONSUMER-ID", SHORTEST, lambda _, member: member.member_id),
        *[instance_id] * has_instance_ids,
        ("HOST", SHORTEST, lambda _, member: member.client_host),
        ("CLIENT-ID", SHORTEST, lambda _, member: member.client_id),
        ("#PARTITIONS", SHORTEST, lambda _, member: len(member.assigned)),
    ]


def _assignments(group: Group, release: str | Release) -> list[str]:
    if not at_least("4.0", release):
        return ["ASSIGNMENT", *(_in_brackets(each.assigned, release) for each in group.members)]
    rows = [_epochs(group, each, release) for each in group.members]
    current, target = (widest(SHORTEST_ASSIGNMENT, [row[place] for row in rows]) for place in (1, 3))
    return [line(row, (SHORTEST, current, SHORTEST, target)) for row in (EPOCHS, *rows)]


def _epochs(group: Group, member: Member, release: str | Release) -> tuple[object, str, object, str]:
    current = _with_colons(member.assigned, release)
    if group.kind == CLASSIC:
        return None, current, None, MISSING
    return member.epoch, current, group.target_epoch, _with_colons(member.target or (), release)


def _by_topic(assigned: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, partition in sorted(assigned):
        found.setdefault(topic, []).append(partition)
    return found


def _with_colons(assigned: Iterable[TopicPartition], release: str | Release) -> str:
    """4.0 sorts numbers as text: 10 comes before 6."""
    key = int if at_least(NEW_TEXTS, release) else str
    texts = [f"{topic}:{','.join(map(str, sorted(ids, key=key)))}" for topic, ids in _by_topic(assigned).items()]
    return ";".join(sorted(texts, key=utf16_key)) or MISSING


def _in_brackets(assigned: Iterable[TopicPartition], release: str | Release) -> str:
    """Up to 3.8 numbers in their order, with the topic; 3.9 sorts them as text, and forgets to name the topic."""
    if at_least("3.9", release):
        texts = [f"({','.join(sorted(map(str, numbers)))})" for numbers in _by_topic(assigned).values()]
    else:
        texts = [f"{topic}({','.join(map(str, numbers))})" for topic, numbers in _by_topic(assigned).items()]
    return ", ".join(sorted(texts, key=utf16_key)) or MISSING
