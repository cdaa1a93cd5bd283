"""How Kafka 4.2 and 4.3 laid the batches of a share-partition over one another: pair by pair.

The states of the offsets are those of `kafkalearn.formats.share_state_log.combine_batches`, which 4.4 does by one
sweep. Here two neighbours that overlap, or touch and are alike, are taken out and what becomes of them is put back,
until no pair is left; a batch with nothing to its left any more is done with. So now and then two batches are left
side by side that could be one: what is put back may touch one that was done with before.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.formats.share_state_log import StateBatch


def combine_pairs(
    batches: Iterable[StateBatch], more: Iterable[StateBatch] = (), start_offset: int = -1
) -> tuple[StateBatch, ...]:
    """Batches over one another, as the share coordinator of 4.2 and 4.3 wrote them.

    Parameters
    ----------
    batches, more, start_offset
        As in `kafkalearn.formats.share_state_log.combine_batches`.

    Examples
    --------
    >>> there = [StateBatch(2, 2, 2, 1), StateBatch(3, 3, 0, 1)]
    >>> [(each.first, each.last) for each in combine_pairs(there, [StateBatch(3, 3, 2, 1)])]
    [(2, 2), (3, 3)]

    References
    ----------
    Apache Kafka 4.2 and 4.3, ``PersisterStateBatchCombiner``.
    """
    given = [*batches, *more]
    if start_offset != -1:
        given = [
            each if each.first >= start_offset else StateBatch(start_offset, each.last, each.state, each.count)
            for each in given
            if each.last >= start_offset
        ]
    if len(given) < 2:
        return tuple(given)
    left = set(given)
    done: list[StateBatch] = []
    while left:
        ordered = sorted(left, key=_order)
        place = next((at for at in range(1, len(ordered)) if _is_pair(ordered[at - 1], ordered[at])), None)
        if place is None:
            done += ordered
            break
        done += ordered[: place - 1]
        left = set(ordered[place + 1 :]) | set(_of_pair(ordered[place - 1], ordered[place]))
    return tuple(done)


def _order(each: StateBatch) -> tuple[int, int, int, int]:
    return each.first, each.last, each.count, each.state


def _rank(each: StateBatch) -> tuple[int, int]:
    return each.count, each.state


def _is_pair(one: StateBatch, other: StateBatch) -> bool:
    return other.first <= one.last or (one.last + 1 == other.first and _rank(one) == _rank(other))


def _of_pair(one: StateBatch, other: StateBatch) -> list[StateBatch]:
    """What becomes of a batch and the next one, which begins with it or behind its begin."""
    if _rank(one) == _rank(other):
        return [StateBatch(one.first, max(one.last, other.last), one.state, one.count)]
    wins = _rank(other) > _rank(one)
    before = [StateBatch(one.first, other.first - 1, one.state, one.count)] if one.first < other.first else []
    if wins:
        behind = [StateBatch(other.last + 1, one.last, one.state, one.count)] if other.last < one.last else []
        return [*before, other, *behind]
    return [one, *([StateBatch(one.last + 1, other.last, other.state, other.count)] if other.last > one.last else [])]
