"""A shift of work: what members do by the clock, and what the simulator makes of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.sharing.shifts import ACCEPTED, CRASHED, DIES, DONE, FAILED, FAILS, LATE, Job, Settings, Try, work_off

TRIES = st.builds(Try, st.integers(1, 60_000), st.sampled_from((DONE, DONE, FAILS, DIES)))
JOBS = st.lists(st.lists(TRIES, min_size=1, max_size=5), min_size=1, max_size=6)


def test_a_record_that_nobody_can_process_is_given_up_after_its_last_delivery_and_stops_nobody():
    jobs = [Job(0, (Try(1_000, FAILS),)), *(Job(0, (Try(2_000),)) for _ in range(3))]
    done = work_off(Settings(member_count=2), jobs)
    assert [each.end for each in done if each.offset == 0] == [FAILED] * 5
    assert [(each.offset, each.began_ms) for each in done if each.end == ACCEPTED] == [(1, 0), (2, 2_000), (3, 4_000)]


def test_work_that_is_longer_than_the_lock_is_done_five_times_and_accepted_never():
    jobs = [Job(0, (Try(20_000),))]
    done = work_off(Settings(member_count=2, lock_ms=15_000), jobs)
    assert [each.end for each in done] == [LATE] * 5
    assert [each.end for each in work_off(Settings(member_count=2, lock_ms=20_001), jobs)] == [ACCEPTED]


def test_what_a_dead_member_held_goes_to_another_at_once_and_it_is_away_for_a_while():
    jobs = [Job(0, (Try(500, DIES), Try(1_000))), Job(0, (Try(700),)), Job(800)]
    done = work_off(Settings(member_count=2, away_ms=10_000), jobs)
    assert [(each.offset, each.count, each.began_ms, each.end) for each in done] == [
        (0, 1, 0, CRASHED), (1, 1, 0, ACCEPTED), (0, 2, 700, ACCEPTED), (2, 1, 1_700, ACCEPTED),
    ]  # fmt: skip


def test_jobs_come_in_the_order_of_their_offsets():
    with pytest.raises(KafkaLearnError, match="none earlier than the one before it"):
        work_off(Settings(), [Job(10), Job(5)])
    with pytest.raises(KafkaLearnError, match="at least one Try"):
        Job(0, ())


@settings(max_examples=25)
@given(JOBS, st.integers(1, 3), st.sampled_from((15_000, 30_000)))
def test_every_record_is_accepted_once_or_tried_as_often_as_the_limit_says(drawn, member_count, lock_ms):
    jobs = [Job(place * 500, tuple(tries)) for place, tries in enumerate(drawn)]
    done = work_off(Settings(member_count=member_count, lock_ms=lock_ms), jobs)
    for offset in range(len(jobs)):
        mine = [each for each in done if each.offset == offset]
        assert [each.count for each in mine] == list(range(1, len(mine) + 1))
        assert [each.end for each in mine].count(ACCEPTED) == (mine[-1].end == ACCEPTED)
        assert mine[-1].end == ACCEPTED or len(mine) == 5
