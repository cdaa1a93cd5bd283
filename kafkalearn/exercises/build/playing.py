"""The requests of a stage, sent to a coordinator one by one: to a class in this Python, in time that is counted.

A script is a list of steps, each plain data: a request of a client, ``{"client": "a", "request": "Heartbeat",
"version": 3, "fields": {...}}``, or time that passes, ``{"wait_ms": 600}``. What is drawn at random stands in a script
by a name in angle brackets: ``"<member a>"`` is the id that client a was answered, ``"<topic orders>"`` the id of a
topic, ``"<group billing>"`` a group that nobody has used before. `Names` notes what they are in this run.

What came is a list for each step: the answers that came after it and before the next step, each with the number of the
step that has asked. A coordinator may answer at once or later, so a class gets with each request a function to reply
with.
"""

from __future__ import annotations

import heapq
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.given import taken

Step = Mapping[str, Any]
Came = dict[str, Any]
"""``{"step": 4, "answer": {...}}``; in place of the answer what went wrong: ``"lacks"``, ``"raised"``, ``"twice"``."""

REQUEST_MS = 1
"""How much of the counted time a request takes."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the cluster."""

    id: str  # 22 characters, as Kafka prints it
    partitions: int


TOPICS = MappingProxyType({"orders": Topic("b3JkZXJzLW9yZGVycy1vcg", 3)})
BROKER_ID, BROKER_IDS, OFFSETS_PARTITIONS = 1, (1, 2, 3), 50
SETTINGS: Mapping[str, int] = MappingProxyType(
    {
        "group.initial.rebalance.delay.ms": 1000,
        "group.min.session.timeout.ms": 1000,
        "group.max.session.timeout.ms": 1_800_000,
        "offset.metadata.max.bytes": 4096,
        "offsets.retention.minutes": 1,
        "offsets.retention.check.interval.ms": 500,
        "group.consumer.heartbeat.interval.ms": 500,
        "group.consumer.session.timeout.ms": 5000,
    }
)
"""The settings of the brokers that were recorded, by Kafka's names: so short that little is waited for."""


class Broker:
    """The broker that a coordinator lives in, as it is given to a class: who is there, what time it is, a timer.

    It is broker 1 of three. Partition p of the 50 of ``__consumer_offsets`` is led by broker ``p % 3 + 1``.

    Examples
    --------
    >>> broker = Broker()
    >>> broker.after(300, lambda: print("300 ms later it is", broker.now_ms))
    >>> broker.advance(1000)
    300 ms later it is 300
    >>> broker.id, broker.broker_ids, broker.topics["orders"].partitions
    (1, (1, 2, 3), 3)
    """

    id = BROKER_ID
    broker_ids = BROKER_IDS
    offsets_partitions = OFFSETS_PARTITIONS
    topics = TOPICS
    settings = SETTINGS

    def __init__(self) -> None:
        """It is 0 ms, and nothing is to be done."""
        self.now_ms = 0
        self._timers: list[tuple[int, int, Callable[[], object]]] = []
        self._numbers = count()

    def after(self, delay_ms: int, call: Callable[[], object]) -> None:
        """Call a function without arguments, once, when so many milliseconds have passed; it cannot be taken back."""
        heapq.heappush(self._timers, (self.now_ms + max(0, int(delay_ms)), next(self._numbers), call))

    def advance(self, ms: int) -> None:
        """Let time pass; what is due is called in its order."""
        until = self.now_ms + ms
        while self._timers and self._timers[0][0] <= until:
            self.now_ms, _, call = heapq.heappop(self._timers)
            call()
        self.now_ms = until


# Names for what is drawn at random.

_MEMBER, _TOPIC = "<member {}>", "<topic orders>"
_NAME = re.compile(r"<(member|topic|group) [^<>]+>")
REQUIRED = "MEMBER_ID_REQUIRED"
_GIVES_AN_ID = (0, 79, "NONE", REQUIRED, None)


@dataclass(slots=True)
class Names:
    """What the names of a script stand for in one run.

    Examples
    --------
    >>> names = Names({"<group billing>": "billing"})
    >>> names.note("a", "JoinGroup", {"errorCode": "MEMBER_ID_REQUIRED", "memberId": "a-17"})
    >>> names.filled({"groupId": "<group billing>", "memberId": "<member a>"})
    {'groupId': 'billing', 'memberId': 'a-17'}
    >>> names.named({"leader": "a-17"})
    {'leader': '<member a>'}
    """

    known: dict[str, object] = field(default_factory=dict)

    def note(self, client: str, request: str, answer: object) -> None:
        """Take the ids from an answer: of a member that is given one, and of the topic of an assignment."""
        if not isinstance(answer, Mapping):
            return
        given = answer.get("memberId")
        if request == "JoinGroup" and answer.get("errorCode") in _GIVES_AN_ID and isinstance(given, str) and given:
            self.known[_MEMBER.format(client)] = given
        assignment = answer.get("assignment")
        places = assignment.get("topicPartitions") if isinstance(assignment, Mapping) else None
        if isinstance(places, list) and places and isinstance(places[0], Mapping) and _TOPIC not in self.known:
            self.known[_TOPIC] = places[0].get("topicId")

    def filled(self, fields: Any) -> Any:
        """Fields of a request with what their names stand for.

        Raises
        ------
        KafkaLearnError
            If one of them stands for nothing yet.
        """
        if isinstance(fields, Mapping):
            return {name: self.filled(each) for name, each in fields.items()}
        if isinstance(fields, list):
            return [self.filled(each) for each in fields]
        if isinstance(fields, str) and _NAME.fullmatch(fields):
            if fields not in self.known:
                raise KafkaLearnError(f"{fields} was not given yet: an answer before this should have said it")
            return self.known[fields]
        return fields

    def named(self, fields: Any) -> Any:
        """Fields of an answer with the names in place of what was drawn."""
        if isinstance(fields, Mapping):
            return {name: self.named(each) for name, each in fields.items()}
        if isinstance(fields, list):
            return [self.named(each) for each in fields]
        if isinstance(fields, str):
            return next((name for name, known in reversed(self.known.items()) if known == fields), fields)
        return fields


