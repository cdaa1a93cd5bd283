"""What replication promises, by name, and which promises a state breaks.

Some are Kafka's own invariants, some are what users take it to promise. Old rules and careless settings break them:
that is what they are there to show, so a broken promise is a result with a name, and `check` raises only where a
test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import permutations
from typing import NamedTuple

from kafkalearn.errors import unknown_name
from kafkalearn.explore import Draft
from kafkalearn.replication.processing import Work, parts_of
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import UNKNOWN, Log, Partition, Record

IN_ORDER = "log start <= LSO <= HW <= LEO"
NEVER_FALLS = "a leader's HW never falls in its term"
SURVIVE_CLEAN = "committed records survive clean elections"
SURVIVE = "committed records survive"
ACKNOWLEDGED_SURVIVE = "acknowledged records survive"
ISR_HOLDS = "ISR members hold everything below the HW"
LOGS_AGREE = "logs agree up to the HW"

PROMISES = (IN_ORDER, NEVER_FALLS, SURVIVE_CLEAN, SURVIVE, ACKNOWLEDGED_SURVIVE, ISR_HOLDS, LOGS_AGREE)
"""All names. Each is judged by the leader that the controller has recorded, once that broker knows it leads.

Logs are compared up to what the leader has heard of a follower: one that has just come back may hold records that
its first fetch will cut. Offsets below the log start are not compared.
"""


class Clause(NamedTuple):
    """One promise, as far as it concerns one leader, or one leader and one follower."""

    name: str
    holds: Callable[[Work], bool]


@cache
def clauses(settings: Settings, names: tuple[str, ...] = PROMISES) -> tuple[Clause, ...]:
    """The promises of these names, split by broker, so that each looks at few parts.

    Raises
    ------
    KafkaLearnError
        If there is no promise of that name; the nearest names are given.
    """
    return tuple(Clause(name, holds) for name in names for holds in _split(settings, name))


def _split(settings: Settings, name: str) -> Iterable[Callable[[Work], bool]]:
    brokers = settings.broker_ids
    if name in _OF_EACH:
        return [partial(_OF_EACH[name], broker_id) for broker_id in brokers]
    if name in _OF_PAIRS:
        return [partial(_OF_PAIRS[name], leader_id, other) for leader_id, other in permutations(brokers, 2)]
    raise unknown_name("promise", name, PROMISES)


def broken(settings: Settings, partition: Partition, names: tuple[str, ...] = PROMISES) -> tuple[str, ...]:
    """The names of the promises that a state breaks; none if all is well.

    Parameters
    ----------
    settings : Settings
        Those the state was reached with.
    partition : Partition
        The state.
    names : tuple of str
        Which of `PROMISES` to look at.

    Examples
    --------
    >>> from kafkalearn.replication import BrokerCrashed, Produce, SessionExpired, replicate
    >>> settings = Settings(replica_count=2)
    >>> trace = replicate(settings, [Produce(acks=1), BrokerCrashed(1), SessionExpired(1)])
    >>> [broken(settings, frame.state) for frame in trace]
    [(), (), (), ('acknowledged records survive',)]
    """
    work = Work(settings, Draft(parts_of(partition)))
    return tuple(dict.fromkeys(name for name, holds in clauses(settings, names) if not holds(work)))


def check(settings: Settings, partition: Partition, names: tuple[str, ...] = PROMISES) -> None:
    """Pass in silence if the state keeps these promises; else AssertionError names the broken ones."""
    found = broken(settings, partition, names)
    assert not found, f"broken: {'; '.join(found)}"


def _is_current(work: Work, leader_id: int) -> bool:
    """Whether a leader is the one that the controller has recorded, and not one that has yet to hear of another."""
    controller = work.controller
    return controller.leader == leader_id and controller.leader_epoch == work.broker(leader_id).leader_epoch


# Each test looks first at what most often settles the matter, and at the controller last: a search remembers its
# answers by what it has looked at.


def _is_in_order(broker_id: int, work: Work) -> bool:
    log = work.log(broker_id)
    return log.log_start_offset <= log.last_stable_offset <= log.high_watermark <= log.log_end_offset


def _never_falls(leader_id: int, work: Work) -> bool:
    if work.leading(leader_id) is None or work.log(leader_id).high_watermark >= work.visible.high_watermark:
        return True
    return work.broker(leader_id).leader_epoch != work.visible.leader_epoch


def _survive_clean_elections(leader_id: int, work: Work) -> bool:
    return _survive(leader_id, work) or work.unclean_election_count > 0


def _survive(leader_id: int, work: Work) -> bool:
    if work.leading(leader_id) is None:
        return True
    log, committed = work.log(leader_id), work.visible.records
    if log.records[: len(committed)] == committed and log.first_offset == 0:
        return True
    is_there = (_has(log, offset, record) for offset, record in enumerate(committed) if record is not None)
    return all(is_there) or not _is_current(work, leader_id)


def _has(log: Log, offset: int, record: Record) -> bool:
    return offset < log.log_start_offset or log.records_from(offset, offset + 1) == (record,)


def _acknowledged_survive(leader_id: int, work: Work) -> bool:
    if work.leading(leader_id) is None:
        return True
    log = work.log(leader_id)
    values = {log.first_offset + index: record.value for index, record in enumerate(log.records)}
    promised = (each for each in work.acknowledged if each[0] >= log.log_start_offset)
    return all(values.get(offset) == value for offset, value in promised) or not _is_current(work, leader_id)


def _member_holds(leader_id: int, broker_id: int, work: Work) -> bool:
    leading = work.leading(leader_id)
    if leading is None or broker_id not in leading.isr:
        return True
    log = work.log(leader_id)
    if _is_same(log, work.log(broker_id), log.high_watermark):
        return True
    return broker_id not in work.controller.isr or not _is_current(work, leader_id)


def _agrees(leader_id: int, broker_id: int, work: Work) -> bool:
    remotes = work.remotes(leader_id)
    if not remotes or remotes[broker_id - 1].log_end_offset == UNKNOWN:
        return True
    log, other = work.log(leader_id), work.log(broker_id)
    heard = remotes[broker_id - 1].log_end_offset
    if _is_same(log, other, min(heard, log.high_watermark, other.high_watermark)):
        return True
    return not _is_current(work, leader_id)


def _is_same(one: Log, other: Log, end_offset: int) -> bool:
    """Whether two logs have the same records up to an offset."""
    start = max(one.log_start_offset, other.log_start_offset)
    return one.records_from(start, end_offset) == other.records_from(start, end_offset)


_OF_EACH = {
    IN_ORDER: _is_in_order,
    NEVER_FALLS: _never_falls,
    SURVIVE_CLEAN: _survive_clean_elections,
    SURVIVE: _survive,
    ACKNOWLEDGED_SURVIVE: _acknowledged_survive,
}
_OF_PAIRS = {ISR_HOLDS: _member_holds, LOGS_AGREE: _agrees}
