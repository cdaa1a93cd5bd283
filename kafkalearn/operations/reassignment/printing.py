"""What ``kafka-reassign-partitions`` prints, to the character, by release of the tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkalearn.arguments import LARGEST_LONG, one_of, sequence, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import hash_order
from kafkalearn.operations.placement.brokers import Replicas, ids_text
from kafkalearn.operations.reassignment.cluster import Cluster
from kafkalearn.operations.reassignment.plan import Target, targets_of, write_plan
from kafkalearn.operations.reassignment.refusals import RUNNING, refusal
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

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
    >>> from kafkalearn.operations.reassignment import Cluster, Target
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
    if any({*each.log_dirs} - {"any"} for each in targets):
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

    >>> from kafkalearn.operations.reassignment import Cluster, Move, Target
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
    >>> from kafkalearn.operations.reassignment import Cluster, Move, Target
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

    >>> from kafkalearn.operations.reassignment import Cluster, Move
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

    >>> from kafkalearn.operations.reassignment import Cluster, plan_of
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
    found = []
    for at in places:
        replicas = cluster.replicas(at) or ()
        is_named = at_least(WITH_LOG_DIRS, release)
        names = tuple(cluster.log_dirs.get(broker, "any") for broker in replicas) if is_named else ()
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
