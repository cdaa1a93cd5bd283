"""A scenario of a consumer group, written as text: what comes of it, and the smallest change that would have helped."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.group import find_change, simulate
from kafkalearn.group.scenario.simulator import PROTOCOLS
from kafkalearn.page.playground.fields import choice_field, settings_field, text_field
from kafkalearn.page.playground.shown import played
from kafkalearn.versions.releases import DEFAULT_RELEASE
from kafkalearn.views.drawing.frames import MOST_FRAMES
from kafkalearn.views.group.picture import animate_group
from kafkalearn.views.group.timeline import draw_timeline


def scenario(fields: Mapping[str, object]) -> dict[str, object]:
    """A scenario played: the whole on one page, the rebalances with their causes, and the run to step through.

    Parameters
    ----------
    fields : mapping
        ``scenario``: the lines; ``protocol``: classic or consumer; ``assignor``, ``release``: or nothing;
        ``settings``: lines of ``name = value``.

    Examples
    --------
    >>> said = scenario({"scenario": "at 0 s: c1 and c2 join"})
    >>> said["text"].splitlines()[0]
    '1 rebalance in 120 s, classic protocol, Kafka 4.3; 6,012 records were not read in time'
    """
    outcome = simulate(text_field(fields, "scenario"), **_given(fields))
    said = {"text": str(outcome), "html": str(draw_timeline(outcome))}
    is_short = 0 < len(outcome.trace) <= MOST_FRAMES
    return said | (played(animate_group(outcome)) if is_short else {})


def cure(fields: Mapping[str, object]) -> dict[str, object]:
    """The smallest change of a setting, or of two, that avoids what can be avoided; the fields as for `scenario`.

    Examples
    --------
    >>> night = "at 0 s: c1, c2 and c3 join\\nat 60 s: c2 pauses for 12 s"
    >>> cure({"scenario": night, "settings": "session.timeout.ms = 10000"})["text"].splitlines()[0]
    'session.timeout.ms: 10000 (10 s) -> 15000 (15 s)'
    """
    found = find_change(text_field(fields, "scenario"), **_given(fields))
    after = str(draw_timeline(found.best.outcome)) if found.best else ""
    return {"text": str(found), "html": after}


def _given(fields: Mapping[str, object]) -> dict[str, object]:
    return {
        "protocol": choice_field(fields, "protocol", tuple(PROTOCOLS)),
        "assignor": text_field(fields, "assignor") or None,
        "release": text_field(fields, "release", DEFAULT_RELEASE),
        "settings": settings_field(fields, "settings"),
    }
