"""Where logs part, by the rules of four eras."""

from dataclasses import replace

import pytest

from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerThawed,
    DeleteRecords,
    Fetch,
    LeaderElected,
    Produce,
    SessionExpired,
    Settings,
    replica_log,
    rules_of,
    simulate,
    step,
)
from kafkalearn.replication.events import FetchAnswered, LogTruncated
from kafkalearn.replication.leader import FetchAnswer, log_after
from kafkalearn.replication.state import Log, Record, assign_before_kafka_7415, end_offset_before_kip_279

EPOCHS = ((0, 0), (3, 2), (4, 8), (7, 13), (9, 14), (10, 17))  # the log of PartitionTest, in the recorded case E01


def log_of(*epochs: int, **marks) -> Log:
    """A log with one record of each of these epochs in turn."""
    return replica_log.copy(
        rules_of(), Log(**marks), tuple(Record(f"{epoch}-{index}", epoch) for index, epoch in enumerate(epochs))
    )


@pytest.mark.parametrize(
    ("fetch_offset", "last_epoch", "answer"),
    [
        (17, 10, None),
        (17, 9, None),
        (15, 9, None),
        (9, 3, (3, 8)),  # epoch 3 ends before the fetch
        (14, 8, (7, 14)),  # epoch 8 is not known; the largest below it ends here
        (2, 2, (0, 2)),
        (17, 11, (-1, -1)),
    ],
)
def test_a_leader_tells_where_a_follower_s_log_parts(fetch_offset, last_epoch, answer):
    leader = Log(records=(Record("x", 0),) * 17, epochs=EPOCHS)
    assert replica_log.diverging_epoch(leader, fetch_offset, last_epoch) == answer


@pytest.mark.parametrize(
    ("epochs", "leader_says", "cut"),
    [
        ((0, 0, 1, 1), (1, 3), (3, True)),  # both know the epoch: the shorter one counts
        ((0, 0, 1, 1), (1, 9), (4, True)),
        ((0, 0, 2, 2), (1, 3), (2, False)),  # the follower does not: cut where its next smaller one ends, ask again
        ((3, 3), (1, 1), (0, True)),  # its first epoch is a later one: nothing of it is left
        ((), (1, 0), (0, True)),
    ],
)
def test_a_follower_cuts_where_both_logs_have_the_same_epoch(epochs, leader_says, cut):
    assert replica_log.cut_for(log_of(*epochs), *leader_says) == cut


def test_before_kip_279_a_leader_s_answer_may_be_about_another_epoch():
    leader, follower = log_of(0, 2, 2), log_of(0, 1, 1)
    once, again = Settings(release="1.1"), Settings(release="2.0")

    assert [replica_log.cut_before_fetching(s, follower, leader)[0].log_end_offset for s in (once, again)] == [1, 1]

    # The follower led epoch 3 before the leader led 5, and the leader never had 3.
    leader, follower = log_of(0, 0, 5), log_of(0, 3, 3)
    assert replica_log.cut_before_fetching(once, follower, leader)[0].records == follower.records[:2]  # 3 stays: wrong
    assert replica_log.cut_before_fetching(again, follower, leader)[0].records == follower.records[:1]


@pytest.mark.parametrize("release", ["1.1", "2.0"])
def test_an_answer_without_an_offset_falls_back_to_the_own_high_watermark(release):
    follower = log_of(0, 1, 1)._replace(high_watermark=2)
    cut, is_whole = replica_log.cut_before_fetching(Settings(release=release), follower, Log())
    assert (cut.log_end_offset, is_whole) == (2, True)


def test_out_of_range_is_mended_by_where_the_leader_s_log_lies():
    follower = log_of(0, 0, 0)._replace(high_watermark=2)

    assert replica_log.cut_out_of_range(follower, log_of(0)).log_end_offset == 1
    assert replica_log.cut_out_of_range(follower, log_of(0, 0, 0, 0)) == follower
    anew = replica_log.cut_out_of_range(follower, Log(first_offset=7, log_start_offset=7))
    assert (anew.log_end_offset, anew.log_start_offset, anew.high_watermark, anew.epochs) == (7, 7, 7, ())


def fast_failover(release: str):
    """Broker 1 crashes with a record only it has; its own copy comes back to a leader with another one."""
    settings = Settings(replica_count=2, release=release, is_unclean_election_enabled=True, fetch_wait_max_ms=0)
    events = [Produce(acks=1), BrokerCrashed(1), LeaderElected(2, (2,)), Produce(acks=1), Produce(acks=1)]
    return simulate(settings, [*events, BrokerStarted(1), Fetch(1), Fetch(1)])


