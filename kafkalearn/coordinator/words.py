"""The look-up of a coordinator in words: the arithmetic of a frame, a sentence about it, the whole of it as text."""

from __future__ import annotations

import unicodedata

from kafkalearn.base.hashing import INTEGER_MIN_VALUE
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.trace import Frame
from kafkalearn.coordinator.lookup import (
    CoordinatorFound,
    CoordinatorNotAvailable,
    Event,
    Lookup,
    PartitionFound,
    SignDropped,
    UnitHashed,
)
from kafkalearn.drawing import svg

LONGEST_ID = 40  # columns of letters; a wide one, as of Chinese, takes two
LONGEST_BESIDE_QUESTION = 12


def unit_name(unit: int) -> str:
    """A UTF-16 code unit as a cell shows it: the character, or its code where it has no shape of its own.

    >>> [unit_name(unit) for unit in (0x61, 0x20, 0x0A, 0x0301, 0xD83D)]
    ['a', '␣', '␊', '◌́', 'D83D']
    """
    if unit == 0x20:
        return "␣"
    if unit in svg.CONTROL_PICTURES:
        return chr(svg.CONTROL_PICTURES[unit])
    category = unicodedata.category(chr(unit))
    if category in ("Mn", "Me", "Mc"):
        return "\u25cc" + chr(unit)  # a combining mark needs something to sit on
    return f"{unit:04X}" if category[0] == "C" or category[0] == "Z" else chr(unit)


def short(group_id: str) -> str:
    """The id in quotes, its middle left out if it is long.

    >>> short("x" * 255)
    '"xxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxx"'
    """
    return f'"{shortened(group_id, LONGEST_ID)}"'


def shortened(words: str, longest: int) -> str:
    """Words on one line, the middle left out if they take more columns than `longest`.

    >>> shortened("consumer-billing-1-0f3c", 12)
    'cons…0f3c'
    """
    words = words.translate(svg.CONTROL_PICTURES)
    if columns(words) <= longest:
        return words
    kept = longest // 2 - 2
    return f"{_start(words, kept)}…{_start(words[::-1], kept)[::-1]}"


def _start(words: str, most: int) -> str:
    end = min(len(words), most)
    while columns(words[:end]) > most:
        end -= 1
    return words[:end]


def columns(words: str) -> int:
    """How much room letters take, a narrow one being 1.

    >>> columns("billing"), columns("订单")
    (7, 4)
    """
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in words)


def heading(group_id: str) -> str:
    """The question of a look-up, as short as a long id needs it.

    >>> heading("billing")
    'Which broker coordinates the group "billing"?'
    >>> heading("x" * 30)
    'Who coordinates "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"?'
    """
    name = short(group_id)
    return f"Who coordinates {name}?" if is_long(group_id) else f"Which broker coordinates the group {name}?"


def is_long(group_id: str) -> bool:
    """Whether an id leaves room for only a short question beside it."""
    return columns(group_id) > LONGEST_BESIDE_QUESTION


def lookup_arithmetic(state: Lookup) -> str:
    """What the last step computed, with its numbers."""
    match state.effects:
        case (UnitHashed(unit, before, exact),):
            wrap = "" if exact == state.group_hash else f", which wraps to {state.group_hash}"
            return f"h = 31 * {before} + {unit} = {exact}{wrap}"
        case (SignDropped(),) if state.group_hash == INTEGER_MIN_VALUE:
            return f"|{state.group_hash}| does not fit into 32 bits: Kafka takes 0"
        case (SignDropped(absolute),):
            return f"|{state.group_hash}| = {absolute}"
        case (PartitionFound(partition),):
            return f"{state.absolute} % {state.settings.partition_count} = {partition}"
        case (CoordinatorFound() | CoordinatorNotAvailable(),):
            return f"leader of partition {state.partition}: {broker_name(state.broker_id)}"
    return "h = 0"


def broker_name(broker_id: int | None) -> str:
    """``broker 2``, or ``none``."""
    return "none" if broker_id is None else f"broker {broker_id}"


def describe_lookup(frame: Frame[Lookup, Event], before: Frame[Lookup, Event] | None = None) -> str:
    """One sentence about a frame of a look-up (`kafkalearn.coordinator.look_up`).

    >>> from kafkalearn.coordinator import look_up
    >>> describe_lookup(look_up("ok", leaders=[1, 2], partition_count=2)[2])
    'Unit 2 of 2, k = 107, goes into the hash: h = 31 * 111 + 107 = 3548.'
    """
    state = frame.state
    done = lookup_arithmetic(state)
    match state.effects:
        case (UnitHashed(unit),):
            which = f"Unit {state.read_count} of {len(state.settings.units)}, {unit_name(unit)} = {unit}"
            return f"{which}, goes into the hash: {done}."
        case (SignDropped(),):
            return f"The absolute value: {done}."
        case (PartitionFound(),):
            return f"The remainder is the partition of {OFFSETS_TOPIC}: {done}."
        case (CoordinatorNotAvailable(),):
            return f"Partition {state.partition} has no leader: COORDINATOR_NOT_AVAILABLE, the client asks again."
        case (CoordinatorFound(broker_id),):
            return f"Broker {broker_id} leads partition {state.partition}: it coordinates the group."
    return f"Which broker coordinates the group {short(state.settings.group_id)}? Nothing is read yet."


def lookup_text(frame: Frame[Lookup, Event], before: Frame[Lookup, Event] | None = None) -> str:
    """A frame of a look-up as a few lines of text.

    >>> from kafkalearn.coordinator import look_up
    >>> print(lookup_text(look_up("ok", leaders=[1, 2], partition_count=2)[1]))
    group id   "ok"
    units      [o=111] k=107
    now        h = 31 * 0 + 111 = 111
    hash       111
    absolute   ?
    partition  ? of 2
    broker     ?
    """
    state, settings = frame.state, frame.state.settings
    cells = [f"{unit_name(unit)}={unit}" for unit in settings.units]
    read = " ".join(cells[: state.read_count])
    unread = " ".join(cells[state.read_count :])
    answer = broker_name(state.broker_id).removeprefix("broker ") if state.is_answered else "?"
    rows = {
        "group id": short(settings.group_id),
        "units": " ".join(part for part in (f"[{read}]" if read else "", unread) if part) or "none",
        "now": lookup_arithmetic(state),
        "hash": state.group_hash,
        "absolute": _known(state.absolute),
        "partition": f"{_known(state.partition)} of {settings.partition_count}",
        "broker": answer,
    }
    return "\n".join(f"{name:<10} {value}" for name, value in rows.items())


def _known(value: int | None) -> str:
    return "?" if value is None else str(value)
