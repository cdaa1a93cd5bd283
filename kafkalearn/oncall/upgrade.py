"""What an upgrade changes for somebody's own settings: what is refused, gone, different, or without effect already."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafkalearn.base.checks import one_of, text
from kafkalearn.base.errors import LONGEST_NAME, KafkaLearnError, listed
from kafkalearn.oncall.answer import Answer, Outcome, cut, wrapped
from kafkalearn.oncall.defects import between
from kafkalearn.oncall.options import file_argument
from kafkalearn.oncall.settings import PLACEHOLDER, Line, PropertiesFile, Refusal, of_value, setting_of
from kafkalearn.oncall.settings_files import Read, read_files, unread_in
from kafkalearn.releases.defaults import find_settings
from kafkalearn.releases.group_protocols import moves
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line
from kafkalearn.releases.settings import (
    ABSENT,
    REQUIRED,
    TOUCHED,
    Deprecation,
    Limit,
    Value,
    announced_lines,
    deprecation_of,
    settings_named,
    standing_deprecations,
    value_text,
)
from kafkalearn.releases.upgrade import FACTS, Change, changes

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import UpgradeData, UpgradeFile


def upgrade(
    old: str,
    new: str = DEFAULT_RELEASE,
    files: str | Path | Iterable[object] = (),
    *,
    side: str | None = None,
    group_protocol: str | None = None,
) -> Upgrade:
    """What an upgrade changes for the settings in somebody's own files.

    Defaults that change matter where a file does not set them; lines that are set are held to both releases. Secrets
    are never shown.

    Parameters
    ----------
    old, new : str
        The two releases, the older first; the same twice looks through the files alone. Of a line that is announced
        (``"5.0"``) the answer has what is deprecated now, as far as Kafka has said it.
    files : str, Path, or an iterable of them
        Java's properties files; a pair of a side and a file says whose settings it has.
    side : str or None
        Whose settings all files have, a name in `kafkalearn.releases.settings.SIDES`; None: recognised by their names.
    group_protocol : str or None
        ``"consumer"``: what also changes if the consumers move to that protocol (KIP-848) once the new release runs.

    Raises
    ------
    KafkaLearnError
        If a release is unknown, a file cannot be read, or whose settings it has cannot be recognised.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
    >>> answer = upgrade("3.9", "4.0", data_directory("own-cluster") / "producer.properties")
    >>> [(each.danger, each.line, each.name) for each in answer.findings if each.line is not None]
    [('refused', 5, 'delivery.timeout.ms'), ('unknown', 7, 'compresion.type'), ('noted', 9, 'batch.size')]

    References
    ----------
    The settings and facts of `kafkalearn.releases`; the rules of `kafkalearn.oncall.upgrade`.
    """
    announced = next(
        (each for each in announced_lines() if re.fullmatch(rf"{re.escape(each)}(\.\d+)?", text("new", new))), None
    )
    older, newer = release_line(old), release_line(DEFAULT_RELEASE if announced else new)
    given = read_files(files, side)
    if not given:
        raise KafkaLearnError("which settings? Give at least one properties file")
    for _, name, file in given:
        if file.is_librdkafka:
            raise KafkaLearnError(
                f"{name} has librdkafka's names, and librdkafka has releases and defaults of its own: an upgrade of "
                "Kafka's Java client changes nothing there"
            )
    if group_protocol is not None:
        one_of("group_protocol", group_protocol, ("consumer",))
        if not at_least("4.0", newer):
            raise KafkaLearnError(f"group.protocol=consumer is for clients and brokers of 4.0 or later, got {newer}")
    is_moving = group_protocol is not None
    found = [
        each
        for whose, name, file in given
        for each in findings_in(older, newer, name, whose, file, is_moving=is_moving)
        if not (is_moving and each.danger == REFUSED and each.name in NOT_WITH_CONSUMER_PROTOCOL)
    ]
    if is_moving:
        found += [each for whose, name, file in given for each in of_group_protocol(newer, name, whose, file)]
    found += facts_for(older, newer, [(whose, file) for whose, _, file in given])
    found += defects_between(older, newer, {whose for whose, _, _ in given})
    if announced:
        said = {(each.danger, each.name) for each in found}
        found += (each for each in _to_go(newer, given) if (each.danger, each.name) not in said)
    order = [*DANGERS]
    found.sort(key=lambda each: (order.index(each.danger), each.file is None))  # stable: by file, then as found
    sides = tuple((name, whose) for whose, name, _ in given)
    return Upgrade(older, announced or newer, sides, tuple(found), is_released=not announced)


# The findings: in a file of settings, and beside it; one for each thing to do something about.

REFUSED, NEEDED, GONE, BEHAVES = "refused", "required", "gone", "behaves"  # facts of a release have such kinds, too
UNKNOWN, DEPRECATED, NOTED = "unknown", "deprecated", "noted"
BEGUN, FIXED = "begun", "fixed"
DANGERS: MappingProxyType[str, str] = MappingProxyType(
    {
        REFUSED: "a program does not start so, or is not answered",
        NEEDED: "must be so, before or after",
        GONE: "is not there any more; a line about it does nothing",
        BEHAVES: "acts in another way",
        BEGUN: "a defect of Kafka's own that the new release has, and the old one has not",
        UNKNOWN: "neither release has such a setting",
        DEPRECATED: "is still there, and is to go",
        NOTED: "to be known",
        FIXED: "a defect of Kafka's own that the old release has, and the new one has not",
    }
)
"""What a finding means, the most dangerous first."""

SEEN_IN_SETTINGS = {
    "ZooKeeper": r"zookeeper\.",
    "ZooKeeper 3.5": r"zookeeper\.",
    "ZooKeeper 3.8": r"zookeeper\.",
    "requests between ZooKeeper's controller and brokers": r"zookeeper\.",
    "AclAuthorizer": "AclAuthorizer",
    "SimpleAclAuthorizer": "SimpleAclAuthorizer",
    "JndiLoginModule": "JndiLoginModule",
    "org.apache.kafka.sasl.oauthbearer.allowed.urls": "(?i)oauthbearer",
    "more than 5 requests in flight": r"(?ms)\A(?!.*^enable\.idempotence=)"
    r".*^max\.in\.flight\.requests\.per\.connection=\s*0*(?:[6-9]|[1-9]\d+)\s*$",
    "metrics.jmx.blacklist, metrics.jmx.whitelist": r"metrics\.jmx\.",
    "zstd": "zstd",
    "lists that are empty": r"(?m)=[ \t]*$|=(?:.*,)?\s*([^,\s]+)\s*,(?:.*,)?\s*\1\s*(?:,|$)",
    "transactions": r"transactional\.id",
    "offsets in transactions": r"transactional\.id",
    "certificates in PEM": "PEM",
    "KafkaPrincipalSerde": r"principal\.builder\.class",
    "scope, clientId and clientSecret in sasl.jaas.config": r"(?m)^sasl\.jaas\.config=.*\b(?:clientId|clientSecret)\b",
    "no group.id": r"(?ms)\A(?!.*^group\.id=[^\n])",
}
"""Facts that are about settings alone, each with what the lines have where it matters."""

BEGINS: MappingProxyType[tuple[str, str], str] = MappingProxyType(
    {
        ("broker", "log.message.timestamp.after.max.ms"): "records dated farther ahead of the broker are refused",
        ("topic", "message.timestamp.after.max.ms"): "records dated farther ahead of the broker are refused",
        ("broker", "group.initial.rebalance.delay.ms"): "the first rebalance of an empty group waits so long",
        ("broker", "fetch.max.bytes"): "an answer to a fetch has no more, whatever the client asks for",
        ("broker", "replica.fetch.response.max.bytes"): "an answer to a follower's fetch has no more",
        ("broker", "producer.id.expiration.ms"): "an idempotent producer that is silent for longer is forgotten",
        ("broker", "transaction.partition.verification.enable"): "records of a transaction that its coordinator does "
        "not know are refused",
        ("broker", "connection.failed.authentication.delay.ms"): "who fails to authenticate hears of it so much later",
        ("producer", "enable.idempotence"): "acks=all, and brokers drop what comes twice",
        ("producer", "delivery.timeout.ms"): "a record is given up after it, retries included",
        ("producer", "partitioner.adaptive.partitioning.enable"): "of records without a key fewer go to slow brokers",
        ("producer", "socket.connection.setup.timeout.ms"): "a connection that is not there by then is given up",
        ("consumer", "socket.connection.setup.timeout.ms"): "a connection that is not there by then is given up",
        ("consumer", "max.poll.interval.ms"): "a consumer that does not poll for so long leaves its group",
        ("consumer", "fetch.max.bytes"): "an answer to a fetch has no more",
        ("consumer", "default.api.timeout.ms"): "calls that wait without a time of their own end with an exception",
        **{
            (side, "metadata.recovery.strategy"): "a client that reaches no known broker begins again with "
            "bootstrap.servers"
            for side in ("producer", "consumer", "admin")
        },
        **{
            (side, "enable.metrics.push"): "metrics go to the brokers, once an operator subscribes to them"
            for side in ("producer", "consumer")
        },
    }
)
"""Settings whose default is no rest: where a release brings one of them, something begins to hold; what it is."""

OF_KRAFT = ("controller.", "metadata.", "process.roles", "node.id", "initial.broker.registration.", "broker.heartbeat.",
            "broker.session.")  # fmt: skip
"""Beginnings of a broker's settings that count only with KRaft."""

