"""What a coordinator answered beside what a real Kafka answered to the same requests: the first difference, in words.

Compared is what a client acts on: of an answer that is an error the error alone, with the id that comes with
MEMBER_ID_REQUIRED; of others every field but those of `NOT_COMPARED`. A field that an answer lacks counts as null, a
missing ``errorCode`` as NONE, and an error may be said by name or by number. The order within a list does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kafkalearn.exercises.build.playing import REQUIRED, Came, Names, Step, as_json
from kafkalearn.exercises.kit.result import Block, Said, Sentence, as_words, say

NOT_COMPARED = frozenset({"throttleTimeMs", "errorMessage", "host", "port", "committedLeaderEpoch", "skipAssignment"})
"""Words for people, addresses, and what no stage is about."""
NAMING = ("groupId", "name", "partitionIndex", "topicId", "memberId", "groupInstanceId")
"""The fields by which an entry of a list is known."""
NONE = "NONE"
ERRORS: Mapping[int, str] = MappingProxyType(
    {
        0: NONE,
        3: "UNKNOWN_TOPIC_OR_PARTITION",
        12: "OFFSET_METADATA_TOO_LARGE",
        14: "COORDINATOR_LOAD_IN_PROGRESS",
        15: "COORDINATOR_NOT_AVAILABLE",
        16: "NOT_COORDINATOR",
        22: "ILLEGAL_GENERATION",
        23: "INCONSISTENT_GROUP_PROTOCOL",
        24: "INVALID_GROUP_ID",
        25: "UNKNOWN_MEMBER_ID",
        26: "INVALID_SESSION_TIMEOUT",
        27: "REBALANCE_IN_PROGRESS",
        28: "INVALID_COMMIT_OFFSET_SIZE",
        35: "UNSUPPORTED_VERSION",
        42: "INVALID_REQUEST",
        68: "NON_EMPTY_GROUP",
        69: "GROUP_ID_NOT_FOUND",
        79: REQUIRED,
        81: "GROUP_MAX_SIZE_REACHED",
        82: "FENCED_INSTANCE_ID",
        110: "FENCED_MEMBER_EPOCH",
        111: "UNRELEASED_INSTANCE_ID",
        112: "UNSUPPORTED_ASSIGNOR",
        113: "STALE_MEMBER_EPOCH",
    }
)
"""The errors of a coordinator by their numbers, as Kafka 4.4's ``Errors`` has them."""


def normal(answer: Any) -> Any:
    """An answer as it is compared and recorded.

    >>> normal({"throttleTimeMs": 0, "errorCode": 79, "generationId": -1, "memberId": "<member a>"})
    {'errorCode': 'MEMBER_ID_REQUIRED', 'memberId': '<member a>'}
    >>> normal({"members": [{"memberId": "b"}, {"memberId": "a", "groupInstanceId": None}]})
    {'members': [{'memberId': 'a', 'groupInstanceId': None}, {'memberId': 'b'}]}
    """
    if isinstance(answer, Mapping):
        error = answer.get("errorCode", NONE)
        error = ERRORS.get(error, f"ERROR_{error}") if type(error) is int else error
        kept = {name: normal(each) for name, each in answer.items() if name not in NOT_COMPARED}
        if "errorCode" not in answer:
            return kept
        if error != NONE:
            named = [
                name for name in NAMING if kept.get(name) is not None and (name != "memberId" or _says_whose(answer))
            ]
            kept = {name: kept[name] for name in named}
        return {"errorCode": error, **{name: each for name, each in kept.items() if name != "errorCode"}}
    if isinstance(answer, list | tuple):
        return sorted(map(normal, answer), key=_place)
    return answer


def _says_whose(answer: Mapping[str, Any]) -> bool:
    """Whether an error has an id that counts: one that is given, or that of an entry in a list."""
    return answer.get("errorCode") in (79, REQUIRED) or "generationId" not in answer


def _place(entry: object) -> tuple[str, ...]:
    """Where an entry of a list stands."""
    if isinstance(entry, Mapping):
        found = [entry.get(name) for name in NAMING]
        return tuple("" if each is None else str(each).rjust(6) for each in found)
    return (str(entry).rjust(6),)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place at which answers are others than Kafka's."""

    number: int  # of the request, from 0
    step: Step
    sentence: Said
    came: object  # what was answered; None: nothing
    kafka: object  # what Kafka answered; None: nothing at that time
    kind: str  # OTHERWISE, SILENT, EARLY, ..., as below


