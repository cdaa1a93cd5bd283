"""``kafkalearn safe``: whether settings can lose or double a record, with the shortest run that does."""

from __future__ import annotations

import argparse
from pathlib import Path

from kafkalearn.answers import safe
from kafkalearn.answers.durability.given import MIN_ISR, REPLICAS, UNCLEAN
from kafkalearn.answers.reading import text_of
from kafkalearn.answers.safe import Safe
from kafkalearn.command.options import add_bootstrap, cluster_of, file_argument
from kafkalearn.errors import KafkaLearnError
from kafkalearn.versions.releases import DEFAULT_RELEASE

HELP = "can my settings lose or double a record: the shortest run that does, in words and as a film"
TRUTHS = {"true": True, "false": False}
SIDES = ("broker", "topic", "producer")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("--replicas", type=int, metavar="N", help="the topic's replication factor")
    parser.add_argument("--acks", choices=("all", "-1", "0", "1"))
    parser.add_argument("--min-isr", type=int, metavar="N", help=MIN_ISR)
    parser.add_argument("--unclean", choices=[*TRUTHS], help=UNCLEAN)
    parser.add_argument("--idempotence", choices=[*TRUTHS], help="enable.idempotence")
    parser.add_argument("--retries", type=int, metavar="N")
    parser.add_argument("--max-in-flight", type=int, metavar="N", help="max.in.flight.requests.per.connection")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="of brokers and producer")
    parser.add_argument("--film", metavar="FILE", help="the run as a player (.html) or a picture of key frames (.svg)")
    files = parser.add_argument_group("files; flags go before them")
    file_argument(files, "--file", action="append", default=[], help="a properties file; whose it is is recognised")
    for side in SIDES:
        file_argument(files, f"--{side}", action="append", default=[], help=f"the settings of a {side}")
    file_argument(files, "--describe", help="what kafka-topics --describe prints; - is standard input")
    parser.add_argument("--topic-name", metavar="NAME", help="the topic, in what --describe or --bootstrap says")
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Safe:
    """Ask `kafkalearn.answers.safe`, and write the film."""
    if options.film is not None and Path(options.film).suffix not in (".html", ".svg"):
        raise KafkaLearnError(f"--film must end in .html or .svg, got {options.film!r}")
    described = None if options.describe is None else text_of(options.describe, "what kafka-topics --describe prints")
    found = safe(
        [*options.file, *((side, path) for side in SIDES for path in getattr(options, side))],
        acks=options.acks,
        min_insync_replicas=options.min_isr,
        replication_factor=options.replicas,
        is_unclean_election_enabled=TRUTHS.get(options.unclean),
        is_idempotent=TRUTHS.get(options.idempotence),
        retries=options.retries,
        max_in_flight=options.max_in_flight,
        describe=described,
        topic=options.topic_name,
        topic_settings=_of_cluster(options),
        release=options.release,
    )
    if options.film is not None:
        _write_film(found, Path(options.film))
    return found


def _of_cluster(options: argparse.Namespace) -> dict[str, object] | None:
    """The topic's replicas and settings, as a running cluster has them."""
    with cluster_of(options) as cluster:
        if cluster is None:
            return None
        if options.topic_name is None or options.describe is not None:
            raise KafkaLearnError("--bootstrap needs --topic-name, and stands in place of --describe")
        settings = cluster.topic_settings(options.topic_name)
        replicas = cluster.partition(options.topic_name, 0).replicas
        return {REPLICAS: len(replicas), **{name: settings[name] for name in (MIN_ISR, UNCLEAN) if name in settings}}


def _write_film(found: Safe, path: Path) -> None:
    film = found.film()
    page = f'<!doctype html>\n<meta charset="utf-8">\n<title>kafkalearn safe</title>\n{film.html()}\n'
    try:
        path.write_text(str(film.still) if path.suffix == ".svg" else page, encoding="utf-8")
    except OSError as error:
        raise KafkaLearnError(f"the film cannot be written to {str(path)!r}: {error.strerror}") from None