SAME_WITHOUT_IT = ("metric.reporters",)
"""Settings whose default has changed and nothing else has: JMX's reporter was there before it stood in the list."""

SYNONYMS = {"node.id": "broker.id"}  # a broker takes the one for the other
READ_BY_AUTHORIZERS = ("super.users", "allow.everyone.if.no.acl.found")
"""What Kafka's own authorizers read, which is in no class of settings."""

PASSED_ON = ("listener.name.", "config.providers.", "rsm.config.", "rlmm.config.", "confluent.")
"""Beginnings of names that a program hands on to its parts; whether those know them is not known here."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to do something about before an upgrade."""

    danger: str  # a name in `DANGERS`
    file: str | None  # None: it is about every program of the side
    line: int | None
    name: str
    text: str
    source: str


def findings_in(
    old: str, new: str, name: str, side: str, properties: PropertiesFile, *, is_moving: bool = False
) -> Iterator[Finding]:
    """What an upgrade changes for one file: its lines, what it does not set, and what is strange about it."""
    last, values = properties.last, properties.values
    before = {each.text for each in refusals(values, side, old)}
    for refusal in refusals(values, side, new):
        so = "; so it is already" if refusal.text in before else ""
        shown = _without_secrets(refusal.text, refusal.names, last)
        yield Finding(REFUSED, name, last[refusal.names[0]].number, refusal.names[0], f"{shown}{so}", refusal.source)
    own = changes(old, new, side)
    yield from _newly_required(old, new, name, side, values)
    by_name = {change.setting: change for change in own if change.kind in ("removed", "renamed")}
    for line in last.values():
        yield from of_line(old, new, name, side, line, by_name.get(line.name))
    decided = {**{each.name: each.value for each in properties.defaults}, **values}
    yield from (_default_changed(name, change) for change in own if _counts(change, decided))
    yield from (_begins(name, change) for change in own if _does_begin(change, decided))
    if not is_moving:
        yield from _kip_848(new, name, side, last)
    yield from _authorizer(name, side, last)
    for repeated, numbers in properties.repeated.items():
        text = f"{repeated} is set in lines {listed(numbers)}; the last counts"
        yield Finding(NOTED, name, numbers[-1], repeated, text, "java.util.Properties")
    yield from (Finding(NOTED, name, None, "", note, "java.util.Properties") for note in properties.notes)
    yield from _not_read(name, side, properties)


