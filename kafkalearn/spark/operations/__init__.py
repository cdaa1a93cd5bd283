"""The rules that find faults in a cluster's logs, over millions of records: those of `kafkalearn.operations.faults`."""

from kafkalearn.spark.operations.findings import as_findings, find_faults

__all__ = ["as_findings", "find_faults"]
