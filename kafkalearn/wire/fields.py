"""How a byte layout is written down: fields of a kind, in order, each from one version to another.

Kafka keeps the layout of its messages in JSON files, one for each message, and generates Java from them. These
classes say the same in Python: a `Layout` has fields, a field has a kind, and a kind is a number, true or false, a
text, bytes, a topic id, an `Array` of one kind or a `Structure` of further fields.

From the version where a layout becomes *flexible* on (KIP-482), lengths are variable-length numbers and every
structure ends with its *tagged* fields: each with a number, left out while it has its default, and skipped by
readers that do not know it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TypeAlias

INT8, INT16, INT32, INT64, UINT16 = "int8", "int16", "int32", "int64", "uint16"
BOOLEAN, STRING, BYTES, UUID = "boolean", "string", "bytes", "uuid"

ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"  # 16 zero bytes, as Kafka writes a topic id; stands for "unknown"
ALWAYS = 0x7FFF  # versions are signed 16-bit numbers


class _Required:
    """The one value of `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""Stands where a field has no default: it must be given."""


@dataclass(frozen=True, slots=True)
class Array:
    """A count, then that many elements of one kind."""

    of: Kind


@dataclass(frozen=True, slots=True)
class Structure:
    """Fields one after the other."""

    fields: tuple[Field, ...]
    _plain: dict[int, tuple[Field, ...]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _tagged: dict[int, tuple[Field, ...]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def plain(self, version: int) -> tuple[Field, ...]:
        """The fields that a version has in fixed places, in order."""
        if version not in self._plain:
            self._plain[version] = tuple(each for each in self.fields if each.tag is None and each.is_in(version))
        return self._plain[version]

    def tagged(self, version: int) -> tuple[Field, ...]:
        """The tagged fields of a version, by tag."""
        if version not in self._tagged:
            present = {each.tag: each for each in self.fields if each.tag is not None and each.is_in(version)}
            self._tagged[version] = tuple(present[tag] for tag in sorted(present))
        return self._tagged[version]


Kind: TypeAlias = str | Array | Structure


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a layout, in the versions `since` to `until`.

    `default` is what an absent field stands for when it is written. A field with a `tag` belongs to the tagged
    ones and is not written at all while it has its default.
    """

    name: str  # as in Kafka's JSON form
    kind: Kind
    since: int = 0
    until: int = ALWAYS
    default: object = dataclasses.field(default=REQUIRED, hash=False)  # may be a list
    is_nullable: bool = False
    tag: int | None = None

    def is_in(self, version: int) -> bool:
        """Whether this version of the layout has the field."""
        return self.since <= version <= self.until

    @property
    def versions(self) -> str:
        """The versions that have it, as text."""
        if self.until == ALWAYS:
            return f"{self.since} and up"
        return str(self.since) if self.since == self.until else f"{self.since} to {self.until}"


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole message: what follows the two bytes that hold its version, or in a key its record type."""

    name: str  # of Kafka's class
    body: Structure = dataclasses.field(repr=False)
    newest: int = 0  # versions 0 to this one are known
    flexible_since: int = ALWAYS

    def is_flexible(self, version: int) -> bool:
        """Whether lengths are varints and structures end with tagged fields."""
        return version >= self.flexible_since


def layout(name: str, *fields: Field, newest: int = 0, flexible_since: int = ALWAYS) -> Layout:
    """A layout of these fields.

    >>> layout("GroupMetadataKey", Field("group", STRING)).body.plain(version=0)[0].name
    'group'
    """
    return Layout(name, Structure(fields), newest, flexible_since)


def structure(*fields: Field) -> Structure:
    """A structure of these fields."""
    return Structure(fields)
