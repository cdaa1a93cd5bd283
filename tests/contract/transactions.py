"""Transactions: a coordinator, two partitions and a group; an application; workers that read, write and commit."""

from kafkalearn import transactions
from kafkalearn.transactions import client
from kafkalearn.transactions.processing import Assigned, Ended, OffsetFetched, OffsetsSent, Processed
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# Two transactions of one id, the second cut short by a timer.
TRANSACTIONS = (
    transactions.InitProducerId("x"),
    transactions.AddPartitionsToTxn("x", 0, 0, ("t-1",)),
    transactions.AddOffsetsToTxn("x", 0, 0, "g"),
    transactions.Produce("x", "t-0", 0, 0, 0),
    transactions.Join("g", "M0"),
    transactions.TxnOffsetCommit("x", 0, 0, "g", (("t-0", 1),), generation=1, member="M0"),
    transactions.OffsetCommit("g", (("t-1", 4),), 1, "M0"),
    transactions.LeaderWentAway(("t-1",)),
    transactions.EndTxn("x", 0, 0),
    transactions.MarkerArrived("x", "t-0"),
    transactions.CoordinatorLoaded(),
    transactions.MarkerArrived("x", "__consumer_offsets-0"),
    transactions.MarkerArrived("x", "t-0"),
    transactions.LeaderCameBack(("t-1",)),
    transactions.MarkerArrived("x", "t-1"),
    transactions.Produce("x", "t-0", 0, 1, 0),
    transactions.TimePassed(70_000),
    transactions.WriteTxnMarkers(0, 2, commit=False, partitions=("t-0",)),
    transactions.BrokerRestarted(),
)
SIMULATORS["transactions"] = Simulator(
    home="kafkalearn.transactions",
    runs=(
        Run(transactions.Settings(), TRANSACTIONS),
        Run(transactions.Settings("4.0", transaction_version=1), TRANSACTIONS[:3]),
        Run(
            transactions.Settings("4.2", coordinator_partition_count=3),
            (
                *TRANSACTIONS[:2],
                transactions.LeaderWentAway(("t-1",), is_known=True),
                transactions.EndTxn("x", 0, 0),
                transactions.CoordinatorLoaded(0),
                transactions.LeaderCameBack(("t-1",)),
                transactions.MarkerArrived("x", "t-1"),
            ),
        ),
    ),
    senseless=(transactions.MarkerArrived("x", "t-0"),),
)

# Two instances of one application with one id: the second fences the first.
APPLICATION = (
    client.Started("a"),
    client.Sent("t-0", "a"),
    client.Sent("t-1", "a"),
    client.Arrived(),
    client.GaveUp("a"),
    client.Ended(commit=False, instance="a"),
    client.Arrived(),
    transactions.MarkerArrived("x", "t-0"),
    transactions.CoordinatorLoaded(),
    client.Started("b"),
    client.Started("b"),
    client.Sent("t-0", "b"),
    client.Arrived(),
    client.Sent("t-1", "a"),
    client.Arrived(),
    client.Ended(instance="b"),
    transactions.TimePassed(1_000),
)
SIMULATORS["application"] = Simulator(
    home="kafkalearn.transactions.client",
    runs=(Run(client.Settings(), APPLICATION),),
    senseless=(client.Arrived(), client.Ended(), client.Sent("t-0", "b")),
)

# Two workers of a group: the second one has to wait, and the first one is refused.
WORK = (
    Assigned("a"),
    Processed("a"),
    OffsetsSent("a"),
    Ended("a"),
    Assigned("b"),
    transactions.MarkerArrived("a", "out-0"),
    transactions.MarkerArrived("a", "__consumer_offsets-0"),
    OffsetFetched("b"),
    Processed("b"),
    Assigned("a"),
    OffsetsSent("b"),
    Ended("b", commit=False),
    transactions.TimePassed(1_000),
)
SIMULATORS["processing"] = Simulator(
    home="kafkalearn.transactions.processing",
    runs=(
        Run(transactions.processing.Settings(), WORK),
        Run(
            transactions.processing.Settings(id_per="partition", names_member=False),
            [Assigned("a"), Processed("a"), Assigned("b")],
        ),
    ),
    senseless=(Processed("a"), OffsetFetched("a"), transactions.MarkerArrived("a", "out-0")),
)
