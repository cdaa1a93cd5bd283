"""Batches that a log takes or refuses: sizes, timestamps, records without a key, acks, places that do not exist."""

from __future__ import annotations

import time

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.conform.topics import new_topic
from kafkalearn.live.requests.error_codes import NONE, error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.log import Append, Log, NewBatch, Settings, start, step
from kafkalearn.log.effects import Appended
from kafkalearn.topic_partition import TopicPartition

MINUTE_MS = 60_000
AGES_MIN = (0, 0, 0, 30, 90, 600, -30, -90, -600)  # of records; below 0: from the future
LIMITS_MIN = (None, None, 60, 300)
MESSAGE_BYTES = (None, None, 0, 70, 100, 1000, 2_000_000)
VALUE_BYTES = (0, 0, 1, 1, 20, 20, 27, 28, 29, 30, 900, 920, 935, 935, 1000, 1000, 1_048_000, 1_048_600)
"""Around the limits of MESSAGE_BYTES, and of the smallest segment that a broker takes."""

SEGMENT_BYTES = 1_048_576
EXISTS, NO_PARTITION, NO_TOPIC = "exists", "no such partition", "no such topic"
NO_OFFSET = -1


def _cases(release: str) -> strategies.SearchStrategy[Case]:
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


def _ask(kafka, case: Case, new_name) -> Answer:
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
        answer = kafka.ask(leader, "Produce", values, version)
        (found,) = answer["responses"][0]["partitionResponses"]
        answers.append([error_name(found["errorCode"]), found["baseOffset"]])
    return answers


def _say(release: str, case: Case, seen: Answer) -> Answer:
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
    cases=_cases,
    ask=_ask,
    say=_say,
    only_requests=True,
)
