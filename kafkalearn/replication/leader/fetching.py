"""A follower's fetch, and the ten steps in which its leader works on it.

The answer carries the high watermark of *before*: it is read in step 2, and raised, by this very fetch, in step 8.
So a fetch that finds records never brings the high watermark that it has itself made possible.
"""

from __future__ import annotations

from kafkalearn.replication.effects import NONE, FetchHandled, LogTruncated
from kafkalearn.replication.events import Fetch
from kafkalearn.replication.leader.answers import FetchAnswer, FetchRequest, deliver_answer, read, refusal, request_of
from kafkalearn.replication.leader.in_sync import may_join, with_fetch
from kafkalearn.replication.leader.leading import propose, raise_high_watermark
from kafkalearn.replication.leader.waiting import answer_fetches, has_news, park_fetch
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.replica_log.truncation import cut_before_fetching
from kafkalearn.replication.state import Broker, Log


def fetch(processing: Processing, event: Fetch) -> None:
    """One round of a follower's fetcher: cut what must be cut, ask, and act on the answer if there is one yet."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    leader_id = _leader_to_ask(processing, broker_id, broker)
    if broker.is_truncating and not _cut(processing, broker_id, broker, leader_id):
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


def _cut(processing: Processing, broker_id: int, broker: Broker, leader_id: int) -> bool:
    """Ask the leader once where to cut; whether that is done with."""
    if processing.leading(leader_id) is None:
        return True
    log = processing.log(broker_id)
    cut, is_done = cut_before_fetching(processing.settings, log, processing.log(leader_id))
    processing.emit(LogTruncated(broker_id, log.log_end_offset, cut.log_end_offset))
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
    answer = read(log, request) if error == NONE else FetchAnswer(error)  # 2 to 5
    is_at_once = answer.has_content or settings.fetch_wait_max_ms == 0
    if answer.error == NONE and answer.diverging is None:
        is_at_once = is_at_once or has_news(processing, leader_id, request.broker_id)
        _note(processing, leader_id, log, request)  # 6 to 9
    processing.emit(FetchHandled(leader_id, request.broker_id, request.fetch_offset, is_parked=not is_at_once))
    if is_at_once:  # 10
        return answer
    park_fetch(processing, leader_id, request)
    if settings.rules.answers_new_high_watermark:
        answer_fetches(processing, leader_id)
    return None


def _note(processing: Processing, leader_id: int, log: Log, request: FetchRequest) -> None:
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
