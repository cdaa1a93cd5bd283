"""What holds of share groups whatever is asked, in which order, by whom."""

from itertools import pairwise

from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from kafkalearn.sharing import Settings, check, simulate
from kafkalearn.sharing import work as programs
from kafkalearn.sharing.events import (
    Acknowledgement,
    AlterShareGroupOffsets,
    BrokerRestarted,
    ConnectionClosed,
    DeleteRecords,
    EndTxn,
    FetchAnswer,
    Produce,
    RecordsCompacted,
    ShareAcknowledge,
    ShareFetch,
    ShareGroupHeartbeat,
    TimePassed,
)
from kafkalearn.sharing.search import TWO_PROGRAMS

MEMBERS = st.sampled_from(("m1", "m2"))
EPOCHS = st.integers(-1, 5)
OFFSETS = st.integers(0, 8)
ACKNOWLEDGEMENTS = st.tuples(
    st.builds(
        lambda first, more, kind: Acknowledgement("t-0", first, first + more, (kind,)),
        OFFSETS,
        st.integers(0, 3),
        st.integers(0, 4),
    )
)
MODES = st.sampled_from(("batch_optimized", "record_limit"))
SIZES = {"max_records": st.sampled_from((1, 2, 500)), "batch_size": st.sampled_from((1, 3, 500)), "mode": MODES}
WAITS = {"max_wait_ms": st.sampled_from((0, 400))}
REQUESTS = st.one_of(
    st.builds(Produce, st.just("t-0"), st.integers(1, 4), transaction=st.sampled_from(("", "", "x"))),
    st.builds(EndTxn, st.just("x"), st.booleans()),
    st.builds(ShareFetch, st.just("g"), MEMBERS, st.just(0), st.just(("t-0",)), **SIZES, **WAITS),
    st.builds(ShareFetch, st.just("g"), MEMBERS, EPOCHS, acknowledgements=ACKNOWLEDGEMENTS, **SIZES, **WAITS),
    st.builds(ShareFetch, st.just("g"), MEMBERS, EPOCHS, **SIZES, **WAITS),
    st.builds(ShareAcknowledge, st.just("g"), MEMBERS, EPOCHS, ACKNOWLEDGEMENTS, is_renew=st.booleans()),
    st.builds(TimePassed, st.sampled_from((300, 16_000, 31_000))),
    st.builds(ConnectionClosed, MEMBERS),
    st.builds(DeleteRecords, st.just("t-0"), OFFSETS),
    st.builds(RecordsCompacted, st.just("t-0"), st.tuples(OFFSETS, OFFSETS)),
    st.builds(ShareGroupHeartbeat, st.just("g"), MEMBERS, st.sampled_from((0, 2, 3, -1)), st.just(("t",))),
    st.builds(AlterShareGroupOffsets, st.just("g"), st.tuples(st.tuples(st.just("t-0"), OFFSETS))),
    st.builds(BrokerRestarted),
)
SETTINGS = st.builds(
    lambda release, limit, locks, isolation: Settings(
        release,
        delivery_count_limit=limit,
        max_record_locks=locks,
        group_configs={"g": {"share.auto.offset.reset": "earliest", "share.isolation.level": isolation}},
    ),
    st.sampled_from(("4.2", "4.3", "4.4")),
    st.integers(2, 5),
    st.sampled_from((3, 2000)),
    st.sampled_from(("read_uncommitted", "read_committed")),
)
JOINED = (Produce("t-0", 3), ShareGroupHeartbeat("g", "m1", 0, ("t",)))


@given(SETTINGS, st.lists(REQUESTS, max_size=25))
def test_what_always_holds_holds_after_any_request(settings, requests):
    for before, after in pairwise(simulate(settings, [*JOINED, *requests])):
        check(settings, after.state, before.state)


@given(SETTINGS, st.lists(REQUESTS, max_size=25))
def test_no_record_is_with_two_holders_whose_answers_both_came_while_its_lock_held(settings, requests):
    """Told from the answers alone: a record that was given comes again only after something that gives it back."""
    trace = simulate(settings, [*JOINED, *requests])
    for frame in trace:
        for answer in (each for each in frame.state.effects if isinstance(each, FetchAnswer)):
            ranges = [(first, last) for part in answer.partitions for first, last, _ in part.acquired]
            assert all(first <= last for first, last in ranges)
            assert all(one[1] < two[0] for one, two in pairwise(ranges))
            for part in answer.partitions:
                share = frame.state.share_partition("g", part.partition)
                if not part.acquired or share is None or not isinstance(frame.event, ShareFetch):
                    continue
                holders = {
                    held.member
                    for first, last, _ in part.acquired
                    for offset in range(first, last + 1)
                    if (held := share.held(offset)) is not None
                }
                assert holders <= {answer.member, ""}


@given(SETTINGS, st.lists(REQUESTS, max_size=25))
def test_in_record_limit_mode_nobody_gets_more_than_he_asked_for(settings, requests):
    for frame in simulate(settings, [*JOINED, *requests]):
        if isinstance(frame.event, ShareFetch) and frame.event.mode == "record_limit":
            for answer in (each for each in frame.state.effects if isinstance(each, FetchAnswer)):
                if answer.member == frame.event.member and not answer.has_waited:
                    got = sum(last - first + 1 for part in answer.partitions for first, last, _ in part.acquired)
                    assert got <= frame.event.max_records


@examples(max_examples=60)
@given(st.integers(2, 4), st.lists(st.sampled_from(TWO_PROGRAMS), max_size=20))
def test_programs_process_nothing_that_did_not_come_and_are_told_of_each_record_at_most_so_often(limit, chosen):
    settings = programs.settings(delivery_limit=limit)
    state = programs.start(settings)
    for event in chosen:
        try:
            after = programs.step(settings, state, event)
        except programs.IllegalEvent:
            continue
        programs.check(settings, after, state)
        state = after
    end = state.cluster.log("t-0").end_offset
    assert all(0 <= each.offset < end for each in state.processed)
    counts = {}
    for each in state.cluster.deliveries:
        counts[each.offset] = counts.get(each.offset, 0) + 1
    assert all(count <= limit for count in counts.values())
