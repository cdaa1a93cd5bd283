"""What no event can say is refused when it is made, before any simulator sees it."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerStopped,
    Consume,
    DeleteRecords,
    Fetch,
    IsrSet,
    LeaderElected,
    PowerLost,
    Produce,
    TimePassed,
)


@pytest.mark.parametrize(
    ("event", "arguments", "said"),
    [
        (Produce, (10**9,), "record_count must be at most 100,000, got 1000000000"),
        (Produce, (0,), "record_count must be at least 1, got 0"),
        (Produce, (1, True), "acks must be 0, 1 or 'all', got True"),
        (Produce, (1, 10**5000), "acks must be 0, 1 or 'all', got a whole number of about 5,001 digits"),
        (Produce, (1, 1, "abc"), "values must be a list or tuple of values, got str 'abc'"),
        (Produce, (1, 1, ("a", 7)), r"values\[1\] must be a str, got int 7"),
        (Produce, (1, 1, ("a\ud800",)), "lone surrogate at index 1"),
        (Produce, (1, 1, (), 2**31), "timeout_ms must be at most 2,147,483,647, got 2147483648"),
        (Fetch, (True,), "broker_id must be a whole number of at least 1, got bool True"),
        (Fetch, (2.0,), "broker_id must be a whole number of at least 1, got float 2.0"),
        (BrokerCrashed, (0,), "broker_id must be at least 1, got 0"),
        (BrokerStopped, (1, "2"), "successor must be a whole number of at least 1, got str '2'"),
        (TimePassed, (-1,), "ms must be at least 0, got -1"),
        (TimePassed, (float("nan"),), "ms must be a whole number of at least 0, got float nan"),
        (Consume, (10**5000,), "offset must be at most 9,223,372,036,854,775,807, got a whole number of about 5,001"),
        (DeleteRecords, (None,), "before_offset must be a whole number"),
        (PowerLost, (1, -1), "flushed_to must be at least 0, got -1"),
        (IsrSet, (12,), "isr must be a list or tuple of values, got int 12"),
        (LeaderElected, (1, "12"), "isr must be a list or tuple of values, got str '12'"),
        (LeaderElected, (1, (1, True)), r"isr\[1\] must be a whole number of at least 1, got bool True"),
        (AlterPartitionAnswered, (10**5000,), "error must be a str, got int a whole number of about 5,001 digits"),
    ],
)
def test_what_no_event_can_say_is_refused_in_a_sentence(event, arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        event(*arguments)


def test_lists_become_tuples_so_that_an_event_can_be_compared_and_hashed():
    assert IsrSet([1, 2]) == IsrSet((1, 2))
    assert hash(LeaderElected(1, [1, 2])) == hash(LeaderElected(1, (1, 2)))
