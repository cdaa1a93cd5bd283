"""Recordings that keep a form of their own, and why: by reason, the files or folders."""

from __future__ import annotations

from collections.abc import Mapping

VECTORS = "tests/vectors/"

OWN_FORM: Mapping[str, tuple[str, ...]] = {
    "conform writes each, and tests/conformance/test_vectors.py asks it: a case that once differed": (
        VECTORS + "conform/",
    ),
    "a chapter reads it, too": ("data/coordinator.json", "data/flights.json"),
    "python3 -m tools.real writes it, in the words of a client or broker that is told what to do": tuple(
        VECTORS + each
        for each in (
            "assignor/rebalances.json",
            "commits/calls.json",
            "commits/consumer-calls.json",
            "consuming/members-read.json",
            "coordinator/connections.json",
            "group/client-stories.json",
            "log/cleaner-metrics.json",
            "operations/coordinator-timers.json",
            "operations/heard-errors.json",
            "operations/leaders.json",
            "operations/loads.json",
            "operations/throttled-copies.json",
            "purgatory/delayed-operations.json",
            "replication/registrations.json",
            "transactions/producer-errors.json",
            "transactions/readers.json",
            "zookeeper/znodes.json",
        )
    ),
    "the text that a tool printed: its test builds the cluster which the text describes": tuple(
        VECTORS + each
        for each in (
            "coordinator/topic-descriptions.json",
            "offsets/printed-partitions.json",
            "operations/group-tool-order.json",
            "operations/group-tools.json",
            "operations/quorum-tool.json",
            "operations/reassignment-tool.json",
            "operations/throttles.json",
            "operations/topic-tool.json",
            "share/share-tool.json",
        )
    ),
    "bytes of whole partitions, or lines of logs: its test puts them on a disk, and several readers read them": tuple(
        VECTORS + each
        for each in (
            "segments/cleaned-partitions.json",
            "segments/old-messages.json",
            "segments/transaction-log.json",
            "server_logs/",
            "share/share-lines.json",
            "transactions/given-up.json",
        )
    ),
    "whole histories, packed, with the names of what varied on the broker": tuple(
        VECTORS + each
        for each in (
            "share/share-further-histories.json",
            "share/share-histories.json",
            "transactions/transaction-histories.json",
        )
    ),
    "a table by release, which is compared as a whole": tuple(
        VECTORS + each
        for each in (
            "answers/client-settings.json",
            "delivery/produce-errors.json",
            "transactions/client-errors.json",
            "versions/released-classes.json",
            "versions/released-jars.json",
            "versions/settings-by-release.json",
        )
    ),
    "several players take it, each in its own way: the simulator, `kafkalearn.tiny`, Spark, a live cluster": tuple(
        VECTORS + each
        for each in (
            "assignor/assignments.json",
            "hashing/keys.json",
            "log/compaction.json",
            "offsets/commit-path.json",
        )
    ),
    "python3 -m tools.rule_answers writes it, in the words of the Java program that it asks": (
        VECTORS + "answers/rule-answers.json",
    ),
    "more than one course is right: times were measured, or something was drawn that nobody has seen": tuple(
        VECTORS + each
        for each in (
            "group/topic-changes.json",
            "offsets/coordinator-settings.json",
            "operations/coordinator-moves.json",
            "partitioning/groups-partitioner.json",
            "share/share-members.json",
            "transactions/coordinator-partitions.json",
            "transactions/timed-out.json",
            "zookeeper/fetch-pipeline.json",
            "zookeeper/offset-migrations.json",
            "zookeeper/offset-stores.json",
            "zookeeper/old-consumer-groups.json",
        )
    ),
    "some cases of one rule, whose player would be longer than their test": tuple(
        VECTORS + each
        for each in (
            "commits/log-consumer-dedup.json",
            "log/list-offsets-after-removal.json",
            "log/log-compaction-legacy.json",
            "offsets/groups-codec.json",
            "offsets/groups-codec-since.json",
            "operations/load-beside-cleaner.json",
            "transactions/empty-id.json",
            "transactions/last-epoch.json",
        )
    ),
}
