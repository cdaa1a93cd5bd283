"""Kafka's own defects, to be run: the same events in a release that has the fault, and in one that has not.

`DEFECTS` is the table. Each row has Kafka's number, what happens in one sentence, and from which release to which; its
`run` searches, or plays, and hands back the run that shows it in a release, or None where it cannot be shown there. A
search of all schedules that ends without one says more than a script that does no harm: the row says which it is.

A fault that is older than the first release that can be asked here has that one as its beginning. A release line stands
for its newest patch, as everywhere here; a fault that went in a patch is shown with the patch before it.

>>> defect = find_defect("KAFKA-6361")
>>> [release for release in ("0.10.2", "0.11.0", "1.1", "2.0", "4.3") if defect.run(release)]
['0.11.0', '1.1']
>>> len(defect.run("1.1"))
9
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kafkalearn import delivery, log, replication
from kafkalearn.base.checks import one_of
from kafkalearn.base.trace import Trace
from kafkalearn.consuming.truncation.search import EPOCHLESS_COMMIT
from kafkalearn.consuming.truncation.search import find as find_read_again
from kafkalearn.consuming.truncation.simulator import NONE_AGAIN
from kafkalearn.groups import classic, consumer, mixed
from kafkalearn.groups import search as groups
from kafkalearn.groups.classic import model as classic_model
from kafkalearn.offsets import store
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store import model as store_model
from kafkalearn.operations import coordinator_life, loading, loading_search
from kafkalearn.operations.coordinator_life import model as life_model
from kafkalearn.operations.coordinator_life.simulator import LEADER_ANSWERS, NEVER_OLD
from kafkalearn.releases.lines import RELEASES, at_least, release_line
from kafkalearn.replication.controller import REASSIGNS_SINCE
from kafkalearn.replication.simulator import ALL_COMMITTED, LOGS_AGREE, SURVIVE_CLEAN
from kafkalearn.transactions import client as transactional
from kafkalearn.transactions import model as transactions
from kafkalearn.transactions import search as transactional_search
from kafkalearn.transactions import simulator as transaction_coordinator
from kafkalearn.zookeeper import search as old_consumers

Run = Trace[Any, Any]


@dataclass(frozen=True, slots=True)
class Defect:
    """One of Kafka's own faults: where it is, and the run that shows it."""

    name: str  # Kafka's number; in words, where it has none
    what: str  # happens, in one sentence
    spans: tuple[tuple[str, str | None], ...]  # the first release that has it, and the first without; None: none yet
    is_searched: bool  # whether all schedules were looked at; else it is one script
    run: Callable[[str], Run | None]  # of a release
    source: str
    side: str = "broker"  # which program has it

    def is_in(self, release: str) -> bool:
        """Whether a release has it, by the table.

        >>> [find_defect("KAFKA-1546").is_in(release) for release in ("0.8.2", "0.9.0")]
        [True, False]
        """
        release_line(release)
        return any(
            at_least(since, release) and (fixed is None or not at_least(fixed, release)) for since, fixed in self.spans
        )

    def is_shown(self, release: str) -> bool:
        """Whether `run` shows it in a release: its simulators answer for that release, and it is there.

        >>> [find_defect("KAFKA-4682").is_shown(release) for release in ("0.10.2", "0.11.0", "2.1")]
        [False, True, False]
        """
        return self.is_in(release) and at_least(_FIRST_ASKED.get(self.run, FIRST), release)

    def __str__(self) -> str:
        """Its number, its releases and its sentence."""
        spans = [f"since {since}, {f'fixed in {fixed}' if fixed else 'to this day'}" for since, fixed in self.spans]
        return f"{self.name} ({'; '.join(spans)}): {self.what}"


def find_defect(name: str) -> Defect:
    """The defect of a name.

    Raises
    ------
    KafkaLearnError
        If there is none; the nearest names are given.

    Examples
    --------
    >>> print(find_defect("KAFKA-13194"))
    KAFKA-13194 (since 0.8.2, fixed in 3.1): The cleaner removes a record for one that is not committed yet.
    """
    by_name = {each.name: each for each in DEFECTS}
    one_of("defect", name, by_name)
    return by_name[name]


