"""Looking an offset up in a segment's index."""

from hypothesis import given

from kafkalearn.log import look_up
from kafkalearn.log.index import index_of
from tests.log.schedules import after, offsets, plain_schedules, small_settings


@given(small_settings, plain_schedules)
def test_a_look_up_finds_the_record_or_the_next_one_behind_its_index_entry(settings, schedule):
    log = after(settings, *schedule)
    for offset in range(log.log_end_offset):
        base, position, found = look_up(settings, log, offset)
        assert found == min((each for each in offsets(log) if each >= offset), default=None)
        segment = next(each for each in log.segments if each.base_offset == base)
        index = index_of(settings, segment, segment is not log.active)
        assert position in {0, *(at for _, at in index.offsets)}
