"""Both kinds of groups, held to a real broker: random requests, what they are answered and what is written of them."""

from dataclasses import replace

import pytest

from conformance.mechanisms.classic_groups import CLASSIC
from conformance.mechanisms.consumer_groups import CONSUMER
from conformance.mechanisms.group_records import RECORDS
from kafkalearn.live import Kafka
from tests.live.checked import holds
from tests.live.groups import differences

pytestmark = pytest.mark.live

COUNT, AT_ONCE = 12, 3


@pytest.fixture(scope="module")
def broker(release):
    with Kafka(release=release, **RECORDS.settings) as running:
        yield running


def of_kind(kind):
    """The mechanism of the records, whose cases have both kinds of groups, with those of one."""
    return replace(RECORDS, cases=lambda line: RECORDS.cases(line).filter(lambda case: case["kind"] == kind))


@holds(*CLASSIC.rules, *RECORDS.rules)
def test_a_classic_group_answers_and_writes_what_we_answer_and_write(broker, new_name):
    assert differences(of_kind("classic"), broker, new_name, 100, COUNT, AT_ONCE) == []


@holds(*CONSUMER.rules, *RECORDS.rules, "who gets which partition")
def test_a_consumer_group_answers_and_writes_what_we_answer_and_write(broker, new_name):
    assert differences(of_kind("consumer"), broker, new_name, 100, COUNT, AT_ONCE) == []
