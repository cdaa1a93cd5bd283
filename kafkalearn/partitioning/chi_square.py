"""The chi-square distribution: how often chance alone gives a sum of squares that is at least so large."""

from __future__ import annotations

from math import erfc, exp, fsum, lgamma, log, sqrt

from kafkalearn.arguments import number, whole_number

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
