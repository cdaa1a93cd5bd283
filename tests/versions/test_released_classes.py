"""What classes of the released Kafkas answer, line by line: hashes, assignors, layouts and versions are ours."""

from __future__ import annotations

import re

import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.hashing import murmur2
from kafkalearn.coordinator import offsets_partition
from kafkalearn.formats.wire import Layout
from kafkalearn.offsets.records import RECORD_TYPES
from kafkalearn.partitioning import partition_for_key
from tests.recorded import recorded
from tools.released_classes import questions, taken_in, without

RECORDED = recorded("released-classes")
LINES = tuple(RECORDED["asked"])
NEWEST = LINES[-1]
NAMES = {"Range": "range", "RoundRobin": "roundrobin", "Sticky": "sticky", "CooperativeSticky": "cooperative-sticky"}


def answers(line):
    """What a line answers, by question."""
    found = {}
    for name, by_line in RECORDED["answers"].items():
        known = [by_line[each] for each in LINES[: LINES.index(line) + 1] if each in by_line]
        if known and known[-1] is not None:
            found[name] = known[-1]
    return found


def of_kind(line, kind):
    return {name.removeprefix(f"{kind} "): each for name, each in answers(line).items() if name.startswith(f"{kind} ")}


@pytest.mark.parametrize("line", LINES)
def test_keys_and_groups_are_hashed_as_we_hash_them(line):
    keys, groups = of_kind(line, "key"), of_kind(line, "group")
    assert (len(keys), len(groups)) == (61, 61)
    for key, answer in keys.items():
        data = b"" if key == "-" else bytes.fromhex(key)
        hash_, positive = map(int, answer.split())
        assert murmur2(data) == hash_
        assert partition_for_key(data, 7) == positive % 7
    for group, answer in groups.items():
        assert offsets_partition(group) == int(answer) % 50


@pytest.mark.parametrize("line", LINES)
def test_the_clients_assignors_give_new_groups_what_we_give(line):
    found = of_kind(line, "assign")
    assert len(found) == 4 * 40
    for question, answer in found.items():
        topics, members, assignor = question.split(" ")
        counts = {name: int(count) for name, count in (each.split("=") for each in topics.split(","))}
        group = [Member(name, names.split(";")) for name, names in (each.split(":") for each in members.split(","))]
        owners = assign(NAMES[assignor], counts, group)
        ours = {name: {f"{topic}-{number}" for topic, number in owners[name]} for name in owners}
        real = {
            name: set(filter(None, places.split(";")))
            for name, places in (each.split(":") for each in answer.split(","))
        }
        assert ours == real, question


def test_the_layouts_of_the_newest_line_are_ours():
    real = of_kind(NEWEST, "layout")
    layouts = {
        each.name: each for kind in RECORD_TYPES.values() for each in (kind.key, kind.value) if kind.until is None
    }
    for name, layout in layouts.items():
        versions = {int(each.partition(" ")[2]) for each in real if each.partition(" ")[0] == name}
        assert max(versions) == layout.newest, name
        for version in versions:
            assert fields_of(layout, version) == parsed(real[f"{name} {version}"]), (name, version)


def fields_of(layout: Layout, version: int) -> tuple[list[str], dict[int, str]]:
    """Names of the fields of a version, in the order of their bytes, and those with tags."""
    there = [each for each in layout.body.fields if each.since <= version <= each.until]
    plain = [snake(each.name) for each in there if each.tag is None]
    return plain, {each.tag: snake(each.name) for each in there if each.tag is not None}


def parsed(text: str) -> tuple[list[str], dict[int, str]]:
    """The same of a recorded layout; what is inside arrays is left out."""
    while "[" in text or "{" in text:
        text = re.sub(r"\[[^\[\]{}]*\]|\{[^\[\]{}]*\}", "ARRAY", inner_tags_removed(text))
    tagged = re.search(r"_tagged_fields:tagged\((.*?)\)", text)
    plain = text[: tagged.start()] if tagged else text
    tags = re.findall(r"(\d+)=(\w+):", tagged[1]) if tagged else []
    return re.findall(r"(\w+):", plain), {int(number): name for number, name in tags}


def inner_tags_removed(text: str) -> str:
    """Without the tagged fields inside arrays, whose own brackets would be in the way."""
    return re.sub(r",_tagged_fields:tagged\([^()\[\]{}]*\)\}", "}", text)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_left_out_and_taken_in_again_makes_the_same_file(line):
    left_out = without(RECORDED, line)

    again = taken_in(left_out, {line: answers(line)}, {line: RECORDED["asked"][line]})

    assert line not in left_out["asked"]
    assert again == RECORDED
    assert list(again["answers"]) == list(RECORDED["answers"])


def test_the_questions_are_those_that_are_recorded():
    asked = {each for each in questions() if each.split(" ")[0] in ("key", "group")}
    assert asked <= set(RECORDED["answers"])
