"""Controls that the reader turns in a page: each output of a cell that has some, by the order in which it was shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkalearn.errors import KafkaLearnError
from kafkalearn.page.display import bundle
from kafkalearn.page.widgets import KIND, Player, Varied

_shown: dict[tuple[str, str], list[Player]] = {}  # by page and cell


def forget(page: str) -> None:
    """A page begins anew."""
    for key in [key for key in _shown if key[0] == page]:
        del _shown[key]


def shown_on(page: str, cell: str) -> Callable[[object], dict[str, object]]:
    """How a cell that runs now shows its values: players are kept, to be asked again."""
    players = _shown[page, cell] = []

    def show(value: object) -> dict[str, object]:
        shown = bundle(value)
        if KIND in shown and isinstance(value, Player):
            players.append(value)
        return shown

    return show


def turn(payload: Mapping[str, object]) -> dict[str, object]:
    """Turn the controls of a player: ``{page, cell, at, values}``, `at` its place among the cell's players.

    Returns
    -------
    dict
        ``animation``, what is to be seen now, as text for the player; ``value``, the frame to show;
        ``message``, what was wrong with the values, or the empty text.
    """
    varied = _player(payload)
    if not isinstance(varied, Varied):
        raise KafkaLearnError("this player has no controls")
    varied.from_page(payload["values"])
    return {"animation": varied.animation.payload, "value": varied.value, "message": varied.message}


def step(payload: Mapping[str, object]) -> None:
    """The reader has stepped: ``{page, cell, at, value}``; later cells read it from the player."""
    _player(payload).value = payload["value"]


def _player(payload: Mapping[str, object]) -> Player:
    players = _shown.get((payload["page"], payload["cell"]), [])
    if not 0 <= payload["at"] < len(players):
        raise KafkaLearnError("the cell of this picture has not been run: run it first")
    return players[payload["at"]]


ANSWERS = {"turn": turn, "step": step}
