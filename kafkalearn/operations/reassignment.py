"""Moving partitions to other brokers: the plan as JSON, what Kafka refuses, and what its tool prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from kafkalearn.base.checks import (
    LARGEST_INT,
    LARGEST_LONG,
    Checked,
    Index,
    mapping,
    one_of,
    sequence,
    text,
    whole_number,
)
from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name
from kafkalearn.base.java import JavaRandom, hash_order
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.wire import read_json
from kafkalearn.operations.placement import (
    Broker,
    Placement,
    Replicas,
    brokers_of,
    ids_text,
    place_shifted,
    place_striped,
    placement_of,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least

__all__ = [
    "Cluster",
    "Move",
    "Target",
    "cancel_text",
    "execute_text",
    "generate",
    "generate_text",
    "list_text",
    "plan_of",
    "read_plan",
    "refusal",
    "verify_text",
    "write_plan",
]


# The little that the reassignment tool asks a cluster: who lives, what lies where, what is moving.


@dataclass(frozen=True, slots=True)
class Move:
    """A reassignment that is running: which replicas come, which go.

    While it runs a partition has all of them; `Cluster.replicas` lists those that come first, as Kafka does.
    """

    adding: Replicas = ()
    removing: Replicas = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Live brokers, the replicas of each topic, and the reassignments that run.

    Attributes
    ----------
    brokers : tuple of Broker or int
        Those that answer; who is down is not among them.
    topics : mapping of str to placement
        ``topics[name][p]`` are the replicas of partition ``p``, with those that are coming and going.
    moves : mapping of TopicPartition to Move
        What is being moved.
    log_dirs : mapping of int to str
        The log directory of each broker; tools since 4.2 print it.

    Examples
    --------
    >>> cluster = Cluster([1, 2, 3], {"orders": [(1, 2), (2, 3)]})
    >>> cluster.replicas(TopicPartition("orders", 1)), cluster.replicas(TopicPartition("orders", 2))
    ((2, 3), None)
    """

    brokers: tuple[Broker, ...]
    topics: Mapping[str, Placement] = field(default_factory=lambda: MappingProxyType[str, Placement]({}))
    moves: Mapping[TopicPartition, Move] = field(default_factory=lambda: MappingProxyType[TopicPartition, Move]({}))
    log_dirs: Mapping[int, str] = field(default_factory=lambda: MappingProxyType[int, str]({}))

    def __post_init__(self) -> None:
        """Refuse brokers or topics that are none."""
        object.__setattr__(self, "brokers", brokers_of(self.brokers))
        topics = mapping("topics", self.topics, of="name to replicas of each partition")
        kept = {
            text("a name of topics", name): placement_of(f"topics[{shown(name)}]", placement)
            for name, placement in topics.items()
        }
        if empty := [name for name, placement in kept.items() if not placement]:
            raise KafkaLearnError(f"topics[{shown(empty[0])}] has no partition; a topic has at least one")
        object.__setattr__(self, "topics", MappingProxyType(kept))
        for at in mapping("moves", self.moves, of="TopicPartition to Move"):
            if self.replicas(at) is None:
                raise KafkaLearnError(f"moves names {at}, which is not a partition of topics")
        mapping("log_dirs", self.log_dirs, of="broker to its log directory")

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """The ids of the live brokers."""
        return tuple(each.id for each in self.brokers)

    def replicas(self, at: TopicPartition) -> Replicas | None:
        """The replicas of a partition; None: there is no such partition."""
        placement = self.topics.get(at.topic, ())
        return placement[at.partition] if at.partition < len(placement) else None


# The JSON that ``kafka-reassign-partitions`` reads and writes: which brokers shall hold each partition.

Item = TypeVar("Item")

ANY_LOG_DIR = "any"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Target(Checked):
    """What a plan says of one partition.

    Attributes
    ----------
    topic : str
        The topic.
    partition : int
        Its number.
    replicas : tuple of int
        The brokers, the preferred leader first; as the plan has them, right or wrong.
    log_dirs : tuple of str
        For each replica the log directory on its broker, or ``"any"``. Empty: any everywhere.
    """

    topic: str
    partition: Index
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] = ()

    @property
    def at(self) -> TopicPartition:
        """Topic and partition."""
        return TopicPartition(self.topic, self.partition)


