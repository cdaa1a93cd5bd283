"""What settings cost when something really happens: how long partitions go unread after a crash, a hang, a close."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from kafkalearn.group.scenario.simulator import play
from kafkalearn.group.world.events import Crashes, Joins, Leaves, Processing, Scenario, ScenarioEvent
from kafkalearn.group.world.settings import Settings

PROBES = ("a crash", "a hang in one poll", "an orderly end")
"""What can be asked: the process dies; its poll thread never comes back; the application closes its consumer."""

STARTED_MS = 60_000  # when it happens: the group has long been formed
FOR_EVER_MS = 86_400_000


class CostRow(TypedDict):
    """How long partitions go unread after an accident; None: for ever."""

    after: str
    unread_before_ms: int | None
    unread_after_ms: int | None


def probe(story: Scenario, settings: Settings, protocol: str, what: str) -> int | None:
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
    accidents: dict[str, ScenarioEvent] = {
        PROBES[0]: Crashes(STARTED_MS, last),
        PROBES[1]: Processing(STARTED_MS, last, FOR_EVER_MS),
        PROBES[2]: Leaves(STARTED_MS, last),
    }
    joins = tuple(Joins(0, name) for name in story.members)
    end_ms = STARTED_MS + _patience_ms(settings, last)
    outcome = play(replace(story, events=(*joins, accidents[what]), end_ms=end_ms), settings, protocol)
    again_ms = outcome.all_read_again_ms(STARTED_MS)
    return None if again_ms is None else again_ms - STARTED_MS


def _patience_ms(settings: Settings, name: str) -> int:
    """Long enough for whatever the settings wait for."""
    its = settings.of(name)
    return 2 * (its.session_timeout_ms + (its.max_poll_interval_ms or 0)) + 180_000


def costs(story: Scenario, before: Settings, after: Settings, protocol: str) -> list[CostRow]:
    """A row for each probe: how long partitions go unread with the old settings and with the new, in ms."""
    return [
        {
            "after": what,
            "unread_before_ms": probe(story, before, protocol, what),
            "unread_after_ms": probe(story, after, protocol, what),
        }
        for what in PROBES
    ]
