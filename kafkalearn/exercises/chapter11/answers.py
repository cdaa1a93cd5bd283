"""Ways to place a timer in wheels of 20 buckets: the right one, and those with one thing wrong."""

from __future__ import annotations

AT_ONCE = (0, 0)


def right(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """The finest wheel that reaches it, in absolute time."""
    if expires_ms < clock_ms + 1:
        return AT_ONCE
    wheel, tick_ms = 1, 1
    while expires_ms >= clock_ms - clock_ms % tick_ms + 20 * tick_ms:
        wheel, tick_ms = wheel + 1, 20 * tick_ms
    return wheel, expires_ms // tick_ms % 20


def by_delay(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Counts the bucket from the clock."""
    found = right(clock_ms, expires_ms)
    return found if found == AT_ONCE else (found[0], (expires_ms - clock_ms) // 20 ** (found[0] - 1) % 20)


def with_exact_clock(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Lets every wheel reach a whole turn from the exact clock."""
    if expires_ms < clock_ms + 1:
        return AT_ONCE
    wheel, tick_ms = 1, 1
    while expires_ms >= clock_ms + 20 * tick_ms:
        wheel, tick_ms = wheel + 1, 20 * tick_ms
    return wheel, expires_ms // tick_ms % 20


def reaching_too_far(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Lets a wheel hold the time at which its turn is over."""
    if expires_ms < clock_ms + 1:
        return AT_ONCE
    wheel, tick_ms = 1, 1
    while expires_ms > clock_ms - clock_ms % tick_ms + 20 * tick_ms:
        wheel, tick_ms = wheel + 1, 20 * tick_ms
    return wheel, expires_ms // tick_ms % 20


def never_at_once(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Puts into a bucket what is due already."""
    found = right(clock_ms, expires_ms)
    return (1, expires_ms % 20) if found == AT_ONCE else found
