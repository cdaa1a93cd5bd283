"""Assignors on one's own group: who gets what, and what moves when the group changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from kafkalearn.assignor import Assignment, Member, assign, compare, rebalance, rejoin
from kafkalearn.assignor.registry import BROKER_ASSIGNORS, CLIENT_ASSIGNORS
from kafkalearn.errors import KafkaLearnError
from kafkalearn.page.playground.fields import choice_field, text_field
from kafkalearn.page.playground.shown import played, rows_html
from kafkalearn.phrases import shown
from kafkalearn.views.assignment.picture import animate_rebalance, draw_assignment
from kafkalearn.views.assignment.words import describe_assignment

ASSIGNORS = (*CLIENT_ASSIGNORS, *(f"{name} of the broker" for name in BROKER_ASSIGNORS))
_OF_THE_BROKER = " of the broker"


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
    return said | played(animate_rebalance(rebalance(name, topics, members, later)))


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
