"""A producer of keyless records, by three releases, held to the contract."""

from kafkalearn.partitioning.keyless import Drain, Send, SenderLooks, SendToOtherTopic, Settings
from tests.contract.simulator import Run, Simulator

EVENTS = (
    Send(),
    Send(key=b"order-42"),
    SendToOtherTopic(),
    Send(value_bytes=500),
    Send(partition=2),
    SenderLooks(stalled=(1,)),
    Drain((0,)),
    Send(),
    Drain(),
)

SIMULATOR = Simulator(
    home="kafkalearn.partitioning.keyless",
    runs=[Run(Settings(3, release, batch_size=400), EVENTS) for release in ("0.10.1", "2.3", "2.4", "4.3")],
    senseless=(Send(partition=3), Drain((3,)), SenderLooks(stalled=(9,))),
)
