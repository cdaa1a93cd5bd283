"""Transactions and the cleaner: open ones hold it back, aborted data goes."""

from hypothesis import given

from kafkalearn.log import Clean, EndTransaction, Roll
from tests.log.schedules import A_TWICE, COMPACT, after, cleanings, mixed_schedules, offsets, one_each, small_settings


def test_an_open_transaction_holds_the_cleaner_back():
    inside = one_each(("t", "1", 2), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    events = (A_TWICE, Roll(), inside, Roll(), one_each(("a", "3", 3)), Roll())
    held = after(COMPACT, *events, Clean(5, is_forced=True))
    ended = after(COMPACT, *events, EndTransaction(7, True, 4), Roll(), Clean(5, is_forced=True))

    assert (held.last_stable_offset, offsets(held)) == (2, [1, 2, 3])
    assert (ended.last_stable_offset, offsets(ended)) == (5, [2, 3])


@given(small_settings, mixed_schedules)
def test_with_transactions_too_last_values_survive_and_nothing_unstable_is_touched(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        stable = before.last_stable_offset
        assert [each for each in log.records if each.offset >= stable] == [
            each for each in before.records if each.offset >= stable
        ]
        aborted = {each.producer_id for each in before.transactions if each.is_aborted}
        untouched = [each for each in before.batches if each.producer_id not in aborted and each.marker is None]
        last = {record.key: record for batch in untouched for record in batch.records}
        for record in last.values():
            newer = any(each.key == record.key and each.offset > record.offset for each in before.records)
            assert newer or record.value is None or record in log.records
