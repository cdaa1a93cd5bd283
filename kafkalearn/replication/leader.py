"""The leader's side: fetches, the high watermark, an ISR that shrinks and expands, who waits, what is answered.

First the rules, pure functions of logs and of what the leader knows: what a fetch finds, who counts for the ISR and the
high watermark. Then the steps that read and write a `Processing` by them: requests that wait, the ISR that grows and
shrinks, a fetch from its arrival to its answer, and the requests of producers and consumers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkalearn.replication import events, replica_log
from kafkalearn.replication.events import Produce
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.record import changed, verdict
from kafkalearn.replication.settings import Rules, Settings
from kafkalearn.replication.state import (
    DOWN,
    UNDEFINED,
    UNKNOWN,
    Broker,
    Leadership,
    Log,
    ParkedFetch,
    ParkedProduce,
    Proposal,
    Record,
    Remote,
    Requests,
    Visible,
    remote_ends_of,
)

# What a follower asks, what a leader reads for it, and what the follower makes of the answer.


class FetchRequest(NamedTuple):
    """What a follower sends."""

    broker_id: int
    fetch_offset: int  # its own LEO
    log_start_offset: int
    leader_epoch: int | None  # that it knows; None before 2.1
    last_epoch: int | None  # the newest in its cache; None before 2.8, or if it has none


class FetchAnswer(NamedTuple):
    """What a leader answers."""

    error: str = events.NONE
    high_watermark: int | None = None
    log_start_offset: int = 0
    records: tuple[Record, ...] = ()
    diverging: tuple[int, int] | None = None  # (epoch, end offset): here the logs part

    @property
    def has_content(self) -> bool:
        """Whether there is a reason to answer at once."""
        return bool(self.records) or self.error != events.NONE or self.diverging is not None


def request_of(settings: Settings, broker_id: int, broker: Broker, log: Log) -> FetchRequest:
    """The fetch that a follower sends next."""
    newest = replica_log.newest_epoch(log)
    sends_newest = settings.rules.truncation == "epoch, in the fetch" and newest != UNKNOWN
    return FetchRequest(
        broker_id,
        log.log_end_offset,
        log.log_start_offset,
        broker.leader_epoch if settings.rules.fences_fetches else None,
        newest if sends_newest else None,
    )


def refusal(is_leader: bool, leader_epoch: int, request: FetchRequest, is_replica: bool) -> str:
    """Step 1: the error for one who asks the wrong broker, or in the wrong epoch; ``"NONE"`` if all is well.

    The epoch is looked at first: a follower knows it too. `is_replica` says whether the leader knows the sender as one
    who holds a replica.
    """
    if request.leader_epoch is not None and request.leader_epoch != leader_epoch:
        return "FENCED_LEADER_EPOCH" if request.leader_epoch < leader_epoch else "UNKNOWN_LEADER_EPOCH"
    if not is_leader:
        return "NOT_LEADER_OR_FOLLOWER"
    if not is_replica:
        return "NOT_LEADER_OR_FOLLOWER" if request.leader_epoch is None else "UNKNOWN_LEADER_EPOCH"
    return events.NONE


def read(log: Log, request: FetchRequest) -> FetchAnswer:
    """Steps 2 to 5: the answer from the leader's log as it is, with records up to the LEO, not the high watermark.

    References
    ----------
    Apache Kafka 4.3, ``Partition.fetchRecords`` and ``readRecords``.
    """
    answer = FetchAnswer(events.NONE, log.high_watermark, log.log_start_offset)  # 2
    if request.last_epoch is not None:  # 3
        diverging = replica_log.diverging_epoch(log, request.fetch_offset, request.last_epoch)
        if diverging == UNDEFINED or request.fetch_offset < log.log_start_offset:
            return FetchAnswer("OFFSET_OUT_OF_RANGE")
        if diverging is not None:
            return answer._replace(diverging=diverging)
    if not log.log_start_offset <= request.fetch_offset <= log.log_end_offset:  # 4
        return FetchAnswer("OFFSET_OUT_OF_RANGE")
    return answer._replace(records=log.records_from(request.fetch_offset))  # 5


def deliver_answer(processing: Processing, leader_id: int, request: FetchRequest, answer: FetchAnswer) -> None:
    """The follower acts on an answer, unless its log has moved since it asked."""
    broker_id = request.broker_id
    log = processing.log(broker_id)
    if not processing.broker(broker_id).is_running or log.log_end_offset != request.fetch_offset:
        return
    leader_log = processing.log(leader_id)
    if answer.error == "OFFSET_OUT_OF_RANGE" and _halts(processing.settings, log, leader_log):
        processing.put_log(broker_id, replica_log.found_again(log))
        processing.put_broker(broker_id, Broker(DOWN, was_stopped_cleanly=False))
        processing.emit(events.BrokerHalted(broker_id))
        return
    after = log_after(processing.settings.rules, log, answer, leader_log)
    processing.put_log(broker_id, after)
    is_asked_to_cut = answer.diverging is not None or answer.error == "OFFSET_OUT_OF_RANGE"
    ends = (log.log_end_offset, after.log_end_offset) if is_asked_to_cut else (None, None)
    values = tuple((request.fetch_offset + index, record.value) for index, record in enumerate(answer.records))
    processing.emit(
        events.FetchAnswered(broker_id, answer.high_watermark, values, answer.error, answer.diverging, *ends)
    )


def _halts(settings: Settings, log: Log, leader_log: Log) -> bool:
    is_ahead = leader_log.log_end_offset < log.log_end_offset
    return is_ahead and settings.rules.halts_beyond_leader and not settings.is_unclean_election_enabled


def log_after(rules: Rules, log: Log, answer: FetchAnswer, leader_log: Log) -> Log:
    """A follower's log after an answer: cut or copied to, its high watermark as the leader has it.

    The high watermark is overwritten, not raised: it can go down.

    References
    ----------
    Apache Kafka 4.3, ``AbstractFetcherThread`` and ``ReplicaFetcherThread.processPartitionData``.
    """
    if answer.error == "OFFSET_OUT_OF_RANGE":
        return replica_log.cut_out_of_range(log, leader_log)
    if answer.error != events.NONE:
        return log
    if answer.diverging is not None:
        cut, _ = replica_log.cut_for(log, *answer.diverging)
        return replica_log.truncate(log, cut)
    copied = replica_log.copy(rules, log, answer.records)
    leaders = answer.high_watermark
    assert leaders is not None, "an answer without an error has the leader's high watermark"
    high_watermark = max(min(copied.log_end_offset, leaders), copied.log_start_offset)
    return replica_log.move_start(copied._replace(high_watermark=high_watermark), answer.log_start_offset)


# Who counts: which followers are caught up, who leaves and joins the ISR, how far the high watermark may go. The time
# comes from outside, and so does who may be in the ISR at all: `is_eligible` says whether a broker counts as alive.


def with_fetch(settings: Settings, now_ms: int, remote: Remote, log: Log, offset: int, start: int) -> Remote:
    """What the leader knows of a follower that has just asked for `offset`; its log starts at `start`.

    The remote LEO is simply the offset asked for: it may go down. Having all the leader has is being caught up now;
    having all the leader had at the fetch before is having been caught up then.
    """
    end = log.log_end_offset
    caught_up_ms = remote.last_caught_up_ms
    if offset >= end:
        caught_up_ms = _later(caught_up_ms, now_ms)
    elif settings.rules.counts_previous_fetch and offset >= remote.leader_end_at_last_fetch:
        caught_up_ms = _later(caught_up_ms, remote.last_fetch_ms)
    return Remote(
        log_end_offset=offset,
        log_start_offset=start,
        last_caught_up_ms=caught_up_ms,
        last_fetch_ms=now_ms,
        leader_end_at_last_fetch=max(end, remote.leader_end_at_last_fetch),
        last_sent_high_watermark=log.high_watermark if settings.rules.answers_new_high_watermark else 0,
    )


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def is_recent(settings: Settings, now_ms: int, since_ms: int | None) -> bool:
    """Whether a moment is within the lag time; exactly at its limit it still is."""
    return since_ms is not None and now_ms - since_ms <= settings.replica_lag_time_max_ms


def high_watermark_of(
    settings: Settings,
    now_ms: int,
    is_eligible: Callable[[int], bool],
    log: Log,
    leading: Leadership,
    remotes: tuple[Remote | None, ...],
) -> int:
    """The leader's high watermark after it has tried to raise it: the smallest LEO of all who count.

    The maximal ISR counts; since 0.10.2 also replicas outside that are caught up, so that they can join.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeIncrementLeaderHW``.
    """

    def is_held_back_by(broker_id: int) -> bool:
        return holds_back(settings, now_ms, is_eligible, broker_id, remotes[broker_id - 1])

    return high_watermark_by_ends(settings, log, leading, remote_ends_of(remotes), is_held_back_by)


def high_watermark_by_ends(
    settings: Settings,
    log: Log,
    leading: Leadership,
    ends: tuple[int | None, ...],
    is_held_back_by: Callable[[int], bool],
) -> int:
    """The same by the remote LEOs: whether a broker outside the ISR holds it back is asked only where it would."""
    replica_count = 1 + sum([each is not None for each in ends])
    if settings.rules.is_frozen_under_min_isr and len(leading.isr) < settings.min_isr_of(replica_count):
        return log.high_watermark
    members, lowest = leading.maximal_isr, log.log_end_offset
    for broker_id in members:
        end = ends[broker_id - 1]
        if end is not None and end < lowest:
            lowest = end
    if lowest <= log.high_watermark:
        return log.high_watermark
    for broker_id, end in enumerate(ends, start=1):
        if end is not None and end < lowest and broker_id not in members and is_held_back_by(broker_id):
            lowest = end
    return max(lowest, log.high_watermark)


def holds_back(
    settings: Settings, now_ms: int, is_eligible: Callable[[int], bool], broker_id: int, remote: Remote | None
) -> bool:
    """Whether a follower outside the ISR counts for the high watermark: it is caught up, so that it can join."""
    # Since 3.3 one that has all the leader has is caught up too, whatever its time: it cannot be the lowest.
    is_known = settings.rules.high_watermark_waits_for_caught_up
    if remote is None or not is_known or not is_recent(settings, now_ms, remote.last_caught_up_ms):
        return False
    return is_eligible(broker_id) or not settings.rules.high_watermark_ignores_ineligible


def shrunk_isr(
    settings: Settings, now_ms: int, log: Log, isr: tuple[int, ...], remotes: tuple[Remote | None, ...]
) -> tuple[int, ...]:
    """The ISR shrunk by replica.lag.time.max.ms: without the followers that lag; the leader is always in it.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeShrinkIsr`` and ``getOutOfSyncReplicas``.
    """
    return tuple(
        broker_id
        for broker_id in isr
        if (remote := remotes[broker_id - 1]) is None or not _lags(settings, now_ms, log, remote)
    )


def _lags(settings: Settings, now_ms: int, log: Log, remote: Remote) -> bool:
    behind = log.log_end_offset - remote.log_end_offset
    if settings.rules.lag_test == "time or records":
        fetched_ms = _later(remote.last_fetch_ms, remote.last_caught_up_ms)  # the second: set at the election
        is_silent = not is_recent(settings, now_ms, fetched_ms)
        return is_silent or (remote.log_end_offset >= 0 and behind > settings.replica_lag_max_messages)
    if settings.rules.lag_test == "time, unless at the end" and behind == 0:
        return False
    return not is_recent(settings, now_ms, remote.last_caught_up_ms)


def may_join(
    settings: Settings,
    is_eligible: Callable[[int], bool],
    log: Log,
    leading: Leadership,
    broker_id: int,
    remote_log_end_offset: int,
) -> bool:
    """Whether a follower outside the ISR is to be proposed for it now.

    It must have reached the high watermark, and, since 2.0, the offset where the leader took over. One change at a
    time may be under way.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeExpandIsr``.
    """
    if leading.proposal is not None or broker_id in leading.isr:
        return False
    needed = log.high_watermark
    if settings.rules.joins_from_epoch_start:
        needed = max(needed, leading.epoch_start_offset)
    if remote_log_end_offset < needed:
        return False
    return is_eligible(broker_id) or not settings.rules.joins_only_eligible


# Requests that wait on the leader: fetches that found nothing, acks=all requests below the high watermark.


def park_fetch(processing: Processing, leader_id: int, request: FetchRequest) -> None:
    """Let a fetch wait."""
    waiting = processing.waiting(leader_id)
    deadline_ms = processing.now_ms + processing.settings.fetch_wait_max_ms
    others = _without_broker(waiting.fetches, request.broker_id)
    parked = ParkedFetch(request.broker_id, request.fetch_offset, deadline_ms)
    processing.put_waiting(leader_id, waiting._replace(fetches=(*others, parked)))


def drop_fetches_of(processing: Processing, broker_id: int) -> None:
    """Forget the waiting fetch of a broker that no longer listens."""
    if processing.settings.fetch_wait_max_ms == 0:
        return
    leader_id = processing.broker(broker_id).leader
    if leader_id is not None and leader_id != broker_id:
        _drop_fetch(processing, leader_id, broker_id)


def _drop_fetch(processing: Processing, leader_id: int, broker_id: int) -> None:
    waiting = processing.waiting(leader_id)
    processing.put_waiting(leader_id, waiting._replace(fetches=_without_broker(waiting.fetches, broker_id)))


def _without_broker(parked: tuple[ParkedFetch, ...], broker_id: int) -> tuple[ParkedFetch, ...]:
    return tuple(each for each in parked if each.broker_id != broker_id)


def has_news(processing: Processing, leader_id: int, broker_id: int) -> bool:
    """Whether 2.4 and 2.5 answer for the high watermark alone: it is above the one last sent to this follower."""
    if not processing.settings.rules.answers_new_high_watermark:
        return False
    remote = processing.remote(leader_id, broker_id)
    return processing.log(leader_id).high_watermark > remote.last_sent_high_watermark


def answer_fetches(processing: Processing, leader_id: int) -> None:
    """Answer the waiting fetches for which there is something now."""
    if processing.settings.fetch_wait_max_ms == 0:
        return
    for parked in processing.waiting(leader_id).fetches:
        answer = read(processing.log(leader_id), _request_again(processing, parked))
        if answer.has_content or has_news(processing, leader_id, parked.broker_id):
            answer_fetch(processing, leader_id, parked)


def answer_fetch(processing: Processing, leader_id: int, parked: ParkedFetch) -> None:
    """Answer one waiting fetch; it reads again, and carries the high watermark of this moment."""
    request = _request_again(processing, parked)
    _drop_fetch(processing, leader_id, parked.broker_id)
    deliver_answer(processing, leader_id, request, read(processing.log(leader_id), request))


def _request_again(processing: Processing, parked: ParkedFetch) -> FetchRequest:
    broker_id = parked.broker_id
    request = request_of(processing.settings, broker_id, processing.broker(broker_id), processing.log(broker_id))
    return request._replace(fetch_offset=parked.fetch_offset)


def park_produce(processing: Processing, leader_id: int, parked: ParkedProduce) -> None:
    """Let an acks=all request wait."""
    waiting = processing.waiting(leader_id)
    processing.put_waiting(leader_id, waiting._replace(produces=(*waiting.produces, parked)))
    processing.emit(events.ProduceParked(parked.request))


def answer_produces(processing: Processing, leader_id: int) -> None:
    """Answer the acks=all requests that the high watermark has passed."""
    for parked in processing.waiting(leader_id).produces:
        if processing.log(leader_id).high_watermark >= parked.required_offset:
            answer_produce(processing, leader_id, parked, error_after_append(processing, leader_id))


def answer_produce(processing: Processing, leader_id: int, parked: ParkedProduce, error: str) -> None:
    """Answer one waiting request."""
    waiting = processing.waiting(leader_id)
    kept = tuple(each for each in waiting.produces if each != parked)
    processing.put_waiting(leader_id, waiting._replace(produces=kept))
    respond_to_producer(processing, leader_id, parked.request, error, parked.base_offset, parked.required_offset)


def error_after_append(processing: Processing, leader_id: int) -> str:
    """The answer to acks=all once its records are committed: an error if the ISR has become too small meanwhile."""
    is_enough = len(processing.leadership(leader_id).maximal_isr) >= processing.needed_isr(leader_id)
    return events.NONE if is_enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def respond_to_producer(
    processing: Processing, leader_id: int, request: int, error: str, base_offset: int, end_offset: int
) -> None:
    """Answer a producer whose records were written; the ledger notes what was acknowledged."""
    processing.emit(events.ProduceAnswered(request, error, base_offset))
    if error == events.NONE:
        records = processing.log(leader_id).records_from(base_offset, end_offset)
        promised = tuple((base_offset + index, record.value) for index, record in enumerate(records))
        processing.acknowledged = tuple(sorted(processing.acknowledged + promised))


def expire(processing: Processing, leader_id: int) -> None:
    """Answer what has waited too long, in the order of the deadlines."""
    fetches, produces = processing.waiting(leader_id)
    for parked in sorted((*fetches, *produces), key=lambda each: each.deadline_ms):
        if parked.deadline_ms > processing.now_ms:
            continue
        if isinstance(parked, ParkedFetch):
            answer_fetch(processing, leader_id, parked)
        else:
            answer_produce(processing, leader_id, parked, "REQUEST_TIMED_OUT")


# The high watermark rises, the ISR shrinks and grows. The high watermark is tried on four occasions: on becoming leader
# and at later metadata, when an ISR change is committed, after an append, and after a fetch that changed a remote LEO.


def lift(processing: Processing, leader_id: int) -> bool:
    """Try to raise the leader's high watermark; whether it has risen."""
    settings, log, leading = processing.settings, processing.log(leader_id), processing.leadership(leader_id)

    def is_held_back_by(broker_id: int) -> bool:
        remote = processing.remotes(leader_id)[broker_id - 1]
        return holds_back(settings, processing.now_ms, processing.is_eligible, broker_id, remote)

    high_watermark = high_watermark_by_ends(settings, log, leading, processing.remote_ends(leader_id), is_held_back_by)
    if high_watermark == log.high_watermark:
        return False
    log = log._replace(high_watermark=high_watermark)
    processing.put_log(leader_id, log)
    processing.visible = seen(processing.visible, log, processing.broker(leader_id).leader_epoch)
    return True


