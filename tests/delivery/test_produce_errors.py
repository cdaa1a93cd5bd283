"""The errors of a produce request: names, classes and kinds as every released client has them."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery import ProducerSettings, RequestArrived, Send, Settings, TopicSettings, simulate
from kafkalearn.delivery.client import RETRIABLE
from kafkalearn.delivery.model import AnswerArrived, BatchWillBeRetried, CallbackInvoked
from kafkalearn.delivery.produce_errors import produce_error, produce_errors
from kafkalearn.replication import BrokerCrashed, SessionExpired
from tests.every import every_case
from tests.recorded import recorded


@every_case("release", recorded("produce-errors")["releases"])
def test_every_error_is_what_the_released_client_has(release):
    of_protocol = {each.code: each for each in produce_errors(release) if each.code is not None}
    known = {int(code): values for code, values in recorded("produce-errors")["releases"][release]["errors"].items()}

    assert {code: [each.name, each.exception, each.is_retriable] for code, each in of_protocol.items()} == {
        code: values[:3] for code, values in known.items()
    }


def test_the_simulator_tries_again_after_the_retriable_errors_and_no_others():
    assert {each.name for each in produce_errors() if each.is_retriable and each.code is not None} == RETRIABLE


@pytest.mark.parametrize(("retries", "effect"), [(0, CallbackInvoked), (None, BatchWillBeRetried)])
def test_a_retriable_error_reaches_the_callback_only_when_no_retry_is_left(retries, effect):
    topic = TopicSettings(2, min_insync_replicas=2, fetch_wait_max_ms=0)
    events = [BrokerCrashed(2), SessionExpired(2), Send(), RequestArrived(), AnswerArrived()]
    end = simulate(Settings(topic, ProducerSettings("all", retries=retries)), events)[-1].state

    assert [each.error for each in end.effects if isinstance(each, effect)] == ["NOT_ENOUGH_REPLICAS"]
    assert produce_error("NOT_ENOUGH_REPLICAS").written == "no"
    assert end.partition.leader.log.records == ()


def test_an_unknown_error_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown error 'NOT_LEADER_FOR_PARTITION'"):
        produce_error("NOT_LEADER_FOR_PARTITION")
    assert produce_error("NOT_LEADER_FOR_PARTITION", "2.5").is_retriable
