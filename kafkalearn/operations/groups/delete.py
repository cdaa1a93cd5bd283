"""``--delete`` and ``--delete-offsets``: what goes, what is refused, and what the tool prints of it."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.arguments import sequence, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import hash_order, utf16_key
from kafkalearn.offsets.store.events import DeleteGroup, DeleteOffset
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.simulator import step
from kafkalearn.offsets.store.state import Store
from kafkalearn.operations.groups.columns import NEW_TEXTS, is_3_9, table, widest
from kafkalearn.operations.groups.reset import places_in
from kafkalearn.operations.groups.topic_logs import Topics, checked_topics
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

_PACKAGE = "org.apache.kafka.common.errors"
EXCEPTIONS = {
    "NON_EMPTY_GROUP": f"{_PACKAGE}.GroupNotEmptyException: The group is not empty.",
    "GROUP_ID_NOT_FOUND": f"{_PACKAGE}.GroupIdNotFoundException: The group id does not exist.",
    "GROUP_SUBSCRIBED_TO_TOPIC": f"{_PACKAGE}.GroupSubscribedToTopicException: Deleting offsets of a topic is "
    "forbidden while the consumer group is actively subscribed to it.",
    "NOT_COORDINATOR": f"{_PACKAGE}.NotCoordinatorException: This is not the correct coordinator.",
    "COORDINATOR_LOAD_IN_PROGRESS": f"{_PACKAGE}.CoordinatorLoadInProgressException: The coordinator is loading and "
    "hence can't process requests.",
}
"""What Java's client says of each error that a coordinator answers."""

_WRAPPED = "java.util.concurrent.ExecutionException: "  # in front of it up to 4.0


def delete_groups(
    settings: Settings, store: Store, group_ids: Sequence[str], release: str | Release = DEFAULT_RELEASE
) -> tuple[Store, str]:
    """The store after ``--delete`` of some groups, and what the tool prints.

    Parameters
    ----------
    settings, store
        Of `kafkalearn.offsets.store`: the partition of the offsets topic that has the groups.
    group_ids : sequence of str
        As after ``--group``.
    release : str or Release
        Of the tool, at least 2.0.

    Examples
    --------
    >>> from kafkalearn.offsets.store import Commit, simulate
    >>> store = simulate(Settings(), [Commit("billing", "orders", 0, 5, now_ms=0)])[-1].state
    >>> store, printed = delete_groups(Settings(), store, ["billing"])
    >>> printed, store.groups
    ("Deletion of requested consumer groups ('billing') was successful.\\n", ())

    References
    ----------
    Apache Kafka 2.0 to 4.3, ``ConsumerGroupCommand.deleteGroups``.
    """
    if not at_least("2.0", release):
        raise KafkaLearnError(f"what --delete prints is modelled since 2.0, got release {release!s}")
    errors: dict[str, str] = {}
    for group_id in sequence("group_ids", group_ids, of="group ids"):
        if text("group id", group_id) not in errors:
            store = step(settings, store, DeleteGroup(group_id))
            errors[group_id] = store.effects[-1].error
    in_order = hash_order(errors) if at_least("3.9", release) else list(errors)
    done = [group_id for group_id in in_order if errors[group_id] == "NONE"]
    failed = [group_id for group_id in in_order if errors[group_id] != "NONE"]
    if not failed:
        return store, f"Deletion of requested consumer groups ({_names(done, release)}) was successful.\n"
    blank = "\n" if at_least("2.3", release) else ""
    lines = [f"{blank}Error: Deletion of some consumer groups failed:"]
    lines += [f"* Group '{each}' could not be deleted due to: {_exception(errors[each], release)}" for each in failed]
    if done:
        lines.append(f"\nThese consumer groups were deleted successfully: {_deleted(done, release)}")
    return store, "".join(f"{each}\n" for each in lines)


