"""The producer's side: what is in flight, retried, called back and given up."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.delivery import (
    AnswerArrived,
    ConnectionLost,
    GaveUp,
    ProduceRequest,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    TopicSettings,
    record_results,
    simulate,
    step,
)
from kafkalearn.delivery.model import (
    BatchAppended,
    BatchPutAside,
    BatchRefused,
    BatchWillBeRetried,
    Callback,
    CallbackInvoked,
    DuplicateRecognised,
    EpochRaised,
)
from kafkalearn.releases.lines import release_line
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerStarted,
    Fetch,
    PowerLost,
    Produce,
    SessionExpired,
    TimePassed,
)
from tests.every import every_case
from tests.recorded import recorded

ONE = TopicSettings(replica_count=1)
TWO = TopicSettings(replica_count=2, fetch_wait_max_ms=0)
ACKS_1 = ProducerSettings(acks=1)
NOT_IDEMPOTENT = ProducerSettings(is_idempotent=False)
LEADER_REPLACED = [BrokerCrashed(1), SessionExpired(1)]


def end(settings, events):
    return simulate(settings, events)[-1].state


def results(delivery) -> list[str]:
    return [record.result for record in record_results(delivery)]


def log_of(delivery) -> list[str]:
    return [record.value for record in delivery.partition.leader.log.records]


def effects(trace, kind) -> list:
    return [each for frame in trace for each in frame.state.effects if isinstance(each, kind)]


@pytest.mark.parametrize(
    ("release", "acks", "is_idempotent", "retries", "delivery_timeout_ms"),
    [
        ("0.8.2", 1, False, 0, None),
        ("0.11.0", 1, False, 0, None),
        ("2.0", 1, False, 0, None),
        ("2.1", 1, False, 2147483647, 120_000),
        ("2.8", 1, False, 2147483647, 120_000),
        ("3.0", "all", True, 2147483647, 120_000),
        ("4.3", "all", True, 2147483647, 120_000),
    ],
)
def test_the_defaults_are_those_of_the_release(release, acks, is_idempotent, retries, delivery_timeout_ms):
    producer = ProducerSettings(release=release)
    assert (producer.acks, producer.is_idempotent, producer.retries) == (acks, is_idempotent, retries)
    assert (producer.delivery_timeout_ms, producer.max_in_flight) == (delivery_timeout_ms, 5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"acks": 1}, "needs acks='all', got acks=1"),
        ({"retries": 0}, "needs retries above 0"),
        ({"release": "3.9", "max_in_flight": 6}, "at most 5 requests in flight, got max_in_flight=6"),
        ({"release": "0.10.2"}, "needs Kafka 0.11 or later"),
        ({"release": "0.11.0", "max_in_flight": 5}, "at most 1 requests in flight"),
    ],
)
def test_idempotence_asked_for_is_refused_where_it_cannot_be_and_gives_way_where_it_is_the_default(given, said):
    with pytest.raises(KafkaLearnError, match=said):
        ProducerSettings(**given, is_idempotent=True)
    assert not ProducerSettings(**given).is_idempotent


@pytest.mark.parametrize(("release", "max_in_flight"), [("0.11.0", 1), ("1.0", 5), ("2.8", 5), ("4.3", 5)])
def test_who_asks_for_idempotence_gets_what_it_needs(release, max_in_flight):
    producer = ProducerSettings(is_idempotent=True, release=release)
    assert (producer.acks, producer.retries, producer.max_in_flight) == ("all", 2147483647, max_in_flight)


@pytest.mark.parametrize("acks", [2, -1, "1", "ALL"])
def test_other_acks_are_refused(acks):
    with pytest.raises(KafkaLearnError, match="acks must be 0, 1 or 'all'"):
        ProducerSettings(acks=acks)


def test_acks_0_is_done_when_it_is_sent():
    sent = end(Settings(TWO, ProducerSettings(acks=0)), [Send()])
    assert sent.producer.callbacks == (Callback(1, ("m1",), "NONE"),)
    assert results(sent) == ["open"]  # it may yet arrive


def test_acks_0_learns_nothing_of_a_connection_that_broke():
    assert results(end(Settings(TWO, ProducerSettings(acks=0)), [Send(), ConnectionLost()])) == ["lost"]


def test_acks_1_is_answered_at_once_and_acks_all_when_the_others_have_it():
    sent = [Send(), RequestArrived()]
    assert end(Settings(TWO, ACKS_1), [*sent, AnswerArrived()]).producer.callbacks
    with pytest.raises(IllegalEvent, match="no answer is on its way"):
        end(Settings(TWO), [*sent, AnswerArrived()])
    assert end(Settings(TWO), [*sent, Fetch(2), Fetch(2), AnswerArrived()]).producer.callbacks


def test_a_broker_works_on_one_request_of_a_connection_at_a_time():
    with pytest.raises(IllegalEvent, match="still has a request of this connection"):
        end(Settings(TWO), [Send(), Send(), RequestArrived(), RequestArrived()])


def test_no_more_requests_are_in_flight_than_allowed():
    settings = Settings(ONE, ProducerSettings(max_in_flight=2))
    delivery = end(settings, [Send(), Send(), Send()])
    assert (len(delivery.producer.in_flight), len(delivery.producer.waiting)) == (2, 1)
    with pytest.raises(IllegalEvent, match="has to wait for those in flight"):
        step(settings, delivery, RequestSent())


def test_a_lost_answer_doubles_a_record_unless_the_producer_is_idempotent():
    retried = [Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived()]
    assert log_of(end(Settings(ONE, NOT_IDEMPOTENT), retried)) == ["m1", "m1"]

    trace = simulate(Settings(ONE), [*retried, AnswerArrived()])
    assert log_of(trace[-1].state) == ["m1"]
    assert effects(trace, BatchAppended) == [BatchAppended(1, 0)]
    assert effects(trace, DuplicateRecognised) == [DuplicateRecognised(1, 0)]
    assert effects(trace, CallbackInvoked) == [CallbackInvoked(1, "NONE")]


def test_a_new_leader_knows_the_batches_it_has_copied():
    events = [Send(), RequestArrived(), Fetch(2), *LEADER_REPLACED, RequestSent(), RequestArrived(), AnswerArrived()]
    assert log_of(end(Settings(TWO, NOT_IDEMPOTENT), events)) == ["m1", "m1"]
    assert log_of(end(Settings(TWO), events)) == ["m1"]


def test_a_new_leader_takes_what_it_has_not_copied():
    events = [Send(), RequestArrived(), *LEADER_REPLACED, RequestSent(), RequestArrived(), AnswerArrived()]
    assert log_of(end(Settings(TWO), events)) == ["m1"]


def test_two_that_fail_together_change_places_unless_the_producer_is_idempotent():
    both = [Send(), Send(), ConnectionLost()]
    again = [RequestSent(), RequestSent(), RequestArrived(), AnswerArrived(), RequestArrived(), AnswerArrived()]
    assert log_of(end(Settings(ONE, ACKS_1), [*both, *again])) == ["m2", "m1"]

    one_by_one = [RequestSent(), RequestArrived(), AnswerArrived()] * 2
    assert log_of(end(Settings(ONE), [*both, *one_by_one])) == ["m1", "m2"]
    with pytest.raises(IllegalEvent, match="has to wait for those in flight"):
        end(Settings(ONE), [*both, RequestSent(), RequestSent()])


def test_with_one_request_in_flight_nothing_is_overtaken():
    settings = Settings(ONE, ProducerSettings(acks=1, max_in_flight=1))
    events = [Send(), Send(), ConnectionLost(), *[RequestSent(), RequestArrived(), AnswerArrived()] * 2]
    assert log_of(end(settings, events)) == ["m1", "m2"]


def test_too_small_an_isr_refuses_before_and_after_the_retry():
    settings = Settings(TopicSettings(2, min_insync_replicas=2, fetch_wait_max_ms=0))
    events = [BrokerCrashed(2), SessionExpired(2), Send(), RequestArrived(), AnswerArrived()]
    trace = simulate(settings, events)
    assert effects(trace, BatchRefused) == [BatchRefused(1, "NOT_ENOUGH_REPLICAS")]
    assert effects(trace, BatchWillBeRetried) == [BatchWillBeRetried(1, "NOT_ENOUGH_REPLICAS")]
    assert log_of(trace[-1].state) == []


def test_without_retries_the_application_hears_the_error():
    settings = Settings(TopicSettings(2, min_insync_replicas=2), ProducerSettings(retries=0))
    events = [BrokerCrashed(2), SessionExpired(2), Send(), RequestArrived(), AnswerArrived()]
    assert end(settings, events).producer.callbacks == (Callback(1, ("m1",), "NOT_ENOUGH_REPLICAS"),)


def test_retries_are_counted_where_they_have_an_end():
    settings = Settings(ONE, ProducerSettings(acks=1, retries=2))
    events = [Send(), *[ConnectionLost(), RequestSent()] * 2, ConnectionLost()]
    assert end(settings, events).producer.callbacks == (Callback(1, ("m1",), "NETWORK_EXCEPTION"),)
    assert end(settings, events[:-1]).producer.callbacks == ()


def test_what_is_given_up_may_arrive_all_the_same():
    settings = Settings(ONE, ACKS_1)
    given_up = [Send(), GaveUp()]
    assert results(end(settings, given_up)) == ["open"]
    assert results(end(settings, [*given_up, RequestArrived()])) == ["rejected, yet written"]
    assert results(end(settings, [*given_up, ConnectionLost()])) == ["rejected"]


def test_the_clock_fails_a_request_and_then_gives_its_batch_up():
    settings = Settings(TWO, ProducerSettings(acks=1))
    frozen = [Send(), BrokerFrozen(1), TimePassed(30_000)]
    assert len(end(settings, frozen).producer.in_flight) == 1
    assert len(end(settings, [*frozen, TimePassed(1)]).producer.waiting) == 1
    assert end(settings, [*frozen, TimePassed(90_000)]).producer.callbacks == (Callback(1, ("m1",), "TIMEOUT"),)


def test_a_request_that_waits_too_long_at_the_broker_is_answered_and_sent_again():
    trace = simulate(Settings(TWO), [Send(), RequestArrived(), TimePassed(30_000), AnswerArrived()])
    assert effects(trace, BatchWillBeRetried) == [BatchWillBeRetried(1, "REQUEST_TIMED_OUT")]


LOST_BELOW = [
    *[each for _ in range(2) for each in (Send(), RequestArrived(), Fetch(2), Fetch(2), AnswerArrived())],
    BrokerCrashed(2),
    SessionExpired(2),
    PowerLost(1, flushed_to=1),
    BrokerStarted(1),
    Send(),
    RequestArrived(),
    AnswerArrived(),
]


def test_a_gap_that_a_loss_has_torn_makes_the_producer_count_anew_and_go_on():
    trace = simulate(Settings(TWO), [*LOST_BELOW, RequestSent(), RequestArrived(), AnswerArrived()])
    assert effects(trace, BatchRefused) == [BatchRefused(3, "OUT_OF_ORDER_SEQUENCE_NUMBER")]
    assert effects(trace, EpochRaised) == [EpochRaised(1)]
    assert results(trace[-1].state) == ["safe", "lost", "safe"]


def test_before_2_5_the_callback_got_the_gap_as_an_error():
    settings = Settings(TWO, ProducerSettings(acks="all", is_idempotent=True, release="2.4"))
    assert end(settings, LOST_BELOW).producer.callbacks[-1] == Callback(3, ("m3",), "OUT_OF_ORDER_SEQUENCE_NUMBER")


def test_a_producer_of_which_nothing_is_left_is_taken_for_new_since_2_5():
    settings = Settings(ONE)
    request = ProduceRequest(("x",), producer_id=7, first_sequence=17)
    assert log_of(end(settings, [request])) == ["x"]
    old = Settings(TopicSettings(1, "2.4"), ProducerSettings(release="2.4"))
    assert effects(simulate(old, [request]), BatchRefused) == [BatchRefused(None, "UNKNOWN_PRODUCER_ID")]


def test_a_producer_long_silent_is_forgotten_so_its_old_batch_is_written_again():
    request = ProduceRequest(("x",), producer_id=7)
    day_ms = 86_400_000
    assert log_of(end(Settings(ONE), [request, TimePassed(day_ms - 1), request])) == ["x"]
    assert log_of(end(Settings(ONE), [request, TimePassed(day_ms), request])) == ["x", "x"]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([RequestArrived()], "no request is on its way"),
        ([RequestSent()], "no batch waits to go out"),
        ([ConnectionLost()], "nothing is in flight"),
        ([GaveUp()], "the application waits for no callback"),
        ([Produce()], "here a producer sends, with Send"),
        ([Send(values=("x",)), Send(values=("x",))], "each record needs a value of its own"),
        ([Send(values=("x", "x"))], "each record needs a value of its own"),
        ([BrokerCrashed(1), SessionExpired(1), Send(), RequestSent()], "no broker leads"),
    ],
)
def test_what_makes_no_sense_is_refused_and_says_why(events, said):
    with pytest.raises(IllegalEvent, match=said):
        end(Settings(ONE), events)


def test_a_batch_without_records_and_a_topic_without_settings_are_refused():
    with pytest.raises(KafkaLearnError, match="record_count must be at least 1, got 0"):
        end(Settings(ONE), [Send(record_count=0)])
    with pytest.raises(KafkaLearnError, match="topic must be TopicSettings, got 'orders'"):
        Settings("orders")


ASIDE = Settings(ONE, ProducerSettings(puts_failures_aside=True))
FAILED = [Send(2), ConnectionLost(), GaveUp()]  # it never arrives, and its time is over


def test_what_fails_is_put_aside_and_sent_again_as_a_new_batch():
    trace = simulate(ASIDE, [*FAILED, SendAgain(), RequestArrived(), AnswerArrived()])
    assert BatchPutAside(1, "TIMEOUT") in trace[3].state.effects
    assert trace[3].state.producer.put_aside == (Callback(1, ("m1", "m2"), "TIMEOUT"),)
    again = trace[4].state.producer
    assert (again.put_aside, again.in_flight[0].batch.number, again.in_flight[0].batch.values) == ((), 2, ("m1", "m2"))
    assert results(trace[-1].state) == ["safe", "safe"]
    assert [each.batch for each in record_results(trace[-1].state)] == [2, 2]


def test_without_a_store_the_record_stays_rejected():
    settings = Settings(ONE)
    assert results(end(settings, FAILED)) == ["rejected", "rejected"]
    with pytest.raises(IllegalEvent, match="the application has put nothing aside"):
        step(settings, end(settings, FAILED), SendAgain())


def test_idempotence_does_not_know_what_the_application_sends_again():
    written = [Send(), RequestArrived(), ConnectionLost(), GaveUp(), SendAgain(), RequestArrived(), AnswerArrived()]
    assert log_of(end(ASIDE, written)) == ["m1", "m1"]
    assert results(end(ASIDE, written)) == ["doubled"]


def test_what_was_put_aside_stands_behind_what_was_sent_meanwhile():
    later = [Send(), RequestArrived(), AnswerArrived(), SendAgain(), RequestArrived(), AnswerArrived()]
    assert results(end(ASIDE, [*FAILED, *later])) == ["out of order", "out of order", "safe"]


FIELDS = {"acks": "acks", "enable.idempotence": "is_idempotent", "retries": "retries"}
FIELDS["max.in.flight.requests.per.connection"] = "max_in_flight"
VALUES = {"true": True, "false": False, "-1": "all", "0": 0, "1": 1, "2": 2, "6": 6}
STARTED = recorded("client-settings")
OF_PRODUCERS = [
    case
    for case in STARTED["cases"]
    if case["side"] == "producer" and {*case["settings"]} <= {*FIELDS} and {*case["settings"].values()} <= {*VALUES}
]


def test_enough_configurations_were_recorded():
    assert len(OF_PRODUCERS) >= 10


@every_case("release", STARTED["asked"])
@every_case("case", OF_PRODUCERS, ids=lambda case: case["settings"])
def test_a_configuration_is_refused_where_the_released_producer_refuses_it(case, release):
    given = {FIELDS[name]: VALUES[value] for name, value in case["settings"].items()}
    try:
        ProducerSettings(**given, release=release_line(release))
        is_refused = False
    except KafkaLearnError:
        is_refused = True
    assert is_refused == (release in case["refused"]), case["refused"]
