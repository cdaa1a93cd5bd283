"""Why did my group rebalance: the causes, from the logs of brokers and consumers, and what would have avoided them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.base.checks import flag, text
from kafkalearn.base.errors import KafkaLearnError, counted, listed, printable, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.oncall.answer import Answer, Outcome, wrapped
from kafkalearn.oncall.logs import Reading, read, read_files
from kafkalearn.oncall.logs.avoiding import Advice, advice
from kafkalearn.oncall.logs.causes import CAUSES, LEFT, UNKNOWN
from kafkalearn.oncall.logs.lines import JAVA
from kafkalearn.oncall.logs.rebalances import GroupHistory, Rebalance, histories
from kafkalearn.oncall.logs.transactions import TransactionFinding, findings
from kafkalearn.oncall.options import add_bootstrap, cluster_of, file_argument
from kafkalearn.oncall.why_report import (
    MOST_REBALANCES,
    NO_NAME,
    Told,
    by_harm,
    doubts,
    headline,
    note_words,
    rebalance_words,
    seconds,
    transaction_words,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, parse_release

__all__ = ["why"]

if TYPE_CHECKING:
    from kafkalearn.live.cluster import Cluster
    from kafkalearn.oncall.logs.lines import LogEvent
    from kafkalearn.oncall.shapes import GroupData, RebalanceData, TransactionData, WhyData

MOST_ADVISED = 3  # groups for which a change is looked for, those that stood still longest


def why(
    logs: str | os.PathLike | Iterable[str | os.PathLike],
    *,
    group: str | None = None,
    zone: str | Mapping[str, str] = "UTC",
    settings: Mapping[str, object] | None = None,
    release: str | None = None,
    cluster: Cluster | None = None,
    has_advice: bool = True,
    shows_unknown: bool = False,
    told: Callable[[str], object] | None = None,
) -> Why:
    """Each rebalance in the logs of brokers and clients: when, how long, why, who, and what would have avoided it.

    Parameters
    ----------
    logs : path, or an iterable of paths or lines
        Server logs of brokers (0.9 to 4.3) and logs of consumers (Java, librdkafka, Python, Go, JavaScript and others),
        together or alone, in any order and any layout: files, packed and rotated ones, folders, ``-`` for the standard
        input. A list whose first text names nothing that exists, and does not look like a path, is taken as lines, and
        so is an open file. With a cluster and a group there may be none.
    group : str or None
        Only this one.
    zone : str, or mapping of file name to str
        Of times that say none: ``UTC``, ``+08:00``, ``Europe/Berlin``.
    settings : mapping, optional
        Of the consumers, for what would have avoided the rebalances; else what the logs show, else the defaults.
    release : str or None
        Whose defaults; None: the one that the logs of Java's consumers name ("Kafka version: 2.3.1"), else the newest.
    cluster : Cluster or None
        A running cluster, `kafkalearn.live.connect`: what it says about the groups now. It is only read.
    has_advice : bool
        Whether to look for a change of settings, which takes a second or two for each cause.
    shows_unknown : bool
        Whether the words list the lines that were not understood.
    told : callable or None
        Is called with a line of words for each rebalance of files as soon as it is read: when it begins with a cause,
        and when it is over. For a log that goes on, ``kubectl logs -f ... | kafkalearn why - --follow``; Ctrl-C on
        the standard input ends the reading, and what was read so far is answered.

    Raises
    ------
    KafkaLearnError
        If a file cannot be read or is not text, a zone, release or setting is unknown, or the logs have more events
        than `kafkalearn.oncall.logs.reader.MOST_EVENTS`.

    Examples
    --------
    >>> lines = '''[2026-11-22 15:46:20,000] INFO Preparing to rebalance group billing in state PreparingRebalance \\
    ... with old generation 7 (reason: removing member c2-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11 on heartbeat \\
    ... expiration.). (a.B)
    ... [2026-11-22 15:46:21,500] INFO Assignment received from leader c1-1 for group billing for generation 8. The \\
    ... group has 1 members, 0 of which are static. (a.B)'''
    >>> print(why(lines.splitlines()))
    billing: c2 was not heard of, 1 of 1 rebalance; see if it died or paused.
    billing: 1 rebalance, 1.5 s in all
      2026-11-22 15:46:20, 1.5 s: c2 was not heard of for its session timeout:
        dead, paused or cut off

    References
    ----------
    Apache Kafka 0.11 to 4.3; the classes are named in `kafkalearn.oncall.logs.patterns`.
    """
    if release is not None:
        parse_release(release)
    if group is not None:
        text("group", group)
    flag("has_advice", has_advice)
    flag("shows_unknown", shows_unknown)
    reading = _read(logs, zone, cluster is not None and group is not None, _teller(told, group))
    named = release_named(reading) if release is None else None
    release = release or named or DEFAULT_RELEASE
    found = [each for each in histories(reading.events) if group in (None, each.group)]
    found.sort(key=lambda each: (-(standstill_ms(each) or 0), -len(each.rebalances), each.group or ""))
    advised = {
        each.group: advice(each, reading.events, settings, release)
        for each in found[: MOST_ADVISED * has_advice]
        if each.group is not None
    }
    names = [group] if group is not None else [each.group for each in found[:MOST_GROUPS] if each.group is not None]
    now = {} if cluster is None else {name: _now(cluster, name) for name in names}
    of_transactions = findings(reading.transactions) if group is None else ()
    return Why(reading, tuple(found), advised, now, group, release, shows_unknown, of_transactions, named is not None)


def release_named(reading: Reading) -> str | None:
    """The release that the logs of Java's consumers name when they start; None: none of them, or several differ.

    >>> release_named(read(["Kafka version: 2.3.1", "[Consumer clientId=c1, groupId=g] (Re-)joining group"]))
    '2.3'
    """
    sources = {event.source for event in reading.events if event.writer == JAVA}
    named = {release for source, release in reading.releases.items() if source in sources and release in RELEASES}
    return named.pop() if len(named) == 1 else None


_IN_NO_PATH = re.compile(r"[\s{}<>|]")
_IN_A_SUFFIX = re.compile(r"[\w-]+")
_SUFFIXES = frozenset({"log", "gz", "bz2", "xz", "zst", "txt", "out"})


def _teller(told: Callable[[str], object] | None, group: str | None) -> Callable[[tuple[LogEvent, ...]], None] | None:
    """What is called with the last events of files each time that some were read, and tells what is new in them."""
    if told is None:
        return None
    news = Told(group)

    def tell(events: tuple[LogEvent, ...]) -> None:
        for line in news.news(histories(events)):
            told(line)

    return tell


def _read(
    logs: object,
    zone: str | Mapping[str, str],
    is_empty_allowed: bool,
    tell: Callable[[tuple[LogEvent, ...]], None] | None = None,
) -> Reading:
    if isinstance(logs, str | os.PathLike):
        return read_files([logs], zone, tell)
    if isinstance(logs, bytes) or not isinstance(logs, Iterable):
        raise KafkaLearnError(f"logs are paths or lines; got {shown(logs)}")
    each = iter(logs)
    first = next(each, None)
    if first is None and is_empty_allowed:
        return read([])
    if first is None:
        raise KafkaLearnError("no logs were given: name files, or hand over lines")
    if _is_path(first) and not hasattr(logs, "read"):
        return read_files(chain([first], each), zone, tell)
    if not isinstance(zone, str):
        raise KafkaLearnError("zones by file name are for files; lines have one zone")
    return read(chain([first], each), zone)


def _is_like_a_path(words: str) -> bool:
    """Whether a text has no blanks, and a slash in it or the end of a log file's name: whether it is there or not."""
    if _IN_NO_PATH.search(words):
        return False
    if "/" in words or "\\" in words:
        return True
    for part in reversed(words.split(".")[1:]):
        if part in _SUFFIXES:
            return True
        if not _IN_A_SUFFIX.fullmatch(part):
            return False
    return False


