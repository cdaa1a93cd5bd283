"""Epochs that run out: histories with 32,765 epochs of one id, on real brokers and in the simulator."""

from dataclasses import replace

import pytest

from kafkalearn.transactions import EndTxn, InitProducerId, Produce, Settings, start, step
from kafkalearn.transactions.model import Transaction
from kafkalearn.transactions.simulator import settled
from tests.every import every_case
from tests.recorded import recorded
from tests.transactions.histories import differences, histories

OVERFLOWS = [each for each in recorded("transaction-histories")["names"] if each.startswith("overflow")]


@pytest.mark.long
@every_case("name", OVERFLOWS)
def test_an_id_goes_on_under_a_new_producer_id_as_the_broker_s_did(name):
    assert differences(histories()[name]) == []


REQUESTS = {
    "Produce": Produce("x1", "t-0", 0, 32766, 0),
    "InitProducerId": InitProducerId("x1"),
    "late EndTxn": EndTxn("x1", 0, 32766, commit=False),
    "late InitProducerId": InitProducerId("x1", 5, 60_000, 0, 32766),
    "late Produce": Produce("x1", "t-0", 0, 32766, 1),
}


def test_at_the_last_epoch_each_release_fences_as_its_broker_did():
    for release, steps in recorded("last-epoch")["releases"].items():
        settings = Settings(release.rpartition(".")[0])
        held = Transaction("x1", 0, epoch=32766, previous_producer_id=0)
        state = replace(start(settings).with_transaction(held), next_producer_id=1)
        for request, error, described in steps:
            state = settled(settings, step(settings, state, REQUESTS[request]))
            held = state.transaction("x1")
            assert (release, request, state.effects[0].error) == (release, request, error)
            assert [held.status, held.producer_id, held.epoch] == described
