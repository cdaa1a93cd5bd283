"""Share groups as one look shows them: members and states that a tool has printed, states among a broker's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.share_state_log import ShareState, replay
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.records import decode_key, decode_value
from kafkalearn.offsets.replay import Pair

STATE_METADATA = 15  # the type of the record that names the topics of a share group by their ids


@dataclass(frozen=True, slots=True)
class DescribedShare:
    """What the forms without offsets say: of ``kafka-share-groups --describe`` with ``--members`` and ``--state``."""

    members: Mapping[tuple[str, TopicPartition], tuple[str, ...]] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()  # whose members were printed
    states: Mapping[str, str] = field(default_factory=dict)  # of groups whose state was printed

    def owner(self, group: str, at: TopicPartition) -> str | None:
        """Who has a partition, as text; None: nobody, or it was not printed."""
        return " and ".join(self.members.get((group, at), ())) or None

    def knows_members(self, group: str) -> bool:
        """Whether the text says who has the partitions of a group."""
        return group in self.groups or self.states.get(group) in ("Empty", "Dead")


_MEMBERS, _STATES = ("GROUP", "CONSUMER-ID", "ASSIGNMENT"), ("GROUP", "COORDINATOR", "STATE")
"""What the lines of names have."""


def described_share(text: str) -> DescribedShare:
    """The members and states of share groups in a pasted text; nothing, where it has no such table.

    A member's assignment is ``orders:0,2;clicks:1`` here, and ``orders(0,2)`` in what ``kafka-consumer-groups`` prints.

    >>> found = described_share('''GROUP   CONSUMER-ID HOST       CLIENT-ID #PARTITIONS ASSIGNMENT
    ... workers m1          /10.0.0.7  app       3           jobs:0,1;mail:0
    ...
    ... GROUP   COORDINATOR (ID)  STATE #MEMBERS
    ... idle    kafka-1:9092 (1)  Empty 0''')
    >>> found.owner("workers", TopicPartition("jobs", 1)), found.states
    ('m1', {'idle': 'Empty'})

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``ShareGroupCommand`` (``printMembers``, ``printStates``).
    """
    members: dict[tuple[str, TopicPartition], tuple[str, ...]] = {}
    groups: set[str] = set()
    states: dict[str, str] = {}
    table: tuple[str, ...] | None = None
    for line in text.splitlines():
        if table is None and "GROUP" not in line:
            continue
        words = line.split()
        if words[:1] == ["GROUP"]:
            table = next((each for each in (_MEMBERS, _STATES) if {*each} <= {*words}), None)
        elif table is _MEMBERS and (row := _member(words)) is not None:
            group, member, places = row
            groups.add(group)
            for at in places:
                members[group, at] = (*members.get((group, at), ()), member)
        elif table is _STATES and (state := _state(words)) is not None:
            states[state[0]] = state[1]
    return DescribedShare(members, frozenset(groups), states)


def _member(words: list[str]) -> tuple[str, str, list[TopicPartition]] | None:
    """Group, member and partitions in a row; before the host, which begins with a slash, stands the member's id."""
    host = next((at for at, word in enumerate(words) if at >= 2 and word.startswith("/")), None)
    if host is None or host + 2 >= len(words):
        return None
    places = _places(words[-1])
    return None if places is None else (" ".join(words[: host - 1]), words[host - 1], places)


def _state(words: list[str]) -> tuple[str, str] | None:
    """Group and state in a row; before the state stands the coordinator, an address and its id in brackets."""
    at = next((at for at, word in enumerate(words) if at >= 2 and word[:1] == "(" and word[-1:] == ")"), None)
    if at is None or at + 1 >= len(words) or ":" not in words[at - 1] or not words[at + 1].isalpha():
        return None
    return " ".join(words[: at - 1]), words[at + 1]


def _places(assignment: str) -> list[TopicPartition] | None:
    """``orders:0,2;clicks:1`` as partitions; None: it is none."""
    if assignment == "-":
        return []
    found = []
    for part in assignment.split(";"):
        topic, _, numbers = part.rpartition(":")
        if not topic or not all(each.isdecimal() for each in numbers.split(",")):
            return None
        found += [TopicPartition(topic, int(each)) for each in numbers.split(",")]
    return found


# What stands in a broker's files.


def share_topic_names(pairs: Iterable[Pair]) -> dict[str, str]:
    """The names of share groups' topics by their ids, as records of the offsets topic have them."""
    names: dict[str, str] = {}
    for key, value in pairs:
        if key is None or value is None or int.from_bytes(key[:2], "big") != STATE_METADATA:
            continue
        try:
            decode_key(key)
            fields: dict[str, Any] = decode_value(STATE_METADATA, value)[1]
        except Undecodable:
            continue
        for part in ("initializingTopics", "initializedTopics", "deletingTopics"):
            names |= {each["topicId"]: each["topicName"] for each in fields[part]}
    return names


def share_states(
    pairs: Iterable[Pair], names: Mapping[str, str]
) -> tuple[list[tuple[ShareState, TopicPartition]], tuple[str, ...]]:
    """The states of share-partitions among records of ``__share_group_state``, each with its place, and the problems.

    A topic whose name is not known is called by its id.
    """
    replayed = replay(pairs)
    return [
        (each, TopicPartition(names.get(whose.topic_id, whose.topic_id), whose.partition))
        for each in replayed.states
        for whose in (each.share_partition,)
    ], replayed.problems
