"""What real consumers got of partitions with transactions, poll by poll: tests/vectors/transactions/readers.json."""

from kafkalearn.base.trace import extend
from kafkalearn.transactions import EndTxn, InitProducerId, MarkerArrived, Produce, Settings, TimePassed, simulate
from kafkalearn.transactions.reader import ISOLATION_LEVELS, READ_COMMITTED, lag, offset_for_time, poll, readable_to
from kafkalearn.transactions.reader import written_ms as written
from kafkalearn.transactions.simulator import step
from tests.every import every_case
from tests.recorded import recorded

CASES = recorded("readers")["cases"]
PLACE = "t-0"


def run_of(case):
    """The run in which the same is written, each batch at its time."""
    settings = Settings()
    trace = simulate(settings, [InitProducerId("x"), InitProducerId("y")])
    batches, sequences = iter(case["batches"]), {}
    for kind, *rest in case["steps"]:
        count = {"send": rest[-1], "plain": rest[-1], "commit": 1, "abort": 1}.get(kind, 0)
        while count:  # now and then a client cuts one batch in two
            *_, size, at_ms = next(batches)
            count -= size
            if at_ms > trace[-1].state.now_ms:
                trace = extend(step, settings, trace, [TimePassed(at_ms - trace[-1].state.now_ms)])
            events = events_of(trace[-1].state, kind, rest[0], ("record",) * size, sequences)
            trace = extend(step, settings, trace, events)
    return trace


def events_of(state, kind, name, records, sequences):
    """One batch of a step, or the end of a transaction with its marker."""
    if kind == "plain":
        return [Produce(None, PLACE, records=records, is_transactional=False)]
    held = state.transaction(name)
    who = held.producer_id, held.epoch
    if kind != "send":
        return [EndTxn(name, *who, kind == "commit"), MarkerArrived(name, PLACE)]
    sequence = sequences.get(who, 0)
    sequences[who] = sequence + len(records)
    return [Produce(name, PLACE, *who, sequence, records)]


@every_case("case", CASES, ids=lambda case: case["name"])
def test_the_partition_is_the_recorded_one(case):
    trace = run_of(case)
    log, at_ms = trace[-1].state.partition(PLACE), written(trace, PLACE)
    batches = [[each.offset, each.kind, max(1, len(each.records)), at_ms[each.offset]] for each in log.batches]
    assert batches == case["batches"]
    assert {level: readable_to(log, level) for level in ISOLATION_LEVELS} == case["ends"]


@every_case("case", CASES, ids=lambda case: case["name"])
def test_each_poll_gives_what_a_real_consumer_got_and_leaves_it_where_it_stood_with_its_lag(case):
    log = run_of(case)[-1].state.partition(PLACE)
    for level, by_most in case["polls"].items():
        for most, polls in by_most.items():
            position, ours = 0, []
            while (got := poll(log, position, level, int(most))).position != position:
                position = got.position
                behind = lag(log, position, isolation_level=level).by_the_client
                ours.append([[offset for offset, _ in got.records], position, behind])
            assert ours == polls, (level, most)


@every_case("case", CASES, ids=lambda case: case["name"])
def test_offsets_for_times_are_those_that_the_broker_said(case):
    trace = run_of(case)
    for at_ms, *offsets in case["times"]:
        assert [offset_for_time(trace, PLACE, at_ms, level) for level in ISOLATION_LEVELS] == offsets, at_ms


@every_case("case", CASES, ids=lambda case: case["name"])
def test_the_tool_takes_the_committed_offset_from_the_high_watermark(case):
    log = run_of(case)[-1].state.partition(PLACE)
    committed, of_the_tool = case["tool"]
    assert lag(log, readable_to(log, READ_COMMITTED), committed).by_the_tool == of_the_tool
