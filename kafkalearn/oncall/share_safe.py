"""What can go wrong with a share group's settings: its own, the brokers', those of who writes its topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafkalearn.base.checks import mapping, one_of, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name
from kafkalearn.oncall.transactional import COMMITTED, ID, UNCOMMITTED, Files, Trouble, number_of
from kafkalearn.releases.lines import at_least

LOCK, LIMIT = "share.record.lock.duration.ms", "share.delivery.count.limit"
ISOLATION, RENEW, RESET = "share.isolation.level", "share.renew.acknowledge.enable", "share.auto.offset.reset"
LETTERS, PREFIX = "errors.deadletterqueue.topic.name", "errors.deadletterqueue.topic.name.prefix"
COPIES, LEAST = "share.coordinator.state.topic.replication.factor", "share.coordinator.state.topic.min.isr"
NAMES = (LOCK, LIMIT, ISOLATION, RENEW, RESET, LETTERS)
"""The settings of a group that are looked at."""

DEFAULTS = {LOCK: 30_000, LIMIT: 5, COPIES: 3, LEAST: 2}
LEAST_LOCK, MOST_LOCK = "group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"
BOUNDS = {LEAST_LOCK: 15_000, MOST_LOCK: 60_000}
DEFAULT_PREFIX = "dlq."
ANYWAY = (
    "A share group gives up order, and gives a record out again whenever its lock runs out or its member goes: what "
    "is done with a record must bear being done twice."
)
LATEST = f"{RESET} is latest, the default: a new group reads nothing that was written before its first fetch."


@dataclass(frozen=True, slots=True)
class Share:
    """What is known of a share group.

    Parameters
    ----------
    settings : mapping of str to object
        Those of the group by Kafka's names, as ``kafka-configs --entity-type groups`` has them; what is not said is
        the brokers'.
    processing_ms : int or None
        The longest time from a poll to the acknowledgement of the last record that it gave; None: it is not known.
    """

    settings: Mapping[str, object]
    processing_ms: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no group can be set to."""
        for name in mapping("settings of a share group", self.settings, of="setting to value"):
            if name not in NAMES:
                raise unknown_name("setting of a share group that is looked at", str(name), NAMES)
        if self.processing_ms is not None:
            whole_number("processing_ms", self.processing_ms, 1)

    def said(self, name: str) -> str | None:
        """What the group's own setting is, as text."""
        return str(self.settings[name]).strip() if name in self.settings else None


def share_troubles(share: Share, files: Files, release: str) -> tuple[tuple[Trouble, ...], tuple[str, ...]]:
    """What goes wrong for a share group, and what is to be known of it in any case.

    Raises
    ------
    KafkaLearnError
        If a number is none, an isolation level none of Kafka's, or the release has no share groups for production.

    Examples
    --------
    >>> found, notes = share_troubles(Share({"errors.deadletterqueue.topic.name": "dlq.jobs"}, 40_000), [], "4.4")
    >>> [(each.setting, each.value, each.remedy) for each in found]
    [('share.record.lock.duration.ms', 30000, 60000)]

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``GroupConfig``, ``ShareGroupConfig``, ``SharePartition``; KIP-932, KIP-1191, KIP-1222,
    KIP-1240. What happens when a lock runs out, at the limit, and to a dead letter that cannot be written is recorded.
    """
    if not at_least("4.2", release):
        raise KafkaLearnError(f"share groups are for production since 4.2 (KIP-932); the release is {release}")
    given = [*files]
    brokers = [each for each in given if each[0] == "broker"]
    found = [
        *_of_lock(share, brokers),
        *_of_limit(share, brokers, release),
        *_of_isolation(share, any(each[2].values.get(ID) for each in given if each[0] == "producer")),
        *_of_state(brokers),
    ]
    notes = [ANYWAY]
    if (share.said(RESET) or "latest") == "latest":
        notes.append(LATEST)
    if share.processing_ms is None:
        notes.append("How long a poll's records take is not known (--processing-ms): a lock may be too short for them.")
    return tuple(found), tuple(notes)