def between(old: str, new: str) -> tuple[tuple[Defect, ...], tuple[Defect, ...]]:
    """The defects that an upgrade takes away, and those that it brings.

    Parameters
    ----------
    old, new : str
        Release lines, or patches.

    Raises
    ------
    KafkaLearnError
        If one is not known.

    Examples
    --------
    >>> gone, new = between("3.9", "4.3")
    >>> [each.name for each in gone], [each.name for each in new]
    (['KAFKA-15332', 'KAFKA-17803', 'a commit is missing for a moment'], ['KAFKA-15665', 'KAFKA-20785', 'KAFKA-20734'])
    """
    before, after = ({each.name for each in DEFECTS if each.is_in(release)} for release in (old, new))
    gone = tuple(each for each in DEFECTS if each.name in before - after)
    return gone, tuple(each for each in DEFECTS if each.name in after - before)


FIRST_NEW_COORDINATOR = "4.0"


def _asked_since(first: str) -> Callable[[Callable[[str], Run | None]], Callable[[str], Run | None]]:
    """What shows a defect since a release: before, there is no such mechanism, or its simulator does not answer."""

    def since_then(run: Callable[[str], Run | None]) -> Callable[[str], Run | None]:
        def asked(release: str) -> Run | None:
            return run(release) if at_least(first, release) else None

        _FIRST_ASKED[asked] = first
        return asked

    return since_then


_FIRST_ASKED: dict[Callable[[str], Run | None], str] = {}


# Replication: each search is of a partition whose brokers die and come back.

_RECORD = replication.Produce()
_UNSAFE_RECORD = replication.Produce(acks=1)
_DEATHS = (replication.Fetch, replication.BrokerCrashed, replication.BrokerStarted, replication.SessionExpired)
_TWICE = {replication.Produce: 2, replication.BrokerCrashed: 2}


def _partition(release: str, replica_count: int = 2, **more: Any) -> replication.Settings:
    return replication.Settings(replica_count, release=release, fetch_wait_max_ms=0, **more)


def _cut_to_the_high_watermark(release: str) -> Run | None:
    return replication.find(_partition(release), [_RECORD, *_DEATHS], (SURVIVE_CLEAN,), at_most=_TWICE).trace


def _cut_by_an_epoch_asked_once(release: str) -> Run | None:
    careless = _partition(release, is_unclean_election_enabled=True)
    limits = {**_TWICE, replication.Produce: 3}  # up to 2.0.0 an epoch is known only once it has a record
    return replication.find(careless, [_UNSAFE_RECORD, *_DEATHS], (LOGS_AGREE,), at_most=limits).trace


def _last_replica_without_its_records(release: str) -> Run | None:
    events = [_RECORD, *_DEATHS, replication.PowerLost]
    limits = {replication.Produce: 1, replication.PowerLost: 1, replication.BrokerCrashed: 1}
    return replication.find(_partition(release), events, (SURVIVE_CLEAN,), at_most=limits).trace


def _held_back_by_the_dead(release: str) -> Run | None:
    late = replication.TimePassed(30_001)
    changes = (replication.IsrChecked, replication.AlterPartitionAnswered, late)
    events = [_RECORD, replication.Fetch, replication.BrokerCrashed, replication.SessionExpired, *changes]
    limits = {replication.Produce: 1, replication.BrokerCrashed: 1}
    return replication.find_stuck(_partition(release, 3), events, ALL_COMMITTED, at_most=limits).trace


def _burst(release: str) -> Run | None:
    settings = _partition(release)
    burst = replication.Produce(record_count=settings.replica_lag_max_messages + 1, acks=1)
    events = (replication.Fetch(2), burst, replication.IsrChecked())
    return _where(replication.simulate(settings, events), lambda state: state.controller.isr == (1,))


@_asked_since(REASSIGNS_SINCE)
def _ends_too_early(release: str) -> Run | None:
    events = [
        replication.BrokerCrashed(2),
        replication.SessionExpired(2),
        replication.AlterPartitionReassignments((1, 2, 4)),
        replication.Fetch(4),
        replication.Fetch(4),
        replication.AlterPartitionAnswered(),
    ]
    trace = replication.simulate(_partition(release, 3, broker_count=4), events)
    return _where(trace, _has_ended_out_of_sync)


def _has_ended_out_of_sync(state: replication.Partition) -> bool:
    assignment = state.controller.assignment
    return not assignment.is_changing and 2 in assignment.replicas and 2 not in state.controller.isr


def _where(trace: Run, is_shown: Callable[[Any], bool]) -> Run | None:
    """The run, if it ends with what it is to show."""
    return trace if is_shown(trace[-1].state) else None


