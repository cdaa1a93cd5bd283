"""Plays a recorded script of old consumers on the simulator, operation by operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kafkalearn.zookeeper import connector
from kafkalearn.zookeeper.connector.model import GaveUp, Group, RebalanceBegan, Rebalanced, RecordsRead, Threw
from kafkalearn.zookeeper.layout import consumer_path, group_path, ids_path, read_registration
from kafkalearn.zookeeper.schedules import settle
from kafkalearn.zookeeper.subscriptions import Filtered, InvalidFilter, Streams, TopicFilter
from kafkalearn.zookeeper.tree import Create, Delete, SessionOpened
from kafkalearn.zookeeper.tree import step as step_tree

KINDS = {"white": "white_list", "black": "black_list"}
IN_THE_WAY = "NodeExists"


def settings_of(script: dict, more: dict | None = None) -> connector.Settings:
    """The settings that a script was recorded with."""
    config = {**script["config"], **(more or {})}
    return connector.Settings(
        script["group"],
        config.get("partition.assignment.strategy", "range"),
        rebalance_backoff_ms=700,
        auto_commit_enable=config.get("auto.commit.enable") == "true",
        auto_offset_reset=config.get("auto.offset.reset", "smallest"),
        consumer_timeout_ms=int(config.get("consumer.timeout.ms", -1)),
        zookeeper_session_timeout_ms=int(config.get("zookeeper.session.timeout.ms", 3000)),
    )


@dataclass
class Player:
    """A group in which the operations of a script happen; `choose` is who is quicker."""

    script: dict
    step: Callable
    choose: object = None
    group: Group | None = None
    read: dict[str, list] = field(default_factory=dict)
    threw: dict[str, list] = field(default_factory=dict)
    rebalances: dict[str, list] = field(default_factory=dict)
    killed: list[str] = field(default_factory=list)  # sessions that have yet to expire

    def __post_init__(self) -> None:
        self.settings = settings_of(self.script)
        self.group = connector.start(self.settings)
        self._do(connector.BrokerStarted(0))

    def play(self, recorded: dict) -> dict | None:
        """Do one operation; what came of it while a consumer was frozen, else None."""
        self.read, self.threw, self.rebalances, frozen = {}, {}, {}, None
        op = recorded["op"]
        is_late = any(IN_THE_WAY in word for words in recorded.get("errors", {}).values() for word in words)
        if not is_late:
            self._expire()
        if op["op"] == "freeze":
            frozen = self._freeze(op, is_long=set(recorded["while_frozen"]["ids"]) != set(recorded["ids"]))
        else:
            for event in self._events(op):
                self._do(event)
        self._settle()
        if is_late or (op["op"] == "kill" and consumer_id(self.script, op["member"]) not in recorded["ids"]):
            self._expire()
        self._read()
        return frozen

    def _freeze(self, op: dict, is_long: bool) -> dict:
        stopped = (op["member"],)
        if is_long:
            self._do(connector.SessionExpired(self.group.connector(op["member"]).session))
        self._settle(stopped)
        self._read(stopped)
        return {"ids": sorted(self.ids), "owners": self.owners}

    def _expire(self) -> None:
        for session in self.killed:
            self._do(connector.SessionExpired(session))
        self.killed = []
        self._settle()

    def _events(self, op: dict) -> list:
        match op["op"]:
            case "create":
                return [connector.TopicCreated(op["topic"], op["partitions"])]
            case "grow":
                return [connector.TopicGrown(op["topic"], op["to"])]
            case "delete_topic":
                return [connector.TopicDeleted(op["topic"])]
            case "produce":
                return [connector.Produce(op["topic"], number, op["each"]) for number in range(op["partitions"])]
            case "join":
                return self._joins(op)
            case "leave":
                return [connector.Shutdown(op["member"])]
            case "kill":
                self.killed.append(self.group.connector(op["member"]).session)
                return [connector.Crash(op["member"])]
            case "commit":
                return [connector.CommitOffsets(op["member"])]
            case "stop_broker":
                return [connector.BrokerStopped(0)]
            case "start_broker":
                return [connector.BrokerStarted(0)]
            case "plant":
                self._plant(op)
            case "remove":
                self._in_tree(Delete("somebody", op["path"]))
        return []

    def _joins(self, op: dict) -> list:
        member = op["member"]
        try:
            settings_of(self.script, op.get("config"))
            if "topics" in op:
                subscription = Streams(op["topics"])
            else:
                kind, regex, count = op["filter"]
                subscription = Filtered(TopicFilter(KINDS[kind], regex), count)
        except InvalidFilter as reason:
            self.threw.setdefault(member, []).append(f"java.lang.RuntimeException: {reason}")
            return []
        except ValueError as reason:
            self.threw.setdefault(member, []).append(f"kafka.common.InvalidConfigException: {reason}")
            return []
        event = connector.CreateMessageStreams(member, subscription)
        if "consumer.id" in op.get("config", {}):
            event = replace(event, consumer_id=self.script["own_id"])
        return [event, event] if op.get("twice") else [event]

    def _plant(self, op: dict) -> None:
        self._in_tree(SessionOpened("somebody"))
        names = op["path"].split("/")[1:]
        for count in range(1, len(names)):
            self._in_tree(Create("somebody", "/" + "/".join(names[:count])))
        self._in_tree(Create("somebody", op["path"], op["data"], is_ephemeral=True))

    def _in_tree(self, event: object) -> None:
        tree = step_tree(self.settings.zookeeper, self.group.tree, event)
        self.group = replace(self.group, tree=replace(tree, effects=()))

    def _do(self, event: object) -> None:
        self.group = self.step(self.settings, self.group, event)
        self._note(self.group.effects)

    def _settle(self, stopped: tuple[str, ...] = ()) -> None:
        for frame in settle(self.settings, self.group, self.choose, stopped=stopped)[1:]:
            self.group = frame.state
            self._note(frame.state.effects)

    def _note(self, effects: tuple) -> None:
        for effect in effects:
            match effect:
                case RecordsRead(consumer, topic, partition, first, last):
                    read = self.read.setdefault(consumer, [])
                    read += [[topic, partition, offset] for offset in range(first, last)]
                case Threw(consumer, error):
                    self.threw.setdefault(consumer, []).append(error)
                case RebalanceBegan(consumer, thread):
                    self.rebalances.setdefault(consumer, []).append([thread, 1])
                case Rebalanced(consumer, attempt_count=count):
                    self.rebalances[consumer][-1][1] = count
                case GaveUp(consumer):
                    self.rebalances[consumer][-1][1] = self.settings.rebalance_max_retries

    def _read(self, stopped: tuple[str, ...] = ()) -> None:
        for each in self.group.connectors:
            if each.has_streams and each.is_fetching and each.name not in stopped:
                self._do(connector.Read(each.name))

    def wait(self, member: str) -> None:
        """An application waits for a record that does not come."""
        self._do(connector.WaitForRecord(member))

    # ---- what can be compared

    @property
    def ids(self) -> dict:
        """Consumer id -> subscription and pattern, as the nodes say."""
        names = self.group.tree.children(ids_path(self.script["group"]))
        read = {name: read_registration(self.node(consumer_path(self.script["group"], name))) for name in names}
        return {name: [dict(each.subscription), each.pattern] for name, each in read.items()}

    @property
    def owners(self) -> dict:
        """Topic -> partition -> thread."""
        return self._two_levels("owners")

    @property
    def offsets(self) -> dict:
        """Topic -> partition -> offset as text."""
        return self._two_levels("offsets")

    def _two_levels(self, name: str) -> dict:
        top, tree = f"{group_path(self.script['group'])}/{name}", self.group.tree
        return {
            topic: {part: self.node(f"{top}/{topic}/{part}") for part in tree.children(f"{top}/{topic}")}
            for topic in tree.children(top)
        }

    def node(self, path: str) -> str | None:
        """The content of a node."""
        node = self.group.tree.node(path)
        return None if node is None else node.data


def consumer_id(script: dict, member: str) -> str:
    """As with the setting consumer.id."""
    return f"{script['group']}_{member}"
