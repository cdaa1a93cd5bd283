"""The two stores of offsets in chapter 12: which one a restart believes, a group that moves, what is worse."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_events
from kafkalearn.exercises.kit.properties import Having, Open, Property
from kafkalearn.exercises.kit.values import Value
from kafkalearn.zookeeper.commits import Crash, Produce, Read, Rewind, Settings, Shutdown, Start, simulate
from kafkalearn.zookeeper.commits.effects import Began
from kafkalearn.zookeeper.commits.events import CommittingEvent
from kafkalearn.zookeeper.commits.state import OldGroup

_SETTINGS = Settings()
_WITH_BOTH = (Start("c1", "kafka"), Produce(0, 20), Read("c1", 0, 12), Shutdown("c1"))
_RESTARTS = {
    "zookeeper, node set to 3": (3, "zookeeper", None),
    "kafka, node set to 3": (3, "kafka", False),
    "dual commit, node set to 3": (3, "kafka", True),
    "dual commit, node set to 15": (15, "kafka", True),
}


def begins_at(rewound_to: int, storage: str, dual: bool | None) -> int:
    """Where a consumer begins after both stores had 12 and ZooKeeper's node was set by hand.

    >>> begins_at(3, "zookeeper", None)
    3
    """
    events = [*_WITH_BOTH, Rewind(0, rewound_to), Start("c2", storage, dual)]
    (began,) = (each for each in simulate(_SETTINGS, events)[-1].state.effects if isinstance(each, Began))
    return began.offset


def _believed() -> dict[str, int]:
    return {name: begins_at(*chosen) for name, chosen in _RESTARTS.items()}


which_offset = Exercise(
    name="which_offset",
    asks=(
        "A group with dual commit has read 12 of 20 records and was shut down: both stores say 12. To read some orders "
        "again, somebody writes another offset into ZooKeeper's node by hand. Then a consumer starts. With "
        '"zookeeper", its `offsets.storage` is zookeeper; with "kafka", it is kafka and dual commit is off; with "dual '
        'commit", it is kafka and dual commit is on. At which offset does it begin?'
    ),
    start=(
        "begins = {\n" + "".join(f'    "{name}": ...,\n' for name in _RESTARTS) + "}\n"
        "exercises.which_offset.check(begins)"
    ),
    judge=Value(_believed),
    solve=_believed,
    hints=(
        "Which stores are asked at all? Only with dual commit it is both.",
        "An offset in ZooKeeper has no date; nobody can compare which of the two was written last.",
        "With dual commit the larger of the two is taken.",
    ),
    reasoning=(
        "A consumer asks the store that its settings name: ZooKeeper says 3, the topic 12. With dual commit "
        "both are asked and the **larger** is taken: 12 against 3, and 15 against 12.\n\n"
        "So with dual commit a group can be sent forward by hand, and not back: the larger offset is right after a "
        "crash between the two writes, and wrong where somebody wanted to read again. (To go back: turn dual commit "
        "off and use ZooKeeper, or commit the smaller offset to the topic.)"
    ),
    misconceptions=(
        Misconception(
            {"dual commit, node set to 3": 3},
            "Not the newest counts: nobody knows which was written last. Look at the two numbers.",
        ),
        Misconception(
            {"dual commit, node set to 15": 12},
            "With dual commit both stores are asked, and the topic is not believed before ZooKeeper.",
        ),
        Misconception(
            {"kafka, node set to 3": 3}, "Without dual commit a consumer of the topic does not ask ZooKeeper at all."
        ),
    ),
)

_BEGINS = (Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4))
_NEW = Start("new", "kafka", dual_commit_enabled=False)


def _end(events: Sequence[CommittingEvent]) -> OldGroup:
    """The group after it has come from ZooKeeper to wherever these events lead it."""
    try:
        return simulate(_SETTINGS, [*_BEGINS, *events])[-1].state
    except (TypeError, AttributeError) as error:
        raise KafkaLearnError(f"these are no events that can happen one after the other: {error}") from error


def _began(events: Sequence[CommittingEvent]) -> Began | None:
    """How the new consumer began, if the last event was its start."""
    end = _end(events)
    return next((each for each in end.effects if isinstance(each, Began) and each.consumer == _NEW.consumer), None)


def _ends_with_the_new(events: list[CommittingEvent]) -> bool:
    return _began(events) is not None and events[-1] == _NEW


def _goes_on_where_the_group_is(events: list[CommittingEvent]) -> bool:
    """Whether everything before the new consumer's offset was read once, and nothing from there on."""
    counts, offset = _end(events).reads[0], _began(events).offset
    return counts == (1,) * offset + (0,) * (len(counts) - offset)


