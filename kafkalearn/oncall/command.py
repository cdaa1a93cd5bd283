"""The command ``kafkalearn``: seven questions about your own Kafka, on your own files.

``kafkalearn QUESTION --help`` says what a question takes. The frame is in `main`; the file of a question's name has
what is its own, and is imported only when the question is asked:

- ``arguments(parser)``: declares its arguments on an `argparse.ArgumentParser`;
- ``answer(options)``: the `kafkalearn.oncall.answer.Answer` to what was parsed, by the function of the same name in
  `kafkalearn.oncall`.

The frame adds ``--json``, prints, and turns `KafkaLearnError` and `OSError` into a sentence and exit code 2; a
question need not. ``--bootstrap`` comes from `kafkalearn.oncall.options`, the text of a file or of standard input
from `kafkalearn.oncall.answer`.
"""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import json
import os
import sys
import traceback
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn, TextIO

from kafkalearn import __version__
from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, printable, require
from kafkalearn.oncall.answer import Answer, Outcome
from kafkalearn.oncall.options import add_bootstrap, file_argument

FORMAT_VERSION = 1
"""Of what ``--json`` prints, as ``answers.schema.json`` beside this file has it: names that are there stay."""

QUESTIONS = {
    "where": "where is my group, key or transactional id: its partition, and the broker that leads it",
    "why": "why did my group rebalance: the causes, from the logs of brokers and consumers",
    "lag": "why is the lag of my group what it is: what it does, its cause, and when it will be gone",
    "xray": "what is in my segment files: records, damage, the cleaner, groups, open transactions",
    "upgrade": "what an upgrade changes for my own properties files, the most dangerous first",
    "quorum": "how is my quorum of controllers: who leads, who lags, how many may still die",
    "safe": "can my settings lose or double a record: the shortest run that does, in words and as a film",
}
"""The questions, in the order in which the help has them, and what each one answers."""

BUILD = {"build": "build your own coordinator: does a server, in any language, answer as a real Kafka did"}
"""What asks a server that a reader has written, and is made like a question: `kafkalearn.oncall.build`."""

MCP = "mcp"
"""The subcommand that serves all questions over MCP: `kafkalearn.oncall.agents`."""

LAB, DOCTOR = "lab", "doctor"
"""The subcommands that open the chapters (`kafkalearn.lab`) and say what a machine has (`kafkalearn.oncall.doctor`)."""


# Completion for a shell: the script that ``kafkalearn --completion SHELL`` prints.


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


# The frame of the command: from words to an answer, printed, and an exit code; no traceback for bad input.

ABOUT = "Seven questions about your own Kafka, answered from your own files."
EXIT_CODES = (
    "Exit codes: 0 no problem found, 1 problem found, 2 undetermined (invalid input included). "
    "'kafkalearn QUESTION --help' says what a question takes."
)
INTERRUPTED = 130  # as a shell has it for the signal of Ctrl-C


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, where the help is, and end with the exit code of what has no answer."""
        self.exit(Outcome.CANNOT_TELL, f"{printable(f'{self.prog}: {message}; see {self.prog} --help')}\n")


def question_named(name: str) -> ModuleType:
    """The module of a question.

    >>> question_named("log")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: unknown question 'log'; did you mean 'lag'? \
