"""What stays the same while the same records are pulled from a log and pushed from queues."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, check_fields

DROP, REFUSE = "drop", "refuse"
WHEN_FULL = (DROP, REFUSE)
"""What the pushing broker does when a queue is full: it drops the oldest waiting record, or refuses the producer."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The consumers, and what each of the two brokers has room for.

    Parameters
    ----------
    consumers : tuple of str
        Their names; each is to get every record, as each consumer group does in Kafka.
    queue_limit : int
        Records that a queue holds for its consumer, those not acknowledged counted.
    prefetch : int
        Records that the pushing broker sends before the first of them is acknowledged, at most `queue_limit`.
    retention : int
        Records that the log keeps, whoever has read them.
    when_full : str
        A name in `WHEN_FULL`.
    """

    consumers: tuple[str, ...]
    queue_limit: Count = 8
    prefetch: Count = 2
    retention: Count = 12
    when_full: str = DROP

    def __post_init__(self) -> None:
        """Refuse what can be no pair of brokers."""
        check_fields(self)
        one_of("when_full", self.when_full, WHEN_FULL)
        if not self.consumers or len(set(self.consumers)) < len(self.consumers):
            raise KafkaLearnError(f"give at least one consumer, each with a name of its own; got {self.consumers!r}")
        if self.prefetch > self.queue_limit:
            raise KafkaLearnError(
                f"prefetch is {self.prefetch}, and a queue holds {self.queue_limit} records: prefetch at most as many"
            )
