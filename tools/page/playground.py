"""The playground, ``playground.html``: each part is a form, and a pure function from what is in it to what is shown.

A function of `ANSWERS` takes the fields of its form by name, as the page has them: text, and true or false for a box.
It gives a dict that JSON can write, of which the page shows

- ``text``: a sentence or several lines, as text; ``html``: tables and pictures, every value in them escaped;
- ``animation``: a drawn run as the player takes it, and ``start``, the step to show first;
- ``steps``: for each step of that run what may come next, ``[{"moves": [...], "broken": [...]}, ...]``;
- ``line``: moves as text, to go on from.

What the reader can put right is a `KafkaLearnError`. Nothing is kept between two questions: the fields are the whole
state, so a link with them in it is the state too.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from types import MappingProxyType

from kafkalearn import replication
from kafkalearn.assignors import Assignment, Member, assign, compare, rebalance, rejoin
from kafkalearn.assignors.picture import describe_assignment, draw_assignment
from kafkalearn.assignors.registry import BROKER_ASSIGNORS, CLIENT_ASSIGNORS
from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, counted, shown
from kafkalearn.base.moves import BETWEEN, moves_in, moves_of
from kafkalearn.base.search import explore, whole
from kafkalearn.base.tables import html_table
from kafkalearn.base.trace import Trace
from kafkalearn.coordinator import look_up
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT
from kafkalearn.coordinator.picture import draw_lookup
from kafkalearn.coordinator.words import describe_lookup
from kafkalearn.drawing.player import MOST_FRAMES, Animation, animation
from kafkalearn.formats.disk import parse_segment
from kafkalearn.formats.wire import Undecodable
from kafkalearn.groups.timeline_picture import draw_timeline
from kafkalearn.offsets import decode, formatter_line
from kafkalearn.offsets.record_picture import MOST_BYTES, describe_record_bytes, draw_record_bytes, record_bytes
from kafkalearn.oncall import why
from kafkalearn.partitioning import PARTITIONERS, partition_for_key
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    PROMISES,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    ElectLeaders,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    broken,
    step,
)
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.picture import broker_box, draw_replication
from kafkalearn.replication.search import alphabet, model, renamings
from kafkalearn.replication.state import Partition
from kafkalearn.replication.words import describe_replication
from kafkalearn.scenarios import find_change, simulate
from kafkalearn.scenarios.playing import PROTOCOLS
from kafkalearn.views import animate

__all__ = ["ANSWERS"]


# The fields of a form: text as a browser has it, read into what the library takes, with errors that name the field.

MOST_LETTERS = 200_000  # of one field


def text_field(fields: Mapping[str, object], name: str, default: str = "") -> str:
    """A field as text, without blanks around it; the default where it is not there or empty.

    >>> text_field({"group": " billing "}, "group"), text_field({}, "release", "4.3")
    ('billing', '4.3')
    """
    value = str(fields.get(name) or "").strip()
    if len(value) > MOST_LETTERS:
        raise KafkaLearnError(f"{name} may have {MOST_LETTERS:,} characters, got {len(value):,}")
    return value or default


def number_field(fields: Mapping[str, object], name: str, default: int) -> int:
    """A whole number; the default where the field is empty.

    >>> number_field({"partitions": "50"}, "partitions", 1)
    50
    >>> number_field({"partitions": "fifty"}, "partitions", 1)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: partitions must be a whole number, got 'fifty'
    """
    value = text_field(fields, name)
    if not value:
        return default
    if not re.fullmatch(r"[+-]?\d{1,18}", value):
        raise KafkaLearnError(f"{name} must be a whole number, got {shown(value)}")
    return int(value)


def choice_field(fields: Mapping[str, object], name: str, known: Sequence[str]) -> str:
    """One of some words; the first of them where the field is empty."""
    value = text_field(fields, name, known[0])
    one_of(name, value, known)
    return value


def settings_field(fields: Mapping[str, object], name: str) -> dict[str, object]:
    """Lines of ``setting = value``, as a properties file has them; what is a whole number becomes one.

    >>> settings_field({"settings": "session.timeout.ms = 10000 # ten seconds"}, "settings")
    {'session.timeout.ms': 10000}
    >>> settings_field({"settings": "session.timeout.ms 10000"}, "settings")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: line 1 of settings, 'session.timeout.ms 10000', must be: name = value
    """
    settings: dict[str, object] = {}
    for number, line in enumerate(text_field(fields, name).splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not (key and equals and value):
            raise KafkaLearnError(f"line {number} of {name}, {shown(line)}, must be: name = value")
        settings[key] = int(value) if re.fullmatch(r"-?\d{1,18}", value) else value
    return settings


def bytes_field(fields: Mapping[str, object], name: str) -> bytes | None:
    r"""Bytes written in hex (blanks, colons, 0x and \x are passed over) or in base64; None for nothing or ``null``.

    What can be read as hex is hex.

    >>> bytes_field({"key": "0x00 02 00:0a"}, "key"), bytes_field({"key": "AAIACg=="}, "key")
    (b'\x00\x02\x00\n', b'\x00\x02\x00\n')
    >>> bytes_field({"value": "null"}, "value") is None
    True
    """
    value = text_field(fields, name)
    if not value or value.casefold() == "null":
        return None
    bare = re.sub(r"0x|\\x|[\s:,]", "", value)
    if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", bare):
        return bytes.fromhex(bare)
    try:
        return base64.b64decode(re.sub(r"\s", "", value), validate=True)
    except (ValueError, binascii.Error):
        raise KafkaLearnError(
            f"{name} must be bytes in hex, such as 00 01 00 07, or in base64, got {shown(value)}"
        ) from None


# Log lines of brokers and clients, pasted or dropped: each rebalance in them, its cause, and what would avoid it.

MOST_LETTERS_OF_LOGS = 20_000_000


def explain(fields: Mapping[str, object]) -> dict[str, object]:
    """What the lines say of groups, as `kafkalearn.oncall.why` answers.

    Parameters
    ----------
    fields : mapping
        ``lines``: of any logs, together; ``group``: only this one, or nothing; ``zone``: of times that say none;
        ``settings``: of the consumers, lines of ``name = value``; ``release``: whose defaults.

    Returns
    -------
    dict
        ``text``: the answer; ``html``: for each rebalance the lines that it was seen by.

    Examples
    --------
    >>> explain({"lines": "INFO started"})["text"][:30]
    'Nothing about groups in 1 line'
    """
    lines = str(fields.get("lines") or "")
    if not lines.strip():
        raise KafkaLearnError("there are no lines: paste some of a broker's or a client's log, or drop the file")
    if len(lines) > MOST_LETTERS_OF_LOGS:
        raise KafkaLearnError(f"lines may have {MOST_LETTERS_OF_LOGS:,} characters here, got {len(lines):,}")
    found = why(
        io.StringIO(lines),
        group=text_field(fields, "group") or None,
        zone=text_field(fields, "zone", "UTC"),
        settings=settings_field(fields, "settings") or None,
        release=text_field(fields, "release", DEFAULT_RELEASE),
    )
    seen = [
        f"<li>{escape(each.words)}<pre>{escape(chr(10).join(line.text for line in each.evidence))}</pre></li>"
        for each in found.rebalances
    ]
    listed = f"<details><summary>The lines it was seen by</summary><ol>{''.join(seen)}</ol></details>" if seen else ""
    return {"text": str(found), "html": listed}


# What several parts show: a run as the player takes it, tables, and lines of text.


def played(animation: Animation) -> dict[str, object]:
    """A drawn run for the page's player."""
    return {"animation": json.loads(animation.payload), "start": animation.start}