Known: 'build', 'lag', 'quorum', 'safe', 'upgrade', 'where', 'why', 'xray'
    """
    one_of("question", name, sorted({**QUESTIONS, **BUILD}))
    return import_module(f"kafkalearn.oncall.{name}")


def command_parser(with_arguments: Collection[str] = (*QUESTIONS, *BUILD)) -> argparse.ArgumentParser:
    """The parser of the command; only the questions whose arguments are wanted are imported."""
    parser = _Parser("kafkalearn", description=ABOUT, epilog=EXIT_CODES, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"kafkalearn {__version__}")
    parser.add_argument("--completion", choices=("bash", "zsh", "tcsh"), help="print the completion for a shell")
    asked = parser.add_subparsers(dest="question", metavar="QUESTION", parser_class=_Parser)
    for name, about in {**QUESTIONS, **BUILD}.items():
        one = asked.add_parser(name, help=about, description=about, allow_abbrev=False)
        if name in with_arguments:
            question_named(name).arguments(one)
            one.add_argument("--json", action="store_true", help="the answer as JSON, for a program")
    about = "The same questions as tools for an agent, over MCP on standard input and output; nothing is written."
    one = asked.add_parser(MCP, help="the questions as tools for an agent; needs kafkalearn[agents]", description=about)
    file_argument(one, "--folder", metavar="DIR", action="append", default=[], help="read files in this folder")
    add_bootstrap(one)
    about = "The chapters in JupyterLab, as your own copies in a folder; further words go to JupyterLab."
    one = asked.add_parser(LAB, help="the chapters in JupyterLab; needs kafkalearn[lab]", description=about)
    file_argument(one, "folder", metavar="DIR", nargs="?", help="of your copies, made if it is not there")
    about = "What a report of a fault should say of this machine: versions, Java, Spark, the lab. Nothing is sent."
    asked.add_parser(DOCTOR, help="what a report of a fault should say of this machine", description=about)
    return parser


MOST_YOUNG = 200_000  # objects between two looks for cycles; 700 without it


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
    if words is None:
        words = sys.argv[1:]
        gc.set_threshold(MOST_YOUNG)  # the process is ours: a large log or table makes a million objects that stay
        atexit.register(gc.freeze)  # and Python, at its end, need not look through them for cycles
    words = list(words)
    _make_printable(sys.stdout, sys.stderr)
    try:
        if words[:1] == [LAB] and words[1:2] not in (["-h"], ["--help"]):
            return _opened(words[1:])
        options = command_parser(words[:1]).parse_args(words)  # a question stands first: no other one is imported
        if options.completion:
            return _print(completion_for(options.completion, command_parser()), Outcome.FINE)
        if options.question is None:
            command_parser(()).print_help(sys.stderr)
            return Outcome.CANNOT_TELL
        if options.question == MCP:
            agents = import_module("kafkalearn.oncall.agents")
            return agents.serve(options.folder, options.bootstrap, options.config)
        if options.question == DOCTOR:
            return _print(import_module("kafkalearn.oncall.doctor").report(), Outcome.FINE)
        answer = question_named(options.question).answer(options)
        # JSON in ASCII, which every terminal and pipe takes.
        text = json.dumps(to_data(options.question, answer), indent=2) if options.json else printable(str(answer))
        return _print(text, answer.outcome)
    except SystemExit as ended:  # argparse has said why
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except (KafkaLearnError, OSError) as error:
        return _say(in_words(error))
    except (MemoryError, RecursionError):
        return _say("this is too large for the memory of this machine: give a part of it")
    except Exception as error:  # a mistake of ours must not look like an answer: Python itself would end with 1
        with suppress(OSError, ValueError):
            traceback.print_exc()
        return _say(f"a mistake of kafkalearn's own, please report it: {type(error).__name__}: {error}")


def _opened(words: Sequence[str]) -> int:
    """The chapters in the folder that stands first, if one does; JupyterLab's options are not argparse's to read."""
    has_folder = bool(words) and not words[0].startswith("-")
    lab = import_module("kafkalearn.lab.__main__")
    return lab.open_in(words[0] if has_folder else None, words[has_folder:])


def to_data(question: str, answer: Answer) -> dict[str, object]:
    """Serialize an answer as ``answers.schema.json`` has it: what it is an answer to, how it ended, and its own."""
    frame = {"version": FORMAT_VERSION, "question": question, "outcome": answer.outcome.name.lower()}
    return {**frame, **answer.as_data()}


def _make_printable(*streams: TextIO | None) -> None:
    """Characters that a stream's encoding lacks are printed as escapes, and stop nothing; None: it is closed."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def in_words(error: Exception) -> str:
    """What stops an answer, in a sentence."""
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror}"
    return str(error)


def _say(sentence: str, code: int = Outcome.CANNOT_TELL) -> int:
    """Print a sentence to standard error, if it is open; return the exit code."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            print(printable(f"kafkalearn: {sentence}"), file=sys.stderr, flush=True)
    return int(code)


def _print(text: str, outcome: Outcome) -> int:
    """Print an answer; whoever reads it may stop early, as ``head`` does. One that cannot be printed is none."""
    if sys.stdout is None:
        return _say("there is no output to print the answer to: standard output is closed")
    try:
        print(text)
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError):  # it may be no file, as under a test
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at its end
        if error.errno not in (errno.EPIPE, errno.EINVAL):  # the second is Windows's word for it
            return _say(f"the answer cannot be printed: {in_words(error)}")
    return int(outcome)
