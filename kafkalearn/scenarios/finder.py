"""Which setting to change, and how little, so that a scenario brings no rebalance that could be avoided.

First stand what settings cost when something really happens, and what a search finds; then the search, `find_change`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from math import inf, log
from types import MappingProxyType
from typing import TypedDict

from kafkalearn.base.checks import mapping, one_of, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.releases.settings import value_text
from kafkalearn.scenarios import events, text
from kafkalearn.scenarios.outcome import Outcome
from kafkalearn.scenarios.playing import PROTOCOLS, play, settings_of

PROBES = ("a crash", "a hang in one poll", "an orderly end")
"""What can be asked: the process dies; its poll thread never comes back; the application closes its consumer."""

STARTED_MS = 60_000  # when it happens: the group has long been formed
FOR_EVER_MS = 86_400_000


class CostRow(TypedDict):
    """How long partitions go unread after an accident; None: for ever."""

    after: str
    unread_before_ms: int | None
    unread_after_ms: int | None


def probe(story: events.Scenario, settings: events.Settings, protocol: str, what: str) -> int | None:
    """How long some partition is not read after an accident of the last member of a group, in ms.

    Parameters
    ----------
    story : Scenario
        Its members and topics are taken, nothing of what happens in it.
    settings : Settings
        Those to be probed.
    protocol : str
        As in `simulate`.
    what : str
        A name in `PROBES`.

    Returns
    -------
    int or None
        None: never again, or there is no other member to take over.
    """
    if len(story.members) < 2:
        return None
    last = story.members[-1]
    accidents: dict[str, events.ScenarioEvent] = {
        PROBES[0]: events.Crashes(STARTED_MS, last),
        PROBES[1]: events.Processing(STARTED_MS, last, FOR_EVER_MS),
        PROBES[2]: events.Leaves(STARTED_MS, last),
    }
    joins = tuple(events.Joins(0, name) for name in story.members)
    end_ms = STARTED_MS + _patience_ms(settings, last)
    outcome = play(replace(story, events=(*joins, accidents[what]), end_ms=end_ms), settings, protocol)
    again_ms = outcome.all_read_again_ms(STARTED_MS)
    return None if again_ms is None else again_ms - STARTED_MS


def _patience_ms(settings: events.Settings, name: str) -> int:
    """Long enough for whatever the settings wait for."""
    its = settings.of(name)
    return 2 * (its.session_timeout_ms + (its.max_poll_interval_ms or 0)) + 180_000


def costs(story: events.Scenario, before: events.Settings, after: events.Settings, protocol: str) -> list[CostRow]:
    """A row for each probe: how long partitions go unread with the old settings and with the new, in ms."""
    return [
        {
            "after": what,
            "unread_before_ms": probe(story, before, protocol, what),
            "unread_after_ms": probe(story, after, protocol, what),
        }
        for what in PROBES
    ]


SIZE_OF_STATIC = log(10)  # counts as much as a number made ten times what it was: it is another way to deploy


@dataclass(frozen=True, slots=True)
class Change:
    """One setting with another value."""

    setting: str
    before: int | None  # None: no ``group.instance.id``
    after: int

    @property
    def size(self) -> float:
        """How large it is: the logarithm of how many times more or less; from or to 0 it is larger than any other."""
        if self.before is None:
            return SIZE_OF_STATIC
        if not self.before or not self.after:
            return inf
        return abs(log(self.after / self.before))

    def __str__(self) -> str:
        """In words."""
        if self.setting == "group.instance.id":
            return "group.instance.id: one for each member"
        return f"{self.setting}: {value_text(self.setting, self.before)} -> {value_text(self.setting, self.after)}"


@dataclass(frozen=True)
class Solution:
    """Changes that avoid what can be avoided, and what came of the scenario with them."""

    changes: tuple[Change, ...]
    settings: events.Settings
    outcome: Outcome

    @property
    def size(self) -> float:
        """All changes together."""
        return sum(change.size for change in self.changes)

    def __str__(self) -> str:
        """The changes in words."""
        return " and ".join(map(str, self.changes)) or "no change"


@dataclass(frozen=True)
class Finding:
    """The answer of `find_change`."""

    before: Outcome
    avoidable_count: int  # rebalances that the changes were to avoid
    best: Solution | None  # the smallest; None: nothing that was tried avoids them
    others: tuple[Solution, ...]  # for each other setting that can do it alone, its smallest change
    tried_count: int
    costs: tuple[CostRow, ...]  # rows: what the best costs when something really happens

    def __repr__(self) -> str:
        """The whole answer in a few lines."""
        return str(self)

    def __str__(self) -> str:
        """The whole answer in a few lines."""
        if not self.avoidable_count:
            return "No rebalance can be avoided here: nothing to change."
        if self.best is None:
            return f"{self.avoidable_count} to avoid; none of {self.tried_count} combinations avoids them."
        unread = f"{self.before.records_not_read:,} -> {self.best.outcome.records_not_read:,}"
        lines = [f"{self.best}", f"  rebalances avoided: {self.avoidable_count}; records not read meanwhile: {unread}"]
        lines += [f"  or {other}" for other in self.others]
        lines += [
            f"  after {row['after']} unread for {_seconds(row['unread_before_ms'])} -> "
            f"{_seconds(row['unread_after_ms'])}"
            for row in self.costs
        ]
        return "\n".join(lines)


def _seconds(ms: int | None) -> str:
    return "ever" if ms is None else f"{ms / 1000:.1f} s"


SECONDS = (1, 2, 3, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 120, 180, 240, 300)
MINUTES = (6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 60, 120)
LADDER_MS = tuple(1000 * seconds for seconds in SECONDS) + tuple(60_000 * minutes for minutes in MINUTES)
RECORDS = (500, 400, 300, 250, 200, 150, 100, 50, 25, 10, 5, 1)

CANDIDATES: Mapping[str, Mapping[str, Sequence[int]]] = MappingProxyType(
    {
        "classic": {
            "session.timeout.ms": LADDER_MS,
            "heartbeat.interval.ms": (500, 1000, 1500, 2000, 2500, 3000),
            "max.poll.interval.ms": LADDER_MS,
            "max.poll.records": RECORDS,
            "group.instance.id": (True,),
        },
        "consumer": {
            "group.consumer.session.timeout.ms": (45_000, 50_000, 55_000, 60_000),
            "max.poll.interval.ms": LADDER_MS,
            "max.poll.records": RECORDS,
            "group.instance.id": (True,),
        },
    }
)
"""The values that are tried for each setting, by protocol. A ``group.instance.id`` makes all members static."""

AVOIDABLE = (events.Pauses, events.Processing, events.Disconnected, events.Restarts, events.CrashesAndReturns)
MOST_TRIES = 200  # of pairs
MOST_CANDIDATES = 200  # of one setting


def find_change(
    scenario: events.Scenario | str | Sequence[events.ScenarioEvent],
    protocol: str = "classic",
    assignor: str | Sequence[str] | None = None,
    release: str = DEFAULT_RELEASE,
    settings: Mapping[str, object] | None = None,
    candidates: Mapping[str, Sequence[int]] | None = None,
    **named: object,
) -> Finding:
    """The smallest change of a setting, or of two, with which a scenario brings no avoidable rebalance.

    A rebalance is avoidable if it does not come when the same scenario is played without pauses, long work, cuts
    and restarts. First every setting is changed alone; only if that is not enough, two together.

    Parameters
    ----------
    scenario, protocol, assignor, release, settings, **named
        As in `simulate`.
    candidates : mapping of str to sequence of int, optional
        The values to try for each setting, instead of `CANDIDATES`; at most 200 of one setting.

    Returns
    -------
    Finding
        With the best change, the alternatives, and what the change costs: how long partitions stay unread when a
        member really crashes, hangs, or ends, measured by the same simulator. `print` shows it.

    Raises
    ------
    KafkaLearnError
        As `simulate` does; and if a candidate is of no setting that is a number, or no number itself.

    Examples
    --------
    >>> story = '''at 0 s: c1, c2 and c3 join
    ... at 60 s: c2 pauses for 12 s'''
    >>> found = find_change(story, settings={"session.timeout.ms": 10_000})
    >>> str(found.best), found.avoidable_count
    ('session.timeout.ms: 10000 (10 s) -> 15000 (15 s)', 2)
    """
    one_of("protocol", protocol, PROTOCOLS)
    story = scenario if isinstance(scenario, events.Scenario) else text.scenario(scenario)
    start = settings_of(story, release, assignor, settings, protocol, **named)
    search = _Search(story, start, protocol, CANDIDATES[protocol] if candidates is None else _checked(candidates))
    before = play(story, start, protocol)
    avoidable_count = max(before.rebalance_count - search.calm_count, 0)
    if not avoidable_count:
        return Finding(before, 0, None, (), search.tried_count, ())
    found = search.one_setting() or search.two_settings()
    best = found[0] if found else None
    rows = tuple(costs(story, start, best.settings, protocol)) if best else ()
    return Finding(before, avoidable_count, best, tuple(found[1:]), search.tried_count, rows)


def _checked(candidates: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Candidates by setting, as many as can be tried; what each of them is, is looked at where it is tried."""
    checked: dict[str, tuple[int, ...]] = {}
    for name, values in mapping("candidates", candidates, of="setting to the values to try").items():
        one_of("setting", name, events.KNOWN)
        checked[name] = sequence(f"the candidates for {name}", values, of="values to try")
        whole_number(f"the number of candidates for {name}", len(checked[name]), 0, MOST_CANDIDATES)
    return checked


