"""Runs of the coordinator's store with one setting changed; each answers how it ends, in a few words."""

from __future__ import annotations

from kafkalearn.offsets.groups import Member
from kafkalearn.offsets.store import (
    Commit,
    Elect,
    Fetch,
    LeaderCrashed,
    Load,
    LoadBuffer,
    Resign,
    Settings,
    StoreGroup,
    Sweep,
    TimeReached,
    simulate,
    start,
    step,
)
from kafkalearn.offsets.store.settings import MINUTE_MS
from kafkalearn.offsets.store.state import LOADING
from kafkalearn.phrases import counted

HOUR_MS = 60 * MINUTE_MS


def metadata_of_5000_letters(metadata_max_bytes: int) -> str:
    """The answer to a commit that brings 5,000 letters."""
    event = Commit("billing", "orders", 0, 7, 0, metadata="m" * 5000)
    return simulate(Settings(metadata_max_bytes=metadata_max_bytes), [event])[-1].state.effects[0].error


def load_of_1000_commits(load_buffer_bytes: int) -> str:
    """In how many reads a log of 1,000 commits is loaded."""
    settings = Settings(load_buffer_bytes=load_buffer_bytes)
    commits = [Commit("billing", "orders", 0, offset, offset) for offset in range(1000)]
    store = simulate(settings, [*commits, Resign(), Elect()])[-1].state
    reads = 0
    while store.status == LOADING:
        store, reads = step(settings, store, LoadBuffer()), reads + 1
    return counted(reads, "read")


def weekend(retention_minutes: int) -> str:
    """What a classic group finds after 62 hours."""
    events = [
        StoreGroup("billing", 1, 0, (Member("billing-1", subscribed=("orders",)),)),
        Commit("billing", "orders", 0, 410, 0, member_id="billing-1", generation=1),
        StoreGroup("billing", 2, 0),
        Sweep(62 * HOUR_MS),
        Fetch("billing", "orders", 0),
    ]
    offset = simulate(Settings(retention_minutes=retention_minutes), events)[-1].state.effects[0].offset
    return f"it finds {offset}" if offset is not None and offset >= 0 else "it finds -1: nothing"


def first_sweep_after_expiry(check_interval_ms: int) -> str:
    """When the tombstone of an offset comes, which expires after 61 minutes; sweeps begin with the broker, at 0."""
    settings = Settings(retention_minutes=61)
    store = step(settings, start(settings), Commit("billing", "orders", 0, 7, 0))
    now_ms = 0
    while store.groups:
        now_ms += check_interval_ms
        store = step(settings, store, Sweep(now_ms))
    return f"its tombstone comes after {now_ms // MINUTE_MS} minutes"


def commit_without_replicas(commit_timeout_ms: int) -> str:
    """What the sender of a commit is answered, and when; the follower stands still for six seconds."""
    settings = Settings(commit_timeout_ms=commit_timeout_ms)
    store = step(settings, start(settings), Commit("billing", "orders", 0, 7, 0, is_in_flight=True))
    for now_ms in range(0, 6000, 500):
        store = step(settings, store, TimeReached(now_ms))
        if store.effects:
            return f"{store.effects[0].error} after {now_ms / 1000:.0f} s; the offset counts after 6 s all the same"
    return "NONE after 6 s"


def crash_after_commit(required_acks: int) -> str:
    """What is left of two commits on 3.9, the second not replicated yet when the leader dies."""
    settings = Settings("3.9", required_acks=required_acks)
    first, second = (Commit("billing", "orders", 0, offset, 0, is_in_flight=offset == 8) for offset in (7, 8))
    sent = simulate(settings, [first, second])[-1].state
    answered = "it was acknowledged" if sent.effects else "it was not acknowledged"
    answer = simulate(settings, [LeaderCrashed(), Load(), Fetch("billing", "orders", 0)], sent)[-1].state.effects[0]
    return f"8 is gone, {answered}; billing reads from {answer.offset}"
