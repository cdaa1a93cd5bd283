"""Classic groups: requests of four clients in any order, some of them static, with lost ids and wrong generations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st

from kafkalearn.group.classic import Settings, step
from kafkalearn.group.classic.settings import NAMES, broker_settings
from kafkalearn.live.conform.limits import Limits, limits_of
from kafkalearn.live.conform.mechanism import Case, Mechanism
from kafkalearn.live.conform.mechanisms.groups.classic_player import (
    COMMIT,
    JOIN,
    LIST,
    SYNC_WITH_PROTOCOL,
    WITH_STATIC_MEMBERS,
    ClassicPlayer,
)
from kafkalearn.live.conform.mechanisms.groups.classic_script import ClassicScript
from kafkalearn.live.conform.mechanisms.groups.clocks import play_near
from kafkalearn.live.conform.mechanisms.groups.scripts import scripts
from kafkalearn.live.errors import Refused
from kafkalearn.live.jars.pinned import find_release
from kafkalearn.live.used_cluster import UsedCluster

CLIENTS = "ABCD"
INSTANCES = {"C": "i1", "D": "i2"}  # of the clients that are static, if any are
TOPICS = {"t": "conform-t", "u": "conform-u"}  # that the steps speak of
NOBODY = "nobody"
MOST_MEMBERS = 3
MOST_STEPS = 20
SHORTEST_SESSION_MS = 500
CONFIG = {
    "group.initial.rebalance.delay.ms": 0,
    "group.coordinator.append.linger.ms": 0,  # else a group is described before the write that made it so
    "group.min.session.timeout.ms": SHORTEST_SESSION_MS,
    "group.max.size": MOST_MEMBERS,
}
OWN = Limits(CONFIG)
SPARE_MS = 200  # by so much a sleep is longer than the timer that it is for

_client = st.sampled_from(CLIENTS)
TIMEOUTS_MS = ((5000, 5000), (5000, 2500), (1500, 1000))  # of session and rebalance
SLEEPS_MS = (150, 400, 1300)
TOOLS = (("list", "ListGroups", LIST), ("delete", "DeleteGroups", 0))

_rarely = st.sampled_from([False, False, False, False, False, False, True])


def cases(release: str, limits: Limits = OWN) -> st.SearchStrategy[Case]:
    """Scripts of up to 20 steps; a client is static or not for the whole of one.

    Where a new group waits for more members, every other script begins with members and that wait.
    """
    settings = settings_of(release, limits)
    shortest_ms, delay_ms = settings.group_min_session_timeout_ms, settings.group_initial_rebalance_delay_ms
    sessions = [(max(session_ms, shortest_ms), rebalance_ms) for session_ms, rebalance_ms in TIMEOUTS_MS]
    timeouts = st.sampled_from([*sessions, (max(shortest_ms - 1, 0), 1000)])
    of_the_broker = [each + SPARE_MS for each in (delay_ms, shortest_ms) if each > max(SLEEPS_MS)]
    steps = _steps(limits, SLEEPS_MS + tuple(of_the_broker))
    openings: st.SearchStrategy[list[dict[str, Any]]] = st.just([])
    if delay_ms:
        wait = {"op": "sleep", "ms": delay_ms + SPARE_MS}
        openings |= st.lists(_joins(), min_size=1, max_size=4).map(lambda joins: [*joins, dict(wait)])
    whole = scripts(steps, MOST_STEPS)
    return st.builds(_script, timeouts, st.booleans(), st.builds(list.__add__, openings, whole) if delay_ms else whole)


def _script(timeouts: tuple[int, int], are_static: bool, steps: list[dict[str, Any]]) -> Case:
    session_ms, rebalance_ms = timeouts
    for each in steps:
        for one in (each, *each.get("others", ())):
            if are_static and one.get("c") in INSTANCES:
                one["instance"] = INSTANCES[one["c"]]
    return {"session_ms": session_ms, "rebalance_ms": rebalance_ms, "steps": steps}


def _joins() -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        _join, _client, st.booleans(), st.sampled_from(_PROTOCOLS), st.sampled_from("ttu"), _rarely, _rarely
    )


def _steps(limits: Limits, sleeps_ms: tuple[int, ...]) -> st.SearchStrategy[dict[str, Any]]:
    join = _joins()
    named = ["range", "roundrobin"] if limits.takes("SyncGroup", SYNC_WITH_PROTOCOL) else []
    assignment = st.sets(_client).map(lambda labels: {label: f"P{label}" for label in sorted(labels)})
    sync = st.builds(_sync, _client, assignment, _mistakes(), st.sampled_from([None] * 5 + named))
    beat = st.builds(_request, st.just("heartbeat"), _client, _mistakes())
    other = st.builds(lambda label, mistake: {"c": label} | mistake, _client, _mistakes())
    leave = st.builds(_leave, _client, _mistakes(), st.one_of(st.just([]), st.lists(other, max_size=2)))
    versions = st.sampled_from([limits.newest("OffsetCommit", version) for version in (COMMIT, COMMIT - 1)])
    commit = st.builds(_commit, _client, _mistakes(), versions, st.sampled_from([False, False, True]))
    sleep = st.sampled_from([{"op": "sleep", "ms": ms} for ms in sleeps_ms]).map(dict)
    tools = [{"op": op} for op, request, version in TOOLS if limits.takes(request, version)]
    tool = st.sampled_from(tools).map(dict) if tools else st.nothing()
    return st.one_of(join, sync, join, beat, commit, join, sync, leave, join, sync, tool, sleep)


_PROTOCOLS = (("range",), ("range", "roundrobin"), ("roundrobin", "range"), ("range",), ("sticky",), ())


def _mistakes() -> st.SearchStrategy[dict[str, Any]]:
    """Mostly none; a generation that is not the group's, or the id of nobody."""
    return st.sampled_from([{}] * 7 + [{"generation": 7}, {"member": NOBODY}, {"member": ""}]).map(dict)


