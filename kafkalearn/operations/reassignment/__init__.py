"""Moving partitions to other brokers: the plan as JSON, what Kafka refuses, and what its tool prints."""

from kafkalearn.operations.reassignment.cluster import Cluster, Move
from kafkalearn.operations.reassignment.generate import generate
from kafkalearn.operations.reassignment.plan import Target, plan_of, read_plan, write_plan
from kafkalearn.operations.reassignment.printing import (
    cancel_text,
    execute_text,
    generate_text,
    list_text,
    verify_text,
)
from kafkalearn.operations.reassignment.refusals import refusal

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
