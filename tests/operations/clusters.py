"""Clusters and schedules for laws of leadership."""

from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.operations import leadership

BROKERS = (1, 2, 3, 4)
EVENTS = [
    *map(leadership.BrokerLost, BROKERS),
    *map(leadership.BrokerBack, BROKERS),
    leadership.TimePassed(200_000),
    leadership.LeaderImbalanceChecked(),
    leadership.ElectLeaders(),
    leadership.ElectLeaders("orders", 0),
]

replicas = st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True)
sizes = st.integers(0, 1_000)


@st.composite
def partitions(draw):
    drawn = draw(st.lists(st.tuples(replicas, sizes), min_size=1, max_size=8))
    return tuple(
        leadership.partition_of("orders", place, each, size_bytes=size) for place, (each, size) in enumerate(drawn)
    )


@st.composite
def runs(draw, releases=("2.8", "4.3")):
    """Settings, and a run of some partitions through events that make sense."""
    settings = leadership.Settings(BROKERS, draw(st.sampled_from(releases)))
    first = leadership.cluster_of(settings, draw(partitions()))
    state, kept = first, []
    for event in draw(st.lists(st.sampled_from(EVENTS), max_size=20)):
        try:
            state = leadership.step(settings, state, event)
        except IllegalEvent:
            continue
        kept.append(event)
    return settings, leadership.simulate(settings, kept, first)
