"""The layouts of requests, and the numbers of errors, against those in the jar of Kafka's clients."""

from __future__ import annotations

import re

import pytest

from kafkalearn.formats.wire import Array, Kind, Structure
from kafkalearn.live.jars import find_release, run_source
from kafkalearn.live.processes import class_jars
from kafkalearn.live.request_values import ERROR_NAMES
from kafkalearn.live.requests import MESSAGES, find_layout
from kafkalearn.releases.lines import DEFAULT_RELEASE
from tests.live.java import run_java_class
from tools import request_layouts
from tools.kafka_jars import HERE as TOOLS

pytestmark = pytest.mark.live

PACKAGE = "org.apache.kafka.common.message"


@pytest.fixture(scope="module")
def newest(release):
    """The newest release, whose layouts and numbers ours are; older ones know less."""
    if release != DEFAULT_RELEASE:
        pytest.skip(f"ours are those of {DEFAULT_RELEASE}, and {release} is asked")
    return find_release(release)


@pytest.fixture(scope="module")
def schemas(newest):
    """What Kafka's own classes say: of each message and version that it knows the fields."""
    names = " ".join(f"{PACKAGE}.{name}Data" for name in MESSAGES)
    found: dict[str, dict[int, str]] = {}
    for line in run_source(TOOLS / "AskClasses.java", class_jars(newest), f"layouts {names}").splitlines():
        _, name, version, fields = line.split("\t")
        found.setdefault(name.removeprefix(f"{PACKAGE}.").removesuffix("Data"), {})[int(version)] = simple(fields)
    return found


def simple(fields: str) -> str:
    """Without what a version or nulls change in the name of a type; arrays and tagged fields written in one way."""
    plain = re.sub("COMPACT_|NULLABLE_|ARRAY", "", fields.replace("TAGGED_FIELDS_TYPE_NAME", "tagged"))
    return plain.replace("RECORDS", "BYTES").replace("[", "(").replace("]", ")")


def test_the_file_says_what_kafkas_definitions_say(newest):
    recorded = request_layouts.RECORDED.read_text(encoding="utf-8")
    assert request_layouts.text_of(request_layouts.read(newest)) == recorded


def test_the_file_of_metadata_says_what_kafkas_definitions_say(newest):
    recorded = request_layouts.METADATA.read_text(encoding="utf-8")
    assert request_layouts.text_of(request_layouts.read_metadata(newest)) == recorded


@pytest.mark.parametrize("name", MESSAGES)
def test_a_layout_has_the_fields_of_kafkas_class_in_every_version(schemas, name):
    layout = find_layout(name)
    versions = range(MESSAGES[name]["oldest"], layout.newest + 1)
    ours = {version: schema_of(layout.body, version, layout.is_flexible(version)) for version in versions}
    assert schemas[name] == ours


def schema_of(structure: Structure, version: int, is_flexible: bool) -> str:
    """The fields of a version as AskClasses prints them, made `simple`."""

    def typed(name: str, kind: Kind) -> str:
        return f"{re.sub('(?=[A-Z])', '_', name).lower()}:{type_of(kind)}"

    def type_of(kind: Kind) -> str:
        if isinstance(kind, Array):
            return f"({type_of(kind.of)})"
        return f"{{{schema_of(kind, version, is_flexible)}}}" if isinstance(kind, Structure) else kind.upper()

    tagged = ",".join(f"{each.tag}={typed(each.name, each.kind)}" for each in structure.tagged(version))
    plain = [typed(each.name, each.kind) for each in structure.plain(version)]
    return ",".join([*plain, f"_tagged_fields:tagged({tagged})"] if is_flexible else plain)


def test_every_error_has_its_number(newest):
    printed = run_java_class(newest, "PrintErrors").splitlines()
    assert dict(ERROR_NAMES) == {int(number): name for number, name in map(str.split, printed)}
