"""How is the quorum of controllers: who leads, who lags, how many may still die, is it the configured one."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalearn.base.checks import iterable, text
from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown
from kafkalearn.base.files import STANDARD_INPUT
from kafkalearn.oncall.answer import Answer, Outcome, lasting, text_of, wrapped
from kafkalearn.oncall.options import file_argument
from kafkalearn.oncall.settings_files import read_files
from kafkalearn.releases.defaults import whole_default

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import QuorumData

TOOL = "kafka-metadata-quorum"
VOTERS, BOOTSTRAP_SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
FETCH_TIMEOUT = "controller.quorum.fetch.timeout.ms"


# What the tool prints, as it was pasted.


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A replica of the metadata log: a controller that votes, or one that only reads, as brokers do."""

    id: int
    is_voter: bool
    lag: int | None = None  # records behind the leader
    fetched_ago_ms: int | None = None  # when it last asked the leader; None: never, or not known
    endpoints: tuple[str, ...] = ()
    directory: str | None = None  # the id of its metadata log's folder (KIP-853); None: not known, or a static voter
    has_asked: bool | None = None  # whether it ever asked this leader; None: not known

    def is_silent(self, limit_ms: int) -> bool:
        """Whether it has not asked for longer than a follower waits before it looks for another leader."""
        return self.has_asked is False or (self.fetched_ago_ms is not None and self.fetched_ago_ms > limit_ms)


@dataclass(frozen=True, slots=True)
class DescribedQuorum:
    """What ``describe --status`` and ``--replication`` say, or one of them."""

    leader: int | None  # None: there is none
    table_leader: int | None  # of --replication
    epoch: int | None
    high_watermark: int | None
    most_lag: int | None
    most_lag_ms: int | None
    nodes: tuple[QuorumReplica, ...]
    has_status: bool
    has_table: bool


_FIELD = re.compile(
    r"^\W{0,3}(ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs|CurrentVoters"
    r"|CurrentObservers):(.*)$",
    re.MULTILINE,
)
_HEADER = re.compile(r"^\W{0,3}(?:Node|Replica)Id\b.*\bLogEndOffset\b", re.IGNORECASE)
_AGO = re.compile(r"(?<!\d)(\d{1,18}) ms ago")
_NAMES = {
    "nodeid": "id", "replicaid": "id", "logendoffset": "end", "lag": "lag", "lastfetchtimestamp": "fetched",
    "lastfetchtimems": "fetched", "lastcaughtuptimestamp": "caught up", "lastcaughtuptimems": "caught up",
    "status": "status", "directoryid": "directory",
}  # fmt: skip


def _number(written: str | None) -> int | None:
    return int(written) if written is not None and re.fullmatch(r"-?\d{1,18}", written, re.ASCII) else None


def _members(written: str, is_voter: bool) -> list[QuorumReplica]:
    """``[1,2,3]`` up to 3.8, and since 3.9 a JSON list with endpoints and directories."""
    try:
        content = json.loads(written)
    except (ValueError, RecursionError):
        what = "no list of voters or observers: paste the whole line"
        raise KafkaLearnError(f"{shown(written[:80])} is {what}") from None
    found: list[QuorumReplica] = []
    for each in content if isinstance(content, list) else [content]:
        id_ = each.get("id") if isinstance(each, Mapping) else each
        if not isinstance(id_, int) or isinstance(id_, bool):
            raise KafkaLearnError(f"{shown(written[:80])} has a voter or observer without an id")
        said = each if isinstance(each, Mapping) else {}
        endpoints, directory = said.get("endpoints", []), said.get("directoryId")
        addresses = tuple(map(str, endpoints)) if isinstance(endpoints, list) else ()
        found.append(QuorumReplica(id_, is_voter, endpoints=addresses, directory=_directory(directory)))
    return found