def _by_reset(events: object) -> bool:
    """Whether the new consumer found nothing in the topic."""
    began = _began(events) if isinstance(events, list) else None
    return began is not None and began.is_reset


move_the_group = Exercise(
    name="move_the_group",
    asks=(
        "The group has read 8 records of `orders-0` and committed 8 to ZooKeeper; its consumer is shut down, and four "
        'orders have come since. Move it to the topic: give a list of events that **ends with** `Start("new", '
        '"kafka", dual_commit_enabled=False)`, so that no order is passed over and none is read twice. You may use '
        '`Start("dual", "kafka")`, `Read(name, 0, count)`, `CommitOffsets(name)`, `Shutdown(name)`, `Crash(name)`.'
    ),
    start=(
        "from kafkalearn.zookeeper.commits import CommitOffsets, Crash, Read, Shutdown, Start\n\n"
        "events = [...]\nexercises.move_the_group.check(events)"
    ),
    judge=Having(
        [],
        (
            Property(
                _ends_with_the_new,
                lambda events: "The last event must be the start of the new one, as in the question.",
            ),
            Property(
                lambda events: not _by_reset(events),
                lambda events: "The new consumer finds no offset in the topic, and auto.offset.reset decides.",
            ),
            Property(
                _goes_on_where_the_group_is,
                lambda events: (
                    "The new consumer does not go on where the group was: it passes over records, or reads some twice."
                ),
            ),
        ),
        form=as_events,
    ),
    solve=lambda: [Start("dual", "kafka"), Shutdown("dual"), _NEW],
    hints=(
        "The topic has nothing of this group yet. Who can bring ZooKeeper's offset there?",
        "A consumer with dual commit begins at 8, as ZooKeeper says. When is that in the topic?",
        "Only when it has committed, and a shutdown commits.",
    ),
    reasoning=(
        '`[Start("dual", "kafka"), Shutdown("dual"), Start("new", "kafka", dual_commit_enabled=False)]`. The consumer '
        "with dual commit asks both stores, begins at 8, and commits 8 to the topic when it is shut down. With a "
        "`Read` in between it commits what it has read; what it must not do is crash before its first commit.\n\n"
        "In a real group *every* partition must have been committed so, also those that get no records."
    ),
    misconceptions=(
        Misconception(
            [Start("dual", "kafka"), Crash("dual"), _NEW],
            "That dual commit has been switched on is not enough: nothing was committed to the topic before it was "
            "switched off again.",
            lambda events: _by_reset(events) and any(each == Start("dual", "kafka") for each in events),
        ),
        Misconception(
            [_NEW],
            "The topic has nothing for this group, ZooKeeper is not asked, and auto.offset.reset says: largest.",
            lambda events: _by_reset(events) and len(events) == 1,
        ),
    ),
    moral="A store that has been switched on knows nothing until each partition has been committed to it.",
)

worse_about_the_topic = Exercise(
    name="worse_about_the_topic",
    asks=(
        "**Open question.** The topic takes thousands of commits where ZooKeeper takes one write after the other. So "
        "is it simply better? Say what is *worse* about `__consumer_offsets` as a store of offsets, compared with "
        "nodes in ZooKeeper: at least four points."
    ),
    start='worse = """\n"""\nexercises.worse_about_the_topic.check(worse)',
    judge=Open(),
    solve=lambda: "It writes what has not changed, must be cleaned and loaded, forgets by itself, and is one topic.",
    hints=(
        "What is written when nothing has changed? How large does it get, and who makes it smaller?",
        "What does a new coordinator have to do before it can answer? And a group that was away for a month?",
        "What did people do with a shell and ZooKeeper's tree that they cannot do with a log?",
    ),
    reasoning=(
        "- **Unchanged offsets are written too**: each commit is a record for each partition.\n"
        "- It is a **log that grows until it is cleaned**; a dead cleaner fills the disk (chapter 08).\n"
        "- A new coordinator has to **load** the whole partition before it answers; a node can be read at once.\n"
        "- Offsets **expire** (`offsets.retention.minutes`), nodes stay for ever. That cuts both ways: ZooKeeper never "
        "forgot dead groups.\n"
        "- All groups depend on **one topic's replication factor**; created with one replica, it is lost with one "
        "disk.\n"
        "- **Nobody can set an offset by hand** with a shell: it takes a tool that speaks the protocol, and for long "
        "there was none.\n"
        "- A commit needs a **coordinator**: found, elected, loaded; ZooKeeper was there as long as the cluster "
        "was.\n\n"
        "All of it can be lived with, and chapter 13 is about how. None of it weighs as much as one flushed write for "
        "each partition at each commit, in a store with one leader."
    ),
)
