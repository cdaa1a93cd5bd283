"""One group on one partition, what it commits and what a crash costs: the simulator for the contract."""

from kafkalearn.commits import (
    Answered,
    Append,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitSync,
    Crash,
    Delete,
    Poll,
    Process,
    Rebalance,
    Settings,
    Start,
    Wait,
)
from tests.contract.simulator import Run, Simulator

ONE_BY_ONE = (
    Start(),
    Poll(),
    Process(),
    CommitAsync(offset=1),
    CommitSync(),
    Rebalance("B"),
    Append(3),
    Poll("B", at_most=1),
    CommitAsync("B"),
    Answered("B", is_retriable=True),
    Delete(4),
    Crash("B"),
    Assign("C"),
    Close("C"),
)
WITH_A_ZOMBIE = (
    Start(),
    Poll(),
    Wait(5000),
    Process(),
    Start("B"),
    Poll("B"),
    Process("B"),
    Process(),
    Poll(),
    Close(),
)

SIMULATOR = Simulator(
    home="kafkalearn.commits",
    runs=(
        Run(Settings(6, max_poll_records=3), ONE_BY_ONE),
        Run(Settings(6, is_auto=True, sink="lock"), WITH_A_ZOMBIE),
        Run(
            Settings(6, max_poll_records=3, sink="checkpoint"),
            (
                Start(),
                Poll(),
                Process(),
                Checkpoint(),
                Process(),
                CommitSync(metadata="shelf 7"),
                Start("B"),
                Checkpoint(is_committed=False),
                Poll("B"),
                Process("B"),
                Checkpoint("B"),
            ),
        ),
        Run(Settings(6, committed=None, auto_offset_reset="none"), (Start(), Append())),
    ),
    senseless=(Poll(), Checkpoint(), Process(), CommitSync(), Answered(), Close(), Crash(), Rebalance(), Delete(99)),
)
