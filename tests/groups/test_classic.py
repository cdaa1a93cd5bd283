"""The coordinator of a classic group, request by request: what no recorded script shows, from the source."""

from itertools import pairwise

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.java import hash_order
from kafkalearn.groups.classic import (
    TRANSITIONS,
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    SyncGroup,
    TimePassed,
    broken,
    check,
    simulate,
    step,
)
from kafkalearn.groups.classic.model import (
    CommitAnswered,
    DeleteAnswered,
    GroupWritten,
    LeaveAnswered,
    StateChanged,
    broker_settings,
    transition,
)
from kafkalearn.groups.classic.simulator import NONE_REMOVED, STAYS_STABLE

NO_DELAY = Settings(group_initial_rebalance_delay_ms=0)
OLD_JOIN = {"version": 3}  # without the round that gives out a member id


def play(*events, settings=NO_DELAY):
    """The group after a run, every state of it checked."""
    trace = simulate(settings, events)
    for before, after in pairwise(trace):
        check(settings, after.state, before.state)
    return trace[-1].state


def stable(*clients, settings=NO_DELAY, **join):
    """The events that make a Stable group of clients; the first leads."""
    ids = [f"{client}-{number}" for number, client in enumerate(clients, start=1)]
    return [
        *(JoinGroup(client, **OLD_JOIN, **join) for client in clients),
        TimePassed(settings.group_initial_rebalance_delay_ms),
        *(SyncGroup(client, each, 1) for client, each in zip(clients[1:], ids[1:], strict=True)),
        SyncGroup(clients[0], ids[0], 1, tuple((each, f"for {each}") for each in ids)),
    ]


@pytest.mark.parametrize("release", ["2.4", "3.9", "4.3"])
def test_a_session_of_0_ends_as_soon_as_time_passes(release):
    """Such a coordinator lets everybody in; where nobody waits for more members, the answer begins the session."""
    settings = Settings(release, 0, group_min_session_timeout_ms=0)
    group = play(JoinGroup("a", session_timeout_ms=0, **OLD_JOIN), settings=settings)
    assert group.members
    assert not play(JoinGroup("a", session_timeout_ms=0, **OLD_JOIN), TimePassed(0), settings=settings).members


def errors(group):
    return [answer.error for answer in group.answers]


def test_the_assignment_of_the_leader_reaches_everybody():
    group = play(*stable("a", "b"))
    assert group.state == "Stable"
    assert group.assignment == {"a-1": "for a-1", "b-2": "for b-2"}


@pytest.mark.parametrize(("release", "expected"), [("2.6.0", "REBALANCE_IN_PROGRESS"), ("2.6.1", "NONE")])
def test_a_heartbeat_between_join_and_sync_counts_since_2_6_1(release, expected):
    settings = Settings(release, group_initial_rebalance_delay_ms=0)
    group = play(
        JoinGroup("a", **OLD_JOIN), TimePassed(0), TimePassed(4000), Heartbeat("a", "a-1", 1), settings=settings
    )
    assert group.state == "CompletingRebalance"
    assert errors(group) == [expected]
    assert group.members[0].expires_ms == (14_000 if expected == "NONE" else 10_000)


def test_who_has_no_member_id_is_given_one_by_the_version_of_his_request():
    assert errors(play(JoinGroup("a"))) == ["MEMBER_ID_REQUIRED"]
    assert errors(play(JoinGroup("a", version=4))) == ["MEMBER_ID_REQUIRED"]
    assert errors(play(JoinGroup("a", version=3))) == []


@pytest.mark.parametrize(("release", "newest"), [("2.4", 6), ("2.5", 7), ("3.1", 7), ("3.2", 9), ("4.4", 9)])
def test_a_client_sends_the_newest_join_of_its_release_and_can_send_no_newer_one(release, newest):
    settings = Settings(release, group_initial_rebalance_delay_ms=0)
    assert errors(play(JoinGroup("a", version=newest), settings=settings)) == ["MEMBER_ID_REQUIRED"]
    if newest < 9:
        with pytest.raises(IllegalEvent, match=f"Kafka {release} knows JoinGroup up to version {newest}"):
            play(JoinGroup("a", version=newest + 1), settings=settings)
    joined = (JoinGroup("a", instance_id="i1"), TimePassed(0), SyncGroup("a", "i1-1", 1))
    (answer,) = play(*joined, JoinGroup("b", instance_id="i1"), settings=settings).answers
    assert answer.is_assignment_skipped == (newest == 9)