def _not_read(name: str, side: str, properties: PropertiesFile) -> Iterator[Finding]:
    """What another tool's file has and was not read: each line that may mean a setting, of the others how many."""
    others = []
    for each in unread_in(side, replace(properties, lines=())):
        if each.near:
            text = f"{each.name} was not read ({each.why}); {each.near} may be meant"
            yield Finding(UNKNOWN, name, each.line, each.name, text, "the tool's own rule")
        else:
            others.append(f"line {each.line}, {cut(each.name, 60)}: {each.why}")
    if others:
        more = f"; and {len(others) - 3} more" if len(others) > 3 else ""
        yield Finding(NOTED, name, None, "", f"not read: {'; '.join(others[:3])}{more}", "the tool's own rule")


def _without_secrets(text: str, names: Sequence[str], last: dict[str, Line]) -> str:
    """A reason as it may be shown."""
    for each in names:
        line = last.get(each)
        if line is not None and line.value and line.shown_value != line.value:
            text = text.replace(line.value, line.shown_value)
    return text


def _newly_required(old: str, new: str, name: str, side: str, values: dict[str, str]) -> Iterator[Finding]:
    """What has no default any more; a client's program may set it itself, a broker has its file alone."""
    for setting in find_settings(release=new, side=side):
        is_given = setting.name in values or SYNONYMS.get(setting.name) in values
        if setting.in_release(new) is REQUIRED and setting.in_release(old) is not REQUIRED and not is_given:
            is_broker = side == "broker"
            where = "" if is_broker else ", here or in the program"
            text = f"{setting.name} must be set since {setting.history[-1][0]}{where}"
            yield Finding(REFUSED if is_broker else NOTED, name, None, setting.name, text, f"its class in {new}")


