"""The split brain and the herd, found by trying every schedule, and what a herd costs."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper import commits
from kafkalearn.zookeeper.commits import search as ways
from kafkalearn.zookeeper.commits.simulator import NONE_SKIPPED, NONE_TWICE
from kafkalearn.zookeeper.connector import CreateMessageStreams, RebalanceStep, SessionExpired, Settings
from kafkalearn.zookeeper.connector.simulator import (
    AT_REST,
    NOBODY_GIVES_UP,
    NOBODY_IN_THE_WAY,
    ONE_IS_CALLED,
    ONE_READER,
    READER_OWNS,
    SAME_VIEW,
    broken,
)
from kafkalearn.zookeeper.search import (
    BEGINNINGS,
    CALLED,
    CHANGES,
    EXPIRING,
    find,
    find_herd,
    find_stuck,
    herd,
    herd_cost,
    herd_costs,
)

SETTINGS = Settings(auto_commit_enable=False)


def kinds(trace):
    return [type(frame.event) for frame in trace[1:]]


def test_two_consumers_see_different_members():
    trace = find(promises=[SAME_VIEW]).trace
    seen = [each.attempt.members for each in trace[-1].state.connectors]
    assert seen == [("billing_c1",), ("billing_c1", "billing_c2")]
    assert kinds(trace).count(CreateMessageStreams) == 2


def test_both_claim_the_same_partition_and_one_finds_the_other_in_its_way():
    trace = find(promises=[NOBODY_IN_THE_WAY]).trace
    waits, owner = trace[-1].state.connector("c2"), trace[-1].state.connector("c1")
    assert waits.attempt.conflict in [info.topic_partition for info in owner.attempt.infos or owner.registry]


def test_after_four_tries_it_gives_up():
    found = find(promises=[NOBODY_GIVES_UP])
    state = found.trace[-1].state
    assert state.connector("c2").has_given_up
    assert set(kinds(found.trace)) == {CreateMessageStreams, RebalanceStep}
    assert find(Settings(rebalance_max_retries=2), [NOBODY_GIVES_UP]).depth < found.depth


def test_with_every_schedule_of_two_that_join_nobody_reads_what_another_reads():
    found = find(promises=[ONE_READER])
    assert (found.outcome, found.trace) == ("nothing left", None)


def test_a_session_that_expires_lets_two_read_one_partition():
    trace = find(promises=[ONE_READER], begins=EXPIRING).trace
    assert kinds(trace)[0] is SessionExpired
    readers = [each.reads for each in trace[-1].state.connectors]
    assert set(readers[0]) & set(readers[1])


def test_a_consumer_can_read_without_owning_when_its_session_ends_between_two_steps():
    trace = find(promises=[READER_OWNS], begins=CALLED).trace
    reader = trace[-1].state.connector(trace[-1].event.consumer)
    owner = trace[-1].state.tree.node(f"/consumers/billing/owners/orders/{reader.registry[0].partition}")
    assert reader.reads
    assert owner is None
    assert SessionExpired in kinds(trace)


def test_a_found_run_breaks_its_promise_in_its_last_moment_only():
    trace = find(promises=[SAME_VIEW]).trace
    judged = [broken(SETTINGS, frame.state, names=[SAME_VIEW]) for frame in trace]
    assert judged == [()] * (len(trace) - 1) + [(SAME_VIEW,)]


def test_with_two_one_is_called_and_with_three_a_herd():
    assert find_herd(consumer_count=2).outcome == "nothing left"
    found = find_herd(consumer_count=3)
    assert len(found.trace) == 2
    assert broken(SETTINGS, found.trace[-1].state, names=[ONE_IS_CALLED])


def test_a_herd_reads_as_the_square_of_its_size():
    costs = herd_costs([2, 4, 8])
    assert [cost.notified for cost in costs] == [2, 4, 8]
    assert [cost.rebalances for cost in costs] == [3, 5, 9]
    # each of n + 1: two reads of the event thread but for the newcomer, then 11 and one for each member and partition
    for cost in costs:
        n, partitions = cost.consumer_count, 2 * cost.consumer_count
        assert cost.reads == 2 * n + 3 + (n + 1) * (9 + n + 1) + partitions
        assert cost.writes == 4 + 2 * partitions


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_calls_everybody(change):
    cost = herd_cost(herd(4, change))
    others = {"join": 4, "leave": 3, "expire": 3, "grow": 4}[change]
    assert cost.notified >= others
    assert cost.rebalances >= others
    assert cost.gave_up == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: find(promises=["no such"]),
        lambda: find(promises=0.0),
        lambda: find(begins="later"),
        lambda: find(consumers=[]),
        lambda: find(budget=0),
        lambda: herd(0),
        lambda: herd(2, "explode"),
        lambda: herd(100_000),
        lambda: herd_costs("12"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(KafkaLearnError):
        wrong()


@pytest.mark.parametrize("begins", sorted({*BEGINNINGS} - {CALLED}))
def test_a_partition_may_stay_unread_though_all_consumers_live(begins):
    stuck = find_stuck(begins=begins)

    assert stuck.is_dead_end
    last = stuck.trace[-1].state
    assert all(each.is_running for each in last.connectors)
    assert [each.has_given_up for each in last.connectors].count(True) == 1
    assert len({partition for each in last.connectors for partition in each.reads}) < 2


@pytest.mark.parametrize("begins", sorted({*BEGINNINGS} - {CALLED}))
def test_every_change_ends_in_rest(begins):
    assert find_stuck(promise=AT_REST, begins=begins).outcome == "nothing left"


def test_one_consumer_alone_reads_everything_at_last():
    assert find_stuck(consumers=["c1"]).outcome == "nothing left"


def test_what_may_never_come_is_named():
    with pytest.raises(KafkaLearnError, match="unknown promise"):
        find_stuck(promise="every record is read")


# Which ways from one store to the other lose records, and that the documented one does not.


LARGEST, SMALLEST = commits.Settings(), commits.Settings(auto_offset_reset="smallest")
AT_ONCE, AFTER_A_CRASH = "at once, without dual commit", "by dual commit, and on after a crash"
BACK = "back to ZooKeeper from the topic alone"


@pytest.mark.parametrize("way", ["nobody moves", "to dual commit"])
@pytest.mark.parametrize("settings", [LARGEST, SMALLEST], ids=["largest", "smallest"])
def test_with_dual_commit_no_schedule_loses_or_doubles_a_record_where_each_shutdown_commits(way, settings):
    found = ways.find(settings, ways.MOVES[way], [NONE_SKIPPED, NONE_TWICE], depth=7)
    assert (found.trace, found.outcome) == (None, "depth")


@pytest.mark.parametrize(("way", "length"), [(AT_ONCE, 2), (AFTER_A_CRASH, 2)])
def test_the_shortest_schedules_that_lose_records(way, length):
    found = ways.find(LARGEST, ways.MOVES[way])
    assert found.broken == (NONE_SKIPPED,)
    assert len(found.trace) - 1 == length
    assert found.trace[-1].event == commits.Start("new", "kafka", dual_commit_enabled=False)


def test_dual_commit_has_to_commit_before_the_topic_is_believed_alone():
    """Who has started it and sees it run is not done: the topic has nothing yet."""
    dual = (commits.Produce(), commits.Start("dual", "kafka"), commits.Crash("dual"))
    begun = commits.simulate(LARGEST, dual, ways.in_zookeeper(LARGEST))[-1].state
    new = (commits.Start("new", "kafka", dual_commit_enabled=False),)
    assert ways.find(LARGEST, new, initial=begun).broken == (NONE_SKIPPED,)
    done = commits.simulate(LARGEST, [*dual[:2], commits.Shutdown("dual")], ways.in_zookeeper(LARGEST))[-1].state
    assert ways.find(LARGEST, (*new, commits.Produce(), commits.Shutdown("new")), initial=done, depth=5).trace is None


@pytest.mark.parametrize(("way", "settings"), [(AT_ONCE, SMALLEST), (BACK, LARGEST)], ids=["at once", "back"])
def test_where_there_is_an_older_offset_the_same_mistake_doubles_instead(way, settings):
    assert ways.find(settings, ways.MOVES[way], [NONE_TWICE]).broken == (NONE_TWICE,)


def test_a_search_gives_up_when_its_budget_is_spent():
    found = ways.find(LARGEST, ways.MOVES["to dual commit"], depth=2**32, budget=50)
    assert (found.trace, found.outcome) == (None, "budget")


def test_an_unknown_promise_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown promise"):
        ways.find(LARGEST, ways.MOVES["nobody moves"], ["no record is lost"])
