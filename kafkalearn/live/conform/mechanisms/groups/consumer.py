"""KIP-848 groups: heartbeats with chosen member ids in any order, while topics come, grow, go and come again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st

from kafkalearn.assignor.registry import BROKER_ASSIGNORS
from kafkalearn.group.consumer import Settings
from kafkalearn.group.consumer.settings import NAMES
from kafkalearn.live.conform.limits import Limits, limits_of
from kafkalearn.live.conform.mechanism import CannotBeAsked, Case, Mechanism
from kafkalearn.live.conform.mechanisms.groups.clocks import play_near
from kafkalearn.live.conform.mechanisms.groups.consumer_members import ALL, HALF, LOST, NOTHING
from kafkalearn.live.conform.mechanisms.groups.consumer_player import COMMIT_WITH_IDS, NEEDED, ConsumerPlayer
from kafkalearn.live.conform.mechanisms.groups.consumer_script import ConsumerScript
from kafkalearn.live.conform.mechanisms.groups.scripts import scripts
from kafkalearn.live.jars.pinned import find_release
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.versions.releases import at_least

MEMBERS = ("a", "b", "c", "d", "Aa", "BB")  # the last two have one hash code
INSTANCES = ("i1", "i2")
TOPICS = ("A", "B", "C")
MOST_MEMBERS = 5
MOST_STEPS = 40
SESSION_MS = 1200
SHORT_MS, LONG_MS = 400, 3_000_000  # rebalance timeouts
CONFIG = {
    "offsets.topic.num.partitions": 1,  # one coordinator thread: what it knows for one group, it knows for all
    "group.coordinator.append.linger.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 50,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.max.size": MOST_MEMBERS,
}
CONFIG_OF_4_3 = {"group.consumer.assignment.interval.ms": 0, "group.consumer.assignor.offload.enable": False}
OWN = Limits({**CONFIG, **CONFIG_OF_4_3})
ASSIGNORS = "group.consumer.assignors"

_member = st.sampled_from(MEMBERS)
_topics = st.sets(st.sampled_from(TOPICS)).map(sorted)
_sometimes = st.sampled_from([False, False, True])


def cases(release: str, limits: Limits = OWN) -> st.SearchStrategy[Case]:
    """Up to 40 steps of a group, and the topics that are there at first."""
    topics = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 7), min_size=1)
    return st.fixed_dictionaries({"topics": topics, "steps": scripts(_steps(release, limits), MOST_STEPS)})


def _steps(release: str, limits: Limits) -> st.SearchStrategy[dict[str, Any]]:
    heartbeats = st.sampled_from([0, 1] if limits.takes("ConsumerGroupHeartbeat", 1) else [0])
    join = _step(
        "join", m=_member, topics=_topics, rebalance_ms=st.sampled_from([LONG_MS, LONG_MS, SHORT_MS]),
        optional={"instance": st.sampled_from(INSTANCES), "assignor": _assignor(), "version": heartbeats},
    )  # fmt: skip
    beat = _step("beat", m=_member, optional={"owned": st.sampled_from([ALL, ALL, NOTHING, HALF])})
    extra = {"owned": st.sampled_from([ALL, NOTHING]), "assignor": _assignor(), "version": heartbeats}
    change = _step("beat", m=_member, topics=_topics, optional=extra)
    mistake = _step(
        "beat", m=_member, more=st.sampled_from([-1, 1, -2]), optional={"owned": st.sampled_from([ALL, NOTHING])}
    )
    lost = _step("beat", m=_member, owned=st.just(LOST))
    leave = _step("leave", m=_member, aside=st.booleans())
    place = st.tuples(st.sampled_from(TOPICS), st.integers(0, 7)).map(list)
    places = st.lists(place, min_size=1, max_size=3, unique_by=tuple)
    has_ids = at_least("4.2", release) and limits.takes("OffsetCommit", COMMIT_WITH_IDS)
    versions = st.sampled_from([9, 8, 10] if has_ids else [9, 8])
    commit = _step(
        "commit", m=st.one_of(_member, _member, st.none()), more=st.sampled_from([0, 0, 0, 1, -1]),
        partitions=places, version=versions,
    )  # fmt: skip
    fetch = _step("fetch", m=st.one_of(_member, st.none()), more=st.sampled_from([0, 0, 1]))
    topic = _step("topic", topic=st.sampled_from(TOPICS), partitions=st.one_of(st.none(), st.integers(1, 8)))
    sleep = _step("sleep", ms=st.sampled_from([200, 500, 1300]))
    delete = _step("delete")
    return st.one_of(
        join, beat, beat, change, beat, join, mistake, leave, beat, commit, lost, fetch, beat, topic, sleep, delete
    )


def _step(
    op: str, optional: dict[str, st.SearchStrategy[Any]] | None = None, **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"op": st.just(op), **fields}, optional=optional)


def _assignor() -> st.SearchStrategy[str]:
    return st.sampled_from(["uniform", "range", "uniform", "range", "none"])


def ask(kafka: UsedCluster, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """The topics as they were created, and what each step led to on the broker."""
    names = {topic: new_name(topic) for topic in TOPICS}
    return play(kafka, case, new_name("consumer"), names)[1]


def play(kafka: UsedCluster, case: Case, group_id: str, names: dict[str, str]) -> tuple[ConsumerPlayer, dict[str, Any]]:
    """What each step led to on the broker, in a group of this name, with topics of these names."""
    player = ConsumerPlayer(kafka, group_id, names)
    player.create(case["topics"])
    ids = dict(player.ids)
    return player, {"names": names, "ids": ids, "steps": [player.play(each) for each in case["steps"]]}


def say(release: str, case: Case, seen: dict[str, Any], limits: Limits = OWN) -> dict[str, Any]:
    """The same by the simulator, at the times of the broker, with the names and ids of its topics."""
    return {**seen, "steps": played(script_of(release, case, seen, limits), seen["steps"])[1]}


def played(script: ConsumerScript, seen: list[dict[str, Any]]) -> tuple[ConsumerScript, list[dict[str, Any]]]:
    """The simulator after all steps, and what each led to."""
    steps = []
    for each in seen:
        script, found = play_near(script, each, ConsumerScript.play)
        steps.append(found)
    return script, steps


def script_of(release: str, case: Case, seen: dict[str, Any], limits: Limits = OWN) -> ConsumerScript:
    """The simulator at the beginning of a case."""
    names = seen["names"]
    settings = Settings(
        find_release(release).version,
        **limits_in_fields(limits),
        topics={names[topic]: count for topic, count in case["topics"].items()},
        topic_ids={names[topic]: topic_id for topic, topic_id in seen["ids"].items()},
    )
    return ConsumerScript(settings, names, case["topics"])


def limits_in_fields(limits: Limits) -> dict[str, Any]:
    """The settings of the coordinator, as the simulator names them; what the limits do not say has its default."""
    numbers = limits.numbers(setting for setting in NAMES.values() if setting != ASSIGNORS)
    found: dict[str, Any] = {field: numbers[setting] for field, setting in NAMES.items() if setting in numbers}
    if ASSIGNORS in limits.settings:
        found["assignors"] = tuple(str(limits.settings[ASSIGNORS]).split(","))
    return found


def fit(kafka: UsedCluster) -> Mechanism:
    """The same with the limits and timers of a cluster that somebody else has set up."""
    limits = limits_of(kafka)
    limits.require(NEEDED)
    others = set(limits_in_fields(limits).get("assignors", ())) - set(BROKER_ASSIGNORS)
    if others:
        raise CannotBeAsked(f"its {ASSIGNORS} has assignors of its own: {', '.join(sorted(others))}")
    return replace(CONSUMER, cases=partial(cases, limits=limits), say=partial(say, limits=limits))


CONSUMER = Mechanism(
    name="KIP-848 groups",
    rules=(
        "the consumer protocol, KIP-848",
        "what a KIP-848 heartbeat is refused with",
        "which commits a KIP-848 group takes",
        "the order of members and the vote for an assignor in a KIP-848 group",
        "quirks of the KIP-848 coordinator, answered as it answers them",
    ),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": {**CONFIG, **CONFIG_OF_4_3}},
    tries=3,
    fit=fit,
)
