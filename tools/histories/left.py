"""What is recorded of a release and made again by no command, and why: by reason, the files or folders."""

from __future__ import annotations

from collections.abc import Mapping

VECTORS, DATA = "tests/vectors/", "data/"

NOT_MADE_AGAIN: Mapping[str, tuple[str, ...]] = {
    "conform asks it: each keeps the shortest case of a difference as it was found, for good": (VECTORS + "conform/",),
    "Kafka's own classes, led by a driver that is no part of the project: what they answer to fixed questions is asked "
    "again by the step classes, what brokers make of the same rules by conform": tuple(
        VECTORS + each
        for each in (
            "assignor/assignor-answers.json", "assignor/groups-assignors.json", "assignor/groups-assignors-since.json",
            "assignor/racks.json",
            "consuming/nearest-replica.json",
            "group/patterns.json",
            "coordinator/groups-replicas.json", "delivery/log-idempotence.json", "delivery/log-loss.json",
            "delivery/produce-errors.json", "group/groups-classic-protocol.json", "group/groups-kip848.json",
            "group/groups-kip848-since.json", "hashing/groups-hash.json", "hashing/groups-murmur2.json",
            "log/log-answers.json", "log/log-compaction.json", "log/log-segments.json", "offsets/groups-codec.json",
            "offsets/groups-codec-since.json", "offsets/groups-expiry-released.json", "offsets/offsets-records.json",
            "operations/placements.json", "partitioning/groups-partitioner.json", "purgatory/log-purgatory.json",
            "purgatory/log-timing-wheel.json",
            "replication/log-hw-leo.json", "replication/log-leader-epoch-cache.json", "replication/log-truncation.json",
            "segments/record-batches.json", "zookeeper/fetcher-ids.json",
        )
    ),
    "it is of releases whose words are said for good: brokers of the ZooKeeper era, other machines for weeks": tuple(
        VECTORS + each
        for each in (
            "coordinator/topic-descriptions.json", "offsets/groups-expiry.json", "log/log-compaction-legacy.json",
            "zookeeper/",
        )
    ),
    "by hand from the source or the definitions, or of Java: no broker answers it": tuple(
        VECTORS + each
        for each in (
            "answers/client-settings.json", "answers/java-properties.json", "commits/log-consumer-dedup.json",
            "hashing/java-collections.json",
        )
    ),
    "what a broker does depends on ids that it draws (topics in a hash map), so that no second recording is equal; "
    "conform asks the same rule with the ids of each run": (VECTORS + "assignor/assignments.json",),
    "cases of conform, told by hand; conform draws others": (
        VECTORS + "group/mixed-told.json",
        VECTORS + "group/pattern-heartbeats.json",
    ),
    "its own recorder, before there was kafkalearn.live, with cases in a form that no player here reads; conform and "
    "the live tests ask the same rules with cases drawn anew": tuple(
        VECTORS + each
        for each in (
            "hashing/keys.json", "log/compaction.json", "replication/replication.json",
            "segments/cleaned-partitions.json", "segments/transaction-log.json",
            *(f"transactions/{each}.json" for each in (
                "coordinator-partitions", "given-up", "last-epoch", "restart-histories", "told-cases",
                "transaction-histories",
            )),
        )
    ),
    "one question each, asked once by raw requests; conform asks the same kinds of requests, drawn anew": tuple(
        VECTORS + each
        for each in (
            "group/partition-moved.json", "offsets/deleted-while-pending.json", "transactions/empty-id.json",
        )
    ),
    "clients and brokers of six releases before each other, a quarter of an hour; python3 -m tools.timed_out asks them "
    "again": (VECTORS + "transactions/timed-out.json",),
    "clients and brokers that are told what to do, with ids and times of their own, minutes each; "
    "python3 -m tools.real asks them again": tuple(
        VECTORS + each
        for each in (
            "assignor/rebalances.json", "commits/calls.json", "commits/consumer-calls.json",
            "consuming/members-read.json",
            "coordinator/connections.json", "group/client-stories.json", "log/cleaner-metrics.json",
            "operations/coordinator-timers.json",
            "operations/heard-errors.json", "operations/leaders.json", "operations/loads.json",
            "operations/throttled-copies.json", "purgatory/delayed-operations.json", "replication/registrations.json",
            "transactions/producer-errors.json", "transactions/readers.json", "zookeeper/znodes.json",
        )
    ),
    "classes, producers and brokers of many releases, minutes each; python3 -m tools.rule_answers, tools.old_messages "
    "and tools.silent_producers ask them again": (
        VECTORS + "answers/rule-answers.json",
        VECTORS + "segments/old-messages.json",
        VECTORS + "transactions/silent-producers.json",
    ),
    "a node of its own, whose topics' ids and times are drawn anew; what its tools said lies beside what it wrote": (
        DATA + "cluster-metadata/",
    ),
    "its own recorder of members of both protocols in one group; conform and the live tests ask the same with cases "
    "drawn anew": (VECTORS + "group/mixed-requests.json",),
    "a broker under load, or its death at a moment of its own: minutes of work each, with times that belong to that "
    "machine": tuple(
        VECTORS + each
        for each in (
            "group/topic-changes.json", "log/list-offsets-after-removal.json", "offsets/coordinator-settings.json",
            "operations/coordinator-moves.json",
            "operations/load-beside-cleaner.json", "operations/throttles.json",
        )
    ),
    "what the tools of several releases print, on clusters of other releases: one release alone cannot make it": tuple(
        VECTORS + each
        for each in (
            "consuming/tool-lines.json", "offsets/offsets-formatter.json", "offsets/printed-partitions.json",
            "operations/group-tools.json", "operations/group-tool-order.json", "operations/quorum-tool.json",
            "operations/reassignment-tool.json", "operations/topic-tool.json",
        )
    ),
    "lag at two moments, with the ids and times of a cluster; python -m tests.live.lagging makes another": (
        DATA + "lag/",
    ),
    "share groups with the ids that a cluster drew for their topics, on which targets and places depend: records, "
    "requests to share coordinators and targets, each of three releases by raw requests": tuple(
        VECTORS + "share/" + each
        for each in (
            "share-assignments.json", "share-cases.json", "share-coordinator.json", "share-further-histories.json",
            "share-histories.json", "share-lines.json", "share-members.json", "share-places.json",
            "share-state-log.json", "share-tool.json",
        )
    ),
    "what Kafka's own unit tests of 4.3.1 and 4.4 expect, read and put down by hand": tuple(
        VECTORS + each
        for each in (
            "group/kafkas-tests-of-groups.json", "log/kafkas-tests-of-logs.json",
            "replication/kafkas-tests-of-replicas.json",
        )
    ),
    "a reading of its own, by which the step settings is judged": (VECTORS + "versions/settings-by-release.json",),
    "408 runs of clients in four languages, hours of work": (VECTORS + "server_logs/", DATA + "server-logs/"),
    "a chapter prints what is in it, with its ids and times; a new one is a new text of the chapter": tuple(
        DATA + each
        for each in ("command-walk/", "coordinator.json", "offsets-topic/", "own-cluster/", "flights.json")
    ),
}  # fmt: skip


def is_left(path: str) -> bool:
    """Whether a file of the repository is named here, itself or its folder.

    >>> is_left("tests/vectors/hashing/keys.json"), is_left("tests/vectors/log/list-offsets.json")
    (True, False)
    """
    names = [name for each in NOT_MADE_AGAIN.values() for name in each]
    return any(path == name or (name.endswith("/") and path.startswith(name)) for name in names)