def raise_high_watermark(processing: Processing, leader_id: int) -> None:
    """Try to raise the leader's high watermark, and answer the requests that waited for it."""
    if lift(processing, leader_id):
        answer_produces(processing, leader_id)
        if processing.settings.rules.answers_new_high_watermark:
            answer_fetches(processing, leader_id)


def seen(visible: Visible, log: Log, leader_epoch: int) -> Visible:
    """What consumers have been able to read once they may read up to this leader's high watermark."""
    end, records = log.high_watermark, visible.records
    records += (None,) * (log.first_offset - len(records))
    is_same_term = visible.leader_epoch == leader_epoch
    return Visible(
        records=records + log.records_from(len(records), end),
        leader_epoch=leader_epoch,
        high_watermark=max(end, visible.high_watermark) if is_same_term else end,
    )


def propose(processing: Processing, leader_id: int, isr: tuple[int, ...]) -> None:
    """The leader wants another ISR: it asks the controller, or, up to 2.6, writes it down itself."""
    if processing.settings.rules.asks_controller:
        processing.put_leading(leader_id, processing.leadership(leader_id)._replace(proposal=Proposal(isr)))
        processing.emit(events.AlterPartitionSent(isr))
    elif controllers_answer(processing, leader_id, isr) == events.NONE:
        processing.emit(events.IsrWritten(isr))
        commit(processing, leader_id, isr)