def test_a_client_sends_no_newer_commit_than_its_release_knows():
    with pytest.raises(IllegalEvent, match=r"Kafka 3\.6 knows OffsetCommit up to version 8"):
        play(OffsetCommit("a", version=9), settings=Settings("3.6"))
    assert errors(play(OffsetCommit("a", version=10))) == ["NONE"]


def test_the_oldest_join_has_no_rebalance_timeout_and_no_instance_id():
    """A session of 10 s stands for it: who comes second is waited for 10 s, not 300."""
    old = {"version": 0, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 300_000}
    events = [JoinGroup("a", **old), TimePassed(0), SyncGroup("a", "a-1", 1), JoinGroup("b", **old)]
    group = play(*events)
    assert group.join_deadline_ms == group.now_ms + 10_000
    assert play(*[*events[:3], JoinGroup("b", **{**old, "version": 1})]).join_deadline_ms == group.now_ms + 300_000
    with pytest.raises(IllegalEvent, match=r"JoinGroup 4 has no group\.instance\.id"):
        play(JoinGroup("a", instance_id="i1", version=4))


def test_a_release_that_was_never_asked_is_refused():
    with pytest.raises(KafkaLearnError, match=r"groups\.classic answers for 2\.4 to \d+\.\d+, not 0\.9\.0"):
        Settings("0.9.0")


@pytest.mark.parametrize("timeout_ms", [5999, 1_800_001])
def test_a_session_timeout_outside_the_brokers_bounds_is_refused(timeout_ms):
    group = play(JoinGroup("a", session_timeout_ms=timeout_ms))
    assert errors(group) == ["INVALID_SESSION_TIMEOUT"]
    assert not group.is_known


@pytest.mark.parametrize("timeout_ms", [6000, 1_800_000])
def test_both_bounds_of_the_session_timeout_are_allowed(timeout_ms):
    assert errors(play(JoinGroup("a", session_timeout_ms=timeout_ms))) == ["MEMBER_ID_REQUIRED"]


def test_an_id_that_nobody_gave_out_is_unknown_even_before_there_is_a_group():
    assert errors(play(JoinGroup("a", "a-7"))) == ["UNKNOWN_MEMBER_ID"]
    assert errors(play(*stable("a"), JoinGroup("b", "b-7"))) == ["UNKNOWN_MEMBER_ID"]


def test_a_full_group_takes_its_own_members_back():
    full = Settings(group_initial_rebalance_delay_ms=0, group_max_size=1)
    assert errors(play(*stable("a"), JoinGroup("b"), settings=full)) == ["GROUP_MAX_SIZE_REACHED"]
    assert play(*stable("a"), JoinGroup("a", "a-1"), settings=full).generation == 2


def test_a_member_that_leaves_while_it_waits_is_answered_and_the_others_go_on():
    group = play(
        *stable("a", "b"),
        JoinGroup("a", "a-1", protocols=(("range", "other"),)),
        LeaveGroup("a", "a-1"),
        JoinGroup("b", "b-2"),
    )
    assert (group.state, group.generation, group.leader) == ("CompletingRebalance", 2, "b-2")


def test_waiting_for_an_answer_is_as_good_as_a_heartbeat():
    """b has rejoined and is parked; a has not, and loses its session first. Only then b is answered."""
    events = [*stable("a", "b"), JoinGroup("c", **OLD_JOIN), JoinGroup("b", "b-2"), TimePassed(9_999)]
    assert [member.member_id for member in play(*events).members] == ["a-1", "b-2", "c-3"]
    after = play(*events, TimePassed(1))
    assert [member.member_id for member in after.members] == ["b-2", "c-3"]
    assert after.state == "CompletingRebalance"


def test_a_new_member_may_wait_five_minutes_for_its_first_answer():
    events = [*stable("a", session_timeout_ms=1_000_000, rebalance_timeout_ms=900_000), JoinGroup("b", **OLD_JOIN)]
    assert len(play(*events, TimePassed(299_999)).members) == 2
    gone = play(*events, TimePassed(300_000))
    assert errors(gone) == ["UNKNOWN_MEMBER_ID"]
    assert len(gone.members) == 1


