"""What holds in every run of the classic coordinator, whatever its clients send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.groups.classic import (
    TRANSITIONS,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    Settings,
    SyncGroup,
    TimePassed,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.groups.classic.joining import GroupUpdate
from kafkalearn.groups.classic.members import heartbeat
from kafkalearn.groups.classic.model import GroupWritten, JoinAnswered, StateChanged, Transition
from tests.contract.drawing import calls_of

CLIENTS = "abcd"
RELEASES = ["2.4", "2.6.0", "2.8.0", "3.9", "4.3"]
LONG_MS = 10_000_000
HARMLESS = ("REBALANCE_IN_PROGRESS", "NONE")

settings = st.builds(
    Settings,
    st.sampled_from(RELEASES),
    group_initial_rebalance_delay_ms=st.sampled_from([0, 3000]),
    group_max_size=st.sampled_from([2, 10]),
)
moves = st.tuples(
    st.sampled_from(["settle", "settle", "join", "join", "join", "sync", "sync", "heartbeat", "leave", "time", "time"]),
    st.sampled_from(CLIENTS),
    st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5]),
)


def spread(script):
    """The moves of a script one by one; to settle, all of the first clients join twice, wait, and sync."""
    for op, client, twist in script:
        if op == "settle":
            those = CLIENTS[: 1 + twist]
            yield from (("join", each, 0) for each in those * 2)
            yield ("time", client, 2)
            yield ("time", client, 3)
            yield from (("sync", each, 0) for each in reversed(those))
        else:
            yield op, client, twist


class Clients:
    """Clients that mostly know their place: member id and generation as they were answered last."""

    def __init__(self):
        self.ids = dict.fromkeys(CLIENTS, "")
        self.generations = dict.fromkeys(CLIENTS, 0)
        self.leaders = {}

    def event(self, move):
        op, client, twist = move
        instance = f"i-{client}" if client in "cd" else None
        member_id = self.ids[client] if twist != 5 else ""
        generation = self.generations[client] - (twist == 4)
        match op:
            case "time":
                return TimePassed([0, 1, 2000, 3000, 11_000, 301_000][twist])
            case "join":
                protocols = (("range", twist == 1), ("sticky", 0))[: 1 + twist % 2]
                timeouts = (10_000 + 1000 * twist, 20_000 - 1000 * twist)
                version = None if twist != 3 else 5 if instance else 3
                return JoinGroup(client, member_id, *timeouts, protocols, instance, version=version)
            case "sync":
                given_out = tuple((each, f"{client}'s choice") for each in self.leaders.get(client, ()))
                error = "COORDINATOR_NOT_AVAILABLE" if twist == 3 else "NONE"
                return SyncGroup(client, member_id, generation, given_out, instance, store_error=error)
            case "heartbeat":
                return Heartbeat(client, member_id, generation, instance)
        return LeaveGroup(client, member_id, instance)

    def hear(self, group):
        for answer in group.answers:
            if isinstance(answer, JoinAnswered):
                if answer.error in ("NONE", "MEMBER_ID_REQUIRED"):
                    self.ids[answer.client] = answer.member_id
                elif answer.error in ("UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"):
                    self.ids[answer.client] = ""
                if answer.error == "NONE":
                    self.generations[answer.client] = answer.generation
                    self.leaders[answer.client] = [member_id for member_id, _, _ in answer.members]


def is_sensible(group, event):
    """A pending id is only used by the dynamic client that was given it."""
    pending = [member_id for member_id, _, _ in group.pending]
    return not (isinstance(event, JoinGroup) and event.member_id in pending and event.instance_id)


def played(settings, script):
    """Every step of a run: before, event, after."""
    group, clients = start(settings), Clients()
    for move in spread(script):
        event = clients.event(move)
        if is_sensible(group, event):
            after = step(settings, group, event)
            clients.hear(after)
            yield group, event, after
            group = after


@given(settings, st.lists(moves, max_size=15))
def test_every_state_keeps_the_promises_and_every_transition_is_in_the_table(settings, script):
    for before, _, after in played(settings, script):
        check(settings, after, before)
        changes = [effect for effect in after.effects if isinstance(effect, StateChanged)]
        assert {Transition(each.before, each.after, each.cause) for each in changes} <= set(TRANSITIONS)
        assert ([before.state, *(each.after for each in changes)])[-1] == after.state or not before.is_known


@given(settings, st.lists(moves, max_size=15))
def test_a_refused_sync_or_heartbeat_changes_nothing(settings, script):
    for before, event, after in played(settings, script):
        if isinstance(event, SyncGroup | Heartbeat):
            own = [answer for answer in after.answers if answer.client == event.client]
            if own and own[0].error not in (*HARMLESS, "COORDINATOR_NOT_AVAILABLE"):
                assert after == before


@given(settings, st.lists(moves, max_size=15))
def test_every_request_is_answered_at_once_or_parked(settings, script):
    for _, event, after in played(settings, script):
        if isinstance(event, JoinGroup | SyncGroup):
            told = [answer for answer in after.answers if answer.client == event.client]
            waiters = [member.join_waiter for member in after.members if isinstance(event, JoinGroup)]
            waiters += [member.sync_waiter for member in after.members if isinstance(event, SyncGroup)]
            assert told or event.client in waiters


@given(settings, st.lists(moves, max_size=15))
def test_a_group_that_hears_nothing_more_becomes_empty(settings, script):
    group = start(settings)
    for _, _, after in played(settings, script):
        group = after
    end = step(settings, group, TimePassed(LONG_MS))
    assert (end.members, end.pending) == ((), ())
    assert end.state == "Empty"


@given(settings, st.lists(moves, max_size=15))
def test_the_short_way_of_a_heartbeat_is_the_long_way(settings, script):
    for before, event, after in played(settings, script):
        if isinstance(event, Heartbeat) and before.state != "Dead":
            update = GroupUpdate(settings, before)
            heartbeat(update, event)
            assert (update.freeze(), update.freeze().effects) == (after, after.effects)


@given(settings, st.lists(moves, max_size=15))
def test_the_group_is_written_whenever_it_becomes_stable_or_empty(settings, script):
    for _, _, after in played(settings, script):
        changes = [effect for effect in after.effects if isinstance(effect, StateChanged)]
        if any(change.after in ("Stable", "Empty") for change in changes):
            assert any(isinstance(effect, GroupWritten) for effect in after.effects)


@pytest.mark.parametrize("timeout_ms", [0, 1, 7, 3000])
def test_a_join_phase_of_silent_static_members_is_tried_again_until_their_sessions_end_in_a_step_of_bounded_work(
    timeout_ms,
):
    """Each try comes a rebalance timeout after the one before: of 1 ms there are 1.8 million in half an hour."""
    pods = [
        JoinGroup("a", instance_id="a", session_timeout_ms=1_800_000, rebalance_timeout_ms=timeout_ms),
        JoinGroup("b", instance_id="b", session_timeout_ms=60_000),
    ]
    synced = [SyncGroup(each, f"{each}-{number}", 1, instance_id=each) for number, each in ((1, "a"), (2, "b"))]
    state = simulate(Settings(), [*pods, TimePassed(3000), *synced, TimePassed(60_000)])[-1].state
    assert (state.state, [each.member_id for each in state.members]) == ("PreparingRebalance", ["a-1"])
    found = []
    assert calls_of(lambda: found.append(step(Settings(), state, TimePassed(3_000_000))), 20_000)
    many = state
    for ms in (1, 2, 49_990, 7, 100_000, 2_000_000, 850_000):
        many = step(Settings(), many, TimePassed(ms))
    assert found == [many]
    assert many.members == ()
