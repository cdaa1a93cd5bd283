"""What the coordinators of seventeen releases swept, and the store that answers the same question."""

from dataclasses import replace

from kafkalearn.offsets.store import Settings, Sweep, step
from kafkalearn.offsets.store.model import Entry, Store
from kafkalearn.offsets.store.simulator import reloaded

STATES = {
    "PREPARING_REBALANCE": "PreparingRebalance",
    "COMPLETING_REBALANCE": "CompletingRebalance",
    "DEAD": "Dead",
}
KNOWS_NO_TOPOLOGY = {(f"streams, Stable{more}", "4.1.2") for more in ("", ", a repartition topic")}
"""4.1 does not store that a topology was checked: until the first heartbeat after a load it knows no source topics."""


def sweeps(scenario):
    """Release, time, and the keys of the tombstones that the release wrote then."""
    return [
        (release, sweep["now_ms"], answer["keys"])
        for sweep in scenario["sweeps"]
        for answer in sweep["tombstones"]
        for release in answer["releases"]
        if (scenario["name"], release) not in KNOWS_NO_TOPOLOGY
    ]


def entry_of(record):
    key, value = (record.get(part) and bytes.fromhex(record[part]) for part in ("key", "value"))
    return Entry(key, value, record.get("producer_id"), record.get("marker"))


def swept(scenario, release, now_ms):
    """The keys of the tombstones that the store writes, those of offsets sorted and in front."""
    settings = Settings(release, retention_minutes=1)
    store = reloaded(settings, Store(log=tuple(map(entry_of, scenario["records"]))))
    if "state" in scenario:
        (group,) = store.groups
        store = replace(store, groups=(replace(group, state=STATES[scenario["state"]]),))
    after = step(settings, store, Sweep(now_ms))
    assert all(entry.value is None for entry in after.log[len(store.log) :])
    keys = [entry.key.hex() for entry in after.log[len(store.log) :]]
    return sorted(key for key in keys if key[:4] == "0001") + [key for key in keys if key[:4] != "0001"]
