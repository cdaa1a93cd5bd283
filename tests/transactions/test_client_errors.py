"""A transactional client's errors by release: each in one kind at a time, and the changes that KIPs made."""

from itertools import pairwise

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import RELEASES, parse_release
from kafkalearn.transactions.client import FATAL as FATAL_OF_THE_CLIENT
from kafkalearn.transactions.client_errors import ABORTABLE, ABORTING, ERRORS, FATAL, RETRIED, client_errors, kind_of


@pytest.mark.parametrize(
    ("name", "request_name", "before", "since", "kip"),
    [
        ("INVALID_PRODUCER_ID_MAPPING", "EndTxn", FATAL, "2.5", "KIP-360"),
        ("INVALID_PRODUCER_EPOCH", "Produce", FATAL, "2.7", "KIP-588"),
        ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "InitProducerId", FATAL, "3.6", ""),
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
        ("ILLEGAL_GENERATION", "TxnOffsetCommit", "2.5"),
        ("TRANSACTION_ABORTABLE", "Produce", "3.8"),
        ("STALE_MEMBER_EPOCH", "TxnOffsetCommit", "4.4"),
        ("GROUP_ID_NOT_FOUND", "TxnOffsetCommit", "4.4"),
    ],
)
def test_what_came_later_is_unknown_before(name, request_name, since):
    with pytest.raises(KafkaLearnError, match="unknown error of"):
        kind_of(name, request_name, RELEASES[RELEASES.index(since) - 1])
    assert kind_of(name, request_name, since) in (FATAL, ABORTABLE)


def test_an_abort_that_is_to_be_aborted_is_the_end_since_4_1_and_meets_all_else_as_a_commit_does():
    assert [kind_of("TRANSACTION_ABORTABLE", ABORTING, each) for each in ("3.8", "4.0", "4.1", "4.4")] == [
        ABORTABLE, ABORTABLE, FATAL, FATAL,
    ]  # fmt: skip
    names = {each.name for each in ERRORS if "EndTxn" in each.requests} - {"TRANSACTION_ABORTABLE"}
    assert len(names) >= 6
    assert {each: kind_of(each, ABORTING) for each in names} == {each: kind_of(each, "EndTxn") for each in names}


def test_an_error_of_a_request_stands_once_and_its_releases_rise():
    pairs = [(each.name, request) for each in ERRORS for request in each.requests]

    assert len(set(pairs)) == len(pairs)
    for each in ERRORS:
        releases = [parse_release(since) for since, _ in each.kinds]
        assert all(earlier < later for earlier, later in pairwise(releases))
        assert {kind for _, kind in each.kinds} <= {RETRIED, ABORTABLE, FATAL}


def test_a_table_has_more_rows_with_each_release_and_none_before_transactions():
    counts = [len(client_errors(release)) for release in RELEASES]

    assert client_errors("0.10.2") == []
    assert counts == sorted(counts)


def test_a_fence_is_fatal_to_the_simulated_client_too():
    assert "PRODUCER_FENCED" in FATAL_OF_THE_CLIENT
    assert all(kind_of(name, "EndTxn", "2.4") == FATAL for name in FATAL_OF_THE_CLIENT if name != "PRODUCER_FENCED")
