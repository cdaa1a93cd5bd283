"""Small pieces of sentences that many words are made of: things counted, things listed, a capital letter first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sized
from math import log10


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun, as many as they are; thousands are set apart.

    >>> counted(1, "record"), counted(12_000, "record"), counted(2, "copy", "copies")
    ('1 record', '12,000 records', '2 copies')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(things: Iterable[object], last: str = "and", nothing: str = "none") -> str:
    """Things in a row, the last one joined by a word.

    >>> listed([1, 2, 3]), listed(["a", "b"], last="or"), listed([])
    ('1, 2 and 3', 'a or b', 'none')
    """
    words = [str(each) for each in things]
    if len(words) < 2:
        return words[0] if words else nothing
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def capitalised(words: str) -> str:
    """The same words with their first letter large, the others as they are.

    >>> capitalised("broker 2 fetches; its LEO is 3")
    'Broker 2 fetches; its LEO is 3'
    """
    return words[:1].upper() + words[1:]


def begun(words: str, openers: Collection[str]) -> str:
    """The beginning of a sentence: its first letter large if it begins with one of `openers`, else with a name.

    >>> begun("the session ends", ("the", "a")), begun("c1 rebalances", ("the", "a"))
    ('The session ends', 'c1 rebalances')
    """
    return capitalised(words) if words.partition(" ")[0] in openers else words


def shown(value: object, longest: int = 80) -> str:
    """A value as an error message shows it: as Python writes it, cut where it is long.

    A number that Python does not write out (it stops at 4,300 digits) is shown by its size, any other value that
    cannot be written by its type: a message about bad input must not fail on the bad input.

    >>> shown("orders"), shown("x" * 1000, longest=12)
    ("'orders'", "'xxxxxxxx... (1000 long)")
    >>> shown(10**5000)
    'a whole number of about 5,001 digits'
    """
    try:
        written = repr(value)
        size = f" ({len(value)} long)" if isinstance(value, Sized) else ""
    except Exception:  # whatever a repr of somebody else's may raise
        if isinstance(value, int):
            return f"a whole number of about {int(log10(abs(value))) + 1:,} digits"
        return f"a {type(value).__name__} that cannot be written out"
    return written if len(written) <= longest else f"{written[: longest - 3]}...{size}"
