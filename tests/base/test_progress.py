"""Each promise of progress is broken once on purpose, by a run in whose trap it is never so."""

import pytest

from kafkalearn import replication
from kafkalearn.groups import classic, consumer
from kafkalearn.groups import search as groups
from kafkalearn.purgatory import search as purgatory
from kafkalearn.purgatory.operations import COMPLETED_WHEN_TRUE, delayed_produce
from kafkalearn.replication import AlterPartitionAnswered, BrokerCrashed, Fetch, IsrChecked, Produce, SessionExpired
from kafkalearn.replication.simulator import ALL_COMMITTED, ALL_IN_SYNC, IS_LED, NOBODY_WAITS
from kafkalearn.transactions import model as transactions
from kafkalearn.transactions import search as of_transactions
from kafkalearn.transactions.client import Sent
from kafkalearn.transactions.client import Settings as Application
from kafkalearn.zookeeper import connector
from kafkalearn.zookeeper import search as zookeeper
from kafkalearn.zookeeper.connector.simulator import ALL_READ, AT_REST
from kafkalearn.zookeeper.connector.simulator import PROGRESS as OF_OLD_CONSUMERS

TWO = replication.Settings(2, fetch_wait_max_ms=0)
THREE = replication.Settings(3, min_insync_replicas=2, fetch_wait_max_ms=0)
LATE = replication.TimePassed(30_001)
ONCE = {BrokerCrashed: 1, Produce: 1}
BY_THEMSELVES = [Fetch, SessionExpired, IsrChecked, AlterPartitionAnswered, LATE]


def partition(promise, settings, fair=None):
    kinds = [*BY_THEMSELVES, BrokerCrashed, *([Produce()] if settings is THREE else [])]
    limits = ONCE if settings is THREE else {BrokerCrashed: 1}
    return replication.find_stuck(settings, kinds, promise, fair=fair, at_most=limits)


def wait(promise, **ends):
    return purgatory.find_stuck([delayed_produce("p1", {"t-0": 5})], {"HW t-0": [6]}, promise, **ends)


CLASSIC, NEW = classic.Settings("2.7"), consumer.Settings(topics={"t": 2}, assignment_interval_ms=0)
OLD = connector.Settings(auto_commit_enable=False, rebalance_max_retries=1)
UNVERIFIED = Application(transactions.Settings(transaction_version=0, verification=False))
REFUSING = Application(transactions.Settings(defects=("KAFKA-19999",)))
WITH_A_FAILOVER, DECIDED_ENDS = of_transactions.WITH_A_FAILOVER, of_transactions.DECIDED_ENDS
TWO_RECORDS = {**of_transactions.A_RECORD, Sent: 2}

MEMBERS_OF = {name: groups.Settings(each) for name, each in (("classic groups", CLASSIC), ("KIP-848 groups", NEW))}
BROKEN = {
    ("replication", IS_LED): (TWO, lambda: partition(IS_LED, TWO)),
    ("replication", ALL_IN_SYNC): (TWO, lambda: partition(ALL_IN_SYNC, TWO)),
    ("replication", ALL_COMMITTED): (THREE, lambda: partition(ALL_COMMITTED, THREE)),
    ("replication", NOBODY_WAITS): (THREE, lambda: partition(NOBODY_WAITS, THREE, [Fetch, SessionExpired])),
    ("classic groups", groups.COMES_TO_REST): (None, lambda: groups.find_stuck(CLASSIC, hang=["c1"])),
    ("classic groups", groups.IS_ALL_READ): (
        None, lambda: groups.find_stuck(CLASSIC, groups.IS_ALL_READ, busy=["c1", "c2"]),
    ),
    ("KIP-848 groups", groups.COMES_TO_REST): (None, lambda: groups.find_stuck(NEW, busy=["c1"], time_passes=False)),
    ("KIP-848 groups", groups.IS_ALL_READ): (None, lambda: groups.find_stuck(NEW, groups.IS_ALL_READ, hang=["c1"])),
    ("purgatory", purgatory.NOBODY_WAITS): (None, lambda: wait(purgatory.NOBODY_WAITS, timers=False)),
    ("purgatory", COMPLETED_WHEN_TRUE): (None, lambda: wait(COMPLETED_WHEN_TRUE, checks=False, timers=False)),
    ("old consumers", ALL_READ): (OLD, lambda: zookeeper.find_stuck(OLD)),
    ("old consumers", AT_REST): (OLD, lambda: zookeeper.find_stuck(OLD, AT_REST, asleep=["c2"])),
    ("transactions", of_transactions.READ_ON): (UNVERIFIED, lambda: of_transactions.find_stuck(UNVERIFIED)),
    ("transactions", DECIDED_ENDS): (
        REFUSING, lambda: of_transactions.find_stuck(REFUSING, WITH_A_FAILOVER, DECIDED_ENDS, at_most=TWO_RECORDS),
    ),
}  # fmt: skip
PROGRESS_OF = {
    "replication": replication.PROGRESS,
    "classic groups": groups.PROGRESS,
    "KIP-848 groups": groups.PROGRESS,
    "purgatory": purgatory.PROGRESS,
    "old consumers": OF_OLD_CONSUMERS,
    "transactions": of_transactions.PROGRESS,
}


@pytest.mark.parametrize(("part", "promise"), BROKEN, ids=map(": ".join, BROKEN))
def test_it_is_broken_where_its_condition_is_taken_away(part, promise):
    settings, search = BROKEN[part, promise]

    found = search()

    trap = found.trace[-1 if found.is_dead_end else found.loop_start :]
    holds = PROGRESS_OF[part][promise]
    assert [holds(MEMBERS_OF.get(part, settings), frame.state) for frame in trap] == [False] * len(trap)


def test_none_is_left_out():
    assert {*BROKEN} == {(part, promise) for part, promises in PROGRESS_OF.items() for promise in promises}
