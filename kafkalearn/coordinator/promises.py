"""What holds in every look-up, and what the client hopes for."""

from __future__ import annotations

from kafkalearn.coordinator.settings import Settings
from kafkalearn.coordinator.state import Lookup
from kafkalearn.hashing import java_string_hash
from kafkalearn.promises import judges


def _hash_is_of_what_was_read(settings: Settings, state: Lookup) -> bool:
    read = "".join(map(chr, settings.units[: state.read_count]))
    whole = read.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    # Between the two halves of one character the hash is not that of any text.
    return "\ufffd" in whole or state.group_hash == java_string_hash(whole)


INVARIANTS = {
    "the hash is that of the part read so far": _hash_is_of_what_was_read,
    "an absolute value is never negative": lambda settings, state: (
        state.absolute is None or 0 <= state.absolute < 2**31
    ),
    "the partition exists": lambda settings, state: (
        state.partition is None or 0 <= state.partition < settings.partition_count
    ),
    "the coordinator leads the partition": lambda settings, state: (
        not state.is_answered or state.broker_id == settings.leaders[state.partition]
    ),
}

PROMISES = {
    "the answer names a coordinator": lambda settings, state: not state.is_answered or state.broker_id is not None,
}

check, broken = judges(INVARIANTS, PROMISES)