def test_when_the_leader_is_late_another_leads():
    events = [*stable("a", "b", rebalance_timeout_ms=5000), JoinGroup("c", rebalance_timeout_ms=5000, **OLD_JOIN)]
    group = play(*events, JoinGroup("b", "b-2", rebalance_timeout_ms=5000), TimePassed(5000))
    assert (group.state, group.leader) == ("CompletingRebalance", "b-2")
    assert group.answers[0].members == (("b-2", None, ()), ("c-3", None, ()))


def test_a_static_member_that_is_late_stays_a_member_until_its_session_ends():
    static = [
        JoinGroup("a", instance_id="i1"),
        JoinGroup("b", instance_id="i2", session_timeout_ms=1_000_000),
        TimePassed(0),
        SyncGroup("b", "i2-2", 1),
        SyncGroup("a", "i1-1", 1),
    ]
    rejoined = JoinGroup("a", "i1-1", instance_id="i1", rebalance_timeout_ms=8000)
    group = play(*static, rejoined, TimePassed(300_000))
    assert group.state == "CompletingRebalance"
    assert [member.instance_id for member in group.members] == ["i1", "i2"]


def test_an_administrator_removes_a_static_member_by_its_instance_id_alone():
    group = play(JoinGroup("a", instance_id="i1"), TimePassed(0), LeaveGroup("admin", "", "i1"))
    assert (errors(group), group.state) == (["NONE"], "Empty")
    assert errors(step(NO_DELAY, group, LeaveGroup("admin", "", "i1"))) == ["UNKNOWN_MEMBER_ID"]


def test_a_static_member_that_returns_before_the_sync_starts_a_new_rebalance():
    group = play(
        JoinGroup("a", instance_id="i1"),
        JoinGroup("b", instance_id="i2"),
        TimePassed(0),
        SyncGroup("b", "i2-2", 1, instance_id="i2"),
        JoinGroup("b2", instance_id="i2"),
    )
    assert group.state == "PreparingRebalance"
    assert [(answer.client, answer.error) for answer in group.answers] == [("b", "FENCED_INSTANCE_ID")]


@pytest.mark.parametrize(("version", "leader", "is_skipped"), [(9, "i1-2", True), (8, "i1-1", False)])
def test_a_static_leader_that_returns_is_kept_from_assigning(version, leader, is_skipped):
    joined = JoinGroup("a2", instance_id="i1", version=version)
    group = play(JoinGroup("a", instance_id="i1"), TimePassed(0), SyncGroup("a", "i1-1", 1), joined)
    answer = group.answers[0]
    assert (group.state, answer.leader, answer.is_assignment_skipped) == ("Stable", leader, is_skipped)


def test_a_static_member_that_returns_has_a_whole_session_before_it():
    returned = [*STATIC_STABLE, TimePassed(50_000), JoinGroup("b2", instance_id="ib", protocols=BOTH)]
    group = play(*returned, TimePassed(9_000))  # under its old id it would have gone at 60 s
    assert [(member.client, member.expires_ms) for member in group.members] == [("a", 60_000), ("b2", 110_000)]
    assert play(*returned, Heartbeat("b2", "ib-3", 1), TimePassed(9_999)).members[-1].expires_ms == 60_000


def test_a_returning_static_member_that_changes_the_vote_starts_a_rebalance():
    both = (("range", ()), ("sticky", ()))
    group = play(
        JoinGroup("a", instance_id="i1", protocols=both),
        TimePassed(0),
        SyncGroup("a", "i1-1", 1),
        JoinGroup("a2", instance_id="i1", protocols=both[::-1]),
    )
    assert (group.state, group.protocol) == ("CompletingRebalance", "sticky")


def test_a_log_that_cannot_take_the_group_makes_everybody_join_again():
    group = play(
        *stable("a", "b")[:-1],
        SyncGroup("a", "a-1", 1, store_error="COORDINATOR_NOT_AVAILABLE"),
    )
    assert errors(group) == ["COORDINATOR_NOT_AVAILABLE"] * 2
    assert group.state == "PreparingRebalance"


