"""Searching all schedules of a group's commits, for the shortest one that breaks a promise.

How a group may go over from one store to another, and the shortest schedule in which one of these ways goes wrong.

>>> from kafkalearn.zookeeper.commits import Settings
>>> find(Settings(), MOVES["at once, without dual commit"]).trace
a run of 3 moments
  0  the start
  1  Produce()
  2  Start(consumer='new', offsets_storage='kafka', dual_commit_enabled=False)
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from kafkalearn.base.checks import one_of, sequence
from kafkalearn.base.search import Search, explore, whole
from kafkalearn.zookeeper.commits import model
from kafkalearn.zookeeper.commits.model import CommittingEvent, OldGroup
from kafkalearn.zookeeper.commits.simulator import INVARIANTS, NONE_SKIPPED, PROMISES, simulate, step

__all__ = [
    "MOVES",
    "find",
]


_OLD = (model.Produce(), model.Start("old"), model.Read("old"), model.Shutdown("old"))
_DUAL = (model.Start("dual", "kafka"), model.Read("dual"), model.Shutdown("dual"))
_NEW = (model.Start("new", "kafka", dual_commit_enabled=False), model.Read("new"), model.Shutdown("new"))

MOVES: MappingProxyType[str, tuple[CommittingEvent, ...]] = MappingProxyType(
    {
        "nobody moves": _OLD,
        "to dual commit": (*_OLD, *_DUAL),
        "at once, without dual commit": (*_OLD, *_NEW),
        "by dual commit, and on after a crash": (*_OLD, *_DUAL, model.Crash("dual"), *_NEW),
        "back to ZooKeeper from the topic alone": (*_NEW, *_OLD),
    }
)
"""What may happen in each way, in any order and any number of times; a consumer that is shut down commits before."""


def in_zookeeper(settings: model.Settings) -> OldGroup:
    """A group that has committed to ZooKeeper, of which nobody runs.

    >>> from kafkalearn.zookeeper.commits import Settings
    >>> in_zookeeper(Settings()).zookeeper
    (0,)
    """
    return simulate(settings, [model.Start("old"), model.CommitOffsets("old"), model.Shutdown("old")])[-1].state


def find(
    settings: model.Settings,
    events: Sequence[CommittingEvent],
    promises: Sequence[str] = (NONE_SKIPPED,),
    *,
    depth: int = 8,
    budget: int = 1_000_000,
    initial: OldGroup | None = None,
) -> Search[OldGroup, CommittingEvent]:
    """The shortest schedule of some events that breaks one of the promises, or word that there is none.

    Parameters
    ----------
    settings : Settings
        Those of the group.
    events : sequence of events
        What may happen, in any order and any number of times: one of `MOVES`, or a list.
    promises : sequence of str
        Names in `PROMISES`, or `INVARIANTS`.
    depth : int
        The longest schedule to try. Logs may grow for ever, so there is always a longer one.
    budget : int
        After about how many different states to give up.
    initial : OldGroup, optional
        Where every schedule begins; by default, `in_zookeeper`.

    Raises
    ------
    KafkaLearnError
        If there is no promise of such a name, or `depth` or `budget` is not a whole number.

    Examples
    --------
    >>> from kafkalearn.zookeeper.commits import Settings
    >>> find(Settings(), MOVES["to dual commit"], depth=6).outcome
    'depth'
    """
    known = {**INVARIANTS, **PROMISES}
    chosen = {one_of("promise", name, known): known[name] for name in sequence("promises", promises, of="names")}
    begin = in_zookeeper(settings) if initial is None else initial
    return explore(whole(settings, step, chosen), begin, tuple(events), depth=depth, budget=budget)