def of_line(old: str, new: str, name: str, side: str, line: Line, gone: Change | None) -> Iterator[Finding]:
    """A line that loses its effect, gets one, or never had any."""
    knew, knows = setting_of(line.name, side, old), setting_of(line.name, side, new)
    if knew is not None and knows is None:
        note = f": {gone.note}" if gone is not None and gone.note else ""
        since = gone.since if gone is not None else new
        source = gone.source if gone is not None else f"its class in {old} and {new}"
        yield Finding(GONE, name, line.number, line.name, f"{line.name} is gone since {since}{note}", source)
    elif knew is None and knows is not None:
        since = next(release for release, value in knows.history if value is not ABSENT)
        text = f"{line.name}={line.shown_value} has had no effect, and has one since {since}"
        yield Finding(BEHAVES, name, line.number, line.name, text, f"its class in {old} and {new}")
    elif knows is not None and (going := deprecation_of(line.name, side, new)) is not None:
        yield _deprecated(name, line, going)
    elif knew is None and side == "broker" and line.name in READ_BY_AUTHORIZERS:
        return  # `_authorizer` says what is to be said
    elif knew is None and not line.name.startswith(PASSED_ON):
        text, source = _unknown(line.name, side, old, new), f"the classes of {old} and {new}"
        yield Finding(UNKNOWN, name, line.number, line.name, text, source)


def _deprecated(name: str, line: Line, going: Deprecation) -> Finding:
    goes = f" and goes with {going.until}" if going.until else ""
    text = f"{going.name} is deprecated since {going.since}{goes}: {going.text}"
    return Finding(DEPRECATED, name, line.number, line.name, text, going.source)


def _to_go(release: str, given: Sequence[Read]) -> Iterator[Finding]:
    """What stands in a release and is to go, for these sides; what shows in settings only if it shows in these."""
    lines = _joined([file for _, _, file in given])
    sides = {whose for whose, _, _ in given}
    for fact in standing_deprecations(release):
        if sides & {*TOUCHED[fact.who]} and re.search(SEEN_IN_SETTINGS.get(fact.what, ""), lines):
            goes = f"goes with {fact.until}" if fact.until else "nobody has said when it goes"
            text = f"{fact.what} ({fact.who}, deprecated since {fact.since}; {goes}): {fact.text}"
            yield Finding(DEPRECATED, None, None, fact.what, text, fact.source)


def _unknown(name: str, side: str, old: str, new: str) -> str:
    """What can be said of a name that neither release knows on this side."""
    own = [each for each in settings_named(name) if each.side == side]
    if own:
        return f"{name}: {side}s have it in {own[0].lifetime} only"
    shown = cut(name, 60)
    others = [each.side for each in settings_named(name) if each.in_release(new) is not ABSENT]
    if others:
        return f"{shown} is a setting of the {listed(others)}, not of the {side}"
    known = [each.name for each in find_settings(release=new, side=side)]
    near = get_close_matches(name[:LONGEST_NAME], known, n=1, cutoff=0.75)
    return f"{shown} is unknown{f': did you mean {near[0]}?' if near else '; a plug-in may read it'}"


def _counts(change: Change, values: dict[str, str]) -> bool:
    """Whether a changed default matters: where nothing is set, and the setting is for users."""
    is_ours = change.setting in (*values, *SAME_WITHOUT_IT) or "internal" in change.note.split("; ")
    is_idle = is_with_zookeeper(values) and change.setting.startswith(OF_KRAFT)
    is_another = (
        change.new is not REQUIRED and change.old is not REQUIRED and not _says_the_same(change.old, change.new)
    )
    return change.kind == "changed" and not is_ours and not is_idle and is_another


def is_with_zookeeper(values: Mapping[str, str]) -> bool:
    """Whether these are the settings of a broker of a ZooKeeper cluster, which reads nothing of KRaft's.

    >>> is_with_zookeeper({"zookeeper.connect": "zk:2181"}), is_with_zookeeper({"process.roles": "broker"})
    (True, False)
    """
    return "zookeeper.connect" in values and "process.roles" not in values


