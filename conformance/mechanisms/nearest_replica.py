"""To which replica a leader sends consumers of different racks, while followers stand still and logs grow (KIP-392).

Brokers 2 and 3 are in one rack, broker 1 in another. A follower that is frozen keeps its place in the ISR, and its log
end stays behind: the leader then prefers the other one of the rack, and nobody for an offset that no follower has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import permutations

from hypothesis import strategies as st

from conformance.mechanism import Answer, Case, Mechanism
from kafkalearn.consuming.nearest import ReplicaView, preferred_replica
from kafkalearn.live.cluster import CONSUMER_REPLICA
from kafkalearn.live.errors import wait_for
from kafkalearn.live.kafka import FROZEN, Kafka
from kafkalearn.live.nodes import Node
from kafkalearn.live.request_values import error_name

RACKS = {1: "a", 2: "b", 3: "b"}
CLIENT_RACKS = ("a", "b", "b", "c", "")
FIRST_VERSION_WITH_RACKS, NEWEST_WITH_NAMES = 11, 12
FETCH_BYTES = 1_000_000
LEADER_LEARNS_S = 0.1  # a follower's next fetch tells its leader where its log ends
MOST_STEPS, FIRST_RECORDS = 12, 1


def _rack_of(node: Node) -> str | None:
    return RACKS.get(node.id)


CONFIG = {
    "broker.rack": _rack_of,
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "replica.lag.time.max.ms": 120_000,  # who is frozen stays in the ISR
    "broker.session.timeout.ms": 60_000,
}


def cases(release: str) -> st.SearchStrategy[Case]:
    """Records, followers that freeze and go on, and consumers that ask for any offset there is."""
    send = st.tuples(st.just("send"), st.integers(1, 3))
    freeze = st.tuples(st.just("freeze"), st.integers(0, 1))  # the first follower, or the second
    fetch = st.tuples(st.just("fetch"), st.sampled_from(CLIENT_RACKS), st.integers(0, 4))  # so far from the end
    step = st.one_of(send, fetch, fetch, freeze, st.just(("thaw",)), fetch, send)
    return st.fixed_dictionaries(
        {
            "replicas": st.sampled_from([list(each) for each in permutations(RACKS)]),
            "steps": st.lists(step.map(list), min_size=1, max_size=MOST_STEPS),
        }
    )


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """For each fetch the error, and the replica that the leader names; None: it answers itself."""
    for each in RACKS:
        if kafka.status(each) == FROZEN:
            kafka.thaw(each)
    topic, (leader, *followers) = new_name("topic"), case["replicas"]
    kafka.create_topic(topic, assignment=[case["replicas"]])
    kafka.send(topic, [b"x"], acks="all")  # each follower has fetched then: before, its leader knows of no log end
    time.sleep(LEADER_LEARNS_S)
    end, found = FIRST_RECORDS, []
    for kind, *words in case["steps"]:
        match kind:
            case "send":
                kafka.send(topic, [b"x"] * words[0], acks=1)
                end += words[0]
            case "freeze" if kafka.status(followers[words[0]]) != FROZEN:
                kafka.freeze(followers[words[0]])
            case "thaw":
                for each in followers:
                    if kafka.status(each) == FROZEN:
                        kafka.thaw(each)
            case "fetch":
                found.append(_fetch(kafka, leader, topic, words[0], max(end - words[1], 0)))
                continue
        for each in followers:
            if kafka.status(each) != FROZEN:
                wait_for(
                    lambda each=each: kafka.disk(each).log_end_offset(topic, 0), end, f"the log end of broker {each}:"
                )
        time.sleep(LEADER_LEARNS_S)
    return found


def _fetch(kafka: Kafka, leader: int, topic: str, rack: str, offset: int) -> Answer:
    asked = {"partition": 0, "fetchOffset": offset, "partitionMaxBytes": FETCH_BYTES}
    values = {
        "replicaId": CONSUMER_REPLICA, "maxWaitMs": 0, "minBytes": 0, "rackId": rack, "forgottenTopicsData": [],
        "topics": [{"topic": topic, "partitions": [asked]}],
    }  # fmt: skip
    version = kafka.version(leader, "Fetch", NEWEST_WITH_NAMES)
    assert version >= FIRST_VERSION_WITH_RACKS
    (answer,) = kafka.ask(leader, "Fetch", values, version)["responses"][0]["partitions"]
    preferred = answer["preferredReadReplica"]
    return [error_name(answer["errorCode"]), None if preferred < 0 else preferred]


def say(release: str, case: Case, seen: Answer) -> Answer:
    """The same by the rule; of two followers with the same log end either may have been caught up last."""
    leader, *followers = case["replicas"]
    ends = dict.fromkeys(case["replicas"], FIRST_RECORDS)
    frozen: set[int] = set()
    answers = iter(seen)
    found = []
    for kind, *words in case["steps"]:
        match kind:
            case "send":
                ends[leader] += words[0]
            case "freeze":
                frozen.add(followers[words[0]])
            case "thaw":
                frozen.clear()
            case "fetch":
                _, told = next(answers)
                views = [ReplicaView(each, RACKS[each], ends[each], behind_ms=each != told) for each in followers]
                offset = max(ends[leader] - words[1], 0)
                view = ReplicaView(leader, RACKS[leader], ends[leader])
                found.append(["NONE", preferred_replica(view, views, offset, words[0])])
        ends |= {each: ends[leader] for each in followers if each not in frozen}
    return found


NEAREST = Mechanism(
    name="from which replica a consumer reads",
    rules=("from which replica a consumer reads",),
    cases=cases,
    ask=ask,
    say=say,
    settings={"brokers": len(RACKS), "config": CONFIG},
    tries=2,
)
