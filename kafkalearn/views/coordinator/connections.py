"""The connections of a topic's clients as a picture: to the leaders of partitions, and to the group's coordinator.

Arrows go the way the records or requests go; what is about the group is thick and dashed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from kafkalearn.coordinator.connections import PRODUCER, Connection, connections
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC, round_robin_leaders
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted, listed
from kafkalearn.views.coordinator.picture import title
from kafkalearn.views.coordinator.words import is_long, short, shortened
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, INK, LINES, MARK, MUTED, PANEL, READ, SMALL
from kafkalearn.views.drawing.svg import arrow, element, rect, text

LEFT, CLIENT_WIDTH, BROKER_LEFT, BROKER_WIDTH = 25, 270, 690, 285
LONGEST_NAME = 20
TOP, AREA_HEIGHT, CLIENT_HEIGHT, GAP = 64, 372, 66, 16
MOST_BROKERS, MOST_CLIENTS, MOST_PARTITIONS = 4, 5, 12
LEGEND_TOP = TOP + AREA_HEIGHT + 24
PRODUCE_LINE, FETCH_LINE = LINES[0], LINES[2]

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
        As in `kafkalearn.coordinator.connections.connections`; up to 4 brokers, 4 members and 12 partitions fit.

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
    if len(broker_ids) > MOST_BROKERS or len(clients) > MOST_CLIENTS or len(topic_leaders) > MOST_PARTITIONS:
        raise KafkaLearnError(
            f"the picture has room for {MOST_BROKERS} brokers, {MOST_CLIENTS - 1} members and {MOST_PARTITIONS} "
            f"partitions, got {len(broker_ids)}, {len(clients) - 1} and {len(topic_leaders)}"
        )
    offsets_at = offsets_partition(group_id, len(leaders))
    boxes = _rows(clients, CLIENT_HEIGHT), _rows(broker_ids, None)
    led = {each: [at for at, leader in enumerate(topic_leaders) if leader == each] for each in broker_ids}
    return picture(
        LEGEND_TOP + 126,
        title(f"Who talks to whom? Group {short(group_id)}", is_long(group_id)),
        *_lines(found, *boxes),
        *(_client(name, boxes[0][name], members) for name in clients),
        *(_broker(each, boxes[1][each], led[each], leaders[offsets_at] == each, offsets_at) for each in broker_ids),
        *_legend(),
        label=_label(found, group_id, offsets_at, leaders[offsets_at], len(members)),
    )


def _rows(names: Sequence[Name], height: float | None) -> Rows[Name]:
    """The boxes of a column, spread over the area."""
    room = (AREA_HEIGHT + GAP) / len(names)
    size = room - GAP if height is None else min(height, room - GAP)
    size = min(size, 112)
    return {name: (TOP + index * room + (room - GAP - size) / 2, size) for index, name in enumerate(names)}


def _client(name: str, box: tuple[float, float], members: Mapping[str, Sequence[int]]) -> str:
    top, height = box
    owned = sorted(members.get(name, ()))
    does = "writes to all partitions" if name == PRODUCER else f"reads {_partitions(owned)}"
    return _box(LEFT, top, CLIENT_WIDTH, height, shortened(name, LONGEST_NAME), [does], is_marked=False)


def _broker(broker_id: int, box: tuple[float, float], led: Sequence[int], is_coordinator: bool, at: int) -> str:
    lines = [f"leads {_partitions(led)}"]
    if is_coordinator:
        lines.append(f"leads {OFFSETS_TOPIC}-{at}")
    name = f"broker {broker_id}" + (", the coordinator" if is_coordinator else "")
    return _box(BROKER_LEFT, box[0], BROKER_WIDTH, box[1], name, lines, is_coordinator)


def _partitions(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no partition"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"partitions {numbers[0]} to {numbers[-1]}"
    return (
        f"partition{'s' * (len(numbers) > 1)} {listed(numbers)}" if len(numbers) < 5 else f"{len(numbers)} partitions"
    )


def _box(x: float, top: float, width: float, height: float, name: str, lines: Sequence[str], is_marked: bool) -> str:
    first = top + (height - 22 * len(lines)) / 2 + 6
    return "\n".join(
        [
            rect(x, top, width, height, READ if is_marked else PANEL, stroke=MARK if is_marked else INK,
                 stroke_width=4 if is_marked else 2, rx=6),
            text(x + 12, first, name, BODY, bold=True),
            *(text(x + 12, first + 22 * (index + 1), words, SMALL) for index, words in enumerate(lines)),
        ]
    )  # fmt: skip


def _lines(found: Sequence[Connection], clients: Rows[str], brokers: Rows[int]) -> list[str]:
    """Each connection between two ports of its own, in the order that crosses least."""
    of_client = _ports(found, clients, lambda each: each.client, lambda each: brokers[each.broker_id][0])
    of_broker = _ports(found, brokers, lambda each: each.broker_id, lambda each: clients[each.client][0])
    shapes = []
    for index, each in enumerate(found):
        here, there = (LEFT + CLIENT_WIDTH + 4, of_client[index]), (BROKER_LEFT - 6, of_broker[index])
        shapes.append(_line(each, here, there))
    return shapes


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
        return arrow(*here, *there, stroke=PRODUCE_LINE, width=2)
    return arrow(*there, *here, stroke=FETCH_LINE, width=2)


def _dashed(here: tuple[float, float], there: tuple[float, float]) -> str:
    return element(
        "line", x1=here[0], y1=here[1], x2=there[0], y2=there[1], stroke=MARK, stroke_width=4.5, stroke_dasharray="11 6"
    )


def _legend() -> list[str]:
    left, right = LEFT, LEFT + 70
    by_metadata = "found by Metadata, asked of any broker"
    rows = (
        (partial(_flow, left, right, PRODUCE_LINE), "Produce: to the leader of the partition", by_metadata),
        (partial(_flow, right, left, FETCH_LINE), "Fetch: from the leader of the partition", by_metadata),
        (
            lambda y: _dashed((left, y), (right, y)),
            "Join, Sync, Heartbeat, OffsetFetch, OffsetCommit",
            "found by FindCoordinator, asked of any broker",
        ),
    )
    shapes: list[str] = []
    for index, (shape, words, how) in enumerate(rows):
        y = LEGEND_TOP + 14 + index * 34
        shapes += [
            shape(y),
            text(LEFT + 86, y + 6, words, BODY - 2),
            text(LEFT + 520, y + 6, how, BODY - 2, colour=MUTED),
        ]
    return shapes


def _flow(start: float, end: float, colour: str, y: float) -> str:
    return arrow(start, y, end, y, stroke=colour, width=2)


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
