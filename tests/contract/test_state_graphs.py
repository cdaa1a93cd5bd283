"""The whole state graph of each simulator at small settings: a digest that no refactoring may change.

From the start of each simulator's first run in this folder all events of that run are tried, in every order, breadth
first, up to a number of states. How many states and transitions there are at each depth stands in the golden file, with
a digest of them all. Names of classes and fields do not count, so that what is only renamed has the same digest; a
state is what it holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass

from kafkalearn.base.errors import KafkaLearnError
from tests.contract.test_contract import SIMULATORS
from tests.recorded import expected

MOST_STATES = 100
MOST_EVENTS = 12


def plain(value: object) -> str:
    """What a value holds, without the names of its classes and fields, and without what equality ignores."""
    if is_dataclass(value) and not isinstance(value, type):
        return f"<{','.join(plain(getattr(value, each.name)) for each in fields(value) if each.compare)}>"
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{plain(key)}:{plain(each)}' for key, each in value.items()))}}}"
    if isinstance(value, AbstractSet):
        return f"{{{','.join(sorted(map(plain, value)))}}}"
    if isinstance(value, tuple | list):
        return f"({','.join(map(plain, value))})"
    return repr(value)


def graph_of(simulator) -> str:
    """How many states and transitions there are at each depth, and a digest of them all."""
    settings, step = simulator.runs[0].settings, simulator.part("step")
    events = list(dict.fromkeys(simulator.runs[0].events))[:MOST_EVENTS]
    begin = simulator.part("start")(settings)
    numbers: dict[Hashable, int] = {begin: 0}
    layer, counts, lines = [begin], [], [plain(begin)]
    while layer and len(numbers) < MOST_STATES:
        following, transitions = [], 0
        for state in layer:
            for index, event in enumerate(events):
                try:
                    after = step(settings, state, event)
                except KafkaLearnError:
                    continue
                transitions += 1
                if after not in numbers:
                    numbers[after] = len(numbers)
                    following.append(after)
                    lines.append(plain(after))
                lines.append(f"{numbers[state]} {index} {numbers[after]}")
        counts.append(f"{len(layer)}/{transitions}")
        layer = following
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return f"{len(events)} events, {len(numbers)} states; {' '.join(counts)}; {digest}"


def test_no_simulator_has_another_state_graph_than_it_had():
    graphs = "\n".join(f"{name}: {graph_of(each)}" for name, each in sorted(SIMULATORS.items()))
    assert graphs == expected("state-graphs.txt", graphs)


def test_a_state_is_what_it_holds():
    assert plain({"b": (1, None), "a": frozenset({2, 1})}) == "{'a':{1,2},'b':(1,None)}"
