"""What real Kafka answered, and what `kafkalearn.tiny` says: for each kind of recording both, side by side.

Each function goes through whole files and yields, for each thing recorded there, what was said and what tiny says, or
why it is not asked: its straight path has no such rule. What is *given* to tiny, as the recordings give it to Kafka, is
what comes from outside: which request comes when, what a disk has lost, whom the clock found too slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkalearn import tiny
from kafkalearn.coordinator.leaders import leaders_of
from tests.recorded import recorded


class Answer(NamedTuple):
    """One recorded answer, and tiny's."""

    where: str
    said: object
    recorded: object


class NotAsked(NamedTuple):
    """Something recorded that the straight path does not go."""

    reason: str
    count: int = 1


Line = Answer | NotAsked


def signed(value: int) -> int:
    """The same 32 bits as Java prints them."""
    return (value + 2**31) % 2**32 - 2**31


# Hashes


def keys() -> Iterator[Line]:
    """Hashes and partitions of keys, by Kafka's classes and by real producers."""
    for case in recorded("groups-murmur2")["vectors"]:
        key = bytes.fromhex(case["key_hex"])
        yield Answer(case["key_hex"], signed(tiny.murmur2(key)), case["murmur2"])
        for count, partition in case["partition"].items():
            yield Answer(f"{case['key_hex']} of {count}", tiny.partition_for_key(key, int(count)), partition)
    for question, answer in released("key").items():
        key = bytes.fromhex(question.removeprefix("key ").replace("-", ""))
        yield Answer(question, f"{signed(tiny.murmur2(key))} {tiny.partition_for_key(key, 2**31)}", answer)
    produced = recorded("keys")
    for case in produced["cases"]:
        for count, partitions in case["partitions"].items():
            if case["partitioner"] not in ("java_default", "murmur2_random"):
                yield NotAsked("another client's hash", len(partitions))
                continue
            for key, partition in zip(produced["keys"], partitions, strict=True):
                yield Answer(f"{key} of {count}", tiny.partition_for_key(bytes.fromhex(key), int(count)), partition)


def groups() -> Iterator[Line]:
    """Hashes of group ids, their partitions, and the brokers that real clusters named as their coordinators."""
    for case in recorded("groups-hash")["vectors"]:
        group_id = case["group_id"]
        yield Answer(group_id, tiny.string_hash(group_id), case["hash_code"])
        yield Answer(group_id, tiny.offsets_partition(group_id, case["partitions"]), case["partition"])
    for question, answer in released("group").items():
        yield Answer(question, str(tiny.offsets_partition(question.removeprefix("group "), 2**31)), answer)
    cluster = recorded("coordinator")
    for case in cluster["cases"]:
        said = (tiny.offsets_partition(case["group"]), coordinator(case["group"], cluster["leaders"]))
        yield Answer(case["group"], said, (case["partition"], case["coordinator"]))
    for case in recorded("topic-descriptions")["cases"]:
        for group_id, broker in case["coordinators"].items():
            yield Answer(group_id, coordinator(group_id, leaders_of(describe=case["text"])), broker)


def coordinator(group_id: str, leaders) -> int | None:
    """The broker that a group turns to if the offsets topic is led like this."""
    cluster = tiny.Cluster([1, 2, 3])
    for partition, leader in zip(cluster.topics["__consumer_offsets"], leaders, strict=True):
        partition.leader = leader
    return tiny.Group(cluster, group_id, "__consumer_offsets").coordinator


def released(subject: str) -> dict[str, str]:
    """The questions about a subject that the released classes were asked, with their newest answers."""
    answers = recorded("released-classes")["answers"]
    return {question: [*each.values()][-1] for question, each in answers.items() if question.split()[0] == subject}


# Assignments

OTHER_ASSIGNORS, COOPERATIVE = "other assignors", "the two rounds of cooperative-sticky"


