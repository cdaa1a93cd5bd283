"""Pods of a group that changes its protocol: whatever is done to them, their clients bring the group to rest."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.groups import mixed
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat
from kafkalearn.groups.consumer import Settings as OfTopics
from kafkalearn.groups.described import NOT_FOUND, described, shown_by_admin
from kafkalearn.groups.mixed.pods import (
    ALL_IN,
    ALL_READ,
    CoordinatorMoved,
    Dies,
    Leaves,
    Settings,
    Starts,
    Switches,
    TimePassed,
    broken,
    check,
    requests,
    simulate,
    start,
    step,
)
from tests.schedules import sensible_steps

NAMES = ("c1", "c2", "c3")
DONE = st.one_of(
    st.builds(Starts, st.sampled_from(NAMES), st.sampled_from(["classic", "consumer"])),
    *(st.builds(kind, st.sampled_from(NAMES)) for kind in (Leaves, Switches, Dies)),
    st.just(CoordinatorMoved()),
)

BROKERS = st.sampled_from(
    [
        (policy, release)
        for policy in mixed.POLICIES
        for release in ("4.0", "4.4")
        if (policy, release) != ("upgrade", "4.4")
    ]
)
"""Policies and releases; of the one that is left out, a test of its own says what happens."""


def settings_of(policy="bidirectional", release="4.4"):
    return Settings(mixed.Settings(release, policy, consumer=OfTopics(release, topics={"orders": 4})), NAMES)


def played(settings, events):
    """The rollout after those events that make sense one after the other, each judged."""
    rollout = first = start(settings)
    for before, _, rollout in sensible_steps(step, settings, first, events):
        check(settings, rollout, before)
    return rollout


@given(st.lists(DONE, min_size=3, max_size=12), BROKERS)
def test_who_is_killed_is_waited_for_and_then_all_is_read_by_those_that_are_left(events, broker):
    """Whatever is done to pods, in whichever order: the group comes to rest, and each partition has one reader."""
    settings = settings_of(*broker)
    rollout = played(settings, events)
    rollout = step(settings, step(settings, rollout, TimePassed(120_000)), TimePassed(6000))
    running = {pod.name for pod in rollout.pods if pod.is_running}

    assert rollout.group.state == ("Stable" if running else "Empty")
    assert {name for names in rollout.readers.values() for name in names} == running
    assert (ALL_READ in broken(settings, rollout)) == (not running and rollout.group.group_type is not None)
    for pod in rollout.pods:
        if pod.is_running:  # each knows what the coordinator knows
            assert set(rollout.given_to(pod.name)) == set(pod.owned)
            assert pod.epoch == rollout.group.epoch


@given(st.lists(DONE.filter(lambda event: not isinstance(event, Dies)), min_size=3, max_size=10))
def test_where_nobody_is_killed_no_time_need_pass(events):
    settings = settings_of()
    rollout = played(settings, events)

    assert rollout.group.state in ("Stable", "Empty")
    assert (ALL_READ not in broken(settings, rollout)) or not any(pod.is_running for pod in rollout.pods)


def test_a_pod_that_is_killed_is_counted_until_its_session_ends():
    settings = settings_of()
    killed = simulate(settings, [Starts("c1"), Starts("c2", "consumer"), Dies("c2")])[-1].state
    assert broken(settings, killed) == (ALL_READ,)
    assert set(killed.given_to("c2").values()) == {"c2"}

    after = simulate(settings, [TimePassed(42_000), TimePassed(6000)], killed)
    assert [frame.state.group.group_type for frame in after] == ["Consumer", "Consumer", "Classic"]
    assert broken(settings, after[-1].state) == ()
    assert after[-1].state.readers.keys() == killed.readers.keys() | killed.given_to("c2").keys()


def test_a_pod_that_the_policy_keeps_out_has_failed_and_may_be_started_again():
    settings = settings_of("disabled")
    run = simulate(settings, [Starts("c1"), Starts("c2", "consumer"), Starts("c2")])
    assert run[2].state.pod("c2").error == "GROUP_ID_NOT_FOUND"
    assert broken(settings, run[2].state) == (ALL_IN,)
    assert broken(settings, run[3].state) == ()
    assert run[3].state.group.group_type == "Classic"


@pytest.mark.parametrize(("release", "is_all_read"), [("4.0", True), ("4.2", True), ("4.3", False), ("4.4", False)])
def test_where_no_way_leads_back_the_last_new_pod_leaves_partitions_that_nobody_reads_until_somebody_joins(
    release, is_all_read
):
    """Classic members ask nobody for a new target, and since 4.3 they are not sent to join before there is one."""
    settings = settings_of("upgrade", release)
    run = simulate(settings, [Starts("c1"), Starts("c2", "consumer"), Leaves("c2"), TimePassed(600_000), Starts("c3")])

    assert run[4].state.group.group_type == "Consumer"
    assert run[4].state.group.state == ("Stable" if is_all_read else "Assigning")
    assert (broken(settings, run[4].state) == ()) == is_all_read
    assert broken(settings, run[5].state) == ()


def test_requests_are_the_same_step_seen_by_the_coordinator():
    settings = settings_of()
    run = simulate(settings, [*map(Starts, NAMES), Switches("c3")])
    asked = requests(settings, run[-2].state, Switches("c3"))

    assert asked[0].state == run[-2].state.group
    assert asked[-1].state == run[-1].state.group
    for before, after in pairwise(asked):
        mixed.check(settings.group, after.state, before.state)
    joins = [frame.index for frame in asked[1:] if isinstance(frame.event, ConsumerGroupHeartbeat)]
    assert [asked[number].state.group_type for number in (joins[0] - 1, joins[0])] == ["Classic", "Consumer"]


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        (("c1", "c1"), "comes once"),
        (("a/b",), "without /"),
        ((), "at least 1"),
        (tuple("abcdefghijklmn"), "at most 12"),
    ],
)
def test_what_are_no_pods_is_refused(pods, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(pods=pods)


def test_what_makes_no_sense_names_the_pods():
    settings = settings_of()
    with pytest.raises(IllegalEvent, match=r"'c9' is no pod; there are c1, c2, c3"):
        step(settings, start(settings), Leaves("c9"))
    with pytest.raises(IllegalEvent, match="c1 does not run"):
        step(settings, start(settings), Leaves("c1"))


# What a tool shows of a group, by what it asks with.


@pytest.mark.parametrize(
    ("group_type", "request_", "version", "state", "error"),
    [
        ("classic", "DescribeGroups", 5, "Stable", "NONE"),
        ("consumer", "DescribeGroups", 5, "Dead", "NONE"),
        ("consumer", "DescribeGroups", 6, "Dead", NOT_FOUND),
        (None, "DescribeGroups", 5, "Dead", "NONE"),
        ("classic", "ConsumerGroupDescribe", 1, "Dead", NOT_FOUND),
        ("consumer", "ConsumerGroupDescribe", 0, "Stable", "NONE"),
    ],
)
def test_a_group_is_shown_by_the_request_of_its_type(group_type, request_, version, state, error):
    answer = described(group_type, request_, version)
    assert (answer.state, answer.error, answer.has_members) == (state, error, state == "Stable")


def test_a_dead_group_and_one_of_the_new_protocol_cannot_be_told_apart_by_the_old_request():
    assert described("consumer", "DescribeGroups", 5) == described(None, "DescribeGroups", 5)
    assert shown_by_admin("consumer") != shown_by_admin(None)


@pytest.mark.parametrize(
    "wrong", [("new", "DescribeGroups", 5), ("classic", "Describe", 5), ("classic", "DescribeGroups", 7)]
)
def test_what_is_not_there_is_refused(wrong):
    with pytest.raises(KafkaLearnError):
        described(*wrong)
