"""Completion for a shell: the script that ``kafkalearn --completion SHELL`` prints."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from kafkalearn.extras import require


def completion_for(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script that completes the questions, options and files of a parser in a shell.

    ``eval "$(kafkalearn --completion bash)"`` turns it on for a session; for always it goes to where the shell looks.

    Raises
    ------
    MissingExtra
        If shtab is not installed.
    """
    require("kafkalearn --completion", "shtab")
    import shtab

    for action in _of_files(parser):
        action.complete = shtab.FILE
    return shtab.complete(parser, shell=shell)


def _of_files(parser: argparse.ArgumentParser) -> Iterator[Any]:  # actions of argparse, which take attributes
    """The arguments that are files, of a parser and those below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from _of_files(each)
        elif getattr(action, "is_file", False):
            yield action