# The log and its cleaner.


def _cleaned_above_the_high_watermark(release: str) -> Run | None:
    settings = log.Settings(cleanup_policy="compact", release=release, min_cleanable_dirty_ratio=0.0)
    old, new = (log.Append((log.NewBatch((("cart", value, at),)),)) for value, at in (("old", 1), ("new", 2)))
    trace = log.simulate(settings, [old, log.SetHighWatermark(1), new, log.Roll(10), log.Clean(20)])
    return _where(trace, lambda state: 0 not in {record.offset for record in state.records})


@_asked_since("0.10.1")
def _checkpoint_behind_the_log(release: str) -> Run | None:
    settings = log.Settings(cleanup_policy="compact,delete", release=release, min_cleanable_dirty_ratio=0.0)
    records = [log.Append((log.NewBatch((("cart", str(at), at),)),)) for at in (1, 2, 3)]
    first, second, third = records
    events = [first, log.Roll(10), log.Clean(20), second, third, log.MoveLogStart(2), log.Clean(30)]
    return _where(log.simulate(settings, events), lambda state: state.checkpoint < state.log_start_offset)


@_asked_since("0.11.0")
def _stable_inside_a_batch(release: str) -> Run | None:
    open_batch = log.NewBatch((("a", "1", 1), ("b", "2", 1)), producer_id=7, producer_epoch=0, is_transactional=True)
    trace = log.simulate(log.Settings(release=release), [log.Append((open_batch,)), log.MoveLogStart(1)])
    return _where(trace, lambda state: state.last_stable_offset not in {each.base_offset for each in state.batches})


# The offsets topic and its coordinator.

DAY_MS = 86_400_000


@_asked_since(store_model.ANSWERS_FOR.first)
def _expires_under_a_living_group(release: str) -> Run | None:
    settings = store.Settings(release)
    member = Member("c1-1", "c1", "/10.0.0.1", subscribed=("rare",))
    events = [
        store.StoreGroup("billing", 1, 0, (member,), protocol="range", leader="c1-1"),
        store.Commit("billing", "rare", 0, offset=7, now_ms=0, member_id="c1-1", generation=1),
        store.Sweep(now_ms=8 * DAY_MS),
        store.Fetch("billing", "rare", 0),
    ]
    return _where(store.simulate(settings, events), lambda state: state.effects[-1].offset == -1)


@_asked_since(life_model.ANSWERS_FOR.first)
def _late_order(release: str) -> Run | None:
    return coordinator_life.find(coordinator_life.Settings(release), [LEADER_ANSWERS], depth=8).trace


@_asked_since(life_model.ANSWERS_FOR.first)
def _late_load(release: str) -> Run | None:
    settings = coordinator_life.Settings(release)
    return coordinator_life.find(settings, [NEVER_OLD], depth=8).trace


@_asked_since(FIRST_NEW_COORDINATOR)
def _strict_load(release: str) -> Run | None:
    return loading_search.find(loading.Settings(release)).trace


def _bare_offset(release: str) -> Run | None:
    story = EPOCHLESS_COMMIT
    topic = replace(story.settings.topic, release=release)
    settings = replace(story.settings, topic=topic)
    return find_read_again(settings, story.kinds, (NONE_AGAIN,), initial=story.begun, at_most=story.at_most).trace


@_asked_since(classic_model.ANSWERS_FOR.first)
def _waits_for_a_sync(release: str) -> Run | None:
    return groups.find_stuck(classic.Settings(release), hang=["c1"]).trace


@_asked_since(FIRST_NEW_COORDINATOR)
def _mixed_for_ever(release: str) -> Run | None:
    settings = mixed.Settings(release, policy="disabled")
    old = classic.JoinGroup("c1", protocols=(("range", (("orders",), ())),), version=3)
    trace = mixed.simulate(settings, [consumer.join("n1", ("orders",)), old, consumer.leave("n1")])
    return _where(trace, lambda state: state.is_consumer and state.member_ids == state.classic_ids != ())


# Producers, idempotent and transactional.


