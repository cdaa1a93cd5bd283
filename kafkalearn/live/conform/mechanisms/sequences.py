"""Batches of idempotent producers, sent by hand: next ones, the same again, gaps, older and newer epochs, the wrap."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.conform.topics import new_topic
from kafkalearn.live.requests.error_codes import NONE, error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.log import Append, NewBatch, Settings, simulate
from kafkalearn.log.effects import Appended, AppendRefused, DuplicateRecognised, LogEffect
from kafkalearn.log.sequences import LAST_SEQUENCE, after
from kafkalearn.topic_partition import TopicPartition

PRODUCERS = 2
KINDS = ("next", "next", "next", "again", "gap", "before", "old epoch", "new epoch", "new epoch, gap")
FIRST_SEQUENCES = (0, 0, 0, 5, LAST_SEQUENCE - 2)
NO_OFFSET = -1


class _Batch(NamedTuple):
    producer: int
    epoch: int
    sequence: int
    record_count: int


def _cases(release: str) -> strategies.SearchStrategy[Case]:
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


def _ask(kafka, case: Case, new_name) -> Answer:
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
        answer = kafka.ask(leader, "Produce", values, version)
        (found,) = answer["responses"][0]["partitionResponses"]
        answers.append([error_name(found["errorCode"]), found["baseOffset"]])
    return answers


def _say(release: str, case: Case, seen: Answer) -> Answer:
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
    cases=_cases,
    ask=_ask,
    say=_say,
    only_requests=True,
)
