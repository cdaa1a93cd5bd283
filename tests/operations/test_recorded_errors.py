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


SAME_REQUEST = {"JoinGroup": REJOINS}
"""To join again and to ask the same broker again are one for who was joining."""


@pytest.mark.parametrize("case", [case for case in CASES if case["error"] in THEN], ids=lambda case: case["name"])
def test_a_client_makes_of_an_error_what_a_real_one_does(case):
    expected = THEN[case["error"]]
    assert made_of(case) == (WAITS if SAME_REQUEST.get(case["api"]) == expected else expected)