def test_who_sends_no_sync_is_removed_since_2_8_1_and_waited_for_before():
    events = [
        *(JoinGroup(client, session_timeout_ms=60_000, rebalance_timeout_ms=5000, **OLD_JOIN) for client in "ab"),
        TimePassed(0),
        SyncGroup("a", "a-1", 1),
        TimePassed(5000),
    ]
    assert [member.client for member in play(*events).members] == ["a"]
    old = Settings("2.8.0", group_initial_rebalance_delay_ms=0)
    assert play(*events, settings=old).state == "Stable"


def test_a_member_of_another_protocol_type_is_refused():
    assert errors(play(*stable("a"), JoinGroup("b", protocol_type="connect"))) == ["INCONSISTENT_GROUP_PROTOCOL"]
    wrong = SyncGroup("a", "a-1", 1, protocol="sticky")
    assert errors(play(*stable("a"), wrong)) == ["INCONSISTENT_GROUP_PROTOCOL"]


@pytest.mark.parametrize(("release", "end_ms"), [("3.9", 6000), ("4.0", 9000)])
def test_a_group_that_was_empty_extends_its_delay_only_under_the_java_coordinator(release, end_ms):
    """Scala's coordinator asks whether the generation is 0, Java's whether the group was Empty."""
    settings = Settings(release)
    emptied = [JoinGroup("a", **OLD_JOIN), TimePassed(3000), LeaveGroup("a", "a-1")]
    again = [JoinGroup("b", **OLD_JOIN), TimePassed(1000), JoinGroup("c", **OLD_JOIN)]
    before = play(*emptied, *again, TimePassed(end_ms - 3000 - 1001), settings=settings)
    assert before.state == "PreparingRebalance"
    assert step(settings, before, TimePassed(1)).state == "CompletingRebalance"


def test_a_partition_that_moves_sends_the_waiting_ones_away_and_writes_nothing():
    group = play(*stable("a", "b"), JoinGroup("a", "a-1"), PartitionMoved())
    assert errors(group) == ["NOT_COORDINATOR"]
    assert not any(isinstance(effect, GroupWritten) for effect in group.effects)
    with pytest.raises(IllegalEvent, match="on another broker"):
        step(NO_DELAY, group, OffsetsExpired())


@pytest.mark.parametrize(("release", "error"), [("3.9", "NOT_COORDINATOR"), ("4.0", "INVALID_SESSION_TIMEOUT")])
def test_only_a_session_timeout_is_looked_at_before_the_partition_and_only_since_4_0(release, error):
    group = play(JoinGroup("a"), PartitionMoved(), JoinGroup("b", session_timeout_ms=1), settings=Settings(release))
    assert errors(group) == [error]


def test_only_the_offsets_of_an_empty_group_expire():
    with pytest.raises(IllegalEvent, match="only a known group in state Empty"):
        play(*stable("a"), OffsetsExpired())
    with pytest.raises(IllegalEvent, match="it is unknown"):
        play(OffsetsExpired())
    gone = play(*stable("a"), LeaveGroup("a", "a-1"), OffsetsExpired())
    assert (gone.state, gone.effects[-1]) == ("Dead", GroupWritten(is_tombstone=True))
    assert step(NO_DELAY, gone, JoinGroup("b")).state == "Empty"


def test_an_administrator_deletes_only_an_empty_group():
    assert play(*stable("a"), GroupDeleted()).effects == (DeleteAnswered("NON_EMPTY_GROUP"),)
    gone = play(*stable("a"), LeaveGroup("a", "a-1"), GroupDeleted())
    assert gone.effects[-2:] == (GroupWritten(is_tombstone=True), DeleteAnswered("NONE"))
    assert gone.state == "Dead"
    assert step(NO_DELAY, gone, GroupDeleted()).effects == (DeleteAnswered("GROUP_ID_NOT_FOUND"),)
    assert play(*stable("a"), PartitionMoved(), GroupDeleted()).effects == (DeleteAnswered("NOT_COORDINATOR"),)


