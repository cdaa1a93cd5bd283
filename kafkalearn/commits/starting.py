"""Where a consumer begins: at the committed offset, and if that is missing or out of range, by auto.offset.reset."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from kafkalearn.arguments import LARGEST_LONG, sequence, whole_number
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.phrases import shown
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least

NO_OFFSET, OUT_OF_RANGE = "NoOffsetForPartitionException", "OffsetOutOfRangeException"
POLICIES = ("earliest", "latest", "none", "by_duration:PT1H")


class NoStart(KafkaLearnError):  # noqa: N818  (named for what it is)
    """``auto.offset.reset=none`` and no offset to begin at: the real consumer's poll throws the exception named."""

    def __init__(self, exception: str) -> None:
        """Name the exception of the Java consumer."""
        self.exception = exception
        super().__init__(f"auto.offset.reset is none: poll throws {exception}; commit or seek to an offset first")


def start_offset(
    committed: int | None,
    log_start: int,
    log_end: int,
    auto_offset_reset: str = "latest",
    *,
    timestamps_ms: Sequence[int] = (),
    now_ms: int = 0,
    release: str = DEFAULT_RELEASE,
) -> int:
    """The offset at which a consumer begins to read.

    Parameters
    ----------
    committed : int or None
        The committed offset of its group; None (OffsetFetch answers -1): there is none.
    log_start, log_end : int
        The oldest offset that is still there, and the one the next record will get.
    auto_offset_reset : str
        ``earliest``, ``latest``, ``none`` or, since 4.0, ``by_duration:`` with an ISO duration such as ``PT1H``,
        ``P2D`` or ``PT90S``. It counts only where the committed offset is missing or out of range.
    timestamps_ms : sequence of int
        Of the records from `log_start` on, rising; for ``by_duration`` only.
    now_ms : int
        The consumer's clock; for ``by_duration`` only.
    release : str
        Of the consumer.

    Raises
    ------
    NoStart
        With ``none``, as the real consumer throws.
    KafkaLearnError
        If the policy is not known, or not to this release.

    Examples
    --------
    >>> start_offset(40, 0, 100, "earliest"), start_offset(None, 0, 100, "earliest"), start_offset(None, 0, 100)
    (40, 0, 100)
    >>> start_offset(40, 60, 100)  # retention was faster: records 40 to 99 are not read
    100
    >>> start_offset(None, 0, 3, "by_duration:PT10S", timestamps_ms=[1_000, 50_000, 59_000], now_ms=60_000)
    1

    References
    ----------
    Apache Kafka: ``OffsetFetcherUtils``, ``SubscriptionState``; KIP-1106 (4.0).
    """
    whole_number("log_start", log_start, at_least=0)
    whole_number("log_end", log_end, at_least=log_start)
    if committed is not None and log_start <= whole_number("committed", committed, at_least=0) <= log_end:
        return committed
    if auto_offset_reset == "earliest":
        return log_start
    if auto_offset_reset == "latest":
        return log_end
    if auto_offset_reset == "none":
        raise NoStart(NO_OFFSET if committed is None else OUT_OF_RANGE)
    since_ms = whole_number("now_ms", now_ms, at_least=0) - _duration_ms(auto_offset_reset, release)
    times_ms = [
        whole_number("each of timestamps_ms", each, at_least=-1) for each in sequence("timestamps_ms", timestamps_ms)
    ]
    return min(log_start + bisect_left(times_ms, since_ms), log_end)


_DURATION = re.compile(r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1_000)


def _duration_ms(policy: str, release: str) -> int:
    found = _DURATION.fullmatch(policy) if isinstance(policy, str) else None
    if found is None or not any(found.groups()):
        raise unknown_name("auto_offset_reset", policy, POLICIES)
    if not at_least("4.0", release):
        raise KafkaLearnError(f"auto_offset_reset by_duration came with Kafka 4.0 (KIP-1106), not in {release}")
    reach_ms = sum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS_MS, strict=True))
    if reach_ms > LARGEST_LONG:
        raise KafkaLearnError(f"auto_offset_reset {shown(policy)} is longer than any clock has run; give a shorter one")
    return round(reach_ms)
