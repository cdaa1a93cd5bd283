"""``kafkalearn upgrade``: what changes for the settings in your own files."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from kafkalearn.answers import upgrade
from kafkalearn.answers.upgrade import Upgrade
from kafkalearn.command.options import file_argument
from kafkalearn.versions.releases import DEFAULT_RELEASE

HELP = "what an upgrade changes for my own properties files, the most dangerous first"
SIDES = ("broker", "topic", "group", "producer", "consumer", "admin")


@dataclass(frozen=True)
class Whole(Upgrade):
    """The same answer, with nothing left out of its words."""

    def __str__(self) -> str:
        """Every finding."""
        return self.in_words(len(self.findings))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("old", metavar="FROM", help="the release that runs now, for example 3.9")
    parser.add_argument("new", metavar="TO", nargs="?", default=DEFAULT_RELEASE, help=f"else {DEFAULT_RELEASE}")
    parser.add_argument("--all", action="store_true", help="every finding; else 12 of each kind")
    files = parser.add_argument_group("files", "properties files; - is standard input, gzipped ones are unpacked")
    file_argument(files, "--file", action="append", default=[], help="whose settings it has is recognised")
    for side in SIDES:
        file_argument(files, f"--{side}", action="append", default=[], help=f"the settings of a {side}")


def answer(options: argparse.Namespace) -> Upgrade:
    """Ask `kafkalearn.answers.upgrade`."""
    named = [(side, path) for side in SIDES for path in getattr(options, side)]
    found = upgrade(options.old, options.new, [*options.file, *named])
    return Whole(found.old, found.new, found.sides, found.findings) if options.all else found
