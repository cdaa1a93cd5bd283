"""Programs that share records: what each promise costs to break, and what Kafka really does then."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.releases.lines import RELEASES
from kafkalearn.sharing import Settings, search, simulator, work
from kafkalearn.sharing.events import (
    AlterGroupConfigs,
    BrokerRestarted,
    DeleteRecords,
    ReadShareGroupStateSummary,
    ShareFetch,
    WriteShareGroupState,
)
from kafkalearn.sharing.work import (
    Accept,
    Arrive,
    Crash,
    Hang,
    Keep,
    Poll,
    Reject,
    Release,
    Renew,
    TimePassed,
    settings,
)

LOCK = 30_000


def last(chosen, *happened):
    """The state at the end of a run."""
    return work.simulate(chosen, happened)[-1].state


def delivered(state):
    return [(each.member, each.offset, each.count) for each in state.cluster.deliveries]


def test_the_shortest_ways_to_process_a_record_twice_out_of_order_and_not_at_all():
    ways = {
        work.PROCESSED_ONCE: ["Arrive", "Poll", "TimePassed", "Poll", "Accept", "Accept"],
        work.PROCESSED_IN_ORDER: ["Arrive", "Poll", "Arrive", "Poll", "Accept", "Accept"],
        work.PROCESSED_AT_ALL: ["Arrive", "Poll", "Release", "Poll", "Release"],
    }
    for promise, way in ways.items():
        found = search.find(
            settings(delivery_limit=2), promises=[promise], at_most={Arrive: 2, TimePassed: 1, Crash: 1}
        )
        assert [type(frame.event).__name__ for frame in found.trace[1:]] == way


def test_a_record_that_its_holder_never_lets_go_stops_the_partition_for_all():
    found = search.find_stuck(settings(max_locks=3, max_poll_records=1), at_most={Arrive: 4})
    assert found.outcome == "found"
    assert [type(frame.event).__name__ for frame in found.trace[1:]].count("Arrive") == 4
    assert search.find_stuck(settings(max_locks=3, max_poll_records=1), at_most={Arrive: 3}).outcome == "nothing left"


def test_what_happens_at_last_is_named_as_a_kind_or_as_one_event():
    chosen, each = settings(max_locks=2, max_poll_records=1), search.ONE_HOLDS
    for fair, length in {(Poll, Keep, Accept): 9, each[1:]: 9, (): 6}.items():
        assert len(search.find_stuck(chosen, at_most={Arrive: 3}, fair=fair).trace) == length, fair


def test_two_thousand_more_records_are_read_past_one_that_is_held_and_no_more():
    chosen = settings(max_poll_records=1, acquire_mode="record_limit")
    state = last(chosen, Arrive(), Poll("c1"))
    for number in range(4):
        state = work.simulate(work.settings(), [Arrive(500), Poll("c2"), Accept("c2")], initial=state)[-1].state
        assert state.cluster.share_partition(work.GROUP, "t-0").in_flight_count == 1 + 500 * (number + 1)
    state = work.simulate(work.settings(), [Arrive(), Poll("c2")], initial=state)[-1].state
    assert state.program("c2").has == ()
    assert state.cluster.share_partition(work.GROUP, "t-0").start_offset == 0


def test_one_bad_record_is_alone_at_its_last_delivery():
    """apache#20837: with limit 5, a batch of 8 is whole three times, then halved, then record by record."""
    chosen = settings(delivery_limit=5)
    happened = [Arrive(8)]
    for _ in range(9):
        happened += [Poll("c1"), Release("c1")]
    ranges = [
        len(frame.state.program("c1").has) for frame in work.simulate(chosen, happened) if type(frame.event) is Poll
    ]
    assert ranges == [8, 8, 8, 4, 1, 1, 1, 1, 4]


def test_a_late_word_is_refused_while_the_record_is_with_somebody_else_and_taken_once_it_is_passed():
    chosen = settings()
    refused = last(chosen, Arrive(), Poll("c1"), TimePassed(LOCK), Poll("c2"), Accept("c1"))
    assert [each.is_taken for each in refused.processed] == [False]
    passed = last(chosen, Arrive(), Poll("c1"), TimePassed(LOCK), Poll("c2"), Accept("c2"), Accept("c1"))
    assert [(each.program, each.is_taken) for each in passed.processed] == [("c2", True), ("c1", True)]


