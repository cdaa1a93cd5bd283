"""Parse and format moves: the events that a reader may play by hand, and lines of them.

A line is the whole of a run that is played by hand: ``Produce > Fetch(2) > BrokerCrashed(1)``. It can be typed, kept,
sent, and played again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, TypeVar

from kafkalearn.base.errors import KafkaLearnError, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MOST_MOVES = 50
BETWEEN = " > "  # the moves of a line

Dataclass = TypeVar("Dataclass", bound="DataclassInstance")


def moves_of(*events: Dataclass) -> dict[str, Dataclass]:
    """Events by the words in which one would write them, without what they have by default.

    >>> from kafkalearn.replication import Fetch, Produce
    >>> list(moves_of(Fetch(2), Produce(acks=1), Produce()))
    ['Fetch(2)', 'Produce(acks=1)', 'Produce']
    """
    return {_written(event): event for event in events}


def words_in(line: str) -> list[str]:
    """The moves of a line as they stand there; lines of text count as one.

    >>> words_in("Produce > Fetch(2)\\n> Fetch(2)")
    ['Produce', 'Fetch(2)', 'Fetch(2)']
    """
    words = [each.strip() for part in line.splitlines() for each in part.split(BETWEEN.strip())]
    return [each for each in words if each]


def moves_in(line: str, moves: Iterable[str]) -> list[str]:
    """Parse the moves of a line; blanks, case and the kind of quotes make no difference.

    Raises
    ------
    KafkaLearnError
        If a word is no move, with its number and the moves that there are; or if there are more than `MOST_MOVES`.

    Examples
    --------
    >>> moves_in("produce( acks=1 ) > fetch(2)", ["Produce(acks=1)", "Fetch(2)"])
    ['Produce(acks=1)', 'Fetch(2)']
    """
    words = words_in(line)
    if len(words) > MOST_MOVES:
        raise KafkaLearnError(f"a line may have {MOST_MOVES} moves, got {len(words)}")
    by_plain = {plain(each): each for each in moves}
    for number, each in enumerate(words, 1):
        if plain(each) not in by_plain:
            known = ", ".join(by_plain.values())
            raise KafkaLearnError(f"move {number}, {shown(each)}, is none; the moves are: {known}")
    return [by_plain[plain(each)] for each in words]


def things_of(event: object) -> tuple[str, ...]:
    """What an event is about, as pictures name it: of a broker's event the broker, else the names that it has.

    >>> from kafkalearn.consuming import Poll
    >>> from kafkalearn.replication import Fetch, Produce
    >>> things_of(Fetch(2)), things_of(Poll("billing", "b0")), things_of(Produce())
    (('broker 2',), ('b0',), ())
    """
    for name in ("broker_id", "broker"):
        if isinstance(number := getattr(event, name, None), int):
            return (f"broker {number}",)
    names: Mapping[str, object] = {name: getattr(event, name, None) for name in ("member_id", "consumer", "by")}
    return tuple(each for each in names.values() if isinstance(each, str) and each)


def in_moves(error: object, moves: Mapping[str, object], own: str = "") -> str:
    """What was wrong with a move, in the words that the reader has for moves, where it names their events.

    Parameters
    ----------
    error : object
        What the simulator says, as text.
    moves : mapping of str to event
        All moves, by their words.
    own : str
        The words of the move that was refused: that its event is named first says nothing more.

    Examples
    --------
    >>> from kafkalearn.assignors.carrying_out import AllGaveUp, Assigned
    >>> moves = {"all give up": AllGaveUp(), "the assignor runs": Assigned()}
    >>> in_moves("Assigned(): the members give everything up first, with AllGaveUp()", moves, "the assignor runs")
    'the members give everything up first, with “all give up”'
    """
    named: dict[str, list[str]] = {}
    for words, event in moves.items():
        named.setdefault(type(event).__name__, []).append(words)
    events = rf"\b({'|'.join(map(re.escape, named))})\b(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?"
    first = type(moves[own]).__name__ if own in moves else ""

    def in_words(found: re.Match[str]) -> str:
        words = named[found[1]]
        return found[0] if words[0].startswith(found[1]) else " or ".join(f"“{each}”" for each in words)

    said = str(error)
    begun = re.match(events, said)
    if begun and begun[1] == first and said.startswith(": ", begun.end()):
        said = said[begun.end() + 2 :]
    return re.sub(events, in_words, said)


def plain(words: str) -> str:
    """A move without what makes no difference.

    >>> plain("Start( 'B' )"), plain("Poll()")
    ('start("b")', 'poll')
    """
    return "".join(words.split()).casefold().replace("'", '"').removesuffix("()")


def _written(event: DataclassInstance) -> str:
    texts: list[str] = []
    is_named = False
    for each in fields(event):
        value, default = getattr(event, each.name), each.default
        if default is not MISSING and value == default:
            is_named = True  # from here on
        else:
            texts.append(f"{each.name}={value!r}" if is_named else repr(value))
    name = type(event).__name__
    return f"{name}({', '.join(texts)})" if texts else name