def _is_path(thing: object) -> bool:
    if isinstance(thing, os.PathLike) or thing == STANDARD_INPUT:
        return True
    if not isinstance(thing, str) or not 0 < len(thing) < 4096 or "\0" in thing:
        return False
    if _is_like_a_path(thing):
        return True
    try:
        return Path(thing).exists()
    except (OSError, ValueError):
        return False


def _now(cluster: Cluster, group: str) -> str:
    """What a running cluster says about a group."""
    try:
        broker_id, found = cluster.coordinator(group), cluster.group(group)
    except KafkaLearnError as error:
        return f"the cluster does not answer for it: {error}"
    clients = listed(sorted({each.client_id for each in found.members})[:MOST_NOTES])
    members = counted(len(found.members), "member") + (f" ({clients})" if found.members else "")
    return f"{found.state}, {members}, assignor {found.assignor or 'none'}; its coordinator is broker {broker_id}"


# The answer: as data, and in words, group by group.

MOST_GROUPS, MOST_NOTES = 10, 5  # in the words; the data have all


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
    transactions: tuple[TransactionFinding, ...] = ()  # what went wrong; with a group that was asked for none
    is_release_named: bool = False  # the logs name it

    @property
    def rebalances(self) -> tuple[Rebalance, ...]:
        """Those of all groups, but for the first of each, which has formed it."""
        return tuple(each for history in self.groups for each in later_rebalances(history))

    @property
    def headline(self) -> str:
        """What happened, to whom, how often and what to do, in fewer than 100 characters; empty: nothing to tell."""
        return headline(((each.group, later_rebalances(each)) for each in self.groups), self.transactions)

    @property
    def outcome(self) -> Outcome:
        """Found: a rebalance with a cause, or a transaction that went wrong; cannot tell: no group, or no cause."""
        if self.transactions:
            return Outcome.FOUND
        if not self.groups:
            return Outcome.CANNOT_TELL
        if not self.rebalances:
            is_clear = all(each.is_whole for each in self.groups) and not self.reading.unknown_count
            return Outcome.FINE if is_clear else Outcome.CANNOT_TELL
        is_known = any(each.cause != UNKNOWN for each in self.rebalances)
        return Outcome.FOUND if is_known else Outcome.CANNOT_TELL

    def as_data(self) -> WhyData:
        """As `Answer.as_data`."""
        return {
            "headline": self.headline,
            "is_stopped": self.reading.is_stopped,
            "line_count": self.reading.line_count,
            "event_count": len(self.reading.events),
            "unknown_line_count": self.reading.unknown_count,
            "events_without_time_count": self.reading.without_time_count,
            "events_twice_count": self.reading.doubled_count,
            "torn_files": [*self.reading.torn],
            "skipped_files": [*self.reading.skipped],
            "clocks_back": [each._asdict() for each in self.reading.clocks_back],
            "unknown_lines": [*map(asdict, self.reading.unknown)],
            "groups": [self._group_data(each) for each in self.groups],
            "transactions": [*map(_transaction_data, self.transactions)],
            "now": dict(self.now),
        }

    def _group_data(self, history: GroupHistory) -> GroupData:
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
                for each in self.advice.get(history.group or "", ())
            ],
            "now": self.now.get(history.group or ""),
        }

    def __str__(self) -> str:
        """The worst in one sentence; then group by group each rebalance in a line, and what would have avoided them."""
        lines = [wrapped(self.headline)] if self.headline else []
        for history in self.groups[:MOST_GROUPS]:
            lines += self._words_of(history)
        if len(self.groups) > MOST_GROUPS:
            lines.append(f"{counted(len(self.groups) - MOST_GROUPS, 'group')} more; --group shows one, --json all.")
        if self.transactions:
            lines += transaction_words(self.transactions)
        elif not self.groups:
            lines.append(self._nothing())
        known = {each.group for each in self.groups[:MOST_GROUPS]}
        lines += [wrapped(f"{name} now: {said}.") for name, said in self.now.items() if name not in known]
        lines += map(wrapped, doubts(self.reading))
        if self.reading.unknown_count and (self.groups or self.shows_unknown):
            unknown = counted(self.reading.unknown_count, "line")
            more = "" if self.shows_unknown else "; --unknown shows them"
            lines.append(wrapped(f"{unknown} about groups not understood{more}."))
        if self.shows_unknown:
            lines += [f"  {each.source}:{each.line}: {each.text}" for each in self.reading.unknown]  # to be copied
        return "\n".join(lines)

    def _nothing(self) -> str:
        if not self.reading.line_count and self.now:
            return wrapped("No logs were given; why a group rebalanced stands in the log of its coordinator.")
        if self.group is not None:
            return wrapped(f"The logs say nothing about group {shown(self.group)}.")
        if self.reading.unknown_count:
            lines = counted(self.reading.line_count, "line")
            return wrapped(
                f"Cannot tell: of {lines}, {self.reading.unknown_count} may speak of groups, and none was understood."
                f"{'' if self.shows_unknown else ' --unknown shows them.'}"
            )
        if self.reading.handed_on_count:
            said = counted(self.reading.handed_on_count, "line")
            return wrapped(
                f"Cannot tell: {said} of {self.reading.line_count} say which partitions an application was given or "
                "lost in a rebalance; why, and in which group, they do not say. Wanted is the server log of the "
                "group's coordinator (level INFO), or the client's own log."
            )
        return wrapped(
            f"Nothing about groups in {counted(self.reading.line_count, 'line')}. Wanted is the server log of the "
            "group's coordinator (level INFO), or the logs of its consumers."
        )

    def _words_of(self, history: GroupHistory) -> list[str]:
        later = later_rebalances(history)
        still_ms = standstill_ms(history)
        still = "" if still_ms is None or history.protocol != "classic" else f", {seconds(still_ms)} in all"
        kind = "" if history.protocol == "classic" else " (KIP-848: nobody waits for all)"
        if history.is_share:
            kind = " (a share group: several members may have a partition, nobody waits)"
        name = NO_NAME if history.group is None else history.group
        lines = [wrapped(f"{name}{kind}: {counted(len(later), 'rebalance')}{still}")]
        if not later and not history.is_whole:
            said = "; ".join(history.seen[:MOST_NOTES])
            lines = [wrapped(f"{name}: these lines do not show whether it rebalanced. They say: {said}.")]
        if len(later) > MOST_REBALANCES:
            lines.append(f"  the {MOST_REBALANCES} that did most harm:")
        lines += map(rebalance_words, by_harm(later)[:MOST_REBALANCES])
        notes = [*dict.fromkeys(said for said in map(note_words, history.notes) if said is not None)]
        lines += [wrapped(each, "  - ") for each in notes[-MOST_NOTES:]]
        if history.is_rolling:
            lines.append(wrapped("Members left and came back one after the other, as in a rolling restart.", "  "))
        found = self.advice.get(history.group or "", ())
        if found:
            lines.append("  What would have avoided them:")
            lines += [wrapped(f"{each}.", "  - ") for each in found]
        if any(each.scenario for each in found):
            shown_by_logs = sorted({name for each in found for name in each.settings})
            known = f"All but {listed(shown_by_logs)} are" if shown_by_logs else "All settings are"
            whose = f"{self.release}, which the log names" if self.is_release_named else self.release
            lines.append(wrapped(f"{known} taken as the defaults of Kafka {whose}; --set changes that.", "    "))
        if any(each.cause == LEFT and each.said is None for each in later):
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