@_asked_since("3.0")
def _default_without_effect(release: str) -> Run | None:
    is_off = not at_least("3.0.1", release) or (at_least("3.1", release) and not at_least("3.1.1", release))
    producer = delivery.ProducerSettings(release=release, is_idempotent=False if is_off else None)
    settings = delivery.Settings(replication.Settings(1, fetch_wait_max_ms=0), producer)
    events = [delivery.Send, delivery.RequestSent, delivery.RequestArrived, delivery.ConnectionLost]
    limits = {delivery.Send: 1, delivery.ConnectionLost: 1}
    return delivery.find(settings, events, (delivery.NONE_DOUBLED,), at_most=limits).trace


@_asked_since("2.5")
def _new_numbers_for_what_is_written(release: str) -> Run | None:
    # The first record's answer is that it is not committed yet; the second's is lost.
    producer = delivery.ProducerSettings(release=release, is_idempotent=True)
    settings = delivery.Settings(replication.Settings(2, fetch_wait_max_ms=0), producer)
    answers = [delivery.AnswerArrived, delivery.LateAnswerArrived, delivery.ConnectionLost]
    events = [delivery.Send, delivery.RequestSent, delivery.RequestArrived, *answers, replication.TimePassed(30_000)]
    kinds = (delivery.LateAnswerArrived, delivery.ConnectionLost, replication.TimePassed)
    limits = {delivery.Send: 2, **dict.fromkeys(kinds, 1)}
    return delivery.find(settings, events, (delivery.NONE_DOUBLED,), at_most=limits).trace


@_asked_since("0.11.0")
def _transaction_hangs(release: str) -> Run | None:
    # Of version 0 of the protocol are the rules of the oldest release that is modelled; what is new is who verifies.
    cluster = transactions.Settings("4.0", transaction_version=0, verification=at_least("3.6", release))
    return transactional_search.find_stuck(transactional.Settings(cluster)).trace


@_asked_since("0.11.0")
def _takes_an_older_coordinator(release: str) -> Run | None:
    defects = () if at_least("2.4.1", release) else ("KAFKA-9144",)
    settings = transactions.Settings("4.0", transaction_version=0, verification=False, defects=defects)
    trace = transaction_coordinator.simulate(
        settings,
        [
            transactions.InitProducerId("x"),
            transactions.AddPartitionsToTxn("x", 0, 0, ("t-0",)),
            transactions.Produce("x", "t-0", 0, 0, 0, ("m1",), version=7),
            transactions.CoordinatorLoaded(),  # another broker coordinates from now on
            transactions.TimePassed(70_000),
            transactions.MarkerArrived("x", "t-0"),
            transactions.TimePassed(600_000),
            transactions.WriteTxnMarkers(0, 1, commit=False, partitions=("t-0",), coordinator_epoch=0),
        ],
    )
    return _where(trace, lambda state: ("t-0", "NONE") in state.effects[0].partitions)


@_asked_since("4.0")
def _epoch_raised_twice(release: str) -> Run | None:
    defects = () if at_least("4.0.1", release) else ("KAFKA-19367",)
    settings = transactions.Settings(release, defects=defects)
    held = transactions.Transaction(
        "x", 0, epoch=transactions.LAST_EPOCH - 1, status=transactions.ONGOING, partitions=frozenset({"t-0"}),
        started_ms=0,
    )  # fmt: skip
    begun = replace(transactions.start(settings).with_transaction(held), next_producer_id=1)
    trace = transaction_coordinator.simulate(settings, [transactions.InitProducerId("x")], begun)
    return _where(trace, lambda state: state.effects[0].error == "UNKNOWN_SERVER_ERROR")


@_asked_since("4.0")
def _marker_is_lost(release: str) -> Run | None:
    settings = transactions.Settings(release)
    gone = transactions.LeaderWentAway(("t-0",), is_known=True)
    written = transactions.Produce("x", "t-0", 0, 0, 0)
    events = (transactions.InitProducerId("x"), written, gone, transactions.EndTxn("x", 0, 0))
    trace = transaction_coordinator.simulate(settings, events)
    return _where(trace, lambda state: bool(transaction_coordinator.broken(settings, state)))


@_asked_since("4.0")
def _fenced_without_a_word(release: str) -> Run | None:
    settings = transactional.Settings(transactions.Settings(release))
    late = transactions.TimePassed(70_000)
    marker = transactions.MarkerArrived(transactional.TRANSACTIONAL_ID, "t-0")
    events = (transactional.Started(), transactional.Sent(), transactional.Arrived(), late, marker)
    trace = transactional.simulate(settings, [*events, transactional.Ended()])
    return _where(trace, lambda state: any(each.error == "INVALID_TXN_STATE" for each in state.effects))


