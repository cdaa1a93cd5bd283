"""A transactional client's errors by release: as the released clients sort them, and the changes that KIPs made."""

from itertools import pairwise

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import RELEASES, parse_release
from kafkalearn.transactions.client_errors import (
    ABORTABLE,
    ABORTING,
    ERRORS,
    FATAL,
    FIRST_ASKED,
    RETRIED,
    UNEXPECTED,
    client_errors,
    kind_of,
)
from tests.recorded import recorded

REAL = recorded("client-errors")
ASKED = RELEASES[RELEASES.index(FIRST_ASKED) :]
NOT_COMPARED = {
    "Produce: UNKNOWN_PRODUCER_ID": "the recorder's answer has no log start offset, with which a client may retry it",
    "Produce: NOT_LEADER_FOR_PARTITION": "the name up to 2.5 of NOT_LEADER_OR_FOLLOWER",
    "InitProducerId: TRANSACTION_ABORTABLE": "abortable to the manager, but no whole producer comes out of it",
}
THROWN = "thrown"  # an abort that fails, and the manager is as before; whole producers are of no use after it


def test_every_error_of_every_request_is_to_a_client_what_the_released_one_makes_of_it():
    assert tuple(REAL["asked"]) == ASKED
    wrong, compared = {}, 0
    for pair, answers in REAL["answers"].items():
        request, name = pair.split(": ")
        answer = None
        for release in ASKED:
            answer = answers.get(release, answer)
            if answer is None or pair in NOT_COMPARED:
                continue
            recorded_kind = answer.split(" ")[0].replace(THROWN, FATAL)
            try:
                kind = kind_of(name, request, release)
            except KafkaLearnError:
                kind = UNEXPECTED["EndTxn" if request == ABORTING else request]
            compared += 1
            if kind != recorded_kind:
                wrong[pair, release] = kind, recorded_kind
    assert wrong == {}
    assert compared > 10_000


def test_errors_of_a_group_are_known_to_the_producer():
    asked = {
        "COORDINATOR_LOAD_IN_PROGRESS": RETRIED,
        "COORDINATOR_NOT_AVAILABLE": RETRIED,
        "UNKNOWN_TOPIC_OR_PARTITION": RETRIED,
        "NETWORK_EXCEPTION": RETRIED,
        "INVALID_PRODUCER_EPOCH": FATAL,
        "PRODUCER_FENCED": FATAL,
    }
    assert {name: kind_of(name, "TxnOffsetCommit") for name in asked} == asked


def test_a_client_that_was_not_asked_is_refused():
    for ask in (lambda: kind_of("PRODUCER_FENCED", "EndTxn", "2.3"), lambda: client_errors("2.3")):
        with pytest.raises(KafkaLearnError, match=r"2\.3 were not asked"):
            ask()


@pytest.mark.parametrize(
    ("name", "request_name", "before", "since", "kip"),
    [
        ("INVALID_PRODUCER_ID_MAPPING", "EndTxn", FATAL, "2.5", "KIP-360"),
        ("INVALID_PRODUCER_EPOCH", "Produce", FATAL, "2.7", "KIP-588"),
        ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "InitProducerId", FATAL, "3.6", ""),
        ("ILLEGAL_GENERATION", "TxnOffsetCommit", FATAL, "2.5", "KIP-447"),
        ("STALE_MEMBER_EPOCH", "TxnOffsetCommit", FATAL, "4.4", "KIP-1319"),
        ("GROUP_ID_NOT_FOUND", "TxnOffsetCommit", FATAL, "4.4", "KIP-1319"),
    ],
)
def test_what_was_fatal_became_abortable(name, request_name, before, since, kip):
    older = RELEASES[RELEASES.index(since) - 1]

    assert (kind_of(name, request_name, older), kind_of(name, request_name, since)) == (before, ABORTABLE)
    assert kip in {each.kip for each in ERRORS if each.name == name}


@pytest.mark.parametrize(
    ("name", "request_name", "since"),
    [
        ("PRODUCER_FENCED", "EndTxn", "2.7"),
        ("TRANSACTION_ABORTABLE", "Produce", "3.8"),
        ("STALE_MEMBER_EPOCH", "TxnOffsetCommit", "3.6"),
    ],
)
def test_what_came_later_is_unknown_before(name, request_name, since):
    with pytest.raises(KafkaLearnError, match="unknown error of"):
        kind_of(name, request_name, RELEASES[RELEASES.index(since) - 1])
    assert kind_of(name, request_name, since) in (FATAL, ABORTABLE)


def test_an_abort_that_is_to_be_aborted_is_the_end_and_meets_all_else_as_a_commit_does():
    beyond_abort = {"TRANSACTION_ABORTABLE", "UNKNOWN_PRODUCER_ID", "INVALID_PRODUCER_ID_MAPPING"}
    assert {kind_of(name, ABORTING, each) for name in beyond_abort for each in ("3.8", "4.0", "4.4")} == {FATAL}
    names = {each.name for each in ERRORS if "EndTxn" in each.requests} - beyond_abort
    assert len(names) >= 6
    assert {each: kind_of(each, ABORTING) for each in names} == {each: kind_of(each, "EndTxn") for each in names}


def test_an_error_of_a_request_stands_once_and_its_releases_rise():
    pairs = [(each.name, request) for each in ERRORS for request in each.requests]

    assert len(set(pairs)) == len(pairs)
    for each in ERRORS:
        releases = [parse_release(since) for since, _ in each.kinds]
        assert all(earlier < later for earlier, later in pairwise(releases))
        assert {kind for _, kind in each.kinds} <= {RETRIED, ABORTABLE, FATAL}


def test_a_table_has_more_rows_with_each_release():
    counts = [len(client_errors(release)) for release in ASKED]

    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == len(ERRORS)
