"""The assignors by name, and `assign`, which asks one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.legacy import assign_legacy_range, assign_legacy_round_robin
from kafkalearn.assignor.members import Member, OldConsumer
from kafkalearn.assignor.range import assign_range, assign_server_range
from kafkalearn.assignor.round_robin import assign_round_robin
from kafkalearn.assignor.sticky.assignors import assign_cooperative_sticky, assign_sticky
from kafkalearn.assignor.uniform.homogeneous import assign_uniform
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least, parse_release, release_line


@dataclass(frozen=True, slots=True)
class Assignor:
    """What there is to know about an assignor before it is asked."""

    rule: Callable[[GroupSpec], Assignment]
    runs_in: str  # "leader": the client that leads the group; "broker"; "every consumer"
    since: str  # the first release whose rules these are
    until: str  # the last release line that has it
    balance: str  # what it promises: a name in kafkalearn.assignor.judging.laws.PROMISES


ASSIGNORS: MappingProxyType[str, Assignor] = MappingProxyType(
    {
        "range": Assignor(assign_range, "leader", "0.9.0", DEFAULT_RELEASE, "each topic"),
        "roundrobin": Assignor(assign_round_robin, "leader", "0.9.0", DEFAULT_RELEASE, "if alike"),
        "sticky": Assignor(assign_sticky, "leader", "3.8", DEFAULT_RELEASE, "group"),
        "cooperative-sticky": Assignor(assign_cooperative_sticky, "leader", "3.8", DEFAULT_RELEASE, "group"),
        "uniform": Assignor(assign_uniform, "broker", "4.0", DEFAULT_RELEASE, "group"),
        "server-range": Assignor(assign_server_range, "broker", "4.0", DEFAULT_RELEASE, "each topic"),
        "legacy-range": Assignor(assign_legacy_range, "every consumer", "0.8.2", "1.1", "each topic"),
        "legacy-roundrobin": Assignor(assign_legacy_round_robin, "every consumer", "0.8.2", "1.1", "if alike"),
    }
)
"""The assignors by name. The first four are what clients name in ``partition.assignment.strategy``; ``uniform``
and ``range`` (here ``server-range``) what they name in ``group.remote.assignor`` (KIP-848); the last two are those
of the consumer before the coordinator, whose setting called them ``range`` and ``roundrobin`` as well."""


def assign(
    assignor: str,
    partition_counts: Mapping[str, int],
    members: Sequence[Member] | Sequence[OldConsumer],
    *,
    release: str | Release | None = None,
    topic_ids: Mapping[str, str] | None = None,
    mended: bool = False,
) -> Assignment:
    """Who gets which partition: Kafka's own answer, in the order of Kafka's own lists.

    Parameters
    ----------
    assignor : str
        A name in `ASSIGNORS`.
    partition_counts : mapping of str to int
        The partitions of each topic. A topic that is subscribed but not here, or has none, is passed over.
    members : sequence of Member; of OldConsumer for the legacy assignors
        In the order in which the coordinator lists them; where two ids share a bucket of a map, it shows.
    release : str or Release
        Of the code that assigns; without one the newest that has the assignor. It matters for ``uniform`` (another
        rule up to 4.0.0), static members (not told apart up to 2.3) and the legacy round robin.
    topic_ids : mapping of str to str, optional
        The topics' ids as Kafka prints them. ``uniform`` walks topics by id; without ids it is as if they had
        ids that are walked in the order of `partition_counts`.
    mended : bool
        True leaves out the known defects of Kafka's sticky assignors; see `kafkalearn.assignor.sticky.general`.

    Returns
    -------
    Assignment
        A mapping of each member (or thread) to its topic-partitions. A group without members gets an empty one.

    Raises
    ------
    KafkaLearnError
        If the assignor is unknown (the nearest names are given), the release did not have it, or no coordinator
        could put such a group together (it says why).

    Examples
    --------
    >>> shop = {"orders": 4, "clicks": 3}
    >>> members = [Member("C0", ["orders", "clicks"]), Member("C1", ["orders", "clicks"])]
    >>> for assignor in ("range", "roundrobin", "sticky", "uniform"):
    ...     print(assignor, assign(assignor, shop, members).counts())
    range {'C0': 4, 'C1': 3}
    roundrobin {'C0': 4, 'C1': 3}
    sticky {'C0': 4, 'C1': 3}
    uniform {'C0': 3, 'C1': 4}
    >>> assign("stiky", shop, members)
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: unknown assignor 'stiky'; did you mean 'sticky'? Known: 'range', \
'roundrobin', 'sticky', 'cooperative-sticky', 'uniform', 'server-range', 'legacy-range', 'legacy-roundrobin'

    References
    ----------
    Apache Kafka, ``ConsumerPartitionAssignor`` and (KIP-848) ``ConsumerGroupPartitionAssignor``.
    """
    if assignor not in ASSIGNORS:
        raise unknown_name("assignor", assignor, ASSIGNORS)
    chosen = ASSIGNORS[assignor]
    release = chosen.until if release is None else release
    if not at_least(chosen.since, release) or parse_release(release_line(release)) > parse_release(chosen.until):
        raise KafkaLearnError(
            f"{assignor} is modelled as it is from Kafka {chosen.since} to {chosen.until}, got release {release!s}"
        )
    spec = GroupSpec(partition_counts, members, release, topic_ids, mended)
    needed = OldConsumer if chosen.runs_in == "every consumer" else Member
    for member in spec.members:
        if not isinstance(member, needed):
            raise KafkaLearnError(f"{assignor} assigns to {needed.__name__} objects, got {member!r}")
    return chosen.rule(spec) if spec.members else Assignment({})