def names_here(groups: Callable[[str], str] = str) -> Names:
    """The names that are known before a run: the groups of all scripts, each called as `groups` says."""
    return Names({f"<group {each}>": groups(each) for each in ("billing", "refunds", "search")})


def names_in_python() -> Names:
    """The same for a class in this Python, which is told the id of the topic."""
    names = names_here()
    names.known[_TOPIC] = TOPICS["orders"].id
    return names


# A class of the reader's own.

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "FindCoordinator": "find_coordinator",
        "JoinGroup": "join_group",
        "SyncGroup": "sync_group",
        "Heartbeat": "heartbeat",
        "LeaveGroup": "leave_group",
        "OffsetCommit": "offset_commit",
        "OffsetFetch": "offset_fetch",
        "DeleteGroups": "delete_groups",
        "ConsumerGroupHeartbeat": "consumer_group_heartbeat",
    }
)
"""The method that answers each kind of request."""


def played(kind: Callable[[Broker], Any], script: Sequence[Step]) -> list[list[Came]]:
    """What an instance of a class answers to a script: for each step the answers that came after it.

    Parameters
    ----------
    kind : class
        ``kind(broker)`` makes a coordinator that has answered nothing yet; each kind of request is a method of
        `METHODS` that is called with the request's fields and a function to reply with, at once or later.
    script : list of steps
        As this module has it. It ends early where something went wrong.

    Examples
    --------
    >>> class Mine:
    ...     def __init__(self, broker):
    ...         pass
    ...     def heartbeat(self, request, reply):
    ...         reply({"errorCode": "UNKNOWN_MEMBER_ID"})
    >>> asked = {"client": "a", "request": "Heartbeat", "fields": {"groupId": "<group billing>"}}
    >>> played(Mine, [asked])
    [[{'step': 0, 'answer': {'errorCode': 'UNKNOWN_MEMBER_ID'}}]]
    >>> played(Mine, [{**asked, "request": "JoinGroup"}])
    [[{'step': 0, 'lacks': 'join_group'}]]
    """
    return _Run(kind, script).whole()


class _Run:
    """One run of a script with one instance of a class."""

    def __init__(self, kind: Callable[[Broker], Any], script: Sequence[Step]) -> None:
        self.kind, self.script, self.broker = kind, script, Broker()
        self.names = names_in_python()
        self.came: list[list[Came]] = []
        self.coordinator: Any = None

    def whole(self) -> list[list[Came]]:
        for number, step in enumerate(self.script):
            self.came.append([])
            try:
                self.play(number, step)
            except KafkaLearnError:  # a name that stands for nothing: an answer before was another than Kafka's
                break
            except Exception as error:  # whatever a student's code raises is the thing to explain
                self.came[-1].append({"step": number, "raised": _in_words(error)})
            if any("answer" not in each for each in self.came[-1]):
                break
        return self.came

    def play(self, number: int, step: Step) -> None:
        if self.coordinator is None:
            self.coordinator = self.kind(self.broker)
        if "wait_ms" in step:
            self.broker.advance(step["wait_ms"])
            return
        name = METHODS[step["request"]]
        method = getattr(self.coordinator, name, None)
        if method is None:
            self.came[-1].append({"step": number, "lacks": name})
            return
        method(as_bytes(self.names.filled(step["fields"])), self.reply(number, step))
        self.broker.advance(REQUEST_MS)

    def reply(self, number: int, step: Step) -> Callable[[object], None]:
        answered: list[object] = []

        def reply(answer: object) -> None:
            """Answer the request."""
            answer = taken(answer)
            if answered:
                self.came[-1].append({"step": number, "twice": answer})
                return
            answered.append(answer)
            self.names.note(step["client"], step["request"], answer)
            self.came[-1].append({"step": number, "answer": answer})

        return reply


def as_bytes(fields: Any) -> Any:
    """Fields with their bytes: JSON has them as ``{"bytes": text}``, a character a byte.

    >>> as_bytes({"metadata": {"bytes": "a"}})
    {'metadata': b'a'}
    """
    if isinstance(fields, Mapping):
        if fields.keys() == {"bytes"}:
            return fields["bytes"].encode("latin-1")
        return {name: as_bytes(each) for name, each in fields.items()}
    return [as_bytes(each) for each in fields] if isinstance(fields, list) else fields


def as_json(fields: Any) -> Any:
    """The other way round.

    >>> as_json({"metadata": b"a"})
    {'metadata': {'bytes': 'a'}}
    """
    if isinstance(fields, bytes):
        return {"bytes": fields.decode("latin-1")}
    if isinstance(fields, Mapping):
        return {name: as_json(each) for name, each in fields.items()}
    return [as_json(each) for each in fields] if isinstance(fields, list) else fields


def _in_words(error: Exception) -> list[str]:
    """The name of an exception, what it says, and the line of the reader's code where it was raised."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__]
    line = f"{frames[-1].name}, line {frames[-1].lineno}: {frames[-1].line or ''}".rstrip(": ") if frames else ""
    try:
        words = str(error)[:500]
    except Exception:
        words = ""
    return [type(error).__name__, words, line]
