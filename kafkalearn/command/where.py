"""``kafkalearn where``: the partition of a key, a group or a transactional id, and the broker that leads it."""

from __future__ import annotations

import argparse

from kafkalearn.answers import where
from kafkalearn.answers.clients import CLIENTS
from kafkalearn.answers.leading import GROUP, KEY, KINDS
from kafkalearn.answers.names import FORMATS, key_from, lines_of
from kafkalearn.answers.reading import text_of
from kafkalearn.answers.where import Where
from kafkalearn.command.options import add_bootstrap, cluster_of, file_argument
from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import STANDARD_INPUT
from kafkalearn.versions.releases import DEFAULT_RELEASE

HELP = "where is my group, key or transactional id: its partition, and the broker that leads it"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("kind", choices=[*KINDS], help="what is asked for")
    parser.add_argument("names", nargs="*", metavar="NAME", help="groups, keys or transactional ids")
    file_argument(parser, "--file", help="names from a file, one a line; - is standard input")
    parser.add_argument("--partitions", type=int, metavar="N", help="of the topic; else 50 for groups")
    parser.add_argument("--topic", help="the topic of keys, in what --describe or --bootstrap says")
    file_argument(parser, "--describe", help="what kafka-topics --describe prints, in a file; - is standard input")
    parser.add_argument("--brokers", metavar="1,2,3", help="the brokers of an undisturbed cluster, or how many")
    keys = parser.add_argument_group("keys")
    keys.add_argument("--format", choices=[*FORMATS], default="text", help="how the keys are written; text is UTF-8")
    keys.add_argument(
        "--partitioner",
        action="append",
        choices=[*CLIENTS],
        metavar="NAME",
        help=f"a client or its rule, several to compare them: {', '.join(CLIENTS)}; without one, java",
    )
    keys.add_argument("--no-key", action="store_true", help="a record without a key")
    keys.add_argument("--release", default=DEFAULT_RELEASE, help="of the Java producer, for --no-key")
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Where:
    """Ask `kafkalearn.answers.where`."""
    if options.file == options.describe == STANDARD_INPUT:
        raise KafkaLearnError("standard input is one of --file and --describe; put the other into a file")
    names = [*options.names, *([] if options.file is None else lines_of(text_of(options.file, "a file of names")))]
    if options.no_key and options.kind != KEY:
        raise KafkaLearnError("--no-key is for keys: kafkalearn where key --no-key")
    if not names and not options.no_key:
        raise KafkaLearnError(f"which {options.kind}? Name one, for example: kafkalearn where {GROUP} billing")
    things = [key_from(name, options.format) for name in names] if options.kind == KEY else names
    describe = None if options.describe is None else text_of(options.describe, "what kafka-topics --describe prints")
    with cluster_of(options) as cluster:
        return where(
            [*things, *([None] if options.no_key else [])],
            options.kind,
            topic=options.topic,
            partition_count=options.partitions,
            describe=describe,
            brokers=_brokers(options.brokers),
            cluster=cluster,
            partitioner=options.partitioner or ["java"],
            release=options.release,
        )


def _brokers(written: str | None) -> list[int] | int | None:
    """``1,2,3`` are brokers, ``3`` is how many there are."""
    if written is None:
        return None
    try:
        ids = [int(each) for each in written.split(",")]
    except ValueError:
        raise KafkaLearnError(f"--brokers is 1,2,3 or a number of brokers, got {written!r}") from None
    return ids if len(ids) > 1 else ids[0]
