"""What a search remembers makes it quick and changes nothing: the plain search finds the same states and runs."""

from dataclasses import replace

import pytest

from kafkalearn import delivery, replication
from kafkalearn.base.search import explore
from kafkalearn.base.trace import Parts
from kafkalearn.delivery import search as delivery_search
from kafkalearn.replication.search import alphabet, model
from kafkalearn.replication.simulator import IN_ORDER
from tests.explore.plain_search import plain_search
from tests.explore.search_steps import after

FAILOVER = (
    replication.Fetch,
    replication.BrokerCrashed,
    replication.BrokerRestarted,
    replication.SessionExpired,
    replication.HighWatermarkCheckpointed,
)
LAG = (replication.TimePassed(30_001), replication.IsrChecked, replication.AlterPartitionAnswered)
LIMITS = {replication.Produce: 2, replication.BrokerCrashed: 2, replication.TimePassed: 2}


def assert_same(searched, initial, events, depth, at_most):
    """Both searches, with names told apart and not."""
    for each in (searched, replace(searched, relabellings=())):
        quick = explore(each, initial, events, depth=depth, at_most=at_most)
        plain = plain_search(each, initial, events, depth, at_most)
        assert (quick.depth, quick.state_count, quick.broken) == (plain.depth, plain.state_count, plain.broken)
        assert (quick.trace is None) == (plain.broken == ())
        if quick.trace is not None:
            assert len(quick.trace) == plain.depth + 1
            parts = each.split(initial)
            for frame in quick.trace[1:]:
                parts = after(each, parts, frame.event)
            assert {name for name, holds in each.promises if not holds(Parts(parts))} == {*plain.broken}


@pytest.mark.parametrize("release", ["0.10.2", "1.1", "2.4", "4.3"])
@pytest.mark.parametrize("acks", [1, "all"])
def test_of_two_replicas_under_the_rules_of_every_era(release, acks):
    settings = replication.Settings(2, release, fetch_wait_max_ms=0)
    events = alphabet(settings, replication.Produce(acks=acks), *FAILOVER, *LAG)
    assert_same(model(settings), replication.start(settings), events, 5 if release == "0.10.2" else 4, LIMITS)


@pytest.mark.parametrize("wait_ms", [0, 500])
def test_of_three_replicas_whose_fetches_wait_or_do_not(wait_ms):
    settings = replication.Settings(3, min_insync_replicas=2, fetch_wait_max_ms=wait_ms)
    events = alphabet(settings, replication.Produce(), *FAILOVER, *LAG)
    assert_same(model(settings, (IN_ORDER,)), replication.start(settings), events, 3, LIMITS)


def test_of_a_producer_that_sends_again():
    settings = delivery.Settings(replication.Settings(2, fetch_wait_max_ms=0), delivery.ProducerSettings(acks=1))
    kinds = (delivery.Send, delivery.RequestSent, delivery.RequestArrived, delivery.ConnectionLost)
    events = alphabet(settings.topic, *kinds, *FAILOVER)
    limits = {delivery.Send: 2, replication.BrokerCrashed: 1}
    searched = delivery_search.model(settings, (delivery.NONE_DOUBLED,))
    assert_same(searched, delivery.start(settings), events, 5, limits)
