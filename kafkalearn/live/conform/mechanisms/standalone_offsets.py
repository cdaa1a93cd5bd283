"""Offsets of groups without members: committed, fetched and deleted by hand, with texts around the longest allowed."""

from __future__ import annotations

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.conform.topics import new_topic
from kafkalearn.live.reading.groups import NOTHING
from kafkalearn.live.requests.error_codes import NONE, error_name
from kafkalearn.live.requests.values import COMMIT_WITH_RETENTION, NEWEST_COMMIT_WITH_NAMES, delete_offsets
from kafkalearn.offsets.store import Commit, DeleteGroup, DeleteOffset, Settings, start, step
from kafkalearn.offsets.store.state import Store
from kafkalearn.topic_partition import TopicPartition

GROUPS, TOPICS = 2, 2  # and one topic more, which does not exist
MISSING = 7  # a partition that no topic here has
UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"
RETENTION_MS = 86_400_000
LETTERS = "xé東😀"  # one, two, three and four bytes of UTF-8; the last one two of Java's characters
LENGTHS = (0, 0, 1, 10, 2047, 2048, 2049, 4095, 4096, 4097)
OFFSETS = (0, 1, 7, 2**31, 2**62, -1, -5)


def _cases(release: str) -> strategies.SearchStrategy[Case]:
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


def _ask(kafka, case: Case, new_name) -> Answer:
    broker = _Broker(kafka, new_name)
    return [broker.answer(each) for each in case["steps"]]


def _say(release: str, case: Case, seen: Answer) -> Answer:
    settings = Settings(release)
    store, answers = start(settings), []
    for each in case["steps"]:
        store, answer = _answered(settings, store, each)
        answers.append(answer)
    return answers


def _answered(settings: Settings, store: Store, each: Case) -> tuple[Store, Answer]:
    """Which topics there are is looked at before the group; a group that is not there has no offset to delete."""
    group_id = str(each["group"])
    if each["op"] == "fetch":
        group = store.group(group_id)
        return store, sorted(
            [int(at.topic), at.offset, -1 if at.leader_epoch is None else at.leader_epoch, at.metadata]
            for at in (group.offsets if group else ())
            if at.offset != NOTHING
        )
    if each["op"] == "delete group":
        event = DeleteGroup(group_id)
    elif each["topic"] == TOPICS or each["partition"] == MISSING:
        is_asked_first = each["op"] == "delete offset" and store.group(group_id) is None
        return store, "GROUP_ID_NOT_FOUND" if is_asked_first else UNKNOWN
    elif each["op"] == "delete offset":
        event = DeleteOffset(group_id, str(each["topic"]), each["partition"])
    else:
        event = Commit(
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
    store = step(settings, store, event)
    return store, store.effects[-1].error


STANDALONE_OFFSETS = Mechanism(
    name="offsets of groups without members",
    rules=("the coordinator's store: commits, expiry, tombstones, loading",),
    cases=_cases,
    ask=_ask,
    say=_say,
    only_requests=True,
)
