"""Three pictures of a group's coordinator: the offsets topic, the look-up step by step, who talks to whom.

`draw_offsets_topic` draws the partitions of ``__consumer_offsets`` as a strip: who leads each, and which one is meant.
`draw_lookup` makes one drawing of a frame of `kafkalearn.coordinator.look_up`; what the frame's event did is marked.
`draw_connections` draws the connections of a topic's clients: arrows go the way the records or requests go; what is
about the group is dashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from kafkalearn.base.checks import sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted, listed
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.trace import Frame
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.lookup import AskLeader, Event, Lookup, ReadUnit, TakeAbsolute, TakeRemainder
from kafkalearn.coordinator.places import PRODUCER, Connection, connections
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.coordinator.words import (
    describe_lookup,
    heading,
    is_long,
    lookup_arithmetic,
    short,
    shortened,
    unit_name,
)
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    arrow,
    beside,
    by_fill,
    cells,
    chip,
    free,
    label,
    numbers,
    panel,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture

# The offsets topic as a strip.

COLUMNS, CELL_HEIGHT, ROW_HEIGHT = 25, 24, 62  # a row: numbers, below them cells, and room for a pointer
MOST_SHOWN = 100  # of a larger topic the hundred that holds the marked partition is shown
LEGEND_COLUMNS, LEGEND_HEIGHT, MOST_NAMED = 4, 29, 12
LEADERLESS = svg.Fill(svg.EMPTY, "x")


def draw_offsets_topic(leaders: Sequence[int | None], marked: int | None = None) -> Picture:
    """The offsets topic partition by partition, each with its leader, one of them marked.

    Parameters
    ----------
    leaders : sequence of int or None
        ``leaders[p]`` leads partition ``p``; None: no live leader.
    marked : int, optional
        A partition.

    Examples
    --------
    >>> draw_offsets_topic([1, 2, 1], marked=2).label
    '__consumer_offsets: 3 partitions; broker 1 leads 2, broker 2 leads 1; partition 2 is marked'
    """
    leaders = sequence("leaders", leaders, of="broker ids, one for each partition")
    if not leaders:
        raise KafkaLearnError("leaders is empty: name the leading broker of each partition")
    if marked is not None and whole_number("marked", marked, at_least=0) >= len(leaders):
        raise KafkaLearnError(f"marked must be a partition from 0 to {len(leaders) - 1}, got {marked}")
    said = f"{OFFSETS_TOPIC}: {len(leaders)} partitions; " + ", ".join(
        f"{count} without leader" if broker_id is None else f"broker {broker_id} leads {count}"
        for broker_id, count in _led(leaders)
    )
    said += "" if marked is None else f"; partition {marked} is marked"
    return sheet(_strip(leaders, marked, None if marked is None else leaders[marked]), said)


def _strip(
    leaders: Sequence[int | None], marked: int | None, chosen_broker: int | None, most_shown: int = MOST_SHOWN
) -> Block:
    """The partitions in rows, and who leads how many; as high whichever partition is marked."""
    shown = _shown(len(leaders), marked, most_shown)
    fills = {broker_id: broker_fill(index) for index, (broker_id, _) in enumerate(_led(leaders))} | {None: LEADERLESS}
    words = f"{OFFSETS_TOPIC}, {len(leaders)} partitions and their leaders"
    if len(shown) < len(leaders):
        words += f"; {shown[0]} to {shown[-1]} shown"
    rows = [_row(shown[at : at + COLUMNS], leaders, fills, marked) for at in range(0, len(shown), COLUMNS)]
    row_count = -(-min(len(leaders), most_shown) // COLUMNS)
    return stack(
        label(words, svg.BODY, bold=True),
        space(height=14),
        free(WIDE, row_count * ROW_HEIGHT, stack(*rows).draw),
        _brokers(leaders, fills, chosen_broker),
    )


def broker_fill(index: int) -> svg.Fill:
    """How broker number `index` looks: when the colours come round again, each has another hatch than before."""
    first = svg.fill(index)
    return svg.Fill(first.colour, svg.fill(index + index // len(svg.FILLS)).hatch)


def _shown(partition_count: int, marked: int | None, most_shown: int) -> range:
    if partition_count <= most_shown:
        return range(partition_count)
    first = (marked or 0) // most_shown * most_shown
    return range(first, min(first + most_shown, partition_count))


def _row(
    shown: range, leaders: Sequence[int | None], fills: Mapping[int | None, svg.Fill], marked: int | None
) -> Block:
    """Partitions by their numbers, below each its leader; a pointer stands above the marked one."""
    unit, here = WIDE / COLUMNS, [at for at, partition in enumerate(shown) if partition == marked]
    ids = {at: "–" if leaders[each] is None else str(leaders[each]) for at, each in enumerate(shown)}
    filled = by_fill(fills[leaders[each]] for each in shown)
    led_by = cells(len(shown), unit, filled, ids, height=CELL_HEIGHT, marked=here)
    return free(
        WIDE,
        ROW_HEIGHT,
        stack(numbers(len(shown), unit, first=shown[0]), led_by).draw,
        lambda x, y: [svg.pointer(x + unit * (at + 0.5), y + 3) for at in here],
    )


def _brokers(leaders: Sequence[int | None], fills: Mapping[int | None, svg.Fill], chosen: int | None) -> Block:
    """Who leads how many, in columns."""
    led, shown = _led(leaders), []
    for index, (broker_id, count) in enumerate(led[:MOST_NAMED]):
        words = f"no leader: {count}" if broker_id is None else f"broker {broker_id} leads {count}"
        if index == MOST_NAMED - 1 and len(led) > MOST_NAMED:
            words = f"and {len(led) - MOST_NAMED + 1} more brokers"
        is_chosen = chosen is not None and broker_id == chosen
        sample = chip([], fills[broker_id], width=36, height=22, is_new=is_chosen)
        said = label(words, svg.SMALL + 1, width=WIDE / LEGEND_COLUMNS - 46, **svg.stress(is_chosen))
        shown.append(beside(sample, space(10), said, height=LEGEND_HEIGHT))
    return stack(*(beside(*shown[at : at + LEGEND_COLUMNS]) for at in range(0, len(shown), LEGEND_COLUMNS)))


def _led(leaders: Sequence[int | None]) -> list[tuple[int | None, int]]:
    """Brokers in order of their ids with how many partitions each leads; the leaderless last."""
    return sorted(Counter(leaders).items(), key=lambda item: (item[0] is None, item[0] or 0))


# The look-up: units, hash, sign, remainder, partition, broker.

UNIT_HEIGHT, VALUE_HEIGHT, APART = 70, 78, 42  # pixels: of a unit's cell, of a value, and between two values
MOST_PARTITIONS = 50  # so that the picture fits a small window
DONE = svg.Fill(svg.READ, "")


def draw_lookup(frame: Frame[Lookup, Event], before: Frame[Lookup, Event] | None = None) -> Picture:
    """One moment of a look-up, drawn.

    Parameters
    ----------
    frame, before : Frame
        A frame of the trace; the one before it is not needed, the event says what changed.

    Examples
    --------
    >>> from kafkalearn.coordinator import look_up
    >>> draw_lookup(look_up("ok", leaders=[1, 2], partition_count=2)[-1]).label
    'Broker 1 leads partition 0: it coordinates the group.'
    """
    state, event, settings = frame.state, frame.event, frame.state.settings
    chosen = state.broker_id if state.is_answered else None
    page = stack(
        _title(heading(settings.group_id), is_long(settings.group_id)),
        _units(state, event),
        space(height=14),
        _in_one_width(lookup_arithmetic(state), svg.TITLE - 2),
        space(height=12),
        _values(state, event),
        space(height=20),
        _strip(settings.leaders, state.partition, chosen, MOST_PARTITIONS),
    )
    return sheet(page, describe_lookup(frame))


def _title(words: str, is_small: bool) -> Block:
    """The heading of a picture; a small one has letters of one width, so that a long id of any letters fits."""
    return _in_one_width(words, svg.BODY + 2, bold=True) if is_small else label(words, svg.TITLE, bold=True)


def _in_one_width(words: str, size: float, *, bold: bool = False) -> Block:
    """A line whose letters are all of one width."""
    high = label("", size).height
    return free(WIDE, high, lambda x, y: [svg.text(x, y + 1.05 * size, words, size, bold=bold, mono=True)])


def _units(state: Lookup, event: Event | None) -> Block:
    """The UTF-16 code units as cells, above them which are shown: read ones filled, the one just read marked."""
    units = state.settings.units
    if not units:
        words = label("the empty id has no units: its hash is 0", svg.BODY, svg.MUTED)
        return beside(words, height=label("").height + UNIT_HEIGHT)
    unit = 44 if max(units) < 1000 else 56  # longer numbers need more room
    shown = _window(len(units), state.read_count, int(WIDE // unit))
    read = [at for at, index in enumerate(shown) if index < state.read_count]
    now = read[-1:] if isinstance(event, ReadUnit) else []
    boxes = cells(len(shown), unit, {DONE: read}, height=UNIT_HEIGHT, marked=now)
    which = "" if len(shown) == len(units) else f"units {shown[0] + 1} to {shown[-1] + 1} of {len(units)}"
    row = free(
        WIDE,
        UNIT_HEIGHT,
        boxes.draw,
        lambda x, y: _names([units[index] for index in shown], x, y, unit, len(read)),
        lambda x, y: [svg.pointer(x + unit * (at + 0.5), y - 3) for at in now],
    )
    return stack(label(which, colour=svg.MUTED, width=WIDE, at_end=True), row)


def _window(count: int, read_count: int, room: int) -> range:
    """The units that fit: as many as can be, with the one just read among them."""
    first = max(0, min(read_count - room // 2, count - room))
    return range(first, min(first + room, count))


def _names(units: Sequence[int], x: float, y: float, unit: float, read_count: int) -> Iterator[str]:
    """Each unit as a character, its number below; those that are not read yet are muted."""
    for colour, places in ((svg.INK, range(read_count)), (svg.MUTED, range(read_count, len(units)))):
        placed = [(x + unit * (at + 0.5), units[at], unit_name(units[at])) for at in places]
        letters = [(at, y + 32, name) for at, _, name in placed if len(name) < 3]
        codes = [(at, y + 32, name) for at, _, name in placed if len(name) > 2]
        yield svg.words_at(letters, svg.TITLE, font_family=svg.MONO, font_weight="bold", fill=colour)
        yield svg.words_at(codes, svg.SMALL, font_family=svg.MONO, font_weight="bold", fill=colour)
        yield svg.words_at([(at, y + 59, str(each)) for at, each, _ in placed], svg.SMALL, fill=colour)


def _values(state: Lookup, event: Event | None) -> Block:
    """Four values, each from the one before it."""
    all_read = state.read_count == len(state.settings.units)
    broker = "none" if state.broker_id is None else state.broker_id
    contents = (
        ("hash h" if all_read else "hash so far", state.group_hash, ReadUnit),
        ("absolute |h|", state.absolute, TakeAbsolute),
        (f"partition |h| % {state.settings.partition_count}", state.partition, TakeRemainder),
        ("broker", broker if state.is_answered else None, AskLeader),
    )
    first, *others = (_value(name, value, is_now=isinstance(event, made_by)) for name, value, made_by in contents)
    return beside(first, *(block for each in others for block in (arrow(APART), each)))


def _value(name: str, value: int | str | None, *, is_now: bool) -> Block:
    """A value with its name; what is not known yet is a question mark."""
    is_known, width = value is not None, (WIDE - 3 * APART) / 4
    words, colour = str(value) if is_known else "?", svg.INK if is_known else svg.MUTED
    return free(
        width,
        VALUE_HEIGHT,
        chip([], DONE if is_known else svg.NOTHING, width=width, height=VALUE_HEIGHT, is_new=is_now).draw,
        lambda x, y: [svg.text(x + width / 2, y + 26, name, svg.SMALL + 1, "middle", colour)],
        lambda x, y: [svg.text(x + width / 2, y + 60, words, svg.TITLE, "middle", colour, bold=True)],
    )


# Who talks to whom: connections to the leaders of partitions, and to the group's coordinator.

CLIENT_WIDTH, BROKER_WIDTH, SAMPLE = 270, 285, 70  # pixels; the last of a line in the legend
LONGEST_NAME = 20
AREA_HEIGHT, CLIENT_HEIGHT, BROKER_HEIGHT, GAP = 372, 66, 112, 16
MOST_BROKERS, MOST_CLIENTS, MOST_TOPIC_PARTITIONS = 4, 5, 12
PRODUCE_LINE, FETCH_LINE = svg.LINES[0], svg.LINES[2]

Name = TypeVar("Name")
Rows: TypeAlias = Mapping[Name, tuple[float, float]]  # top and height of each box of a column


def draw_connections(
    group_id: str,
    topic_leaders: Sequence[int],
    members: Mapping[str, Sequence[int]],
    *,
    brokers: Sequence[int] | int,
) -> Picture:
    """A producer, the members of a group and the brokers, with every connection that the clients hold.

    Parameters
    ----------
    group_id, topic_leaders, members, brokers
        As in `kafkalearn.coordinator.places.connections`; up to 4 brokers, 4 members and 12 partitions fit.

    Raises
    ------
    KafkaLearnError
        As `connections`, and if there are too many to be drawn.

    Examples
    --------
    >>> print(draw_connections("billing", [1, 2, 3], {"c1": [0, 1], "c2": [2]}, brokers=3).label)
    producer: writes to brokers 1, 2 and 3. c1: reads from brokers 1 and 2. c2: reads from broker 3. Both members of \
