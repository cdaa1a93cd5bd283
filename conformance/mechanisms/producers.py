"""What producers send.

- keyed records through the partitioners of librdkafka, and the partitions in which the broker has them;
- batches that a log takes or refuses: sizes, timestamps, records without a key, acks, places that do not exist;
- batches of idempotent producers, sent by hand: next ones, the same again, gaps, older and newer epochs, the wrap;
- records of a real producer whose answers get lost on the way: its callbacks, and what lies in the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism, TooSlow, log_ends, new_topic, produced
from kafkalearn import delivery
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.delivery.model import FOR_EVER, Delivery, DeliveryEvent
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.nodes import HOST, Node
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.request_values import NEWEST_PRODUCE_WITH_NAMES, NONE, produce
from kafkalearn.log import Append, Log, NewBatch, Settings, simulate, start, step
from kafkalearn.log.model import Appended, AppendRefused, DuplicateRecognised, LogEffect
from kafkalearn.log.sequences import LAST_SEQUENCE, after
from kafkalearn.partitioning import partition_for_key

RULES = {
    "murmur2": "murmur2",
    "murmur2_random": "murmur2",
    "consistent": "crc32",
    "consistent_random": "crc32",
    "fnv1a": "fnv1a",
    "fnv1a_random": "fnv1a",
}
"""Our name for the rule behind each of librdkafka's."""

DRAWS_FOR_EMPTY_KEYS = "consistent_random"
MOST_PARTITIONS, LONGEST_KEY = 40, 40
TIMEOUT_S = 15


def _partitioners_cases(release: str) -> strategies.SearchStrategy[Case]:
    keys = strategies.lists(strategies.binary(max_size=LONGEST_KEY), min_size=1, max_size=60, unique=True)
    return strategies.fixed_dictionaries(
        {
            "partitions": strategies.integers(1, MOST_PARTITIONS),
            "partitioner": strategies.sampled_from(sorted(RULES)),
            "keys": keys.map(lambda found: [key.hex() for key in found]),
        }
    )


def _keys(case: Case) -> list[bytes]:
    keys = [bytes.fromhex(each) for each in case["keys"]]
    return [key for key in keys if key or case["partitioner"] != DRAWS_FOR_EMPTY_KEYS]


def _partitioners_ask(kafka, case: Case, new_name) -> Answer:
    topic, keys = new_name("keys"), _keys(case)
    places = new_topic(kafka, topic, case["partitions"])
    producer = kafka.producer(partitioner=case["partitioner"], linger_ms=0)
    for key in keys:
        producer.produce(topic, b"", key)
    if producer.flush(TIMEOUT_S):
        raise TooSlow(f"not all of {len(keys)} records were answered in {TIMEOUT_S} s")
    filled = [place for place, end in log_ends(kafka, places).items() if end]
    return {record.key.hex(): place.partition for place in filled for record in kafka.records(*place)}


def _partitioners_say(release: str, case: Case, seen: Answer) -> Answer:
    rule = RULES[case["partitioner"]]
    return {key.hex(): partition_for_key(key, case["partitions"], rule) for key in _keys(case)}


PARTITIONERS = Mechanism(
    name="partitioners",
    rules=(
        "murmur2 of a key",
        "CRC-32 of a key",
        "FNV-1a of a key",
        "key to partition, Java producer (murmur2)",
        "key to partition, librdkafka (crc32) and Sarama (fnv1a)",
    ),
    cases=_partitioners_cases,
    ask=_partitioners_ask,
    say=_partitioners_say,
    only_requests=True,
)


MINUTE_MS = 60_000
AGES_MIN = (0, 0, 0, 30, 90, 600, -30, -90, -600)  # of records; below 0: from the future
LIMITS_MIN = (None, None, 60, 300)
MESSAGE_BYTES = (None, None, 0, 70, 100, 1000, 2_000_000)
VALUE_BYTES = (0, 0, 1, 1, 20, 20, 27, 28, 29, 30, 900, 920, 935, 935, 1000, 1000, 1_048_000, 1_048_600)
"""Around the limits of MESSAGE_BYTES, and of the smallest segment that a broker takes."""

SEGMENT_BYTES = 1_048_576
EXISTS, NO_PARTITION, NO_TOPIC = "exists", "no such partition", "no such topic"
NO_OFFSET = -1


