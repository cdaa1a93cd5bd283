"""What each commit of a group changes: how far it moves the offset that was committed before.

The coordinator compares with nothing. A consumer that idles commits the same offset again and again, and a commit that
was refused and is sent again behind the next one moves the group **back**. `moves` reads that off a log of commits;
`committed_at` plays a consumer that commits at fixed times, so that a log can be foretold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits.model import Answered, CommitAsync, CommitEvent, Poll, Produce, Settings, Start
from kafkalearn.commits.simulator import simulate


def moves(commits: Iterable[tuple[Hashable, int | None]]) -> list[int | None]:
    """How many records each commit moves its partition: 0 says nothing new, less than 0 goes back.

    Parameters
    ----------
    commits : iterable of (key, int or None)
        In the order of the log. The key names group, topic and partition, in any form; None is a tombstone.

    Returns
    -------
    list of int or None
        One for each commit; None for a tombstone, for the first commit of a key, and for the first behind a tombstone.

    Raises
    ------
    KafkaLearnError
        If an offset is no whole number from 0 up.

    Examples
    --------
    >>> moves([("orders-0", 3), ("orders-1", 7), ("orders-0", 9), ("orders-0", 6), ("orders-0", 6)])
    [None, None, 6, -3, 0]

    References
    ----------
    Apache Kafka 4.3, ``OffsetMetadataManager.commitOffset``: no look at the offset that is there.
    """
    before: dict[Hashable, int | None] = {}
    found: list[int | None] = []
    for key, offset in commits:
        last = before.get(key)
        if offset is not None:
            whole_number("offset", offset, at_least=0)
        found.append(None if offset is None or last is None else offset - last)
        before[key] = offset
    return found


def committed_at(ends: Sequence[int], *, refused: Iterable[int] = (), is_retried: bool = False) -> list[int]:
    """The offsets that a consumer commits to one partition, in the order in which the coordinator takes them.

    The simulator is stepped: each time the consumer polls what has come, and commits its position by ``commitAsync``.
    What came before the first time counts as read: of it only the offset is left.

    Parameters
    ----------
    ends : sequence of int
        The partition's log end at each of those times; it never falls.
    refused : iterable of int
        The times, counted from 0, whose commit is answered with an error that a retry can fix.
    is_retried : bool
        Whether the callback puts such a commit aside and sends it again behind the next one.

    Raises
    ------
    KafkaLearnError
        If the log end falls, or a refused time is not among them.

    Examples
    --------
    >>> committed_at([3, 6, 9, 9], refused=[1])
    [3, 9, 9]
    >>> committed_at([3, 6, 9, 9], refused=[1], is_retried=True)
    [3, 9, 6, 9]
    """
    refused = set(refused)
    if strange := sorted(refused - set(range(len(ends)))):
        raise KafkaLearnError(f"refused names {strange}; there are the times 0 to {len(ends) - 1}")
    first = whole_number("ends[0]", ends[0], at_least=0) if ends else 0
    settings = Settings(0, max_poll_records=max([1, *ends]))
    events: list[CommitEvent] = [Start()]
    end, aside = first, None
    for time, now in enumerate(ends):
        if whole_number(f"ends[{time}]", now, at_least=0) < end:
            raise KafkaLearnError(f"ends falls from {end} to {now}; a log's end never does")
        events += [Produce(now - end), Poll(), CommitAsync()]
        sent_again = [aside] if aside is not None else []
        events += [CommitAsync(offset=offset - first) for offset in sent_again]
        events += [Answered(is_retriable=time in refused), *[Answered()] * len(sent_again)]
        aside = now if is_retried and time in refused else None
        end = now
    return [first + each.offset for each in simulate(settings, events)[-1].state.written]
