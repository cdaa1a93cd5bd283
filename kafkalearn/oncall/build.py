"""``kafkalearn build HOST:PORT``: does a server answer as a real Kafka did: the stages of Build your own coordinator.

The server may be written in any language. It is asked over the wire what a class is asked in
`kafkalearn.exercises.build`, in the same stages, and held to the same recorded answers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.exercises.build import Stage, stage_of, stages
from kafkalearn.exercises.build.comparing import Comparison, Difference
from kafkalearn.exercises.build.playing import Names
from kafkalearn.exercises.kit.result import RIGHT, WRONG, Block, Result
from kafkalearn.oncall.answer import Answer, Outcome, wrapped

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import BuildData, TextData

NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class StageResult:
    """What one stage came to."""

    stage: Stage
    outcome: str  # RIGHT, WRONG or NOT_ASKED
    request: int | None = None  # from 1: the one that is answered otherwise
    said: Result | None = None
    came: object = None
    kafka: object = None


@dataclass(frozen=True, slots=True)
class Built(Answer):
    """How far a server is.

    Parameters
    ----------
    address : str
        The server.
    asked : tuple of StageResult
        The stages that were wanted, in order.
    """

    address: str
    asked: tuple[StageResult, ...]

    @property
    def outcome(self) -> Outcome:
        """Fine if every stage that was wanted is answered as Kafka did."""
        return Outcome.FINE if all(each.outcome == RIGHT for each in self.asked) else Outcome.FOUND

    def as_data(self) -> BuildData:
        """As `Answer.as_data`."""
        return {
            "address": self.address,
            "release": self.asked[0].stage.release,
            "stages": [
                {
                    "number": each.stage.number,
                    "name": each.stage.name,
                    "title": each.stage.title,
                    "chapter": each.stage.chapter,
                    "outcome": each.outcome,
                    "request": each.request,
                    "words": "" if each.said is None else "\n".join(map(str, each.said.sentences)),
                    "came": each.came,
                    "kafka": each.kafka,
                }
                for each in self.asked
            ],
        }

    def __str__(self) -> str:
        """A line for each stage, and under one that is not right what is."""
        lines = []
        for each in self.asked:
            lines.append(f"{each.stage.number:>2} {each.stage.title}: {each.outcome}")
            for said in () if each.said is None else each.said.sentences:
                text = str(said)
                lines += text.splitlines() if isinstance(said, Block) else wrapped(text, "   ").splitlines()
        right = sum(each.outcome == RIGHT for each in self.asked)
        return "\n".join([*lines, f"{right} of {counted(len(self.asked), 'stage')} answered as Kafka did"])


def build(address: str, wanted: Sequence[int] = (), goes_on: bool = False) -> Built:
    """Ask a running server the stages.

    Parameters
    ----------
    address : str
        ``"localhost:9092"``: broker 1 of three, as the stages have it.
    wanted : list of int
        The numbers of the stages; empty: all.
    goes_on : bool
        Whether the stages after one that is not right are asked as well.

    Raises
    ------
    KafkaLearnError
        If there is no such stage, or nobody listens there.
    """
    chosen = [stage_of(number) for number in wanted] or list(stages())
    host, port = place_of(address)
    from kafkalearn.live.stage_wire import reach  # needs packages; the tasks do not

    reach(host, port)
    return Built(address, tuple(_asked(host, port, chosen, goes_on)))


def _asked(host: str, port: int, chosen: Sequence[Stage], goes_on: bool) -> Iterator[StageResult]:
    is_over = False
    for stage in chosen:
        verdict = StageResult(stage, NOT_ASKED) if is_over else asked(host, port, stage)
        is_over = is_over or (verdict.outcome == WRONG and not goes_on)
        yield verdict


def asked(host: str, port: int, stage: Stage) -> StageResult:
    """What one stage comes to before one server."""
    from kafkalearn.live.stage_wire import Wire

    with Wire(host, port, lambda number: len(stage.steps[number]["answers"])) as wire:
        comparison = Comparison(stage.steps, Names(dict(wire.names().known)))
        found: list[Difference] = []

        def is_as_wanted(number: int, came: list) -> bool:
            difference = comparison.take(number, came)
            found.extend([] if difference is None else [difference])
            return difference is None

        try:
            wire.played(stage.script(), is_as_wanted)
        except KafkaLearnError as error:  # it closes the connection, or what it sends cannot be read
            number = len(comparison.history) + 1
            return StageResult(stage, WRONG, number, Result(WRONG, (str(error).replace("{", "(").replace("}", ")"),)))
    if not found:
        return StageResult(stage, RIGHT)
    said = Result(
        WRONG, tuple(stage.difference(comparison, found[0], f"kafkalearn build --task --stage {stage.number}"))
    )
    return StageResult(stage, WRONG, found[0].number + 1, said, found[0].came, found[0].kafka)


def place_of(address: str) -> tuple[str, int]:
    """Host and port.

    >>> place_of("localhost:9092")
    ('localhost', 9092)
    """
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isdecimal() and 0 < int(port) < 65536):
        raise KafkaLearnError(f"the address of a server is HOST:PORT, as localhost:9092; got {address!r}")
    return host.strip("[]"), int(port)


@dataclass(frozen=True, slots=True)
class Text(Answer):
    """A text that is printed as it is."""

    text: str

    @property
    def outcome(self) -> Outcome:
        """There is nothing to worry about."""
        return Outcome.FINE

    def as_data(self) -> TextData:
        """As `Answer.as_data`."""
        return {"text": self.text}

    def __str__(self) -> str:
        """The text."""
        return self.text


# The command line.


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("address", nargs="?", metavar="HOST:PORT", help="the server; needs kafkalearn[live]")
    parser.add_argument(
        "--stage", type=int, metavar="N", action="append", default=[], help="this stage; may be repeated"
    )
    parser.add_argument("--go-on", action="store_true", help="ask the stages after a wrong one, too")
    parser.add_argument("--task", action="store_true", help="print what the stages ask, in place of asking a server")
    parser.add_argument("--starter", action="store_true", help="print a server in Python to begin with")


def answer(options: argparse.Namespace) -> Answer:
    """Ask `build`, or print a text."""
    if options.starter:
        return Text((files("kafkalearn.exercises.build") / "starter.py").read_text(encoding="utf-8").rstrip())
    if options.task:
        chosen = [stage_of(number) for number in options.stage] or list(stages())
        return Text(
            "\n\n".join(f"Stage {each.number}: {each.title} (chapter {each.chapter})\n\n{each.task}" for each in chosen)
        )
    if options.address is None:
        raise KafkaLearnError(
            "name the server, as in: kafkalearn build localhost:9092; --starter prints one to begin with"
        )
    return build(options.address, options.stage, options.go_on)
