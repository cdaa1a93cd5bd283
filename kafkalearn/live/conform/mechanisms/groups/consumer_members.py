"""What members of a KIP-848 group know: the epochs that they were answered, and what they were assigned.

The steps of a case speak of them ("the epoch that it knows, and one more"), so that they make sense whatever came
before. Here they become requests with numbers, in the form of tests/vectors/group/kip848-requests.json. The player of
the broker and the one of the simulator have such a book each, and write into it what each was answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Step = Mapping[str, Any]

JOIN, LEAVE, STEP_ASIDE = 0, -1, -2  # member epochs that are none
ALL, NOTHING, HALF, LOST = "all", "nothing", "half", "lost"


class Members:
    """The members of one group as they see themselves, and the topics of the cluster."""

    def __init__(self) -> None:
        """Nobody was answered anything; no topic was created."""
        self.epochs: dict[str, int] = {}
        self.former_epochs: dict[str, int] = {}  # before the last answer
        self.assigned: dict[str, dict[str, list[int]]] = {}
        self.former_assigned: dict[str, dict[str, list[int]]] = {}
        self.instances: dict[str, str | None] = {}
        self.topics: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # how often a topic of a name was created

    def request(self, step: Step) -> dict[str, Any] | None:
        """The request that a step stands for; None: there is nothing to do."""
        member = step.get("m")
        match step["op"]:
            case "join":
                return {
                    "op": "heartbeat", "member": member, "epoch": JOIN, "topics": step["topics"], "owned": {},
                    "rebalance_ms": step["rebalance_ms"], **_given(step, "instance", "assignor", "version"),
                }  # fmt: skip
            case "beat":
                epoch = self.former_epochs if step.get("owned") == LOST else self.epochs
                owned = {} if "owned" not in step else {"owned": self.owned(member, step["owned"])}
                sent = {"op": "heartbeat", "member": member, "epoch": epoch.get(member, 1) + step.get("more", 0)}
                return sent | owned | self._instance(member) | _given(step, "topics", "assignor", "version")
            case "leave":
                epoch = STEP_ASIDE if step.get("aside") else LEAVE
                return {"op": "heartbeat", "member": member, "epoch": epoch, **self._instance(member)}
            case "commit" if member is None:
                return {"op": "commit", "member": "", "epoch": -1, **_given(step, "partitions", "version")}
            case "commit":
                epoch = self.epochs.get(member, 1) + step.get("more", 0)
                return {"op": "commit", "member": member, "epoch": epoch, **_given(step, "partitions", "version")}
            case "fetch" if member is None:
                return {"op": "fetch", "member": None, "epoch": -1}
            case "fetch":
                return {"op": "fetch", "member": member, "epoch": self.epochs.get(member, 1) + step.get("more", 0)}
            case "topic":
                return self._topic(step)
        return dict(step)

    def owned(self, member: str, which: str) -> dict[str, list[int]]:
        """What a member says that it owns: all that it was assigned, half of it, nothing, or what it had before."""
        assigned = (self.former_assigned if which == LOST else self.assigned).get(member, {})
        match which:
            case "nothing":
                return {}
            case "half":
                return {topic: numbers[: (len(numbers) + 1) // 2] for topic, numbers in assigned.items()}
        return assigned

    def _instance(self, member: str) -> dict[str, str]:
        instance = self.instances.get(member)
        return {} if instance is None else {"instance": instance}

    def _topic(self, step: Step) -> dict[str, Any] | None:
        """A topic is created, grows or is deleted: what the step asks for, if it can be done."""
        topic, wanted = step["topic"], step["partitions"]
        count = self.topics.get(topic)
        if wanted is None:
            return None if count is None else {"op": "topic", "topic": topic, "partitions": None}
        return None if count is not None and count >= wanted else {"op": "topic", "topic": topic, "partitions": wanted}

    def take(self, sent: Step, answer: Mapping[str, Any]) -> None:
        """Write down what a request was answered."""
        if sent["op"] == "topic":
            self._take_topic(sent)
        if sent["op"] != "heartbeat" or answer["error"] != "NONE":
            return
        member = sent["member"]
        if answer["epoch"] < 0:
            self.epochs.pop(member, None)
            return
        self.former_epochs[member] = self.epochs.get(member, 1)
        self.former_assigned[member] = self.assigned.get(member, {})
        self.epochs[member], self.instances[member] = answer["epoch"], sent.get("instance")
        if "assignment" in answer:
            self.assigned[member] = answer["assignment"]

    def _take_topic(self, sent: Step) -> None:
        topic = sent["topic"]
        if sent["partitions"] is None:
            del self.topics[topic]
            return
        if topic not in self.topics:
            self.numbers[topic] = self.numbers.get(topic, 0) + 1
            former = self.former_name(topic)
            for book in (self.assigned, self.former_assigned):
                for member, assigned in book.items():
                    book[member] = {former if name == topic else name: numbers for name, numbers in assigned.items()}
        self.topics[topic] = sent["partitions"]

    def former_name(self, topic: str) -> str:
        """What the topic is called that had this name before."""
        return f"{topic}@{self.numbers[topic] - 1}"


def _given(step: Step, *names: str) -> dict[str, Any]:
    return {name: step[name] for name in names if name in step}
