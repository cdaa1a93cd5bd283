"""Random requests about share groups that brokers were asked, asked of the simulator again; without a broker."""

from copy import deepcopy

from conformance.mechanisms.share_groups import SHARE_GROUPS
from conformance.search import compare
from tests.recorded import recorded

CASES = recorded("share-cases")["cases"]


def difference(each, broker=None):
    return compare(SHARE_GROUPS, each["release"].rpartition(".")[0], each["case"], broker or each["broker"])


def test_the_comparison_sees_a_changed_answer_observation_and_record():
    (each,) = (one for one in CASES if one is CASES[-1])
    for change in (
        lambda answer, now: answer.update(error="UNKNOWN_SERVER_ERROR"),
        lambda answer, now: now.update({"offsets g1": {"t-0": [0, 0, -5]}}),
        lambda answer, now: now.setdefault("wrote __share_group_state", []).append({}),
    ):
        changed = deepcopy(each["broker"])
        change(*changed["steps"][0])
        assert difference(each, changed) is not None


def test_another_release_answers_otherwise():
    newest = [each for each in CASES if each["release"] == "4.4.0"]
    assert all(compare(SHARE_GROUPS, "4.2", each["case"], each["broker"]) is not None for each in newest)
