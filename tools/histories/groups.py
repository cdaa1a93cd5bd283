"""Histories of groups: classic and KIP-848, request by request, and the random cases of the mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from conformance.mechanisms import MECHANISMS
from conformance.mechanisms import classic_groups as classic
from conformance.mechanisms.classic_groups import REBALANCE_MS, SESSION_MS, ClassicPlayer, ClassicScript
from conformance.mechanisms.consumer_groups import ConsumerPlayer, by_topic
from conformance.running import OwnCluster
from conformance.search import compare
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.groups.classic import step
from kafkalearn.groups.classic.model import broker_settings
from kafkalearn.live import Kafka
from kafkalearn.offsets.records import OffsetsRecord, decode
from kafkalearn.releases.lines import RELEASES, release_line
from tests.replay.histories import change_of, of_consumer_group, of_pattern_group
from tools.histories.recording import Ask, History, Recording

OF_CLASSIC_GROUPS = {"group.initial.rebalance.delay.ms": 600, "group.min.session.timeout.ms": 100}
OF_CONSUMER_GROUPS = {
    "offsets.topic.num.partitions": 1,
    "group.coordinator.append.linger.ms": 0,
    "group.consumer.max.size": 14,
    "group.consumer.session.timeout.ms": 3_600_000,
    "group.consumer.max.session.timeout.ms": 3_600_000,
    "group.consumer.assignment.interval.ms": 0,
}
OF_PATTERNS = {
    **OF_CONSUMER_GROUPS,
    "group.consumer.max.size": 5,
    "group.consumer.assignor.offload.enable": False,
    "group.consumer.regex.refresh.interval.ms": 14_000,
    "group.coordinator.background.threads": 1,  # what one group has begun to match is done before what a later one has
}
LATER = {"expire": "its offsets expire after a minute", "move": "its broker is started again"}


@contextmanager
def asking_classic_groups(line: str) -> Iterator[Ask]:
    """A broker for scripts of a classic group."""
    with Kafka(release=line, config=OF_CLASSIC_GROUPS) as kafka:
        classic.make_topics(kafka)
        numbers = count(1)

        def ask(history: History) -> dict[str, Any]:
            player = ClassicPlayer(kafka, f"classic-{next(numbers)}", classic.TOPICS)
            try:
                return {**history, "trace": [player.play(each["step"]) for each in history["trace"]]}
            finally:
                player.close()

        yield ask


@contextmanager
def asking(
    config: Mapping[str, Any], history_of: Callable[[Kafka, History, str], dict[str, Any]], line: str
) -> Iterator[Ask]:
    """A broker with these settings for histories of KIP-848 groups, each with a group of its own."""
    with Kafka(release=line, config=config) as kafka:
        numbers = count(1)
        yield lambda history: history_of(kafka, history, f"history-{next(numbers)}")


def consumer_history(kafka: Kafka, history: History, group_id: str) -> dict[str, Any]:
    """A history of a KIP-848 group as it is answered now, with topics of its own."""
    steps = [each["step"] for each in history["trace"]]
    named = {name for each in steps for name in _topics_in(each)} | set(history["topics"])
    player = ConsumerPlayer(kafka, group_id, {name: f"{group_id}-{name}" for name in sorted(named)})
    player.create({name: topic["partitions"] for name, topic in history["topics"].items()})
    topics = {name: {**topic, "id": player.ids[name]} for name, topic in history["topics"].items()}
    trace, before = [], player.described()
    for each in steps:
        answer = player.send(each)
        after = player.described()
        told = {"step": each | answer} if each["op"] == "topic" else {"step": each, "answer": answer}
        difference = change_of(before, after)
        trace.append(told | ({"group": difference} if difference else {}))
        before = after
    labels = {name: topic for topic, name in player.real.items()}
    committed = {labels[topic]: numbers for topic, numbers in by_topic(kafka.committed(group_id)).items()}
    return {**history, "topics": topics, "trace": trace, "committed": committed}


def pattern_history(kafka: Kafka, history: History, group_id: str) -> dict[str, Any]:
    """A history of a group with patterns as it is answered now, and the kinds of records that each step led to."""
    player = ConsumerPlayer(kafka, group_id, {name: f"{group_id}-{name}" for name in history["names"]})
    player.create(history["topics"])
    ids, offset = dict(player.ids), kafka.high_watermark(OFFSETS_TOPIC, 0)
    steps = []
    for each in history["steps"]:
        seen, end = player.play(each["step"]), kafka.high_watermark(OFFSETS_TOPIC, 0)
        found = [decode(record.key, record.value) for record in kafka.records(OFFSETS_TOPIC, 0, offset)]
        offset = end
        steps.append(seen | {"records": [kind_of(record) for record in found if record.key["groupId"] == group_id]})
    return {**history, "names": player.real, "ids": ids, "steps": steps}


def kind_of(record: OffsetsRecord) -> str:
    """The kind of a record of the offsets topic, as the simulators of groups call it."""
    kind = record.type.name.lower().replace("_", "-")
    return kind if record.value is not None else f"tombstone:{kind}"


def _topics_in(step: Mapping[str, Any]) -> Iterator[str]:
    places = [topic for topic, _ in step.get("partitions") or ()] if step["op"] == "commit" else []
    names = [*(step.get("topics") or ()), *(step.get("owned") or ()), *places]
    yield from (name.partition("@")[0] for name in [*names, *([step["topic"]] if "topic" in step else [])])


def why_later(history: History) -> str:
    """Why a history of a KIP-848 group is not asked again here."""
    if history.get("assignment_interval_ms"):
        return "its broker waits between assignments"
    steps = history.get("trace", history.get("steps", ()))
    return next((LATER[each["step"]["op"]] for each in steps if each["step"]["op"] in LATER), "")


@contextmanager
def asking_mechanisms(line: str) -> Iterator[Ask]:
    """A cluster for the cases of one mechanism, and another for those of the next."""
    clusters: dict[str, OwnCluster] = {}

    def ask(history: History) -> dict[str, Any]:
        mechanism = MECHANISMS[history["mechanism"]]
        if mechanism.name not in clusters:
            for each in clusters.values():
                each.close()
            clusters[mechanism.name] = OwnCluster(mechanism, line)
        cluster = clusters[mechanism.name]
        return {**history, "broker": mechanism.ask(cluster.for_a_case(), history["case"], cluster.new_name)}

    try:
        yield ask
    finally:
        for each in clusters.values():
            each.close()


def is_said_by_the_mechanism(history: History) -> bool:
    """Whether the simulator says what a case says."""
    line = release_line(history["release"])
    return compare(MECHANISMS[history["mechanism"]], line, history["case"], history["broker"]) is None


def is_said_of_classic_groups(history: History) -> bool:
    """Whether the simulator says what a script of a classic group says, at its times."""
    settings = broker_settings(RELEASES[-1], OF_CLASSIC_GROUPS)
    script = ClassicScript(step, settings, session_ms=SESSION_MS, rebalance_ms=REBALANCE_MS)
    return classic.played(script, history["trace"], ClassicScript.play_live)[1] == history["trace"]


def is_said_of_consumer_groups(history: History) -> bool:
    """Whether the simulator says what a history of a KIP-848 group says."""
    return of_consumer_group(history) == {name: history[name] for name in ("trace", "committed")}


def is_said_of_pattern_groups(history: History) -> bool:
    """Whether the simulator says what a history of a group with patterns says, at its times."""
    return of_pattern_group(history) == history["steps"]


CASES = Recording(
    "group/group-cases.json",
    ("cases",),
    asking_mechanisms,
    is_said_by_the_mechanism,
    name=lambda history: history["mechanism"],
)
CLASSIC = Recording(
    "group/group-requests.json", ("scripts", "random"), asking_classic_groups, is_said_of_classic_groups
)
CONSUMER = Recording(
    "group/kip848-requests.json",
    ("cases", "random"),
    partial(asking, OF_CONSUMER_GROUPS, consumer_history),
    is_said_of_consumer_groups,
    why_later,
)
PATTERNS = Recording(
    "group/pattern-groups.json",
    ("cases",),
    partial(asking, OF_PATTERNS, pattern_history),
    is_said_of_pattern_groups,
    why_later,
)