def controllers_answer(processing: Processing, leader_id: int, isr: tuple[int, ...]) -> str:
    """What the controller says by its rules to an ISR that a leader wants; ``"NONE"``: taken over."""
    leader_epoch = processing.broker(leader_id).leader_epoch
    partition_epoch = processing.leadership(leader_id).partition_epoch
    return verdict(processing.settings, processing.controller, leader_id, leader_epoch, partition_epoch, isr)


def commit(processing: Processing, leader_id: int, isr: tuple[int, ...]) -> None:
    """The new ISR is recorded, the leader takes it over and tries its high watermark."""
    processing.controller = changed(processing.settings, processing.controller, isr)._replace(is_recovering=False)
    partition_epoch = processing.controller.partition_epoch
    leading = processing.leadership(leader_id)
    processing.put_leading(leader_id, leading._replace(isr=isr, partition_epoch=partition_epoch, proposal=None))
    raise_high_watermark(processing, leader_id)


def isr_checked(processing: Processing, event: events.IsrChecked) -> None:
    """The periodic check: followers that lag are to leave the ISR."""
    leader_id = processing.acting_leader(event.broker_id)
    if leader_id is None:
        processing.refuse("{}: there is no leader to check the ISR", event)
    leading = processing.leadership(leader_id)
    if leading.proposal is None:  # one change at a time
        log, remotes = processing.log(leader_id), processing.remotes(leader_id)
        isr = shrunk_isr(processing.settings, processing.now_ms, log, leading.isr, remotes)
        if isr != leading.isr:
            propose(processing, leader_id, isr)