def _join(
    label: str, knows_ids: bool, protocols: tuple[str, ...], topic: str, is_fresh: bool, is_other_type: bool
) -> dict[str, Any]:
    joining = {"op": "join", "c": label, "protocols": list(protocols), "topic": topic, "require_known": knows_ids}
    return joining | ({"fresh": True} if is_fresh else {}) | ({"type": "connect"} if is_other_type else {})


def _sync(label: str, assign: dict[str, str], mistake: dict[str, Any], protocol: str | None) -> dict[str, Any]:
    named = {} if protocol is None else {"protocol": protocol}
    return {"op": "sync", "c": label, "assign": assign, **mistake, **named}


def _request(op: str, label: str, mistake: dict[str, Any]) -> dict[str, Any]:
    return {"op": op, "c": label, **mistake}


def _leave(label: str, mistake: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    return {"op": "leave", "c": label, **mistake, **({"others": others} if others else {})}


def _commit(label: str, mistake: dict[str, Any], version: int, is_alone: bool) -> dict[str, Any]:
    """A commit of a member; or of a client that is in no group."""
    if is_alone:
        return {"op": "commit", "c": label, "member": "", "generation": -1, "version": version}
    return {"op": "commit", "c": label, "version": version, **mistake}


def ask(
    kafka: UsedCluster, case: Case, new_name: Callable[[str], str], topics: Mapping[str, str] = TOPICS
) -> list[dict[str, Any]]:
    """What each step led to on the broker."""
    return play(kafka, case, new_name("classic"), topics)


def say(release: str, case: Case, seen: list[dict[str, Any]], limits: Limits = OWN) -> list[dict[str, Any]]:
    """The same by the simulator, at the times and with the member ids of the broker."""
    return played(script_of(release, limits), seen)[1]


def played(script: ClassicScript, seen: list[dict[str, Any]]) -> tuple[ClassicScript, list[dict[str, Any]]]:
    """The simulator after all steps, and what each led to."""
    steps = []
    for each in seen:
        script, found = play_near(script, each, ClassicScript.play_live)
        steps.append(found)
    return script, steps


def play(kafka: UsedCluster, case: Case, group_id: str, topics: Mapping[str, str] = TOPICS) -> list[dict[str, Any]]:
    """What each step led to on the broker, in a group of this name."""
    make_topics(kafka, topics)
    timeouts = {"session": case["session_ms"], "rebalance": case["rebalance_ms"]}
    player = ClassicPlayer(kafka, group_id, topics)
    try:
        return [player.play({**timeouts, **each} if each["op"] == "join" else each) for each in case["steps"]]
    finally:
        player.close()


def make_topics(kafka: UsedCluster, topics: Mapping[str, str] = TOPICS) -> None:
    """Create the topics that members subscribe to, if they are not there."""
    there = kafka.topics()
    for name in topics.values():
        if name not in there:
            try:
                kafka.create_topic(name)
            except Refused as error:
                if error.error != "TOPIC_ALREADY_EXISTS":  # another case was quicker
                    raise


def script_of(release: str, limits: Limits = OWN) -> ClassicScript:
    """The simulator at the beginning of a case."""
    return ClassicScript(step, settings_of(release, limits), newest_join=limits.newest("JoinGroup", JOIN))


def settings_of(release: str, limits: Limits) -> Settings:
    """The coordinator's settings; what the limits do not say has the default of the release."""
    return broker_settings(find_release(release).version, limits.numbers(setting for setting, _ in NAMES.values()))


def fit(kafka: UsedCluster) -> Mechanism:
    """The same with the limits and timers of a cluster that somebody else has set up."""
    limits = limits_of(kafka)
    limits.require(WITH_STATIC_MEMBERS)
    topics = {label: kafka.new_name(label) for label in TOPICS}
    return replace(
        CLASSIC, cases=partial(cases, limits=limits), ask=partial(ask, topics=topics), say=partial(say, limits=limits)
    )


CLASSIC = Mechanism(
    name="classic groups",
    rules=("the classic coordinator", "which commits a classic group takes"),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=3,
    fit=fit,
)
