"""The layouts of requests against Kafka's own: the message definitions that lie in the jar of its clients."""

from __future__ import annotations

import json
import re
import zipfile

import pytest

from kafkalearn.formats.wire import ALWAYS, REQUIRED, ZERO_UUID, Array, Structure
from kafkalearn.live.jars import find_release, jar_paths
from kafkalearn.live.request_values import NAMES
from kafkalearn.live.requests import APIS
from tests.live.java import run_java_class

pytestmark = pytest.mark.live

KINDS = {"bool": "boolean", "records": "bytes"}
NEWEST = "4.3"  # the release whose definitions ours are; older ones know less


@pytest.fixture(scope="module")
def definitions(release):
    """Every message definition of the newest release, by name."""
    if release != NEWEST:
        pytest.skip(f"the layouts are those of {NEWEST}, and {release} is asked")
    (jar,) = [path for path in jar_paths(find_release(NEWEST)) if path.name.startswith("kafka-clients-")]
    found = {}
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if re.fullmatch(r"common/message/\w+\.json", name):
                text = re.sub(r"(?m)^\s*//.*$|(?<=[\]},0-9\"])\s+//.*$", "", archive.read(name).decode())
                message = json.loads(text)
                found[message["name"]] = message
    return found


def versions(text: str) -> tuple[int, int] | None:
    """The first and the last version of a range; None: it has none."""
    if text == "none":
        return None
    first, _, last = text.partition("-")
    return int(first.rstrip("+")), ALWAYS if text.endswith("+") else int(last or first)


class Definition:
    """One of Kafka's definitions, in the form of our layouts."""

    def __init__(self, message: dict) -> None:
        self.oldest, self.newest = versions(message["validVersions"])
        self.newest = self.oldest if self.newest == ALWAYS else self.newest
        self.flexible_since = (versions(message["flexibleVersions"]) or (ALWAYS, 0))[0]
        self.structures = {each["name"]: each["fields"] for each in message.get("commonStructs", [])}
        self.fields = self._fields(message["fields"])

    def _fields(self, fields: list) -> list:
        return [each for each in map(self._field, fields) if each]

    def _field(self, field: dict) -> tuple | None:
        span = versions(field["versions"])
        if span is None or span[0] > self.newest or span[1] < self.oldest:
            return None
        is_nullable = field.get("nullableVersions", "none") != "none"
        default = implied(field) if "default" in field or "tag" in field else None
        name = field["name"][0].lower() + field["name"][1:]
        since, until = max(span[0], self.oldest), min(span[1], self.newest)
        return name, self._kind(field["type"], field), since, until, is_nullable, field.get("tag"), default

    def _kind(self, kind: str, field: dict) -> object:
        if kind.startswith("[]"):
            return "array", self._kind(kind[2:], field)
        if kind[0].isupper():
            return "structure", self._fields(field.get("fields") or self.structures[kind])
        return KINDS.get(kind, kind)


def implied(field: dict) -> str:
    """A default as text: the one that is given, else the one that a type has."""
    given = field.get("default")
    if given is not None:
        return str(int(given, 16) if str(given).startswith("0x") else given).strip().lower()
    kind = field["type"]
    of_kind = {"string": "", "bool": "false", "uuid": ZERO_UUID.lower()}
    return "[]" if kind.startswith("[]") else "{}" if kind[0].isupper() else of_kind.get(kind, "0")


def ours(structure: Structure, oldest: int, newest: int) -> list:
    return [
        (
            field.name,
            kind_of(field.kind, oldest, newest),
            max(field.since, oldest),
            min(field.until, newest),
            field.is_nullable,
            field.tag,
            None if field.default is REQUIRED else default_text(field.default),
        )
        for field in structure.fields
    ]


def kind_of(kind: object, oldest: int, newest: int) -> object:
    if isinstance(kind, Array):
        return "array", kind_of(kind.of, oldest, newest)
    return ("structure", ours(kind, oldest, newest)) if isinstance(kind, Structure) else kind


def default_text(default: object) -> str:
    return "null" if default is None else str(default).lower()


def without_implied(fields: list) -> list:
    """Fields of ours that have a default where Kafka's definition gives none have the one that Kafka implies."""
    return [
        (name, ("structure", without_implied(kind[1])) if isinstance(kind, tuple) and kind[0] == "structure" else
         ("array", ("structure", without_implied(kind[1][1]))) if isinstance(kind, tuple) and isinstance(kind[1], tuple)
         else kind, *rest[:-1], None if rest[-1] in ("false", ZERO_UUID.lower()) else rest[-1])
        for name, kind, *rest in fields
    ]  # fmt: skip


@pytest.mark.parametrize("side", ["request", "response"])
@pytest.mark.parametrize("name", APIS)
def test_a_layout_has_every_field_of_kafkas_definition_in_every_version(definitions, name, side):
    api, real = APIS[name], Definition(definitions[f"{name}{side.capitalize()}"])
    layout = getattr(api, side)

    assert definitions[f"{name}Request"]["apiKey"] == api.number
    assert (api.oldest, layout.newest, layout.flexible_since) == (real.oldest, real.newest, real.flexible_since)
    assert without_implied(ours(layout.body, real.oldest, real.newest)) == without_implied(real.fields)


def test_every_error_has_its_number(release):
    if release != NEWEST:
        pytest.skip(f"the numbers are those of {NEWEST}, and {release} is asked")
    printed = run_java_class(find_release(NEWEST), "PrintErrors").splitlines()
    assert dict(NAMES) == {int(number): name for number, name in map(str.split, printed)}