def _directory(written: object) -> str | None:
    """The id of a folder; a static voter has none, which the table shows as zeros."""
    return written if isinstance(written, str) and written.strip("A") else None


def _table(lines: Sequence[str]) -> list[dict[str, str]]:
    """The rows of ``--replication``, by the names of their columns."""
    rows: list[dict[str, str]] = []
    columns: list[str] = []
    for line in lines:
        plain = _AGO.sub(r"\1msago", line)
        cells = plain.replace("|", " ").split()
        if _HEADER.match(line):
            columns = [_NAMES.get(cell.lower(), cell.lower()) for cell in cells]
        elif columns and len(cells) == len(columns):
            rows.append(dict(zip(columns, cells, strict=True)))
    return [row for row in rows if _number(row.get("id")) is not None]


def described_quorum(said: str) -> DescribedQuorum:
    """What was pasted of the tool, one output or several.

    Raises
    ------
    KafkaLearnError
        If it is neither ``--status`` nor ``--replication``, or a list in it is cut off.

    Examples
    --------
    >>> found = described_quorum("LeaderId: 3\\nLeaderEpoch: 1\\nCurrentVoters: [1,2,3]\\nCurrentObservers: [4]")
    >>> found.leader, [each.id for each in found.nodes if each.is_voter]
    (3, [1, 2, 3])

    References
    ----------
    Apache Kafka 3.3 to 4.4, ``MetadataQuorumCommand``.
    """
    fields = {name: value.strip() for name, value in _FIELD.findall(text("describe", said))}
    rows = _table(said.splitlines())
    if not fields.keys() & {"LeaderId", "CurrentVoters"} and not rows:
        raise KafkaLearnError(
            f"this is not what {TOOL} prints: paste the output of 'describe --status' and of 'describe --replication'"
        )
    listed_nodes = [
        node
        for name, is_voter in (("CurrentVoters", True), ("CurrentObservers", False))
        for node in (_members(fields[name], is_voter) if name in fields else _of_rows(rows, is_voter))
    ]
    leads = [int(row["id"]) for row in rows if row.get("status", "").lower() == "leader"]
    stamps = [stamp for row in rows if (stamp := _number(row.get("fetched"))) is not None and stamp > 0]
    now_ms = max(stamps, default=None)
    is_timed = not any(row.get("fetched") == "-1" for row in rows if row.get("status", "").lower() == "leader")
    leader = _number(fields.get("LeaderId")) if "LeaderId" in fields else next(iter(leads), None)
    return DescribedQuorum(
        leader if leader is not None and leader >= 0 else None,
        next(iter(leads), None),
        _number(fields.get("LeaderEpoch")),
        _number(fields.get("HighWatermark")),
        _number(fields.get("MaxFollowerLag")),
        _number(fields.get("MaxFollowerLagTimeMs")),
        tuple(_with_row(node, _row_of(node, rows), now_ms, is_timed) for node in listed_nodes),
        bool(fields),
        bool(rows),
    )


def _of_rows(rows: Iterable[Mapping[str, str]], is_voter: bool) -> list[QuorumReplica]:
    """Those that vote, or the others, where --status was not pasted."""
    return [
        QuorumReplica(int(row["id"]), is_voter, directory=_directory(row.get("directory")))
        for row in rows
        if _votes(row) == is_voter
    ]


def _votes(row: Mapping[str, str]) -> bool:
    return row.get("status", "").lower() in ("leader", "follower")


