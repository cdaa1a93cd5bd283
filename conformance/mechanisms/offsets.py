"""Offsets of a log, and offsets that groups have committed.

- ListOffsets: ends of a log, and the offset for a time, over batches whose timestamps go up and down;
- offsets of groups without members: committed, fetched and deleted by hand, with texts around the longest allowed;
- the coordinator of a group, and the partition that its commits are written to, for ids of every kind of letter.
"""

from __future__ import annotations

import time

from hypothesis import strategies

from conformance.mechanism import Answer, CannotBeAsked, Case, Mechanism, leaders_of, log_ends, new_topic, produced
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator import find_coordinator, look_up, offsets_partition
from kafkalearn.live.cluster import CONSUMER_REPLICA, NEWEST_WITHOUT_TIMEOUT, NOTHING
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import (
    COMMIT_WITH_RETENTION,
    NEWEST_COMMIT_WITH_NAMES,
    NEWEST_PRODUCE_WITH_NAMES,
    NONE,
    commit,
    delete_offsets,
    error_name,
    produce,
)
from kafkalearn.log import Append, NewBatch, Settings, simulate
from kafkalearn.log.index import ISOLATION_LEVELS, SPECIAL_TIMES, list_offset
from kafkalearn.offsets import decode_key, store
from kafkalearn.offsets.store.model import Store

AGO_MS = 3_600_000  # the records are an hour old: no retention takes them, no limit refuses them
LATEST_MS = 20_000
SEGMENT_MS = 2000


def _list_offsets_cases(release: str) -> strategies.SearchStrategy[Case]:
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


def _list_offsets_ask(kafka, case: Case, new_name) -> Answer:
    place, since_ms = TopicPartition(new_name("list-offsets"), 0), int(time.time() * 1000) - AGO_MS
    leader = new_topic(kafka, place.topic, config={"segment.ms": SEGMENT_MS} if case["has_segments"] else None)[place]
    version = kafka.version(leader, "Produce", NEWEST_PRODUCE_WITH_NAMES)
    for batch in case["batches"]:
        records = [(b"k", b"v", since_ms + each) for each in batch]
        error, _ = produced(kafka, leader, produce(place, records), version)
        if error != NONE:
            return {"refused": error}
    return [_said(kafka, leader, place, since_ms, *each) for each in case["asked"]]


def _said(kafka, leader: int, place: TopicPartition, since_ms: int, wanted: int | str, isolation: str) -> Answer:
    number = SPECIAL_TIMES[wanted] if isinstance(wanted, str) else since_ms + wanted
    values = {
        "replicaId": CONSUMER_REPLICA,
        "isolationLevel": ISOLATION_LEVELS.index(isolation),
        "topics": [{"name": place.topic, "partitions": [{"partitionIndex": place.partition, "timestamp": number}]}],
    }
    version = kafka.version(leader, "ListOffsets", NEWEST_WITHOUT_TIMEOUT)
    answer = kafka.ask(leader, "ListOffsets", values, version)
    (found,) = answer["topics"][0]["partitions"]
    at_ms = found["timestamp"]
    return [error_name(found["errorCode"]), found["offset"], at_ms if at_ms < 0 else at_ms - since_ms]


def _list_offsets_say(release: str, case: Case, seen: Answer) -> Answer:
    settings = Settings(release=release, **({"segment_ms": SEGMENT_MS} if case["has_segments"] else {}))
    events = [Append((NewBatch(tuple(("k", "v", each) for each in batch)),)) for batch in case["batches"]]
    log = simulate(settings, events)[-1].state
    return [[NONE, *list_offset(log, *each)] for each in case["asked"]]


LIST_OFFSETS = Mechanism(
    name="list offsets",
    rules=("the offset for a time",),
    cases=_list_offsets_cases,
    ask=_list_offsets_ask,
    say=_list_offsets_say,
    only_requests=True,
)


