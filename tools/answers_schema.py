"""``python -m tools.answers_schema``: what ``--json`` prints as JSON Schema, from the annotations of answers."""

from __future__ import annotations

import dataclasses
import json
import pkgutil
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.command import FORMAT_VERSION
from kafkalearn.oncall.shapes import ANSWERS
from tools.environment import ROOT

COMMAND = "python -m tools.answers_schema"
PATH = ROOT / "kafkalearn" / "oncall" / "answers.schema.json"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def text() -> str:
    """The schema as JSON."""
    schema = {
        "$schema": DRAFT,
        "title": f"What kafkalearn QUESTION --json prints, version {FORMAT_VERSION}",
        "description": "Names that stand here stay; an answer may get further ones. A change of what is here raises "
        "the version.",
        "type": "object",
        "required": ["version", "question", "outcome"],
        "oneOf": [{"$ref": f"#/$defs/{question}"} for question in sorted(ANSWERS)],
        "$defs": {question: _answer(question, ANSWERS[question]) for question in sorted(ANSWERS)},
    }
    return json.dumps(schema, indent=1) + "\n"


def _answer(question: str, shapes: tuple[type, ...]) -> dict[str, Any]:
    frame = {
        "version": {"const": FORMAT_VERSION},
        "question": {"const": question},
        "outcome": {"enum": [each.name.lower() for each in Outcome]},
    }
    whole = [_object(frame | _fields(each)) for each in shapes]
    if len(whole) == 1:
        return whole[0]
    every = {name: schema for each in whole for name, schema in each["properties"].items()}
    return {**_object(every), "required": sorted(frame), "anyOf": [{"required": each["required"]} for each in whole]}


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: fields[name] for name in sorted(fields)}, "required": sorted(fields)}


def _fields(shape: type) -> dict[str, Any]:
    """What the annotations of a shape, or of a class that is a row, say of each name."""
    return {name: of_type(each) for name, each in get_type_hints(shape, include_extras=True).items()}


def of_type(annotation: Any) -> dict[str, Any]:
    """The schema of what an annotation says.

    >>> of_type(int | None), of_type(list[str]), of_type(dict[str, bool])["additionalProperties"]
    ({'type': ['integer', 'null']}, {'type': 'array', 'items': {'type': 'string'}}, {'type': 'boolean'})
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (object, Any):
        return {}
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    if origin is Annotated:
        return _object(_fields(pkgutil.resolve_name(annotation.__metadata__[0])))
    if origin in (Union, types.UnionType):
        return _either([of_type(each) for each in arguments])
    if origin in (list, tuple):
        inner = [each for each in arguments if each is not Ellipsis]
        return {"type": "array", "items": _either([of_type(each) for each in inner])}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = of_type(arguments[1])
        return {"type": "object", **({"additionalProperties": inner} if inner else {})}
    if is_typeddict(annotation) or dataclasses.is_dataclass(annotation):
        return _object(_fields(annotation))
    if isinstance(annotation, type) and issubclass(annotation, tuple):  # in a class as a dict it stays a tuple
        return {"type": "array", "items": _either([of_type(each) for each in get_type_hints(annotation).values()])}
    raise TypeError(f"no shape of JSON is known for {annotation!r}")


def _either(found: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several schemas; plain types as a list of them."""
    single = [each for at, each in enumerate(found) if each not in found[:at]]
    if len(single) == 1:
        return single[0]
    if all(set(each) == {"type"} for each in single):
        return {"type": sorted(each["type"] for each in single)}
    return {"anyOf": single}


def main(path: Path = PATH) -> int:
    """Write the schema."""
    path.write_text(text(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