def _row_of(node: QuorumReplica, rows: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """The row of a node; an id may be there twice, with two folders."""
    own = [row for row in rows if int(row["id"]) == node.id]
    exact = [row for row in own if _directory(row.get("directory")) == node.directory and _votes(row) == node.is_voter]
    return next(iter([*exact, *own]), None)


def _with_row(node: QuorumReplica, row: Mapping[str, str] | None, now_ms: int | None, is_timed: bool) -> QuorumReplica:
    """What the table says of a node; the leader's own row has the time of the look, after KIP-836 (3.3)."""
    if row is None:
        return node
    written = row.get("fetched", "")
    stamp, lag = _number(written.removesuffix("msago")), _number(row.get("lag"))
    if stamp is None or not is_timed:
        return replace(node, lag=lag)
    if stamp < 0:  # since this leader leads
        return replace(node, has_asked=False)
    ago_ms = stamp if written.endswith("msago") else max(0, (now_ms or stamp) - stamp)
    return replace(node, lag=lag, fetched_ago_ms=ago_ms, has_asked=True)


# What is configured, from the files of the nodes.


@dataclass(frozen=True, slots=True)
class Configured:
    """The voters, or the addresses of some of them, that a node's file names."""

    file: str
    voters: tuple[tuple[int, str], ...]  # node.id and host:port; the static way
    servers: tuple[str, ...]  # host:port; the dynamic way of KIP-853


def configured_in(files: Iterable[str | Path]) -> tuple[Configured, ...]:
    """What the settings of nodes name as the quorum.

    Raises
    ------
    KafkaLearnError
        If a file cannot be read, names no quorum, or a voter is not ``id@host:port``.
    """
    found: list[Configured] = []
    for _, name, file in read_files(files, "broker"):
        voters = [each.strip() for each in str(file.values.get(VOTERS, "")).split(",") if each.strip()]
        servers = [each.strip() for each in str(file.values.get(BOOTSTRAP_SERVERS, "")).split(",") if each.strip()]
        if not voters and not servers:
            raise KafkaLearnError(f"{shown(name)} sets neither {VOTERS} nor {BOOTSTRAP_SERVERS}: it names no quorum")
        pairs = [each.partition("@") for each in voters]
        for (id_, _, address), written in zip(pairs, voters, strict=True):
            if _number(id_) is None or not address:
                raise KafkaLearnError(f"{shown(name)}: {VOTERS} has {shown(written)}, which is not id@host:port")
        found.append(Configured(name, tuple((int(id_), address) for id_, _, address in pairs), tuple(servers)))
    return tuple(found)


# The answer.


def quorum(describe: str, *, config: Iterable[str | Path] = ()) -> Quorum:
    """How a quorum of controllers is, from what the tool printed of it.

    Parameters
    ----------
    describe : str
        What ``kafka-metadata-quorum.sh ... describe --status`` and ``describe --replication`` print, of 3.3 to 4.4,
        with ``--human-readable`` or without: pasted, one of them or both. Only ``--replication`` says who is behind.
    config : iterable of str or Path
        Files of settings of controllers or brokers, whose ``controller.quorum.voters`` or
        ``controller.quorum.bootstrap.servers`` are compared with the voters there are.

    Raises
    ------
    KafkaLearnError
        If it is not what the tool prints, or a file names no quorum.

    Examples
    --------
    >>> print(quorum("LeaderId: 3\\nMaxFollowerLag: 0\\nMaxFollowerLagTimeMs: 351\\nCurrentVoters: [1,2,3]"))
    3 leads 3 voters, of which all keep up; 1 more may die.

    References
    ----------
    Apache Kafka 3.3 to 4.4, ``MetadataQuorumCommand``; KIP-595 (a majority of voters decides), KIP-853 (voters change).
    """
    return Quorum(described_quorum(describe), configured_in(iterable("config", config, of="files of settings")))


@dataclass(frozen=True)
class Quorum(Answer):
    """How a quorum of controllers is."""

    described: DescribedQuorum
    configured: tuple[Configured, ...]
    limit_ms: int = whole_default(FETCH_TIMEOUT)  # longer than this a follower waits for no leader

    @property
    def voters(self) -> tuple[QuorumReplica, ...]:
        """Those that vote."""
        return tuple(each for each in self.described.nodes if each.is_voter)

    @property
    def silent(self) -> tuple[QuorumReplica, ...]:
        """The voters that have not asked the leader for too long."""
        return tuple(each for each in self.voters if each.id != self.described.leader and each.is_silent(self.limit_ms))

    @property
    def majority(self) -> int:
        """How many voters have to live."""
        return len(self.voters) // 2 + 1

    @property
    def may_fail(self) -> int | None:
        """How many voters may still die while a majority lives; None: what was pasted does not say who lives."""
        if self.described.leader is None or not self.voters:
            return None
        if any(each.has_asked is not None for each in self.voters):
            is_known = all(each.has_asked is not None for each in self.voters)
            return len(self.voters) - len(self.silent) - self.majority if is_known else None
        most_ms, most = self.described.most_lag_ms, self.described.most_lag
        if most is None and all(each.lag is not None for each in self.voters):
            most = max(each.lag or 0 for each in self.voters)
        is_level = most == 0 if most_ms is None or most_ms < 0 else most_ms <= self.limit_ms
        return len(self.voters) - self.majority if is_level else None

    @property
    def differences(self) -> tuple[str, ...]:
        """What the voters and the configured ones differ in, a sentence each."""
        return tuple(sentence for each in self.configured for sentence in _differences(each, self.voters))

    @property
    def findings(self) -> tuple[str, ...]:
        """What needs a person, a sentence each; the worst first."""
        found: list[str] = []
        said = self.described
        if said.leader is None and said.has_status:
            found.append(
                "there is no leader: no topic can be made or changed, no broker can join, and no partition gets "
                f"another leader until {self.majority} of {counted(len(self.voters), 'voter')} find each other"
            )
        if said.table_leader is not None and said.leader not in (None, said.table_leader):
            found.append(
                f"--status names {said.leader} as the leader and --replication {said.table_leader}: they are of "
                "two moments, or of two clusters; ask both at once"
            )
        for each in self.silent:
            lag = "" if each.lag is None else f", {counted(each.lag, 'record')} behind"
            found.append(f"voter {each.id} {_silence(each)}{lag}: it is dead, cut off, or paused")
        for voter in self.voters:
            for other in said.nodes:
                if other.id == voter.id and not other.is_voter:
                    found.append(
                        f"{voter.id} votes with the folder {voter.directory} and asks with {other.directory} as an "
                        f"observer: its disk was formatted anew, and its vote is lost until {TOOL} remove-controller "
                        "takes the old one out and add-controller the new one in (KIP-853)"
                    )
        if self.may_fail is not None and self.may_fail < 0:
            alive = len(self.voters) - len(self.silent)
            found.append(f"{alive} of {len(self.voters)} are no majority: nothing is written until {self.majority} ask")
        if self.may_fail == 0 and len(self.voters) > 2:
            found.append(f"if one more voter dies, {self.majority - 1} of {len(self.voters)} are no majority")
        if len(self.voters) in (1, 2):
            found.append(
                f"{counted(len(self.voters), 'voter')} can lose none: a quorum that bears one loss has 3, two losses 5"
            )
        if len(self.voters) > 2 and len(self.voters) % 2 == 0:
            spare = len(self.voters) - self.majority
            found.append(f"{len(self.voters)} voters bear {spare} losses, no more than {len(self.voters) - 1} do")
        for each in said.nodes:
            if not each.is_voter and each.is_silent(self.limit_ms):
                found.append(f"observer {each.id} {_silence(each)}: what it knows of the cluster is as old")
        return (*found, *self.differences)

    @property
    def outcome(self) -> Outcome:
        """Found: anything that needs a person; cannot tell: who lives does not stand there."""
        if self.findings:
            return Outcome.FOUND
        return Outcome.CANNOT_TELL if self.may_fail is None else Outcome.FINE

    def as_data(self) -> QuorumData:
        """As `Answer.as_data`."""
        return {
            "leader": self.described.leader,
            "epoch": self.described.epoch,
            "high_watermark": self.described.high_watermark,
            "majority": self.majority,
            "may_fail": self.may_fail,
            "nodes": [
                {
                    "id": each.id,
                    "is_voter": each.is_voter,
                    "lag": each.lag,
                    "fetched_ago_ms": each.fetched_ago_ms,
                    "endpoints": [*each.endpoints],
                    "directory": each.directory,
                    "has_asked": each.has_asked,
                    "is_silent": each.is_silent(self.limit_ms),
                }
                for each in self.described.nodes
            ],
            "differences": [*self.differences],
            "findings": [*self.findings],
        }

    def __str__(self) -> str:
        """Who leads and how many may die in one sentence; then what needs a person."""
        said = self.described
        if not self.voters:
            first = "Who votes is not said: paste the output of 'describe --status', too."
        elif said.leader is None:
            first = f"Nobody leads these {counted(len(self.voters), 'voter')}."
        else:
            behind = len(self.silent)
            level = "of which all keep up" if not behind else f"of which {behind} {_are(behind)} silent"
            level = level if self.may_fail is not None else "and not all of them are seen to keep up"
            may = "paste --replication to see who" if self.may_fail is None else f"{self._may_words()} may die"
            first = f"{said.leader} leads {counted(len(self.voters), 'voter')}, {level}; {may}."
        return "\n".join([wrapped(first), *(wrapped(f"{each}.", "  - ") for each in self.findings)])

    def _may_words(self) -> str:
        return "no more" if not self.may_fail or self.may_fail < 0 else f"{self.may_fail} more"


def _silence(node: QuorumReplica) -> str:
    if node.fetched_ago_ms is None:
        return "has never asked this leader"
    return f"has not asked the leader for {lasting(node.fetched_ago_ms)}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _differences(configured: Configured, voters: Sequence[QuorumReplica]) -> list[str]:
    """How the voters there are differ from those that a file names."""
    there = {each.id: each for each in voters}
    named = dict(configured.voters)
    found: list[str] = []
    if named and there:
        missing, more = sorted(named.keys() - there), sorted(there.keys() - named)
        if missing:
            found.append(f"{configured.file}: {VOTERS} names {listed(missing)}, which {_are(len(missing))} no voter")
        if more:
            vote = "votes" if len(more) == 1 else "vote"
            found.append(f"{configured.file}: {VOTERS} lacks {listed(more)}, which {vote}")
        for id_, address in named.items():
            addresses = _addresses(there[id_]) if id_ in there else set()
            if addresses and address not in addresses:
                there_at = listed(sorted(addresses))
                found.append(f"{configured.file}: {VOTERS} has {id_} at {address}, and it votes at {there_at}")
    known = set().union(*map(_addresses, voters)) if voters else set()
    lost = [each for each in configured.servers if known and each not in known]
    if lost:
        found.append(f"{configured.file}: {BOOTSTRAP_SERVERS} has {listed(lost)}, where no voter is")
    return found


def _addresses(node: QuorumReplica) -> set[str]:
    return {each.partition("://")[2] or each for each in node.endpoints}


# The command line.


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    file_argument(
        parser,
        "--describe",
        action="append",
        default=[],
        help=f"what {TOOL} describe --status and --replication print, in one file or two; - is standard input",
    )
    file_argument(
        parser,
        "--settings",
        action="append",
        default=[],
        help="settings of a controller or broker: are the voters those that it names?",
    )


def answer(options: argparse.Namespace) -> Quorum:
    """Ask `kafkalearn.oncall.quorum`."""
    if not options.describe:
        raise KafkaLearnError(f"which quorum? Give what {TOOL} prints: --describe quorum.txt")
    if options.describe.count(STANDARD_INPUT) > 1:
        raise KafkaLearnError("standard input is read once")
    said = "\n".join(text_of(each, f"what {TOOL} describe prints") for each in options.describe)
    return quorum(said, config=options.settings)
