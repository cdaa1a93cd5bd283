"""How large a group, and how long a time, the simulators of this package take: what is more is refused at once.

Kafka itself allows more of some of it. These are what a computer gets through while a class waits.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.fields import Whole

MOST_PARTITIONS = 20_000  # of all topics that a coordinator of the newer protocol knows
LONGEST_MS = 366 * 24 * 3_600_000  # a year

MOST_SCENARIO_PARTITIONS = 10_000
MOST_CONSUMERS = 1000
MOST_SCENARIO_EVENTS = 20_000
LONGEST_SCENARIO_MS = 7 * 24 * 3_600_000  # a week

Timeout: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]
Duration: TypeAlias = Annotated[int, Whole(0, LONGEST_MS)]