def _transaction_data(one: TransactionFinding) -> TransactionData:
    return {
        "kind": one.kind,
        "transactional_id": one.transactional_id,
        "producer_id": one.producer_id,
        "count": one.count,
        "first_ms": one.first_ms,
        "last_ms": one.last_ms,
        "words": one.words,
        "advice": one.advice,
        "evidence": [{"place": f"{each.source}:{each.line}", "text": each.text} for each in one.evidence],
    }


def _rebalance_data(one: Rebalance) -> RebalanceData:
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


# The command line.


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    file_argument(
        parser,
        "logs",
        nargs="*",
        metavar="LOG",
        help="server logs and logs of consumers, gzipped and rotated ones too, or folders; - is standard input",
    )
    parser.add_argument("--group", help="only this group")
    parser.add_argument(
        "--zone", action="append", metavar="[FILE=]ZONE", help="of times that say none: UTC, +08:00, Europe/Berlin"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the consumers, such as session.timeout.ms=45000",
    )
    parser.add_argument(
        "--release",
        help=f"whose defaults hold for other settings: else that of the logs, or {DEFAULT_RELEASE}",
    )
    parser.add_argument("--no-advice", action="store_true", help="do not look for what would have avoided it: quicker")
    parser.add_argument("--unknown", action="store_true", help="show the lines about groups that were not understood")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="print each rebalance as soon as it is read, of a log that goes on",
    )
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Why:
    """Ask `kafkalearn.oncall.why`."""
    if not options.logs and options.bootstrap is None:
        raise KafkaLearnError(
            "which logs? Name files or folders, or - for standard input: kubectl logs kafka-0 | kafkalearn why -"
        )
    if not options.logs and options.group is None:
        raise KafkaLearnError("which group? --bootstrap without logs says what one group does now: --group billing")
    if options.logs.count(STANDARD_INPUT) > 1:
        raise KafkaLearnError("standard input is read once")
    if options.follow and options.json:
        raise KafkaLearnError("--follow prints lines as they come, and --json one object at the end: give one of them")
    with cluster_of(options) as cluster:
        return why(
            [each if each == STANDARD_INPUT else Path(each) for each in options.logs],
            group=options.group,
            zone=_zones(options.zone or []),
            settings=dict(_setting(each) for each in options.set),
            release=options.release,
            cluster=cluster,
            has_advice=not options.no_advice,
            shows_unknown=options.unknown,
            told=_print_now if options.follow else None,
        )


def _print_now(line: str) -> None:
    print(printable(line), flush=True)


def _zones(written: list[str]) -> str | dict[str, str]:
    """``UTC`` for all files, or ``client.log=+08:00`` for some."""
    by_file = dict(each.rsplit("=", 1) for each in written if "=" in each)
    for_all = [each for each in written if "=" not in each]
    if len(for_all) > 1 or (for_all and by_file):
        raise KafkaLearnError("--zone is given once for all files, or as FILE=ZONE for each that is not in UTC")
    return by_file or (for_all[0] if for_all else "UTC")


def _setting(written: str) -> tuple[str, int | str]:
    name, equals, value = written.partition("=")
    if not (name and equals and value):
        raise KafkaLearnError(f"--set is NAME=VALUE, such as session.timeout.ms=45000; got {written!r}")
    return name, int(value) if value.isascii() and value.isdigit() and len(value) < 16 else value