@pytest.mark.parametrize("release", ["0.10.2", "1.1", "2.7"])
def test_up_to_2_7_a_log_is_cut_before_the_first_fetch(release):
    effects = [effect for frame in fast_failover(release) for effect in frame.state.effects]
    cut = LogTruncated(broker_id=1, from_offset=1, to_offset=0)
    assert cut in effects
    assert cut.was_cut


def truncations_in(trace):
    return [[each for each in frame.state.effects if isinstance(each, LogTruncated)] for frame in trace]


@pytest.mark.parametrize("release", ["0.11.0", "1.1", "2.0", "2.7"])
def test_up_to_2_7_nothing_to_cut_differs_from_not_being_asked_to_cut(release):
    trace = simulate(Settings(2, release, fetch_wait_max_ms=0), [Produce(acks=1), Fetch(2), Fetch(2)])

    _, _, first, second = truncations_in(trace)
    assert first == [LogTruncated(broker_id=2, from_offset=0, to_offset=0)]
    assert not first[0].was_cut
    assert second == []  # it has asked where to cut, and goes on fetching


def test_up_to_0_10_a_new_follower_truncates_to_its_high_watermark_even_if_that_has_no_effect():
    settings = Settings(2, "0.10.2", fetch_wait_max_ms=0)
    copied = [Produce(acks=1), Fetch(2), Fetch(2), Fetch(2)]
    for events, cut in (([Produce(acks=1)], (1, 0)), (copied, (1, 1))):
        *_, last = truncations_in(simulate(settings, [*events, LeaderElected(2, (1, 2))]))
        assert last == [LogTruncated(1, *cut)]


def test_since_2_8_no_log_is_cut_before_the_first_fetch():
    for release in ("2.8", "4.3"):
        trace = simulate(
            Settings(2, release), [Produce(acks=1), Fetch(2), Fetch(2), LeaderElected(2, (1, 2)), Fetch(1)]
        )
        assert truncations_in(trace) == [[]] * len(trace)


def answers_in(trace):
    return [each for frame in trace for each in frame.state.effects if isinstance(each, FetchAnswered)]


def test_an_answer_that_cuts_is_told_from_one_with_nothing_to_cut_and_from_one_that_asks_for_no_cut():
    cut, *plain = answers_in(fast_failover("4.3"))
    assert (cut.truncated_from, cut.truncated_to, cut.was_cut) == (1, 0, True)
    assert {(each.truncated_from, each.truncated_to, each.was_cut) for each in plain} == {(None, None, False)}


@pytest.mark.parametrize(("elections", "error", "diverging"), [(1, "OFFSET_OUT_OF_RANGE", None), (6, "NONE", (0, 1))])
def test_an_epoch_without_records_leaves_nothing_to_cut(elections, error, diverging):
    settings = Settings(replica_count=2, fetch_wait_max_ms=0)
    events = [Produce(acks=1), Fetch(2), Fetch(2), *[LeaderElected(1, (1, 2))] * elections]
    before = simulate(settings, events)[-1].state
    follower = before.replica(2)
    ahead = follower.log._replace(epochs=((0, 0), (5, 1)))  # it has noted an epoch, and no record of it
    replicas = (before.replicas[0], follower._replace(log=ahead))
    (answer,) = (
        each
        for each in step(settings, replace(before, replicas=replicas), Fetch(2)).effects
        if isinstance(each, FetchAnswered)
    )
    assert (answer.error, answer.diverging) == (error, diverging)
    assert (answer.truncated_from, answer.truncated_to, answer.was_cut) == (1, 1, False)


def test_a_follower_whose_leader_begins_later_begins_anew_there():
    settings = Settings(replica_count=2, fetch_wait_max_ms=0)
    events = [Produce(3, acks=1), BrokerFrozen(2), LeaderElected(1, (1,)), DeleteRecords(2), BrokerThawed(2)]
    trace = simulate(settings, [*events, BrokerReconnected(2), Fetch(2)])
    answer = answers_in(trace)[0]
    assert (answer.error, answer.truncated_from, answer.truncated_to) == ("OFFSET_OUT_OF_RANGE", 0, 2)
    assert trace[-1].state.replica(2).log.log_start_offset == 2


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_since_2_8_the_first_fetch_finds_out(release):
    trace = fast_failover(release)
    answers = [each for frame in trace for each in frame.state.effects if isinstance(each, FetchAnswered)]

    assert (answers[0].diverging, answers[0].truncated_to) == ((0, 0), 0)
    assert [record.value for record in trace[-1].state.replica(1).log.records] == ["m2", "m3"]


