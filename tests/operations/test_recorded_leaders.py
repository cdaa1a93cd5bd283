"""Who led a real cluster's partitions while brokers failed: see tests/vectors/operations/leaders.json."""

import pytest

from kafkalearn.operations.leadership import (
    BrokerFenced,
    BrokerUnfenced,
    ElectionAnswered,
    ElectLeaders,
    LeaderImbalanceChecked,
    Settings,
    cluster_of,
    partition_of,
    step,
)
from tests.recorded import recorded

CASES = recorded("leaders")["cases"]
TOPIC = "orders"
NOBODY = -1


def event_of(kind, *rest):
    match kind:
        case "fence":
            return BrokerFenced(*rest)
        case "unfence":
            return BrokerUnfenced(*rest)
        case "elect":
            return ElectLeaders(TOPIC, *rest) if rest else ElectLeaders()
    return LeaderImbalanceChecked()


def shown(cluster):
    return [
        [NOBODY if each.leader is None else each.leader, each.leader_epoch, sorted(each.isr)]
        for each in cluster.partitions
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_leaders_epochs_and_isrs_are_those_of_the_cluster_after_every_event(case):
    settings = Settings((1, 2, 3))
    cluster = cluster_of(settings, [partition_of(TOPIC, place, each) for place, each in enumerate(case["replicas"])])
    assert shown(cluster) == case["states"][0]
    for event, state, answers in zip(case["events"], case["states"][1:], case["answers"], strict=True):
        cluster = step(settings, cluster, event_of(*event))
        assert state is None or shown(cluster) == state, event
        if answers is not None:
            ours = sorted(
                [each.partition, each.error] for each in cluster.effects if isinstance(each, ElectionAnswered)
            )
            assert ours == answers, event
