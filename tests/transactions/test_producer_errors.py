"""What real producers with a transaction did about each error: tests/vectors/transactions/producer-errors.json."""

from collections import Counter

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log.sequences import ProducerStateEntry, Stamp, judge
from kafkalearn.transactions.client_errors import ABORTABLE, FATAL, RETRIED, UNEXPECTED, kind_of
from tests.every import every_case
from tests.recorded import recorded

ALL = recorded("producer-errors")["cases"]
CASES = [each for each in ALL if isinstance(each["kind"], int)]
KEPT = recorded("client-errors")["answers"]
JAVAS = [each for each in CASES if each["producer"].startswith("Java")]
DONE = "done"
UNNAMED = ("Java", "idempotent", "InitProducerId")
NOT_COMPARED = {
    ("Produce", "DUPLICATE_SEQUENCE_NUMBER"): "the record counts as written, which here no broker has done",
    (
        "Produce",
        "UNKNOWN_PRODUCER_ID",
    ): "the producer has nothing in the log yet: it asks again, under the same numbers",
}


def named(case):
    return case["name"]


def release_of(case):
    """The line of the producer."""
    version = case["producer"].partition(" ")[2]
    return version.rpartition(".")[0] if version else "4.4"


def met(case):
    """What the producer made of the error: it asked again, went on after an abort, or did not go on."""
    if all(outcome == DONE for _, outcome, _ in case["steps"]):
        return RETRIED
    return ABORTABLE if case["steps"][-1][1] == DONE else FATAL


def said(case):
    try:
        return kind_of(case["error"], case["request"], release_of(case))
    except KafkaLearnError:
        return UNEXPECTED[case["request"].removesuffix(" (abort)")]


COMPARED = [each for each in JAVAS if (each["request"], each["error"]) not in NOT_COMPARED]


@every_case("case", COMPARED, ids=named)
def test_an_error_is_to_javas_producer_what_the_table_says(case):
    _, outcome, requests = case["steps"][0]
    answered = [error for name, *_, error in requests if name == case["request"].removesuffix(" (abort)")]
    assert answered[0] == case["error"]
    assert met(case) == said(case), case["steps"]
    assert (met(case) == RETRIED) == (len(answered) > 1)
    assert (met(case) == RETRIED) == (outcome == DONE)


@every_case("case", [each for each in COMPARED if each["producer"] == "Java" and met(each) != RETRIED], ids=named)
def test_what_fails_is_given_the_exception_that_the_producers_state_keeps(case):
    """The future of a record has that of the error; the commit after it has what is kept, and one around it."""
    outcomes = [outcome.partition(" ") for _, outcome, _ in case["steps"]]
    kept = list(KEPT[f"{case['request']}: {case['error']}"].values())[-1].partition(" ")[2]
    if case["request"] in ("Produce", "AddPartitionsToTxn"):
        assert [how for how, *_ in outcomes[:2]] == ["future", "thrown"]
        assert outcomes[1][2].removeprefix("KafkaException < ") == kept
    else:
        assert outcomes[0] == ("thrown", " ", kept)


@every_case("case", [each for each in ALL if (each["producer"], each["kind"], each["request"]) == UNNAMED], ids=named)
def test_a_producer_without_an_id_gets_its_number_or_takes_no_record(case):
    """Where one with an id could call init again, it asks again by itself."""
    (_, first, requests), (_, second, _) = case["steps"]
    is_usable = said(case) != FATAL
    assert (first == DONE, second == DONE) == (is_usable, is_usable)
    assert [error for name, *_, error in requests if name == "InitProducerId"] == [case["error"], *["NONE"] * is_usable]


LIBRDKAFKAS = [each for each in CASES if each["producer"] == "librdkafka"]


def test_the_table_is_javas_and_librdkafka_sorts_the_same_errors_otherwise():
    """By what the table says and what it made of them; most of what it has no name for it calls abortable."""
    assert Counter((said(each), met(each)) for each in LIBRDKAFKAS) == {
        (RETRIED, RETRIED): 47,
        (RETRIED, ABORTABLE): 28,
        (RETRIED, FATAL): 9,
        (ABORTABLE, RETRIED): 1,
        (ABORTABLE, ABORTABLE): 13,
        (ABORTABLE, FATAL): 44,
        (FATAL, RETRIED): 25,
        (FATAL, ABORTABLE): 73,
        (FATAL, FATAL): 33,
    }


def test_librdkafka_counts_on_behind_a_record_that_was_refused_and_the_next_transaction_fails_of_the_gap():
    """The partition has of this epoch no more than the marker of the abort, and waits for number 0."""
    gap = judge(ProducerStateEntry(0, ()), Stamp(7, 0, first_sequence=1)).error
    sent = {
        each["error"]: request
        for each in LIBRDKAFKAS
        if each["request"] == "Produce"
        for call, outcome, requests in each["steps"][3:]
        for request in requests
        if (call, request[0]) == ("send", "Produce")
    }
    assert sent.pop("UNKNOWN_PRODUCER_ID") == ["Produce", 1, 0, "NONE"]  # it has asked for a new epoch
    assert "MESSAGE_TOO_LARGE" in sent
    assert {tuple(each) for each in sent.values()} == {("Produce", 0, 1, gap)}