def _says_the_same(old: object, new: object) -> bool:
    """Whether two maps have the same pairs, in whatever order, or two lists are both without a value."""
    if (old, new) in ((None, ""), ("", None), (None, ()), ((), None)):
        return True  # of a list, which has nothing in it either way
    if not (isinstance(old, str) and isinstance(new, str)):
        return False
    pairs = [[each.strip() for each in value.split(",")] for value in (old, new)]
    return all(each.count(":") == 1 for both in pairs for each in both) and sorted(pairs[0]) == sorted(pairs[1])


def _does_begin(change: Change, values: dict[str, str]) -> bool:
    """Whether a setting that is new begins to hold: it is not set, and its default is no endless one."""
    is_endless = change.new in (None, -1, 2**31 - 1, 2**63 - 1) or change.new is False
    return (
        change.kind == "added"
        and (change.side, change.setting) in BEGINS
        and change.setting not in values
        and not is_endless
    )


def _begins(name: str, change: Change) -> Finding:
    meaning = BEGINS[change.side, change.setting]
    text = f"{change.setting} is new and not set: {_value_text(change, change.new)} holds since {change.since}"
    return Finding(BEHAVES, name, None, change.setting, f"{text}: {meaning}", change.source)


def _value_text(change: Change, value: Value | Limit) -> str:
    assert not isinstance(value, Limit), "what is added or has another default is no limit"
    return value_text(change.setting, value)


def _authorizer(name: str, side: str, last: dict[str, Line]) -> Iterator[Finding]:
    """Lines for an authorizer, where the file names none."""
    if side != "broker" or "authorizer.class.name" in last:
        return
    for each in READ_BY_AUTHORIZERS:
        if each in last:
            text = f"{each} is read by the authorizer, and authorizer.class.name is not set: nobody reads it"
            yield Finding(NOTED, name, last[each].number, each, text, "StandardAuthorizer, AclAuthorizer")


def _default_changed(name: str, change: Change) -> Finding:
    old, new = (_value_text(change, value) for value in (change.old, change.new))
    note = f"; {change.note}" if change.note else ""
    text = f"{change.setting} is not set: {old} becomes {new} with {change.since}{note}"
    return Finding(BEHAVES, name, None, change.setting, text, change.source)


def _kip_848(new: str, name: str, side: str, last: dict[str, Line]) -> Iterator[Finding]:
    """What stands in the way of the new group protocol, for a consumer that has not asked for it yet."""
    if side != "consumer" or not at_least("4.0", new) or "group.protocol" in last:
        return
    in_the_way = [each for each in NOT_WITH_CONSUMER_PROTOCOL if each in last]
    if in_the_way:
        text = f"{listed(in_the_way)}: to be left away before group.protocol=consumer is set"
        yield Finding(NOTED, name, last[in_the_way[0]].number, in_the_way[0], text, "ConsumerConfig; KIP-848")


OF_MOVES = {"refused": REFUSED, "none": GONE, "same": NOTED}


def of_group_protocol(new: str, name: str, side: str, file: PropertiesFile) -> Iterator[Finding]:
    """What happens to each line with group.protocol=consumer, and of what a program calls, which no file shows."""
    last = file.last
    known = {move.name for move in moves("refused")}
    if side == "consumer":
        for refusal in refusals({**file.values, "group.protocol": "consumer"}, side, new):
            if refusal.names[0] not in known and refusal not in refusals(file.values, side, new):
                line = last[refusal.names[0]].number
                yield Finding(REFUSED, name, line, refusal.names[0], refusal.text, refusal.source)
    for move in moves():
        source = move.source if "KIP-848" in move.source else f"{move.source}; KIP-848"
        is_blank = move.what == "refused" and move.name in last and not last[move.name].value.strip()
        if move.kind == side and move.name in last and move.what != "new" and not is_blank:
            danger = OF_MOVES.get(move.what, BEHAVES)
            text = f"{move.name} with group.protocol=consumer: {move.becomes}"
            yield Finding(danger, name, last[move.name].number, move.name, text, source)
        elif move.kind in ("call", "error") and side == "consumer" and move.what != "same":
            yield Finding(BEHAVES, None, None, move.name, f"{move.name}: {move.becomes}", source)


