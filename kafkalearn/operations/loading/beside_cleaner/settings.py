"""What stays the same: the release, which says how strict the loader is."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, check_fields
from kafkalearn.log.settings import Settings as LogSettings
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

FIXED_IN = {"4.2": "4.2.0", "4.1": "4.1.2", "4.0": "4.0.2"}


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The release of the broker: 4.0 or later, where the loader is the one described.

    >>> [Settings(release).has_strict_loader for release in ("4.0.1", "4.0.2", "4.1.1", "4.1.2", "4.3")]
    [True, False, True, False, False]
    """

    release: ReleaseName = DEFAULT_RELEASE

    def __post_init__(self) -> None:
        """Refuse releases whose groups are loaded otherwise."""
        check_fields(self)
        if not at_least("4.0", self.release):
            raise KafkaLearnError(
                f"release must be 4.0 or later, got {self.release}: before, KIP-848 was not for production, and groups "
                "were built after the last record"
            )

    @property
    def has_strict_loader(self) -> bool:
        """Whether a partition that has an owner already ends the load with an exception."""
        fixed_in = next(fixed for line, fixed in FIXED_IN.items() if at_least(line, self.release))
        return not at_least(fixed_in, self.release)

    @property
    def log(self) -> LogSettings:
        """The offsets topic's own, as far as the cleaner asks for them."""
        return LogSettings(cleanup_policy="compact", release=self.release)