def rows_html(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows by column as a table; nothing for no rows.

    >>> rows_html([]), rows_html([{"client": "<b>"}]).count("&lt;b&gt;")
    ('', 1)
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return html_table(columns, None, [[row.get(name) for name in columns] for row in rows]) if rows else ""


# Assignors on one's own group: who gets what, and what moves when the group changes.

_OF_THE_BROKER = " of the broker"
ASSIGNORS = (*CLIENT_ASSIGNORS, *(f"{name}{_OF_THE_BROKER}" for name in BROKER_ASSIGNORS))


def assignment(fields: Mapping[str, object]) -> dict[str, object]:
    """A group's assignment; with members afterwards, the change too, and what it costs by each assignor.

    Parameters
    ----------
    fields : mapping
        ``topics``: a line for each, ``orders 6``; ``members``: a line for each, ``C0: orders clicks``, or a name alone
        for one that subscribes to all; ``after``: the members afterwards, or nothing; ``assignor``: in `ASSIGNORS`.

    Raises
    ------
    KafkaLearnError
        If a line cannot be read, or no coordinator could form such a group.

    Examples
    --------
    >>> group = {"topics": "orders 4", "members": "C0\\nC1", "after": "C0"}
    >>> assignment(group | {"assignor": "range"})["text"]
    '4 partitions on 1 member: C0 4. 2 kept their owner, 2 moved.'
    """
    topics = topics_in(text_field(fields, "topics"))
    name = choice_field(fields, "assignor", ASSIGNORS)
    side = "broker" if name.endswith(_OF_THE_BROKER) else "client"
    name = name.removesuffix(_OF_THE_BROKER)
    members = members_in(text_field(fields, "members"), "members", topics)
    first = assign(name, topics, members, side=side)
    after = text_field(fields, "after")
    if not after:
        return {"text": describe_assignment(first), "html": str(draw_assignment(first))}
    later = members_in(after, "after", topics)
    second = assign(name, topics, _rejoined(name, members, later, first), side=side)
    said = {"text": describe_assignment(second, first), "html": str(draw_assignment(second, first))}
    if side == "broker":
        return said
    table = rows_html(compare(list(CLIENT_ASSIGNORS), topics, members, later))
    said["html"] += f"<p>{escape('The same change by each assignor of the client:')}</p>{table}"
    return said | played(animate(rebalance(name, topics, members, later)))


def topics_in(text: str) -> dict[str, int]:
    """The partitions of each topic.

    >>> topics_in("orders 6\\nclicks: 3")
    {'orders': 6, 'clicks': 3}
    """
    topics: dict[str, int] = {}
    for number, line in _lines(text):
        found = re.fullmatch(r"([\w.-]+)[\s:=]+(\d{1,6})", line)
        if not found:
            raise KafkaLearnError(f"line {number} of topics, {shown(line)}, must be a topic and a number: orders 6")
        topics[found[1]] = int(found[2])
    if not topics:
        raise KafkaLearnError("topics must have a line for each topic: orders 6")
    return topics


def members_in(text: str, name: str, topics: Mapping[str, int]) -> list[Member]:
    """The members and their subscriptions.

    >>> [(each.member_id, each.topics) for each in members_in("C0: orders\\nC1", "members", {"orders": 1, "clicks": 2})]
    [('C0', ('orders',)), ('C1', ('orders', 'clicks'))]
    """
    members = []
    for number, line in _lines(text):
        found = re.fullmatch(r"([^\s:]+)\s*(?::\s*(.*))?", line)
        if not found:
            raise KafkaLearnError(f"line {number} of {name}, {shown(line)}, must be a member and topics: C0: orders")
        wanted = re.split(r"[\s,]+", found[2].strip()) if found[2] else list(topics)
        if unknown := [each for each in wanted if each not in topics]:
            raise KafkaLearnError(f"line {number} of {name}: there is no topic {shown(unknown[0])} above")
        members.append(Member(found[1], wanted))
    return members


def _lines(text: str) -> list[tuple[int, str]]:
    lines = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line]


