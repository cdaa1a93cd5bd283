"""The questions as tools for agents, over MCP: ``kafkalearn mcp`` speaks it on standard input and output.

Each tool is one question: what it takes is read from the arguments that the command declares, what it answers is the
answer in words and, as structured content, what ``--json`` prints, as ``answers.schema.json`` has it. Nothing is
written: what would write a file, or read standard input, is no argument of a tool. Where the command takes a file of
text, a tool takes its path, or the text itself, as an agent has it from another tool.

References
----------
Model Context Protocol, tools; its SDK for Python, ``mcp``, which the extra ``agents`` installs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kafkalearn import __version__
from kafkalearn.base.errors import KafkaLearnError, require, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.oncall.command import ABOUT, QUESTIONS, command_parser, in_words, question_named, to_data

require("kafkalearn mcp", "mcp")  # in one sentence, before anything of it is imported

import anyio
import mcp_types as types
from anyio.to_thread import run_sync
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

WRITES = ("film",)
"""Arguments of the command that write a file."""

FOLDERS = ("segments",)
"""Arguments that are a folder, which no text stands for."""

INSTRUCTIONS = (
    f"{ABOUT} Nothing is written, and nothing is sent but what reads a cluster (bootstrap). Every answer says how "
    "it ended: fine, found (something needs a person) or cannot_tell. Repeat cannot_tell as it is: it is no "
    "all-clear. Where a tool takes a file, give its path, or the text that another tool printed."
)

# What a tool takes, and what it answers with.


def _parser_of(question: str) -> argparse.ArgumentParser:
    (asked,) = (each for each in command_parser([question])._actions if isinstance(each, argparse._SubParsersAction))
    return asked.choices[question]


def _arguments(question: str) -> Iterator[Any]:  # actions of argparse, some with attributes of our own
    for action in _parser_of(question)._actions:
        if action.dest not in ("help", "json", *WRITES):
            yield action


@cache
def input_schema(question: str) -> dict[str, Any]:
    """What a tool takes, as JSON Schema, by the names that the command's options have.

    >>> schema = input_schema("where")
    >>> schema["required"], schema["properties"]["names"]["type"], schema["properties"]["brokers"]["type"]
    (['kind'], 'array', 'string')
    """
    properties, required = {}, []
    for action in _arguments(question):
        properties[action.dest] = {**_kind(action), "description": _description(action)}
        if not action.option_strings and action.nargs in (None, "+"):
            required.append(action.dest)
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


def _may_be_text(action: Any) -> bool:
    return getattr(action, "is_file", False) and action.dest not in FOLDERS


@cache
def output_schema(question: str) -> dict[str, Any]:
    """What a tool answers with: the part of ``answers.schema.json`` that is about the question."""
    return json.loads((files("kafkalearn.oncall") / "answers.schema.json").read_text(encoding="utf-8"))["$defs"][
        question
    ]


def ask(question: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The answer to a question in words, and as ``--json`` has it.

    Parameters
    ----------
    question : str
        A name in `kafkalearn.oncall.command.QUESTIONS`.
    arguments : mapping
        As `input_schema` says.

    Raises
    ------
    KafkaLearnError, OSError
        If the arguments are none of it, or there is no answer.

    Examples
    --------
    >>> words, data = ask("where", {"kind": "group", "names": ["billing"]})
    >>> words, data["places"][0]["partition"]
    ('group billing: partition 9 of the 50 of __consumer_offsets', 9)
    """
    _refuse_others(question, arguments)
    with TemporaryDirectory(prefix="kafkalearn-") as folder:
        options = argparse.Namespace(**{each.dest: each.default for each in _parser_of(question)._actions})
        for action in _arguments(question):
            if action.dest in arguments:
                setattr(options, action.dest, _given(action, arguments[action.dest], Path(folder)))
            elif action.nargs == "*":
                setattr(options, action.dest, [])
        answer = question_named(question).answer(options)
        return str(answer), to_data(question, answer)


def _refuse_others(question: str, arguments: Mapping[str, Any]) -> None:
    """Raise unless the arguments are as the schema says; the message has the first fault."""
    faults = sorted(Draft202012Validator(input_schema(question)).iter_errors(dict(arguments)), key=str)
    if faults:
        where = ".".join(map(str, faults[0].path))
        raise KafkaLearnError(f"{question}: {f'{where}: ' if where else ''}{faults[0].message[:300]}")


def _given(action: Any, value: Any, folder: Path) -> Any:
    """A value as the command has it: text in place of a file becomes a file, and nobody waits for standard input."""
    if isinstance(value, list):
        return [_given(action, each, folder) for each in value]
    if not isinstance(value, str):
        return value
    if value == STANDARD_INPUT:
        raise KafkaLearnError(f"{action.dest} is {shown(value)}, standard input, which the protocol needs: give a path")
    if not _may_be_text(action) or "\n" not in value:
        return value
    path = folder / f"{action.dest}-{len([*folder.iterdir()])}.txt"
    path.write_text(value, encoding="utf-8")
    return str(path)


# The server.


async def _list_tools(context: object, params: object) -> types.ListToolsResult:
    only_reads = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=question_named(name).HELP,
                input_schema=input_schema(name),
                output_schema=output_schema(name),
                annotations=only_reads,
            )
            for name in QUESTIONS
        ]
    )


async def _call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        if params.name not in QUESTIONS:
            raise KafkaLearnError(f"there is no tool {shown(params.name)}; there are {', '.join(QUESTIONS)}")
        words, data = await run_sync(partial(ask, params.name, params.arguments or {}))
    except (KafkaLearnError, OSError, MemoryError, RecursionError) as error:
        return types.CallToolResult(content=[_text(in_words(error))], is_error=True)
    return types.CallToolResult(content=[_text(words)], structured_content=data)


def _text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def server() -> Server[Any]:
    """The tools as a server of the SDK: it has a way to each question, and nothing else."""
    return Server(
        "kafkalearn",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
    )


def serve() -> int:
    """Speak the protocol on standard input and output until the other side ends it; the exit code."""
    made = server()

    async def run() -> None:
        async with stdio_server() as (read, write):
            await made.run(read, write, made.create_initialization_options())

    anyio.run(run)
    return 0
