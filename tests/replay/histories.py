"""Histories of groups that brokers were asked step by step, played again: each step with what ours says to it.

A history has, in each step, when it came and what the broker drew; that is read, and nothing else of the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from conformance.mechanisms.classic_groups import ClassicScript, play_near, played
from conformance.mechanisms.consumer_groups import ConsumerScript, answer_of, by_topic, description_of, event_of
from conformance.mechanisms.mixed_groups import MixedScript
from kafkalearn.groups import classic, consumer, mixed
from kafkalearn.releases.lines import at_least

History = Mapping[str, Any]
MIXED_TOPICS, MIXED_COUNTS = {"t": "mixed-t", "u": "mixed-u"}, {"t": 6, "u": 2}
UNKNOWN = {"error": "GROUP_ID_NOT_FOUND"}


def change_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What a step has changed in the description of a group; members that are gone by their names.

    >>> change_of({"state": "Empty", "members": {"a": 1, "b": 2}}, {"state": "Empty", "members": {"a": 3}})
    {'members': {'a': 3}, 'gone': ['b']}
    """
    if "error" in after:
        return {} if before == after else dict(after)
    found = {name: value for name, value in after.items() if name != "members" and before.get(name) != value}
    old, new = before.get("members", {}), after["members"]
    members = {name: value for name, value in new.items() if old.get(name) != value}
    gone = sorted(old.keys() - new.keys())
    return found | ({"members": members} if members else {}) | ({"gone": gone} if gone else {})


def of_consumer_group(case: History) -> dict[str, Any]:
    """A history of a KIP-848 group, and what is committed at its end."""
    topics = case["topics"].items()
    settings = consumer.Settings(
        case["release"],
        assignment_interval_ms=case.get("assignment_interval_ms", 0),
        max_size=14,
        topics={name: topic["partitions"] for name, topic in topics},
        topic_ids={name: topic["id"] for name, topic in topics},
    )
    group, described, trace = consumer.start(settings), UNKNOWN, []
    for asked in (each["step"] for each in case["trace"]):
        group = consumer.step(settings, group, event_of(asked))
        answer, before, described = answer_of(group), described, description_of(group, case["release"])
        parts = {"answer": answer, "group": change_of(before, described)}
        trace.append({"step": asked, **{name: part for name, part in parts.items() if part}})
    return {"trace": trace, "committed": by_topic(group.committed)}


def of_pattern_group(case: History) -> list[dict[str, Any]]:
    """A history of a group whose members subscribe by pattern."""
    names, release = case["names"], case["release"]
    settings = consumer.Settings(
        release,
        session_timeout_ms=3_600_000,
        assignment_interval_ms=0,
        max_size=5,
        regex_refresh_interval_ms=14_000 if at_least("4.1", release) else None,
        topics={names[topic]: count for topic, count in case["topics"].items()},
        topic_ids={names[topic]: each for topic, each in case["ids"].items()},
    )
    return played(ConsumerScript(settings, names, case["topics"]), case["steps"], ConsumerScript.play)[1]


def of_mixed_group(case: History) -> dict[str, Any]:
    """A history of a group with members of both protocols, and the runs of records that it left."""
    release = case["release"]
    settings = mixed.Settings(
        release,
        case["policy"],
        classic.Settings(
            release,
            group_initial_rebalance_delay_ms=case.get("initial_delay_ms", 0),
            group_min_session_timeout_ms=500,
            group_max_size=10,
        ),
        consumer.Settings(
            release,
            session_timeout_ms=case.get("session_ms", 60_000),
            assignment_interval_ms=case.get("assignment_interval_ms", 0),
            max_size=4,
            topics={MIXED_TOPICS[topic]: count for topic, count in MIXED_COUNTS.items()},
            topic_ids={MIXED_TOPICS[topic]: each for topic, each in case["topic_ids"].items()},
        ),
    )
    script, described, trace = MixedScript(settings, MIXED_TOPICS, case["ids"]), None, []
    for each in case["trace"]:
        described = each.get("group", described)
        script, found = play_near(script, {"responses": [], **each, "group": described}, MixedScript.play)
        assert found["group"] == described  # which a step has where it changes
        trace.append({name: part for name, part in found.items() if name in each or (name != "group" and part)})
    return {"trace": trace, "records": [[kind, len(list(run))] for kind, run in groupby(script.records)]}


def of_classic_group(case: History) -> dict[str, Any]:
    """What a group of the classic protocol on a broker answered, and how it was described after each step."""
    settings = classic.Settings(group_initial_rebalance_delay_ms=600, group_min_session_timeout_ms=100)
    script = ClassicScript(classic.step, settings, session_ms=5000, rebalance_ms=5000)
    found = [(script.play_live(each), each["group"]) for each in case["trace"]]
    return {
        "responses": [ours["responses"] for ours, _ in found],
        "groups": [{name: ours["group"][name] for name in described} for ours, described in found],
    }


def of_classic_coordinator(case: History) -> list[dict[str, Any]]:
    """A history of Kafka's coordinator of classic groups, which a clock moved."""
    most = case.get("max_size", 2**31 - 1)
    settings = classic.Settings(group_initial_rebalance_delay_ms=case["initial_delay_ms"], group_max_size=most)
    script = ClassicScript(classic.step, settings)
    return [{"step": each["step"], **script.play(each["step"])} for each in case["trace"]]
