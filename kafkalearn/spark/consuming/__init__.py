"""What groups read, over many of them: partitions that change hands, and consumers that are pulled or pushed to."""

from kafkalearn.spark.consuming.backlogs import backlogs
from kafkalearn.spark.consuming.handovers import handovers, owners_over_time

__all__ = ["backlogs", "handovers", "owners_over_time"]
