"""Kafka's own defects as runs: the search or the script that shows each of `kafkalearn.oncall.defects` in a release.

Every simulator stands behind this module, so who asks only for the table does not import it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kafkalearn import delivery, log, replication
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
from kafkalearn.releases.lines import RELEASES, at_least
from kafkalearn.replication.controller import REASSIGNS_SINCE
from kafkalearn.replication.simulator import ALL_COMMITTED, LOGS_AGREE, SURVIVE_CLEAN
from kafkalearn.transactions import client as transactional
from kafkalearn.transactions import model as transactions
from kafkalearn.transactions import search as transactional_search
from kafkalearn.transactions import simulator as transaction_coordinator
from kafkalearn.zookeeper import search as old_consumers

Run = Trace[Any, Any]

RUNS: dict[str, tuple[str, Callable[[str], Run | None]]] = {}
"""By a defect's name: the first release whose simulators answer for it, and what shows it in a release."""

FIRST_NEW_COORDINATOR = "4.0"


def _shows(name: str, since: str = RELEASES[0]) -> Callable[[Callable[[str], Run | None]], Callable[[str], Run | None]]:
    """Register what shows a defect; before `since` there is no such mechanism, or its simulator does not answer."""

    def registered(run: Callable[[str], Run | None]) -> Callable[[str], Run | None]:
        RUNS[name] = since, run
        return run

    return registered


def first_asked(name: str) -> str:
    """The first release in which a defect can be looked for."""
    return RUNS[name][0]


def run(name: str, release: str) -> Run | None:
    """The run that shows a defect in a release, or None."""
    since, shown = RUNS[name]
    return shown(release) if at_least(since, release) else None


# Replication: each search is of a partition whose brokers die and come back.

_RECORD = replication.Produce()
_UNSAFE_RECORD = replication.Produce(acks=1)
_DEATHS = (replication.Fetch, replication.BrokerCrashed, replication.BrokerStarted, replication.SessionExpired)
_TWICE = {replication.Produce: 2, replication.BrokerCrashed: 2}


def _partition(release: str, replica_count: int = 2, **more: Any) -> replication.Settings:
    return replication.Settings(replica_count, release=release, fetch_wait_max_ms=0, **more)


@_shows("KAFKA-1211")
def _cut_to_the_high_watermark(release: str) -> Run | None:
    return replication.find(_partition(release), [_RECORD, *_DEATHS], (SURVIVE_CLEAN,), at_most=_TWICE).trace


@_shows("KAFKA-6361")
def _cut_by_an_epoch_asked_once(release: str) -> Run | None:
    careless = _partition(release, is_unclean_election_enabled=True)
    limits = {**_TWICE, replication.Produce: 3}  # up to 2.0.0 an epoch is known only once it has a record
    return replication.find(careless, [_UNSAFE_RECORD, *_DEATHS], (LOGS_AGREE,), at_most=limits).trace


@_shows("KAFKA-15332")
def _last_replica_without_its_records(release: str) -> Run | None:
    events = [_RECORD, *_DEATHS, replication.PowerLost]
    limits = {replication.Produce: 1, replication.PowerLost: 1, replication.BrokerCrashed: 1}
    return replication.find(_partition(release), events, (SURVIVE_CLEAN,), at_most=limits).trace


@_shows("high watermark behind a dead replica")
def _held_back_by_the_dead(release: str) -> Run | None:
    late = replication.TimePassed(30_001)
    changes = (replication.IsrChecked, replication.AlterPartitionAnswered, late)
    events = [_RECORD, replication.Fetch, replication.BrokerCrashed, replication.SessionExpired, *changes]
    limits = {replication.Produce: 1, replication.BrokerCrashed: 1}
    return replication.find_stuck(_partition(release, 3), events, ALL_COMMITTED, at_most=limits).trace


@_shows("KAFKA-1546")
def _burst(release: str) -> Run | None:
    settings = _partition(release)
    burst = replication.Produce(record_count=settings.replica_lag_max_messages + 1, acks=1)
    events = (replication.Fetch(2), burst, replication.IsrChecked())
    return _where(replication.simulate(settings, events), lambda state: state.controller.isr == (1,))


@_shows("KAFKA-15665", REASSIGNS_SINCE)
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


@_shows("KAFKA-13194")
def _cleaned_above_the_high_watermark(release: str) -> Run | None:
    settings = log.Settings(cleanup_policy="compact", release=release, min_cleanable_dirty_ratio=0.0)
    old, new = (log.Append((log.NewBatch((("cart", value, at),)),)) for value, at in (("old", 1), ("new", 2)))
    trace = log.simulate(settings, [old, log.SetHighWatermark(1), new, log.Roll(10), log.Clean(20)])
    return _where(trace, lambda state: 0 not in {record.offset for record in state.records})


@_shows("KAFKA-8764", "0.10.1")
def _checkpoint_behind_the_log(release: str) -> Run | None:
    settings = log.Settings(cleanup_policy="compact,delete", release=release, min_cleanable_dirty_ratio=0.0)
    records = [log.Append((log.NewBatch((("cart", str(at), at),)),)) for at in (1, 2, 3)]
    first, second, third = records
    events = [first, log.Roll(10), log.Clean(20), second, third, log.MoveLogStart(2), log.Clean(30)]
    return _where(log.simulate(settings, events), lambda state: state.checkpoint < state.log_start_offset)


@_shows("KAFKA-17803", "0.11.0")
def _stable_inside_a_batch(release: str) -> Run | None:
    open_batch = log.NewBatch((("a", "1", 1), ("b", "2", 1)), producer_id=7, producer_epoch=0, is_transactional=True)
    trace = log.simulate(log.Settings(release=release), [log.Append((open_batch,)), log.MoveLogStart(1)])
    return _where(trace, lambda state: state.last_stable_offset not in {each.base_offset for each in state.batches})