# The consumers of the ZooKeeper era, which are the clients of any broker up to 1.1.

_LAST_OLD_CONSUMER = "1.1"


def _gives_up(release: str) -> Run | None:
    return old_consumers.find_stuck().trace if at_least(release, _LAST_OLD_CONSUMER) else None


def _herd(release: str) -> Run | None:
    return old_consumers.find_herd().trace if at_least(release, _LAST_OLD_CONSUMER) else None


FIRST = RELEASES[0]
DEFECTS = (
    Defect(
        "KAFKA-1211",
        "A follower that comes back cuts its log at its own HW, is elected, and committed records are gone.",
        ((FIRST, "0.11.0"),), True, _cut_to_the_high_watermark, "KIP-101; ReplicaFetcherThread",
    ),
    Defect(
        "KAFKA-6361",
        "A leader answers for an epoch that it does not know, a follower cuts too little, and two logs differ.",
        (("0.11.0", "2.0"),), True, _cut_by_an_epoch_asked_once, "KIP-279; LeaderEpochFileCache.endOffsetFor",
    ),
    Defect(
        "KAFKA-15332",
        "The last in-sync replica comes back from a loss of power without its records, and leads.",
        ((FIRST, "4.1"),), True, _last_replica_without_its_records, "KIP-966, eligible leader replicas",
    ),
    Defect(
        "high watermark behind a dead replica",
        "A dead follower that was caught up a moment ago is waited for; later nobody looks again, and the last "
        "record stays uncommitted until the next one comes.",
        (("0.10.2", None),), True, _held_back_by_the_dead,
        "Partition.maybeIncrementLeaderHW, updateFollowerFetchState; seen on a cluster of 4.4",
    ),
    Defect(
        "KAFKA-1546",
        "A burst of more records than replica.lag.max.messages removes followers that keep up.",
        ((FIRST, "0.9.0"),), False, _burst, "KIP-16; Partition.getOutOfSyncReplicas",
    ),
    Defect(
        "KAFKA-15665",
        "A reassignment ends while a replica that stays is out of sync; since 4.3 again, where as many come as go.",
        (("3.3", "3.8"), ("4.3", None)), False, _ends_too_early, "PartitionReassignmentReplicas",
    ),
    Defect(
        "KAFKA-13194",
        "The cleaner removes a record for one that is not committed yet.",
        ((FIRST, "3.1"),), False, _cleaned_above_the_high_watermark, "LogCleanerManager.cleanableOffsets",
    ),
    Defect(
        "KAFKA-8764",
        "The cleaner's checkpoint stays before the start of the log, and each round warns of it and leaves it.",
        (("0.10.1", "2.4.1"),), False, _checkpoint_behind_the_log, "LogCleanerManager.cleanableOffsets",
    ),
    Defect(
        "KAFKA-17803",
        "Records of an open transaction are deleted, and the last stable offset stands inside a batch; its place in "
        "the file is that of the first record of the batch.",
        (("0.11.0", "4.0"),), False, _stable_inside_a_batch, "LogSegment.read, UnifiedLog.maybeIncrementLogStartOffset",
    ),
    Defect(
        "KAFKA-4682",
        "The offset of a quiet topic expires while its group lives, and the topic is read again from the start.",
        (("0.9.0", "2.1"),), False, _expires_under_a_living_group, "KIP-211; GroupMetadataManager.cleanupGroupMetadata",
    ),
    Defect(
        "KAFKA-10614",
        "An order to resign overtakes a later one to lead, and the leader of an offsets partition answers nobody.",
        (("2.0", "2.8.1"),), True, _late_order, "GroupCoordinator.onElection, onResignation",
    ),
    Defect(
        "a commit is missing for a moment",
        "Two brokers carry out their orders at different times, and one of them answers without the latest commit.",
        (("0.9.0", "4.0"),), True, _late_load, "GroupMetadataManager; CoordinatorRuntime since 4.0",
    ),
    Defect(
        "KAFKA-19862",
        "The cleaner takes a record away while a group is loaded, the load fails, and the group cannot be read.",
        (("4.0.0", "4.0.2"), ("4.1.0", "4.1.2")), True, _strict_load, "GroupMetadataManager.replay",
    ),
    Defect(
        "KAFKA-12890",
        "A member that hangs before its SyncGroup is waited for as long as its heartbeats go on, and its group stands.",
        (("2.6.1", "2.8.1"),), True, _waits_for_a_sync, "GroupCoordinator, the timer of a pending sync",
    ),
    Defect(
        "KAFKA-20640",
        "A group that may not change its protocol takes a classic member in, is mixed, and never goes back.",
        (("4.0", "4.3.1"),), False, _mixed_for_ever, "GroupMetadataManager.classicGroupJoinToConsumerGroup; KIP-848",
    ),
    Defect(
        "KAFKA-13598",
        "enable.idempotence is true by default and has no effect: a batch that is sent again is written twice.",
        (("3.0.0", "3.0.1"), ("3.1.0", "3.1.1")), True, _default_without_effect, "ProducerConfig; KIP-679", "producer",
    ),
    Defect(
        "KAFKA-14397",
        "An error comes as a batch's time is over: an idempotent producer gives what is in flight new numbers, and "
        "writes it twice.",
        (("2.5", None),), True, _new_numbers_for_what_is_written,
        "Sender.completeBatch, TransactionManager.handleFailedBatch; the change of pull request 12922 is in no release "
        "up to 4.4.0",
        "producer",
    ),
    Defect(
        "hanging transaction",
        "A record comes after the abort of its transaction, begins one that no coordinator knows, and readers of "
        "committed records are held back for ever.",
        (("0.11.0", "3.6"),), True, _transaction_hangs, "KIP-664; KIP-890, whose first part verifies each transaction",
    ),
    Defect(
        "KAFKA-9144",
        "Whose transaction its coordinator aborted is forgotten within ten minutes, and a marker of an older "
        "coordinator is written.",
        (("0.11.0", "2.4.1"),), False, _takes_an_older_coordinator,
        "ProducerStateEntry.lastTimestamp, ProducerStateManager.isProducerExpired",
    ),
    Defect(
        "KAFKA-19367",
        "InitProducerId raises an epoch twice, beyond the last there is, and its transactional id cannot begin again.",
        (("4.0.0", "4.0.1"),), False, _epoch_raised_twice, "TransactionCoordinator.handleInitProducerId",
    ),
    Defect(
        "KAFKA-20785",
        "A commit that meets the abort of its coordinator is answered INVALID_TXN_STATE, on which a client gives up.",
        (("4.0", None),), False, _fenced_without_a_word, "TransactionCoordinator.endTransaction",
    ),
    Defect(
        "KAFKA-20734",
        "A partition without a leader is taken for a deleted one: its marker is given up, the transaction counts as "
        "committed, and its readers are held back.",
        (("4.3", None),), False, _marker_is_lost,
        "KRaftMetadataCache.getPartitionLeaderEndpoint, TransactionMarkerChannelManager; seen on 4.3.1 and 4.4.0",
    ),
    Defect(
        "KAFKA-19902",
        "Offsets committed without their leader epoch let the next owner ask an old leader: all is read again.",
        ((FIRST, None),), True, _bare_offset, "SubscriptionState, OffsetFetcherUtils", "consumer",
    ),
    Defect(
        "old consumer that has given up",
        "A consumer fails in all its tries to own a partition, goes on living, and nobody reads the partition.",
        ((FIRST, "2.0"),), True, _gives_up, "ZookeeperConsumerConnector.syncedRebalance; the client went with 2.0",
        "old-consumer",
    ),
    Defect(
        "herd of old consumers",
        "One that joins calls all others, and each of them asks ZooKeeper for everything.",
        ((FIRST, "2.0"),), True, _herd, "ZookeeperConsumerConnector.ZKRebalancerListener; the client went with 2.0",
        "old-consumer",
    ),
)  # fmt: skip
"""What can be run here, oldest mechanism first. What the articles know and no simulator here does is not in it.

KAFKA-6189, records that a consumer passes over when its offset is out of range, is not in it either: no change of that
number is in Kafka's history (read up to 3.9), so there is no release without it to compare; that ``auto.offset.reset``
passes over records is a rule, not a fault, and `kafkalearn.consuming.truncation` runs it. KAFKA-14397 has no release
without it since 2.5; what a producer of 2.1 to 2.4 does in its place is not modelled, so it is not asked there.
KAFKA-19999 came and went between two releases: `kafkalearn.transactions.model.DEFECTS` has it. KAFKA-20765 is in the
client of the new consumer, whose requests to the coordinator for offsets no simulator here sends.
"""
