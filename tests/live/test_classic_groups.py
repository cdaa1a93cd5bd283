"""The classic coordinator, held to a real broker: the same requests, drawn at random, to both."""

from __future__ import annotations

import pytest

from kafkalearn.live import Kafka
from kafkalearn.live.conform.mechanisms.groups import CLASSIC
from tests.live.checked import holds
from tests.live.groups import differences

pytestmark = pytest.mark.live

AT_ONCE = 4


@pytest.fixture(scope="module")
def broker(release):
    with Kafka(release=release, **CLASSIC.settings) as running:
        yield running


@holds(*CLASSIC.rules)
@pytest.mark.parametrize("seed", [100, 200])
def test_random_requests_to_a_classic_group_are_answered_as_we_answer(broker, new_name, seed):
    assert differences(CLASSIC, broker, new_name, seed, count=12, at_once=AT_ONCE) == []
