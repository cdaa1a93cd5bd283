"""What a real Kafka says to each prediction: asked now where one can be started, else as recorded."""

from __future__ import annotations

from kafkalearn.real_answers import real_answer

GROUPS = ("refunds", "warehouse")
WANTED_PARTITION = 41
LONGEST = 2  # of the group ids that were asked for


def coordinators() -> dict[str, int]:
    """Partition and broker of two groups."""
    found = real_answer("coordinators").value
    return {f"{part} of {group}": found[group][part] for group in GROUPS for part in ("partition", "broker")}


def partition_of(group_id: str) -> int:
    """The partition in whose files the commit of a short group id was found."""
    return real_answer("short group ids").value[group_id]


def owners() -> dict[str, set[str]]:
    """Who has what after c2 has left, by round robin."""
    left = real_answer("round robin").value[-1]
    return {member: {f"{topic}-{number}" for topic, number in places} for member, places in left.items()}


def tombstones() -> dict[str, set[int]]:
    """Which offsets are left after each pass."""
    found = real_answer("tombstone of a new key").value
    return {moment: {offset for offset, _, _ in found[moment]} for moment in ("first pass", "later pass")}


def frozen_followers() -> dict[str, int]:
    """The marks while both followers stand still, and when they have left the ISR."""
    _, still, left, _ = real_answer("frozen followers").value
    return {
        "HW while they are in the ISR": still["HW"],
        "HW when they have left it": left["HW"],
        "LEO of broker 2 then": left["LEO 2"],
    }


def old_places() -> dict[str, bool]:
    """Which fields of a commit of 4.3 come out right at the places of 4.0."""
    return dict(real_answer("releases").value["4.3"]["read at the places of 4.0"])