def plan_of(topic: str, placement: Placement | Sequence[Replicas]) -> tuple[Target, ...]:
    """The plan that gives every partition of a topic the replicas of a placement.

    >>> from kafkalearn.operations.placement import place_rotated
    >>> plan_of("__consumer_offsets", place_rotated([1, 2, 3], 50, 3))[49]
    Target(topic='__consumer_offsets', partition=49, replicas=(2, 3, 1), log_dirs=())
    """
    text("topic", topic)
    given = sequence("placement", placement, of="replicas, one tuple for each partition")
    return tuple(Target(topic, partition, replicas) for partition, replicas in enumerate(given))


def write_plan(plan: Sequence[Target]) -> str:
    """The JSON of a plan as Kafka writes it: sorted, on one line, ready for ``--reassignment-json-file``.

    >>> write_plan(plan_of("orders", [(1, 2)]))
    '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'

    References
    ----------
    Apache Kafka 1.1 to 4.3, ``ReassignPartitionsCommand.formatAsReassignmentJson``.
    """
    rows = [
        {
            "topic": each.topic,
            "partition": each.partition,
            "replicas": list(each.replicas),
            "log_dirs": list(each.log_dirs or (ANY_LOG_DIR,) * len(each.replicas)),
        }
        for each in sorted(targets_of(plan), key=lambda each: each.at)
    ]
    return json.dumps({"version": VERSION, "partitions": rows}, separators=(",", ":"), ensure_ascii=False)


def read_plan(written: str) -> tuple[Target, ...]:
    """The plan in a JSON text, in its own order, with everything that is written twice.

    Parameters
    ----------
    written : str
        The content of a ``--reassignment-json-file``. ``version`` and ``log_dirs`` may be left out.

    Raises
    ------
    KafkaLearnError
        If Kafka cannot read it: no JSON, another version, a field that is missing or of another kind, fewer log
        directories than replicas. What Kafka reads and then refuses, `refusal` says.

    Examples
    --------
    >>> read_plan('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [2, 1]}]}')
    (Target(topic='orders', partition=0, replicas=(2, 1), log_dirs=()),)

    References
    ----------
    Apache Kafka 0.8.1 to 4.3, ``ReassignPartitionsCommand.parsePartitionReassignmentData``.
    """
    found = _object("the file", _parsed(written))
    version = _int("version", found.get("version", VERSION))
    if version != VERSION:
        raise KafkaLearnError(f"version is {version}, and only 1 is known (Kafka: Not supported version field value)")
    rows = found.get("partitions", [])
    if not isinstance(rows, list):
        raise KafkaLearnError(f"partitions must be a list, got {shown(rows)}")
    return tuple(
        _target(f"partitions[{place}]", _object(f"partitions[{place}]", row)) for place, row in enumerate(rows)
    )


def targets_of(plan: object) -> tuple[Target, ...]:
    """A plan given by the user, checked to be one."""
    given: tuple[Any, ...] = sequence("plan", plan, of="Target(...)")
    for place, each in enumerate(given):
        if not isinstance(each, Target):
            raise KafkaLearnError(f"plan[{place}] must be Target(topic, partition, replicas), got {shown(each)}")
    return given


def _parsed(written: object) -> object:
    try:
        return read_json(text("written", written))
    except (ValueError, RecursionError) as error:
        if isinstance(error, KafkaLearnError):
            raise
        raise KafkaLearnError(
            f"invalid JSON: {error}; a plan is "
            '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}'
        ) from None


def _target(name: str, row: dict[str, object]) -> Target:
    for key in ("topic", "partition", "replicas"):
        if key not in row:
            raise KafkaLearnError(f"{name} has no {key}: {shown(row)}; each has topic, partition and replicas")
    replicas = _list(f"{name}.replicas", row["replicas"], _int)
    log_dirs = _list(f"{name}.log_dirs", row.get("log_dirs", []), _text)
    if "log_dirs" in row and len(log_dirs) != len(replicas):
        raise KafkaLearnError(
            f"{name} has {len(replicas)} replicas and {len(log_dirs)} log_dirs: one for each, or leave log_dirs out"
        )
    return Target(_text(f"{name}.topic", row["topic"]), _int(f"{name}.partition", row["partition"]), replicas, log_dirs)


