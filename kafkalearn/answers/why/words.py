"""The answer to `why` in words, group by group."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.answers.answer import wrapped
from kafkalearn.answers.units import date_time
from kafkalearn.phrases import counted, listed
from kafkalearn.server_logs import Reading
from kafkalearn.server_logs.causes import client_of
from kafkalearn.server_logs.events import (
    GROUP_LOADED,
    NOT_REJOINED,
    STATIC_FENCED,
    STATIC_LEFT_FOR_A_WHILE,
    STATIC_REPLACED,
    STATIC_UNRELEASED,
    LogEvent,
)
from kafkalearn.server_logs.rebalances import Rebalance

MOST_GROUPS, MOST_REBALANCES, MOST_NOTES = 10, 20, 5  # in the words; the data have all

_NOTES = {
    STATIC_REPLACED: "{who} came back as a static member: no rebalance",
    STATIC_FENCED: "{who} is fenced: another member has its group.instance.id",
    STATIC_UNRELEASED: "a second member wants the group.instance.id {instance}, which is in use: it is refused",
    STATIC_LEFT_FOR_A_WHILE: "{who} left as a static member; its place is kept for the session timeout",
    NOT_REJOINED: "removed, because they did not join again within the rebalance timeout: {members}",
    GROUP_LOADED: "its coordinator has changed: another broker has loaded the group",
}


def rebalance_words(one: Rebalance) -> str:
    """A rebalance in a line: when, how long, who and why."""
    length = "" if one.duration_ms is None else f", {seconds(one.duration_ms)}"
    late = f"; it waited for {listed(map(client_of, one.delayed_by))}" if one.delayed_by else ""
    cut = "; another began before it was over" if one.is_interrupted else ""
    if one.ended_ms is None and one.started_ms is not None:
        cut = "; no line says when it was over"
    return wrapped(f"{_moment(one.started_ms)}{length}: {one.words}{late}{cut}", "  ", "    ")


def note_words(event: LogEvent) -> str | None:
    """What happened without a rebalance; None: nothing worth a line."""
    words = _NOTES.get(event.kind)
    if words is None:
        return None
    who = event.fields.get("instance") or (client_of(event.member) if event.member else "a member")
    said = words.format_map({**event.fields, "who": who, "members": event.fields.get("members", "?")})
    return f"{_moment(event.time_ms)}: {said}"


def _moment(time_ms: int | None) -> str:
    return (None if time_ms is None else date_time(time_ms)) or "at a time unknown"


def doubts(reading: Reading) -> Iterator[str]:
    """What was wrong with the logs, so that an answer from them may be, too; a sentence each."""
    for name in reading.torn:
        read = counted(reading.line_counts.get(name, 0), "line")
        yield f"{name} is damaged or cut off: {read} could be unpacked, and nothing is known of the rest."
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