def _produced_batches_cases(release: str) -> strategies.SearchStrategy[Case]:
    record = strategies.fixed_dictionaries(
        {
            "has_key": strategies.booleans(),
            "value_bytes": strategies.sampled_from(VALUE_BYTES),
            "age_min": strategies.sampled_from(AGES_MIN),
        }
    )
    request = strategies.fixed_dictionaries(
        {
            "to": strategies.sampled_from((EXISTS,) * 6 + (NO_PARTITION, NO_TOPIC)),
            "acks": strategies.sampled_from((-1, -1, 1, 1, 2, -2)),
            "records": strategies.lists(record, min_size=1, max_size=3),
        }
    )
    return strategies.fixed_dictionaries(
        {
            "is_compacted": strategies.booleans(),
            "has_small_segments": strategies.booleans(),
            "max_message_bytes": strategies.sampled_from(MESSAGE_BYTES),
            "before_max_min": strategies.sampled_from(LIMITS_MIN),
            "after_max_min": strategies.sampled_from(LIMITS_MIN),
            "requests": strategies.lists(request, min_size=1, max_size=6),
        }
    )


def _limits_ms(case: Case) -> dict[str, int]:
    """What is set of the topic's limits, by the names of the log's settings."""
    before_min, after_min = case["before_max_min"], case["after_max_min"]
    wanted = {
        "segment_bytes": SEGMENT_BYTES if case["has_small_segments"] else None,
        "max_message_bytes": case["max_message_bytes"],
        "message_timestamp_before_max_ms": None if before_min is None else before_min * MINUTE_MS,
        "message_timestamp_after_max_ms": None if after_min is None else after_min * MINUTE_MS,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _config(case: Case) -> dict[str, object]:
    limits = {name.replace("_", "."): value for name, value in _limits_ms(case).items()}
    own = {"cleanup.policy": "compact"} if case["is_compacted"] else {}
    return {**own, **limits}


def _produced_batches_ask(kafka, case: Case, new_name) -> Answer:
    place, missing = TopicPartition(new_name("batches"), 0), new_name("no-batches")
    leader = new_topic(kafka, place.topic, config=_config(case))[place]
    places = {EXISTS: place, NO_PARTITION: place._replace(partition=7), NO_TOPIC: TopicPartition(missing, 0)}
    version, answers = kafka.version(leader, "Produce", NEWEST_PRODUCE_WITH_NAMES), []
    for request in case["requests"]:
        now_ms = int(time.time() * 1000)
        records = [
            (b"k" if each["has_key"] else None, b"v" * each["value_bytes"], now_ms - each["age_min"] * MINUTE_MS)
            for each in request["records"]
        ]
        values = produce(places[request["to"]], records, request["acks"])
        answers.append(produced(kafka, leader, values, version))
    return answers


def _produced_batches_say(release: str, case: Case, seen: Answer) -> Answer:
    policy = "compact" if case["is_compacted"] else "delete"
    settings = Settings(policy, release, **_limits_ms(case))
    log, answers = start(settings), []
    for request in case["requests"]:
        log, answer = _answered(settings, log, request)
        answers.append(answer)
    return answers


def _answered(settings: Settings, log: Log, request: Case) -> tuple[Log, Answer]:
    """First the place is looked at, then acks, then the batch."""
    if request["to"] != EXISTS:
        return log, ["UNKNOWN_TOPIC_OR_PARTITION", NO_OFFSET]
    if request["acks"] not in (-1, 0, 1):
        return log, ["INVALID_REQUIRED_ACKS", NO_OFFSET]
    now_ms = 10**9  # any clock that the records may be older than
    records = tuple(
        ("k" if each["has_key"] else None, "v" * each["value_bytes"], now_ms - each["age_min"] * MINUTE_MS)
        for each in request["records"]
    )
    log = step(settings, log, Append((NewBatch(records),), now_ms))
    effect = log.effects[-1]
    return log, [NONE, effect.first_offset] if isinstance(effect, Appended) else [effect.error, NO_OFFSET]


PRODUCED_BATCHES = Mechanism(
    name="produced batches",
    rules=("which batches a log takes", "the errors of a produce request"),
    cases=_produced_batches_cases,
    ask=_produced_batches_ask,
    say=_produced_batches_say,
    only_requests=True,
)


PRODUCERS = 2
KINDS = ("next", "next", "next", "again", "gap", "before", "old epoch", "new epoch", "new epoch, gap")
FIRST_SEQUENCES = (0, 0, 0, 5, LAST_SEQUENCE - 2)


class _Batch(NamedTuple):
    producer: int
    epoch: int
    sequence: int
    record_count: int


def _sequences_cases(release: str) -> strategies.SearchStrategy[Case]:
    step = strategies.fixed_dictionaries(
        {
            "producer": strategies.integers(0, PRODUCERS - 1),
            "kind": strategies.sampled_from(KINDS),
            "by": strategies.integers(1, 7),
            "records": strategies.integers(1, 3),
        }
    )
    return strategies.fixed_dictionaries(
        {
            "first": strategies.lists(strategies.sampled_from(FIRST_SEQUENCES), min_size=PRODUCERS, max_size=PRODUCERS),
            "steps": strategies.lists(step, min_size=1, max_size=40),
        }
    )


def batches_of(case: Case) -> Iterator[_Batch]:
    """The batches of a case: what each step means after those before it, if all that can be taken is taken."""
    epochs, following = [0] * PRODUCERS, list(case["first"])
    sent: list[list[_Batch]] = [[] for _ in range(PRODUCERS)]
    for each in case["steps"]:
        who, kind, by, count = each["producer"], each["kind"], each["by"], each["records"]
        batch = _Batch(who, epochs[who], following[who], count)
        if kind == "again" and sent[who]:
            batch = sent[who][-min(by, len(sent[who]))]
        elif kind == "gap":
            batch = batch._replace(sequence=after(batch.sequence, by))
        elif kind == "before":
            batch = batch._replace(sequence=max(0, batch.sequence - by))
        elif kind == "old epoch":
            batch = batch._replace(epoch=max(0, batch.epoch - 1))
        elif kind.startswith("new epoch"):
            batch = batch._replace(epoch=batch.epoch + 1, sequence=0 if kind == "new epoch" else by)
        if kind in ("next", "new epoch"):
            epochs[who], following[who] = batch.epoch, after(batch.sequence, count)
            sent[who].append(batch)
        yield batch


def _sequences_ask(kafka, case: Case, new_name) -> Answer:
    place, now_ms = TopicPartition(new_name("sequences"), 0), int(time.time() * 1000)
    leader = new_topic(kafka, place.topic)[place]
    ids = [kafka.new_producer_id() for _ in range(PRODUCERS)]
    version, answers = kafka.version(leader, "Produce", NEWEST_PRODUCE_WITH_NAMES), []
    for batch in batches_of(case):
        stamp = {
            "producer_id": ids[batch.producer],
            "producer_epoch": batch.epoch,
            "base_sequence": batch.sequence,
        }
        values = produce(place, [(None, b"v", now_ms)] * batch.record_count, **stamp)
        answers.append(produced(kafka, leader, values, version))
    return answers


def _sequences_say(release: str, case: Case, seen: Answer) -> Answer:
    requests = [
        Append((NewBatch(((None, "v", 1000),) * each.record_count, None, each.producer, each.epoch, each.sequence),))
        for each in batches_of(case)
    ]
    trace = simulate(Settings(release=release), requests)
    return [_said(moment.state.effects[-1]) for moment in trace[1:]]


def _said(effect: LogEffect) -> Answer:
    match effect:
        case Appended(base_offset, _) | DuplicateRecognised(base_offset, _):
            return [NONE, base_offset]
        case AppendRefused(error):
            return [error, NO_OFFSET]
    raise AssertionError(f"no answer to a produce request: {effect!r}")


SEQUENCES = Mechanism(
    name="sequences of producers",
    rules=("sequence numbers and the window of five batches",),
    cases=_sequences_cases,
    ask=_sequences_ask,
    say=_sequences_say,
    only_requests=True,
)


# A case of lost answers has ``is_idempotent``, ``retries`` (None: without end), ``acks``, and ``sends``: for each
# record how many answers in a row are lost.

MOST_SENDS, MOST_LOST = 4, 3
PATIENCE_S = 15
BACKOFF = {"retry_backoff_ms": 20, "retry_backoff_max_ms": 50}

_PROXIES: dict[int, Proxy] = {}


def advertised(node: Node) -> str:
    """Where clients find a node: at a proxy before it."""
    if node.port not in _PROXIES:
        _PROXIES[node.port] = Proxy()
    return f"PLAINTEXT://{HOST}:{_PROXIES[node.port].port}"


def proxy_of(kafka: Kafka) -> Proxy:
    """The proxy before the one broker of a cluster, which passes everything on to it."""
    proxy = _PROXIES[int(kafka.bootstrap.rpartition(":")[2])]
    proxy.forward_to(kafka)
    return proxy


def _lost_answers_cases(release: str) -> Any:
    """Records of one producer."""
    lost = strategies.sampled_from([0, 0, *range(1, MOST_LOST + 1)])
    return strategies.fixed_dictionaries(
        {
            "is_idempotent": strategies.booleans(),
            "retries": strategies.none() | strategies.integers(0, 2),
            "sends": strategies.lists(lost, min_size=1, max_size=MOST_SENDS),
            "acks": strategies.sampled_from(["all", 1]),
        }
    ).filter(lambda case: not case["is_idempotent"] or (case["acks"] == "all" and case["retries"] is None))


def _lost_answers_ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """For each record its callback and where it lies; the log, and how many requests were sent."""
    proxy, topic = proxy_of(kafka), new_name("topic")
    kafka.create_topic(topic)
    retries = {} if case["retries"] is None else {"retries": case["retries"]}
    producer = kafka.producer(
        linger_ms=0, acks=case["acks"], enable_idempotence=case["is_idempotent"], **BACKOFF, **retries
    )
    producer.list_topics(topic, timeout=PATIENCE_S)  # connected through the proxy before anything is lost
    proxy.reset()
    callbacks: dict[str, list[Any]] = {}

    def note(error: Any, message: Any) -> None:
        callbacks[message.value().decode()] = [error is None, message.offset() if error is None else None]

    for number, lost_count in enumerate(case["sends"]):
        proxy.swallow("Produce", lost_count)
        producer.produce(topic, f"m{number}".encode(), partition=0, on_delivery=note)
        producer.flush(PATIENCE_S)
        proxy.swallow("Produce", 0)
    return {
        "callbacks": callbacks,
        "log": [record.value.decode() for record in kafka.disk(1).records(topic, 0)],
        "requests": proxy.counts["Produce"],
    }


def _lost_answers_say(release: str, case: Case, seen: Answer) -> Answer:
    """The same of the simulator."""
    retries = FOR_EVER if case["retries"] is None else case["retries"]
    settings = delivery.Settings(
        delivery.TopicSettings(replica_count=1, release=release),
        delivery.ProducerSettings(acks=case["acks"], is_idempotent=case["is_idempotent"], retries=retries),
    )
    now, callbacks, request_count = delivery.start(settings), {}, 0
    for number, lost_count in enumerate(case["sends"]):
        value = f"m{number}"
        now = _after(settings, now, delivery.Send(values=(value,)), delivery.RequestArrived())
        request_count += 1
        for _ in range(lost_count):
            now = _after(settings, now, delivery.ConnectionLost())
            if not now.producer.waiting:
                break
            now = _after(settings, now, delivery.RequestSent(), delivery.RequestArrived())
            request_count += 1
        offset = None
        if now.producer.in_flight:
            offset = now.producer.in_flight[0].base_offset
            now = _after(settings, now, delivery.AnswerArrived())
        is_taken = now.producer.callbacks[-1].error == NONE
        callbacks[value] = [is_taken, offset if is_taken else None]
    return {
        "callbacks": callbacks,
        "log": [record.value for record in now.partition.leader.log.records],
        "requests": request_count,
    }


def _after(settings: delivery.Settings, now: Delivery, *events: DeliveryEvent) -> Delivery:
    for event in events:
        now = delivery.step(settings, now, event)
    return now


LOST_ANSWERS = Mechanism(
    name="answers lost on the way",
    rules=("acks, failures and the result of a record", "the producer's retries"),
    cases=_lost_answers_cases,
    ask=_lost_answers_ask,
    say=_lost_answers_say,
    settings={"brokers": 1, "config": {"advertised.listeners": advertised}},
    tries=2,
)