def _number(share: Share, name: str, brokers: Files) -> tuple[int, str]:
    """The group's own number, else the brokers', else Kafka's."""
    own = share.said(name)
    if own is None:
        return number_of(f"group.{name}", [*brokers], DEFAULTS[name])
    if not (own.isascii() and own.isdigit()):
        raise KafkaLearnError(f"{name} is a number, and the group has {shown(own)}")
    return int(own), "the group"


def _of_lock(share: Share, brokers: Files) -> Iterator[Trouble]:
    lock, origin = _number(share, LOCK, brokers)
    least, most = (number_of(name, [*brokers], BOUNDS[name])[0] for name in (LEAST_LOCK, MOST_LOCK))
    if LOCK in share.settings and not least <= lock <= most:
        words = f"the brokers refuse {LOCK} = {lock} with INVALID_CONFIG: they allow {least} to {most}"
        yield Trouble(words, LOCK, lock, min(max(lock, least), most), origin)
    if share.processing_ms is None or share.processing_ms < lock:
        return
    limit, _ = _number(share, LIMIT, brokers)
    words = (
        f"a poll's records take {share.processing_ms} ms, and their lock runs out after {lock} ms: they are given to "
        f"another member while the first still works on them, up to {limit} times, and are ARCHIVED then, done or not; "
        "the first one's acknowledgement is refused with INVALID_RECORD_STATE"
    )
    if share.processing_ms < most:
        yield Trouble(words, LOCK, lock, min(share.processing_ms * 3 // 2, most), origin)
    elif (share.said(RENEW) or "true").lower() == "false":
        yield Trouble(f"{words}; no lock may be so long, and renewing is off", RENEW, "false", "true", "the group")
    else:
        more = f"; no lock longer than {most} ms is allowed: poll fewer records, or renew while they are worked on"
        yield Trouble(words + more, LOCK, lock, most, origin)


def _of_limit(share: Share, brokers: Files, release: str) -> Iterator[Trouble]:
    limit, _ = _number(share, LIMIT, brokers)
    topic = share.said(LETTERS) or ""
    lost = f"a record that fails {limit} times, or is rejected, is ARCHIVED: nobody gets it again, and nothing says so"
    if not at_least("4.4", release):
        yield Trouble(
            f"{lost}. Dead letters came with 4.4 (KIP-1191): before, a member has to write it away itself, before it "
            "rejects it",
            LIMIT, limit, "what the application can bear", "the group or the brokers",
        )  # fmt: skip
    elif not topic:
        yield Trouble(lost, LETTERS, "", f"{DEFAULT_PREFIX}TOPIC", "the default")
    else:
        prefix = next((each[2].values[PREFIX] for each in brokers if PREFIX in each[2].values), DEFAULT_PREFIX).strip()
        if not topic.startswith(prefix):
            words = (
                f"dead letters are dropped in silence: the brokers write them only to topics whose names begin with "
                f"{prefix!r} ({PREFIX}); the records are ARCHIVED all the same"
            )
            yield Trouble(words, LETTERS, topic, f"{prefix}{topic}", "the group")


def _of_isolation(share: Share, has_transactions: bool) -> Iterator[Trouble]:
    level = (share.said(ISOLATION) or UNCOMMITTED).lower()
    one_of(ISOLATION, level, (COMMITTED, UNCOMMITTED))
    if has_transactions and level == UNCOMMITTED:
        origin = "the group" if ISOLATION in share.settings else "the default"
        words = "the group is given records of transactions that are open or aborted"
        yield Trouble(words, ISOLATION, level, COMMITTED, origin)


def _of_state(brokers: Files) -> Iterator[Trouble]:
    (copies, origin), (least, least_from) = (number_of(name, [*brokers], DEFAULTS[name]) for name in (COPIES, LEAST))
    if copies == 1:
        words = (
            "__share_group_state has one replica: while its broker is away nothing is acknowledged, and if its disk is "
            "lost, so is what was: groups begin anew"
        )
        yield Trouble(words, COPIES, copies, DEFAULTS[COPIES], origin)
    if least > copies:
        words = f"nothing can be acknowledged: {LEAST} asks for {least} replicas in sync, and there are {copies}"
        yield Trouble(words, LEAST, least, copies, least_from)
