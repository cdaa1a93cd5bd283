"""Which records are overtaken by others."""

from hypothesis import given

from kafkalearn.consuming import overtakings
from tests.consuming.groups import SCHEDULES, SETTINGS, run_what_is_legal


@given(settings=SETTINGS, events=SCHEDULES)
def test_only_records_of_different_partitions_overtake_each_other(settings, events):
    state = run_what_is_legal(settings, events)[-1].state
    partitions = {record.number: number for number, log in enumerate(state.logs) for record in log}
    for group in state.groups:
        for each in overtakings(state, group.group_id):
            assert each.late.number < each.overtaken_by.number
            assert partitions[each.late.number] != partitions[each.overtaken_by.number]
            assert not each.is_of_one_key
