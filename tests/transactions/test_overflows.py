"""Epochs that run out: histories with 32,765 epochs of one id, on real brokers and in the simulator."""

import pytest

from tests.every import every_case
from tests.recorded import recorded
from tests.transactions.histories import differences, histories

OVERFLOWS = [each for each in recorded("transaction-histories")["names"] if each.startswith("overflow")]


@pytest.mark.long
@every_case("name", OVERFLOWS)
def test_an_id_goes_on_under_a_new_producer_id_as_the_broker_s_did(name):
    assert differences(histories()[name]) == []