def _rejoined(name: str, before: Sequence[Member], after: Sequence[Member], first: Assignment) -> list[Member]:
    """The members afterwards, those that were there before with what they have."""
    known = {each.member_id: each for each in rejoin(name, before, first, generation=1)}
    return [
        Member(each.member_id, each.topics, known[each.member_id].owned, known[each.member_id].generation)
        if each.member_id in known
        else each
        for each in after
    ]


# A scenario of a consumer group, written as text: what comes of it, and the smallest change that would have helped.


def scenario(fields: Mapping[str, object]) -> dict[str, object]:
    """A scenario played: the whole on one page, the rebalances with their causes, and the run to step through.

    Parameters
    ----------
    fields : mapping
        ``scenario``: the lines; ``protocol``: classic or consumer; ``assignor``, ``release``: or nothing;
        ``settings``: lines of ``name = value``.

    Examples
    --------
    >>> said = scenario({"scenario": "at 0 s: c1 and c2 join", "release": "4.3"})
    >>> said["text"].splitlines()[0]
    '1 rebalance in 120 s, classic protocol, Kafka 4.3; 6,012 records were not read in time'
    """
    outcome = simulate(text_field(fields, "scenario"), **_given(fields))
    said = {"text": str(outcome), "html": str(draw_timeline(outcome))}
    is_short = 0 < len(outcome.trace) <= MOST_FRAMES
    return said | (played(animate(outcome)) if is_short else {})


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


