"""What one process of a consumer knows of the cluster's topics: as they were when it asked last."""

from __future__ import annotations

from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.world import World


class Metadata:
    """A copy of the topics, renewed when it is older than ``metadata.max.age.ms`` or when something is missing.

    References
    ----------
    Apache Kafka, ``ConsumerMetadata``, ``ConsumerCoordinator.maybeUpdateSubscriptionMetadata``.
    """

    def __init__(self, world: World, consumer: Consumer) -> None:
        """As the topics are when the process starts."""
        self._world = world
        self._settings = consumer.settings
        self.topics: dict[str, int] = {}
        self._asked_ms = 0
        self.refresh()

    def refresh(self) -> None:
        """Ask the cluster now."""
        self.topics, self._asked_ms = dict(self._world.topics), self._world.clock.now_ms

    def due_ms(self, is_asked_for: bool) -> int:
        """When the consumer asks next: when its copy is too old, or soon because something is missing.

        A topic that is subscribed to and not there, or a partition that can no longer be fetched, makes it ask again
        after ``retry.backoff.ms``. If the copy is renewed for another reason before, that does not matter: it asks
        once more.
        """
        now_ms, age_ms = self._world.clock.now_ms, max(self._settings.metadata_max_age_ms, 1)
        too_old_ms = self._asked_ms + -(-(now_ms - self._asked_ms) // age_ms) * age_ms
        return min(too_old_ms, now_ms + self._settings.retry_backoff_ms) if is_asked_for else too_old_ms
