"""What holds in every state, and what users hope for."""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.offsets.store.state import FAILED, OWNED
from kafkalearn.operations.loading.beside_cleaner.settings import Settings
from kafkalearn.operations.loading.beside_cleaner.state import Loading, logged
from kafkalearn.promises import Promises, judges

LOADS = "a load ends without an exception"
KNOWS_THE_LOG = "what was loaded is what the log says"


def _knows_the_log(settings: Settings, state: Loading) -> bool:
    if state.status != OWNED or state.position != state.log.log_end_offset:
        return True
    truth = logged(state.log)
    owners = {each: owned.epoch for owned in truth.values() for each in owned.partitions}
    return dict(state.members) == truth and dict(state.owners) == owners


def _has_one_owner(settings: Settings, state: Loading) -> bool:
    owned = [each for assigned in logged(state.log).values() for each in assigned.partitions]
    return len(owned) == len({*owned})


INVARIANTS: Promises = MappingProxyType(
    {
        "no partition has two owners in the log": _has_one_owner,
        "nothing is read beyond the end of the log": lambda settings, state: state.position <= state.log.log_end_offset,
        KNOWS_THE_LOG: _knows_the_log,
    }
)
"""What holds in every state; the last one: whatever the cleaner removed meanwhile, a load that ends has it right."""

PROMISES: Promises = MappingProxyType({LOADS: lambda settings, state: state.status != FAILED})
"""What users hope for; a strict loader breaks it, with the cleaner's help."""

check, broken = judges(INVARIANTS, PROMISES)
