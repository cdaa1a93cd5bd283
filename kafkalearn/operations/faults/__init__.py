"""Faults planted in a cluster's logs from a seed, the rules that find them, and who was right."""

from kafkalearn.operations.faults.findings import KINDS, Finding, Judgement, judge
from kafkalearn.operations.faults.planting import ClusterLogs, cluster_logs, plant
from kafkalearn.operations.faults.rules import find_faults

__all__ = ["KINDS", "ClusterLogs", "Finding", "Judgement", "cluster_logs", "find_faults", "judge", "plant"]
