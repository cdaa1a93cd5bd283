"""What real producers did about each error of a produce request: tests/vectors/transactions/producer-errors.json."""

from dataclasses import replace

from kafkalearn.delivery import AnswerArrived, ProducerSettings, RequestArrived, RequestSent, Send, Settings
from kafkalearn.delivery.model import ANSWERED, NONE, BatchWillBeRetried, TopicSettings, start
from kafkalearn.delivery.produce_errors import produce_errors
from kafkalearn.delivery.simulator import step
from kafkalearn.transactions.client_errors import RETRIABLE
from tests.every import every_case
from tests.recorded import recorded

IDEMPOTENT, PLAIN = "idempotent", "plain"
KNOWN = {each.name: each for each in produce_errors() if each.code is not None}
CASES = [
    each
    for each in recorded("producer-errors")["cases"]
    if (each["producer"], each["request"]) == ("Java", "Produce") and each["kind"] in (IDEMPOTENT, PLAIN)
]
"""Of each three records: the first is taken, the second refused with the error in the broker's place."""


class Player:
    """A producer whose second request never reaches its broker, and is answered with an error."""

    def __init__(self, kind, error):
        self.settings = Settings(TopicSettings(1), ProducerSettings(is_idempotent=kind == IDEMPOTENT))
        self.delivery, self.error = start(self.settings), error
        self.do(Send())
        self.answer()

    def do(self, event):
        self.delivery = step(self.settings, self.delivery, event)

    def answer(self, error=None):
        """The request in flight is answered; with an error: in the broker's place."""
        if error is None:
            self.do(RequestArrived())
        (request,) = self.delivery.producer.in_flight
        if error is not None:
            request = request._replace(stage=ANSWERED, error=error)
            producer = self.delivery.producer._replace(in_flight=(request,))
            self.delivery = replace(self.delivery, producer=producer)
        stamp = request.batch.stamp
        asked = ["Produce", *([-1, -1] if stamp is None else [stamp.producer_epoch, stamp.first_sequence])]
        self.do(AnswerArrived())
        return [*asked, request.error]

    def step(self, error=None):
        """A record is sent: what its callback gets, and its requests."""
        self.do(Send())
        requests = [self.answer(error)]
        while any(isinstance(each, BatchWillBeRetried) for each in self.delivery.effects):
            self.do(RequestSent())
            requests.append(self.answer())
        return [self.delivery.producer.callbacks[-1].error, requests]


def named(case):
    return case["name"]


NO_BROKER_SAYS_SO = {
    "DUPLICATE_SEQUENCE_NUMBER": "brokers of 0.11; the record counts as written",
    "CLUSTER_AUTHORIZATION_FAILED": "brokers up to 2.7; an idempotent producer takes nothing more",
}
"""Errors that the simulated broker does not know."""


@every_case("case", [each for each in CASES if each["error"] in KNOWN.keys() - NO_BROKER_SAYS_SO.keys()], ids=named)
def test_a_record_is_sent_again_or_given_up_under_the_epoch_and_number_of_javas(case):
    player = Player(case["kind"], case["error"])
    steps = [[outcome, requests] for _, outcome, requests in case["steps"]]
    exceptions = {"done": NONE, f"future {KNOWN[case['error']].exception}": case["error"]}
    assert [player.step(case["error"]), player.step()] == [[exceptions[outcome], asked] for outcome, asked in steps]


@every_case("case", CASES, ids=named)
def test_what_is_tried_again_has_a_retriable_exception_or_a_gap_in_its_numbers(case):
    """Of errors too that no leader answers a produce request with."""
    error = case["error"]
    is_again = len(case["steps"][0][2]) > 1
    has_gap = case["kind"] == IDEMPOTENT and error in ("OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID")
    assert is_again == (error in RETRIABLE or has_gap)
    assert error not in KNOWN or is_again == (KNOWN[error].is_retriable or has_gap)
