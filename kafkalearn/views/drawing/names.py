"""Words that must fit: as much room as the longest needs, and the middle or the end left out of what is too long."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.views.drawing.style import SMALL

MOST_NAME = 44  # characters beside a lane: a member id that a coordinator made has about so many


def name_width(names: Iterable[str], size: float = SMALL, most: int = MOST_NAME) -> float:
    """The pixels that the longest of these names takes, cut as `cut_name` does.

    >>> round(name_width(["b0", "billing-0"], size=10), 1)
    56.7
    """
    return 0.63 * size * max((min(len(name), most) for name in names), default=0)


def cut_name(name: str, most: int = MOST_NAME) -> str:
    """The name; of a longer one both ends, where names differ.

    >>> cut_name("billing-0"), cut_name("consumer-billing-7-a9c1d07e", most=15)
    ('billing-0', 'consume…a9c1d07e')
    """
    if len(name) <= most:
        return name
    return f"{name[: most // 2]}…{name[-((most + 1) // 2) :]}"


def cut_end(words: str, most: int) -> str:
    """The words; of longer ones the beginning.

    >>> cut_end("rebalance", 9), cut_end("rebalances", 9)
    ('rebalance', 'rebalanc…')
    """
    return words if len(words) <= most else f"{words[: most - 1]}…"


def two_lines(words: str, most: int) -> list[str]:
    """A sentence in at most two lines, parted at a blank; of a longer one the beginning.

    >>> two_lines("c1 reads", 12), two_lines("c1 releases orders-0 and orders-1", 12)
    (['c1 reads'], ['c1 releases', 'orders-0 an…'])
    """
    if len(words) <= most:
        return [words]
    cut = max(words.rfind(" ", 0, most), 1)
    return [words[:cut], cut_end(words[cut:].strip(), most)]