# The offsets topic and its coordinator.

DAY_MS = 86_400_000


@_shows("KAFKA-4682", store_model.ANSWERS_FOR.first)
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


@_shows("KAFKA-10614", life_model.ANSWERS_FOR.first)
def _late_order(release: str) -> Run | None:
    return coordinator_life.find(coordinator_life.Settings(release), [LEADER_ANSWERS], depth=8).trace


@_shows("a commit is missing for a moment", life_model.ANSWERS_FOR.first)
def _late_load(release: str) -> Run | None:
    settings = coordinator_life.Settings(release)
    return coordinator_life.find(settings, [NEVER_OLD], depth=8).trace


@_shows("KAFKA-19862", FIRST_NEW_COORDINATOR)
def _strict_load(release: str) -> Run | None:
    return loading_search.find(loading.Settings(release)).trace


@_shows("KAFKA-19902")
def _bare_offset(release: str) -> Run | None:
    story = EPOCHLESS_COMMIT
    topic = replace(story.settings.topic, release=release)
    settings = replace(story.settings, topic=topic)
    return find_read_again(settings, story.kinds, (NONE_AGAIN,), initial=story.begun, at_most=story.at_most).trace


@_shows("KAFKA-12890", classic_model.ANSWERS_FOR.first)
def _waits_for_a_sync(release: str) -> Run | None:
    return groups.find_stuck(classic.Settings(release), hang=["c1"]).trace


@_shows("KAFKA-20640", FIRST_NEW_COORDINATOR)
def _mixed_for_ever(release: str) -> Run | None:
    settings = mixed.Settings(release, policy="disabled")
    old = classic.JoinGroup("c1", protocols=(("range", (("orders",), ())),), version=3)
    trace = mixed.simulate(settings, [consumer.join("n1", ("orders",)), old, consumer.leave("n1")])
    return _where(trace, lambda state: state.is_consumer and state.member_ids == state.classic_ids != ())


# Producers, idempotent and transactional.


@_shows("KAFKA-13598", "3.0")
def _default_without_effect(release: str) -> Run | None:
    is_off = not at_least("3.0.1", release) or (at_least("3.1", release) and not at_least("3.1.1", release))
    producer = delivery.ProducerSettings(release=release, is_idempotent=False if is_off else None)
    settings = delivery.Settings(replication.Settings(1, fetch_wait_max_ms=0), producer)
    events = [delivery.Send, delivery.RequestSent, delivery.RequestArrived, delivery.ConnectionLost]
    limits = {delivery.Send: 1, delivery.ConnectionLost: 1}
    return delivery.find(settings, events, (delivery.NONE_DOUBLED,), at_most=limits).trace


@_shows("KAFKA-14397", "2.5")
def _new_numbers_for_what_is_written(release: str) -> Run | None:
    # The first record's answer is that it is not committed yet; the second's is lost.
    producer = delivery.ProducerSettings(release=release, is_idempotent=True)
    settings = delivery.Settings(replication.Settings(2, fetch_wait_max_ms=0), producer)
    answers = [delivery.AnswerArrived, delivery.LateAnswerArrived, delivery.ConnectionLost]
    events = [delivery.Send, delivery.RequestSent, delivery.RequestArrived, *answers, replication.TimePassed(30_000)]
    kinds = (delivery.LateAnswerArrived, delivery.ConnectionLost, replication.TimePassed)
    limits = {delivery.Send: 2, **dict.fromkeys(kinds, 1)}
    return delivery.find(settings, events, (delivery.NONE_DOUBLED,), at_most=limits).trace


@_shows("hanging transaction", "0.11.0")
def _transaction_hangs(release: str) -> Run | None:
    # Of version 0 of the protocol are the rules of the oldest release that is modelled; what is new is who verifies.
    cluster = transactions.Settings("4.0", transaction_version=0, verification=at_least("3.6", release))
    return transactional_search.find_stuck(transactional.Settings(cluster)).trace


@_shows("KAFKA-9144", "0.11.0")
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


@_shows("KAFKA-19367", "4.0")
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


@_shows("KAFKA-20734", "4.0")
def _marker_is_lost(release: str) -> Run | None:
    settings = transactions.Settings(release)
    gone = transactions.LeaderWentAway(("t-0",), is_known=True)
    written = transactions.Produce("x", "t-0", 0, 0, 0)
    events = (transactions.InitProducerId("x"), written, gone, transactions.EndTxn("x", 0, 0))
    trace = transaction_coordinator.simulate(settings, events)
    return _where(trace, lambda state: bool(transaction_coordinator.broken(settings, state)))


@_shows("KAFKA-20785", "4.0")
def _fenced_without_a_word(release: str) -> Run | None:
    settings = transactional.Settings(transactions.Settings(release))
    late = transactions.TimePassed(70_000)
    marker = transactions.MarkerArrived(transactional.TRANSACTIONAL_ID, "t-0")
    events = (transactional.Started(), transactional.Sent(), transactional.Arrived(), late, marker)
    trace = transactional.simulate(settings, [*events, transactional.Ended()])
    return _where(trace, lambda state: any(each.error == "INVALID_TXN_STATE" for each in state.effects))


# The consumers of the ZooKeeper era, which are the clients of any broker up to 1.1.

_LAST_OLD_CONSUMER = "1.1"


@_shows("old consumer that has given up")
def _gives_up(release: str) -> Run | None:
    return old_consumers.find_stuck().trace if at_least(release, _LAST_OLD_CONSUMER) else None


@_shows("herd of old consumers")
def _herd(release: str) -> Run | None:
    return old_consumers.find_herd().trace if at_least(release, _LAST_OLD_CONSUMER) else None
