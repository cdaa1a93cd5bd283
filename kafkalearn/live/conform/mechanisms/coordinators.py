"""The coordinator of a group, and the partition that its commits are written to, for ids of every kind of letter."""

from __future__ import annotations

from hypothesis import strategies

from kafkalearn.coordinator import find_coordinator, look_up, offsets_partition
from kafkalearn.live.conform.mechanism import Answer, CannotBeAsked, Case, Mechanism
from kafkalearn.live.conform.topics import leaders_of, log_ends, new_topic
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_COMMIT_WITH_NAMES, commit
from kafkalearn.live.waiting import wait_for
from kafkalearn.offsets import decode_key
from kafkalearn.topic_partition import TopicPartition

OFFSETS_TOPIC = "__consumer_offsets"
LONGEST = 200  # Kafka knows no limit but what a request holds


def _cases(release: str) -> strategies.SearchStrategy[Case]:
    letters = strategies.characters(exclude_categories=["Cs"])  # whatever UTF-8 can hold
    endings = strategies.text(strategies.one_of(letters, strategies.sampled_from("abc-_.é東😀")), max_size=LONGEST)
    return strategies.lists(endings, min_size=1, max_size=5)


def _ask(kafka, case: Case, new_name) -> Answer:
    groups = [new_name("coordinated") + each for each in case]
    place = TopicPartition(new_name("coordinated-topic"), 0)
    new_topic(kafka, place.topic)
    kafka.coordinator(groups[0], place)  # so that the offsets topic exists
    leaders = _leaders(kafka)
    before = log_ends(kafka, leaders)
    found = {group: kafka.coordinator(group, place) for group in groups}
    for group, broker in found.items():
        wait_for(
            lambda group=group, broker=broker: _commit(kafka, broker, group, place), "NONE", f"commit of {group!r}:"
        )
    after = log_ends(kafka, leaders)
    written = {
        decode_key(record.key)[1]["group"]: at.partition
        for at, end in after.items()
        if end > before[at]
        for record in kafka.records(*at, before[at])
    }
    return {
        "leaders": list(leaders.values()),
        "groups": [
            {"group": group, "coordinator": found[group], "partition": written.get(group, -1)} for group in groups
        ],
    }


def _leaders(kafka) -> dict[TopicPartition, int]:
    """Who leads each partition of the offsets topic, once each has a leader."""
    partition_count = kafka.topics().get(OFFSETS_TOPIC)
    if partition_count is None:
        raise CannotBeAsked(f"it has coordinators, but no topic {OFFSETS_TOPIC} that could be looked into")
    wait_for(lambda: len(leaders_of(kafka, OFFSETS_TOPIC)), partition_count, f"leaders of {OFFSETS_TOPIC}:")
    return leaders_of(kafka, OFFSETS_TOPIC)


def _commit(kafka, broker: int, group: str, place: TopicPartition) -> str:
    answer = kafka.ask(broker, "OffsetCommit", commit(group, {place: 1}), NEWEST_COMMIT_WITH_NAMES)
    return error_name(answer["topics"][0]["partitions"][0]["errorCode"])


def _say(release: str, case: Case, seen: Answer) -> Answer:
    leaders = seen["leaders"]
    groups = [each["group"] for each in seen["groups"]]
    by_steps = {group: look_up(group, leaders, len(leaders))[-1].state.broker_id for group in groups}
    return {
        "leaders": leaders,
        "groups": [
            {
                "group": group,
                "coordinator": by_steps[group]
                if by_steps[group] == find_coordinator(group, leaders, len(leaders)).broker_id
                else -1,
                "partition": offsets_partition(group, len(leaders)),
            }
            for group in groups
        ],
    }


COORDINATORS = Mechanism(
    name="coordinators",
    rules=(
        "hash of a group id",
        "group id to offsets partition",
        "FindCoordinator",
        "FindCoordinator step by step",
        "keys of commits and groups",
    ),
    cases=_cases,
    ask=_ask,
    say=_say,
    settings={"brokers": 3},
    only_requests=True,
)
