"""Numbers that look random and are the same in every run: uniform ones, and ones that follow Zipf's law.

A row's number is a hash of the row's place and the seed. It depends on nothing else: not on how Spark cuts the rows
into partitions, not on the machine. Spark's ``pow`` is Java's StrictMath, the same everywhere.

Zipf's law: the key of rank ``k`` gets a share proportional to ``k ** -exponent``. With exponent 0 all are equal;
near 1 a few keys get much of everything, as words do in a text and customers in a shop.
"""

from __future__ import annotations

import math

from pyspark.sql import Column
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError

HEAD_COUNT = 16


def hash_of(seed: int, purpose: str, number: Column) -> Column:
    """A bigint that depends on the seed, on what it is for, and on the number; each of its bits looks random."""
    return sf.xxhash64(sf.lit(seed), sf.lit(purpose), number)


def uniform(seed: int, purpose: str, number: Column) -> Column:
    """A double in [0, 1): the upper 53 bits of `hash_of`, as many as a double holds."""
    return sf.shiftrightunsigned(hash_of(seed, purpose, number), 11) / sf.lit(2.0**53)


def zipf_rank(chance: Column, key_count: int, exponent: float) -> Column:
    """The rank, bigint from 1 to `key_count`, of a key drawn by Zipf's law.

    Parameters
    ----------
    chance : Column
        A double in [0, 1), as from `uniform`.
    key_count : int
        How many keys there are, at least 1.
    exponent : float
        0 for equal shares; 0.5 to 1.5 in practice.

    Notes
    -----
    The rank is where the cumulative shares pass `chance`. For the first 16 ranks these sums stand in the query.
    From there on the sum is taken for an integral, the share of rank ``k`` being the area from ``k - 1/2`` to
    ``k + 1/2``; its inverse is one power, and a key's share is off by less than ``s * (s + 1) / 6936`` of itself
    (below 0.06% for exponents to 1.5).
    """
    whole_number("key_count", key_count, at_least=1)
    if not 0 <= exponent <= 10:
        raise KafkaLearnError(f"exponent must be from 0 (all keys alike) to 10, got {exponent!r}")
    shares = _head_shares(key_count, exponent)
    sums = [math.fsum(shares[: rank + 1]) for rank in range(len(shares))]
    if key_count <= HEAD_COUNT:
        sums, last = sums[:-1], sf.lit(key_count)
    else:
        last = _tail_rank((chance - sums[-1]) / (1 - sums[-1]), key_count, exponent)
    rank = last.cast("bigint")
    for index in reversed(range(len(sums))):
        rank = sf.when(chance < sums[index], sf.lit(index + 1)).otherwise(rank)
    return rank.cast("bigint")


def _head_shares(key_count: int, exponent: float) -> list[float]:
    total = math.fsum(rank**-exponent for rank in range(1, key_count + 1))
    return [rank**-exponent / total for rank in range(1, min(key_count, HEAD_COUNT) + 1)]


def _tail_rank(chance: Column, key_count: int, exponent: float) -> Column:
    low, high = HEAD_COUNT + 0.5, key_count + 0.5
    power = 1 - exponent
    if abs(power) < 1e-9:
        position = low * sf.pow(sf.lit(high / low), chance)
    else:
        position = sf.pow(low**power + chance * (high**power - low**power), sf.lit(1 / power))
    return sf.least(sf.greatest(sf.floor(position + 0.5), sf.lit(HEAD_COUNT + 1)), sf.lit(key_count))