def ranges() -> Iterator[Line]:
    """Assignments by range, of the client and of the broker."""
    for case in [*recorded("groups-assignors")["vectors"], *recorded("assignor-answers")["cases"]]:
        if "replica_racks" in case and case["assignor"] == "range":
            yield NotAsked("racks")
        elif case["assignor"] in ("range", "server-range"):
            yield range_answer(case["id"], case["topics"], case["members"], case["assignment"])
        elif "sticky" not in case["assignor"]:
            yield NotAsked(OTHER_ASSIGNORS)
    yield from (NotAsked(OTHER_ASSIGNORS) for question in released("assign") if question.endswith(" RoundRobin"))
    yield from fresh("Range", lambda counts, topics_of: tiny.assign_range(counts, topics_of))
    history = recorded("assignments")
    counts = {name: topic["partitions"] for name, topic in history["topics"].items()}
    for case in history["cases"]:
        if case["assignor"] != "range":
            yield NotAsked(OTHER_ASSIGNORS, len(case["steps"]))
            continue
        for number, step in enumerate(case["steps"]):
            members = step["state"]["members"]
            name = "member" if "member" in (members or [{"member": ""}])[0] else "member_id"
            listed = [{"member_id": each[name], "topics": each["subscription"]} for each in members]
            recorded_sets = {
                each[name]: [(topic, p) for topic, numbers in each["assignment"].items() for p in numbers]
                for each in members
            }
            if any("instance" in each for each in case["steps"]):
                yield NotAsked("static members")
            else:
                yield range_answer(f"{case['id']} {number}", counts, listed, recorded_sets)


def range_answer(name: str, counts: dict, members: list[dict], recorded_assignment: dict) -> Line:
    """One assignment by range."""
    if any(each.get("instance_id") for each in members):
        return NotAsked("static members")
    if any(ord(sign) > 0xFFFF for each in members for sign in each["member_id"]):
        return NotAsked("ids that UTF-16 sorts otherwise")
    said = tiny.assign_range(counts, {each["member_id"]: each["topics"] for each in members})
    return Answer(name, sets(said), sets(recorded_assignment))


def stickies() -> Iterator[Line]:
    """Assignments by the sticky assignor, in the order of its lists."""
    for case in [*recorded("groups-assignors")["vectors"], *recorded("assignor-answers")["cases"]]:
        if case["assignor"] == "cooperative-sticky":
            yield NotAsked(COOPERATIVE)
        elif case["assignor"] == "sticky":
            yield sticky_answer(case)
    yield from (NotAsked(COOPERATIVE) for question in released("assign") if question.endswith(" CooperativeSticky"))
    yield from fresh("Sticky", lambda counts, topics_of: tiny.assign_sticky(used(counts, topics_of), empty(topics_of)))


def sticky_answer(case: dict) -> Line:
    """One sticky assignment, if the members subscribe alike and their reports fit together."""
    members = case["members"]
    if "replica_racks" in case:
        return NotAsked("racks")
    if len({frozenset(each["topics"]) for each in members}) > 1:
        return NotAsked("members that subscribe to different topics")
    owned = {each["member_id"]: [tuple(pair) for pair in each.get("owned", [])] for each in members}
    reported = [partition for partitions in owned.values() for partition in partitions]
    if len(reported) > len(set(reported)):
        return NotAsked("two members that report one partition")
    counts = used(case["topics"], {each["member_id"]: each["topics"] for each in members})
    said = tiny.assign_sticky(counts, owned)
    return Answer(case["id"], {each: [list(pair) for pair in said[each]] for each in said}, case["assignment"])


def fresh(assignor: str, ask) -> Iterator[Line]:
    """Assignments of new groups by the released classes."""
    for question, answer in released("assign").items():
        words = question.split()
        if words[3] != assignor:
            continue
        counts = {name: int(count) for name, count in (each.split("=") for each in words[1].split(","))}
        topics_of = {name: topics.split(";") for name, topics in (each.split(":") for each in words[2].split(","))}
        if assignor == "Sticky" and len({frozenset(topics) for topics in topics_of.values()}) > 1:
            yield NotAsked("members that subscribe to different topics")
            continue
        listed = [each.split(":") for each in answer.split(",")]
        pairs = {name: [each.rsplit("-", 1) for each in owned.split(";") if each] for name, owned in listed}
        recorded_sets = {name: {(topic, int(number)) for topic, number in pairs[name]} for name in pairs}
        yield Answer(question, sets(ask(counts, topics_of)), recorded_sets)


def used(counts: dict, topics_of: dict) -> dict:
    """The topics that somebody subscribes to."""
    return {topic: count for topic, count in counts.items() if any(topic in topics for topics in topics_of.values())}


def empty(topics_of: dict) -> dict:
    """Members who own nothing yet."""
    return {member: [] for member in topics_of}


def sets(assignment: dict) -> dict[str, set]:
    """An assignment without the order of its lists."""
    return {member: {tuple(each) for each in owned} for member, owned in assignment.items()}
