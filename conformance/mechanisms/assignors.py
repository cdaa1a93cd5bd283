"""Assignors of the Java client, as Kafka's own classes: generated groups with what their members had before."""

from __future__ import annotations

from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism
from conformance.search import answering
from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live.jars import Release

ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
MOST_TOPICS, MOST_PARTITIONS, MOST_MEMBERS = 4, 9, 8
GENERATIONS = (None, 4, 5, 5, 5)
RACKS = ("a", "b", "c")
FAILED, NULL_POINTER = "!", "NullPointerException"


@strategies.composite
def _groups(draw: strategies.DrawFn) -> Case:
    topics = [f"t{draw(strategies.integers(0, 60))}" for _ in range(draw(strategies.integers(1, MOST_TOPICS)))]
    counts = {topic: draw(strategies.integers(0, MOST_PARTITIONS)) for topic in dict.fromkeys(topics)}
    known = [*counts, "missing"]
    places = [[topic, number] for topic, count in counts.items() for number in range(count)]
    ids = draw(strategies.lists(strategies.integers(0, 90), min_size=1, max_size=MOST_MEMBERS, unique=True))
    are_alike = draw(strategies.booleans())
    is_consistent = draw(strategies.booleans())
    has_static, free, members = draw(strategies.booleans()), list(places), []
    for number, each in enumerate(ids):
        names = list(counts) if are_alike else draw(strategies.lists(strategies.sampled_from(known), unique=True))
        generation = draw(strategies.sampled_from(GENERATIONS))
        pool = free if is_consistent else places
        owned = draw(strategies.lists(strategies.sampled_from(pool), unique_by=tuple)) if pool and generation else []
        if is_consistent:
            free = [place for place in free if place not in owned]
        is_static = has_static and draw(strategies.booleans())
        members.append(
            {
                "id": f"m{each}",
                "topics": names,
                "owned": owned,
                "generation": generation,
                "instance": f"i{(7 * each + number) % 97}" if is_static else None,
            }
        )
    instances = [each["instance"] for each in members if each["instance"]]
    if len(set(instances)) < len(instances):  # a coordinator knows each only once
        members = [{**each, "instance": None} for each in members]
    drawn = {"assignor": draw(strategies.sampled_from(ASSIGNORS)), "topics": counts, "members": members}
    return {**drawn, **draw(_racks(counts, members))} if draw(strategies.booleans()) else drawn


@strategies.composite
def _racks(draw: strategies.DrawFn, counts: dict[str, int], members: list[Case]) -> Case:
    """The same group with racks: of each partition's replicas, and of some of its members."""
    racks = strategies.sampled_from(RACKS[: draw(strategies.integers(1, len(RACKS)))])
    of_replicas = strategies.lists(racks, max_size=2, unique=True).map(sorted)
    of_member = _or_none(racks)
    replica_racks = {
        topic: [draw(of_replicas) for _ in range(count)]
        for topic, count in counts.items()
        if draw(strategies.booleans())
    }
    return {"replica_racks": replica_racks, "members": [{**each, "rack": draw(of_member)} for each in members]}


def _or_none(values: strategies.SearchStrategy[str]) -> strategies.SearchStrategy[str | None]:
    """One of the values, or sometimes none."""
    return strategies.one_of(values, values, values, strategies.none())


def _cases(release: str) -> strategies.SearchStrategy[Case]:
    return _groups()


def _line(case: Case) -> str:
    where = case.get("replica_racks", {})
    racks = {topic: "@" + ";".join(map("+".join, each)) for topic, each in where.items()}
    counts = ",".join(f"{topic}={count}{racks.get(topic, '')}" for topic, count in case["topics"].items() if count)
    members = (
        ":".join(
            [
                each["id"],
                " ".join(each["topics"]),
                " ".join(f"{topic}-{number}" for topic, number in each["owned"]),
                "" if each["generation"] is None else str(each["generation"]),
                each["instance"] or "",
                each.get("rack") or "",
            ]
        )
        for each in case["members"]
    )
    return "|".join([case["assignor"], counts, *members])


def _ask(release: Release, case: Case, new_name) -> Answer:
    answer = answering(release.line, release, "Assign").answer(_line(case))
    if answer.startswith(FAILED):
        return {"fails": NULL_POINTER} if NULL_POINTER in answer else answer
    members = (each.partition(":") for each in answer.split("|"))
    return {member_id: places.split() for member_id, _, places in members}


def _say(release: str, case: Case, seen: Answer) -> Answer:
    members = [
        Member(each["id"], each["topics"], [tuple(place) for place in each["owned"]], each["generation"],
               each["instance"], each.get("rack"))
        for each in case["members"]
    ]  # fmt: skip
    try:
        answer = assign(case["assignor"], case["topics"], members, side="client", release=release,
                        replica_racks=case.get("replica_racks"))  # fmt: skip
    except KafkaLearnError as error:  # where Kafka's own code fails, ours says so
        if NULL_POINTER not in str(error):
            raise
        return {"fails": NULL_POINTER}
    return {member_id: [f"{topic}-{number}" for topic, number in places] for member_id, places in answer.items()}


ASSIGNOR_CLASSES = Mechanism(
    name="assignors",
    rules=("who gets which partition", "the order of a HashMap", "racks in the client's assignors"),
    cases=_cases,
    ask=_ask,
    say=_say,
    settings={"brokers": 0},
)
