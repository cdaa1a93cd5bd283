"""Cases of `make conform` that were told by hand to brokers of three releases, asked of the simulator again."""

from copy import deepcopy

import pytest

from conformance.mechanisms import MECHANISMS
from conformance.search import compare
from tests.recorded import recorded

CASES = recorded("told-cases")["cases"]


def difference(each):
    line = each["release"].rpartition(".")[0]
    return compare(MECHANISMS[each["mechanism"]], line, each["case"], each["seen"])


@pytest.mark.parametrize("each", CASES, ids=lambda each: f"{each['release']}, {each['name']}")
def test_members_topic_ids_timers_and_ids_that_expire_are_as_each_broker_had_them(each):
    assert difference(each) is None


def test_the_comparison_sees_another_answer_and_another_release():
    (late,) = (each for each in CASES if each["name"].startswith("TxnOffsetCommit 6"))
    changed = deepcopy(late)
    step = next(found for found, _ in changed["seen"]["steps"] if "STALE_MEMBER_EPOCH" in str(found))
    step["partitions"] = dict.fromkeys(step["partitions"], "ILLEGAL_GENERATION")
    assert difference(changed) is not None
    member = next(
        each for each in CASES if each["name"] == "a member of KIP-848 commits" and each["release"] == "4.4.0"
    )
    assert difference({**member, "release": "4.0.2"}) is not None  # its first member epoch is another
