"""What stays the same in a ZooKeeper: the length of its tick, in which all times of sessions are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, Checked, FilledIn, Millis, Whole, check_fields

Tick = Annotated[int, Whole(1, 3_600_000)]


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The settings of a ZooKeeper by its own names, with its defaults.

    Parameters
    ----------
    tick_time_ms : int
        ``tickTime``. Sessions end at whole ticks only.
    min_session_timeout_ms, max_session_timeout_ms : int or None
        What a client may ask for; None: 2 and 20 ticks.

    Raises
    ------
    KafkaLearnError
        If a field is no whole number within its bounds, or the least time-out is above the most.

    Examples
    --------
    >>> settings = Settings()
    >>> settings.granted_timeout_ms(1000), settings.granted_timeout_ms(6000), settings.granted_timeout_ms(100_000)
    (4000, 6000, 40000)

    References
    ----------
    ZooKeeper 3.4, ``ServerConfig``, ``ZooKeeperServer.processConnectRequest``.
    """

    tick_time_ms: Tick = 2000
    min_session_timeout_ms: FilledIn[Millis] = NOT_GIVEN
    max_session_timeout_ms: FilledIn[Millis] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what depends on the tick."""
        check_fields(self)
        fill_in(self, min_session_timeout_ms=2 * self.tick_time_ms, max_session_timeout_ms=20 * self.tick_time_ms)
        if self.min_session_timeout_ms > self.max_session_timeout_ms:
            raise KafkaLearnError(
                f"min_session_timeout_ms ({self.min_session_timeout_ms}) must not be above max_session_timeout_ms "
                f"({self.max_session_timeout_ms})"
            )

    def granted_timeout_ms(self, asked_ms: int) -> int:
        """The session time-out that a client gets which asks for one."""
        return min(max(asked_ms, self.min_session_timeout_ms), self.max_session_timeout_ms)

    def expiry_ms(self, heard_ms: int, timeout_ms: int) -> int:
        """When a session ends that was heard of last at a moment: the next whole tick after its time-out.

        >>> Settings().expiry_ms(100, 6000), Settings().expiry_ms(1999, 6000), Settings().expiry_ms(2000, 6000)
        (8000, 8000, 10000)
        """
        return ((heard_ms + timeout_ms) // self.tick_time_ms + 1) * self.tick_time_ms
