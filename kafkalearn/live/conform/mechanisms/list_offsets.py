"""ListOffsets: ends of a log, and the offset for a time, over batches whose timestamps go up and down."""

from __future__ import annotations

import time

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.conform.topics import new_topic
from kafkalearn.live.reading.logs import CONSUMER, NEWEST_WITHOUT_TIMEOUT
from kafkalearn.live.requests.error_codes import NONE, error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.log import Append, NewBatch, Settings, simulate
from kafkalearn.log.list_offsets import ISOLATION_LEVELS, SPECIAL_TIMES, list_offset
from kafkalearn.topic_partition import TopicPartition

AGO_MS = 3_600_000  # the records are an hour old: no retention takes them, no limit refuses them
LATEST_MS = 20_000
SEGMENT_MS = 2000


def _cases(release: str) -> strategies.SearchStrategy[Case]:
    times = strategies.integers(0, LATEST_MS)
    batches = strategies.lists(times, min_size=1, max_size=4)
    asked = strategies.tuples(strategies.one_of(strategies.sampled_from(sorted(SPECIAL_TIMES)), times),
                              strategies.sampled_from(ISOLATION_LEVELS))  # fmt: skip
    return strategies.fixed_dictionaries(
        {
            "has_segments": strategies.booleans(),
            "batches": strategies.lists(batches, max_size=12),
            "asked": strategies.lists(asked, min_size=1, max_size=8),
        }
    )


def _ask(kafka, case: Case, new_name) -> Answer:
    place, since_ms = TopicPartition(new_name("list-offsets"), 0), int(time.time() * 1000) - AGO_MS
    leader = new_topic(kafka, place.topic, config={"segment.ms": SEGMENT_MS} if case["has_segments"] else None)[place]
    version = kafka.version(leader, "Produce", NEWEST_PRODUCE_WITH_NAMES)
    for batch in case["batches"]:
        records = [(b"k", b"v", since_ms + each) for each in batch]
        answer = kafka.ask(leader, "Produce", produce(place, records), version)
        (written,) = answer["responses"][0]["partitionResponses"]
        if error_name(written["errorCode"]) != NONE:
            return {"refused": error_name(written["errorCode"])}
    return [_said(kafka, leader, place, since_ms, *each) for each in case["asked"]]


def _said(kafka, leader: int, place: TopicPartition, since_ms: int, wanted: int | str, isolation: str) -> Answer:
    number = SPECIAL_TIMES[wanted] if isinstance(wanted, str) else since_ms + wanted
    values = {
        "replicaId": CONSUMER,
        "isolationLevel": ISOLATION_LEVELS.index(isolation),
        "topics": [{"name": place.topic, "partitions": [{"partitionIndex": place.partition, "timestamp": number}]}],
    }
    version = kafka.version(leader, "ListOffsets", NEWEST_WITHOUT_TIMEOUT)
    answer = kafka.ask(leader, "ListOffsets", values, version)
    (found,) = answer["topics"][0]["partitions"]
    at_ms = found["timestamp"]
    return [error_name(found["errorCode"]), found["offset"], at_ms if at_ms < 0 else at_ms - since_ms]


def _say(release: str, case: Case, seen: Answer) -> Answer:
    settings = Settings(release=release, **({"segment_ms": SEGMENT_MS} if case["has_segments"] else {}))
    events = [Append((NewBatch(tuple(("k", "v", each) for each in batch)),)) for batch in case["batches"]]
    log = simulate(settings, events)[-1].state
    return [[NONE, *list_offset(log, *each)] for each in case["asked"]]


LIST_OFFSETS = Mechanism(
    name="list offsets",
    rules=("the offset for a time",),
    cases=_cases,
    ask=_ask,
    say=_say,
    only_requests=True,
)