class _Search:
    """Tries changes, the small ones first."""

    def __init__(
        self, story: events.Scenario, settings: events.Settings, protocol: str, candidates: Mapping[str, Sequence[int]]
    ) -> None:
        self.story = story
        self.settings = settings
        self.protocol = protocol
        self.tried_count = 0
        quiet = tuple(event for event in story.events if not isinstance(event, AVOIDABLE))
        calm = play(replace(story, events=quiet), settings, protocol)
        self.calm_count = calm.rebalance_count  # rebalances that come in any case
        self.changes = {name: self._changes(name, values) for name, values in candidates.items()}

    def one_setting(self) -> list[Solution]:
        """For each setting the smallest change that is enough, the smallest of all first."""
        found: list[Solution] = []
        for changes in self.changes.values():
            solutions = (self._try((change,)) for change in changes)
            found += islice((each for each in solutions if each is not None), 1)
        return sorted(found, key=lambda solution: solution.size)

    def two_settings(self) -> list[Solution]:
        """The smallest pair of changes that is enough, if there is one among the first that are tried."""
        pairs = [pair for one, other in combinations(self.changes.values(), 2) for pair in product(one, other)]
        pairs.sort(key=lambda pair: sum(change.size for change in pair))
        for pair in pairs[:MOST_TRIES]:
            solution = self._try(pair)
            if solution is not None:
                return [solution]
        return []

    def _changes(self, name: str, values: Iterable[int]) -> list[Change]:
        """The changes of one setting, the smallest first."""
        if name == "group.instance.id":
            is_static = all(self.settings.of(member).instance_id for member in self.story.members)
            return [] if is_static else [Change(name, None, True)]
        present = self.settings[name]
        if present is None:
            return []
        if not isinstance(present, int):
            raise KafkaLearnError(
                f"candidates are for settings that are numbers, and for group.instance.id; {name} is {shown(present)}"
            )
        tried = dict.fromkeys(whole_number(f"a candidate for {name}", value, at_least=0) for value in values)
        changes = [Change(name, present, value) for value in tried if value != present]
        return sorted(changes, key=lambda change: change.size)

    def _try(self, changes: tuple[Change, ...]) -> Solution | None:
        """The solution, if the changes are allowed and enough."""
        try:
            settings = self._with(changes)
        except KafkaLearnError:
            return None
        self.tried_count += 1
        outcome = play(self.story, settings, self.protocol)
        stopped = {name for frame in outcome.trace for name in _stopped(frame.event)}
        if stopped or outcome.rebalance_count > self.calm_count:
            return None
        return Solution(changes, settings, outcome)

    def _with(self, changes: Iterable[Change]) -> events.Settings:
        values, members = dict(self.settings.values), {**self.settings.member_values}
        for change in changes:
            if change.setting == "group.instance.id":
                for name in self.story.members:
                    members[name] = {**members.get(name, {}), "group.instance.id": name}
            else:
                values[change.setting] = change.after
                members = {
                    name: {setting: value for setting, value in its.items() if setting != change.setting}
                    for name, its in members.items()
                }
        return events.Settings(self.settings.release, values, members)


def _stopped(cause: str | None) -> list[str]:
    """Members that an error has stopped: settings that the broker refuses are no solution."""
    return [part.split(" stops: ")[0] for part in (cause or "").split("; ") if " stops: " in part]
