"""What a transaction may keep for ever: each promise of progress kept where brokers verify, and broken once."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.transactions import model, search
from kafkalearn.transactions.client import Sent, Settings

TWO_RECORDS = {**search.A_RECORD, Sent: 2}


def stuck(cluster, events=search.WITH_A_FAILOVER, promise=search.READ_ON):
    return search.find_stuck(Settings(cluster), events, promise, at_most=TWO_RECORDS)


@pytest.mark.parametrize("promise", search.PROGRESS)
@pytest.mark.parametrize("events", [search.WITH_A_TIMER, search.WITH_A_FAILOVER], ids=["timer", "failover"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_where_brokers_verify_all_ends(version, events, promise):
    assert stuck(model.Settings(transaction_version=version), events, promise).outcome == "nothing left"


@pytest.mark.parametrize("version", [0, 1])
def test_where_they_do_not_a_transaction_hangs(version):
    found = stuck(model.Settings(transaction_version=version, verification=False))
    partition = found.trace[-1].state.cluster.partitions[0]

    assert found.is_dead_end
    assert partition.last_stable_offset < partition.end_offset
    assert not any(each.is_open for each in found.trace[-1].state.cluster.transactions)


def test_a_marker_that_is_refused_for_good_keeps_its_id_by_one_named_failure():
    found = stuck(model.Settings(defects=("KAFKA-19999",)), promise=search.DECIDED_ENDS)

    assert [type(frame.event).__name__ for frame in found.trace[-2:]] == ["CoordinatorLoaded", "MarkerArrived"]
    assert found.trace[-1].state.cluster.transactions[0].is_refused


def test_what_is_not_there_is_refused():
    with pytest.raises(KafkaLearnError, match="no hope"):
        stuck(model.Settings(), promise="no hope")
