"""``kafkalearn why``: each rebalance in the logs of brokers and clients, its cause, and what would have avoided it."""

from __future__ import annotations

import argparse

from kafkalearn.answers import why
from kafkalearn.answers.why.report import Why
from kafkalearn.command.options import add_bootstrap, cluster_of, file_argument
from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import STANDARD_INPUT
from kafkalearn.server_logs.files import sorted_files
from kafkalearn.versions.releases import DEFAULT_RELEASE

HELP = "why did my group rebalance: the causes, from the logs of brokers and consumers"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    file_argument(
        parser,
        "logs",
        nargs="*",
        metavar="LOG",
        help="server logs and logs of consumers, gzipped and rotated ones too, or folders; - is standard input",
    )
    parser.add_argument("--group", help="only this group")
    parser.add_argument(
        "--zone", action="append", metavar="[FILE=]ZONE", help="of times that say none: UTC, +08:00, Europe/Berlin"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the consumers, such as session.timeout.ms=45000",
    )
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="whose defaults hold for other settings")
    parser.add_argument("--no-advice", action="store_true", help="do not look for what would have avoided it: quicker")
    parser.add_argument("--unknown", action="store_true", help="show the lines about groups that were not understood")
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Why:
    """Ask `kafkalearn.answers.why`."""
    if not options.logs and options.bootstrap is None:
        raise KafkaLearnError(
            "which logs? Name files or folders, or - for standard input: kubectl logs kafka-0 | kafkalearn why -"
        )
    if not options.logs and options.group is None:
        raise KafkaLearnError("which group? --bootstrap without logs says what one group does now: --group billing")
    if options.logs.count(STANDARD_INPUT) > 1:
        raise KafkaLearnError("standard input is read once")
    with cluster_of(options) as cluster:
        return why(
            sorted_files(options.logs),
            group=options.group,
            zone=_zones(options.zone or []),
            settings=dict(_setting(each) for each in options.set),
            release=options.release,
            cluster=cluster,
            has_advice=not options.no_advice,
            shows_unknown=options.unknown,
        )


def _zones(written: list[str]) -> str | dict[str, str]:
    """``UTC`` for all files, or ``client.log=+08:00`` for some."""
    by_file = dict(each.rsplit("=", 1) for each in written if "=" in each)
    for_all = [each for each in written if "=" not in each]
    if len(for_all) > 1 or (for_all and by_file):
        raise KafkaLearnError("--zone is given once for all files, or as FILE=ZONE for each that is not in UTC")
    return by_file or (for_all[0] if for_all else "UTC")


def _setting(written: str) -> tuple[str, int | str]:
    name, equals, value = written.partition("=")
    if not (name and equals and value):
        raise KafkaLearnError(f"--set is NAME=VALUE, such as session.timeout.ms=45000; got {written!r}")
    return name, int(value) if value.isascii() and value.isdigit() and len(value) < 16 else value
