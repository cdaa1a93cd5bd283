"""Random lives of a coordinator, and the recorded ones."""

from __future__ import annotations

from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.operations.coordinator_life import (
    BrokerBack,
    BrokerLost,
    CoordinatorStarted,
    GroupStored,
    LeaderImbalanceChecked,
    LoadRead,
    OrderCarriedOut,
    Request,
    Settings,
    TimePassed,
    TransactionEnded,
    start,
    step,
)
from kafkalearn.operations.coordinator_life.model import APIS

IDS = (1, 2, 3)
RELEASES = ("0.9.0", "1.1", "2.0", "2.8.0", "2.8.1", "3.9", "4.0", "4.3")

BROKERS, GROUPS = st.sampled_from(IDS), st.sampled_from(["billing", "copies"])
EVENTS = st.one_of(
    st.builds(BrokerLost, BROKERS),
    st.builds(BrokerBack, BROKERS),
    st.builds(CoordinatorStarted, BROKERS),
    st.just(LeaderImbalanceChecked()),
    st.builds(TimePassed, st.sampled_from([1000, 50_000, 700_000])),
    st.builds(OrderCarriedOut, BROKERS, st.integers(1, 6)),
    st.builds(LoadRead, BROKERS, st.sampled_from([None, 1])),
    st.builds(Request, BROKERS, st.sampled_from(APIS), GROUPS, st.sampled_from(["", "c1"]), st.integers(0, 9)),
    st.builds(GroupStored, st.just("billing"), st.sampled_from([(), ("c1",), ("c1", "c2")]), st.integers(1, 9)),
    st.builds(Request, BROKERS, st.just("OffsetCommit"), GROUPS, producer_id=st.just(5)),
    st.builds(TransactionEnded, st.just(5), st.booleans()),
)


def lived(settings: Settings, events: list[object]) -> Trace:
    """A run over those of the events that make sense."""
    frames = [Frame(0, None, start(settings))]
    for event in events:
        try:
            frames.append(Frame(len(frames), event, step(settings, frames[-1].state, event)))
        except IllegalEvent:
            continue
    return Trace(frames)


def carried_out(settings: Settings, life: object) -> Trace:
    """The run in which every broker does all that it was ordered, in order, and loads end."""
    frames = [Frame(0, None, life)]

    def add(event: object) -> None:
        frames.append(Frame(len(frames), event, step(settings, frames[-1].state, event)))

    for broker_id in settings.broker_ids:
        for _ in range(20):
            coordinator = frames[-1].state.coordinator(broker_id)
            if coordinator.is_reading:
                add(LoadRead(broker_id))
            elif coordinator.orders:
                add(OrderCarriedOut(broker_id, coordinator.orders[0].epoch))
    return Trace(frames)