def _object(name: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise KafkaLearnError(f"{name} must be an object in braces, got {shown(value)}")
    return value


def _list(name: str, value: object, check: Callable[[str, object], Item]) -> tuple[Item, ...]:
    if not isinstance(value, list):
        raise KafkaLearnError(f"{name} must be a list, got {shown(value)}")
    return tuple(check(f"{name}[{place}]", each) for place, each in enumerate(value))


def _int(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_INT:
        raise KafkaLearnError(f"{name} must be a whole number without quotes, got {shown(value)}")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise KafkaLearnError(f"{name} must be a text in quotes, got {shown(value)}")
    return text(name, value)


# What ``--execute`` refuses, in Kafka's words and in Kafka's order.

RUNNING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create "
    "a new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)


def refusal(plan: Sequence[Target], cluster: Cluster, is_additional: bool = False) -> str | None:
    """Why the tool does not start a plan; None: it does.

    Parameters
    ----------
    plan : sequence of Target
        As `read_plan` or `plan_of` give it.
    cluster : Cluster
        What the tool asks.
    is_additional : bool
        Whether ``--additional`` is given: then plans that run already do not matter.

    Returns
    -------
    str or None
        The message, without the ``Error:`` that some of them have in front.

    Examples
    --------
    >>> cluster = Cluster([1, 2, 3], {"orders": [(1, 2), (2, 3)]})
    >>> refusal([Target("orders", 0, (1, 2)), Target("orders", 0, (3, 2))], cluster)
    'Partition reassignment contains duplicate topic partitions: orders-0'
    >>> refusal([Target("orders", 0, (1, 1))], cluster)
    'Partition replica lists may not contain duplicate entries: orders-0 contains multiple entries for 1'
    >>> refusal([Target("orders", 0, (1, 9))], cluster)
    'Unknown broker id 9'
    >>> refusal([Target("orders", 0, (3, 1))], cluster) is None
    True

    References
    ----------
    Apache Kafka 2.6 to 4.3, ``ReassignPartitionsCommand.executeAssignment``, ``parseExecuteAssignmentArgs``.
    """
    targets = targets_of(plan)
    return _of_the_plan(targets) or _of_the_cluster(targets, cluster, is_additional)


def _of_the_plan(targets: tuple[Target, ...]) -> str | None:
    if not targets:
        return "Partition reassignment list cannot be empty"
    if any(not each.replicas for each in targets):
        return "Partition replica list cannot be empty"
    if twice := duplicates(each.at for each in targets):
        return f"Partition reassignment contains duplicate topic partitions: {','.join(map(str, twice))}"
    repeated = [(each.at, duplicates(each.replicas)) for each in targets]
    words = [f"{at} contains multiple entries for {','.join(map(str, twice))}" for at, twice in repeated if twice]
    if words:
        return f"Partition replica lists may not contain duplicate entries: {'. '.join(words)}"
    return None


def _of_the_cluster(targets: tuple[Target, ...], cluster: Cluster, is_additional: bool) -> str | None:
    if cluster.moves and not is_additional:
        return RUNNING
    named = hash_order(broker for each in targets for broker in each.replicas)
    if unknown := [broker for broker in named if broker not in cluster.broker_ids]:
        return f"Unknown broker id {unknown[0]}"
    for topic in hash_order(each.topic for each in targets):
        if topic not in cluster.topics:
            return f"org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Topic {topic} not found."
    if missing := [each.at for each in targets if cluster.replicas(each.at) is None]:
        return (
            "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Unable to find partition: "
            f"{', '.join(map(str, hash_order(missing)))}"
        )
    return None


def duplicates(items: Iterable[Item]) -> list[Item]:
    """What stands more than once, in the order of Java's HashSet.

    >>> duplicates([3, 1, 3, 2, 1])
    [1, 3]
    """
    seen: set[Item] = set()
    twice: list[Item] = []
    for each in items:
        if each in seen:
            twice.append(each)
        seen.add(each)
    return hash_order(twice)


# What ``--generate`` proposes: Kafka's own placement over the brokers given, with as many replicas as before.


def generate(
    topics: Sequence[str],
    broker_ids: Sequence[int],
    cluster: Cluster,
    release: str | Release = DEFAULT_RELEASE,
    *,
    seed: int = 0,
    is_rack_aware: bool = True,
) -> tuple[Target, ...]:
    """The plan that the tool proposes for some topics over some brokers.

    It keeps the number of replicas of each topic's first partition: a plan with more has to be written by hand, with
    `kafkalearn.operations.placement` and `plan_of`. Kafka draws; the same seed gives the same plan.

    Parameters
    ----------
    topics : sequence of str
        As in ``--topics-to-move-json-file``.
    broker_ids : sequence of int
        ``--broker-list``. Brokers that are down are left out in silence, as the tool does.
    cluster : Cluster
        The brokers with their racks, and the topics.
    release : str or Release
        Of the tool: up to 4.0 it places as clusters with ZooKeeper do, since 4.1 as a KRaft controller does.
    seed : int
        What Kafka draws.
    is_rack_aware : bool
        False: ``--disable-rack-aware``.

    Raises
    ------
    KafkaLearnError
        Where the tool refuses: a topic or a broker twice, an unknown topic, too few brokers, racks for some only.

    Examples
    --------
    >>> cluster = Cluster([1, 2, 3, 4], {"orders": [(1, 2), (2, 1), (1, 2)]})
    >>> [each.replicas for each in generate(["orders"], [2, 3, 4], cluster)]
    [(3, 4), (4, 2), (2, 3)]

    References
    ----------
    Apache Kafka 0.8.1 to 4.3, ``ReassignPartitionsCommand.generateAssignment``.
    """
    names, wanted = sequence("topics", topics, of="names"), sequence("broker_ids", broker_ids, of="broker ids")
    if twice := duplicates(wanted):
        raise KafkaLearnError(f"Broker list contains duplicate entries: {twice}; name each broker once")
    if twice := duplicates(names):
        raise KafkaLearnError(f"List of topics to reassign contains duplicate entries: {twice}; name each topic once")
    chosen = [each if is_rack_aware else Broker(each.id) for each in cluster.brokers if each.id in wanted]
    if not chosen:
        raise KafkaLearnError(f"none of the brokers {list(wanted)} is alive; there are {list(cluster.broker_ids)}")
    if len({each.rack is None for each in chosen}) > 1:
        raise KafkaLearnError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    plan: list[Target] = []
    random = JavaRandom(seed)
    for name in names:
        if name not in cluster.topics:
            raise unknown_name("topic", name, cluster.topics)
        count, factor = len(cluster.topics[name]), len(cluster.topics[name][0])
        if at_least("4.1", release):
            placement = place_striped(chosen, count, factor, random.next_int(LARGEST_INT))
        else:
            start, shift = random.next_int(len(chosen)), random.next_int(len(chosen))
            placement = place_shifted(chosen, count, factor, start, shift)
        plan += plan_of(name, placement)
    return tuple(plan)


# What ``kafka-reassign-partitions`` prints, to the character, by release of the tool.

FIRST_RELEASE = "2.6"  # before, the tool wrote into ZooKeeper and spoke otherwise
IS_COMPLETED = "3.3"  # before, a reassignment "is complete."
IN_JAVA = "3.7"  # since then the tool is written in Java
WITH_LOG_DIRS = "4.2"  # since then it prints where the replicas lie


def execute_text(
    plan: Sequence[Target],
    cluster: Cluster,
    release: str | Release = DEFAULT_RELEASE,
    *,
    is_additional: bool = False,
    throttle: int | None = None,
) -> str:
    """What ``--execute`` prints on standard output: how to get back, and that it has started; or why not.

    Parameters
    ----------
    plan : sequence of Target
        As `read_plan` or `plan_of` give it; without log directories of its own.
    cluster : Cluster
        As it is before.
    release : str or Release
        Of the tool, at least 2.6.
    is_additional : bool
        Whether ``--additional`` is given.
    throttle : int or None
        ``--throttle``, bytes a second.

    Returns
    -------
    str
        Where the plan is refused, the message; the Java stack trace that follows some of them is left out.

    Examples
    --------
    >>> cluster = Cluster([1, 2, 3], {"orders": [(1, 2)]})
    >>> print(execute_text([Target("orders", 0, (3, 1))], cluster), end="")
    Current partition replica assignment
    <BLANKLINE>
    {"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}
    <BLANKLINE>
    Save this to use as the --reassignment-json-file option during rollback
    Successfully started partition reassignment for orders-0

    References
    ----------
    Apache Kafka 2.6 to 4.3, ``ReassignPartitionsCommand.executeAssignment``.
    """
    _checked(release)
    targets = targets_of(plan)
    if any({*each.log_dirs} - {ANY_LOG_DIR} for each in targets):
        raise KafkaLearnError("a plan that names log directories moves replicas on one broker; that is not modelled")
    if throttle is not None:
        whole_number("throttle", throttle, 0, LARGEST_LONG)
    if (reason := refusal(targets, cluster, is_additional)) is not None:
        return f"{reason}\n" if reason == RUNNING else f"Error: {reason}\n"
    lines = [
        "Current partition replica assignment\n",
        f"{write_plan(current(cluster, (each.at for each in targets), release))}\n",
        "Save this to use as the --reassignment-json-file option during rollback",
    ]
    if throttle is not None:
        lines += [
            "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is "
            "removed.",
            f"The inter-broker throttle limit was set to {throttle} B/s",
        ]
    names = ",".join(str(at) for at in sorted(each.at for each in targets))
    lines.append(f"Successfully started partition reassignment{'' if len(targets) == 1 else 's'} for {names}")
    return "".join(f"{line}\n" for line in lines)


def verify_text(
    plan: Sequence[Target],
    cluster: Cluster,
    release: str | Release = DEFAULT_RELEASE,
    *,
    keeps_throttles: bool = False,
) -> str:
    """What ``--verify`` prints: how far each partition is, and which throttles it clears.

    Throttles are cleared when nothing moves in the whole cluster; ``--preserve-throttles`` (`keeps_throttles`) keeps
    them.

    >>> moving = Cluster([1, 2, 3], {"orders": [(3, 1, 2)]}, {TopicPartition("orders", 0): Move((3,), (2,))})
    >>> print(verify_text([Target("orders", 0, (3, 1))], moving).strip())
    Status of partition reassignment:
    Reassignment of partition orders-0 is still in progress.
    >>> done = Cluster([1, 2, 3], {"orders": [(3, 1)]})
    >>> print(verify_text([Target("orders", 0, (3, 1))], done, keeps_throttles=True).strip())
    Status of partition reassignment:
    Reassignment of partition orders-0 is completed.

    References
    ----------
    Apache Kafka 2.6 to 4.3, ``ReassignPartitionsCommand.verifyAssignment``.
    """
    _checked(release)
    targets = targets_of(plan)
    by_place = {each.at: each.replicas for each in targets}
    found = [_status(at, by_place[at], cluster, release) for at in sorted(by_place)]
    lines = ["Status of partition reassignment:", *found, ""]
    if not cluster.moves and not keeps_throttles:
        lines += _cleared(targets, cluster, release)
    return "".join(f"{line}\n" for line in lines)


def cancel_text(
    plan: Sequence[Target],
    cluster: Cluster,
    release: str | Release = DEFAULT_RELEASE,
    *,
    keeps_throttles: bool = False,
) -> str:
    """What ``--cancel`` prints: which moves it has ended, and which throttles it clears.

    It clears them whether anything was cancelled or not, and whatever else is moving: see
    `kafkalearn.operations.throttles`. What does not move, or is not there, it passes over in silence.

    Parameters
    ----------
    plan : sequence of Target
        Which partitions; their replicas do not matter.
    cluster : Cluster
        As it is before.
    release : str or Release
        Of the tool, at least 2.6; since 3.7 a line break is missing.
    keeps_throttles : bool
        ``--preserve-throttles``.

    Examples
    --------
    >>> moving = Cluster([1, 2, 3], {"orders": [(3, 1, 2)]}, {TopicPartition("orders", 0): Move((3,), (2,))})
    >>> print(cancel_text([Target("orders", 0, (3, 1))], moving), end="")
    Successfully cancelled partition reassignment for: orders-0
    None of the specified partition moves are active.Clearing broker-level throttles on brokers 1,2,3
    Clearing topic-level throttles on topic orders

    References
    ----------
    Apache Kafka 2.6 to 4.3, ``ReassignPartitionsCommand.cancelAssignment``.
    """
    _checked(release)
    targets = targets_of(plan)
    active = sorted({each.at for each in targets} & {*cluster.moves})
    first = "None of the specified partition reassignments are active."
    if active:
        plural = "" if len(active) == 1 else "s"
        first = f"Successfully cancelled partition reassignment{plural} for: {','.join(map(str, active))}"
    after_moves = "" if at_least(IN_JAVA, release) else "\n"
    cleared: list[str] = [] if keeps_throttles else _cleared(targets, cluster, release)
    return (
        f"{first}\nNone of the specified partition moves are active.{after_moves}"
        + "".join(f"{line}\n" for line in cleared)
    )  # fmt: skip


def list_text(cluster: Cluster) -> str:
    """What ``--list`` prints: the reassignments that run.

    >>> print(list_text(Cluster([1, 2])), end="")
    No partition reassignments found.
    >>> print(list_text(Cluster([1, 2], {"t": [(2, 1)]}, {TopicPartition("t", 0): Move((2,), (1,))})), end="")
    Current partition reassignments:
    t-0: replicas: 2,1. adding: 2. removing: 1.
    """
    lines = ["Current partition reassignments:"] if cluster.moves else ["No partition reassignments found."]
    for at in sorted(cluster.moves):
        move = cluster.moves[at]
        parts = (("replicas", cluster.replicas(at)), ("adding", move.adding), ("removing", move.removing))
        lines.append(f"{at}: " + " ".join(f"{name}: {ids_text(ids)}." for name, ids in parts if ids))
    return "".join(f"{line}\n" for line in lines)


def generate_text(
    topics: Sequence[str], proposed: Sequence[Target], cluster: Cluster, release: str | Release = DEFAULT_RELEASE
) -> str:
    """What ``--generate`` prints of some topics: their replicas as they are, and as it proposes them.

    >>> cluster = Cluster([1, 2], {"t": [(1,)]})
    >>> print(generate_text(["t"], plan_of("t", [(2,)]), cluster), end="")
    Current partition replica assignment
    {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["any"]}]}
    <BLANKLINE>
    Proposed partition reassignment configuration
    {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2],"log_dirs":["any"]}]}
    """
    _checked(release)
    names = [one_of("topic", topic, cluster.topics) for topic in sequence("topics", topics, of="names")]
    places = [TopicPartition(topic, number) for topic in names for number in range(len(cluster.topics[topic]))]
    return (
        f"Current partition replica assignment\n{write_plan(current(cluster, places, release))}\n\n"
        f"Proposed partition reassignment configuration\n{write_plan(proposed)}\n"
    )


def current(
    cluster: Cluster, places: Iterable[TopicPartition], release: str | Release = DEFAULT_RELEASE
) -> tuple[Target, ...]:
    """The replicas as they are, as a plan: what to keep for the way back."""
    is_named = at_least(WITH_LOG_DIRS, release)
    found = []
    for at in places:
        replicas = cluster.replicas(at) or ()
        names = tuple(cluster.log_dirs.get(broker, ANY_LOG_DIR) for broker in replicas) if is_named else ()
        found.append(Target(*at, replicas, names))
    return tuple(found)


def _checked(release: str | Release) -> None:
    if not at_least(FIRST_RELEASE, release):
        raise KafkaLearnError(
            f"what kafka-reassign-partitions prints is modelled since {FIRST_RELEASE}, when it began to speak to "
            f"brokers; got release {release!s}"
        )


def _status(at: TopicPartition, target: Replicas, cluster: Cluster, release: str | Release) -> str:
    if at in cluster.moves:
        return f"Reassignment of partition {at} is still in progress."
    replicas = cluster.replicas(at) or ()
    if replicas == target:
        return f"Reassignment of partition {at} is complete{'d' if at_least(IS_COMPLETED, release) else ''}."
    return (
        f"There is no active reassignment of partition {at}, but replica set is {ids_text(replicas)} rather than "
        f"{ids_text(target)}."
    )


def _cleared(targets: Sequence[Target], cluster: Cluster, release: str | Release) -> list[str]:
    """In the order of Java's HashSet; of Scala's sets the small ones keep the order of the plan, larger ones do not."""
    brokers = [*dict.fromkeys((*cluster.broker_ids, *(broker for each in targets for broker in each.replicas)))]
    topics = [*dict.fromkeys(each.topic for each in targets)]
    if at_least(IN_JAVA, release):
        brokers, topics = hash_order(brokers), hash_order(topics)
    return [
        f"Clearing broker-level throttles on broker{'' if len(brokers) == 1 else 's'} {ids_text(brokers)}",
        f"Clearing topic-level throttles on topic{'' if len(topics) == 1 else 's'} {','.join(topics)}",
    ]
