"""Which groups ``kafka-consumer-groups --list`` prints, in which order and with which columns, by release.

The tool asks every broker for the groups that it coordinates. The answer has groups of all kinds: those of Kafka
Connect, for example, have another protocol type and are left out. The names are walked as Java walks a HashMap, so
their order follows from the names; before 2.1 they came as the brokers answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.arguments import flag, iterable
from kafkalearn.consuming.state import Topic
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked
from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.java_collections import hash_order
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

CONSUMER_PROTOCOL = "consumer"
ONLY_OFFSETS = ""  # the protocol type of a group without members ever: somebody has committed under its name
_SHORTEST_COLUMN, _MORE_SINCE_3_8, _OTHER_COLUMNS_SINCE_3_8 = 15, 10, 20


@dataclass(frozen=True, slots=True)
class ListedGroup(Checked):
    """A group as a broker lists it (ListGroups)."""

    group_id: str
    type: str = "classic"  # or "consumer" (KIP-848); empty: the broker is too old to say
    state: str = STABLE
    protocol_type: str = CONSUMER_PROTOCOL  # "connect", ...; empty: it has only committed offsets


def listed(topic: Topic) -> tuple[ListedGroup, ...]:
    """The groups of a simulated topic as their broker lists them.

    >>> from kafkalearn.consuming import Join, Settings, simulate
    >>> listed(simulate(Settings(partition_count=2), [Join("billing", "b0")])[-1].state)
    (ListedGroup(group_id='billing', type='classic', state='Stable', protocol_type='consumer'),)
    """
    return tuple(ListedGroup(each.group_id, state=STABLE if each.member_ids else EMPTY) for each in topic.groups)


def list_groups(
    groups: Iterable[ListedGroup],
    release: str | Release = DEFAULT_RELEASE,
    *,
    has_state: bool = False,
    has_type: bool = False,
) -> str:
    """What ``kafka-consumer-groups --list`` prints on standard output.

    Parameters
    ----------
    groups : iterable of ListedGroup
        Every group of the cluster, in the order in which the brokers answered.
    release : str or Release
        Of the tool, at least 0.9 (before, it listed what ZooKeeper had).
    has_state, has_type : bool
        Whether ``--state`` (since 2.6) and ``--type`` (since 3.8) were given, without a value.

    Returns
    -------
    str
        One line a group, each with its line break; with a state or a type, a line with the columns' names first.

    Raises
    ------
    KafkaLearnError
        If the release did not know an option, or what is given are no groups.

    Examples
    --------
    >>> groups = [ListedGroup("billing"), ListedGroup("audit", state="Empty")]
    >>> groups += [ListedGroup("etl", protocol_type="connect")]
    >>> print(list_groups(groups), end="")
    audit
    billing
    >>> print(list_groups(groups, "3.7", has_state=True), end="")
    GROUP           STATE
    audit           Empty
    billing         Stable

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``ConsumerGroupCommand.listGroups``; ``AdminClient`` (to 2.0), since then
    ``KafkaAdminClient.listConsumerGroups``.
    """
    for name, given, since in (("has_state", has_state, "2.6"), ("has_type", has_type, "3.8")):
        if flag(name, given) and not at_least(since, release):
            option = name.replace("has_", "--")
            raise KafkaLearnError(f"--list knows {option} since {since}, got release {release!s}")
    rows = [_cells(each) for each in _in_printed_order(groups, release)]
    if not has_state and not has_type:
        return "".join(f"{row['GROUP']}\n" for row in rows)
    columns = ["GROUP", *["TYPE"] * has_type, *["STATE"] * has_state]
    lines = [dict(zip(columns, columns, strict=True)), *rows]
    longest = max(_SHORTEST_COLUMN, *(len(row["GROUP"]) for row in lines))
    if not at_least("3.8", release):
        return "".join(f"{row['GROUP']:<{longest}} {row['STATE']}\n" for row in lines)
    wide = {"GROUP": longest + _MORE_SINCE_3_8}
    return "".join(
        " ".join(row[name].ljust(wide.get(name, _OTHER_COLUMNS_SINCE_3_8)) for name in columns) + "\n" for row in lines
    )


def _in_printed_order(groups: object, release: str | Release) -> list[ListedGroup]:
    """The groups of consumers; of two with one name the one that came later."""
    if not at_least("0.9.0", release):
        raise KafkaLearnError(f"what --list printed of groups in Kafka is modelled since 0.9, got release {release!s}")
    kinds = (CONSUMER_PROTOCOL, ONLY_OFFSETS) if at_least("1.0", release) else (CONSUMER_PROTOCOL,)
    found: dict[str, ListedGroup] = {}
    for each in iterable("groups", groups, of="ListedGroup"):
        if not isinstance(each, ListedGroup):
            raise KafkaLearnError(f"groups must be ListedGroup(...), one for each group; got {type(each).__name__}")
        if each.protocol_type in kinds:
            found[each.group_id] = each
    return [found[group_id] for group_id in (hash_order(found) if at_least("2.1", release) else found)]


def _cells(group: ListedGroup) -> dict[str, str]:
    return {"GROUP": group.group_id, "TYPE": group.type.capitalize() or "Unknown", "STATE": group.state or "Unknown"}
