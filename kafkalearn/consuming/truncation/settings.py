"""What stays the same: the topic and its brokers, the consumers, and what their client knows of leader epochs."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, check_fields
from kafkalearn.phrases import shown
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.versions.releases import at_least

EARLIEST, LATEST, NO_RESET = RESETS = ("earliest", "latest", "none")
"""Where a consumer begins if its position is nowhere in the log (``auto.offset.reset``); ``none``: it throws."""

AFTER_CHANGES, ALWAYS, NEVER = VALIDATIONS = ("after leader changes", "always", "never")
"""When a consumer asks whether its position is still there; ``always``: also before its first fetch."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A partition, and a group of consumers of which one reads it at a time.

    Parameters
    ----------
    topic : kafkalearn.replication.Settings
        The partition and its brokers; its release is the consumers' too.
    consumers : tuple of str
        Their names. All know the partition's first leader when the run begins.
    auto_offset_reset : str
        A name in `RESETS`. (The default of a real consumer is ``latest``.)
    validation : str or None
        A name in `VALIDATIONS`; None: as Java's consumer of the release, ``always`` since 2.3. librdkafka 2.1 and later
        validated ``after leader changes`` alone until confluentinc/librdkafka#5158 was fixed.
    has_committed_epochs : bool
        Whether a commit carries the epoch; not where an application commits bare offsets, ``new
        OffsetAndMetadata(offset)``. `Commit` can say otherwise.

    Raises
    ------
    KafkaLearnError
        If there is no such group.

    Examples
    --------
    >>> Settings().validation, Settings(TopicSettings(release="2.2")).validation
    ('always', 'never')

    References
    ----------
    KIP-320: Apache Kafka 2.1 (epochs in fetches and commits), 2.3 (validation, KAFKA-7747).
    """

    topic: TopicSettings = field(default_factory=lambda: TopicSettings(fetch_wait_max_ms=0))
    consumers: tuple[str, ...] = ("A", "B")
    auto_offset_reset: str = EARLIEST
    validation: str | None = None
    has_committed_epochs: bool = True

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what no consumer can be."""
        check_fields(self)
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        if self.validation is None:
            object.__setattr__(self, "validation", ALWAYS if at_least("2.3", self.topic.release) else NEVER)
        else:
            one_of("validation", self.validation, VALIDATIONS)
        if self.validation != NEVER and not self.has_epochs:
            raise KafkaLearnError(
                f"validation is {self.validation!r}, but consumers of Kafka {self.topic.release} know no leader "
                "epochs; they came with 2.1 (KIP-320)"
            )
        if not self.consumers or len({*self.consumers}) < len(self.consumers):
            raise KafkaLearnError(
                f"give at least one consumer, each with a name of its own; got {shown(self.consumers)}"
            )

    @property
    def has_epochs(self) -> bool:
        """Whether fetches and commits carry leader epochs."""
        return self.topic.rules.fences_fetches
