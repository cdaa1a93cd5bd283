"""How long each broker would load its groups, cleaned or not, drawn as two bars a broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkalearn.arguments import mapping, number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, FILLS, INK, MARK, MUTED, SMALL, TITLE
from kafkalearn.views.drawing.svg import filled, outlined, text

LEFT, BAR_LEFT, BAR_ROOM = 20, 130, 680
TOP, ROW_HEIGHT, BAR_HEIGHT = 62, 66, 24
MOST_BROKERS = 7
GROWN, CLEANED = FILLS[1], FILLS[2]


def draw_load_times(seconds: Mapping[int, tuple[float, float]]) -> Picture:
    """For each broker how long it loads all that it leads: the log as it is, and after a pass of the cleaner.

    Parameters
    ----------
    seconds : mapping of int to (float, float)
        By broker id; not cleaned, cleaned: as `kafkalearn.spark.operations.loading.load_of_brokers` has them.

    Examples
    --------
    >>> draw_load_times({1: (21.25, 0.02), 2: (20.1, 0.02)}).label
    'Time of a load: broker 1 21.2 s, cleaned 0.02 s; broker 2 20.1 s, cleaned 0.02 s'

    Raises
    ------
    KafkaLearnError
        If there is no broker, or more than seven: they would not fit a screen.
    """
    given = mapping("seconds", seconds, of="broker id to (not cleaned, cleaned)")
    if not 1 <= len(given) <= MOST_BROKERS:
        raise KafkaLearnError(f"the picture has room for 1 to {MOST_BROKERS} brokers, got {len(given)}")
    checked = {
        broker_id: tuple(number(f"seconds[{broker_id}]", each, at_least=0) for each in pair)
        for broker_id, pair in sorted(given.items())
    }
    unit = BAR_ROOM / max(1e-9, *(grown for grown, _ in checked.values()))
    bottom = TOP + ROW_HEIGHT * len(checked)
    said = (f"broker {each} {words(grown)}, cleaned {words(left)}" for each, (grown, left) in checked.items())
    return picture(
        bottom + 40,
        text(LEFT, 36, "How long each broker's groups would wait for a load", TITLE, bold=True),
        *(
            shape
            for place, (broker_id, pair) in enumerate(checked.items())
            for shape in _row(broker_id, pair, TOP + ROW_HEIGHT * place, unit)
        ),
        *_legend(bottom + 20),
        label=f"Time of a load: {'; '.join(said)}",
    )


def words(seconds: float) -> str:
    """A time as it stands beside a bar.

    >>> words(21.25), words(0.0171), words(0)
    ('21.2 s', '0.017 s', '0 s')
    """
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2g} s"


def _row(broker_id: int, pair: tuple[float, ...], top: float, unit: float) -> Iterator[str]:
    yield text(LEFT, top + 30, f"broker {broker_id}", BODY, bold=True)
    for place, (look, seconds) in enumerate(zip((GROWN, CLEANED), pair, strict=True)):
        box = (BAR_LEFT, top + place * (BAR_HEIGHT + 2), max(2, seconds * unit), BAR_HEIGHT)
        yield filled(look, box)
        yield outlined(box, stroke=INK, width=1.5)
        yield text(
            box[0] + box[2] + 10, box[1] + 18, words(seconds), SMALL, colour=INK if place else MARK, bold=not place
        )


def _legend(top: float) -> Iterator[str]:
    for look, said, x in (
        (GROWN, "the log as it is", BAR_LEFT),
        (CLEANED, "after a pass of the cleaner", BAR_LEFT + 200),
    ):
        box = (x, top - 13, 22, 16)
        yield filled(look, box)
        yield outlined(box, stroke=INK, width=1.5)
        yield text(x + 30, top, said, SMALL, colour=MUTED)
