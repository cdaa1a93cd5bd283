"""A log made from records is cleaned like one that was written."""

import pytest
from hypothesis import given

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Clean, Log, Record, Roll, check, log_from_records, step
from tests.log.schedules import COMPACT, after, offsets, one_each, rows


@given(rows)
def test_it_is_cleaned_as_if_its_records_had_been_written_one_by_one(records):
    clean = Clean(1000, is_forced=True)
    written = after(COMPACT, one_each(*records), Roll())
    log = log_from_records(Record(offset, *each) for offset, each in enumerate(records))
    check(COMPACT, log)

    assert log.segments[0].size_bytes == written.segments[0].size_bytes
    assert step(COMPACT, log, clean).effects == step(COMPACT, written, clean).effects


def test_a_horizon_from_an_earlier_pass_counts():
    log = log_from_records([Record(5, "a", None, 0), Record(8, "b", None, 0)], {5: 900})

    assert offsets(step(COMPACT, log, Clean(1000, is_forced=True))) == [8]


def test_records_out_of_order_are_refused():
    with pytest.raises(KafkaLearnError, match="offset 3 follows 3: give the records in the order of offsets"):
        log_from_records([Record(3, "a", "1", 0), Record(3, "b", "1", 0)])


def test_no_records_are_an_empty_log():
    assert log_from_records([]) == Log()