OTHERWISE, SILENT, EARLY, LACKS, RAISED, TWICE, SAME_ID = (
    "otherwise", "silent", "early", "lacks", "raised", "twice", "same id",
)  # fmt: skip


@dataclass(slots=True)
class Comparison:
    """One run of a stage beside the recording, step by step.

    Parameters
    ----------
    recorded : list of steps
        Each with its ``"answers"``, as `kafkalearn.exercises.build.playing.Came`, in their normal form.
    names : Names
        What is known before the first answer: what the groups are called in this run.
    """

    recorded: Sequence[Step]
    names: Names
    history: list[tuple[Step, list[Came]]] = field(default_factory=list)

    def take(self, number: int, came: Sequence[Came]) -> Difference | None:
        """The first difference of what came after one step; None: there is none.

        Parameters
        ----------
        number : int
            Of the step, from 0; they come in order.
        came : list
            The answers after it.
        """
        found: list[Came] = []
        for each in came:
            if "answer" in each:
                client, request = self._asked(each["step"])
                if (same := self._same_id(each, client, request)) is not None:
                    return same
                self.names.note(client, request, each["answer"])
        for each in came:
            found.append(
                {**each, "answer": normal(self.names.named(as_json(each["answer"])))} if "answer" in each else each
            )
        self.history.append((self.recorded[number], found))
        return next(self._differences(number, found), None)

    def _asked(self, number: int) -> tuple[str, str]:
        return self.recorded[number]["client"], self.recorded[number]["request"]

    def _same_id(self, each: Came, client: str, request: str) -> Difference | None:
        """An id of a member that another one has."""
        answer = each["answer"]
        given = answer.get("memberId") if isinstance(answer, Mapping) else None
        if request != "JoinGroup" or not isinstance(given, str) or not given:
            return None
        for name, known in self.names.known.items():
            wanted = {f"<member {client}>", self.recorded[each["step"]]["fields"]["memberId"]}
            if known == given and name.startswith("<member") and name not in wanted and _gives(answer):
                sentence = say("it gives {} the id that {} has.", as_words(client), as_words(name[8:-1]))
                return self._difference(each["step"], sentence, given, None, SAME_ID)
        return None

    def _differences(self, number: int, came: Sequence[Came]) -> Iterator[Difference]:
        expected = {each["step"]: each["answer"] for each in self.recorded[number]["answers"]}
        for each in came:
            step = each["step"]
            if "answer" not in each:
                yield self._went_wrong(each)
            elif step not in expected:
                yield self._too_early(number, each)
            elif (place := difference_of(expected[step], each["answer"])) is not None:
                where, kafka, answered = place
                sentence = say("{} is {}, and Kafka answers {}.", as_words(where), in_short(answered), in_short(kafka))
                yield self._difference(step, sentence, each["answer"], expected[step], OTHERWISE)
        answered_steps = {each["step"] for each in came}
        for step in sorted(expected.keys() - answered_steps):
            words = "it is not answered, and Kafka answers {}" + (
                " then." if step == number else f" {self._when(number)}."
            )
            yield self._difference(step, say(words, in_short(expected[step])), None, expected[step], SILENT)

    def _too_early(self, number: int, each: Came) -> Difference:
        step = each["step"]
        later = [
            at for at, one in enumerate(self.recorded) if at > number and any(a["step"] == step for a in one["answers"])
        ]
        if later:
            words = f"it is answered {self._when(number, step)}, and Kafka answers it {self._when(later[0])}."
        else:
            words = "it is answered, and Kafka does not answer it for as long as the stage goes on."
        return self._difference(step, say(words), each["answer"], None, EARLY)

    def _when(self, number: int, asked: int | None = None) -> str:
        """After which step, in words."""
        if number == asked:
            return "at once"
        step = self.recorded[number]
        if "wait_ms" in step:
            return f"while {step['wait_ms']} ms pass (step {number + 1})"
        return f"after request {number + 1}"

    def _went_wrong(self, each: Came) -> Difference:
        step = each["step"]
        if "lacks" in each:
            return self._difference(step, say("there is no method {} yet.", as_words(each["lacks"])), None, None, LACKS)
        if "twice" in each:
            return self._difference(
                step, say("it is answered a second time, with {}.", in_short(each["twice"])), None, None, TWICE
            )
        name, words, line = each["raised"]
        sentence = say(
            "{} was raised{}{}", as_words(name), as_words(f": {words}") if words else as_words("."), _at(line)
        )
        return self._difference(step, sentence, None, None, RAISED)

    def _difference(self, step: int, sentence: Said, came: object, kafka: object, kind: str) -> Difference:
        return Difference(step, self.recorded[step], sentence, came, kafka, kind)


