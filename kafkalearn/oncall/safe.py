"""Can these settings lose or double a record? All schedules are searched for the shortest run that does."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.base.checks import mapping, text
from kafkalearn.base.errors import KafkaLearnError, capitalised, counted, listed
from kafkalearn.base.files import written_whole
from kafkalearn.coordinator.leaders import described_topics
from kafkalearn.delivery.model import Settings
from kafkalearn.delivery.picture import describe_delivery, draw_delivery
from kafkalearn.drawing.player import Animation, animation
from kafkalearn.oncall import durability
from kafkalearn.oncall.answer import Answer, Outcome, cut, wrapped
from kafkalearn.oncall.durability import Given, Harm, PartitionNow
from kafkalearn.oncall.options import add_bootstrap, cluster_of, described, file_argument
from kafkalearn.oncall.settings import PropertiesFile, Unread
from kafkalearn.oncall.settings_files import Read, read_files, unread_in
from kafkalearn.oncall.share_safe import Share, share_troubles
from kafkalearn.oncall.transactional import Trouble, troubles_of
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import HarmData, SafeData

ASKS = (
    "Are eligible leader replicas on (eligible.leader.replicas.version)? A new cluster of 4.1 or later has them, an "
    "upgraded one does not until kafka-features upgrade turns them on. With them these settings are safe; without them:"
)
MOST_NAMED = 10  # partitions in one sentence
MOST_UNREAD = 4  # lines of a file
LEFT_OUT = "transactions, several producers, what a callback does with an error, and disks that lie"


def safe(
    files: str | Path | Iterable[object] = (),
    *,
    acks: int | str | None = None,
    min_insync_replicas: int | None = None,
    replication_factor: int | None = None,
    is_unclean_election_enabled: bool | None = None,
    is_idempotent: bool | None = None,
    retries: int | None = None,
    max_in_flight: int | None = None,
    describe: str | None = None,
    topic: str | None = None,
    topic_settings: Mapping[str, object] | None = None,
    partitions: Iterable[PartitionNow] = (),
    has_eligible_leader_replicas: bool | None = None,
    share: Share | None = None,
    release: str = DEFAULT_RELEASE,
) -> Safe:
    """Whether these settings can lose or double a record, with the shortest run that does.

    Every schedule of a producer and its partition is searched, with one failure at any moment: a broken connection,
    time that is over, a leader that dies or stands still, followers that are away, power that is lost.

    Parameters
    ----------
    files : str, Path, or an iterable of them
        Properties files of the broker, the topic, the producer; a pair of a side and a file says whose it is. Of a
        producer with a ``transactional.id`` its consumers' files are looked at as well.
    acks, min_insync_replicas, replication_factor, is_unclean_election_enabled, is_idempotent, retries, max_in_flight
        Go before what files say; None: the topic itself, the files, then the release's default.
    describe : str or None
        What ``kafka-topics --describe`` prints of the topic, for its replicas and its own settings.
    topic : str or None
        Which one in `describe`; None: the only one.
    topic_settings : mapping or None
        In place of `describe`: ``"replication factor"`` and settings of the topic, as a cluster has them.
    partitions : iterable of PartitionNow
        In place of `describe`, how the topic's partitions stand: the search begins with all replicas in sync, and
        where they are not, the answer says so.
    has_eligible_leader_replicas : bool or None
        Whether the feature ``eligible.leader.replicas.version`` is on (KIP-966, since 4.0); None: both are tried, and
        where they differ the answer is "cannot tell". A new cluster of 4.1 has it, an upgraded one has not.
    share : Share or None
        A share group that reads the topic (`kafkalearn.oncall.share_safe.Share`): its settings, and how long it works.
    release : str
        Of brokers and producer.

    Raises
    ------
    KafkaLearnError
        If nothing says how many replicas there are, a value is none, or a program would not start so.

    Examples
    --------
    >>> answer = safe(acks=1, replication_factor=3)
    >>> [(each.result, each.failure, len(each.steps)) for each in answer.harms][0]
    ('lost', 'the leader dies', 5)
    >>> answer.remedy
    (('acks', 'all'), ('min.insync.replicas', 2))
    >>> int(safe(min_insync_replicas=2, replication_factor=3, has_eligible_leader_replicas=True).outcome)
    0

    References
    ----------
    The simulators of `kafkalearn.delivery` and `kafkalearn.replication`; `kafkalearn.releases.ledger` has what they
    were checked against.
    """
    line = release_line(release)
    read = read_files(files)
    _check_one_each(read)
    of_topic = dict(mapping("topic_settings", topic_settings or {}, of="setting to value"))
    if describe is not None:
        named = _topic(text("describe", describe), topic)
        of_topic, partitions = durability.topic_facts(describe, named), durability.partitions_now(describe, named)
    values = {
        durability.ACKS: "all" if acks in ("all", -1, "-1") else int(acks) if acks in ("0", "1") else acks,
        durability.MIN_ISR: min_insync_replicas,
        durability.REPLICAS: replication_factor,
        durability.UNCLEAN: is_unclean_election_enabled,
        durability.IDEMPOTENCE: is_idempotent,
        durability.RETRIES: retries,
        durability.IN_FLIGHT: max_in_flight,
    }
    given = durability.gather(values, read, of_topic, line)
    may_have = at_least("4.0", line)
    if has_eligible_leader_replicas and not may_have:
        raise KafkaLearnError(f"eligible leader replicas came with 4.0 (KIP-966); the release is {line}")
    elr = has_eligible_leader_replicas
    settings = durability.settings_of(given, line, elr)
    harms, beyond, seen = durability.search(settings)
    without = None
    if elr is None and may_have and not harms:
        others = durability.search(durability.settings_of(given, line, False))
        if others[0]:
            without, (harms, beyond, seen), elr = harms, others, False
            settings = durability.settings_of(given, line, False)
    producer = settings.producer
    decided = {
        durability.ACKS: producer.acks,
        durability.IDEMPOTENCE: producer.is_idempotent,
        durability.RETRIES: producer.retries,
        durability.IN_FLIGHT: producer.max_in_flight,
    }
    shown = tuple(replace(each, value=decided.get(name, each.value)) for name, each in given.items())
    remedy = durability.find_remedy(given, line, harms, elr) if harms else ()
    hangs = without is not None
    topic_now = durability.troubles(
        partitions, given[durability.MIN_ISR].value, producer.acks == "all", bool(given[durability.UNCLEAN].value)
    )
    of_transactions, unsaid = troubles_of(read)
    of_share, said = ((), ()) if share is None else share_troubles(share, read, line)
    notes = (*_notes(given, settings), *unsaid, *said)
    unread = tuple((name, each) for side, name, file in read for each in unread_in(side, file))
    return Safe(
        line, shown, harms, beyond, seen, remedy, notes, settings, hangs, elr, topic_now, of_transactions, unread,
        of_share,
    )  # fmt: skip


def _check_one_each(read: Sequence[Read]) -> None:
    """One program of each side is looked at: where files, or parts of one, disagree about it, somebody must say which.

    Raises
    ------
    KafkaLearnError
        If they do, or a file is of nobody who can lose a record.
    """
    for side, name, _ in read:
        if side not in SIDES:
            raise KafkaLearnError(f"{name} has the settings of the {side}; {listed(SIDES)} are what is looked at here")
    for side in SIDES:
        mine = [(name, file) for whose, name, file in read if whose == side]
        names = [own for places in durability.READ_FROM.values() for whose, own in places if whose == side]
        decided = {tuple(_decided(file, each) for each in (*names, "transactional.id")) for _, file in mine}
        if len(decided) > 1:
            raise KafkaLearnError(
                f"there is a {side} for {listed(name for name, _ in mine)}, and they differ; one is looked at: give "
                "one file, or of a file with several parts (profiles, channels, services) the file with # and the part "
                "behind its name, with # alone for what holds without a profile"
            )


def _decided(file: PropertiesFile, name: str) -> str | None:
    defaults = {each.name: each.value for each in file.defaults}
    return file.values.get(name, defaults.get(name))


def _topic(describe: str, topic: str | None) -> str:
    names = described_topics(describe)
    if topic is None and len(names) == 1:
        return names[0]
    if topic is None:
        more = [f"{len(names) - 10} more"] if len(names) > 10 else []
        raise KafkaLearnError(
            f"describe has {listed([*names[:10], *more], nothing='no topic')}; say which with topic (--topic-name)"
        )
    return topic


def _notes(given: Mapping[str, Given], settings: Settings) -> tuple[str, ...]:
    replicas, least = given[durability.REPLICAS].value, given[durability.MIN_ISR].value
    notes = []
    if replicas > durability.MOST_SEARCHED:
        notes.append(f"{counted(replicas, 'replica')} were searched as {durability.MOST_SEARCHED}.")
    if least > replicas and settings.producer.acks == "all":
        so = (
            f"counts as {replicas}" if settings.topic.effective_min_isr < least else "refuses every write with acks=all"
        )
        notes.append(
            f"{durability.MIN_ISR} = {least} of {counted(replicas, 'replica')} {so} in {settings.topic.release}."
        )
    return (*notes, f"Not looked at: {LEFT_OUT}.")


# The answer: as data, in words, and as a film.


@dataclass(frozen=True)
class Safe(Answer):
    """The answer to `safe`: the settings, what can harm a record, and what costs only time."""

    release: str
    given: tuple[Given, ...]
    harms: tuple[Harm, ...]  # the worst first, of each kind the shortest first
    beyond: tuple[Harm, ...]  # when every replica in sync loses its power: none of these settings helps
    seen: tuple[tuple[str, str], ...]  # what the application or the operator sees, and the failure before it
    remedy: tuple[tuple[str, object], ...]  # the settings after which nothing harms; empty: none is needed, or helps
    notes: tuple[str, ...]
    settings: Settings = field(repr=False, compare=False)
    hangs_on_elr: bool = False  # with eligible leader replicas nothing harms, without them these runs do
    has_eligible_leader_replicas: bool | None = None  # None: it makes no difference, or the release has none
    now: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # what is wrong already, and with which partitions
    transactions: tuple[Trouble, ...] = ()  # what goes wrong with those of a producer that has a transactional.id
    unread: tuple[tuple[str, Unread], ...] = ()  # of each file the lines that were not read
    share: tuple[Trouble, ...] = ()  # what goes wrong for the share group that reads the topic

    @property
    def outcome(self) -> Outcome:
        """Found, if a run harms a record, or partitions or transactions are in trouble; else, what hangs on ELR.

        Never fine where a line was not read that is near a setting: what it was to say is not known.
        """
        if self.now or self.transactions or self.share:
            return Outcome.FOUND
        if self.hangs_on_elr:
            return Outcome.CANNOT_TELL
        if self.harms:
            return Outcome.FOUND
        return Outcome.CANNOT_TELL if self._near() else Outcome.FINE

    @property
    def verdict(self) -> str:
        """The worst that can happen, or that nothing was found, in a sentence."""
        if self.harms:
            return f"Not safe: {durability.HARM[self.harms[0].result]}, if {self.harms[0].failure}."
        found = "no run was found that loses a record or writes it twice"
        if not self._near():
            return f"Safe: {found}."
        near = listed(f"{each.name} ({name}, line {each.line})" for name, each in self._near()[:MOST_NAMED])
        return f"Not known: {near} may be meant for a setting, and was not read. Without it {found}."

    def _near(self) -> list[tuple[str, Unread]]:
        return [(name, each) for name, each in self.unread if each.near]

    def as_data(self) -> SafeData:
        """As `Answer.as_data`."""
        return {
            "release": self.release,
            "verdict": self.verdict,
            "hangs_on_elr": self.hangs_on_elr,
            "has_eligible_leader_replicas": self.has_eligible_leader_replicas,
            "settings": [{"name": each.name, "value": each.value, "origin": each.origin} for each in self.given],
            "harms": [_harm_data(each) for each in self.harms],
            "beyond": [_harm_data(each) for each in self.beyond],
            "seen": [{"result": result, "failure": failure} for result, failure in self.seen],
            "remedy": dict(self.remedy),
            "now": [{"words": words, "partitions": [*numbers]} for words, numbers in self.now.items()],
            "transactions": [each._asdict() for each in self.transactions],
            "share": [each._asdict() for each in self.share],
            "notes": [*self.notes],
            "unread": [
                {"file": name, "line": each.line, "name": each.name, "why": each.why, "near": each.near}
                for name, each in self.unread
            ],
        }

    def __str__(self) -> str:
        """The verdict, the worst run step by step, what else can happen, and what would help."""
        said = [wrapped(f"{each.name} = {_written(each.value)} ({each.origin})", "  ") for each in self.given]
        for words, numbers in self.now.items():
            more = f" and {len(numbers) - MOST_NAMED} more" if len(numbers) > MOST_NAMED else ""
            named = listed(numbers) if not more else ", ".join(map(str, numbers[:MOST_NAMED])) + more
            said.append(wrapped(f"Now, partition{'' if len(numbers) == 1 else 's'} {named}: {words}."))
        if self.now:
            said.append("With all replicas in sync again:")
        if self.harms:
            worst = self.harms[0]
            if self.hangs_on_elr:
                said.append(wrapped(ASKS))
            said.append(wrapped(f"{self.verdict} The shortest run:"))
            said += [wrapped(step, f"  {number}. ") for number, step in enumerate(worst.steps, start=1)]
            said += [wrapped(f"Also {each.result}: if {each.failure}.") for each in self._others()]
            if self.remedy:
                changes = listed(f"{name} = {_written(value)}" for name, value in self.remedy)
                on = ""
                if self.has_eligible_leader_replicas is not False and at_least("4.0", self.release):
                    on = ", with eligible leader replicas on, as a new cluster of 4.1 or later has them"
                said.append(wrapped(f"No such run is left with {changes}{on}."))
        else:
            said.append(wrapped(self.verdict))
        if self.beyond:
            results = listed(each.result for each in self.beyond)
            said.append(
                wrapped(f"Beyond these settings: if all in sync lose their power at once, records are {results}.")
            )
        for result in dict(self.seen):
            failures = "; or ".join(failure for name, failure in self.seen if name == result)
            said.append(wrapped(f"Not in silence: {durability.WITH_AN_ERROR[result]}, if {failures}."))
        for each in self.transactions:
            said.append(wrapped(f"Transactions: {each.words}. Set {each.setting} = {each.remedy} ({each.origin})."))
        for each in self.share:
            said.append(wrapped(f"Share group: {each.words}. Set {each.setting} = {each.remedy} ({each.origin})."))
        said += [wrapped(each) for each in self._not_read()]
        return "\n".join([*said, *map(wrapped, self.notes)])

    def _not_read(self) -> Iterator[str]:
        """Of each file what was not read: what is near a setting first, and in full."""
        for file in dict.fromkeys(name for name, _ in self.unread):
            lines = sorted((each for name, each in self.unread if name == file), key=lambda each: not each.near)
            shown = max(MOST_UNREAD, sum(bool(each.near) for each in lines))
            named = [
                f"line {each.line}, {cut(each.name, 80)}: {each.why}"
                + (f"; {each.near} may be meant" if each.near else "")
                for each in lines[:shown]
            ]
            more = f"; and {len(lines) - shown} more: --json has them" if len(lines) > shown else ""
            yield f"Not read in {file}: {'; '.join(named)}{more}."

    def _others(self) -> list[Harm]:
        """Of each other kind of harm the shortest run."""
        firsts: dict[str, Harm] = {}
        for each in self.harms:
            firsts.setdefault(each.result, each)
        return [each for each in firsts.values() if each is not self.harms[0]]

    def film(self) -> Animation:
        """The worst run, drawn: a notebook shows it, ``film().html()`` is a player, ``film().still`` a picture.

        Raises
        ------
        KafkaLearnError
            If there is no such run.
        """
        shown = self.harms or self.beyond
        if not shown:
            raise KafkaLearnError("there is nothing to film: no run was found that loses a record or writes it twice")
        worst = shown[0]
        title = f"{capitalised(durability.HARM[worst.result])}: {worst.failure}"
        draw, describe = partial(draw_delivery, self.settings), partial(describe_delivery, self.settings)
        return animation(worst.run, draw, describe, title=title)


def _harm_data(harm: Harm) -> HarmData:
    return {"result": harm.result, "failure": harm.failure, "steps": [*harm.steps]}


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# The command line.

ELR = "eligible.leader.replicas.version"
TRUTHS = {"true": True, "false": False}
SIDES = ("broker", "topic", "producer", "consumer")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    parser.add_argument("--replicas", type=int, metavar="N", help="the topic's replication factor")
    parser.add_argument("--acks", choices=("all", "-1", "0", "1"))
    parser.add_argument("--min-isr", type=int, metavar="N", help=durability.MIN_ISR)
    parser.add_argument("--unclean", choices=[*TRUTHS], help=durability.UNCLEAN)
    parser.add_argument("--idempotence", choices=[*TRUTHS], help="enable.idempotence")
    parser.add_argument("--retries", type=int, metavar="N")
    parser.add_argument("--max-in-flight", type=int, metavar="N", help="max.in.flight.requests.per.connection")
    parser.add_argument("--elr", choices=("yes", "no"), help="whether eligible leader replicas are on (KIP-966)")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="of brokers and producer")
    parser.add_argument("--film", metavar="FILE", help="the run as a player (.html) or a picture of key frames (.svg)")
    group = parser.add_argument_group("a share group that reads the topic")
    group.add_argument(
        "--share", action="append", default=[], metavar="NAME=VALUE",
        help="a setting of the group, as in --share share.record.lock.duration.ms=60000",
    )  # fmt: skip
    group.add_argument(
        "--processing-ms", type=int, metavar="N", help="the longest time from a poll to its last acknowledgement"
    )
    files = parser.add_argument_group("files; flags go before them")
    file_argument(files, "--file", action="append", default=[], help="a properties file; whose it is is recognised")
    for side in SIDES:
        file_argument(files, f"--{side}", action="append", default=[], help=f"the settings of a {side}")
    file_argument(files, "--describe", help="what kafka-topics --describe prints; - is standard input")
    parser.add_argument("--topic-name", metavar="NAME", help="the topic, in what --describe or --bootstrap says")
    add_bootstrap(parser)


def answer(options: argparse.Namespace) -> Safe:
    """Ask `kafkalearn.oncall.safe`, and write the film."""
    if options.film is not None and Path(options.film).suffix not in (".html", ".svg"):
        raise KafkaLearnError(f"--film must end in .html or .svg, got {options.film!r}")
    of_cluster, elr, now = _of_cluster(options)
    elr = elr if options.elr is None else options.elr == "yes"
    found = safe(
        [*options.file, *((side, path) for side in SIDES for path in getattr(options, side))],
        acks=options.acks,
        min_insync_replicas=options.min_isr,
        replication_factor=options.replicas,
        is_unclean_election_enabled=TRUTHS.get(options.unclean),
        is_idempotent=TRUTHS.get(options.idempotence),
        retries=options.retries,
        max_in_flight=options.max_in_flight,
        describe=described(options),
        topic=options.topic_name,
        topic_settings=of_cluster,
        partitions=now,
        has_eligible_leader_replicas=elr,
        share=_share(options),
        release=options.release,
    )
    if options.film is not None:
        _write_film(found, Path(options.film))
    return found


def _share(options: argparse.Namespace) -> Share | None:
    if not options.share and options.processing_ms is None:
        return None
    settings = {}
    for written in options.share:
        name, equals, value = written.partition("=")
        if not equals:
            raise KafkaLearnError(f"--share takes NAME=VALUE, got {written!r}")
        settings[name.strip()] = value.strip()
    return Share(settings, options.processing_ms)


def _of_cluster(
    options: argparse.Namespace,
) -> tuple[dict[str, object] | None, bool | None, tuple[PartitionNow, ...]]:
    """The topic's replicas and settings as a running cluster has them, whether its feature is on, its partitions."""
    with cluster_of(options) as cluster:
        if cluster is None:
            return None, None, ()
        if options.topic_name is None or options.describe is not None:
            raise KafkaLearnError("--bootstrap needs --topic-name, and stands in place of --describe")
        settings = cluster.topic_settings(options.topic_name)
        count = cluster.metadata([options.topic_name]).partition_counts[options.topic_name]
        states = [cluster.partition(options.topic_name, number) for number in range(count)]
        now = tuple(PartitionNow(number, each.leader, each.replicas, each.isr) for number, each in enumerate(states))
        own = {name: settings[name] for name in (durability.MIN_ISR, durability.UNCLEAN) if name in settings}
        has_elr = cluster.features().get(ELR, 0) > 0 if at_least("4.0", options.release) else None
        return {durability.REPLICAS: len(states[0].replicas), **own}, has_elr, now


def _write_film(found: Safe, path: Path) -> None:
    film = found.film()
    page = f'<!doctype html>\n<meta charset="utf-8">\n<title>kafkalearn safe</title>\n{film.html()}\n'
    written_whole({path: str(film.still) if path.suffix == ".svg" else page})
