"""How many keys change their partition when the number of partitions changes: exactly, for ``hash % count``.

The rule is the same for record keys and a topic, and for group ids and ``__consumer_offsets``.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from kafkalearn.arguments import whole_number


def moved_share(before: int, after: int) -> Fraction:
    """The share of all hash values h with ``h % before != h % after``.

    Both remainders repeat every ``lcm(before, after)`` hash values. They are equal for exactly
    ``min(before, after)`` of those: the values below both counts.

    Parameters
    ----------
    before, after : int
        Partition counts, at least 1.

    Returns
    -------
    Fraction
        In [0, 1). Of keys whose hashes are spread evenly this share moves.

    Raises
    ------
    KafkaLearnError
        If a count is not a whole number of at least 1.

    Examples
    --------
    >>> moved_share(6, 12), moved_share(6, 7)  # doubling moves half, one more moves nearly all
    (Fraction(1, 2), Fraction(6, 7))
    """
    whole_number("before", before, at_least=1)
    whole_number("after", after, at_least=1)
    return 1 - Fraction(min(before, after), lcm(before, after))
