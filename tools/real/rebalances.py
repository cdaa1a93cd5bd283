"""What the members of a group of the classic protocol hear in a rebalance: tests/vectors/assignor/rebalances.json.

Real consumers form a group; then one joins, leaves or changes its subscription. Kept are the callbacks of all of them
in the order in which they came, with the generation and all that the member owns then.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafkalearn.assignors.judging import Rebalance, random_rebalance
from kafkalearn.assignors.members import Member
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.live import Kafka
from tools.real.told import Clients, Said, config_text, places_of

FILE = "assignor/rebalances.json"
ABOUT = (
    "Consumers of the classic protocol, all of one assignor, and the callbacks that each got (revoked, assigned, lost) "
    "in the order in which they came: member, callback, its generation, the partitions of the callback, all that the "
    "member owns then. First while the group forms (before), then while one member joins, leaves or subscribes anew "
    "(after). Topics: the number of partitions; members: what each subscribes to, before and after; ids: those that "
    "the coordinator gave, by which assignors sort. The groups are drawn by kafkalearn.assignors.random_rebalance; "
    "nothing else is computed. Written by python3 -m tools.real rebalances."
)
ASSIGNORS: Mapping[str, str] = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
COUNTS: Mapping[str, int] = {"range": 4, "roundrobin": 4, "sticky": 6, "cooperative-sticky": 22}
SEED, ALIKE_SHARE = 53, 0.35
CALLBACKS = ("revoked", "assigned", "lost")
DELAY_MS = 1500  # of the first generation: all members are there
QUIET_S, TRIES = 1.2, 4


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by a broker and clients of a release."""
    cases = []
    config = {"group.initial.rebalance.delay.ms": DELAY_MS, "offsets.topic.num.partitions": 1}
    with Kafka(release=line, config=config) as kafka, Clients(kafka.bootstrap, version) as clients:
        for assignor, count in COUNTS.items():
            for number in range(count):
                drawn = random_rebalance(number, seed=SEED, alike_share=ALIKE_SHARE, most_members=4, most_partitions=6)
                cases.append(_played(kafka, clients, assignor, number, drawn))
                print(assignor, number, drawn.what, flush=True)
    return cases


def _played(kafka: Kafka, clients: Clients, assignor: str, number: int, drawn: Rebalance) -> dict[str, Any]:
    """A case; again, where the group did not form in one generation."""
    for attempt in range(TRIES):
        case = _case(kafka, clients, f"{assignor}-{number}-{attempt}", assignor, drawn)
        if {each[2] for each in case["before"]} == {1}:
            return {"name": f"{assignor}, {number}", "assignor": assignor, "what": drawn.what, "who": drawn.who, **case}
    raise TimeoutError(f"{assignor}, {number}: the group never forms in one generation")


def _case(kafka: Kafka, clients: Clients, name: str, assignor: str, drawn: Rebalance) -> dict[str, Any]:
    topics = {topic: f"{name}.{topic}" for topic in drawn.partition_counts}
    for topic, count in drawn.partition_counts.items():
        kafka.create_topic(topics[topic], count)
    before, after = ({each.member_id: each.topics for each in some} for some in (drawn.before, drawn.after))
    everybody = [*before, *(each for each in after if each not in before)]
    labels = {member: f"{name}-{member}" for member in everybody}
    config = {
        "group.id": name,
        "partition.assignment.strategy": f"org.apache.kafka.clients.consumer.{ASSIGNORS[assignor]}",
        "heartbeat.interval.ms": 100,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    clients.ask_all(labels.values(), "consumer", config_text(config))
    begin = len(clients.said)
    for member, subscribed in before.items():
        _subscribe(clients, labels[member], [topics[each] for each in subscribed])
    ids = _settled(kafka, clients, name, [labels[each] for each in before])
    middle = len(clients.said)
    for member in (each for each in before if each not in after):
        clients.ask(labels[member], "close")
    for member, subscribed in after.items():
        if subscribed != before.get(member):
            _subscribe(clients, labels[member], [topics[each] for each in subscribed])
    ids |= _settled(kafka, clients, name, [labels[each] for each in after])
    end = len(clients.said)
    clients.ask_all([labels[each] for each in after], "close")
    members = {label: member for member, label in labels.items()}
    return {
        "topics": {topics[topic]: count for topic, count in drawn.partition_counts.items()},
        "members": [_subscriptions(each, topics) for each in (drawn.before, drawn.after)],
        "ids": {members[label]: member_id for label, member_id in ids.items()},
        "before": _callbacks(clients.said[begin:middle], members),
        "after": _callbacks(clients.said[middle:end], members),
    }


def _subscriptions(members: Iterable[Member], topics: Mapping[str, str]) -> dict[str, list[str]]:
    return {each.member_id: [topics[topic] for topic in each.topics] for each in members}


def _subscribe(clients: Clients, label: str, topics: Sequence[str]) -> None:
    clients.ask(label, "subscribe", ",".join(topics))
    clients.ask(label, "run", "silently")


def _settled(kafka: Kafka, clients: Clients, group: str, labels: Sequence[str]) -> dict[str, str]:
    """Wait until the group is stable and nobody has heard anything for a while; the id of each member."""
    time.sleep(QUIET_S)
    clients.wait(
        lambda: clients.quiet_for(QUIET_S, labels) and _is_stable(kafka, group, len(labels)),
        f"{group} does not come to rest",
    )
    return {label: words[1] for label, words in clients.ask_all(labels, "identity").items()}


def _is_stable(kafka: Kafka, group: str, count: int) -> bool:
    try:
        found = kafka.group(group)
    except KafkaLearnError:  # nobody has joined it yet
        return False
    return found.state == "Stable" and len(found.members) == count


def _callbacks(said: Iterable[Said], members: Mapping[str, str]) -> list[list[Any]]:
    return [
        [members[each.name], each.what, int(each.words[0]), places_of(each.words[1]), places_of(each.words[2])]
        for each in said
        if each.what in CALLBACKS and each.name in members
    ]