def test_the_end_of_a_connection_gives_back_and_a_hanging_program_does_not():
    chosen = settings()
    assert delivered(last(chosen, Arrive(), Poll("c1"), Crash("c1"), Poll("c2")))[-1] == ("c2", 0, 2)
    assert last(chosen, Arrive(), Poll("c1"), Hang("c1"), Poll("c2")).program("c2").has == ()
    assert delivered(last(chosen, Arrive(), Poll("c1"), Hang("c1"), TimePassed(LOCK), Poll("c2")))[-1] == ("c2", 0, 2)


def test_renewing_keeps_a_record_for_as_long_as_one_likes():
    state = last(settings(), Arrive(), Poll("c1"), Keep("c1", 10 * LOCK), Poll("c2"), Accept("c1"))
    assert delivered(state) == [("c1", 0, 1)]
    assert state.program("c2").has == ()


def test_a_restart_forgets_a_delivery_that_nobody_ended():
    chosen = settings()
    state = last(chosen, Arrive(2), Poll("c1"), Accept("c1", [0]), BrokerRestarted(), Poll("c2"))
    assert delivered(state) == [("c1", 0, 1), ("c1", 1, 1), ("c2", 1, 1)]
    ended = last(chosen, Arrive(), Poll("c1"), Release("c1"), BrokerRestarted(), Poll("c2"))
    assert delivered(ended)[-1] == ("c2", 0, 2)
    cluster = last(chosen, Arrive(2), Poll("c1"), BrokerRestarted()).cluster
    assert (cluster.sessions, cluster.opened, cluster.share_partitions) == ((), (), ())


def test_what_is_given_back_can_be_had_when_exactly_as_many_are_in_flight_as_may_be():
    state = last(settings(max_locks=2), Arrive(2), Poll("c1"), Release("c1"), Poll("c2"))
    assert delivered(state)[-2:] == [("c2", 0, 2), ("c2", 1, 2)]


def test_a_lower_limit_is_seen_when_a_delivery_ends():
    chosen = settings(delivery_limit=5)
    lower = AlterGroupConfigs(work.GROUP, (("share.delivery.count.limit", "2"),))
    twice = [Arrive(), Poll("c1"), Release("c1"), Poll("c1"), Release("c1")]
    state = last(chosen, *twice, lower, Poll("c1"))
    assert delivered(state)[-1] == ("c1", 0, 3)
    assert last(chosen, *twice, lower, Poll("c1"), Release("c1")).cluster.given_up == {(work.GROUP, "t-0", 0)}


def test_with_implicit_acknowledgement_the_next_poll_accepts_all():
    state = last(settings(acknowledging="implicit"), Arrive(2), Poll("c1"), Poll("c1"))
    assert [(each.offset, each.is_taken) for each in state.processed] == [(0, True), (1, True)]
    assert state.cluster.accepted == {(work.GROUP, "t-0", 0), (work.GROUP, "t-0", 1)}


def test_a_rejected_record_is_given_up_at_its_first_delivery_and_a_dead_letter_tells_of_it_where_a_topic_takes_them():
    given_up = last(settings(), Arrive(), Poll("c1"), Reject("c1"))
    assert simulator.SOMEBODY in simulator.broken(settings().cluster, given_up.cluster)
    with_letters = settings(
        topics={"t": 1, "dlq.t": 1},
        topic_configs={"dlq.t": {"errors.deadletterqueue.group.enable": "true"}},
        configs={"errors.deadletterqueue.topic.name": "dlq.t"},
    )
    told = last(with_letters, Arrive(), Poll("c1"), Reject("c1"))
    (letter,) = told.cluster.log("dlq.t-0").batches[0].dead_letters
    assert (letter.offset, letter.reason) == (0, "Offset rejected by client.")
    assert simulator.SOMEBODY not in simulator.broken(with_letters.cluster, told.cluster)


