"""Schedules of a topic and its groups, drawn by Hypothesis."""

from hypothesis import strategies as st

from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, start, step
from tests.schedules import sensible_run

GROUPS = ("billing", "shipping")
NAMES = ("0", "1", "2", "3")

EVENTS = st.one_of(
    st.builds(Produce, st.just("r"), st.one_of(st.none(), st.sampled_from([b"A", b"D", b"F", b"user-1"]))),
    st.builds(Join, st.sampled_from(GROUPS), st.sampled_from(NAMES)),
    st.builds(Leave, st.sampled_from(GROUPS), st.sampled_from(NAMES)),
    st.builds(Poll, st.sampled_from(GROUPS), st.sampled_from(NAMES), st.integers(1, 4)),
)

SCHEDULES = st.lists(EVENTS, max_size=40)

SETTINGS = st.builds(
    Settings,
    st.integers(1, 4),
    assignor=st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"]),
    auto_offset_reset=st.sampled_from(["earliest", "latest"]),
)


def run_what_is_legal(settings, events):
    """The run of those events that make sense where they come."""
    return sensible_run(step, settings, start(settings), events)
