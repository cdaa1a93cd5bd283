"""What groups write into ``__consumer_offsets``: the records of random runs, and the group that they make together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from kafkalearn.group.consumer.settings import rules_of
from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.live.conform.mechanism import Case, Mechanism
from kafkalearn.live.conform.mechanisms.groups import classic, consumer
from kafkalearn.live.conform.mechanisms.groups.classic_records import ClassicRecords
from kafkalearn.live.conform.mechanisms.groups.consumer_records import ConsumerRecords
from kafkalearn.live.conform.mechanisms.groups.consumer_script import by_topic
from kafkalearn.live.conform.mechanisms.groups.written import in_form, ordered, records_of, with_drawn
from kafkalearn.live.kafka import Kafka
from kafkalearn.offsets import replay
from kafkalearn.offsets.groups import Group

PARTITION_COUNT = 8  # so that a file has the records of few groups
CONFIG = {
    **classic.CONFIG,
    **consumer.CONFIG,
    **consumer.CONFIG_OF_4_3,
    "offsets.topic.num.partitions": PARTITION_COUNT,
    "group.coordinator.threads": 1,
}
KINDS = {"classic": classic, "consumer": consumer}


def cases(release: str) -> st.SearchStrategy[Case]:
    """A run of one of the two kinds of groups."""
    return st.one_of(*(_of_kind(kind, release) for kind in KINDS))


def _of_kind(kind: str, release: str) -> st.SearchStrategy[Case]:
    return st.fixed_dictionaries({"kind": st.just(kind), "script": KINDS[kind].cases(release)})


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """The run, the records that it has left on the disk, and the group that they make."""
    return (_ask_classic if case["kind"] == "classic" else _ask_consumer)(kafka, case["script"], new_name)


def say(release: str, case: Case, seen: dict[str, Any]) -> dict[str, Any]:
    """The same by the simulators."""
    return (_say_classic if case["kind"] == "classic" else _say_consumer)(release, case["script"], seen)


def _ask_classic(kafka: Kafka, script: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    group_id = new_name("classic")
    steps = classic.play(kafka, script, group_id)
    records = records_of(kafka, group_id, PARTITION_COUNT)
    ids = kafka.metadata(classic.TOPICS.values()).topic_ids
    group = replay((each.key, each.value) for each in records).group(group_id)
    return {
        "group_id": group_id,
        "topic_ids": {topic: ids[name] for topic, name in classic.TOPICS.items()},
        "steps": steps,
        "records": in_form(records),
        "rebuilt": _rebuilt_classic(group) if _is_at_rest(steps) else None,
    }


def _say_classic(release: str, script: Case, seen: dict[str, Any]) -> dict[str, Any]:
    ours, steps = classic.played(classic.script_of(release), seen["steps"])
    writer = ClassicRecords(ours.settings.release, seen["group_id"], classic.TOPICS, seen["topic_ids"])
    records = [each for after in ours.past for each in writer.of(after)]
    return {
        **seen,
        "steps": steps,
        "records": with_drawn(ordered(records), seen["records"]),
        "rebuilt": _as_rebuilt(steps[-1]["group"]) if _is_at_rest(steps) else None,
    }


def _is_at_rest(steps: list[dict[str, Any]]) -> bool:
    """Whether a classic group is as it was written last: nothing is written of a rebalance before its end."""
    return steps[-1]["group"]["state"] in (STABLE, EMPTY)


def _as_rebuilt(described: dict[str, Any]) -> dict[str, Any]:
    """Without what the members were given: the scripts assign words, and `replay` reads partitions."""
    return {name: each for name, each in described.items() if name != "assigned"}


def _rebuilt_classic(group: Group | None) -> dict[str, Any] | None:
    """A group of the records as DescribeGroups has it."""
    if group is None:
        return None
    found = {"state": group.state, "members": sorted(each.client_id for each in group.members)}
    return found if group.state == EMPTY else found | {"protocol": group.protocol}


def _ask_consumer(kafka: Kafka, script: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    group_id, names = new_name("consumer"), {topic: new_name(topic) for topic in consumer.TOPICS}
    player, steps = consumer.play(kafka, script, group_id, names)
    records = records_of(kafka, group_id, PARTITION_COUNT)
    labels = {player.ids[topic]: topic for topic in player.members.topics}
    group = replay(((each.key, each.value) for each in records), labels).group(group_id)
    return {
        "group_id": group_id,
        **steps,
        "records": in_form(records),
        "rebuilt": _rebuilt_consumer(group, names, set(labels.values()), kafka.release.version),
    }


def _say_consumer(release: str, script: Case, seen: dict[str, Any]) -> dict[str, Any]:
    ours, steps = consumer.played(consumer.script_of(release, script, seen), seen["steps"])
    writer = ConsumerRecords(ours.settings, seen["group_id"])
    records = [each for past in ours.past for each in writer.of(*past)]
    described = steps[-1]["group"]
    members = {
        name: {**{key: each[key] for key in ("epoch", "topics", "target")}, "instance": each.get("instance")}
        for name, each in described.get("members", {}).items()
    }
    return {
        **seen,
        "steps": steps,
        "records": with_drawn(ordered(records), seen["records"]),
        "rebuilt": None if "error" in described else {**described, "members": members},
    }


def _rebuilt_consumer(
    group: Group | None, names: dict[str, str], there: set[str], release: str
) -> dict[str, Any] | None:
    """A group of the records as ConsumerGroupDescribe has it, what its members have now left out.

    Where no assignment was written, its epoch is that of a new group.
    """
    if group is None or group.kind != "consumer":
        return None
    labels = {name: topic for topic, name in names.items()}
    return {
        "state": group.state,
        "group_epoch": group.epoch,
        "assignment_epoch": rules_of(release).first_epoch if group.target_epoch is None else group.target_epoch,
        "members": {
            each.member_id: {
                "epoch": each.epoch,
                "topics": sorted(labels[topic] for topic in each.subscribed),
                "target": by_topic(place for place in each.target if place.topic in there),
                "instance": each.instance_id,
            }
            for each in group.members
        },
    }


RECORDS = Mechanism(
    name="records of the offsets topic",
    rules=(
        "records of the offsets topic, decoded and encoded",
        "keys of commits and groups",
        "the groups in the records of a disk",
        "bytes of a commit",
        "the consumer protocol, KIP-848",
        "the classic coordinator",
    ),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=3,
)