def test_a_cut_takes_marks_and_epochs_along():
    log = log_of(0, 0, 1, 1, 2)._replace(high_watermark=4, log_start_offset=3)
    cut = replica_log.truncate(log, 2)

    assert (cut.log_end_offset, cut.high_watermark, cut.log_start_offset, cut.epochs) == (2, 2, 2, ((0, 0),))
    assert replica_log.truncate(log, 9) == log


def test_an_epoch_without_records_goes_even_if_no_record_does():
    log = log_of(0, 0)._replace(epochs=((0, 0), (1, 2)))
    assert replica_log.truncate(log, 2) == log._replace(epochs=((0, 0),))


def test_the_log_start_moves_up_only_and_cuts_the_epochs():
    log = replica_log.move_start(log_of(0, 0, 1, 1), 3)
    assert (log.log_start_offset, log.high_watermark, log.epochs, log.log_end_offset) == (3, 3, ((1, 3),), 4)
    assert replica_log.move_start(log, 2) == log


def test_a_log_begun_anew_goes_on_from_there():
    log = replica_log.append(rules_of(), replica_log.begin_anew(log_of(0, 0), 9), ("a", "b"), 4)
    assert log.log_end_offset == 11
    assert [record.value for record in log.records_from(10)] == ["b"]
    assert log.records_from(0, 10) == log.records[:1]


@pytest.mark.parametrize(("checkpointed", "found"), [(0, 1), (1, 1), (2, 2), (9, 3)])
def test_a_restart_finds_the_checkpointed_high_watermark_within_the_log(checkpointed, found):
    log = log_of(0, 0, 0)._replace(log_start_offset=1, checkpointed_high_watermark=checkpointed, high_watermark=3)
    assert replica_log.found_again(log).high_watermark == found


def test_a_follower_s_high_watermark_is_overwritten_not_raised():
    follower = log_of(0, 0, 0)._replace(high_watermark=3)
    after = log_after(
        rules_of(), follower, FetchAnswer(high_watermark=2, records=(Record("x", 0),)), log_of(0, 0, 0, 0)
    )
    assert (after.log_end_offset, after.high_watermark) == (4, 2)
    assert log_after(rules_of(), follower, FetchAnswer("FENCED_LEADER_EPOCH"), Log()) == follower


@pytest.mark.parametrize(
    ("noted", "cache", "log_end", "ends"),
    [
        ([(2, 9), (3, 9)], ((2, 9), (3, 9)), 9, {}),
        ([(1, 5), (2, 6), (1, 7)], ((1, 5), (2, 6)), 8, {1: 6, 2: 8}),
        ([(2, 6), (3, 5)], ((2, 6),), 6, {}),
        ([(2, 6), (2, 10)], ((2, 6),), 11, {}),
        ([(0, 0), (1, 0)], ((0, 0), (1, 0)), 5, {0: 0, 1: 5}),
        ([(0, 0), (1, 0), (2, 5)], ((0, 0), (1, 0), (2, 5)), 10, {0: 0, 1: 5, 2: 10}),
    ],
)
def test_the_epoch_cache_of_0_11_to_2_0_0_does_what_its_own_unit_test_wants(noted, cache, log_end, ends):
    """LeaderEpochFileCacheTest of 1.1.1: where leaders change, and where epochs or offsets would go backwards."""
    epochs = ()
    for each in noted:
        epochs = assign_before_kafka_7415(epochs, *each)
    assert epochs == cache
    assert {epoch: end_offset_before_kip_279(epochs, epoch, log_end) for epoch in ends} == ends


@pytest.mark.parametrize(
    ("release", "cached"), [("2.0.0", [(), (), ((1, 0),)]), ("2.0.1", [((0, 0),), ((1, 0),), ((1, 0),)])]
)
def test_an_epoch_is_noted_with_its_first_record_up_to_2_0_0_and_at_the_election_since(release, cached):
    settings = Settings(2, release, fetch_wait_max_ms=0)
    trace = simulate(settings, [BrokerCrashed(1), SessionExpired(1), Produce(acks=1)])
    first = trace[0].state.replica(1).log.epochs
    assert [first, *(frame.state.replica(2).log.epochs for frame in trace[2:])] == cached
