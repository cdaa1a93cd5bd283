"""Which version of a value has which field, as rows for a table."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.offsets.records.record_types import RecordType, record_type
from kafkalearn.wire.decoder import TAGGED
from kafkalearn.wire.fields import Array, Field, Kind, Structure


def fields_by_version(kind: RecordType | int | str) -> list[dict[str, str]]:
    """Each field of a record type's value and, for every version, how it is written there.

    Parameters
    ----------
    kind : RecordType, int or str
        A record type, its number or its name.

    Returns
    -------
    list of dict
        For `kafkalearn.tables.table`: ``field``, and for each version, ``"0"`` and so on, the kind of the field, with
        "or null" where it may be null, or an empty text where the version does not have it. Fields of a structure in
        an array are written ``members[].memberId``. Flexible versions have tagged fields at their end.

    Raises
    ------
    KafkaLearnError
        If there is no such record type.

    Examples
    --------
    >>> for row in fields_by_version("OFFSET_COMMIT")[:2]:
    ...     print(row)
    {'field': 'offset', '0': 'int64', '1': 'int64', '2': 'int64', '3': 'int64', '4': 'int64'}
    {'field': 'leaderEpoch', '0': '', '1': '', '2': '', '3': 'int32', '4': 'int32'}
    """
    layout = record_type(kind).value
    versions = range(layout.newest + 1)
    rows = [
        {"field": path} | {str(version): _words(field, version) for version in versions}
        for path, field in _fields(layout.body, "")
    ]
    if layout.is_flexible(layout.newest):
        rows.append({"field": TAGGED} | {str(each): "yes" if layout.is_flexible(each) else "" for each in versions})
    return rows


def _fields(structure: Structure, path: str) -> Iterator[tuple[str, Field]]:
    for each in structure.fields:
        yield path + each.name, each
        inner, mark = (each.kind.of, "[]") if isinstance(each.kind, Array) else (each.kind, "")
        if isinstance(inner, Structure):
            yield from _fields(inner, f"{path}{each.name}{mark}.")


def _words(field: Field, version: int) -> str:
    if not field.is_in(version):
        return ""
    tag = "" if field.tag is None else f", tag {field.tag}"
    return _kind_words(field.kind) + (" or null" if field.is_nullable else "") + tag


def _kind_words(kind: Kind) -> str:
    match kind:
        case Array(of):
            return f"array of {_kind_words(of)}"
        case Structure():
            return "structure"
    return kind
