"""The coordinator of KIP-848, held to a real broker: the same requests, drawn at random, to both."""

from __future__ import annotations

import pytest

from kafkalearn.live import Kafka
from kafkalearn.live.conform.mechanisms.groups import CONSUMER
from tests.live.checked import holds
from tests.live.groups import differences

pytestmark = pytest.mark.live

AT_ONCE = 2


@pytest.fixture(scope="module")
def broker(release):
    with Kafka(release=release, **CONSUMER.settings) as running:
        yield running


@holds(*CONSUMER.rules, "who gets which partition")
@pytest.mark.parametrize("seed", [100, 200])
def test_random_requests_to_a_consumer_group_are_answered_as_we_answer(broker, new_name, seed):
    assert differences(CONSUMER, broker, new_name, seed, count=10, at_once=AT_ONCE) == []
