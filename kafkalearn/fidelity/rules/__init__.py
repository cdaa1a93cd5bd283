"""The ledger's entries, a file for each part. A rule that is added to kafkalearn is added here; a test holds every
entry to the files."""

from __future__ import annotations

from kafkalearn.fidelity.model import Rule
from kafkalearn.fidelity.rules import (
    answers,
    assignor,
    commits,
    consuming,
    coordinator,
    delivery,
    group,
    hashing,
    keyless,
    log,
    offsets,
    operations,
    operations_coordinator,
    partitioner,
    purgatory,
    replication,
    segments,
    server_logs,
    spark,
    versions,
    xray,
    zookeeper,
    zookeeper_fetching,
)

_PARTS = (
    hashing,
    coordinator,
    partitioner,
    keyless,
    versions,
    assignor,
    group,
    consuming,
    commits,
    segments,
    xray,
    offsets,
    log,
    replication,
    delivery,
    purgatory,
    operations,
    operations_coordinator,
    zookeeper,
    zookeeper_fetching,
    server_logs,
    answers,
    spark,
)

RULES: tuple[Rule, ...] = tuple(rule for part in _PARTS for rule in part.RULES)
"""All of them, in the order of the course."""
