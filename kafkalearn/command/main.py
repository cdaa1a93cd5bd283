"""The frame of the command: from words to an answer, printed, and an exit code; no traceback for bad input."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import NoReturn, TextIO

from kafkalearn import __version__
from kafkalearn.answers.answer import Answer, Outcome
from kafkalearn.command import QUESTIONS
from kafkalearn.command.completion import completion_for
from kafkalearn.errors import KafkaLearnError

ABOUT = "Five questions about your own Kafka, answered from your own files."
EXIT_CODES = (
    "Exit codes: 0 nothing to worry about, 1 something was found, 2 there is no answer (bad input included). "
    "'kafkalearn QUESTION --help' says what a question takes."
)
INTERRUPTED = 130  # as a shell has it for the signal of Ctrl-C


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, where the help is, and end with the exit code of what has no answer."""
        self.exit(Outcome.CANNOT_TELL, f"{_printable(f'{self.prog}: {message}; see {self.prog} --help')}\n")


def question_named(name: str) -> ModuleType:
    """The module of a question."""
    return import_module(f"kafkalearn.command.{name}")


def command_parser(questions: Iterable[str] = QUESTIONS) -> argparse.ArgumentParser:
    """The parser of the whole command, or with some of its questions only: each one is imported for it."""
    parser = _Parser("kafkalearn", description=ABOUT, epilog=EXIT_CODES, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"kafkalearn {__version__}")
    parser.add_argument("--completion", choices=("bash", "zsh", "tcsh"), help="print the completion for a shell")
    asked = parser.add_subparsers(dest="question", metavar="QUESTION", parser_class=_Parser)
    for name in questions:
        module = question_named(name)
        one = asked.add_parser(name, help=module.HELP, description=module.HELP, allow_abbrev=False)
        module.arguments(one)
        one.add_argument("--json", action="store_true", help="the answer as JSON, for a program")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Answer a question from the command line.

    Parameters
    ----------
    words : sequence of str or None
        What stands behind ``kafkalearn``; None: what this Python was started with.

    Returns
    -------
    int
        The exit code: an `Outcome`; 130 if it was interrupted.

    Examples
    --------
    >>> main(["where", "group", "billing"])
    group billing: partition 9 of the 50 of __consumer_offsets
    0
    """
    words = sys.argv[1:] if words is None else list(words)
    _make_printable(sys.stdout, sys.stderr)
    named = [word for word in words[:1] if word in QUESTIONS]  # only its own question is imported
    try:
        options = command_parser(named or QUESTIONS).parse_args(words)
        if options.completion:
            return _print(completion_for(options.completion, command_parser()), Outcome.FINE)
        if options.question is None:
            command_parser().print_help(sys.stderr)
            return Outcome.CANNOT_TELL
        answer = question_named(options.question).answer(options)
        return _print(_as_json(options.question, answer) if options.json else _printable(str(answer)), answer.outcome)
    except SystemExit as ended:  # argparse has said why
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except (KafkaLearnError, OSError) as error:
        return _say(_in_words(error))
    except (MemoryError, RecursionError):
        return _say("this is too large for the memory of this machine: give a part of it")
    except Exception as error:  # a mistake of ours must not look like an answer: Python itself would end with 1
        traceback.print_exc()
        return _say(f"a mistake of kafkalearn's own, please report it: {type(error).__name__}: {error}")


def _as_json(question: str, answer: Answer) -> str:
    """The answer as JSON in ASCII, which every terminal and pipe takes."""
    return json.dumps({"question": question, "outcome": answer.outcome.name.lower(), **answer.as_data()}, indent=2)


def _make_printable(*streams: TextIO) -> None:
    """Characters that a stream's encoding lacks are printed as escapes, and stop nothing."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _printable(text: str) -> str:
    """Text without control characters: a name out of a file must not move the cursor of a terminal."""
    return "".join(each if each == "\n" or each.isprintable() else ascii(each)[1:-1] for each in text)


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror}"
    return str(error)


def _say(sentence: str, code: int = Outcome.CANNOT_TELL) -> int:
    """A sentence on the error stream; the exit code."""
    print(_printable(f"kafkalearn: {sentence}"), file=sys.stderr)
    return int(code)


def _print(text: str, outcome: Outcome) -> int:
    """Print an answer; whoever reads it may stop early, as ``head`` does."""
    try:
        print(text)
        sys.stdout.flush()
    except OSError:  # BrokenPipeError, on Windows another
        with suppress(OSError, ValueError):  # it may be no file, as under a test
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at its end
    return int(outcome)