COMMITS = {
    "nobody knows the group": ((), OffsetCommit("a", "a-1", 1), "GROUP_ID_NOT_FOUND"),
    "an older request": ((), OffsetCommit("a", "a-1", 1, version=8), "ILLEGAL_GENERATION"),
    "a client without a group": ((), OffsetCommit("a"), "NONE"),
    "the group has members": (stable("a"), OffsetCommit("tool"), "UNKNOWN_MEMBER_ID"),
    "a member": (stable("a"), OffsetCommit("a", "a-1", 1), "NONE"),
    "of another generation": (stable("a"), OffsetCommit("a", "a-1", 2), "ILLEGAL_GENERATION"),
    "before it was assigned anything": (stable("a")[:-1], OffsetCommit("a", "a-1", 1), "REBALANCE_IN_PROGRESS"),
    "while the others join": ((*stable("a"), JoinGroup("b", version=3)), OffsetCommit("a", "a-1", 1), "NONE"),
}


@pytest.mark.parametrize("name", COMMITS)
def test_a_commit_is_answered_by_who_sends_it_and_when(name):
    before, request, error = COMMITS[name]
    assert play(*before, request).effects == (CommitAnswered(request.client, error),)


def test_a_commit_keeps_its_member_alive_as_a_heartbeat_does():
    committed = play(*stable("a"), TimePassed(9000), OffsetCommit("a", "a-1", 1), TimePassed(9000))
    assert committed.state == "Stable"
    assert step(NO_DELAY, committed, TimePassed(1000)).state == "Empty"


def test_several_leave_with_one_request_and_each_is_answered():
    group = play(*stable("a", "b"), LeaveGroup("tool", "a-1", others=(("b-2", None), ("c-3", None))))
    assert group.answers == (LeaveAnswered("tool", "NONE", ("NONE", "UNKNOWN_MEMBER_ID")),)
    assert group.state == "Empty"
    unknown = play(LeaveGroup("tool", "a-1", others=(("b-2", None),)))
    assert unknown.answers == (LeaveAnswered("tool", "UNKNOWN_MEMBER_ID", ("UNKNOWN_MEMBER_ID",)),)


def test_the_next_leader_is_the_first_in_the_brokers_map_where_it_is_known_which_ids_it_draws():
    """Java walks a HashMap of the ids, bucket after bucket."""
    ids = ["d-x", "c-x", "b-x", "a-x"]
    assert hash_order(ids) == ["b-x", "a-x", "d-x", "c-x"]
    joins = [JoinGroup(each[0], drawn_id=each, **OLD_JOIN) for each in ids]
    assert play(joins[0], TimePassed(0), *joins[1:], LeaveGroup("d", "d-x")).leader == "b-x"
    numbered = [JoinGroup(each[0], **OLD_JOIN) for each in ids]
    assert play(numbered[0], TimePassed(0), *numbered[1:], LeaveGroup("d", "d-1")).leader == "c-2"


def test_of_two_assignors_with_as_many_votes_javas_map_decides():
    """A HashMap of the two names is walked: roundrobin, then range; the first with most votes is taken."""
    votes = [JoinGroup("a", protocols=(("range", ()), ("roundrobin", ())), **OLD_JOIN)]
    votes += [JoinGroup("b", protocols=(("roundrobin", ()), ("range", ())), **OLD_JOIN)]
    assert play(*votes, TimePassed(0)).protocol == play(*votes[::-1], TimePassed(0)).protocol


