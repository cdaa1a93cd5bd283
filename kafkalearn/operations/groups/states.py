"""``--describe --state``: the state of a group and its coordinator, in the columns of each release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kafkalearn.arguments import LARGEST_INT, flag
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Whole
from kafkalearn.offsets.groups import CLASSIC, Group
from kafkalearn.operations.groups.columns import MISSING, is_known, line, unknown_group, widest
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least


@dataclass(frozen=True, slots=True)
class Coordinator(Checked):
    """The broker that coordinates a group, as clients see it."""

    id: Annotated[int, Whole(0, LARGEST_INT)]
    host: str = "localhost"
    port: Annotated[int, Whole(0, 65535)] = 9092


def describe_state(
    group: Group, coordinator: Coordinator, release: str | Release = DEFAULT_RELEASE, *, is_verbose: bool = False
) -> str:
    """What ``--state`` prints on standard output.

    Parameters
    ----------
    group : Group
        The group.
    coordinator : Coordinator
        Who answers for it.
    release : str or Release
        Of the tool, at least 1.1.
    is_verbose : bool
        ``--verbose`` (since 4.0): with the epochs of a KIP-848 group.

    Examples
    --------
    >>> group = Group("billing", state="Empty", protocol_type="consumer")
    >>> print(describe_state(group, Coordinator(2, "10.0.0.1")).strip())
    GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
    billing         10.0.0.1:9092  (2)        -                    Empty                0

    References
    ----------
    Apache Kafka 1.1 to 4.3, ``ConsumerGroupCommand.printStates``.
    """
    if not at_least("1.1", release):
        raise KafkaLearnError(f"--state is known since 1.1, got release {release!s}")
    if flag("is_verbose", is_verbose) and not at_least("4.0", release):
        raise KafkaLearnError(f"--state with --verbose shows epochs since 4.0, got release {release!s}")
    if not is_known(group, release):
        return unknown_group(group.group_id, release)
    blank = "  " if at_least("3.9", release) else " "
    at = f"{coordinator.host}:{coordinator.port}{blank}({coordinator.id})"
    cells = _cells(group, at, release, is_verbose)
    names, values, widths = zip(*cells, strict=True)
    return "".join(f"\n{line(each, widths)}" for each in (names, values)) + "\n"


def _cells(group: Group, at: str, release: str | Release, is_verbose: bool) -> list[tuple[str, object, int]]:
    """Name, value and width of each column.

    From 2.3 to 3.9 the width that the coordinator needs is given to the column GROUP, which came in front of it.
    """
    is_new = at_least("4.0", release)
    wide = widest(25, [at])
    strategy = group.protocol or (MISSING if is_new else "")
    has_epochs = group.kind != CLASSIC
    return [
        *[("GROUP", group.group_id, widest(15, [group.group_id]) if is_new else wide)] * at_least("2.3", release),
        ("COORDINATOR (ID)", at, wide if is_new or not at_least("2.3", release) else 25),
        ("ASSIGNMENT-STRATEGY", strategy, 25 if not at_least("2.3", release) else 20),
        ("STATE", group.state, 15 if at_least("2.3", release) and not is_new else 20),
        *[("GROUP-EPOCH", group.epoch if has_epochs else None, 15)] * is_verbose,
        *[("TARGET-ASSIGNMENT-EPOCH", group.target_epoch if has_epochs else None, 25)] * is_verbose,
        ("#MEMBERS", len(group.members), 0),
    ]