GROUPS, TOPICS = 2, 2  # and one topic more, which does not exist
MISSING = 7  # a partition that no topic here has
UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"
RETENTION_MS = 86_400_000
LETTERS = "xé東😀"  # one, two, three and four bytes of UTF-8; the last one two of Java's characters
LENGTHS = (0, 0, 1, 10, 2047, 2048, 2049, 4095, 4096, 4097)
OFFSETS = (0, 1, 7, 2**31, 2**62, -1, -5)


def _standalone_offsets_cases(release: str) -> strategies.SearchStrategy[Case]:
    place = {
        "group": strategies.integers(0, GROUPS - 1),
        "topic": strategies.sampled_from((0, 0, 1, 1, TOPICS)),
        "partition": strategies.sampled_from((0, 0, 0, MISSING)),
    }
    commit = {
        "op": strategies.just("commit"),
        **place,
        "offset": strategies.sampled_from(OFFSETS),
        "letter": strategies.sampled_from(LETTERS),
        "length": strategies.sampled_from(LENGTHS),
        "leader_epoch": strategies.integers(-1, 3),
        "member": strategies.sampled_from(("", "", "", "nobody")),
        "generation": strategies.sampled_from((-1, -1, -1, 0, 3)),
        "is_old": strategies.booleans(),
    }
    steps = strategies.one_of(
        strategies.fixed_dictionaries(commit),
        strategies.fixed_dictionaries({"op": strategies.just("fetch"), "group": place["group"]}),
        strategies.fixed_dictionaries({"op": strategies.just("delete offset"), **place}),
        strategies.fixed_dictionaries({"op": strategies.just("delete group"), "group": place["group"]}),
    )
    return strategies.fixed_dictionaries({"steps": strategies.lists(steps, min_size=1, max_size=12)})


class _Broker:
    """The groups and topics of a case on a cluster."""

    def __init__(self, kafka, new_name) -> None:
        self.kafka = kafka
        self.groups = [new_name("standalone") for _ in range(GROUPS)]
        self.topics = [new_name("offsets-of") for _ in range(TOPICS + 1)]
        for topic in self.topics[:TOPICS]:
            new_topic(kafka, topic)
        self.places = [TopicPartition(topic, 0) for topic in self.topics[:TOPICS]]
        self.coordinators = [kafka.coordinator(group, self.places[0]) for group in self.groups]

    def answer(self, each: Case) -> Answer:
        group, coordinator = self.groups[each["group"]], self.coordinators[each["group"]]
        match each["op"]:
            case "commit":
                return self._commit(group, coordinator, each)
            case "fetch":
                return self._fetched(group, coordinator)
            case "delete offset":
                answer = self.kafka.ask(coordinator, "OffsetDelete", delete_offsets(group, [self._place(each)]))
                if error_name(answer["errorCode"]) != NONE:
                    return error_name(answer["errorCode"])
                return error_name(answer["topics"][0]["partitions"][0]["errorCode"])
            case "delete group":
                answer = self.kafka.ask(coordinator, "DeleteGroups", {"groupsNames": [group]})
                return error_name(answer["results"][0]["errorCode"])
        raise AssertionError(f"no such step: {each!r}")

    def _place(self, each: Case) -> TopicPartition:
        return TopicPartition(self.topics[each["topic"]], each["partition"])

    def _commit(self, group: str, coordinator: int, each: Case) -> Answer:
        place = self._place(each)
        partition = {
            "partitionIndex": place.partition,
            "committedOffset": each["offset"],
            "committedMetadata": each["letter"] * each["length"],
            **({} if each["is_old"] else {"committedLeaderEpoch": each["leader_epoch"]}),
        }
        values = {
            "groupId": group,
            "generationIdOrMemberEpoch": each["generation"],
            "memberId": each["member"],
            "topics": [{"name": place.topic, "partitions": [partition]}],
            **({"retentionTimeMs": RETENTION_MS} if each["is_old"] else {}),
        }
        version = COMMIT_WITH_RETENTION if each["is_old"] else NEWEST_COMMIT_WITH_NAMES
        answer = self.kafka.ask(coordinator, "OffsetCommit", values, version)
        return error_name(answer["topics"][0]["partitions"][0]["errorCode"])

    def _fetched(self, group: str, coordinator: int) -> Answer:
        found = self.kafka.committed(group, self.places, coordinator)
        return [
            [number, found[place].offset, found[place].leader_epoch, found[place].metadata]
            for number, place in enumerate(self.places)
            if place in found
        ]


