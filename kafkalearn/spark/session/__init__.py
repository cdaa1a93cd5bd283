"""Running Spark: a session that needs nothing installed, its Java side, its progress, and its workers."""

from kafkalearn.spark.session.check import check_environment
from kafkalearn.spark.session.interrupts import job_progress
from kafkalearn.spark.session.spark_session import get_spark

__all__ = ["check_environment", "get_spark", "job_progress"]
