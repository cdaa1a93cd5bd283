"""Which ways from one store to the other lose records, and that the documented one does not."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper.commits import Crash, Produce, Settings, Shutdown, Start, simulate
from kafkalearn.zookeeper.commits.search import MOVES, find, in_zookeeper
from kafkalearn.zookeeper.commits.simulator import NONE_SKIPPED, NONE_TWICE

LARGEST, SMALLEST = Settings(), Settings(auto_offset_reset="smallest")
AT_ONCE, AFTER_A_CRASH = "at once, without dual commit", "by dual commit, and on after a crash"
BACK = "back to ZooKeeper from the topic alone"


@pytest.mark.parametrize("way", ["nobody moves", "to dual commit"])
@pytest.mark.parametrize("settings", [LARGEST, SMALLEST], ids=["largest", "smallest"])
def test_with_dual_commit_no_schedule_loses_or_doubles_a_record_where_each_shutdown_commits(way, settings):
    found = find(settings, MOVES[way], [NONE_SKIPPED, NONE_TWICE], depth=7)
    assert (found.trace, found.outcome) == (None, "depth")


@pytest.mark.parametrize(("way", "length"), [(AT_ONCE, 2), (AFTER_A_CRASH, 2)])
def test_the_shortest_schedules_that_lose_records(way, length):
    found = find(LARGEST, MOVES[way])
    assert found.broken == (NONE_SKIPPED,)
    assert len(found.trace) - 1 == length
    assert found.trace[-1].event == Start("new", "kafka", dual_commit_enabled=False)


def test_dual_commit_has_to_commit_before_the_topic_is_believed_alone():
    """Who has started it and sees it run is not done: the topic has nothing yet."""
    dual = (Produce(), Start("dual", "kafka"), Crash("dual"))
    begun = simulate(LARGEST, dual, in_zookeeper(LARGEST))[-1].state
    new = (Start("new", "kafka", dual_commit_enabled=False),)
    assert find(LARGEST, new, initial=begun).broken == (NONE_SKIPPED,)
    done = simulate(LARGEST, [*dual[:2], Shutdown("dual")], in_zookeeper(LARGEST))[-1].state
    assert find(LARGEST, (*new, Produce(), Shutdown("new")), initial=done, depth=5).trace is None


@pytest.mark.parametrize(("way", "settings"), [(AT_ONCE, SMALLEST), (BACK, LARGEST)], ids=["at once", "back"])
def test_where_there_is_an_older_offset_the_same_mistake_doubles_instead(way, settings):
    assert find(settings, MOVES[way], [NONE_TWICE]).broken == (NONE_TWICE,)


def test_a_search_gives_up_when_its_budget_is_spent():
    found = find(LARGEST, MOVES["to dual commit"], depth=2**32, budget=50)
    assert (found.trace, found.outcome) == (None, "budget")


def test_an_unknown_promise_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown promise"):
        find(LARGEST, MOVES["nobody moves"], ["no record is lost"])
