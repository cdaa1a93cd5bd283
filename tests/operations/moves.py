"""Random lives of a coordinator, and the recorded ones."""

from __future__ import annotations

from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.operations import coordinator_life
from kafkalearn.operations.coordinator_life.model import APIS

IDS = (1, 2, 3)
RELEASES = ("0.9.0", "1.1", "2.0", "2.8.0", "2.8.1", "3.9", "4.0", "4.3")

BROKERS, GROUPS = st.sampled_from(IDS), st.sampled_from(["billing", "copies"])
EVENTS = st.one_of(
    st.builds(coordinator_life.BrokerLost, BROKERS),
    st.builds(coordinator_life.BrokerBack, BROKERS),
    st.builds(coordinator_life.CoordinatorStarted, BROKERS),
    st.just(coordinator_life.LeaderImbalanceChecked()),
    st.builds(coordinator_life.TimePassed, st.sampled_from([1000, 50_000, 700_000])),
    st.builds(coordinator_life.OrderCarriedOut, BROKERS, st.integers(1, 6)),
    st.builds(coordinator_life.LoadRead, BROKERS, st.sampled_from([None, 1])),
    st.builds(
        coordinator_life.Request, BROKERS, st.sampled_from(APIS), GROUPS, st.sampled_from(["", "c1"]), st.integers(0, 9)
    ),
    st.builds(
        coordinator_life.GroupStored,
        st.just("billing"),
        st.sampled_from([(), ("c1",), ("c1", "c2")]),
        st.integers(1, 9),
    ),
    st.builds(coordinator_life.Request, BROKERS, st.just("OffsetCommit"), GROUPS, producer_id=st.just(5)),
    st.builds(coordinator_life.TransactionEnded, st.just(5), st.booleans()),
)


def lived(settings: coordinator_life.Settings, events: list[object]) -> Trace:
    """A run over those of the events that make sense."""
    frames = [Frame(0, None, coordinator_life.start(settings))]
    for event in events:
        try:
            frames.append(Frame(len(frames), event, coordinator_life.step(settings, frames[-1].state, event)))
        except IllegalEvent:
            continue
    return Trace(frames)


def carried_out(settings: coordinator_life.Settings, life: object) -> Trace:
    """The run in which every broker does all that it was ordered, in order, and loads end."""
    frames = [Frame(0, None, life)]

    def add(event: object) -> None:
        frames.append(Frame(len(frames), event, coordinator_life.step(settings, frames[-1].state, event)))

    for broker_id in settings.broker_ids:
        for _ in range(20):
            coordinator = frames[-1].state.coordinator(broker_id)
            if coordinator.is_reading:
                add(coordinator_life.LoadRead(broker_id))
            elif coordinator.orders:
                add(coordinator_life.OrderCarriedOut(broker_id, coordinator.orders[0].epoch))
    return Trace(frames)