# A partition of three replicas, broken by hand: a line of moves, and what may come next.

REPLICAS = 3
RUNNING = range(1, REPLICAS + 1)  # the ids of its brokers
TOUCHED = {
    Fetch: "fetches from the leader",
    BrokerCrashed: "dies; its disk stays",
    PowerLost: "loses its power: what was not flushed is gone",
    BrokerStopped: "is shut down in order",
    SessionExpired: "is given up by the controller",
    BrokerStarted: "comes back",
    BrokerFrozen: "freezes, as in a long pause",
    BrokerThawed: "goes on",
    BrokerReconnected: "reaches the controller again",
    HighWatermarkCheckpointed: "writes its HW to disk",
}
"""What each of these means for the broker that is touched in the picture."""

OF_A_BROKER = moves_of(*(kind(broker) for kind in TOUCHED for broker in RUNNING))
MOVES: Mapping[str, ReplicationEvent] = {
    **moves_of(*(Produce(acks=acks) for acks in ("all", 1, 0))),
    **OF_A_BROKER,
    **moves_of(AlterPartitionAnswered(), IsrChecked(), TimePassed(30_000), ElectLeaders(), ElectLeaders("unclean")),
}
"""All that may happen, by the words in which a line says it."""


def play_moves(fields: Mapping[str, object]) -> dict[str, object]:
    """A line of moves played; for each step what may come next, and which promises are broken; where brokers are drawn.

    Parameters
    ----------
    fields : mapping
        ``line``: moves with ``>`` between them; ``min_isr``, ``release``, ``unclean`` (true: unclean elections).

    Raises
    ------
    KafkaLearnError
        If a word is no move, or a move makes no sense where it stands: which, and why.

    Examples
    --------
    >>> said = play_moves({"line": "Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)"})
    >>> said["steps"][-1]["broken"]
    ['acknowledged records survive']
    >>> said["places"][0]["name"], said["places"][0]["moves"]["BrokerCrashed(1)"]
    ('broker 1', 'dies; its disk stays')
    """
    settings, line = settings_of(fields), moves_in(text_field(fields, "line"), MOVES)
    trace = played_run(settings, line)
    steps = [
        {
            "moves": [words for words, event in MOVES.items() if _is_possible(settings, frame.state, event)],
            "broken": list(broken(settings, frame.state, None if at == 0 else trace[at - 1].state)),
        }
        for at, frame in enumerate(trace)
    ]
    shown_run = animation(trace, partial(draw_replication, settings), partial(describe_replication, settings), start=-1)
    lost = next((at for at, each in enumerate(steps) if each["broken"]), None)
    words = f"{counted(len(line), 'move')}; " + (
        "every promise holds." if lost is None else f"move {lost} breaks: {', '.join(steps[lost]['broken'])}."
    )
    places = [
        {
            "name": f"broker {broker}",
            "box": broker_box(broker - 1),
            "moves": {words: TOUCHED[type(move)] for words, move in OF_A_BROKER.items() if move.broker_id == broker},
        }
        for broker in RUNNING
    ]
    return {
        "text": words,
        "line": BETWEEN.join(line),
        "steps": steps,
        "places": places,
    } | played(shown_run)


def settings_of(fields: Mapping[str, object]) -> Settings:
    """The partition that the fields describe."""
    return Settings(
        REPLICAS,
        release=text_field(fields, "release", DEFAULT_RELEASE),
        min_insync_replicas=number_field(fields, "min_isr", 1),
        is_unclean_election_enabled=bool(fields.get("unclean")),
        fetch_wait_max_ms=0,  # a fetch that finds nothing is answered at once: fewer moves, and no other outcome
    )


