"""A log judges the sequence numbers of producers as Kafka's log did, and as `kafkalearn.delivery` does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.log import Append, EndTransaction, NewBatch, ProducerExpired, Settings, check, start, step
from kafkalearn.log.model import Appended, AppendRefused, DuplicateRecognised, SegmentRolled
from kafkalearn.log.sequences import ProducerStateEntry, Stamp, judge, remember
from tests.log.schedules import after
from tests.log.scripts import observed, play
from tests.recorded import recorded

LAST = 2**31 - 1


def batch(sequence=None, epoch=None, count=1, **more):
    records = tuple(("k", f"v{index}", 1) for index in range(count))
    return NewBatch(records, producer_id=7, producer_epoch=epoch, base_sequence=sequence, **more)


def sent(*batches):
    return [Append((each,)) for each in batches]


@pytest.mark.parametrize("case", recorded("log-idempotence")["cases"], ids=lambda case: case["id"])
def test_a_log_answers_every_batch_as_kafka_s_log_did(case):
    settings = Settings(**case["config"])
    moments = play(case["config"], case["events"])
    for expected in case["expect"]:
        log = moments[expected["event"]]
        said = {name: value for name, value in expected.items() if name not in ("event", "op", "segments")}
        assert observed(settings, log, said) == said
        if "segments" in expected:
            spans = [[each.base_offset, each.last_offset] for each in log.batches]
            assert [span for each in expected["segments"] for span in each["batches"]] == spans


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, 3, 4, LAST]), st.integers(1, 3)), max_size=20))
def test_a_log_judges_as_the_shared_rule(batches):
    log, entry = start(Settings()), None
    for epoch, sequence, count in batches:
        end, stamp = log.log_end_offset, Stamp(7, epoch, sequence, count)
        verdict = judge(entry, stamp)
        log = step(Settings(), log, Append((batch(sequence, epoch, count),)))
        check(Settings(), log)
        if verdict.is_accepted:
            entry = remember(entry, stamp, end)
            assert log.effects == (Appended(end, end + count - 1),)
        elif verdict.duplicate_of is None:
            assert log.effects == (AppendRefused(verdict.error),)
        else:
            first = verdict.duplicate_of.base_offset
            assert log.effects == (DuplicateRecognised(first, first + count - 1),)
        assert log.log_end_offset == end + (count if verdict.is_accepted else 0)


def test_a_repeated_batch_is_answered_with_its_first_offset_and_not_written():
    log = after(Settings(), *sent(batch(0, 0, 2), batch(2, 0), batch(0, 0, 2)))
    assert (log.effects, log.log_end_offset, len(log.batches)) == ((DuplicateRecognised(0, 1),), 3, 2)


def test_a_request_behind_a_repeated_batch_is_written_and_one_behind_a_gap_is_not():
    log = after(Settings(), *sent(batch(0, 0)), Append((batch(0, 0), batch(1, 0))))
    assert log.effects == (DuplicateRecognised(0, 0), Appended(1, 1))
    log = after(Settings(), *sent(batch(0, 0)), Append((batch(2, 0), batch(1, 0))))
    assert (log.effects, log.log_end_offset) == ((AppendRefused("OUT_OF_ORDER_SEQUENCE_NUMBER"),), 1)


def test_a_full_segment_is_closed_before_the_sequence_is_judged():
    log = after(Settings(segment_bytes=71), *sent(batch(0, 0), batch(0, 0)))
    assert log.effects == (SegmentRolled(1), DuplicateRecognised(0, 0))


@pytest.mark.parametrize(
    ("release", "error"),
    [("4.3", "INVALID_PRODUCER_EPOCH"), ("2.7", "INVALID_PRODUCER_EPOCH"), ("2.6", "PRODUCER_FENCED")],
)
def test_an_old_epoch_is_refused_and_so_is_its_marker(release, error):
    known = sent(batch(0, 1))
    assert after(Settings(release=release), *known, *sent(batch(1, 0))).effects == (AppendRefused(error),)
    log = after(Settings(release=release), *known, EndTransaction(7, True, 2, producer_epoch=0))
    assert (log.effects, log.log_end_offset) == ((AppendRefused(error),), 1)


@pytest.mark.parametrize(
    ("release", "error"),
    [("0.11.0", "OUT_OF_ORDER_SEQUENCE_NUMBER"), ("1.0", "UNKNOWN_PRODUCER_ID"), ("2.4", "UNKNOWN_PRODUCER_ID")],
)
def test_up_to_2_4_a_producer_that_is_not_known_begins_with_0(release, error):
    forgotten = [*sent(batch(0, 0)), ProducerExpired(7), *sent(batch(1, 0))]
    assert after(Settings(release=release), *forgotten).effects == (AppendRefused(error),)
    assert after(Settings(release="2.5"), *forgotten).effects == (Appended(1, 1),)


def test_a_marker_that_raises_the_epoch_leaves_no_sequence():
    marked = [*sent(batch(0, 0, 2, is_transactional=True)), EndTransaction(7, False, 2, producer_epoch=1)]
    assert after(Settings(), *marked).producers[0].entry == ProducerStateEntry(1, ())
    assert after(Settings(), *marked, *sent(batch(0, 1))).effects == (Appended(3, 3),)
    assert after(Settings(), *marked, *sent(batch(2, 1))).effects == (AppendRefused("OUT_OF_ORDER_SEQUENCE_NUMBER"),)
    assert after(Settings(release="2.4"), *marked, *sent(batch(2, 1))).effects == (
        AppendRefused("UNKNOWN_PRODUCER_ID"),
    )


def test_a_marker_of_the_same_epoch_leaves_the_sequence():
    log = after(Settings(), *sent(batch(0, 0)), EndTransaction(7, True, 2), *sent(batch(0, 0), batch()))
    assert (log.batches[-1].base_sequence, log.effects) == (1, (Appended(2, 2),))


def test_a_batch_without_a_sequence_gets_the_next_one():
    log = after(Settings(), *sent(batch(count=3), batch(), batch(epoch=1), batch()))
    stamps = [(each.producer_epoch, each.base_sequence) for each in log.batches]
    assert stamps == [(0, 0), (0, 3), (1, 0), (1, 1)]
    assert after(Settings(), *sent(batch(LAST, 0), batch())).batches[-1].base_sequence == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"producer_id": 7, "base_sequence": -1}, "base_sequence must be at least 0, got -1"),
        ({"producer_id": 7, "producer_epoch": -1}, "producer_epoch must be at least 0, got -1"),
        ({"producer_id": 7, "base_sequence": 2**31}, "base_sequence must be at most 2,147,483,647"),
        ({"base_sequence": 0}, "without a producer id a batch has no epoch and no sequence"),
        ({"is_transactional": True}, "a transaction has a producer id"),
    ],
)
def test_a_stamp_that_no_producer_writes_is_refused(wrong, message):
    with pytest.raises(KafkaLearnError, match=message):
        NewBatch((("k", "v", 1),), **wrong)


def test_before_0_11_producers_had_no_ids():
    with pytest.raises(IllegalEvent, match=r"producers have ids since Kafka 0\.11\.0, the release is 0\.10\.2"):
        after(Settings(release="0.10.2"), *sent(batch(0, 0)))