def facts_for(old: str, new: str, files: Sequence[tuple[str, PropertiesFile]]) -> Iterator[Finding]:
    """What else the upgrade brings for these sides; what shows in settings only if it shows in these."""
    lines = _joined([file for _, file in files])
    seen = set()
    for side in dict.fromkeys(side for side, _ in files):
        for change in changes(old, new, side):
            key = (change.kind, change.side, change.setting)
            sign = SEEN_IN_SETTINGS.get(change.setting, "")
            if change.kind in FACTS and key not in seen and re.search(sign, lines):
                seen.add(key)
                text = f"{change.setting} ({change.side}, {change.since}): {change.note}"
                yield Finding(change.kind, None, None, change.setting, text, change.source)


def _joined(files: Iterable[PropertiesFile]) -> str:
    return "".join(f"{line.name}={line.value}\n" for file in files for line in file.lines)


ONLY_WHERE = {
    "KAFKA-15332": "only where eligible leader replicas are on, and an upgrade alone does not turn them on: "
    "kafka-features upgrade --feature eligible.leader.replicas.version=1"
}
"""Defects that a release fixes on a condition."""


def defects_between(old: str, new: str, sides: Collection[str]) -> Iterator[Finding]:
    """Kafka's own defects that lie between two releases, of the programs whose settings are given.

    They are those that `kafkalearn.oncall.defects` can show in a run; Kafka has more.
    """
    if not {"broker", "topic", "group", "consumer", "old-consumer", "producer"} & {*sides}:
        return
    gone, begun = between(old, new)
    for danger, found in ((BEGUN, begun), (FIXED, gone)):
        for each in found:
            if each.side in sides or (each.side == "broker" and {"topic", "group"} & {*sides}):
                on = f" ({ONLY_WHERE[each.name]})" if danger == FIXED and each.name in ONLY_WHERE else ""
                yield Finding(danger, None, None, each.name, f"{each.name}: {each.what}{on}", each.source)


# Which settings a program of a release refuses to start with: each is held to the type and the limit of its class,
# then they are held to each other, by rules that were tried on the clients of each release.


def refusals(values: Mapping[str, str], side: str, release: str) -> tuple[Refusal, ...]:
    """Why a program of a release would not start with these settings; empty: nothing known speaks against it.

    Parameters
    ----------
    values : mapping of str to str
        Names and values, as a properties file has them.
    side : str
        Who reads them, a name in `kafkalearn.releases.settings.SIDES`.
    release : str
        A release line or a patch.

    Examples
    --------
    >>> consumer = {"group.protocol": "consumer", "session.timeout.ms": "30000"}
    >>> [each.text for each in refusals(consumer, "consumer", "4.0")]
    ["session.timeout.ms is the broker's business with group.protocol=consumer: leave it away"]
    >>> refusals(consumer, "consumer", "3.9"), refusals({"acks": "1"}, "producer", "4.3")
    ((), ())

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``ConfigDef``, ``ProducerConfig.postProcessAndValidateIdempotenceConfigs``,
    ``KafkaProducer.configureDeliveryTimeout``, ``ConsumerConfig``, ``Heartbeat``; KIP-848.
    """
    known = {name: setting for name in values if (setting := setting_of(name, side, release)) is not None}
    found = [each for name, setting in known.items() for each in of_value(setting, values[name].strip(), release)]
    usable = {name: values[name].strip() for name in known if not PLACEHOLDER.search(values[name])}
    if not found:  # two values are compared only where each is one
        for rule in RULES.get(side, ()):
            found += rule(Given(usable, side, release))
    return tuple(found)


NOT_WITH_CONSUMER_PROTOCOL = ("heartbeat.interval.ms", "session.timeout.ms", "partition.assignment.strategy")
MOST_IN_FLIGHT = 5


@dataclass(frozen=True, slots=True)
class Given:
    """The settings of one program, with the release's defaults behind them."""

    values: Mapping[str, str]
    side: str
    release: str

    def is_set(self, name: str) -> bool:
        """Whether somebody has written it down."""
        return name in self.values

    def value(self, name: str) -> str | Value:
        """What counts: what is set, else the release's default."""
        if name in self.values:
            return self.values[name]
        setting = setting_of(name, self.side, self.release)
        return None if setting is None else setting.in_release(self.release)

    def number(self, name: str) -> int:
        """The same as a whole number; 0: it is not known or has no default."""
        value = self.value(name)
        return 0 if value is None else int(str(value))

    def is_true(self, name: str) -> bool:
        """The same as yes or no."""
        return str(self.value(name)).lower() == "true"


