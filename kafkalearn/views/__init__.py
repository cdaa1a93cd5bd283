"""Traces and counts as pictures: what a notebook needs by name.

- `play` steps through a trace; `film` is the drawn trace itself; `vary` puts controls beside a picture or a film.
- `draw_lookup`, `draw_keyless`, `draw_offsets_topic` draw; `describe_lookup` and `describe_keyless` say the same in
  a sentence, `lookup_text` and `keyless_text` in plain text.
- `figure` and `small_multiples` with `draw_counts`, `draw_broker_load`, `draw_share_moved`, `draw_skew` show
  statistics over many rows.
- `progress_bar` is for jobs that take seconds.

This is the only place that imports matplotlib, ipywidgets and anywidget; each name loads only what it needs.
"""

from importlib import import_module

_MODULE_OF = {
    **dict.fromkeys(["progress_bar"], "bar"),
    **dict.fromkeys(["Varied", "vary"], "controls"),
    **dict.fromkeys(["draw_lookup"], "coordinator"),
    **dict.fromkeys(["Drawing", "draw_broker_load", "draw_counts", "draw_share_moved", "draw_skew"], "figures"),
    **dict.fromkeys(["figure", "small_multiples"], "figures"),
    **dict.fromkeys(["Film", "film"], "frames"),
    **dict.fromkeys(["draw_keyless"], "keyless"),
    **dict.fromkeys(["draw_offsets_topic"], "offsets_topic"),
    **dict.fromkeys(["Player", "play"], "player"),
    **dict.fromkeys(["describe_keyless", "keyless_text"], "keyless_words"),
    **dict.fromkeys(["describe_lookup", "lookup_text"], "coordinator_words"),
    **dict.fromkeys(["Picture"], "picture"),
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    """The public name, from the module that defines it, loaded now: matplotlib alone takes a second."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