"billing": to broker 1, which leads partition 9 of __consumer_offsets.
    """
    found = connections(group_id, topic_leaders, members, brokers=brokers)
    leaders = round_robin_leaders(brokers)
    broker_ids, clients = sorted(set(leaders)), list(dict.fromkeys(each.client for each in found))
    if len(broker_ids) > MOST_BROKERS or len(clients) > MOST_CLIENTS or len(topic_leaders) > MOST_TOPIC_PARTITIONS:
        raise KafkaLearnError(
            f"the picture has room for {MOST_BROKERS} brokers, {MOST_CLIENTS - 1} members and {MOST_TOPIC_PARTITIONS} "
            f"partitions, got {len(broker_ids)}, {len(clients) - 1} and {len(topic_leaders)}"
        )
    offsets_at = offsets_partition(group_id, len(leaders))
    coordinator = leaders[offsets_at]
    led = {each: [at for at, leader in enumerate(topic_leaders) if leader == each] for each in broker_ids}
    left, right = _rows(clients, CLIENT_HEIGHT), _rows(broker_ids, BROKER_HEIGHT)
    page = stack(
        _title(f"Who talks to whom? Group {short(group_id)}", is_long(group_id)),
        space(height=10),
        free(
            WIDE,
            AREA_HEIGHT,
            lambda x, y: _lines(found, left, right, x, y),
            *(_client(name, high, members).at(0, top) for name, (top, high) in left.items()),
            *(
                _broker(each, high, led[each], offsets_at if coordinator == each else None).at(WIDE - BROKER_WIDTH, top)
                for each, (top, high) in right.items()
            ),
        ),
        space(height=12),
        *_requests_legend(),
    )
    return sheet(page, _label(found, group_id, offsets_at, coordinator, len(members)))


def _rows(names: Sequence[Name], height: float) -> Rows[Name]:
    """The boxes of a column, spread over the area."""
    room = (AREA_HEIGHT + GAP) / len(names)
    size = min(height, room - GAP)
    return {name: (index * room + (room - GAP - size) / 2, size) for index, name in enumerate(names)}


def _client(name: str, height: float, members: Mapping[str, Sequence[int]]) -> Block:
    does = "writes to all partitions" if name == PRODUCER else f"reads {_partitions(sorted(members.get(name, ())))}"
    return _party([shortened(name, LONGEST_NAME), does], CLIENT_WIDTH, height)


def _broker(broker_id: int, height: float, led: Sequence[int], offsets_at: int | None) -> Block:
    """A broker; `offsets_at` is the partition whose leader coordinates the group, if it is this one."""
    leads = f"leads {_partitions(led)}"
    if offsets_at is None:
        return _party([f"broker {broker_id}", leads], BROKER_WIDTH, height)
    words = [f"broker {broker_id}, coordinator", leads, f"leads {OFFSETS_TOPIC}-{offsets_at}"]
    return _party(words, BROKER_WIDTH, height, is_marked=True)


def _partitions(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no partition"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"partitions {numbers[0]} to {numbers[-1]}"
    if len(numbers) > 4:
        return f"{len(numbers)} partitions"
    return f"partition{'s' * (len(numbers) > 1)} {listed(numbers)}"


def _party(words: Sequence[str], width: float, height: float, *, is_marked: bool = False) -> Block:
    """Who takes part: a name, and below it what it does."""
    name, *does = words
    said = stack(label(name, svg.BODY, bold=True), *(label(each, width=width - 24) for each in does))
    return panel(beside(said, height=height), width=width, height=height, pad=12, is_new=is_marked)


def _lines(found: Sequence[Connection], clients: Rows[str], brokers: Rows[int], x: float, y: float) -> list[str]:
    """Each connection between two ports of its own, in the order that crosses least."""
    of_client = _ports(found, clients, lambda each: each.client, lambda each: brokers[each.broker_id][0])
    of_broker = _ports(found, brokers, lambda each: each.broker_id, lambda each: clients[each.client][0])
    left, right = x + CLIENT_WIDTH + 4, x + WIDE - BROKER_WIDTH - 6
    return [
        _line(each, (left, y + here), (right, y + there))
        for each, here, there in zip(found, of_client, of_broker, strict=True)
    ]


def _ports(
    found: Sequence[Connection],
    boxes: Rows[Name],
    box_of: Callable[[Connection], Name],
    other_end: Callable[[Connection], float],
) -> list[float]:
    ports = [0.0] * len(found)
    for name, (top, height) in boxes.items():
        own = [index for index, each in enumerate(found) if box_of(each) == name]
        own.sort(key=lambda index: (other_end(found[index]), found[index].partitions == ()))
        for place, index in enumerate(own):
            ports[index] = top + height * (place + 1) / (len(own) + 1)
    return ports


def _line(each: Connection, here: tuple[float, float], there: tuple[float, float]) -> str:
    if not each.partitions:
        return _dashed(here, there)
    if each.client == PRODUCER:
        return svg.arrow(*here, *there, stroke=PRODUCE_LINE)
    return svg.arrow(*there, *here, stroke=FETCH_LINE)


def _dashed(here: tuple[float, float], there: tuple[float, float]) -> str:
    return svg.element(
        "line",
        x1=here[0],
        y1=here[1],
        x2=there[0],
        y2=there[1],
        stroke=svg.MARK,
        stroke_width=svg.LINE,
        stroke_dasharray="11 6",
    )


def _requests_legend() -> Iterator[Block]:
    """What the lines are, and how a client finds whom to ask."""
    group = free(SAMPLE, 24, lambda x, y: [_dashed((x, y + 12), (x + SAMPLE, y + 12))])
    for sample, words, how in (
        (arrow(SAMPLE, PRODUCE_LINE), "Produce: to the leader of the partition", "Metadata"),
        (arrow(SAMPLE, FETCH_LINE, to="left"), "Fetch: from the leader of the partition", "Metadata"),
        (group, "Join, Sync, Heartbeat, OffsetFetch, OffsetCommit", "FindCoordinator"),
    ):
        said = label(words, svg.BODY - 2, width=554)
        yield beside(sample, space(16), said, label(f"found by {how}", svg.BODY - 2, svg.MUTED), height=34)


def _label(found: Sequence[Connection], group_id: str, offsets_at: int, coordinator: int, member_count: int) -> str:
    said: list[str] = []
    for client in dict.fromkeys(each.client for each in found):
        ids = [each.broker_id for each in found if each.client == client and each.partitions]
        does = "writes to" if client == PRODUCER else "reads from"
        where = f"{'broker' if len(ids) == 1 else 'brokers'} {listed(ids)}" if ids else "no broker"
        said.append(f"{client}: {does} {where}.")
    who = "Both members" if member_count == 2 else f"All {counted(member_count, 'member')}"
    return (
        f"{' '.join(said)} {who} of {short(group_id)}: to broker {coordinator}, "
        f"which leads partition {offsets_at} of {OFFSETS_TOPIC}."
    )
