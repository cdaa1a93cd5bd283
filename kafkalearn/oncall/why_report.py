"""The words of `why`: the first line, which a person at three in the morning reads alone, and each rebalance in a line.

The first line says what happened, to whom, how often and what to do, in fewer than 100 characters; names that are too
long for it are cut in the middle. What follows is ordered by harm: who was refused and cannot come back by itself,
whose member was lost, what the log leaves open, what was planned; of one kind that which stood still longest first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.errors import counted, listed
from kafkalearn.oncall.answer import date_time, wrapped
from kafkalearn.oncall.logs import Reading, causes, transactions
from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs.causes import client_of
from kafkalearn.oncall.logs.lines import OF_A_WORKER, LogEvent
from kafkalearn.oncall.logs.rebalances import GroupHistory, Rebalance
from kafkalearn.oncall.logs.transactions import TransactionFinding

LONGEST_HEADLINE = 99  # characters
SHORTEST_NAME = 8  # of a name that is cut, with its "..."
NO_NAME = "a group that no line names"
MOST_REBALANCES = 20  # in the words; the data have all

# How much harm a cause does, and what the first line says of it and against it.

REFUSED, LOST, OPEN, PLANNED = range(4)
"""Refused for good; a member lost; the log does not decide; what somebody wanted."""


class _Brief(NamedTuple):
    harm: int
    words: str  # follow the client's name
    advice: str  # what to do
    alone: str | None = None  # where no client is named; None: "a member" and the words


_BRIEF: Mapping[str, _Brief] = MappingProxyType(
    {
        causes.UNAUTHORIZED: _Brief(REFUSED, "may not use the group", "grant READ on it"),
        causes.BAD_TIMEOUT: _Brief(REFUSED, "has a refused timeout", "set session.timeout.ms"),
        causes.TOO_OLD: _Brief(REFUSED, "shares no version with it", "upgrade the client"),
        causes.FATAL: _Brief(REFUSED, "met a fatal error", "read the line before it"),
        causes.INCONSISTENT: _Brief(REFUSED, "has no assignor in common", "set the same assignors"),
        causes.CAPACITY: _Brief(REFUSED, "is one member too many", "raise group.max.size"),
        causes.FENCED: _Brief(REFUSED, "shares its group.instance.id", "give each its own"),
        causes.STORE: _Brief(
            REFUSED, "had no room for it", "look at __consumer_offsets", "the assignment was not stored"
        ),
        causes.POLL: _Brief(LOST, "polled too late", "raise max.poll.interval.ms"),
        causes.HEARTBEATS: _Brief(LOST, "was not heard of", "see if it died or paused"),
        causes.SYNC: _Brief(LOST, "took no assignment", "see if it died or paused"),
        causes.TOO_LATE: _Brief(LOST, "revoked too late", "see what it does on revoke"),
        causes.DROPPED: _Brief(LOST, "was no member any more", "read the coordinator's log"),
        causes.NO_COORDINATOR: _Brief(LOST, "lost its coordinator", "see if that broker lives"),
        causes.MOVED: _Brief(LOST, "saw its coordinator move", "see why it moved"),
        causes.LEFT: _Brief(OPEN, "left", "read its own log"),
        causes.UNKNOWN: _Brief(OPEN, "was in it, why unsaid", "read the coordinator's log", "why is not said"),
        causes.REJOINED: _Brief(OPEN, "joined again", "read its own log"),
        causes.LEADER: _Brief(OPEN, "led and joined again", "read its own log"),
        causes.REMOVED: _Brief(PLANNED, "was removed by an admin", "ask who did"),
        causes.CLOSED: _Brief(PLANNED, "was closed", "group.instance.id spares it"),
        causes.UNSUBSCRIBED: _Brief(PLANNED, "gave up its subscription", "nothing to do"),
        causes.JOINED: _Brief(PLANNED, "joined", "nothing to do if it was started"),
        causes.TOPICS: _Brief(PLANNED, "saw topics change", "nothing to do", "topics changed"),
        causes.SUBSCRIPTION: _Brief(PLANNED, "changed its subscription", "nothing to do"),
        causes.EITHER: _Brief(
            PLANNED, "saw topics or a subscription change", "nothing to do", "topics or a subscription changed"
        ),
        causes.SECOND_ROUND: _Brief(PLANNED, "gave up partitions", "planned: nothing to do"),
        causes.OWN: _Brief(PLANNED, "joined again by itself", "nothing to do"),
        causes.STATIC: _Brief(PLANNED, "came back with other topics", "nothing to do"),
        causes.FOLLOWUP: _Brief(PLANNED, "moved tasks", "planned: nothing to do"),
        causes.INITIALISED: _Brief(
            PLANNED, "saw partitions initialised", "nothing to do", "share-partitions were initialised"
        ),
    }
)
"""Every cause; a test holds that none is missing."""

_OF_WORKERS: Mapping[str, str] = MappingProxyType(
    {
        causes.POLL: "raise rebalance.timeout.ms",
        causes.CLOSED: "scheduled.rebalance.max.delay.ms",
    }
)


_OF_TRANSACTIONS: Mapping[str, str] = MappingProxyType(
    {
        transactions.TIMED_OUT: "end them sooner, or raise transaction.timeout.ms",
        transactions.OPEN_LONG: "end it sooner, or raise transaction.timeout.ms",
        transactions.ROLLBACK_FAILED: "look at __transaction_state",
        transactions.FENCED: "look for a second process of this id",
        transactions.OLD_EPOCH: "look for a second process of this id",
        transactions.NOT_ENDED: "begin it anew from the last commit",
        transactions.MARKER_REFUSED: "end it: kafka-transactions.sh find-hanging",
        transactions.MARKER_DELAYED: "look at that partition's leader",
        transactions.GIVEN_UP: "see if the topic was deleted",
        transactions.EXPIRED: "call initTransactions() anew",
        transactions.BAD_TIMEOUT: "lower transaction.timeout.ms",
        transactions.OTHER_STATE: "see which marker it waits for",
        transactions.OUT_OF_ORDER: "abort and begin anew",
        transactions.NOT_VERIFIED: "abort and begin anew",
        transactions.UNSUPPORTED: "upgrade transaction.version to 2",
    }
)
"""What the first line says to do; the whole is in `kafkalearn.oncall.logs.transactions.MEANINGS`."""


def harm_of(one: Rebalance) -> tuple[int, int]:
    """By what rebalances are ordered, the worst first: how bad its cause is, then how long the group stood still."""
    return _BRIEF[one.cause].harm, -(one.standstill_ms or one.duration_ms or 0)


def by_harm(rebalances: Iterable[Rebalance]) -> list[Rebalance]:
    """Rebalances, the most harmful first; of one harm in the order of time."""
    return sorted(rebalances, key=harm_of)


def middle_cut(name: str, longest: int) -> str:
    """Truncate a name to a width in its middle: what tells one from another stands at its ends.

    >>> middle_cut("consumer-orders-eu-7", 12), middle_cut("billing", 12)
    ('consu...eu-7', 'billing')
    """
    if len(name) <= longest:
        return name
    front = (longest - 3 + 1) // 2
    return f"{name[:front]}...{name[len(name) - (longest - 3 - front) :]}"


def _fitted(form: str, names: Sequence[str]) -> str:
    """A sentence with names in it, which are cut as far as it needs to be short enough."""
    rest = LONGEST_HEADLINE - len(form.replace("{}", ""))
    by_length = sorted(range(len(names)), key=lambda place: len(names[place]))
    room: dict[int, int] = {}
    for done, place in enumerate(by_length):  # who needs less than its share leaves the rest to the others
        share = rest // (len(names) - done)
        room[place] = max(SHORTEST_NAME, min(len(names[place]), share))
        rest -= room[place]
    return form.format(*(middle_cut(name, room[place]) for place, name in enumerate(names)))


def headline(groups: Iterable[tuple[str | None, Sequence[Rebalance]]], found: Sequence[TransactionFinding]) -> str:
    """What happened, to whom, how often and what to do, in fewer than 100 characters; empty: nothing to tell.

    Parameters
    ----------
    groups : iterable of (str or None, sequence of Rebalance)
        Each group and its rebalances, without that which formed it.
    found : sequence of TransactionFinding
        What went wrong with transactions; it is told where no group had more than a planned rebalance.
    """
    worst: tuple[tuple[int, int, int], str | None, Sequence[Rebalance], str, str | None] | None = None
    for group, rebalances in groups:
        counts: Counter[tuple[str, str | None]] = Counter()
        stills: Counter[tuple[str, str | None]] = Counter()
        for each in rebalances:
            counts[each.cause, each.client] += 1
            stills[each.cause, each.client] -= harm_of(each)[1]
        for (cause, client), count in counts.items():
            still = stills[cause, client]
            rank = (_BRIEF[cause].harm, -count, -still)
            if worst is None or rank < worst[0]:
                worst = (rank, group, rebalances, cause, client)
    if found and (worst is None or worst[0][0] >= OPEN):
        first = found[0]
        who = first.transactional_id or ("a producer" if first.producer_id is None else f"producer {first.producer_id}")
        return _fitted(f"{{}}: transaction {first.kind}, {first.count} x; {_OF_TRANSACTIONS[first.kind]}.", (who,))
    if worst is None:
        return ""
    _, group, rebalances, cause, client = worst
    mine = [each for each in rebalances if (each.cause, each.client) == (cause, client)]
    brief = _BRIEF[cause]
    is_worker = any(event.fields.get(OF_A_WORKER) for each in mine for event in each.evidence)
    advice = _OF_WORKERS.get(cause, brief.advice) if is_worker else brief.advice
    of_group = "an unnamed group" if group is None else "{}"  # words are not cut, names are
    who = brief.alone or f"a member {brief.words}" if client is None else f"{{}} {brief.words}"
    often = f"{len(mine):,} of {counted(len(rebalances), 'rebalance')}"
    names = [each for each in (group, client) if each is not None]
    return _fitted(f"{of_group}: {who}, {often}; {advice}.", names)


# Each rebalance, and what happened without one.

_NOTES = {
    kinds.STATIC_REPLACED: "{who} came back as a static member: no rebalance",
    kinds.STATIC_FENCED: "{who} is fenced: another member has its group.instance.id",
    kinds.STATIC_UNRELEASED: "a second member wants the group.instance.id {instance}, which is in use: it is refused",
    kinds.STATIC_LEFT_FOR_A_WHILE: "{who} left as a static member; its place is kept for the session timeout",
    kinds.NOT_REJOINED: "removed, because they did not join again within the rebalance timeout: {members}",
    kinds.GROUP_LOADED: "its coordinator has loaded the group: it moved to this broker, or the broker was started",
}


def rebalance_words(one: Rebalance, is_live: bool = False) -> str:
    """A rebalance in a line: when, how long, who and why; live: it may still go on, so that no end is no doubt."""
    length = "" if one.duration_ms is None else f", {seconds(one.duration_ms)}"
    late = f"; it waited for {listed(map(client_of, one.delayed_by))}" if one.delayed_by else ""
    cut = "; another began before it was over" if one.is_interrupted else ""
    if one.ended_ms is None and one.started_ms is not None and not is_live:
        cut = "; no line says when it was over"
    return wrapped(f"{moment_words(one.started_ms)}{length}: {one.words}{late}{cut}", "  ", "    ")


def note_words(event: LogEvent) -> str | None:
    """What happened without a rebalance; None: nothing worth a line."""
    words = _NOTES.get(event.kind)
    if words is None:
        return None
    who = event.fields.get("instance") or (client_of(event.member) if event.member else "a member")
    said = words.format_map({**event.fields, "who": who, "members": event.fields.get("members", "?")})
    return f"{moment_words(event.time_ms)}: {said}"


def transaction_words(found: Sequence[TransactionFinding]) -> Iterator[str]:
    """What went wrong for each transactional id: how often, when, why, and what to do."""
    yield f"Transactions: {counted(len(found), 'finding')}"
    for each in found[:MOST_REBALANCES]:
        who = each.transactional_id or ("a producer" if each.producer_id is None else f"producer {each.producer_id}")
        often = "" if each.count == 1 else f", and {each.count - 1} more until {moment_words(each.last_ms)}"
        yield wrapped(f"{moment_words(each.first_ms)}{often}: {who}: {each.words}.", "  ", "    ")
        yield wrapped(f"What to do: {each.advice}.", "    ")
    if len(found) > MOST_REBALANCES:
        yield f"  {counted(len(found) - MOST_REBALANCES, 'finding')} more; --json has all."


def moment_words(time_ms: int | None) -> str:
    """Date and time, or that the lines have none."""
    return (None if time_ms is None else date_time(time_ms)) or "at a time unknown"


def doubts(reading: Reading) -> Iterator[str]:
    """What was wrong with the logs, so that an answer from them may be, too; a sentence each."""
    if reading.is_stopped:
        yield f"You have stopped the reading: this is from the {counted(reading.line_count, 'line')} until then."
    for name in reading.torn:
        read = counted(reading.line_counts.get(name, 0), "line")
        yield f"{name} is damaged or cut off: {read} could be unpacked, and nothing is known of the rest."
    for name in reading.skipped:
        yield f"{name} is not text, and was passed over."
    if reading.doubled_count:
        yield f"{counted(reading.doubled_count, 'event')} of brokers stand in two of the files; each counts once."
    for each in reading.clocks_back:
        yield (
            f"{each.source}:{each.line}: the time goes back by {seconds(each.back_ms)}. A clock was set back, or logs "
            "were put behind each other; events are in the order of their times."
        )
    if reading.without_time_count:
        without = counted(reading.without_time_count, "event")
        yield f"{without} without a date: their order is that of the lines, their length unknown."


def seconds(ms: int) -> str:
    """A length of time, to a tenth of a second."""
    return f"{ms / 1000:,.1f} s"


# What a log that goes on says, as it is read.


class Told:
    """What was printed of the groups of a log that goes on: of each rebalance what is new in its words.

    Parameters
    ----------
    group : str or None
        Only this one.
    """

    def __init__(self, group: str | None = None) -> None:
        """Nothing is told yet."""
        self.group = group
        self._said: dict[tuple[str | None, int | None], str] = {}

    def news(self, histories: Iterable[GroupHistory]) -> Iterator[str]:
        """The lines to print now: rebalances that began, whose cause is known now, or that ended."""
        for history in histories:
            if self.group not in (None, history.group):
                continue
            for one in history.rebalances:
                if one.ended_ms is None and one.cause == causes.UNKNOWN:
                    continue
                words = f"{history.group or NO_NAME}: {rebalance_words(one, is_live=True).strip()}"
                key = (history.group, one.started_ms)
                if self._said.get(key) != words:
                    self._said[key] = words
                    yield words
