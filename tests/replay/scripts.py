"""Recorded scripts: settings, events, and what to expect after each, asked of a simulator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import pytest

from kafkalearn.base.errors import KafkaLearnError
from tests.contract.simulator import Simulator
from tests.replay.values import decoded, hints_of, look, named, shown


class Player(Protocol):
    """Plays a case of one mechanism: made of the case and its release, it takes events and says what is seen."""

    def play(self, event: dict[str, Any]) -> None:
        """Take one event."""
        ...

    def seen(self, name: str, form: Any) -> Any:
        """What is seen under a name, in the shape of what is expected."""
        ...


class Simulated:
    """Plays the events of a simulator, by their classes' names; what is seen is looked up in the state by its path."""

    def __init__(self, home: str, case: Mapping[str, Any], release: str | None) -> None:
        part = Simulator(home, ()).part
        own = {} if release is None else {"release": release}
        self.settings: Any = decoded({**own, **case["settings"]}, part("Settings"))
        self.step, self.check = part("step"), part("check")
        self.state = part("start")(self.settings)

    def play(self, event: dict[str, Any]) -> None:
        """Take one event, and check what always holds."""
        before = self.state
        self.state = self.step(self.settings, before, decoded(event, hints_of(self.step)["event"]))
        self.check(self.settings, self.state, before)

    def seen(self, name: str, form: Any) -> Any:
        """What the state has at this path."""
        return shown(look(self.state, name), form)


def played_by(spec: Mapping[str, Any], case: Mapping[str, Any], release: str | None) -> Player:
    """The player, or the simulator, that a part of a file names, at the beginning of a case."""
    whole = {**case, "settings": {**spec.get("settings", {}), **case.get("settings", {})}}
    player: Player
    if "simulator" in spec:
        player = Simulated(spec["simulator"], whole, release)
    else:
        player = named(spec["player"])(whole, release)
    for event in spec.get("first", ()):
        player.play(event)
    return player


def releases_of(spec: Mapping[str, Any], case: Mapping[str, Any]) -> list[str | None]:
    """The releases that a case is of: its own, or those of its part."""
    found = case.get("releases") or case.get("release") or spec.get("releases") or [spec.get("release")]
    return [found] if isinstance(found, str) else list(found)


def differences(spec: Mapping[str, Any], case: Mapping[str, Any], release: str | None) -> Iterator[tuple[Any, Any]]:
    """What is seen and what was recorded, each with its step and name, one after the other."""
    player = played_by(spec, case, release)
    for number, step in enumerate(case["steps"]):
        if "refused" in step:
            with pytest.raises(KafkaLearnError) as refused:
                player.play(step["event"])
            yield (number, step["refused"] in str(refused.value)), (number, True)
        elif "event" in step:
            player.play(step["event"])
        for name, expected in step.get("expect", {}).items():
            yield (number, name, player.seen(name, expected)), (number, name, expected)