def _idempotence(given: Given) -> Iterator[Refusal]:
    """Who asks for idempotence, or for transactions, must not set what it cannot be with; its default gives way."""
    if not at_least("0.11.0", given.release):
        return
    name, in_flight, transactions = "enable.idempotence", "max.in.flight.requests.per.connection", "transactional.id"
    source = "ProducerConfig; KIP-98, KIP-679"
    is_asked, is_transactional = given.is_set(name), given.is_set(transactions)
    if is_asked and not given.is_true(name):
        if is_transactional:
            yield Refusal((transactions, name), f"{transactions} needs {name}=true", source)
        return
    who = f"{name}=true" if is_asked else transactions if is_transactional else f"{name}, true unless it is set,"
    if is_asked or is_transactional:
        if given.is_set("acks") and given.values["acks"] not in ("all", "-1"):
            yield Refusal(("acks", name), f"{who} needs acks=all, got acks={given.values['acks']}", source)
        if given.is_set("retries") and given.number("retries") == 0:
            yield Refusal(("retries", name), f"{who} needs retries above 0", source)
    most = MOST_IN_FLIGHT if at_least("1.0", given.release) else 1
    is_bound = is_asked or is_transactional or at_least("4.0", given.release)
    if is_bound and given.is_set(in_flight) and given.number(in_flight) > most:
        text = f"{who} needs {in_flight} of at most {most}, got {given.values[in_flight]}"
        yield Refusal((in_flight, name), text, source)


def _delivery_timeout(given: Given) -> Iterator[Refusal]:
    name = "delivery.timeout.ms"
    if not given.is_set(name) or not at_least("2.1", given.release):
        return
    linger, request = given.number("linger.ms"), given.number("request.timeout.ms")
    if given.number(name) < linger + request:
        yield Refusal(
            (name, "linger.ms", "request.timeout.ms"),
            f"{name} {given.values[name]} is below linger.ms {linger} + request.timeout.ms {request}",
            "KafkaProducer.configureDeliveryTimeout",
        )


def _group_protocol(given: Given) -> Iterator[Refusal]:
    is_new = str(given.value("group.protocol")).lower() == "consumer"
    if is_new and at_least("4.0", given.release):
        for name in NOT_WITH_CONSUMER_PROTOCOL:
            if given.is_set(name):
                yield Refusal(
                    (name, "group.protocol"),
                    f"{name} is the broker's business with group.protocol=consumer: leave it away",
                    "ConsumerConfig; KIP-848",
                )
    remote = "group.remote.assignor"
    if not is_new and given.values.get(remote) and at_least("3.9", given.release):
        yield Refusal((remote,), f"{remote} needs group.protocol=consumer", "ConsumerConfig; KIP-848")


def _heartbeat(given: Given) -> Iterator[Refusal]:
    heartbeat, session = "heartbeat.interval.ms", "session.timeout.ms"
    is_classic = str(given.value("group.protocol")).lower() != "consumer"
    if is_classic and given.is_set("group.id") and given.number(heartbeat) >= given.number(session):
        yield Refusal(
            (heartbeat, session),
            f"{heartbeat} {given.number(heartbeat)} must be below {session} {given.number(session)}",
            "Heartbeat of the Java consumer",
        )


RULES: dict[str, tuple[Callable[[Given], Iterator[Refusal]], ...]] = {
    "producer": (_idempotence, _delivery_timeout),
    "consumer": (_group_protocol, _heartbeat),
}


# The answer in words.

MOST_SHOWN = 12  # of each danger, in words


def is_general(finding: Finding) -> bool:
    """Whether a finding stands in every answer of its releases and side, and no line of a file has to do with it.

    >>> is_general(Finding("required", None, None, "Java", "Java (client, 4.0): ...", "upgrade notes of 4.0"))
    True
    >>> is_general(Finding("gone", None, None, "ZooKeeper", "ZooKeeper (broker, 4.0): ...", "upgrade notes of 4.0"))
    False
    """
    of_a_move = {move.name for move in moves() if move.kind in ("call", "error")}
    return finding.file is None and finding.name not in SEEN_IN_SETTINGS and finding.name not in of_a_move


