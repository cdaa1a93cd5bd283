"""What holds in every schedule of a producer and its partition, and in every step of a search."""

from functools import partial
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.delivery import (
    NONE_DOUBLED,
    NONE_LOST,
    ORDER_KEPT,
    AnswerArrived,
    ConnectionLost,
    GaveUp,
    LateAnswerArrived,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    TopicSettings,
    broken,
    check,
    record_results,
    start,
    step,
)
from kafkalearn.delivery.search import model
from kafkalearn.delivery.simulator import result_of
from kafkalearn.log.sequences import Stamp, judge, remember
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    Fetch,
    IsrChecked,
    PowerLost,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.search import alphabet
from tests.base.plain_search import assert_names_do_not_matter, assert_steps_as_the_simulator
from tests.schedules import sensible_run

TRAFFIC = [Send, Send(record_count=2), RequestSent, RequestArrived, RequestArrived, AnswerArrived, AnswerArrived]
BROKERS = [Fetch, Fetch, IsrChecked, AlterPartitionAnswered, TimePassed(500), TimePassed(31_000)]
FAILURES = [ConnectionLost, BrokerCrashed, BrokerStopped, BrokerStarted, BrokerStarted, SessionExpired]
PAUSES = [BrokerFrozen, BrokerThawed, BrokerReconnected]
CAREFUL = [*TRAFFIC, *BROKERS, *FAILURES, *PAUSES]
CARELESS = [*CAREFUL, PowerLost, GaveUp, LateAnswerArrived, SendAgain]

PRODUCERS = [
    ProducerSettings(acks=0),
    ProducerSettings(acks=1),
    ProducerSettings(acks=1, retries=1, max_in_flight=1),
    ProducerSettings(is_idempotent=False),
    ProducerSettings(),
    ProducerSettings(puts_failures_aside=True),
    ProducerSettings(acks=1, retries=0, puts_failures_aside=True),
]


@st.composite
def runs(draw, producers=PRODUCERS, kinds=CARELESS, unclean=(False, True), min_isr=(1, 2)):
    """Settings, and every state of a run through a schedule from which what made no sense was left out."""
    topic = TopicSettings(
        draw(st.integers(1, 3)),
        min_insync_replicas=draw(st.sampled_from(min_isr)),
        is_unclean_election_enabled=draw(st.sampled_from(unclean)),
        fetch_wait_max_ms=0,
    )
    settings = Settings(topic, draw(st.sampled_from(producers)))
    schedule = draw(st.lists(st.sampled_from(alphabet(topic, *kinds)), max_size=60))
    return settings, [frame.state for frame in sensible_run(step, settings, start(settings), schedule)]


@given(runs())
def test_the_invariants_hold_whatever_happens(run):
    settings, states = run
    for before, delivery in zip([None, *states], states, strict=False):
        check(settings, delivery, before)


@given(runs([ProducerSettings()], CAREFUL, [False]))
def test_the_default_producer_loses_doubles_and_reorders_nothing_while_disks_last_and_elections_are_clean(run):
    settings, states = run
    for delivery in states:
        assert broken(settings, delivery, names=(NONE_LOST, NONE_DOUBLED, ORDER_KEPT)) == ()


@given(runs())
def test_every_record_sent_has_one_result(run):
    for delivery in run[1]:
        sent = list(dict.fromkeys(value for _, values, _ in delivery.producer.sent for value in values))
        assert [record.value for record in record_results(delivery)] == sent


@given(runs([each for each in PRODUCERS if each.puts_failures_aside]))
def test_a_record_that_failed_is_in_the_store_or_was_sent_again(run):
    for delivery in run[1]:
        stored = [value for each in delivery.producer.put_aside for value in each.values]
        failed = [each.value for each in record_results(delivery) if each.callback not in (None, "NONE")]
        assert sorted(stored) == sorted(failed)


@given(runs())
def test_a_result_is_the_callback_against_the_copies_in_the_leader_s_log(run):
    delivery = run[1][-1]
    leader = delivery.partition.leader
    values = [] if leader is None else [record.value for record in leader.log.records]
    for record in record_results(delivery):
        copies = [at for at, value in enumerate(values) if value == record.value]
        assert list(record.offsets) == copies
        if record.result != "open":
            assert record.result in (result_of(record.callback, len(copies)), "out of order")


@given(runs(min_isr=(2,)))
def test_an_idempotent_batch_is_in_a_log_once_for_each_epoch_of_its_producer(run):
    settings, states = run
    delivery = states[-1]
    for replica in delivery.partition.replicas:
        stamps = [each.stamp for each in delivery.appended if each.is_in(replica.log)]
        assert len(stamps) == len(set(stamps))
        assert settings.producer.is_idempotent or not stamps


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(1, 3)), max_size=30))
def test_a_broker_remembers_five_batches_that_follow_on_and_answers_each_with_its_offset(batches):
    entry, log_end_offset = None, 0
    for epoch, sequence, count in batches:
        stamp = Stamp(7, epoch, sequence, count)
        verdict = judge(entry, stamp)
        if verdict.is_accepted:
            entry = remember(entry, stamp, log_end_offset)
            assert judge(entry, stamp).duplicate_of.base_offset == log_end_offset
            log_end_offset += count
        if entry is not None:
            ends = [(each.first_sequence, each.last_sequence) for each in entry.batches]
            assert len(ends) <= 5
            assert all(first[1] + 1 == second[0] for first, second in pairwise(ends))


@st.composite
def steps_in_a_search(draw):
    settings, _ = draw(runs())
    unordered = settings.unordered()
    events = alphabet(settings.topic, *CARELESS)
    schedule = draw(st.lists(st.sampled_from(events), max_size=40))
    delivery = sensible_run(step, unordered, start(settings), schedule)[-1].state
    return settings, delivery, draw(st.sampled_from(events))


@given(steps_in_a_search())
def test_a_step_of_a_search_is_the_simulator_s_step(drawn):
    settings, delivery, event = drawn
    assert_steps_as_the_simulator(model(settings), partial(step, settings.unordered()), delivery, event)


@given(steps_in_a_search())
def test_brokers_under_other_names_do_the_same(drawn):
    settings, delivery, event = drawn
    assert_names_do_not_matter(model(settings), delivery, event)
