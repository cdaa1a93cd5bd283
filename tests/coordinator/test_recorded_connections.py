"""To which brokers real clients held connections: see tests/vectors/coordinator/connections.json."""

from kafkalearn.coordinator.places import FIND_COORDINATOR, PRODUCER, connections
from kafkalearn.coordinator.rule import find_coordinator
from tests.every import every_case
from tests.recorded import recorded

BROKERS = 3
FEW = 8
"""As many requests at most go to whom a client has only asked for metadata, a coordinator, a producer id."""

CASES = [
    case
    for case in recorded("connections")["cases"]
    if find_coordinator(case["name"], brokers=BROKERS).broker_id == case["coordinator"]
]
"""The groups whose coordinator is the one of an undisturbed cluster, which the rule is about."""


@every_case("case", CASES, ids=lambda case: case["name"])
def test_every_client_is_connected_to_those_and_to_one_that_it_has_asked_for_them(case):
    ours = connections(case["name"], case["leaders"], case["members"], brokers=BROKERS)
    for client, by_node in case["requests"].items():
        held = {
            f"+{each.broker_id}" if each.found_by == FIND_COORDINATOR else str(each.broker_id)
            for each in ours
            if each.client == (PRODUCER if client == "producer" else client)
        }
        others = by_node.keys() - held
        assert held <= by_node.keys(), client
        assert sum(not node.startswith("-") for node in others) <= 1, client
        assert all(by_node[node] <= FEW for node in others), client


def test_there_are_groups_of_each_coordinator():
    assert {case["coordinator"] for case in CASES} == {1, 2, 3}