def _standalone_offsets_ask(kafka, case: Case, new_name) -> Answer:
    broker = _Broker(kafka, new_name)
    return [broker.answer(each) for each in case["steps"]]


def _standalone_offsets_say(release: str, case: Case, seen: Answer) -> Answer:
    settings = store.Settings(release)
    now, answers = store.start(settings), []
    for each in case["steps"]:
        now, answer = _answered(settings, now, each)
        answers.append(answer)
    return answers


def _answered(settings: store.Settings, now: Store, each: Case) -> tuple[Store, Answer]:
    """Which topics there are is looked at before the group; a group that is not there has no offset to delete."""
    group_id = str(each["group"])
    if each["op"] == "fetch":
        group = now.group(group_id)
        return now, sorted(
            [int(at.topic), at.offset, -1 if at.leader_epoch is None else at.leader_epoch, at.metadata]
            for at in (group.offsets if group else ())
            if at.offset != NOTHING
        )
    if each["op"] == "delete group":
        event = store.DeleteGroup(group_id)
    elif each["topic"] == TOPICS or each["partition"] == MISSING:
        is_asked_first = each["op"] == "delete offset" and now.group(group_id) is None
        return now, "GROUP_ID_NOT_FOUND" if is_asked_first else UNKNOWN
    elif each["op"] == "delete offset":
        event = store.DeleteOffset(group_id, str(each["topic"]), each["partition"])
    else:
        event = store.Commit(
            group_id,
            str(each["topic"]),
            each["partition"],
            each["offset"],
            now_ms=1000,
            metadata=each["letter"] * each["length"],
            leader_epoch=None if each["is_old"] or each["leader_epoch"] < 0 else each["leader_epoch"],
            member_id=each["member"],
            generation=each["generation"],
            retention_ms=RETENTION_MS if each["is_old"] else None,
        )
    now = store.step(settings, now, event)
    return now, now.effects[-1].error


STANDALONE_OFFSETS = Mechanism(
    name="offsets of groups without members",
    rules=("the coordinator's store: commits, expiry, tombstones, loading",),
    cases=_standalone_offsets_cases,
    ask=_standalone_offsets_ask,
    say=_standalone_offsets_say,
    only_requests=True,
)


LONGEST = 200  # Kafka knows no limit but what a request holds


def _coordinators_cases(release: str) -> strategies.SearchStrategy[Case]:
    letters = strategies.characters(exclude_categories=["Cs"])  # whatever UTF-8 can hold
    endings = strategies.text(strategies.one_of(letters, strategies.sampled_from("abc-_.é東😀")), max_size=LONGEST)
    return strategies.lists(endings, min_size=1, max_size=5)


def _coordinators_ask(kafka, case: Case, new_name) -> Answer:
    groups = [new_name("coordinated") + each for each in case]
    place = TopicPartition(new_name("coordinated-topic"), 0)
    new_topic(kafka, place.topic)
    kafka.coordinator(groups[0], place)  # so that the offsets topic exists
    leaders = _leaders(kafka)
    # A leader that the metadata name may not have heard of it yet; it refuses until then.
    before = wait_for(lambda: log_ends(kafka, leaders), lambda ends: len(ends) == len(leaders), "ends of the leaders:")
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


def _coordinators_say(release: str, case: Case, seen: Answer) -> Answer:
    leaders = seen["leaders"]
    groups = [each["group"] for each in seen["groups"]]
    by_steps = {group: look_up(group, leaders, len(leaders))[-1].state.broker_id for group in groups}
    at_once = {group: find_coordinator(group, leaders, len(leaders)).broker_id for group in groups}
    return {
        "leaders": leaders,
        "groups": [
            {
                "group": group,
                "coordinator": by_steps[group] if by_steps[group] == at_once[group] else -1,
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
    cases=_coordinators_cases,
    ask=_coordinators_ask,
    say=_coordinators_say,
    settings={"brokers": 3},
    only_requests=True,
)
