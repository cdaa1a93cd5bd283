"""What holds in every state, and what a user hopes for."""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.promises import Predicate, Since, judges
from kafkalearn.zookeeper.simple_consumer.settings import Settings
from kafkalearn.zookeeper.simple_consumer.state import Reader

NONE_SKIPPED, NONE_TWICE = "the application skips no record", "the application gets no record twice"


def _none_is_skipped(settings: Settings, before: Reader, state: Reader) -> bool:
    """Whether no record that is there lies between what was handled so far and what comes next."""
    new = state.handled[len(before.handled) :]
    if not new or not before.handled:
        return True
    return new[0] <= max(before.handled) + 1


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "what was handled stays handled": Since(
            lambda settings, before, state: state.handled[: len(before.handled)] == before.handled
        ),
        "the offset to fetch is behind the last record that came": Since(
            lambda settings, before, state: state.handled == before.handled or state.offset == state.handled[-1] + 1
        ),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NONE_SKIPPED: Since(_none_is_skipped),
        NONE_TWICE: lambda settings, state: len(set(state.handled)) == len(state.handled),
    }
)
"""What a user hopes for. It is his own code that keeps them, or does not."""

check, broken = judges(INVARIANTS, PROMISES)
