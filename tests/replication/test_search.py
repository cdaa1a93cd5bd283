"""What a search finds by itself: the losses of Kafka's history, and nothing once the rule was corrected."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.promises import Since
from kafkalearn.base.search import explore, survey
from kafkalearn.base.trace import Parts
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    LOGS_AGREE,
    SURVIVE_CLEAN,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    ElectLeaders,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    LeaderImbalanceChecked,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    broken,
    find,
    on_every_broker,
    start,
    step,
)
from kafkalearn.replication.search import (
    ABOUT_ANSWERS,
    NORMALISER,
    alphabet,
    model,
    process_in_normal_form,
    split,
)
from kafkalearn.replication.simulator import INVARIANTS, PROGRESS, PROMISES
from tests.base.plain_search import after, assert_names_do_not_matter, assert_steps_as_the_simulator
from tests.replication.schedules import CARELESS, OPERATIONS, may_happen, sensible, settings

FAILOVER = [Fetch, BrokerCrashed, BrokerStarted, SessionExpired]
LAG = [TimePassed(30_001), IsrChecked, AlterPartitionAnswered]


STATEMENTS = {**INVARIANTS, **PROMISES, **PROGRESS}
WITHOUT_ANSWERS = [
    name for name, each in STATEMENTS.items() if name not in ABOUT_ANSWERS and not isinstance(each, Since)
]


def searched(replica_count: int, release: str = "4.3", is_unclean: bool = False, **options) -> Settings:
    options = {"is_unclean_election_enabled": is_unclean, "fetch_wait_max_ms": 0, **options}
    return Settings(replica_count, release, **options)


def events_of(found) -> list[str]:
    return [type(frame.event).__name__ for frame in found.trace[1:]]


@pytest.mark.parametrize(("release", "is_unclean"), [("0.10.2", False), ("1.1", True), ("4.3", False)])
def test_what_producers_were_answered_changes_nothing_else(release, is_unclean):
    topic = searched(2, release, is_unclean)
    events = alphabet(topic, Produce(), Produce(acks=1), *FAILOVER, *LAG)
    silent = model(topic, WITHOUT_ANSWERS)
    told = replace(
        silent,
        split=partial(split, silent.settings),
        happen=partial(process_in_normal_form, silent.settings, NORMALISER),
    )
    limits = {Produce: 2, BrokerCrashed: 2, TimePassed: 1}
    quick, full = (survey(each, start(topic), events, depth=7, at_most=limits) for each in (silent, told))

    assert quick.traces == full.traces
    assert quick.state_count < 0.6 * full.state_count


@pytest.mark.parametrize("release", ["0.8.2", "0.10.2"])
def test_the_old_rule_loses_a_record_that_was_acknowledged_by_all(release):
    settings = searched(2, release)
    found = find(settings, [Produce(), *FAILOVER], (SURVIVE_CLEAN,), at_most={Produce: 2, BrokerCrashed: 2})

    assert (found.outcome, found.broken) == ("found", (SURVIVE_CLEAN,))
    assert events_of(found)[:6] == ["Produce", "Fetch", "Fetch", "BrokerCrashed", "BrokerCrashed", "BrokerStarted"]
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


@pytest.mark.parametrize(
    ("release", "outcome"),
    [("1.1", "found"), ("2.0.0", "nothing left"), ("2.0", "nothing left"), ("2.8", "nothing left")],
)
def test_the_first_epoch_rule_still_let_logs_differ_after_two_quick_failovers(release, outcome):
    limits = {Produce: 3, BrokerCrashed: 2}  # up to 2.0.0 a leader notes its epoch with a record: the third
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
    kinds = [Produce(), Fetch, BrokerStopped, PowerLost, BrokerStarted, SessionExpired]
    settings = searched(2, min_insync_replicas=min_isr)
    assert find(settings, kinds, (ACKNOWLEDGED_SURVIVE,), at_most=ONE_POWER_LOSS).outcome == outcome


@pytest.mark.parametrize(("has_elr", "outcome"), [(False, "found"), (True, "nothing left")])
def test_eligible_leader_replicas_end_the_loss_of_the_last_replica_standing(has_elr, outcome):
    kinds = [Produce(), Fetch, BrokerStopped, PowerLost, BrokerStarted, SessionExpired]
    settings = searched(3, min_insync_replicas=2, has_eligible_leader_replicas=has_elr)
    limits = {Produce: 1, BrokerStopped: 2, PowerLost: 1}
    assert find(settings, kinds, (ACKNOWLEDGED_SURVIVE,), at_most=limits).outcome == outcome


def test_a_leader_that_stood_still_loses_nothing_that_all_have_acknowledged():
    kinds = [Produce(), Fetch, BrokerFrozen, BrokerThawed, BrokerReconnected, SessionExpired, *LAG]
    limits = {Produce: 1, BrokerFrozen: 2, TimePassed: 1}
    assert find(searched(2), kinds, (ACKNOWLEDGED_SURVIVE,), at_most=limits).outcome == "nothing left"


def crashed_in(search):
    return [frame.event for frame in search.trace[1:] if isinstance(frame.event, BrokerCrashed)]


def test_an_event_with_a_broker_stands_for_itself_and_on_every_broker_for_all():
    three = searched(3)
    assert alphabet(three, BrokerCrashed(2)) == (BrokerCrashed(2),)
    assert alphabet(three, BrokerCrashed) == alphabet(three, on_every_broker(BrokerCrashed(2)))
    assert alphabet(three, on_every_broker(PowerLost(1, 5))) == tuple(PowerLost(each, 5) for each in (1, 2, 3))
    assert alphabet(three, IsrChecked(2), Produce(acks=1)) == (IsrChecked(2), Produce(acks=1))


def test_a_successor_that_is_not_named_is_any():
    every = [(each.broker_id, each.successor) for each in alphabet(searched(3), SessionExpired(1))]
    assert every == [(1, None), (1, 2), (1, 3)]
    assert alphabet(searched(3), SessionExpired(1, 3)) == (SessionExpired(1, 3),)
    assert len(alphabet(searched(3), on_every_broker(SessionExpired(1)))) == 9


@pytest.mark.parametrize("follower", [2, 3])
def test_only_the_broker_that_is_named_crashes(follower):
    kinds = [Produce(acks=1), BrokerCrashed(follower), SessionExpired(follower), Fetch]
    assert find(searched(3), kinds, (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 1}).outcome == "nothing left"
    leader = [Produce(acks=1), BrokerCrashed(1), SessionExpired(1), Fetch]
    found = find(searched(3), leader, (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 1})
    assert crashed_in(found) == [BrokerCrashed(1)]
    everyone = [Produce(acks=1), on_every_broker(BrokerCrashed(2)), SessionExpired, Fetch]
    assert crashed_in(find(searched(3), everyone, (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 1})) == [BrokerCrashed(1)]


def test_brokers_that_are_named_apart_are_not_relabelled():
    chosen, promises = searched(3), (ACKNOWLEDGED_SURVIVE,)
    kinds = [Produce(acks=1), Fetch, BrokerCrashed(2), BrokerStarted(2), SessionExpired(2)]
    events = alphabet(chosen, *kinds)
    limits = {"at_most": {Produce: 1, BrokerCrashed: 1}}
    found = find(chosen, kinds, promises, **limits)
    unnamed = explore(replace(model(chosen, promises), relabellings=()), start(chosen), events, **limits)
    assert found.outcome == unnamed.outcome == "nothing left"
    usable = [each for each in model(chosen).relabellings if set(map(each.event, events)) == set(events)]
    assert [each.event(BrokerCrashed(2)) for each in usable] == [BrokerCrashed(2)]  # 1 and 3 may be exchanged
    apart = alphabet(chosen, *kinds, BrokerFrozen(3))
    assert not [each for each in model(chosen).relabellings if set(map(each.event, apart)) == set(apart)]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (BrokerCrashed(4), "there is no broker 4; there are 1 to 3"),
        (SessionExpired(1, 9), "there is no broker 9"),
        (Produce(to_broker=7), "there is no broker 7"),
        ("crash", "'crash' is neither a class of events nor an event"),
    ],
)
def test_what_can_never_happen_is_refused(kind, message):
    with pytest.raises(KafkaLearnError, match=message):
        find(searched(3), [kind])


@pytest.mark.parametrize(
    ("event", "message"),
    [(BrokerCrashed, "the class BrokerCrashed stands for every broker already"), (Produce(), "names no broker")],
)
def test_on_every_broker_takes_an_event_with_a_broker(event, message):
    with pytest.raises(KafkaLearnError, match=message):
        on_every_broker(event)


@st.composite
def steps_in_a_search(draw):
    """Settings without an order of election, a state they lead to, and one event more."""
    chosen = replace(draw(settings(may_be_unclean=True, most_spare=1)), assignment=())
    events = alphabet(chosen, *(each for each in [*CARELESS, *OPERATIONS] if may_happen(chosen, each)))
    partition = start(chosen)
    for event in sensible(chosen, draw(st.lists(st.sampled_from(events), max_size=40))):
        partition = step(chosen, partition, event)
    return chosen, partition, draw(st.sampled_from(events))


@given(steps_in_a_search())
def test_a_step_of_a_search_is_the_simulator_s_step(drawn):
    chosen, partition, event = drawn
    for asked in (PROMISES, WITHOUT_ANSWERS):
        assert_steps_as_the_simulator(model(chosen, asked), partial(step, chosen), partition, event)


@given(steps_in_a_search())
def test_what_is_left_out_is_looked_at_by_no_statement_that_is_asked(drawn):
    chosen, partition, _ = drawn
    everything, silent = model(chosen, [*WITHOUT_ANSWERS, *ABOUT_ANSWERS]), model(chosen, WITHOUT_ANSWERS)
    full, left = (Parts(each.split(partition)) for each in (everything, silent))
    kept = [(name, holds(full)) for name, holds in everything.promises if name not in ABOUT_ANSWERS]
    assert [(name, holds(left)) for name, holds in silent.promises] == kept


def test_a_state_in_the_middle_of_a_run_has_the_form_that_the_search_keeps():
    chosen = replace(searched(2), assignment=())
    kept = model(chosen)
    assert kept.split(step(chosen, start(chosen), Fetch(2))) == after(kept, kept.split(start(chosen)), Fetch(2))


@given(steps_in_a_search())
def test_brokers_under_other_names_do_the_same(drawn):
    chosen, partition, event = drawn
    assert_names_do_not_matter(model(chosen), partition, event)


@pytest.mark.parametrize("event", [ElectLeaders(), LeaderImbalanceChecked()])
def test_each_replica_may_be_the_preferred_one_of_a_search(event):
    """Without an order of the replicas, the first of them is a name, and names are not to matter."""
    assert alphabet(searched(2), event) == (replace(event, successor=1), replace(event, successor=2))
    assert alphabet(searched(2), ElectLeaders("unclean"))[0].successor is None


def test_an_unknown_promise_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown promise 'no loss'"):
        find(searched(2), [Produce()], ("no loss",))
