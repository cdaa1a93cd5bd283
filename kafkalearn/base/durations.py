"""Format durations: in two units where they may be anything, in one where they are compared.

>>> duration(90_000_000), seconds(54_010), whole_units(1_500)
('1 d 1 h', '54.01 s', '1,500 ms')
"""

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))


def duration(ms: int) -> str:
    """Format a duration in its two largest units.

    >>> [duration(each) for each in (0, 1500, 86_400_000, 90_000_000, -5000)]
    ['0 s', '1 s 500 ms', '1 d', '1 d 1 h', '-5 s']
    """
    left = abs(ms)
    parts: list[str] = []
    for length, unit in _UNITS:
        if left >= length and len(parts) < 2:
            parts.append(f"{left // length} {unit}")
            left %= length
        elif parts:
            break
    return ("-" if ms < 0 else "") + (" ".join(parts) or "0 s")


def seconds(ms: int) -> str:
    """Format a duration in seconds, as exact as it is.

    >>> seconds(54_010), seconds(6000), seconds(720_000)
    ('54.01 s', '6 s', '720 s')
    """
    return f"{ms / 1000:.3f}".rstrip("0").rstrip(".") + " s"


def whole_units(ms: int) -> str:
    """Format a duration in seconds, or in milliseconds where it has a part of a second.

    >>> whole_units(299_000), whole_units(400)
    ('299 s', '400 ms')
    """
    return f"{ms:,} ms" if ms % 1000 else f"{ms // 1000:,} s"