COMPLETING = stable("a", "b")[:-1]
OTHER = {"protocols": (("range", "other"),)}
BOTH = (("range", ()), ("sticky", ()))
STATIC = [
    *(JoinGroup(each, instance_id=f"i{each}", session_timeout_ms=60_000, protocols=BOTH) for each in "ab"),
    TimePassed(0),
]
STATIC_STABLE = [*STATIC, SyncGroup("b", "ib-2", 1), SyncGroup("a", "ia-1", 1)]
RETURN = JoinGroup("b2", instance_id="ib", session_timeout_ms=60_000, protocols=BOTH[::-1])
LATE = {"session_timeout_ms": 60_000, "rebalance_timeout_ms": 5000, **OLD_JOIN}
SLOW = [JoinGroup("a", **LATE), JoinGroup("b", **LATE), TimePassed(0)]
WAYS = {
    ("Empty", "PreparingRebalance"): [[JoinGroup("a", **OLD_JOIN)]],
    ("Stable", "PreparingRebalance"): [
        [*stable("a"), JoinGroup("b", **OLD_JOIN)],
        [*stable("a", "b"), LeaveGroup("b", "b-2")],
        [*stable("a"), TimePassed(10_000)],
        [*stable("a", "b"), JoinGroup("b", "b-2", **OTHER)],
        [*SLOW, SyncGroup("a", "a-1", 1), TimePassed(5000)],
        [*stable("a"), JoinGroup("a", "a-1")],
        [*STATIC_STABLE, RETURN, JoinGroup("a2", instance_id="ia", protocols=BOTH[::-1])],
    ],
    ("CompletingRebalance", "PreparingRebalance"): [
        [*COMPLETING, JoinGroup("c", **OLD_JOIN)],
        [*COMPLETING, LeaveGroup("b", "b-2")],
        [*COMPLETING, TimePassed(10_000)],
        [*COMPLETING, JoinGroup("b", "b-2", **OTHER)],
        [*SLOW, TimePassed(5000)],
        [*STATIC, RETURN],
        [*COMPLETING, SyncGroup("a", "a-1", 1, store_error="NOT_COORDINATOR")],
    ],
    ("PreparingRebalance", "CompletingRebalance"): [COMPLETING],
    ("PreparingRebalance", "Empty"): [[*stable("a"), LeaveGroup("a", "a-1")]],
    ("CompletingRebalance", "Stable"): [stable("a")],
    ("Empty", "Dead"): [
        [JoinGroup("a"), OffsetsExpired()],
        [JoinGroup("a"), GroupDeleted()],
        [JoinGroup("a"), PartitionMoved()],
    ],
    ("PreparingRebalance", "Dead"): [[JoinGroup("a", **OLD_JOIN), PartitionMoved()]],
    ("CompletingRebalance", "Dead"): [[*COMPLETING, PartitionMoved()]],
    ("Stable", "Dead"): [[*stable("a"), PartitionMoved()]],
}


def made_by(events, settings=NO_DELAY):
    """Every transition of a run."""
    effects = [effect for frame in simulate(settings, events) for effect in frame.state.effects]
    return {(each.before, each.after, each.cause) for each in effects if isinstance(each, StateChanged)}


@pytest.mark.parametrize("way", WAYS, ids=" to ".join)
def test_every_transition_of_the_table_is_made_by_what_it_says(way):
    made = {each for events in WAYS[way] for each in made_by(events) if each[:2] == way}
    assert made == {tuple(each) for each in TRANSITIONS if (each.before, each.after) == way}


def test_every_transition_of_the_table_leads_from_a_state_to_another():
    assert len(set(TRANSITIONS)) == len(TRANSITIONS)
    assert all(each.before != each.after for each in TRANSITIONS)
    assert {(each.before, each.after) for each in TRANSITIONS} == set(WAYS)


def test_a_transition_that_is_not_in_the_table_cannot_be_made():
    with pytest.raises(AssertionError, match="no transition"):
        transition("Stable", "Empty", "a member leaves")


def test_transitions_are_told_with_their_cause():
    effects = play(*stable("a"), LeaveGroup("a", "a-1")).effects
    told = [(each.before, each.after, each.who) for each in effects if isinstance(each, StateChanged)]
    assert told == [("Stable", "PreparingRebalance", "a"), ("PreparingRebalance", "Empty", "")]


def test_a_user_hopes_that_nobody_is_removed_and_that_a_stable_group_stays_so():
    trace = simulate(NO_DELAY, [*stable("a", "b"), LeaveGroup("b", "b-2"), JoinGroup("a", "a-1"), TimePassed(10_000)])
    judged = [broken(NO_DELAY, after.state, before.state) for before, after in pairwise(trace)]
    assert judged[-3:] == [(STAYS_STABLE,), (), (NONE_REMOVED,)]
    assert not any(judged[:-3])


def test_settings_that_no_broker_starts_with_are_refused():
    with pytest.raises(KafkaLearnError, match="no session would be allowed"):
        Settings(group_min_session_timeout_ms=10, group_max_session_timeout_ms=9)
    with pytest.raises(KafkaLearnError, match=r"did you mean 'group\.max\.size'"):
        broker_settings(values={"group.maxsize": 3})


def test_a_group_of_2_31_members_is_refused():
    with pytest.raises(KafkaLearnError, match=r"group\.max\.size must be at most"):
        Settings(group_max_size=2**31)