def _at(line: str) -> Said:
    return say(" ({})", as_words(line)) if line else say("")


def _gives(answer: Mapping[str, Any]) -> bool:
    return answer.get("errorCode", NONE) in (0, 79, NONE, REQUIRED)


def difference_of(kafka: Any, came: Any, where: str = "the answer") -> tuple[str, object, object] | None:
    """Where two answers in their normal form differ first, and what each has there; None: nowhere.

    >>> difference_of({"errorCode": "NONE", "members": [{"memberId": "a"}]}, {"members": []})
    ('members', [{'memberId': 'a'}], [])
    >>> difference_of({"errorCode": "NONE"}, {"errorCode": "NONE", "more": 1})
    """
    if isinstance(kafka, Mapping) and kafka.keys() != {"bytes"}:
        if not isinstance(came, Mapping):
            return where, kafka, came
        begin = "" if where == "the answer" else f"{where}."
        for name, each in kafka.items():
            found = came.get(name, NONE if name == "errorCode" else None)
            if (place := difference_of(each, found, f"{begin}{name}")) is not None:
                return place
        error = came.get("errorCode", NONE)
        return None if "errorCode" in kafka or error == NONE else (f"{begin}errorCode", NONE, error)
    if isinstance(kafka, list):
        if not isinstance(came, list) or len(came) != len(kafka):
            return where, kafka, came
        pairs = enumerate(zip(kafka, came, strict=True))
        return next((place for at, (one, two) in pairs if (place := difference_of(one, two, f"{where}[{at}]"))), None)
    return None if type(kafka) is type(came) and kafka == came else (where, kafka, came)


MOST_LINES, WIDTH = 9, 110


def told(history: Sequence[tuple[Step, list[Came]]], first: int = 0) -> Block:
    """The last steps of a run, a line each: what was asked, and what came.

    >>> step = {"client": "a", "request": "Heartbeat", "fields": {"groupId": "g", "generationId": 1}}
    >>> print(told([(step, [{"step": 0, "answer": {"errorCode": "NONE"}}]), ({"wait_ms": 50}, [])]))
     1  a: Heartbeat generationId=1
          answered: errorCode=NONE
     2  50 ms pass
    """
    lines = []
    for number, (step, came) in enumerate(history, first + 1):
        what = f"{step['wait_ms']} ms pass" if "wait_ms" in step else _asked(step)
        lines.append(f"{number:>2}  {what}")
        for each in (one for one in came if "answer" in one):
            whose = "" if each["step"] == number - 1 else f" to request {each['step'] + 1}"
            lines.append(f"      answered{whose}: {in_short(each['answer'])}")
    return Block("\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in lines))


def _asked(step: Step) -> str:
    """A request in a line: what is the same in every stage is left out."""
    shown = {
        name: [one["name"] for one in each] if name == "protocols" else each
        for name, each in step["fields"].items()
        if each not in (None, "") and name not in _ALWAYS_THE_SAME
    }
    return f"{step['client']}: {step['request']} {in_short(shown)}"


_ALWAYS_THE_SAME = ("groupId", "protocolType", "keyType", "committedLeaderEpoch", "sessionTimeoutMs")


def in_short(fields: object) -> Sentence:
    """Fields of an answer as words: their names and values, the texts without quotes.

    >>> print(in_short({"errorCode": "NONE", "members": [{"memberId": "<member a>"}], "assignment": None}))
    errorCode=NONE, members=[(memberId=<member a>)], assignment=null
    """
    return as_words(_short(fields, is_outer=True))


def _short(fields: object, is_outer: bool = False) -> str:
    if isinstance(fields, Mapping):
        if fields.keys() == {"bytes"}:
            return repr(str(fields["bytes"]).encode("latin-1", "replace"))
        text = ", ".join(f"{name}={_short(each)}" for name, each in fields.items() if name != "committedLeaderEpoch")
        return text if is_outer else f"({text})"
    if isinstance(fields, list):
        return f"[{', '.join(map(_short, fields))}]"
    text = "null" if fields is None else str(fields) or "''"
    return f"{text[:40]}... ({len(text)} long)" if len(text) > 60 else text
