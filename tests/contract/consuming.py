"""What clients do: records without a key, a topic read by groups, and what is committed of it."""

from kafkalearn import commits, consuming
from kafkalearn.consuming import Join, Leave, push
from kafkalearn.consuming.push import Rewind
from kafkalearn.partitioning import keyless
from kafkalearn.partitioning.keyless import Drain, Send, SenderLooks, SendToOtherTopic
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# A producer of keyless records, by three releases.
SENT = (
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
SIMULATORS["keyless"] = Simulator(
    home="kafkalearn.partitioning.keyless",
    runs=[Run(keyless.Settings(3, release, batch_size=400), SENT) for release in ("0.10.1", "2.3", "2.4", "4.3")],
    senseless=(Send(partition=3), Drain((3,)), SenderLooks(stalled=(9,))),
)

# What members of groups read of a topic.
READ = (
    consuming.Produce("A1", b"A"),
    Join("billing", "b0"),
    Join("search", "s0"),
    Join("billing", "b1"),
    *[consuming.Produce("r")] * 5,
    consuming.Poll("billing", "b0", 2),
    consuming.Poll("search", "s0", 9),
    Leave("billing", "b0"),
    consuming.Poll("billing", "b1"),
    consuming.Poll("billing", "b1"),
    Leave("billing", "b1"),
)
SIMULATORS["consuming"] = Simulator(
    home="kafkalearn.consuming",
    runs=(
        Run(consuming.Settings(3), READ),
        Run(consuming.Settings(1, assignor="cooperative-sticky", auto_offset_reset="latest"), READ),
    ),
    senseless=(Leave("billing", "b0"), consuming.Poll("billing", "b0")),
)

# The same records pulled and pushed.
PUSHED = (
    *[push.Produce()] * 6,
    push.Process("billing", 3),
    push.Produce(),
    push.Process("search"),
    Rewind("billing", 3),
    push.Process("billing"),
)
SIMULATORS["push"] = Simulator(
    home="kafkalearn.consuming.push",
    runs=(
        Run(push.Settings(("billing", "search"), queue_limit=4, retention=5), PUSHED),
        Run(push.Settings(("billing", "search"), queue_limit=2, prefetch=1, when_full="refuse"), PUSHED),
    ),
    senseless=(push.Process("shipping"), Rewind("billing", 5)),
)

# One group on one partition, what it commits and what a crash costs.
ONE_BY_ONE = (
    commits.Start(),
    commits.Poll(),
    commits.Process(),
    commits.CommitAsync(offset=1),
    commits.CommitSync(),
    commits.Rebalance("B"),
    commits.Produce(3),
    commits.Poll("B", at_most=1),
    commits.CommitAsync("B"),
    commits.Answered("B", is_retriable=True),
    commits.Delete(4),
    commits.Crash("B"),
    commits.Assign("C"),
    commits.Close("C"),
)
WITH_A_ZOMBIE = (
    commits.Start(),
    commits.Poll(),
    commits.TimePassed(5000),
    commits.Process(),
    commits.Start("B"),
    commits.Poll("B"),
    commits.Process("B"),
    commits.Process(),
    commits.Poll(),
    commits.Close(),
)
SIMULATORS["commits"] = Simulator(
    home="kafkalearn.commits",
    runs=(
        Run(commits.Settings(6, max_poll_records=3), ONE_BY_ONE),
        Run(commits.Settings(6, is_auto=True, sink="lock"), WITH_A_ZOMBIE),
        Run(
            commits.Settings(6, max_poll_records=3, sink="checkpoint"),
            (
                commits.Start(),
                commits.Poll(),
                commits.Process(),
                commits.Checkpoint(),
                commits.Process(),
                commits.CommitSync(metadata="shelf 7"),
                commits.Start("B"),
                commits.Checkpoint(is_committed=False),
                commits.Poll("B"),
                commits.Process("B"),
                commits.Checkpoint("B"),
            ),
        ),
        Run(commits.Settings(6, committed=None, auto_offset_reset="none"), (commits.Start(), commits.Produce())),
    ),
    senseless=(
        commits.Poll(),
        commits.Checkpoint(),
        commits.Process(),
        commits.CommitSync(),
        commits.Answered(),
        commits.Close(),
        commits.Crash(),
        commits.Rebalance(),
        commits.Delete(99),
    ),
)