def delete_offsets(
    settings: Settings,
    store: Store,
    group_id: str,
    scope: Sequence[str],
    topics: Topics,
    release: str | Release = DEFAULT_RELEASE,
) -> tuple[Store, str]:
    """The store after ``--delete-offsets`` of a group, and what the tool prints.

    Parameters
    ----------
    settings, store, group_id
        As in `delete_groups`, of one group.
    scope : sequence of str
        As after ``--topic``: ``"orders"``, or ``"orders:0,3"``. What has no offset is deleted successfully.
    topics : mapping of str to sequence of PartitionLog
        How many partitions each topic has.
    release : str or Release
        Of the tool, at least 2.4 (KIP-496).

    Examples
    --------
    >>> from kafkalearn.offsets.store import Commit, simulate
    >>> from kafkalearn.operations.groups import PartitionLog
    >>> store = simulate(Settings(), [Commit("billing", "orders", 0, 5, now_ms=0)])[-1].state
    >>> print(delete_offsets(Settings(), store, "billing", ["orders"], {"orders": [PartitionLog(9)]})[1], end="")
    Request succeeded for deleting offsets from group billing.
    <BLANKLINE>
    TOPIC           PARTITION  STATUS
    orders          0          Successful

    References
    ----------
    Apache Kafka 2.4 to 4.3, ``ConsumerGroupCommand.deleteOffsets``.
    """
    if not at_least("2.4", release):
        raise KafkaLearnError(f"--delete-offsets is known since 2.4, got release {release!s}")
    checked_topics(topics)
    errors: dict[TopicPartition, str] = {}
    for at in places_in(scope, topics):
        store = step(settings, store, DeleteOffset(group_id, *at))
        errors[at] = store.effects[-1].error
    overall = next((error for error in errors.values() if error != "NONE"), "NONE")
    return store, _verdict(overall, group_id, scope, release) + _statuses(errors, release)


def _verdict(error: str, group_id: str, scope: Sequence[str], release: str | Release) -> str:
    is_new = at_least(NEW_TEXTS, release)
    if error == "NONE":
        if is_new:
            return f"Request succeeded for deleting offsets from group {group_id}.\n"
        return f"Request succeed for deleting offsets with topic {', '.join(scope)} group {group_id}\n"
    if error == "GROUP_SUBSCRIBED_TO_TOPIC":
        said = "Encountered some partition-level error, see the follow-up details."
        said = said if is_new else "Encounter some partition level error, see the follow-up details:"
    elif is_new and error in ("GROUP_ID_NOT_FOUND", "NON_EMPTY_GROUP"):
        said = EXCEPTIONS[error].partition(": ")[2]
    elif error == "GROUP_ID_NOT_FOUND":
        said = f"'{group_id}' does not exist."
    elif error == "NON_EMPTY_GROUP":
        said = f"Deleting offsets of a consumer group '{group_id}' is forbidden if the group is not empty."
    else:
        said = f"Encounter{'ed' if is_new else ''} some unknown error: {error}"
    return f"\nError: {said}\n"


def _statuses(errors: dict[TopicPartition, str], release: str | Release) -> str:
    is_new = at_least(NEW_TEXTS, release)
    widths = (widest(15, [at.topic for at in errors]), 10, 15) if is_new else (30, 15, 15)
    colon = "Error: :" if is_3_9(release) else "Error: "
    rows: list[tuple[str, int | str, str]] = [("TOPIC", "PARTITION", "STATUS")]
    for at in sorted(errors, key=lambda at: utf16_key(f"{at.topic}{at.partition}")):
        error = errors[at]
        rows.append((at.topic, at.partition, "Successful" if error == "NONE" else f"{colon}{EXCEPTIONS[error]}"))
    return table(rows, widths, release)


def _exception(error: str, release: str | Release) -> str:
    return EXCEPTIONS[error] if at_least("4.0", release) else _WRAPPED + EXCEPTIONS[error]


def _names(group_ids: Sequence[str], release: str | Release) -> str:
    """Up to 3.8 and since 4.1 each in quotes; 3.9 and 4.0 put one pair around all."""
    if at_least("3.9", release) and not at_least(NEW_TEXTS, release):
        return f"'{', '.join(group_ids)}'"
    return ", ".join(f"'{each}'" for each in group_ids)


def _deleted(group_ids: Sequence[str], release: str | Release) -> str:
    if at_least("3.9", release) and not at_least(NEW_TEXTS, release):
        return "'{}', '".format("'".join(group_ids))  # the quotes are in the wrong places
    return _names(group_ids, release)
