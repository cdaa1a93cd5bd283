"""What real consumers did about each error of their coordinator: see tests/vectors/operations/heard-errors.json."""

import pytest

from kafkalearn.operations.failover import LOOKS, REJOINS, THEN, WAITS
from tests.recorded import recorded

CASES = recorded("heard-errors")["cases"]


def made_of(case):
    """What the requests after an error show: the first that is about the group."""
    then = case["then"]
    if not then:
        return "nothing"
    match then[0]:
        case ["FindCoordinator"]:
            return LOOKS
        case ["JoinGroup"] if case["api"] != "JoinGroup":
            return REJOINS
        case ["ConsumerGroupHeartbeat", 0]:
            return REJOINS
        case [api, *_] if api == case["api"]:
            return WAITS
    return then[0][0]


@pytest.mark.parametrize("case", [case for case in CASES if case["error"] in THEN], ids=lambda case: case["name"])
def test_a_client_makes_of_an_error_what_a_real_one_does(case):
    assert made_of(case) == THEN[case["error"]]
