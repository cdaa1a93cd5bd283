"""Groups of each kind on a real broker with one minute of retention: its log, and the sweeps that wrote into it."""

import json
from itertools import groupby

import pytest

from kafkalearn.formats.disk import read_disk
from kafkalearn.offsets import decode, replay
from kafkalearn.offsets.store import Settings, Sweep, step
from kafkalearn.offsets.store.model import Entry, Store
from kafkalearn.offsets.store.simulator import reloaded
from tests.segments.disk import FOLDER

SETTINGS = Settings("4.3.1", retention_minutes=1)
SAID = json.loads((FOLDER / "expiry.json").read_text("utf-8"))
RECORDS = [record for segment in read_disk(FOLDER / "expiry") for batch in segment.batches for record in batch.records]
START_MS = RECORDS[0].timestamp_ms

SWEPT_S = {"own-time": [4], "leaves": [62, 82], "late": [62, 73, 133], "standalone": [62], "stays": [62]}
"""In which seconds of the run the broker swept something of such groups."""


def is_swept(record):
    return record.value is None and decode(record.key, None).type.number == 1


def sweeps():
    """The times at which the broker wrote tombstones of offsets, and the index of the first of them."""
    marked = [(record.timestamp_ms, index) for index, record in enumerate(RECORDS) if is_swept(record)]
    return [(at_ms, next(group)[1]) for at_ms, group in groupby(marked, key=lambda each: each[0])]


def store_of(records):
    return reloaded(SETTINGS, Store(log=tuple(Entry(record.key, record.value) for record in records)))


def written(store, now_ms):
    return [entry.key for entry in step(SETTINGS, store, Sweep(now_ms)).log[len(store.log) :]]


@pytest.mark.parametrize(("at_ms", "first"), sweeps())
def test_a_sweep_writes_what_the_broker_wrote_and_nothing_a_second_before(at_ms, first):
    of_sweep = [record.key for record in RECORDS[first:] if record.timestamp_ms == at_ms]
    before_ms = at_ms - 1000

    assert sorted(written(store_of(RECORDS[:first]), at_ms)) == sorted(of_sweep)
    assert written(store_of([record for record in RECORDS if record.timestamp_ms <= before_ms]), before_ms) == []


def test_what_the_broker_kept_to_the_end_stays():
    store = store_of(RECORDS)
    assert written(store, SAID["end_ms"]) == []
    kept = {group.group_id: [str(each.at) for each in group.offsets] for group in store.groups}
    stay = [f"{kind}-stays" for kind in ("classic", "kip848", "streams")]
    own_time = [f"own-time-{kind}" for kind in ("classic", "kip848", "streams")]
    assert kept == {group: ["orders-0"] for group in (*stay, *own_time)}


@pytest.mark.parametrize("listed", SAID["listed"], ids=lambda each: each["at_ms"])
def test_the_groups_are_those_the_broker_listed_of_their_kinds_and_in_their_states(listed):
    groups = replay((each.key, each.value) for each in RECORDS if each.timestamp_ms <= listed["at_ms"]).groups
    assert [
        {
            "group": group.group_id,
            "type": group.kind.capitalize(),
            "protocol": group.protocol_type or "",
            "state": group.state,
        }
        for group in groups
    ] == listed["groups"]


def test_the_run_holds_every_kind_and_every_time():
    found = {}
    for at_ms, first in sweeps():
        for record in RECORDS[first:]:
            if record.timestamp_ms == at_ms and is_swept(record):
                group = decode(record.key, None).group
                name = next(each for each in ("own-time", "late", "leaves", "stays", "standalone") if each in group)
                found.setdefault(name, set()).add(round((at_ms - START_MS) / 1000))
    assert {name: sorted(seconds) for name, seconds in found.items()} == SWEPT_S
