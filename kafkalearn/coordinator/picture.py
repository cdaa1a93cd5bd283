"""Three pictures of a group's coordinator: the offsets topic, the look-up step by step, who talks to whom.

`draw_offsets_topic` draws the partitions of ``__consumer_offsets`` as a strip: who leads each, and which one is meant.
`draw_lookup` makes one drawing of a frame of `kafkalearn.coordinator.look_up`; what the frame's event did has the thick
border. `draw_connections` draws the connections of a topic's clients: arrows go the way the records or requests go;
what is about the group is thick and dashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
from kafkalearn.drawing.player import Picture, picture

LEFT = 25

# The offsets topic as a strip.

COLUMNS, CELL_WIDTH, CELL_HEIGHT, ROW_GAP = 25, 38, 46, 16
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
    label = f"{OFFSETS_TOPIC}: {len(leaders)} partitions; " + ", ".join(
        f"{count} without leader" if broker_id is None else f"broker {broker_id} leads {count}"
        for broker_id, count in _led(leaders)
    )
    label += "" if marked is None else f"; partition {marked} is marked"
    chosen = None if marked is None else leaders[marked]
    return picture(strip_height(leaders), strip(0, leaders, marked, chosen), label=label)


def strip_height(leaders: Sequence[int | None], most_shown: int = MOST_SHOWN) -> float:
    """Pixels that `strip` needs, the same whichever partition is marked."""
    rows = -(-min(len(leaders), most_shown) // COLUMNS)
    legend_rows = -(-min(len(_led(leaders)), MOST_NAMED) // LEGEND_COLUMNS)
    return 48 + rows * (CELL_HEIGHT + ROW_GAP) + legend_rows * LEGEND_HEIGHT + 10


def strip(
    top: float,
    leaders: Sequence[int | None],
    marked: int | None,
    chosen_broker: int | None,
    most_shown: int = MOST_SHOWN,
) -> str:
    """The strip's shapes from `top` down: heading, cells, legend with `chosen_broker` underlined."""
    shown = _shown(len(leaders), marked, most_shown)
    heading = f"{OFFSETS_TOPIC}, {len(leaders)} partitions and their leaders"
    if len(shown) < len(leaders):
        heading += f"; {shown[0]} to {shown[-1]} shown"
    fills = {broker_id: broker_fill(index) for index, (broker_id, _) in enumerate(_led(leaders))} | {None: LEADERLESS}
    places = {partition: _place(top + 42, partition - shown[0]) for partition in shown}
    below = top + 42 + -(-len(shown) // COLUMNS) * (CELL_HEIGHT + ROW_GAP)
    return "\n".join(
        [
            svg.text(LEFT, top + 20, heading, svg.BODY, bold=True),
            *_cells(places, leaders, fills),
            "" if marked is None else _mark(*places[marked]),
            *_leaders_legend(below, leaders, fills, chosen_broker),
        ]
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


def _place(top: float, at: int) -> tuple[float, float]:
    row, column = divmod(at, COLUMNS)
    return LEFT + column * CELL_WIDTH, top + row * (CELL_HEIGHT + ROW_GAP)


def _cells(
    places: dict[int, tuple[float, float]], leaders: Sequence[int | None], fills: dict[int | None, svg.Fill]
) -> list[str]:
    """Each partition's number on top, below it the fill of its leader, with the leader's id."""
    half, middle = CELL_HEIGHT / 2, CELL_WIDTH / 2
    lower = {partition: (x, y + half, CELL_WIDTH, half) for partition, (x, y) in places.items()}
    names = {partition: "–" if leaders[partition] is None else str(leaders[partition]) for partition in places}
    numbers = [(x + middle, y + 17, str(partition)) for partition, (x, y) in places.items()]
    ids = [(x + middle, y + half + 17, names[partition]) for partition, (x, y) in places.items()]
    return [
        *(
            svg.filled(each, *(box for partition, box in lower.items() if leaders[partition] == broker_id))
            for broker_id, each in fills.items()
            if any(leaders[partition] == broker_id for partition in places)
        ),
        svg.outlined(*((x, y, CELL_WIDTH, CELL_HEIGHT) for x, y in places.values())),
        svg.words_at(numbers, svg.SMALL, font_weight="bold"),
        svg.words_at(ids, svg.SMALL),
    ]


def _mark(x: float, y: float) -> str:
    return "\n".join(
        [
            svg.rect(x - 1, y - 1, CELL_WIDTH + 2, CELL_HEIGHT + 2, stroke=svg.MARK, stroke_width=svg.STRONG, rx=3),
            svg.pointer(x + CELL_WIDTH / 2, y - 2),
        ]
    )


def _leaders_legend(
    top: float, leaders: Sequence[int | None], fills: dict[int | None, svg.Fill], chosen: int | None
) -> list[str]:
    led = _led(leaders)
    parts = []
    for index, (broker_id, count) in enumerate(led[:MOST_NAMED]):
        row, column = divmod(index, LEGEND_COLUMNS)
        x, y = LEFT + column * 240, top + row * LEGEND_HEIGHT
        words = f"no leader: {count}" if broker_id is None else f"broker {broker_id} leads {count}"
        if index == MOST_NAMED - 1 and len(led) > MOST_NAMED:
            words = f"and {len(led) - MOST_NAMED + 1} more brokers"
        is_chosen = chosen is not None and broker_id == chosen
        parts += [
            svg.filled(fills[broker_id], (x, y, 36, 22)),
            svg.rect(x, y, 36, 22, **svg.edge(is_chosen)),
            svg.text(x + 46, y + 17, words, svg.SMALL + 1, **svg.stress(is_chosen)),
        ]
    return parts


def _led(leaders: Sequence[int | None]) -> list[tuple[int | None, int]]:
    """Brokers in order of their ids with how many partitions each leads; the leaderless last."""
    return sorted(Counter(leaders).items(), key=lambda item: (item[0] is None, item[0] or 0))


# The look-up: units, hash, sign, remainder, partition, broker.

UNITS_WIDTH, UNIT_HEIGHT = 950, 70
UNITS_TOP, ARITHMETIC_BASE, BOXES_TOP, STRIP_TOP = 84, 196, 216, 320
BOX_WIDTH, BOX_HEIGHT, BOX_GAP = 206, 78, 42
MOST_PARTITIONS = 50  # so that the picture fits a small window


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
    return picture(
        STRIP_TOP + strip_height(settings.leaders, MOST_PARTITIONS),
        title(heading(settings.group_id), is_long(settings.group_id)),
        *_units(state, event),
        svg.text(LEFT, ARITHMETIC_BASE, lookup_arithmetic(state), svg.TITLE - 2, mono=True),
        *_boxes(state, event),
        strip(STRIP_TOP, settings.leaders, state.partition, chosen, MOST_PARTITIONS),
        label=describe_lookup(frame),
    )


def title(words: str, is_small: bool) -> str:
    """The heading of a picture; a small one has letters of one width, so that a long id of any letters fits."""
    return svg.text(LEFT, 36, words, svg.BODY + 2 if is_small else svg.TITLE, bold=True, mono=is_small)


def _units(state: Lookup, event: Event | None) -> list[str]:
    """The UTF-16 code units as cells: read ones filled, the one just read under a pointer."""
    units = state.settings.units
    if not units:
        return [svg.text(LEFT, UNITS_TOP + 40, "the empty id has no units: its hash is 0", svg.BODY, colour=svg.MUTED)]
    width = 43 if max(units) < 10_000 else 52  # five digits need more room
    shown = _window(len(units), state.read_count, UNITS_WIDTH // width)
    boxes = {index: (LEFT + (index - shown[0]) * width, UNITS_TOP, width, UNIT_HEIGHT) for index in shown}
    read = [index for index in shown if index < state.read_count]
    unread = [index for index in shown if index >= state.read_count]
    return [
        svg.outlined(*(boxes[index] for index in unread)),
        svg.filled(svg.Fill(svg.READ, ""), *(boxes[index] for index in read)),
        svg.outlined(*(boxes[index] for index in read)),
        *_names(units, {index: boxes[index] for index in read}, svg.INK),
        *_names(units, {index: boxes[index] for index in unread}, svg.MUTED),
        _now(boxes[state.read_count - 1]) if isinstance(event, ReadUnit) else "",
        _part_shown(shown, len(units)),
    ]


def _window(count: int, read_count: int, room: int) -> range:
    """The units that fit: as many as can be, with the one just read among them."""
    first = max(0, min(read_count - room // 2, count - room))
    return range(first, min(first + room, count))


def _names(units: tuple[int, ...], boxes: dict[int, svg.Box], colour: str) -> list[str]:
    """Each unit as a character, its number below."""
    middles = {index: x + width / 2 for index, (x, _, width, _) in boxes.items()}
    names = {index: unit_name(units[index]) for index in boxes}
    shapes = [(middles[index], UNITS_TOP + 32, name) for index, name in names.items() if len(name) < 3]
    codes = [(middles[index], UNITS_TOP + 32, name) for index, name in names.items() if len(name) >= 3]
    numbers = [(middles[index], UNITS_TOP + 59, str(units[index])) for index in boxes]
    return [
        svg.words_at(shapes, svg.TITLE, font_family=svg.MONO, font_weight="bold", fill=colour),
        svg.words_at(codes, svg.SMALL, font_family=svg.MONO, font_weight="bold", fill=colour),
        svg.words_at(numbers, svg.SMALL, fill=colour),
    ]


def _now(box: svg.Box) -> str:
    x, y, width, height = box
    edge = svg.rect(x + 1, y, width - 2, height, stroke=svg.MARK, stroke_width=svg.STRONG, rx=3)
    return "\n".join([edge, svg.pointer(x + width / 2, y - 3)])


def _part_shown(shown: range, count: int) -> str:
    if len(shown) == count:
        return ""
    words = f"units {shown[0] + 1} to {shown[-1] + 1} of {count}"
    return svg.text(LEFT + UNITS_WIDTH, UNITS_TOP - 14, words, svg.SMALL, "end", svg.MUTED)


def _boxes(state: Lookup, event: Event | None) -> list[str]:
    """Four values, each from the one before it; what is not known yet is a question mark."""
    all_read = state.read_count == len(state.settings.units)
    broker = "none" if state.broker_id is None else state.broker_id
    contents = [
        ("hash h" if all_read else "hash so far", state.group_hash, ReadUnit),
        ("absolute |h|", state.absolute, TakeAbsolute),
        (f"partition |h| % {state.settings.partition_count}", state.partition, TakeRemainder),
        ("broker", broker if state.is_answered else None, AskLeader),
    ]
    parts = []
    for index, (name, value, made_by) in enumerate(contents):
        x = LEFT + index * (BOX_WIDTH + BOX_GAP)
        if index:
            parts.append(svg.arrow(x - BOX_GAP + 5, BOXES_TOP + BOX_HEIGHT / 2, x - 5, BOXES_TOP + BOX_HEIGHT / 2))
        parts.append(_box(x, name, value, is_now=isinstance(event, made_by)))
    return parts


def _box(x: float, name: str, value: int | str | None, is_now: bool) -> str:
    is_known = value is not None
    ground, border, ink = (svg.READ, svg.FAINT, svg.INK) if is_known else (svg.PANEL, svg.FAINT, svg.MUTED)
    stroke, width = (svg.MARK, svg.STRONG) if is_now else (border, svg.HAIR)
    middle = x + BOX_WIDTH / 2
    return "\n".join(
        [
            svg.rect(x, BOXES_TOP, BOX_WIDTH, BOX_HEIGHT, ground, stroke=stroke, stroke_width=width, rx=6),
            svg.text(middle, BOXES_TOP + 26, name, svg.SMALL + 1, "middle", ink),
            svg.text(middle, BOXES_TOP + 60, str(value) if is_known else "?", svg.TITLE, "middle", ink, bold=True),
        ]
    )


# Who talks to whom: connections to the leaders of partitions, and to the group's coordinator.

CLIENT_WIDTH, BROKER_LEFT, BROKER_WIDTH = 270, 690, 285
LONGEST_NAME = 20
TOP, AREA_HEIGHT, CLIENT_HEIGHT, GAP = 64, 372, 66, 16
MOST_BROKERS, MOST_CLIENTS, MOST_TOPIC_PARTITIONS = 4, 5, 12
LEGEND_TOP = TOP + AREA_HEIGHT + 24
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
    boxes = _rows(clients, CLIENT_HEIGHT), _rows(broker_ids)
    led = {each: [at for at, leader in enumerate(topic_leaders) if leader == each] for each in broker_ids}
    return picture(
        LEGEND_TOP + 126,
        title(f"Who talks to whom? Group {short(group_id)}", is_long(group_id)),
        *_lines(found, *boxes),
        *(_client(name, boxes[0][name], members) for name in clients),
        *(_broker(each, boxes[1][each], led[each], leaders[offsets_at] == each, offsets_at) for each in broker_ids),
        *_requests_legend(),
        label=_label(found, group_id, offsets_at, leaders[offsets_at], len(members)),
    )


def _rows(names: Sequence[Name], height: float | None = None) -> Rows[Name]:
    """The boxes of a column, spread over the area."""
    room = (AREA_HEIGHT + GAP) / len(names)
    size = min(112 if height is None else height, room - GAP)
    return {name: (TOP + index * room + (room - GAP - size) / 2, size) for index, name in enumerate(names)}


def _client(name: str, box: tuple[float, float], members: Mapping[str, Sequence[int]]) -> str:
    top, height = box
    owned = sorted(members.get(name, ()))
    does = "writes to all partitions" if name == PRODUCER else f"reads {_partitions(owned)}"
    return _party(LEFT, top, CLIENT_WIDTH, height, shortened(name, LONGEST_NAME), [does], is_marked=False)


def _broker(broker_id: int, box: tuple[float, float], led: Sequence[int], is_coordinator: bool, at: int) -> str:
    lines = [f"leads {_partitions(led)}"]
    if is_coordinator:
        lines.append(f"leads {OFFSETS_TOPIC}-{at}")
    name = f"broker {broker_id}" + (", coordinator" if is_coordinator else "")
    return _party(BROKER_LEFT, box[0], BROKER_WIDTH, box[1], name, lines, is_coordinator)


def _partitions(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no partition"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"partitions {numbers[0]} to {numbers[-1]}"
    if len(numbers) > 4:
        return f"{len(numbers)} partitions"
    return f"partition{'s' * (len(numbers) > 1)} {listed(numbers)}"


def _party(x: float, top: float, width: float, height: float, name: str, lines: Sequence[str], is_marked: bool) -> str:
    first = top + (height - 22 * len(lines)) / 2 + 6
    return "\n".join(
        [
            svg.rect(x, top, width, height, svg.READ if is_marked else svg.PANEL, **svg.edge(is_marked), rx=6),
            svg.text(x + 12, first, name, svg.BODY, bold=True),
            *(svg.text(x + 12, first + 22 * (index + 1), words, svg.SMALL) for index, words in enumerate(lines)),
        ]
    )


def _lines(found: Sequence[Connection], clients: Rows[str], brokers: Rows[int]) -> list[str]:
    """Each connection between two ports of its own, in the order that crosses least."""
    of_client = _ports(found, clients, lambda each: each.client, lambda each: brokers[each.broker_id][0])
    of_broker = _ports(found, brokers, lambda each: each.broker_id, lambda each: clients[each.client][0])
    return [
        _line(each, (LEFT + CLIENT_WIDTH + 4, y), (BROKER_LEFT - 6, other_y))
        for each, y, other_y in zip(found, of_client, of_broker, strict=True)
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


def _requests_legend() -> list[str]:
    left, right = LEFT, LEFT + 70
    by_metadata = "found by Metadata"
    rows = (
        (partial(_flow, left, right, PRODUCE_LINE), "Produce: to the leader of the partition", by_metadata),
        (partial(_flow, right, left, FETCH_LINE), "Fetch: from the leader of the partition", by_metadata),
        (
            lambda y: _dashed((left, y), (right, y)),
            "Join, Sync, Heartbeat, OffsetFetch, OffsetCommit",
            "found by FindCoordinator",
        ),
    )
    shapes: list[str] = []
    for index, (shape, words, how) in enumerate(rows):
        y = LEGEND_TOP + 14 + index * 34
        shapes += [
            shape(y),
            svg.text(LEFT + 86, y + 6, words, svg.BODY - 2),
            svg.text(LEFT + 640, y + 6, how, svg.BODY - 2, colour=svg.MUTED),
        ]
    return shapes


def _flow(start: float, end: float, colour: str, y: float) -> str:
    return svg.arrow(start, y, end, y, stroke=colour)


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
