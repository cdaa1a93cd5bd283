"""Runs to step through, as lists of events for `simulate`: a commit's path, a coordinator's life, expiry, deletion.

>>> from kafkalearn.offsets.replicated.settings import Settings
>>> from kafkalearn.offsets.replicated.simulator import simulate
>>> end = simulate(Settings(), takeover())[-1].state
>>> [end.status(broker_id) for broker_id in (1, 2, 3)], end.effects[-1].answer.offset
(['not owned', 'owned', 'not owned'], 8)
"""

from __future__ import annotations

from kafkalearn.offsets.groups import Member
from kafkalearn.offsets.replicated.events import FollowerFetch, ReplicatedStoreEvent, SentTo
from kafkalearn.offsets.store.events import Commit, DeleteGroup, DeleteOffset, Fetch, Load, Produce, StoreGroup, Sweep
from kafkalearn.replication.events import BrokerCrashed, SessionExpired
from kafkalearn.topic_partition import TopicPartition

DAY_MS = 86_400_000
MEMBER = Member("billing-1", subscribed=("orders",), assigned=(TopicPartition("orders", 0),))
OF_MEMBER = {"member_id": "billing-1", "generation": 1}
READ = Fetch("billing", "orders", 0)
"""A tool asks for the group's offset: it gets what is replicated, at once."""
STABLE_READ = Fetch("billing", "orders", 0, requires_stable=True)
"""A consumer asks: Java's always waits for commits that are not replicated yet."""


def replicated() -> list[ReplicatedStoreEvent]:
    """Both followers fetch what is new, and say with their next fetch that they have it."""
    return [FollowerFetch(2), FollowerFetch(3), FollowerFetch(2), FollowerFetch(3)]


def group_with_an_offset() -> list[ReplicatedStoreEvent]:
    """``billing`` has a member, and has committed 7 for partition 0 of ``orders``; both are on all replicas."""
    group = StoreGroup("billing", 1, 1000, (MEMBER,), protocol="range", leader="billing-1")
    return [group, Commit("billing", "orders", 0, 7, 2000, **OF_MEMBER), *replicated()]


def commit_path() -> list[ReplicatedStoreEvent]:
    """A commit of 8 on its way, and fetches before and after: of a tool, and of a consumer, which waits."""
    commit = Commit("billing", "orders", 0, 8, 3000, **OF_MEMBER)
    return [commit, READ, STABLE_READ, *replicated(), READ]


def takeover() -> list[ReplicatedStoreEvent]:
    """The coordinator dies with a commit in flight; broker 2 is elected, loads, and answers what it has loaded."""
    commit = Commit("billing", "orders", 0, 8, 3000, **OF_MEMBER)
    election = [commit, FollowerFetch(2), BrokerCrashed(1), READ, SessionExpired(1), SentTo(3, READ), READ]
    load = [Load(1), READ, Load()]
    after = [READ, STABLE_READ, FollowerFetch(3), FollowerFetch(3)]
    return [*group_with_an_offset(), *election, *load, *after]


def foreign_record(key: bytes | None, value: bytes | None = b"strange") -> list[ReplicatedStoreEvent]:
    """Somebody writes a record of his own into the topic; the next coordinator finds it in its load."""
    produced = Produce(key, value, "__admin_client")
    return [*group_with_an_offset(), produced, *replicated(), READ, BrokerCrashed(1), SessionExpired(1), Load(), READ]


def end_of_a_group(days: int = 8) -> list[ReplicatedStoreEvent]:
    """The last member leaves; after so many days the sweep writes tombstones, and the replicas get them."""
    empty = StoreGroup("billing", 2, 4000)
    return [*group_with_an_offset(), empty, *replicated(), Sweep(4000 + days * DAY_MS), READ, *replicated(), READ]


def deletions() -> list[ReplicatedStoreEvent]:
    """An admin deletes an offset and the group: refused while a member is there, done when it is Empty."""
    offset, group = DeleteOffset("billing", "orders", 0), DeleteGroup("billing")
    empty = StoreGroup("billing", 2, 4000)
    return [*group_with_an_offset(), offset, group, empty, *replicated(), offset, *replicated(), group, *replicated()]
