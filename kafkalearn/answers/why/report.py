"""The answer to `why`, as data and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkalearn.answers.answer import Answer, Outcome, wrapped
from kafkalearn.answers.why.words import (
    MOST_GROUPS,
    MOST_NOTES,
    MOST_REBALANCES,
    doubts,
    note_words,
    rebalance_words,
    seconds,
)
from kafkalearn.phrases import counted, listed, shown
from kafkalearn.server_logs import Reading
from kafkalearn.server_logs.avoiding import Advice
from kafkalearn.server_logs.causes import CAUSES, LEFT, UNKNOWN
from kafkalearn.server_logs.rebalances import GroupHistory, Rebalance


@dataclass(frozen=True)
class Why(Answer):
    """What logs say about the rebalances of groups."""

    reading: Reading
    groups: tuple[GroupHistory, ...]  # those asked for; the one that stood still longest first
    advice: Mapping[str, tuple[Advice, ...]]  # by group
    now: Mapping[str, str]  # what a running cluster says about a group, in words
    group: str | None  # the one that was asked for
    release: str  # whose defaults the advice takes
    shows_unknown: bool

    @property
    def rebalances(self) -> tuple[Rebalance, ...]:
        """Those of all groups, but for the first of each, which has formed it."""
        return tuple(each for history in self.groups for each in later_rebalances(history))

    @property
    def outcome(self) -> Outcome:
        """Found: a rebalance with a cause; cannot tell: no group in the logs, or no cause of any rebalance."""
        if not self.groups:
            return Outcome.CANNOT_TELL
        if not self.rebalances:
            return Outcome.FINE
        is_known = any(each.cause != UNKNOWN for each in self.rebalances)
        return Outcome.FOUND if is_known else Outcome.CANNOT_TELL

    def as_data(self) -> dict[str, object]:
        """As `Answer.as_data`."""
        return {
            "line_count": self.reading.line_count,
            "event_count": len(self.reading.events),
            "unknown_line_count": self.reading.unknown_count,
            "events_without_time_count": self.reading.without_time_count,
            "events_twice_count": self.reading.doubled_count,
            "torn_files": [*self.reading.torn],
            "clocks_back": [each._asdict() for each in self.reading.clocks_back],
            "unknown_lines": [
                {"source": each.source, "line": each.line, "text": each.text} for each in self.reading.unknown
            ],
            "groups": [self._group_data(each) for each in self.groups],
            "now": dict(self.now),
        }

    def _group_data(self, history: GroupHistory) -> dict[str, object]:
        return {
            "group": history.group,
            "protocol": history.protocol,
            "has_broker_log": history.has_broker,
            "is_rolling_restart": history.is_rolling,
            "standstill_ms": standstill_ms(history),
            "rebalances": [_rebalance_data(each) for each in history.rebalances],
            "notes": [{"kind": each.kind, "time_ms": each.time_ms, "text": each.text} for each in history.notes],
            "advice": [
                {
                    "cause": each.cause,
                    "count": each.count,
                    "change": each.change,
                    "alternatives": [*each.alternatives],
                    "refused": each.refused,
                    "scenario": each.scenario,
                    "settings": dict(each.settings),
                }
                for each in self.advice.get(history.group, ())
            ],
            "now": self.now.get(history.group),
        }

    def __str__(self) -> str:
        """Group by group: each rebalance in a line, then what else happened, and what would have avoided them."""
        lines = []
        for history in self.groups[:MOST_GROUPS]:
            lines += self._words_of(history)
        if len(self.groups) > MOST_GROUPS:
            lines.append(f"{counted(len(self.groups) - MOST_GROUPS, 'group')} more; --group shows one, --json all.")
        if not self.groups:
            lines.append(self._nothing())
        known = {each.group for each in self.groups[:MOST_GROUPS]}
        lines += [wrapped(f"{name} now: {said}.") for name, said in self.now.items() if name not in known]
        lines += map(wrapped, doubts(self.reading))
        if self.reading.unknown_count:
            unknown = counted(self.reading.unknown_count, "line")
            lines.append(
                wrapped(
                    f"{unknown} about groups not understood{'' if self.shows_unknown else '; --unknown shows them'}."
                )
            )
        if self.shows_unknown:
            lines += [wrapped(f"{each.source}:{each.line}: {each.text}", "  ") for each in self.reading.unknown]
        return "\n".join(lines)

    def _nothing(self) -> str:
        if not self.reading.line_count and self.now:
            return wrapped("No logs were given; why a group rebalanced stands in the log of its coordinator.")
        if self.group is not None:
            return wrapped(f"The logs say nothing about group {shown(self.group)}.")
        return wrapped(
            f"Nothing about groups in {counted(self.reading.line_count, 'line')}. Wanted is the server log of the "
            "group's coordinator (level INFO), or the logs of its consumers."
        )

    def _words_of(self, history: GroupHistory) -> list[str]:
        later = later_rebalances(history)
        still_ms = standstill_ms(history)
        still = "" if still_ms is None or history.protocol != "classic" else f", {seconds(still_ms)} in all"
        kind = "" if history.protocol == "classic" else " (KIP-848: nobody waits for all)"
        lines = [wrapped(f"{history.group}{kind}: {counted(len(later), 'rebalance')}{still}")]
        if len(later) > MOST_REBALANCES:
            lines.append(f"  the last {MOST_REBALANCES}:")
        lines += [rebalance_words(each) for each in later[-MOST_REBALANCES:]]
        notes = [said for said in map(note_words, history.notes) if said is not None]
        lines += [wrapped(each, "  - ") for each in notes[-MOST_NOTES:]]
        if history.is_rolling:
            lines.append(wrapped("Members left and came back one after the other, as in a rolling restart.", "  "))
        found = self.advice.get(history.group, ())
        if found:
            lines.append("  What would have avoided them:")
            lines += [wrapped(f"{each}.", "  - ") for each in found]
            shown_by_logs = sorted({name for each in found for name in each.settings})
            known = f"All but {listed(shown_by_logs)} are" if shown_by_logs else "All settings are"
            lines.append(wrapped(f"{known} taken as the defaults of Kafka {self.release}; --set changes that.", "    "))
        if any(each.cause == LEFT for each in later):
            lines.append(wrapped("Why members left stands in their own logs; give those, too.", "  "))
        if history.group in self.now:
            lines.append(wrapped(f"Now: {self.now[history.group]}.", "  "))
        return lines


def later_rebalances(history: GroupHistory) -> tuple[Rebalance, ...]:
    """The rebalances but for the first, if that has formed the group."""
    found = history.rebalances
    return found[1:] if found and found[0].is_first else found


def standstill_ms(history: GroupHistory) -> int | None:
    """How long nobody read, in all its rebalances but that which formed it; None: no log says so."""
    found = [each.standstill_ms for each in later_rebalances(history) if each.standstill_ms is not None]
    return sum(found) if found else None


def _rebalance_data(one: Rebalance) -> dict[str, object]:
    return {
        "protocol": one.protocol,
        "started_ms": one.started_ms,
        "ended_ms": one.ended_ms,
        "duration_ms": one.duration_ms,
        "standstill_ms": one.standstill_ms,
        "cause": one.cause,
        "may_be": [*CAUSES[one.cause].covers],
        "words": one.words,
        "member": one.member,
        "client": one.client,
        "host": one.host,
        "generation": one.generation,
        "is_interrupted": one.is_interrupted,
        "delayed_by": [*one.delayed_by],
        "evidence": [{"place": each.place, "text": each.text} for each in one.evidence],
    }
