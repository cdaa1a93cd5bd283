"""Runs of the two coordinators of groups with one setting changed; each answers how it ends, in a few words."""

from __future__ import annotations

from kafkalearn.group import consumer
from kafkalearn.group.classic import JoinGroup, Settings, TimePassed, simulate
from kafkalearn.group.classic.effects import JoinAnswered
from kafkalearn.group.classic.events import ClassicEvent
from kafkalearn.group.classic.state import Group
from kafkalearn.group.consumer.effects import HeartbeatAnswered
from kafkalearn.trace import Trace

WITHOUT_ID = 3  # of JoinGroup: the last version whose sender becomes a member at once, as all did up to 2.1


def short_session(group_min_session_timeout_ms: int) -> str:
    """The answer to a member that asks for a session of three seconds."""
    return _answer_to(Settings(group_min_session_timeout_ms=group_min_session_timeout_ms), 3000)


def long_session(group_max_session_timeout_ms: int) -> str:
    """The answer to a member that asks for a session of an hour."""
    return _answer_to(Settings(group_max_session_timeout_ms=group_max_session_timeout_ms), 3_600_000)


def _answer_to(settings: Settings, session_timeout_ms: int) -> str:
    events = [JoinGroup("c1", session_timeout_ms=session_timeout_ms, version=WITHOUT_ID), TimePassed(3000)]
    return _answers(simulate(settings, events))[0].error


def generations_of_three(group_initial_rebalance_delay_ms: int) -> str:
    """How many generations it takes until three members that join a second apart are all in."""
    settings = Settings(group_initial_rebalance_delay_ms=group_initial_rebalance_delay_ms)
    events = [JoinGroup("c1", version=WITHOUT_ID), TimePassed(1000)]
    for number in (2, 3):
        events += [JoinGroup(f"c{number}", version=WITHOUT_ID)]
        if group_initial_rebalance_delay_ms == 0:  # who was answered comes again when the next one joins
            events += [JoinGroup(f"c{each}", f"c{each}-{each}", version=WITHOUT_ID) for each in range(1, number)]
        events += [TimePassed(1000)]
    group = simulate(settings, [*events, TimePassed(4000)])[-1].state
    return f"generation {group.generation} has {len(group.members)} members"


def third_member(group_max_size: int) -> str:
    """The answer to the third that joins."""
    events = [JoinGroup(f"c{number}", version=WITHOUT_ID) for number in (1, 2, 3)]
    answers = _answers(simulate(Settings(group_max_size=group_max_size), [*events, TimePassed(10_000)]))
    return f"the third: {next(each.error for each in answers if each.client == 'c3')}"


def _answers(trace: Trace[Group, ClassicEvent]) -> list[JoinAnswered]:
    return [each for moment in trace for each in moment.state.effects if isinstance(each, JoinAnswered)]


def silent_member(session_timeout_ms: int) -> str:
    """After how many seconds a silent member of a KIP-848 group is out."""
    settings = consumer.Settings(session_timeout_ms=session_timeout_ms)
    steps = [consumer.join("A", ("orders",)), *[consumer.TimePassed(1000)] * 100]
    for moment in consumer.simulate(settings, steps)[1:]:
        if not moment.state.members:
            return f"out after {moment.state.now_ms // 1000} s"
    return "still in after 100 s"


def third_consumer(max_size: int) -> str:
    """The answer to the third that joins a KIP-848 group."""
    joins = [consumer.join(name, ("orders",)) for name in "ABC"]
    last = consumer.simulate(consumer.Settings(max_size=max_size), joins)[-1].state
    return f"the third: {next(each.error for each in last.effects if isinstance(each, HeartbeatAnswered))}"
