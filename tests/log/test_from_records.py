"""A log made of given records is cleaned like one that was written."""

from functools import partial

import pytest
from hypothesis import given

from kafkalearn.errors import KafkaLearnError
from kafkalearn.log import Append, Clean, Log, NewBatch, Record, Roll, Settings, check, closed_log, step
from kafkalearn.trace import run
from tests.log.test_laws import rows


@given(rows)
def test_it_is_cleaned_as_if_its_records_had_been_written_one_by_one(records):
    settings, clean = Settings("compact"), Clean(1000, is_forced=True)
    written = run(partial(step, settings), Log(), [Append(tuple(NewBatch((each,)) for each in records)), Roll()])[
        -1
    ].state
    log = closed_log(Record(offset, *each) for offset, each in enumerate(records))
    check(log)

    assert log.segments[0].size_bytes == written.segments[0].size_bytes
    assert step(settings, log, clean).last.verdicts == step(settings, written, clean).last.verdicts


def test_a_horizon_from_an_earlier_pass_counts():
    log = closed_log([Record(5, "a", None, 0), Record(8, "b", None, 0)], {5: 900})
    cleaned = step(Settings("compact"), log, Clean(1000, is_forced=True))

    assert [record.offset for record in cleaned.records] == [8]


def test_records_out_of_order_are_refused():
    with pytest.raises(KafkaLearnError, match="offset 3 follows 3: give the records in the order of offsets"):
        closed_log([Record(3, "a", "1", 0), Record(3, "b", "1", 0)])


def test_no_records_are_an_empty_log():
    assert closed_log([]) == Log()
