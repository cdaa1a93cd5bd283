"""A cleaner that stopped: what is not done any more, what helps, and what an operator sees."""

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.log import (
    Clean,
    CleanerFailed,
    CleanerRound,
    ReplaceCleanerThreads,
    Restart,
    Roll,
    Settings,
    cleaner_metrics,
    step,
)
from tests.log.schedules import A_TWICE, COMPACT, after, offsets, one_each


@pytest.mark.parametrize(("release", "state"), [("2.0", "dead"), ("2.1", "uncleanable"), ("4.3", "uncleanable")])
def test_after_an_exception_nothing_is_cleaned_any_more(release, state):
    settings = Settings("compact", release)
    log = after(settings, A_TWICE, Roll(), CleanerFailed(), Clean(5000))
    assert (log.cleaner, offsets(log), log.effects) == (state, [0, 1], ())
    assert offsets(step(settings, step(settings, log, Restart()), Clean(5000))) == [1]


def test_out_of_memory_ends_the_thread_in_every_release():
    assert after(COMPACT, CleanerFailed("out of memory", is_java_error=True)).cleaner == "dead"


def test_new_threads_help_a_dead_cleaner_and_not_a_partition_that_is_left_out():
    assert after(Settings("compact", "2.0"), CleanerFailed(), ReplaceCleanerThreads()).cleaner == "running"
    assert after(COMPACT, CleanerFailed(), ReplaceCleanerThreads()).cleaner == "uncleanable"


def test_retention_of_compact_delete_stops_with_the_cleaner():
    settings = Settings("compact,delete", retention_ms=100)
    events = (A_TWICE, Roll(), one_each(("b", "1", 90_000)))
    assert offsets(after(settings, *events, CleanerRound(50_000))) == [2]
    assert offsets(after(settings, *events, CleanerFailed(), CleanerRound(50_000))) == [0, 1, 2]


def test_an_operator_sees_a_checkpoint_that_stands_still():
    log = after(COMPACT, A_TWICE, Roll(), Clean(5000), CleanerFailed(), A_TWICE, Roll(), CleanerRound(9000))
    assert cleaner_metrics(COMPACT, log, 65_000) == {
        "cleaner-offset-checkpoint": 2,
        "log end offset": 4,
        "time-since-last-run-ms": 60_000,
        "uncleanable-partitions-count": 1,
        "uncleanable-bytes": 140,
        "DeadThreadCount": 0,
    }
    assert list(cleaner_metrics(Settings("compact", "0.9.0"), log, 0)) == [
        "cleaner-offset-checkpoint",
        "log end offset",
    ]


def test_a_dead_cleaner_cannot_fail_and_threads_could_not_be_replaced_before_1_1():
    with pytest.raises(IllegalEvent, match="the cleaner thread is dead already"):
        after(Settings("compact", "2.0"), CleanerFailed(), CleanerFailed())
    with pytest.raises(IllegalEvent, match=r"without a restart since 1\.1 only"):
        after(Settings("compact", "1.0"), ReplaceCleanerThreads())