def played_run(settings: Settings, line: Sequence[str]) -> Trace:
    """The run of some moves; KafkaLearnError names the one that cannot come where it stands."""
    for count in range(1, len(line) + 1):
        try:
            replication.simulate(settings, [MOVES[words] for words in line[:count]])
        except KafkaLearnError as error:
            raise KafkaLearnError(f"move {count}, {line[count - 1]}, cannot come there: {error}") from error
    return replication.simulate(settings, [MOVES[words] for words in line])


def _is_possible(settings: Settings, state: object, event: ReplicationEvent) -> bool:
    try:
        return step(settings, state, event) != state
    except KafkaLearnError:
        return False


# The pictures of the chapters that can be touched.


def touched(fields: Mapping[str, object]) -> dict[str, object]:
    """A run on one of the chapters' boards, and what may come next.

    Parameters
    ----------
    fields : mapping
        ``board``: a name in `kafkalearn.boards.BOARDS`; ``line``: moves with ``>`` between them.

    Examples
    --------
    >>> touched({"board": "coordinator", "line": "BrokerCrashed(1)"})["text"]
    '1 move; every promise holds.'
    """
    from kafkalearn.boards import BOARDS, board_named  # all mechanisms: the other parts of the page need few of them

    chosen = board_named(choice_field(fields, "board", tuple(BOARDS)))
    run = chosen.played(text_field(fields, "line"))
    assert run.touch is not None
    return {"text": run.touch["said"], "line": run.touch["line"]} | played(run)


# Which broker coordinates my group, and which partition gets my record.

CLIENTS = {
    "murmur2": "Java; librdkafka with murmur2 or murmur2_random",
    "crc32": "librdkafka's default, so Python, .NET, Go by Confluent",
    "fnv1a": "Sarama; librdkafka with fnv1a",
    "murmur2-unmasked": "no client: murmur2 without the mask, a known mistake",
    "spark": "Spark's own shuffle: which task, no partition of Kafka",
}
"""Who follows which rule of `PARTITIONERS`."""


def coordinator(fields: Mapping[str, object]) -> dict[str, object]:
    """The look-up of a group's coordinator, step by step.

    Parameters
    ----------
    fields : mapping
        ``group``; ``describe``: what ``kafka-topics.sh --describe --topic __consumer_offsets`` prints, or nothing and
        then ``brokers`` and ``partitions``, numbers.

    Examples
    --------
    >>> coordinator({"group": "billing", "brokers": "3", "partitions": "50"})["text"]
    'Partition 9 of __consumer_offsets is led by broker 1: it coordinates billing.'
    """
    group, describe = str(fields.get("group") or ""), text_field(fields, "describe")
    if describe:
        trace = look_up(group, describe=describe)
    else:
        brokers = number_field(fields, "brokers", 3)
        partitions = number_field(fields, "partitions", OFFSETS_PARTITION_COUNT)
        trace = look_up(group, brokers=brokers, partition_count=partitions)
    last = trace[-1].state
    place = f"Partition {last.partition} of __consumer_offsets"
    if last.broker_id is None:
        words = f"{place} has no leader: FindCoordinator for {group} is answered COORDINATOR_NOT_AVAILABLE."
    else:
        words = f"{place} is led by broker {last.broker_id}: it coordinates {group}."
    return {"text": words} | played(animation(trace, draw_lookup, describe_lookup, start=-1))


def partition(fields: Mapping[str, object]) -> dict[str, object]:
    """The partition of a record with a key, by the rule of each client.

    Parameters
    ----------
    fields : mapping
        ``key``: text, or bytes in hex or base64 if ``form`` is ``bytes``; ``partitions``: of the topic.

    Examples
    --------
    >>> partition({"key": "user-42", "partitions": "6"})["text"]
    'Java puts it into partition 4 of 6; of the clients here 3 agree with no other.'
    """
    count = number_field(fields, "partitions", 6)
    if choice_field(fields, "form", ("text", "bytes")) == "text":
        key = str(fields.get("key") or "").encode()
    else:
        key = bytes_field(fields, "key") or b""
    found = {name: partition_for_key(key, count, name) for name in PARTITIONERS}
    rows = [
        {"rule": name, "partition": place if 0 <= place < count else f"{place}, which is none", "who": CLIENTS[name]}
        for name, place in found.items()
    ]
    real = [found[name] for name in ("murmur2", "crc32", "fnv1a")]
    alone = sum(real.count(place) == 1 for place in real)
    others = f"of the clients here {alone} agree with no other" if alone else "all clients here agree"
    words = f"Java puts it into partition {found['murmur2']} of {count}; {others}."
    return {"text": words, "html": rows_html(rows)}


