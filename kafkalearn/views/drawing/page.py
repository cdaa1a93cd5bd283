"""A player on a page that has no kernel and no network: everything it needs is in the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from kafkalearn.views.drawing.controls import Control

_HERE = Path(__file__).parent


@cache
def player_script() -> str:
    """The module that draws players and controls, in a notebook and on a page alike."""
    return "\n".join((_HERE / name).read_text("utf-8") for name in ("controls.js", "player.js"))


@cache
def player_style() -> str:
    """Its style sheet."""
    return (_HERE / "player.css").read_text("utf-8")


def player_html(
    payload: str, still: str, start: int, controls: Sequence[Control] = (), values: Sequence[object] = ()
) -> str:
    """A player for an animation's payload from frame `start` on, beside the controls it was drawn with.

    Where no script runs, `still` remains, the HTML of the key frames.
    """
    described = json.dumps([each.for_page for each in controls], ensure_ascii=False)
    parts = {"_animation": payload, "_controls": described, "_values": values_for_page(controls, values)}
    state = ",".join([f'"value":{start}', *(f'"{name}":{text}' for name, text in parts.items())])
    data = f"{{{state}}}".replace("<", "\\u003c")  # no "</script>" may appear in a script
    stood_at = f"<p>{escape(words_of(controls, values))}</p>" if controls else ""
    return (
        f'<div class="kl-player" data-kl-start>{stood_at}{still}'
        f'<script type="application/json">{data}</script></div>\n'
        f"<style>{player_style()}</style>\n"
        f'<script type="module">\n{player_script()}\nmountAll();\n</script>'
    )


def values_for_page(controls: Sequence[Control], values: Sequence[object], asked: int = 0) -> str:
    """What the controls stand at, as JSON, and how often the page has asked for a picture until then."""
    sent = [control.to_page(value) for control, value in zip(controls, values, strict=True)]
    return json.dumps({"asked": asked, "values": sent}, ensure_ascii=False)


def words_of(controls: Sequence[Control], values: Sequence[object]) -> str:
    """The controls and what they stand at, on one line."""
    pairs = zip(controls, values, strict=True)
    return ", ".join(f"{control.label}: {control.shown(value)}" for control, value in pairs)