@dataclass(frozen=True)
class Upgrade(Answer):
    """The answer to `upgrade`: the findings, the most dangerous first, what is in a file before what is general."""

    old: str
    new: str
    sides: tuple[tuple[str, str], ...]  # file, and whose settings it has
    findings: tuple[Finding, ...]
    is_whole: bool = False  # whether its words leave nothing out
    is_released: bool = True  # False: the new one is announced, and what it takes is what is deprecated now

    @property
    def outcome(self) -> Outcome:
        """Found, if there is anything but notes, and defects that go; of what is not released nothing is all-clear."""
        if any(each.danger not in (NOTED, FIXED) for each in self.findings):
            return Outcome.FOUND
        return Outcome.FINE if self.is_released else Outcome.CANNOT_TELL

    def as_data(self) -> UpgradeData:
        """As `Answer.as_data`."""
        files: list[UpgradeFile] = [{"file": name, "side": side} for name, side in self.sides]
        return {
            "old": self.old, "new": self.new, "is_released": self.is_released, "files": files,
            "findings": [*map(asdict, self.findings)],
        }  # fmt: skip

    def __str__(self) -> str:
        """What is about these files, each finding with its line and source; of what holds for all, how much it is."""
        return self.in_words(len(self.findings) if self.is_whole else MOST_SHOWN, has_general=self.is_whole)

    def in_words(self, most: int, *, has_general: bool = False) -> str:
        """The same, with at most so many findings of each danger, and with what holds whatever a file says."""
        files = listed(f"{name} ({side})" for name, side in self.sides)
        said = [wrapped(f"Kafka {self.old} to {self.new}: {files}")]
        if not self.is_released:
            said.append(
                wrapped(
                    f"{self.new} is not released: this is what {DEFAULT_RELEASE} changes and calls deprecated, as far "
                    "as it is announced; no more is known."
                )
            )
        shown = [each for each in self.findings if has_general or not is_general(each)]
        for danger, meaning in DANGERS.items():
            chosen = [*dict.fromkeys(self._sentence(each) for each in shown if each.danger == danger)]
            if not chosen:
                continue
            said.append(wrapped(f"{danger} ({meaning}): {len(chosen)}"))
            said += [wrapped(each, "  ", "    ") for each in chosen[:most]]
            if len(chosen) > most:
                said.append(f"  and {len(chosen) - most} more: --all, or --json")
        if not shown:
            said.append("nothing is known that changes for these settings")
        if not has_general and (general := [each for each in self.findings if is_general(each)]):
            said.append(wrapped(self._of_all(general)))
        return "\n".join(said)

    def _of_all(self, general: list[Finding]) -> str:
        """How much holds for every program, by danger; what must be so, by name."""
        counts = Counter(each.danger for each in general)
        parts = []
        for danger in DANGERS:
            known = [each.name for each in general if each.danger == danger and danger in (REFUSED, NEEDED)]
            names = [name for name in known if name[0].isalpha()]  # a name such as /tmp says nothing alone
            if counts[danger]:
                parts.append(f"{counts[danger]} {danger}{f' ({listed(names)})' if names else ''}")
        sides = listed(dict.fromkeys(side for _, side in self.sides))
        return f"Beside these, for every {sides}, whatever its file says: {listed(parts)}; --all has them."

    def _sentence(self, finding: Finding) -> str:
        place = "" if finding.line is None else f"line {finding.line}: "
        file = f"{finding.file}, " if finding.file and len(self.sides) > 1 else ""
        return f"{file}{place}{finding.text} [{finding.source}]"


# The command line.

SIDES = ("broker", "topic", "group", "producer", "consumer", "admin")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    parser.add_argument("old", metavar="FROM", nargs="?", help="the release that runs now, for example 3.9")
    parser.add_argument("new", metavar="TO", nargs="?", default=DEFAULT_RELEASE, help=f"else {DEFAULT_RELEASE}")
    parser.add_argument(
        "--group-protocol",
        choices=["consumer"],
        help=f"what changes if consumers move to it; without releases: on {DEFAULT_RELEASE}",
    )
    parser.add_argument(
        "--all", action="store_true", help="every finding, and what holds whatever a file says; else 12 of each kind"
    )
    files = parser.add_argument_group("files", "properties files; - is standard input, gzipped ones are unpacked")
    file_argument(files, "--file", action="append", default=[], help="whose settings it has is recognised")
    for side in SIDES:
        file_argument(files, f"--{side}", action="append", default=[], help=f"the settings of a {side}")


def answer(options: argparse.Namespace) -> Upgrade:
    """Ask `kafkalearn.oncall.upgrade`."""
    named = [(side, path) for side in SIDES for path in getattr(options, side)]
    if options.old is None and options.group_protocol is None:
        raise KafkaLearnError("from which release? Give the one that runs now, for example 3.9")
    old = options.old or options.new
    found = upgrade(old, options.new, [*options.file, *named], group_protocol=options.group_protocol)
    return replace(found, is_whole=options.all)
