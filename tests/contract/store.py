"""The coordinator's store: groups of each kind, a failed transaction, a load that a strange record breaks off."""

from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store import (
    Commit,
    DeleteGroup,
    DeleteOffset,
    DeleteTopic,
    Elect,
    EndTransaction,
    Fetch,
    LeaderCrashed,
    Load,
    LoadBuffer,
    Produce,
    Replicated,
    Resign,
    Settings,
    StateChanged,
    StoreGroup,
    Sweep,
    TimeReached,
)
from tests.contract.simulator import Run, Simulator

DAY_MS = 86_400_000
MEMBER = Member("billing-1", subscribed=("orders",), assigned=(("orders", 0),))
OF_MEMBER = {"member_id": "billing-1", "generation": 1}
FETCH = Fetch("billing", "orders", 0)

LIFE = (
    StoreGroup("billing", 1, 1000, (MEMBER,), protocol="range", leader="billing-1"),
    Commit("billing", "orders", 0, 7, 2000, **OF_MEMBER),
    Commit("billing", "orders", 0, 8, 3000, is_in_flight=True, **OF_MEMBER),
    Replicated(),
    StateChanged("billing", "PreparingRebalance"),
    StoreGroup("billing", 2, 4000),
    Sweep(4000 + 3 * DAY_MS),
    FETCH,
    DeleteGroup("billing"),
)
KINDS = (
    Commit("billing", "orders", 0, 7, 1000),
    StoreGroup("billing", 1, 2000, (Member("billing-1", subscribed=("orders",)),), kind="consumer"),
    Commit("billing", "orders", 0, 8, 3000, **OF_MEMBER),
    StoreGroup("billing", 2, 4000, kind="consumer"),
    StoreGroup("billing", 1, 5000, (Member("billing-1", subscribed=("orders",)),), kind="streams"),
    Commit("billing", "clicks", 0, 8, 6000, **OF_MEMBER),
    StoreGroup("billing", 2, 7000, kind="streams"),
    Sweep(8000 + 8 * DAY_MS),
    FETCH,
)
TRANSACTIONS = (
    Commit("billing", "orders", 0, 7, 1000),
    Commit("billing", "orders", 0, 9, 2000, producer_id=5),
    Fetch("billing", "orders", 0, requires_stable=True),
    EndTransaction(5, is_commit=False),
    DeleteOffset("billing", "orders", 0),
    DeleteTopic("orders"),
)
BROKEN_LOAD = (
    Commit("billing", "orders", 0, 7, 1000),
    Produce(None, b"no key", "__admin_client"),
    Resign(),
    FETCH,
    Elect(),
    Load(1),
    FETCH,
    Load(),
    FETCH,
)
WAITING = (
    Commit("billing", "orders", 0, 7, 1000),
    Commit("billing", "orders", 0, 8, 2000, is_in_flight=True),
    TimeReached(7000),
    FETCH,
    Replicated(),
    Commit("billing", "orders", 0, 9, 8000, is_in_flight=True),
    LeaderCrashed(),
    FETCH,
    LoadBuffer(),
    LoadBuffer(),
    FETCH,
)

SIMULATOR = Simulator(
    home="kafkalearn.offsets.store",
    runs=(
        Run(Settings(), LIFE),
        Run(Settings("2.0", retention_minutes=1440), LIFE),
        Run(Settings(), KINDS),
        Run(Settings("0.9.0"), TRANSACTIONS),
        Run(Settings(), TRANSACTIONS),
        Run(Settings(), BROKEN_LOAD),
        Run(Settings("3.9"), BROKEN_LOAD),
        Run(Settings(load_buffer_bytes=200), WAITING),
        Run(Settings("3.9", required_acks=1, load_buffer_bytes=200), WAITING),
    ),
    senseless=(
        Elect(),
        Load(),
        LoadBuffer(),
        StateChanged("billing", "PreparingRebalance"),
        StateChanged("billing", "Stable"),
        StoreGroup("billing", 1, 1000, kind="share"),
    ),
)
