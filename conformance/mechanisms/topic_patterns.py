"""Topics by pattern: what a group's coordinator writes down as matched, and which heartbeats make it match again.

A case is a run of slots, four seconds apart, so that neither the ten seconds between two matches nor the interval of
the cluster ends near one. In a slot a topic may be created; then some groups get one heartbeat each. What it led to is
read from the offsets topic: a record for each pattern that was matched, a tombstone for one that nobody has any more.
A case of one slot asks for many patterns and waits for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from hypothesis import strategies as st

from conformance.mechanism import Case, Mechanism, TooSlow
from conformance.mechanisms.consumer_groups import CONFIG_OF_4_3, JOIN
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.groups.patterns import Patterns, heartbeat, matching
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import consumer_heartbeat, error_name
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.offsets.records import decode

NAMES = ("orders", "orders-eu", "orders-us", "ORDERS", "a", "aa", "ab", "b", "a-b", "a.b", "0", "x1", "clicks", "order")
FENCE = "clicks"
PATTERN_RECORD = "CONSUMER_GROUP_REGULAR_EXPRESSION"
INVALID = "INVALID_REGULAR_EXPRESSION"
SLOT_MS, MOST_LATE_MS, REFRESH_INTERVAL_MS = 4000, 1200, 14_000
REBALANCE_MS = 300_000
MOST_SLOTS, MOST_GROUPS, FEWEST_PATTERNS, MOST_PATTERNS = 7, 10, 8, 30
LONG_ONE = 7  # one case in 16 takes half a minute
CONFIG = {
    "offsets.topic.num.partitions": 1,  # what one group made the coordinator do comes before what a later one did
    "group.coordinator.append.linger.ms": 0,
    "group.coordinator.background.threads": 1,
    "group.consumer.regex.refresh.interval.ms": REFRESH_INTERVAL_MS,
    **CONFIG_OF_4_3,
}

Written = list[list[Any]]
"""What a heartbeat led to: each pattern with the topics that it matched, or with None, if nobody has it any more."""

_PIECES = (
    "a", "b", "o", "orders", "new", "x", "-", "_", "0", ".", r"\.", r"\d", r"\w", r"\D", "[a-z]", "[^a]", r"[\w.-]",
    "[a-z0-9-]", "(a|b)", "(?:a)", "(?i:orders)", "(|a)", r"\Qa.b\E", "^", "$", "[[:alpha:]]", "(?P<n>a)", "(?i)o",
)  # fmt: skip
_WRONG = ("(?!a)", "(?=a)", "(?<=a)", r"\1", "(", "[a", "*", "a**", "[z-a]", "a{1001}", ")", "a++", r"\Z", "(?>a)")


def _is_modelled(pattern: str) -> bool:
    try:
        matching(pattern, NAMES)
    except KafkaLearnError as error:
        return INVALID in str(error)
    return True


def _patterns() -> st.SearchStrategy[str]:
    counts = st.sampled_from(["", "", "", "", "*", "+", "?", "*?", "{2}", "{1,2}", "{0,}"])
    piece = st.builds(str.__add__, st.sampled_from(_PIECES), counts)
    some = st.lists(piece, min_size=1, max_size=4).map("".join)
    wrong = st.builds(
        lambda before, bad, after: before + bad + after, st.just("") | some, st.sampled_from(_WRONG), some
    )
    several = st.lists(some, min_size=2, max_size=3).map("|".join)
    return st.one_of(some, some, several, some.map(lambda each: f"({each}).*"), wrong).filter(_is_modelled)


def cases(release: str) -> st.SearchStrategy[Case]:
    """Many patterns at once, or a few groups over half a minute."""
    once = st.lists(_patterns(), min_size=FEWEST_PATTERNS, max_size=MOST_PATTERNS).map(
        lambda those: {"slots": [{"beats": [[f"g{number}", "m", each] for number, each in enumerate(those)]}]}
    )
    few = st.sampled_from(["new.*", "orders.*", ".*", "a.*|new.*", "nothing", "(?!a)b", None, None, None, None, ""])
    beat = st.tuples(st.sampled_from([f"g{number}" for number in range(MOST_GROUPS)]), st.sampled_from("mmn"), few)
    beats = st.lists(beat.map(list), max_size=MOST_GROUPS, unique_by=lambda each: each[0])
    slot = st.fixed_dictionaries({"beats": beats, "creates": st.sampled_from([False, False, True])})
    long = st.lists(slot, min_size=MOST_SLOTS - 2, max_size=MOST_SLOTS).map(lambda those: {"slots": those})
    return st.integers(0, 15).flatmap(lambda number: long if number == LONG_ONE else once)


class Members:
    """The members of one group and their patterns; ``""`` for one that names its topics."""

    def __init__(self) -> None:
        """Nobody is there."""
        self.patterns: dict[str, str] = {}

    def sends(self, member: str, pattern: str | None) -> bool:
        """Whether a heartbeat makes sense: a member has to come with a pattern or a name."""
        return member in self.patterns or pattern is not None

    @property
    def subscribed(self) -> tuple[str, ...]:
        """The patterns that they have."""
        return tuple(each for each in self.patterns.values() if each)


class PatternPlayer:
    """Groups on a broker, and what their heartbeats made it write."""

    def __init__(self, kafka: UsedCluster, new_name: Callable[[str], str]) -> None:
        """Create what topics there are not yet."""
        self.kafka, self.new_name, self.case = kafka, new_name, new_name("pattern")
        known = kafka.topics()
        for each in NAMES:
            if each not in known:
                kafka.create_topic(each)
        self.broker = kafka.coordinator(self.case)
        self.groups: dict[str, Members] = {}
        self.epochs: dict[tuple[str, str], int] = {}
        self.wait_known(FENCE)
        self.topics = sorted(kafka.topics())
        self.first_offset = kafka.high_watermark(OFFSETS_TOPIC, 0)

    def group_id(self, label: str) -> str:
        """The name that a group has on the broker."""
        return f"{self.case}-{label}"

    def beat(self, group_id: str, member: str, pattern: str | None, topics: list[str] | None = None) -> dict[str, Any]:
        """One heartbeat of a member that owns whatever it was given."""
        epoch = self.epochs.get((group_id, member), JOIN)
        is_first = epoch == JOIN
        values = consumer_heartbeat(
            group_id, member, epoch, topics, {} if is_first else None,
            rebalance_timeout_ms=REBALANCE_MS if is_first else -1, pattern=pattern,
        )  # fmt: skip
        answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values, 1)
        if error_name(answer["errorCode"]) == "NONE":
            self.epochs[group_id, member] = answer["memberEpoch"]
        return answer

    def play(self, label: str, member: str, pattern: str | None) -> str | None:
        """The error of a heartbeat; None: there is nothing to send."""
        group = self.groups.setdefault(label, Members())
        if not group.sends(member, pattern):
            return None
        answer = self.beat(self.group_id(label), member, pattern, [FENCE] if pattern == "" else None)
        error = error_name(answer["errorCode"])
        if error == "NONE" and pattern is not None:
            group.patterns[member] = pattern
        return error

    def wait_known(self, topic: str) -> None:
        """Wait until the coordinator gives out the partition of a topic: it hears of topics after the broker."""
        numbers = count(1)
        group_id = f"{self.case}-knows-{topic}"

        def is_given() -> bool:
            answer = self.beat(f"{group_id}-{next(numbers)}", "p", None, [topic])
            return bool(answer["assignment"]["topicPartitions"])

        wait_for(is_given, True, f"topic {topic!r} at the coordinator:")

    def wait_matched(self) -> None:
        """Wait until all that was to be matched is: a group that came last has its result, and its member the topic."""
        group_id = f"{self.case}-fence"

        def is_given() -> bool:
            assignment = self.beat(group_id, "f", FENCE if (group_id, "f") not in self.epochs else None)["assignment"]
            return bool(assignment and assignment["topicPartitions"])

        wait_for(is_given, True, "a topic that a pattern matches:")

    def written(self) -> dict[str, list[tuple[int, str, list[str] | None]]]:
        """For each group the records of its patterns, with the times at which they were written."""
        found: dict[str, list[tuple[int, str, list[str] | None]]] = {}
        for each in self.kafka.records(OFFSETS_TOPIC, 0, self.first_offset):
            record = decode(each.key, each.value)
            if record.type.name == PATTERN_RECORD:
                topics = None if record.value is None else sorted(record.value["topics"])
                place = each.timestamp_ms, record.key["regularExpression"], topics
                found.setdefault(record.key["groupId"], []).append(place)
        return found


def ask(kafka: UsedCluster, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """For each slot the errors of its heartbeats, and what each made the coordinator write."""
    player = PatternPlayer(kafka, new_name)
    slots, begins = case["slots"], []
    began = time.monotonic()
    answers: list[dict[str, Any]] = []
    for number, slot in enumerate(slots):
        time.sleep(max(began + number * SLOT_MS / 1000 - time.monotonic(), 0))
        begins.append(round(time.time() * 1000))
        created = None
        if slot.get("creates"):
            created = new_name("new")
            kafka.create_topic(created)
            player.wait_known(created)
        beats = []
        for label, member, pattern in slot["beats"]:
            at_ms = round((time.monotonic() - began) * 1000)
            if len(slots) > 1 and at_ms > number * SLOT_MS + MOST_LATE_MS:
                raise TooSlow(f"a heartbeat was sent {at_ms - number * SLOT_MS} ms after its slot")
            beats.append({"at_ms": at_ms, "error": player.play(label, member, pattern)})
        answers.append({"created": created, "beats": beats})
    player.wait_matched()
    records = player.written()
    ends = [*begins[1:], float("inf")]
    for slot, answer, begin, end in zip(slots, answers, begins, ends, strict=True):
        for (label, _, _), beat in zip(slot["beats"], answer["beats"], strict=True):
            those = records.get(player.group_id(label), [])
            beat["written"] = in_order((pattern, topics) for at_ms, pattern, topics in those if begin <= at_ms < end)
    return {"topics": player.topics, "slots": answers}


def in_order(written: Iterable[tuple[str, list[str] | None]]) -> Written:
    """What was written, in one order."""
    return sorted(([pattern, topics] for pattern, topics in written), key=lambda each: (each[0], each[1] is None))


def say(release: str, case: Case, seen: dict[str, Any]) -> dict[str, Any]:
    """The same by the rule, at the times of the broker."""
    topics: dict[str, int] = dict.fromkeys(seen["topics"], 0)
    groups: dict[str, tuple[Members, Patterns]] = {}
    slots = []
    for number, (slot, told) in enumerate(zip(case["slots"], seen["slots"], strict=True), 1):
        if told["created"] is not None:
            topics[told["created"]] = number
        beats = []
        for (label, member, pattern), beat in zip(slot["beats"], told["beats"], strict=True):
            members, known = groups.get(label, (Members(), Patterns(())))
            found, known = _beaten(release, members, known, member, pattern, beat["at_ms"], topics)
            groups[label] = members, known
            beats.append({"at_ms": beat["at_ms"], **found})
        slots.append({"created": told["created"], "beats": beats})
    return {"topics": seen["topics"], "slots": slots}


def _beaten(
    release: str,
    members: Members,
    known: Patterns,
    member: str,
    pattern: str | None,
    at_ms: int,
    topics: Mapping[str, int],
) -> tuple[dict[str, Any], Patterns]:
    """What a heartbeat leads to, and what is known of the group's patterns then."""
    if not members.sends(member, pattern):
        return {"error": None, "written": []}, known
    try:
        matching(pattern or "", ())
    except KafkaLearnError as error:
        if INVALID not in str(error):
            raise
        return {"error": INVALID, "written": []}, known
    before = members.subscribed
    if pattern is not None:
        members.patterns[member] = pattern
    after = members.subscribed
    beaten = heartbeat(known, at_ms, topics, subscribed=after, refresh_interval_ms=REFRESH_INTERVAL_MS, release=release)
    gone: list[tuple[str, list[str] | None]] = [(each, None) for each in sorted({*before} - {*after})]
    is_matched = beaten.refreshed_ms == at_ms and beaten != known
    matched = [(each, sorted(found)) for each, found in beaten.resolved.items()] if is_matched else []
    return {"error": "NONE", "written": in_order([*gone, *matched])}, beaten


TOPIC_PATTERNS = Mechanism(
    name="topics by pattern",
    rules=("topics by pattern",),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=2,
)
