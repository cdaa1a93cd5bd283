"""One log on one broker: what it takes, what its cleaner leaves, what retention and administrators remove."""

from kafkalearn.live.conform.mechanisms.log.compaction import COMPACTION
from kafkalearn.live.conform.mechanisms.log.removal import REMOVAL

__all__ = ["COMPACTION", "REMOVAL"]