# Bytes of ``__consumer_offsets``, pasted or dropped, taken apart.

MOST_FILE_BYTES = 32 << 20


def record(fields: Mapping[str, object]) -> dict[str, object]:
    """A record byte by byte, its fields, and the line that Kafka's tools print of it.

    Parameters
    ----------
    fields : mapping
        ``key``, ``value``: bytes in hex or base64; a value that is empty or ``null`` is a tombstone. ``release``: of
        the tools.

    Examples
    --------
    >>> said = record({"key": "0001000762696c6c696e6700066f726465727300000003"})
    >>> said["text"].splitlines()[0]
    "offset commit, key version 1: {'group': 'billing', 'topic': 'orders', 'partition': 3}"
    """
    key, value = bytes_field(fields, "key"), bytes_field(fields, "value")
    if key is None:
        raise KafkaLearnError("key is empty: paste the bytes of a record's key, in hex or in base64")
    found = decode(key, value)
    lines = [f"{found.type.words}, key version {int.from_bytes(key[:2])}: {dict(found.key)}"]
    lines.append("no value: a tombstone" if found.is_tombstone else f"value: {found.value}")
    printed = formatter_line(key, value, text_field(fields, "release", DEFAULT_RELEASE))
    if printed is not None:
        lines.append(f"the console consumer prints: {printed}")
    said = {"text": "\n".join(lines)}
    if max(len(key), len(value or b"")) > MOST_BYTES:
        return said
    return said | played(animation(record_bytes(key, value), draw_record_bytes, describe_record_bytes))


def segment(fields: Mapping[str, object]) -> dict[str, object]:
    """The records of a segment file of ``__consumer_offsets``.

    Parameters
    ----------
    fields : mapping
        ``file``: its name, whose number is the base offset; ``data``: its bytes in base64.

    Examples
    --------
    >>> segment({"file": "00000000000000000000.log", "data": ""})["text"]
    '0 records in 0 batches'
    """
    name = text_field(fields, "file")
    try:
        data = base64.b64decode(str(fields.get("data") or ""), validate=True)
    except (ValueError, binascii.Error) as error:
        raise KafkaLearnError(f"the file did not come through whole: {error}") from error
    if len(data) > MOST_FILE_BYTES:
        raise KafkaLearnError(f"a file may have {MOST_FILE_BYTES >> 20} MiB here, {name} has {len(data) >> 20}")
    number = re.match(r"(\d{20})\.log$", name)
    read = parse_segment(data, base_offset=int(number[1]) if number else 0)
    rows = [
        {"offset": each.offset, **_row(each.key, each.value)}
        for batch in read.batches
        if not batch.is_control
        for each in batch.records
    ]
    words = f"{counted(len(rows), 'record')} in {counted(len(read.batches), 'batch', 'batches')}"
    if read.rest is not None:
        words += f"; reading stopped: {read.rest.reason}"
    return {"text": words, "html": rows_html(rows)}


def _row(key: bytes | None, value: bytes | None) -> dict[str, object]:
    try:
        found = decode(key or b"", value)
    except Undecodable as error:
        return {"record": f"no record of __consumer_offsets: {error}", "key": (key or b"").hex(" "), "value": ""}
    value_words = "null: a tombstone" if found.is_tombstone else str(found.value)
    return {"record": found.type.words, "key": str(dict(found.key)), "value": value_words[:300]}


# What an exhaustive search would do with a partition, from where a line of moves ends.

SEARCHED = (Fetch, BrokerCrashed, PowerLost, SessionExpired, BrokerStarted, AlterPartitionAnswered())
"""What the search lets happen, beside one batch of records at most."""

ONE_BATCH: Mapping[type, int] = MappingProxyType({Produce: 1})

BUDGET = 40_000  # states: some seconds in a browser