# A follower's fetch, and the ten steps in which its leader works on it. The answer carries the high watermark of
# *before*: it is read in step 2, and raised, by this very fetch, in step 8. So a fetch that finds records never brings
# the high watermark that it has itself made possible.


def fetch(processing: Processing, event: events.Fetch) -> None:
    """One round of a follower's fetcher: cut what must be cut, ask, and act on the answer if there is one yet."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    leader_id = _leader_to_ask(processing, broker_id, broker)
    if broker.is_truncating and not _ask_where_to_cut(processing, broker_id, broker, leader_id):
        return
    request = request_of(processing.settings, broker_id, broker, processing.log(broker_id))
    answer = handle(processing, leader_id, request)
    if answer is not None:
        deliver_answer(processing, leader_id, request, answer)


def _leader_to_ask(processing: Processing, broker_id: int, broker: Broker) -> int:
    processing.require(broker.is_running, "broker {} is {}: it fetches nothing", broker_id, broker.status)
    leader_id = broker.leader
    if leader_id is None:
        processing.refuse("broker {} knows no leader to fetch from", broker_id)
    processing.require(leader_id != broker_id, "broker {} leads; followers fetch", broker_id)
    leader = processing.broker(leader_id)
    processing.require(
        leader.is_running, "broker {}, whom broker {} would ask, is {}", leader_id, broker_id, leader.status
    )
    return leader_id


def _ask_where_to_cut(processing: Processing, broker_id: int, broker: Broker, leader_id: int) -> bool:
    """Ask the leader once where to cut; whether that is done with."""
    if processing.leading(leader_id) is None:
        return True
    log = processing.log(broker_id)
    cut, is_done = replica_log.cut_before_fetching(processing.settings, log, processing.log(leader_id))
    processing.emit(events.LogTruncated(broker_id, log.log_end_offset, cut.log_end_offset))
    processing.put_log(broker_id, cut)
    processing.put_broker(broker_id, broker._replace(is_truncating=not is_done))
    return is_done


def handle(processing: Processing, leader_id: int, request: FetchRequest) -> FetchAnswer | None:
    """The ten steps; None: the fetch is left waiting.

    References
    ----------
    Apache Kafka 4.3, ``ReplicaManager.fetchMessages``, ``Partition.fetchRecords`` and
    ``Partition.updateFollowerFetchState``.
    """
    settings, log = processing.settings, processing.log(leader_id)
    is_leader, leader_epoch = processing.leading(leader_id) is not None, processing.broker(leader_id).leader_epoch
    is_replica = is_leader and processing.remote_ends(leader_id)[request.broker_id - 1] is not None
    error = refusal(is_leader, leader_epoch, request, is_replica)  # 1
    answer = read(log, request) if error == events.NONE else FetchAnswer(error)  # 2 to 5
    is_at_once = answer.has_content or settings.fetch_wait_max_ms == 0
    if answer.error == events.NONE and answer.diverging is None:
        is_at_once = is_at_once or has_news(processing, leader_id, request.broker_id)
        _note_fetch(processing, leader_id, log, request)  # 6 to 9
    processing.emit(events.FetchHandled(leader_id, request.broker_id, request.fetch_offset, is_parked=not is_at_once))
    if is_at_once:  # 10
        return answer
    park_fetch(processing, leader_id, request)
    if settings.rules.answers_new_high_watermark:
        answer_fetches(processing, leader_id)
    return None


def _note_fetch(processing: Processing, leader_id: int, log: Log, request: FetchRequest) -> None:
    broker_id, remotes, leading = request.broker_id, processing.remotes(leader_id), processing.leadership(leader_id)
    known = processing.remote(leader_id, broker_id)
    now_known = with_fetch(
        processing.settings, processing.now_ms, known, log, request.fetch_offset, request.log_start_offset
    )
    if now_known != known:  # 6
        processing.put_remotes(leader_id, (*remotes[: broker_id - 1], now_known, *remotes[broker_id:]))
    if may_join(processing.settings, processing.is_eligible, log, leading, broker_id, now_known.log_end_offset):
        propose(processing, leader_id, tuple(sorted((*leading.isr, broker_id))))  # 7
    if now_known.log_end_offset != known.log_end_offset:
        raise_high_watermark(processing, leader_id)  # 8 and 9


# Requests of clients: a batch is produced, records are read, records are deleted.

TO_HIGH_WATERMARK = -1  # DeleteRecords: everything consumers may read


def produce(processing: Processing, event: Produce) -> None:
    """One batch reaches a broker, if there is one to take it.

    References
    ----------
    Apache Kafka 4.3, ``ReplicaManager.appendRecords`` and ``Partition.appendRecordsToLeader``.
    """
    target = processing.leader_id if event.to_broker is None else event.to_broker
    if target is None or not processing.existing(target).is_running:
        processing.emit(events.NoReachableLeader())
        return
    request, values = numbered(processing, event)
    error = produce_refusal(processing, target, event)
    if error == events.NONE:
        _append(processing, target, event, request, values)
    elif event.acks != 0:
        processing.emit(events.ProduceAnswered(request, error))


def numbered(processing: Processing, event: Produce) -> tuple[int, tuple[str, ...]]:
    """The number of this request and the values of its records: given, or the next of m1, m2, ..."""
    request_count, value_count = processing.requests
    count = len(event.values) or event.record_count
    values = event.values or tuple(f"m{value_count + number}" for number in range(1, count + 1))
    processing.requests = Requests(request_count + 1, value_count + count)
    return request_count + 1, values


def produce_refusal(processing: Processing, leader_id: int, event: Produce) -> str:
    """The error for a request that a broker does not write; ``"NONE"`` if it does."""
    leading = processing.leading(leader_id)
    if leading is None:
        return "NOT_LEADER_OR_FOLLOWER"
    if event.acks == "all" and len(leading.isr) < processing.needed_isr(leader_id):
        return "NOT_ENOUGH_REPLICAS"
    return events.NONE


def _append(processing: Processing, leader_id: int, event: Produce, request: int, values: tuple[str, ...]) -> None:
    log, rules = processing.log(leader_id), processing.settings.rules
    epoch = processing.broker(leader_id).leader_epoch if rules.has_leader_epochs else UNKNOWN
    processing.put_log(leader_id, replica_log.append(rules, log, values, epoch))
    has_risen = lift(processing, leader_id)
    _answer_or_park(processing, leader_id, event, request, log.log_end_offset)
    if has_risen:
        answer_produces(processing, leader_id)
    answer_fetches(processing, leader_id)


def _answer_or_park(processing: Processing, leader_id: int, event: Produce, request: int, base_offset: int) -> None:
    log = processing.log(leader_id)
    end = log.log_end_offset
    if event.acks == 1:
        respond_to_producer(processing, leader_id, request, events.NONE, base_offset, end)
    elif event.acks == "all" and log.high_watermark >= end:
        error = error_after_append(processing, leader_id)
        respond_to_producer(processing, leader_id, request, error, base_offset, end)
    elif event.acks == "all":
        deadline_ms = processing.now_ms + event.timeout_ms
        park_produce(processing, leader_id, ParkedProduce(request, base_offset, end, deadline_ms))


def consume(processing: Processing, event: events.Consume) -> None:
    """Records from an offset up to the high watermark; nothing, without an error, between there and the LEO."""
    leader_id = processing.acting_leader()
    if leader_id is None:
        processing.emit(events.NoReachableLeader())
        return
    log, offset = processing.log(leader_id), event.offset
    if not log.log_start_offset <= offset <= log.log_end_offset:
        processing.emit(events.ConsumerRead((), "OFFSET_OUT_OF_RANGE"))
        return
    records = log.records_from(offset, log.high_watermark)
    processing.emit(events.ConsumerRead(tuple((offset + index, record.value) for index, record in enumerate(records))))


def delete_records(processing: Processing, event: events.DeleteRecords) -> None:
    """The log start moves up, never past the high watermark; followers learn it from their fetches."""
    leader_id = processing.acting_leader()
    if leader_id is None:
        processing.refuse("{}: there is no leader to delete records at", event)
    log = processing.log(leader_id)
    offset = log.high_watermark if event.before_offset == TO_HIGH_WATERMARK else event.before_offset
    if not 0 <= offset <= log.high_watermark:
        processing.emit(events.RecordsDeleted(log.log_start_offset, "OFFSET_OUT_OF_RANGE"))
        return
    moved = replica_log.move_start(log, offset)
    processing.put_log(leader_id, moved)
    processing.emit(events.RecordsDeleted(moved.log_start_offset))


def time_passed(processing: Processing, event: events.TimePassed) -> None:
    """The clock moves on, and requests that have waited too long are answered."""
    processing.now_ms += event.ms
    for broker_id in processing.settings.broker_ids:
        if processing.leading(broker_id) is not None and processing.broker(broker_id).is_running:
            expire(processing, broker_id)
