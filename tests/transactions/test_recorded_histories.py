"""Real brokers and the simulator: the same requests, the same answers, observations and logs."""

import copy

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.transactions.history import replay
from tests.recorded import recorded
from tests.transactions.histories import differences, histories


def test_every_answer_observation_and_log_is_what_the_broker_gave():
    """But for those that take seconds each, which `test_overflows` has."""
    names = [each for each in recorded("transaction-histories")["names"] if not each.startswith("overflow")]
    assert len(names) == 276
    found = {name: differences(histories()[name]) for name in names}
    assert {name: each for name, each in found.items() if each} == {}


def test_a_restart_changes_what_it_changed_for_the_broker():
    """A stuck id is free again, a producer's older batches are no longer known, what waited waits still."""
    assert {each["name"]: differences(each) for each in recorded("restart-histories")["histories"]} == {
        each["name"]: [] for each in recorded("restart-histories")["histories"]
    }


def test_the_comparison_sees_one_changed_answer_observation_and_log():
    history = histories()["end_retried tv2"]
    for change in (
        lambda each: each["steps"][3]["a"].update(epoch=7),
        lambda each: each["steps"][2]["now"].pop("txn x1"),
        lambda each: each["logs"]["t-0"].pop(),
        lambda each: each["logs"]["__transaction_state"][1].update(clientTransactionVersion=1),
    ):
        changed = copy.deepcopy(history)
        change(changed)
        assert differences(changed) != []


def test_a_history_without_its_release_is_refused():
    history = {key: value for key, value in histories()["end_retried tv2"].items() if key != "kafka"}
    with pytest.raises(KafkaLearnError, match="a history has kafka, and this one has not"):
        replay(history)


def test_a_step_that_nobody_knows_is_refused():
    history = copy.deepcopy(histories()["end_retried tv2"])
    history["steps"][0]["do"] = "EndTransaction"
    with pytest.raises(KafkaLearnError, match="EndTransaction"):
        replay(history)