def search(fields: Mapping[str, object]) -> dict[str, object]:
    """The shortest way to break a promise from where a line of moves ends, as an exhaustive search finds it.

    Parameters
    ----------
    fields : mapping
        As for `play_moves`; ``acks``: of the batch that the search may send, 1 or all; ``promise``: a name in
        `PROMISES`.

    Returns
    -------
    dict
        ``text``, and ``line``: the whole run as moves; empty if none was found, or none in which the controller
        elects by the order of the replicas.

    Examples
    --------
    >>> search({"acks": "1"})["line"]
    'Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)'
    >>> search({"acks": "1", "line": "Produce(acks=1) > BrokerCrashed(1)"})["text"]
    '1 move more: SessionExpired(1)'
    >>> search({"acks": "1", "line": "Produce(acks=1) > BrokerCrashed(2)"})["text"]
    '3 moves more: BrokerCrashed(1) > SessionExpired(1) > SessionExpired(2)'
    """
    settings, line = settings_of(fields), moves_in(text_field(fields, "line"), MOVES)
    promise = choice_field(fields, "promise", (ACKNOWLEDGED_SURVIVE, *PROMISES))
    acks = choice_field(fields, "acks", ("1", "all"))
    begin = played_run(settings, line)[-1].state
    may_happen = alphabet(settings, Produce(acks=1 if acks == "1" else acks), *SEARCHED)
    found = explore(model(settings, (promise,)), begin, may_happen, budget=BUDGET, at_most=ONE_BATCH)
    if found.trace is None:
        return {"text": f"{promise}: {found}", "line": ""}
    events = [frame.event for frame in found.trace[1:]]
    if not events:
        return {
            "text": f"The step on show breaks it already: {promise}. Step back, and search on from there.",
            "line": "",
        }
    more = in_the_order(settings, begin, events, promise) or _found_in_the_order(settings, begin, may_happen, promise)
    if more is None:
        words = BETWEEN.join(moves_of(*events))
        text = (
            f"The shortest, {counted(len(events), 'move')}, needs another leader than the order 1, 2, 3 gives: {words}"
        )
        return {"text": text, "line": ""}
    return {"text": f"{counted(len(more), 'move')} more: {BETWEEN.join(more)}", "line": BETWEEN.join([*line, *more])}


def in_the_order(
    settings: Settings, begin: Partition, events: Sequence[ReplicationEvent], promise: str
) -> list[str] | None:
    """A run that a search has found, in moves: with the leaders that the assignment's order gives.

    The search lets the controller elect any candidate, and brokers are alike to it; here they have names. None: under
    no other names does the run break the promise.
    """
    names = ({each: each for each in settings.broker_ids}, *renamings(settings.broker_ids))
    for renamed in names:
        before, state = None, begin
        run = [_without_successor(event, renamed) for event in events]
        try:
            for event in run:
                before, state = state, step(settings, state, event)
        except KafkaLearnError:
            continue
        if broken(settings, state, before, (promise,)):
            return [_words_of(event) for event in run]
    return None


def _found_in_the_order(
    settings: Settings, begin: Partition, may_happen: Sequence[ReplicationEvent], promise: str
) -> list[str] | None:
    """The same by a search that lets the controller elect by the order alone, and so meets more states."""
    by_the_order = [event for event in may_happen if getattr(event, "successor", None) is None]
    in_order = whole(settings, step, {promise: PROMISES[promise]})
    found = explore(in_order, begin, by_the_order, budget=BUDGET, at_most=ONE_BATCH)
    return found.trace and [_words_of(frame.event) for frame in found.trace[1:]]


def _words_of(event: ReplicationEvent) -> str:
    return next(words for words, move in MOVES.items() if move == event)


def _without_successor(event: ReplicationEvent, renamed: Mapping[int, int]) -> ReplicationEvent:
    changed = {"broker_id": renamed[event.broker_id]} if getattr(event, "broker_id", None) else {}
    return replace(event, **changed, **({"successor": None} if hasattr(event, "successor") else {}))


ANSWERS = {
    "assignment": assignment,
    "coordinator": coordinator,
    "cure": cure,
    "explain": explain,
    "moves": play_moves,
    "partition": partition,
    "record": record,
    "scenario": scenario,
    "search": search,
    "segment": segment,
    "touched": touched,
}
"""The parts by name."""
