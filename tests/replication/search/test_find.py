"""What a search finds by itself: the losses of Kafka's history, and nothing once the rule was corrected."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.errors import KafkaLearnError
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    LOGS_AGREE,
    SURVIVE_CLEAN,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    broken,
    find,
    start,
    step,
)
from kafkalearn.replication.search.find import alphabet, model
from tests.explore.search_steps import assert_names_do_not_matter, assert_steps_as_the_simulator
from tests.replication.schedules import CARELESS, sensible, settings

FAILOVER = [Fetch, BrokerCrashed, BrokerRestarted, SessionExpired]
LAG = [TimePassed(30_001), IsrChecked, AlterPartitionAnswered]


def searched(replica_count: int, release: str = "4.3", is_unclean: bool = False, **options) -> Settings:
    options = {"is_unclean_election_enabled": is_unclean, "fetch_wait_max_ms": 0, **options}
    return Settings(replica_count, release, **options)


def events_of(found) -> list[str]:
    return [type(frame.event).__name__ for frame in found.trace[1:]]


@pytest.mark.parametrize("release", ["0.8.2", "0.10.2"])
def test_the_old_rule_loses_a_record_that_was_acknowledged_by_all(release):
    settings = searched(2, release)
    found = find(settings, [Produce(), *FAILOVER], (SURVIVE_CLEAN,), at_most={Produce: 2, BrokerCrashed: 2})

    assert (found.outcome, found.broken) == ("found", (SURVIVE_CLEAN,))
    assert events_of(found)[:6] == ["Produce", "Fetch", "Fetch", "BrokerCrashed", "BrokerCrashed", "BrokerRestarted"]
    assert found.depth == 7  # the last: the controller notices that broker 1 was gone
    assert ACKNOWLEDGED_SURVIVE in broken(settings, found.trace[-1].state)


@pytest.mark.parametrize("release", ["0.11.0", "1.1", "2.0", "2.8", "3.7", "4.3"])
def test_with_leader_epochs_there_is_no_such_schedule(release):
    kinds = [Produce(), *FAILOVER]
    found = find(searched(2, release), kinds, (SURVIVE_CLEAN,), at_most={Produce: 2, BrokerCrashed: 2})
    assert (found.outcome, found.trace, found.broken) == ("nothing left", None, ())


@pytest.mark.parametrize(
    ("release", "outcome"), [("0.10.2", "found"), ("0.11.0", "nothing left"), ("4.3", "nothing left")]
)
def test_the_old_rule_lets_logs_differ_for_good(release, outcome):
    kinds = [Produce(), *FAILOVER, HighWatermarkCheckpointed]
    limits = {Produce: 2, BrokerCrashed: 2 if outcome == "nothing left" else 3}
    assert find(searched(2, release), kinds, (LOGS_AGREE,), at_most=limits).outcome == outcome


@pytest.mark.parametrize(("release", "outcome"), [("1.1", "found"), ("2.0", "nothing left"), ("2.8", "nothing left")])
def test_the_first_epoch_rule_still_let_logs_differ_after_two_quick_failovers(release, outcome):
    limits = {Produce: 2, BrokerCrashed: 2}
    found = find(searched(2, release, True), [Produce(acks=1), *FAILOVER], (LOGS_AGREE,), at_most=limits)
    assert found.outcome == outcome


def test_acks_1_loses_a_record_with_the_leader():
    kinds = [Produce(acks=1), Fetch, BrokerCrashed, SessionExpired]
    found = find(searched(3), kinds, (ACKNOWLEDGED_SURVIVE,))
    assert events_of(found) == ["Produce", "BrokerCrashed", "SessionExpired"]


def test_an_unclean_election_loses_a_record_that_all_had_acknowledged():
    kinds, limits = [Produce(), *FAILOVER], {Produce: 1, BrokerCrashed: 2}
    lost = find(searched(2, is_unclean=True), kinds, (ACKNOWLEDGED_SURVIVE,), at_most=limits)
    kept = find(searched(2), kinds, (ACKNOWLEDGED_SURVIVE,), at_most=limits)

    assert (lost.outcome, kept.outcome) == ("found", "nothing left")
    assert lost.trace[-1].state.ledger.unclean_election_count == 1


ONE_POWER_LOSS = {Produce: 1, BrokerStopped: 1, PowerLost: 1}


@pytest.mark.parametrize(("min_isr", "outcome"), [(1, "found"), (2, "nothing left")])
def test_with_a_minimum_isr_of_one_a_single_power_loss_is_enough(min_isr, outcome):
    kinds = [Produce(), Fetch, BrokerStopped, PowerLost, BrokerRestarted, SessionExpired]
    settings = searched(2, min_insync_replicas=min_isr)
    assert find(settings, kinds, (ACKNOWLEDGED_SURVIVE,), at_most=ONE_POWER_LOSS).outcome == outcome


@pytest.mark.parametrize(("has_elr", "outcome"), [(False, "found"), (True, "nothing left")])
def test_eligible_leader_replicas_end_the_loss_of_the_last_replica_standing(has_elr, outcome):
    kinds = [Produce(), Fetch, BrokerStopped, PowerLost, BrokerRestarted, SessionExpired]
    settings = searched(3, min_insync_replicas=2, has_eligible_leader_replicas=has_elr)
    limits = {Produce: 1, BrokerStopped: 2, PowerLost: 1}
    assert find(settings, kinds, (ACKNOWLEDGED_SURVIVE,), at_most=limits).outcome == outcome


def test_a_leader_that_stood_still_loses_nothing_that_all_have_acknowledged():
    kinds = [Produce(), Fetch, BrokerFrozen, BrokerThawed, BrokerReconnected, SessionExpired, *LAG]
    limits = {Produce: 1, BrokerFrozen: 2, TimePassed: 1}
    assert find(searched(2), kinds, (ACKNOWLEDGED_SURVIVE,), at_most=limits).outcome == "nothing left"


@st.composite
def steps_in_a_search(draw):
    """Settings without an order of election, a state they lead to, and one event more."""
    chosen = replace(draw(settings(may_be_unclean=True)), assignment=())
    events = alphabet(chosen, *CARELESS)
    partition = start(chosen)
    for event in sensible(chosen, draw(st.lists(st.sampled_from(events), max_size=40))):
        partition = step(chosen, partition, event)
    return chosen, partition, draw(st.sampled_from(events))


@given(steps_in_a_search())
def test_a_step_of_a_search_is_the_simulator_s_step(drawn):
    chosen, partition, event = drawn
    assert_steps_as_the_simulator(model(chosen), partial(step, chosen), partition, event)


@given(steps_in_a_search())
def test_brokers_under_other_names_do_the_same(drawn):
    chosen, partition, event = drawn
    assert_names_do_not_matter(model(chosen), partition, event)


def test_an_unknown_promise_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown promise 'no loss'"):
        find(searched(2), [Produce()], ("no loss",))
