"""The leader epoch cache: which epoch begins at which offset of a log, and where an epoch ends.

A *leader epoch* counts the elections of a partition. Every replica keeps a list of ``(epoch, start offset)``, its
file ``leader-epoch-checkpoint``: the first offset that was written under each epoch. Two replicas that compare
these lists find the place where their logs part. All functions here take a list and return a new one.
"""

from __future__ import annotations

from typing import TypeAlias

from kafkalearn.arguments import whole_number

Epochs: TypeAlias = tuple[tuple[int, int], ...]
"""The entries ``(epoch, start offset)``, both ascending."""

UNDEFINED = (-1, -1)
"""The answer where there is none."""


def assign(epochs: Epochs, epoch: int, start_offset: int) -> Epochs:
    """The cache once `epoch` is known to begin at `start_offset`.

    What stands in its way goes: entries with that epoch or a later one, or with that offset or a later one.

    >>> assign(((0, 0), (3, 8)), 4, 8)
    ((0, 0), (4, 8))
    """
    whole_number("epoch", epoch, at_least=0)
    whole_number("start_offset", start_offset, at_least=0)
    if epochs and epochs[-1][0] == epoch and start_offset >= epochs[-1][1]:
        return epochs
    kept = tuple(entry for entry in epochs if entry[0] < epoch and entry[1] < start_offset)
    return (*kept, (epoch, start_offset))


def end_offset_for(epochs: Epochs, epoch: int, log_end_offset: int) -> tuple[int, int]:
    """Where `epoch` ends in this log: the largest epoch of the cache not above it, and its end offset.

    Parameters
    ----------
    epochs : tuple of (int, int)
        The cache.
    epoch : int
        The epoch asked for; -1 asks for none.
    log_end_offset : int
        Where the newest epoch ends.

    Returns
    -------
    tuple of (int, int)
        `UNDEFINED` if the cache is empty, or knows nothing up to that epoch's end. An epoch before the first
        entry is answered as itself, ending where the first begins.

    Examples
    --------
    >>> end_offset_for(((0, 0), (3, 2), (4, 8)), 2, 17), end_offset_for(((0, 0), (3, 2), (4, 8)), 4, 17)
    ((0, 2), (4, 17))

    References
    ----------
    Apache Kafka 2.0 to 4.3, ``LeaderEpochFileCache.endOffsetFor``.
    """
    if not epochs or epoch == -1 or epoch > epochs[-1][0]:
        return UNDEFINED
    if epoch == epochs[-1][0]:
        return epoch, log_end_offset
    end_offset = next(start for later, start in epochs if later > epoch)
    return max((each for each, _ in epochs if each <= epoch), default=epoch), end_offset


def end_offset_before_kip_279(epochs: Epochs, epoch: int, log_end_offset: int) -> int:
    """Where `epoch` ends as leaders of 0.11 and 1.x answered: without saying which epoch they speak of.

    A leader that never knew the epoch answered all the same, and the follower could not know (KIP-279).

    >>> end_offset_before_kip_279(((0, 0), (3, 2), (4, 8)), 2, 17)
    2
    """
    if epochs and epoch < epochs[0][0]:
        return UNDEFINED[1]
    return end_offset_for(epochs, epoch, log_end_offset)[1]


def cut_from_end(epochs: Epochs, end_offset: int) -> Epochs:
    """The cache of a log that was cut to end at `end_offset`.

    >>> cut_from_end(((0, 0), (3, 2), (4, 8)), 8)
    ((0, 0), (3, 2))
    """
    return tuple(entry for entry in epochs if entry[1] < end_offset)


def cut_from_start(epochs: Epochs, start_offset: int) -> Epochs:
    """The cache of a log whose start moved to `start_offset`: the epoch that is cut in two begins there.

    >>> cut_from_start(((0, 0), (3, 2), (4, 8)), 5)
    ((3, 5), (4, 8))
    """
    before = [entry for entry in epochs if entry[1] <= start_offset]
    if not before:
        return epochs
    return ((before[-1][0], start_offset), *epochs[len(before) :])