def test_a_dead_letter_that_was_not_sent_before_a_restart_is_sent_when_the_leader_reads_the_state_again():
    chosen = settings(
        topics={"t": 1, "dlq.t": 1},
        topic_configs={"dlq.t": {"errors.deadletterqueue.group.enable": "true"}},
        configs={"errors.deadletterqueue.topic.name": "dlq.t"},
    )
    state = last(chosen, Arrive()).cluster
    kept = simulator.step(chosen.cluster, state, ReadShareGroupStateSummary(work.GROUP, "t-0")).effects[-1]
    epoch = dict(kept.results)["stateEpoch"]
    archiving = WriteShareGroupState(work.GROUP, "t-0", epoch, 0, 0, 0, ((0, 0, 3, 1),))
    fetch = ShareFetch(work.GROUP, "c1", 0, ("t-0",), max_wait_ms=0)
    after = simulator.simulate(chosen.cluster, [archiving, fetch], initial=state)[-1].state
    (letter,) = after.log("dlq.t-0").batches[0].dead_letters
    assert (letter.offset, letter.delivery_count) == (0, 1)
    assert after.share_partition(work.GROUP, "t-0").start_offset == 1


def test_deleted_records_are_never_delivered_again():
    state = last(
        settings(), Arrive(2), Poll("c1"), Release("c1"), DeleteRecords("t-0", 2), Arrive(), Poll("c2"), Poll("c1")
    )
    assert delivered(state)[2:] in ([("c1", 2, 1)], [("c2", 2, 1)])


@pytest.mark.parametrize("release", [each for each in RELEASES if each not in ("4.2", "4.3", "4.4")])
def test_releases_before_4_2_are_refused_with_the_reason(release):
    with pytest.raises(KafkaLearnError, match=rf"not {release}: share groups of 4.0 and 4.1 were previews"):
        Settings(release)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"share_version": 3}, "share.version of 4.4 is 0 to 2, and this is 3"),
        ({"release": "4.3", "share_version": 2}, "share.version of 4.3 is 0 to 1, and this is 2"),
        ({"topics": {"t": 0}}, "topics must say how many partitions a topic has"),
        ({"group_configs": {"g": {"share.delivery.count.limit": "1"}}}, "Value must be at least 2"),
        ({"group_configs": 7}, "group_configs must be a dict"),
    ],
)
def test_settings_that_no_broker_has_are_refused(wrong, words):
    with pytest.raises(KafkaLearnError, match=words):
        Settings(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        settings(programs=("c1", "")),
        settings(programs=tuple(f"c{n}" for n in range(201))),
        replace(settings(), cluster=replace(settings().cluster, assignment_interval_ms=50_000)),
    ],
    ids=["no name", "too many", "expelled"],
)
def test_a_program_that_is_no_member_when_the_run_begins_is_named(wrong):
    with pytest.raises(KafkaLearnError, match=r"program '.*' is no member when the run begins"):
        work.start(wrong)


def test_a_program_that_has_not_said_what_became_of_its_records_cannot_poll():
    with pytest.raises(IllegalEvent, match="c1 has to say first what became of 0"):
        last(settings(), Arrive(), Poll("c1"), Poll("c1"))
    with pytest.raises(IllegalEvent, match="c1 has no such record"):
        last(settings(), Arrive(), Poll("c1"), Renew("c1", [7]))


@pytest.mark.parametrize(
    ("limit", "given"),
    [(2, [8, 8]), (3, [8, 8, 1]), (4, [8, 8, 4, 1]), (5, [8, 8, 8, 4, 1]), (6, [8, 8, 8, 4, 2, 1])],
)
def test_near_the_limit_a_batch_that_is_given_back_again_and_again_comes_in_halves(limit, given):
    chosen = settings(delivery_limit=limit)
    state, found = work.start(chosen), []
    for event in (Arrive(8), *(Poll("c1"), Release("c1")) * limit):
        after = work.step(chosen, state, event)
        if isinstance(event, Poll):
            found.append(len(after.cluster.deliveries) - len(state.cluster.deliveries))
        state = after
    assert found == given
