"""What a tool of an agent takes and answers: one question of the command, asked with plain data and answered with it.

As a process (``python -m kafkalearn.oncall.tool_calls``) it answers one question, in JSON on standard input and output.
The server has validated it before (`check_arguments`), so that what validates is loaded once and not for each question.
Whoever starts the server says what may be read (`Access`); no tool takes a folder's way out, a cluster or a secret.

References
----------
Model Context Protocol, tools.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kafkalearn.base.checks import mapping, one_of
from kafkalearn.base.errors import KafkaLearnError, listed, printable, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.oncall.command import MCP, QUESTIONS, command_parser, in_words, question_named, to_data
from kafkalearn.oncall.settings import MASK, SECRET

WRITES = ("film", "follow")
"""Arguments of the command that write a file, or print before the answer is there."""

OF_THE_SERVER = ("bootstrap", "config")
"""Arguments that are said once, by who starts the server; a tool has `CLUSTER` in their place."""

CLUSTER = "cluster"

FOLDERS = ("paths", "segments")
"""Arguments that are files of bytes or folders, which no text stands for."""

MOST_BYTES, MEMORY_BYTES = 200_000, 4 << 30
"""How large an answer may be, and how much memory finding it may take."""


@dataclass(frozen=True, slots=True)
class Access:
    """What the server may read, as its user has said.

    Parameters
    ----------
    folders : tuple of str
        Only files in these are read, and none that a link in them leads to elsewhere.
    bootstrap, config : str or None
        The cluster that is asked, and the file with the security settings for it.
    """

    folders: tuple[str, ...] = ()
    bootstrap: str | None = None
    config: str | None = None

    def path(self, given: str) -> str:
        """A path that may be read.

        Raises
        ------
        KafkaLearnError
            If it lies outside, leads outside, or is a pipe or a device.
        """
        path = Path(given)
        self._refuse_outside(path)
        if path.is_dir():
            for folder, names, files_there in os.walk(path):
                for name in [*names, *files_there]:
                    self._refuse_outside(Path(folder, name))
        return given

    def _refuse_outside(self, path: Path) -> None:
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(os.path.realpath(folder)) for folder in self.folders):
            allowed = listed(map(shown, self.folders), "and") if self.folders else "no file; paste the text itself"
            raise KafkaLearnError(
                f"{shown(str(path))} is not read: this server reads {allowed}. Whoever starts it says more: "
                f"kafkalearn {MCP} --folder DIR"
            )
        try:
            mode = os.stat(real).st_mode
        except OSError:
            return  # the question says that there is none
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise KafkaLearnError(f"{shown(str(path))} is neither a regular file nor a folder, and is not read")


# What a tool takes, and what it answers with.


def _parser_of(question: str) -> argparse.ArgumentParser:
    one_of("question", question, sorted(QUESTIONS))
    (asked,) = (each for each in command_parser([question])._actions if isinstance(each, argparse._SubParsersAction))
    return asked.choices[question]


def _arguments(question: str) -> Iterator[Any]:  # actions of argparse, some with attributes of our own
    for action in _parser_of(question)._actions:
        if action.dest not in ("help", "json", *WRITES, *OF_THE_SERVER):
            yield action


def _asks_a_cluster(question: str) -> bool:
    return any(action.dest == OF_THE_SERVER[0] for action in _parser_of(question)._actions)


@cache
def input_schema(question: str) -> dict[str, Any]:
    """The input of a tool, as JSON Schema, by the names that the command's options have.

    >>> schema = input_schema("where")
    >>> schema["required"], schema["properties"]["names"]["type"], schema["properties"]["brokers"]["type"]
    (['kind'], 'array', 'string')
    """
    properties: dict[str, Any] = {}
    required = []
    for action in _arguments(question):
        properties[action.dest] = {**_kind(action), "description": _description(action)}
        if not action.option_strings and action.nargs in (None, "+"):
            required.append(action.dest)
    if _asks_a_cluster(question):
        properties[CLUSTER] = {"type": "boolean", "description": "ask the cluster that this server was started for"}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _kind(action: Any) -> dict[str, Any]:
    if isinstance(action, argparse._StoreTrueAction):
        return {"type": "boolean"}
    one: dict[str, Any] = {"type": {int: "integer", float: "number"}.get(action.type, "string")}
    if action.choices is not None:
        one["enum"] = [*action.choices]
    is_list = action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction)
    return {"type": "array", "items": one, **({"minItems": 1} if action.nargs == "+" else {})} if is_list else one


def _description(action: Any) -> str:
    said = (action.help or action.dest).replace("; - is standard input", "").replace("- is standard input; ", "")
    return f"{said}; a path, or the text itself" if _may_be_text(action) else said


def _is_path(action: Any) -> bool:
    return getattr(action, "is_file", False)


def _may_be_text(action: Any) -> bool:
    return _is_path(action) and action.dest not in FOLDERS


@cache
def output_schema(question: str) -> dict[str, Any]:
    """What a tool answers with: the part of ``answers.schema.json`` that is about the question."""
    return json.loads((files("kafkalearn.oncall") / "answers.schema.json").read_text(encoding="utf-8"))["$defs"][
        question
    ]


def ask(question: str, arguments: Mapping[str, Any], access: Access) -> tuple[str, dict[str, Any]]:
    """The answer to a question in words, and as ``--json`` has it.

    Parameters
    ----------
    question : str
        A name in `kafkalearn.oncall.command.QUESTIONS`.
    arguments : mapping
        As `input_schema` says.
    access : Access
        What may be read.

    Raises
    ------
    KafkaLearnError, OSError
        If the arguments are none of it, if a path is not one that may be read, or there is no answer.

    Examples
    --------
    >>> words, data = ask("where", {"kind": "group", "names": ["billing"]}, Access())
    >>> words, data["places"][0]["partition"]
    ('group billing: partition 9 of the 50 of __consumer_offsets', 9)
    """
    check_arguments(question, arguments)
    return _answered(question, arguments, access)


def _answered(question: str, arguments: Mapping[str, Any], access: Access) -> tuple[str, dict[str, Any]]:
    with TemporaryDirectory(prefix="kafkalearn-") as folder:
        options = argparse.Namespace(**{each.dest: each.default for each in _parser_of(question)._actions})
        if arguments.get(CLUSTER):
            if access.bootstrap is None:
                raise KafkaLearnError(f"this server was started for no cluster: kafkalearn {MCP} --bootstrap HOST:PORT")
            options.bootstrap, options.config = access.bootstrap, access.config
        for action in _arguments(question):
            if action.dest in arguments:
                setattr(options, action.dest, _given(action, arguments[action.dest], Path(folder), access))
            elif action.nargs == "*":
                setattr(options, action.dest, [])
        answer = question_named(question).answer(options)
        return safe(str(answer)), safe(to_data(question, answer))


_SECRET_VALUE = re.compile(
    rf"(?P<name>(?:{SECRET.pattern})[\w.-]{{0,80}}+\s{{0,3}}+[=:]\s{{0,3}}+)(?:\"[^\"]*+\"|\S+)", SECRET.flags
)
"""A name that stands for a secret, and what is said of it: in a line of settings, or inside a JAAS one."""


def safe(said: Any) -> Any:
    """Words, or data, without control characters and without the values of secrets.

    >>> safe("billing: sasl.password=HUNTER2")
    'billing: sasl.password=(hidden)'
    """
    match said:
        case str():
            return _SECRET_VALUE.sub(rf"\g<name>{MASK}", printable(said))
        case list() | tuple():
            return [safe(each) for each in said]
        case Mapping():
            return {safe(name): safe(each) for name, each in said.items()}
    return said


def check_arguments(question: str, arguments: Mapping[str, Any]) -> None:
    """Validate what a tool is given against `input_schema`.

    Raises
    ------
    KafkaLearnError
        If the question is unknown, or the arguments are none of it: the message has the first fault.

    Examples
    --------
    >>> check_arguments("safe", {"replicas": "three"})
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: safe: replicas: 'three' is not of type 'integer'
    """
    from jsonschema import Draft202012Validator

    given = dict(mapping("arguments", arguments, of="name to value"))
    faults = sorted(Draft202012Validator(input_schema(question)).iter_errors(given), key=str)
    if faults:
        where = ".".join(map(str, faults[0].path))
        raise KafkaLearnError(f"{question}: {f'{where}: ' if where else ''}{faults[0].message[:300]}")


def _given(action: Any, value: Any, folder: Path, access: Access) -> Any:
    """A value as the command has it: text in place of a file becomes a file, and nobody waits for standard input."""
    if isinstance(value, list):
        return [_given(action, each, folder, access) for each in value]
    if not isinstance(value, str):
        return value
    if value == STANDARD_INPUT:
        raise KafkaLearnError(f"{action.dest} is {shown(value)}, standard input, which the protocol needs: give a path")
    if not _may_be_text(action) or "\n" not in value:
        return access.path(value) if _is_path(action) else value
    path = folder / f"{action.dest}-{len([*folder.iterdir()])}.txt"
    path.write_text(value, encoding="utf-8")
    return str(path)


# The process that answers one question.


def _answer_one() -> None:
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit, macOS does not set it
        resource = import_module("resource")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    asked = json.load(sys.stdin)
    try:
        words, data = _answered(asked["question"], asked["arguments"], Access(*asked["access"]))
    except (KafkaLearnError, OSError, MemoryError, RecursionError) as error:
        said: dict[str, object] = {"error": safe(in_words(error))}
    else:
        said = {"words": words, "data": data}
    text = json.dumps(said)
    if len(text) > MOST_BYTES:
        said = {"error": f"the answer has {len(text):,} bytes, and one has at most {MOST_BYTES:,}: narrow the question"}
        text = json.dumps(said)
    sys.stdout.write(text)


if __name__ == "__main__":
    _answer_one()
