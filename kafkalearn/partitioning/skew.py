"""Is it even? What the counts of partitions, or the loads of brokers, say about the rule that made them.

Two questions that are often taken for one:

- *How uneven is it?* The fullest partition against the mean (that one fills its disk first), and the *coefficient
  of variation*: the standard deviation divided by the mean.
- *Could chance alone have done this?* A fair rule does not give equal counts: it throws each id on a partition as
  dice would. Chi-square adds up how far the counts are from the mean, and its *p-value* is the share of fair
  throws that come out at least as uneven. A tiny p-value says "not fair dice", never "much": with ten million ids
  a difference of one percent is beyond chance, and still only one percent. A p-value near 1 says "not dice at
  all": dealt out in turn, which is more even than chance.

The p-value speaks of things that were placed one by one, like group ids or keys. Records of one key go together,
so for counts of records only the first question has an answer.

`evenness` answers both for the counts of partitions; `load_by_broker` adds up what each broker carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, exp, fsum, lgamma, log, sqrt

from kafkalearn.base.checks import number, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError

MOST_DEGREES = 1_000_000


def survival(chi_square: float, degrees_of_freedom: int) -> float:
    """The probability that a chi-square variable is at least `chi_square`.

    Parameters
    ----------
    chi_square : float
        At least 0.
    degrees_of_freedom : int
        1 to 1,000,000.

    Returns
    -------
    float
        In [0, 1]; to ten digits for up to 20,000 degrees of freedom, in both tails.

    Notes
    -----
    It is the regularised upper incomplete gamma function Q(a, x) with a = degrees of freedom / 2 and x = chi-square
    / 2. As a is a multiple of one half, ``Q(a + 1, x) = Q(a, x) + x**a * exp(-x) / gamma(a + 1)`` leads down to
    ``Q(1/2, x) = erfc(sqrt(x))`` or ``Q(0, x) = 0``: a sum of positive terms, in which no digits are lost.

    Examples
    --------
    >>> round(survival(3.841458820694124, 1), 12), round(survival(3.4, 4), 12)
    (0.05, 0.493245514942)
    """
    whole_number("degrees_of_freedom", degrees_of_freedom, 1, MOST_DEGREES)
    x = number("chi_square", chi_square, at_least=0) / 2
    if x == 0:
        return 1.0
    is_odd = degrees_of_freedom % 2
    powers = [is_odd / 2 + step for step in range(degrees_of_freedom // 2)]
    terms = [exp(power * log(x) - x - lgamma(power + 1)) for power in powers]
    return min(1.0, fsum([erfc(sqrt(x)) if is_odd else 0.0, *terms]))


RARE = 0.05
"""Below this p-value chance is an unlikely explanation, by convention."""

NEVER = 0.001
"""Below this p-value, and as near to 1, chance is no explanation."""


@dataclass(frozen=True, slots=True)
class Evenness:
    """How even some counts are, and whether a fair rule could have made them."""

    partition_count: int
    total: int
    mean: float
    smallest: int
    largest: int
    largest_over_mean: float
    variation: float  # standard deviation divided by mean
    chance_variation: float  # what fair throws of as many come to, typically
    chi_square: float
    degrees_of_freedom: int
    p_value: float  # share of fair throws that are at least as uneven

    def sentence(self) -> str:
        """The result read aloud: how uneven it is, and what chance has to do with it.

        >>> evenness([25, 17, 20, 15, 23]).sentence()
        'The fullest of 5 partitions holds 1.25 times the mean; chance alone could do this: 49.3% of fair throws \
are as uneven or more.'
        >>> evenness([1_010_000, 990_000]).sentence()
        'The fullest of 2 partitions holds 1.01 times the mean; chance alone does not do this (p < 0.001), yet it \
is little: so much was counted that a small difference shows.'
        """
        if self.partition_count == 1:
            return "There is only one partition: it holds everything, and there is nothing to compare."
        fullest = f"The fullest of {self.partition_count} partitions holds {self.largest_over_mean:.4g} times the mean"
        rough = " (fewer than 5 a partition: take the p-value as a hint)" if self.mean < 5 else ""
        return f"{fullest}; {self._chance()}{rough}."

    def _chance(self) -> str:
        percent = f"{100 * self.p_value:.3g}%"
        if self.p_value > 1 - NEVER:
            return "that is more even than chance: something deals them out"
        if self.p_value >= RARE:
            return f"chance alone could do this: {percent} of fair throws are as uneven or more"
        if self.p_value >= NEVER:
            return f"chance alone seldom does this: only {percent} of fair throws are as uneven or more"
        if self.largest_over_mean < 1.05 and self.smallest > 0.95 * self.mean:
            little = "yet it is little: so much was counted that a small difference shows"
            return f"chance alone does not do this (p < {NEVER}), {little}"
        return f"chance alone does not do this (p < {NEVER}): the rule or the data favour some partitions"


def evenness(counts: Iterable[int]) -> Evenness:
    """How even the counts of partitions are, and how likely a fair rule is to be as uneven.

    Parameters
    ----------
    counts : sequence of int
        One for each partition, at least 0. A partition that got nothing must be there with its 0: a grouped
        count leaves it out, and with it the worst of the unevenness.

    Returns
    -------
    Evenness
        With ``.sentence()`` to read it aloud. One partition has no degree of freedom; its p-value is 1.

    Raises
    ------
    KafkaLearnError
        If `counts` is empty, not a plain sequence of whole numbers, or all 0.

    Examples
    --------
    >>> result = evenness([25, 17, 20, 15, 23])
    >>> result.chi_square, result.degrees_of_freedom, round(result.p_value, 3)
    (3.4, 4, 0.493)
    >>> result.largest, result.largest_over_mean, round(result.variation, 3), result.chance_variation
    (25, 1.25, 0.184, 0.2)

    References
    ----------
    Pearson's chi-square test against equal shares.
    """
    counts = _whole_counts(counts)
    partition_count, total = len(counts), sum(counts)
    if total == 0:
        raise KafkaLearnError("counts are all 0: nothing was counted, so there is nothing to compare")
    # sum((count - mean)**2) / mean, in whole numbers up to the division, so that nothing is rounded away.
    chi_square = (partition_count * sum(count * count for count in counts) - total * total) / total
    freedom = partition_count - 1
    mean = total / partition_count
    return Evenness(
        partition_count=partition_count,
        total=total,
        mean=mean,
        smallest=min(counts),
        largest=max(counts),
        largest_over_mean=max(counts) / mean,
        variation=sqrt(chi_square / total),
        chance_variation=sqrt(freedom / total),
        chi_square=chi_square,
        degrees_of_freedom=freedom,
        p_value=survival(chi_square, freedom) if freedom else 1.0,
    )


@dataclass(frozen=True, slots=True)
class BrokerLoad:
    """What the partitions that a broker leads bring to it."""

    broker_id: int | None  # None: partitions without a leader
    partition_count: int
    count: int
    share: float  # of everything counted


def load_by_broker(
    counts: Iterable[int], leaders: Sequence[int | None], broker_ids: Sequence[int] = ()
) -> tuple[BrokerLoad, ...]:
    """How much each broker carries, given what each partition holds and who leads it.

    Parameters
    ----------
    counts : sequence of int
        ``counts[p]`` is what partition ``p`` holds.
    leaders : sequence of int or None
        ``leaders[p]`` is the broker that leads it, None if it has no leader.
    broker_ids : sequence of int
        Brokers of the cluster; needed only for those that may lead nothing, which `leaders` cannot tell.

    Returns
    -------
    tuple of BrokerLoad
        By broker id, what has no leader last; the shares add up to 1.

    Raises
    ------
    KafkaLearnError
        If the two sequences differ in length, or `counts` is not as in `evenness`.

    Examples
    --------
    >>> for load in load_by_broker([40, 10, 30, 20], leaders=[1, 2, 1, None], broker_ids=[1, 2, 3]):
    ...     print(load)
    BrokerLoad(broker_id=1, partition_count=2, count=70, share=0.7)
    BrokerLoad(broker_id=2, partition_count=1, count=10, share=0.1)
    BrokerLoad(broker_id=3, partition_count=0, count=0, share=0.0)
    BrokerLoad(broker_id=None, partition_count=1, count=20, share=0.2)
    """
    counts = _whole_counts(counts)
    leaders = _brokers("leaders", leaders)
    if len(counts) != len(leaders):
        raise KafkaLearnError(
            f"counts has {len(counts)} partitions and leaders {len(leaders)}; both need one entry for each partition"
        )
    total = sum(counts)
    if total == 0:
        raise KafkaLearnError("counts are all 0: nothing was counted, so nobody carries a share of it")
    ids = sorted({*leaders, *_brokers("broker_ids", broker_ids)}, key=lambda each: (each is None, each or 0))
    led: dict[int | None, list[int]] = {broker_id: [] for broker_id in ids}
    for count, leader in zip(counts, leaders, strict=True):
        led[leader].append(count)
    return tuple(BrokerLoad(broker_id, len(its), sum(its), sum(its) / total) for broker_id, its in led.items())


def _brokers(name: str, broker_ids: object) -> tuple[int | None, ...]:
    given = enumerate(sequence(name, broker_ids, of="broker ids"))
    return tuple(None if each is None else whole_number(f"{name}[{place}]", each, at_least=0) for place, each in given)


def _whole_counts(counts: object) -> tuple[int, ...]:
    """The counts as plain ints; arrays and columns of whole numbers are welcome."""
    if isinstance(counts, (str, bytes, Mapping)) or not isinstance(counts, Iterable) or getattr(counts, "ndim", 1) != 1:
        hint = "; give its values, with a 0 for each partition it leaves out" if isinstance(counts, Mapping) else ""
        raise KafkaLearnError(
            f"counts must be a sequence with one whole number for each partition, got {type(counts).__name__}{hint}"
        )
    whole = tuple(whole_number(f"counts[{index}]", count, at_least=0) for index, count in enumerate(counts))
    if not whole:
        raise KafkaLearnError("counts is empty: name what each partition holds, 0 included")
    return whole
