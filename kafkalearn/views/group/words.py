"""A moment of a consumer group in words: a sentence about a frame, and the whole of it as text."""

from __future__ import annotations

from kafkalearn.group.world.consumers import CONSUMING, GONE, IDLE, JOINING, PAUSED, WORKING
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.group.world.recorder import MemberMoment, Moment
from kafkalearn.phrases import capitalised
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame

DOING_WORDS = {
    CONSUMING: "reads",
    IDLE: "has nothing to read",
    JOINING: "waits, reads nothing",
    PAUSED: "stands still",
    WORKING: "works on one poll",
    GONE: "is not running",
}


def time_text(ms: int) -> str:
    """A time in seconds, as exact as it is.

    >>> time_text(54_010), time_text(6000), time_text(720_000)
    ('54.01 s', '6 s', '720 s')
    """
    return f"{ms / 1000:.3f}".rstrip("0").rstrip(".") + " s"


def partition_names(outcome: Outcome, partitions: tuple[TopicPartition, ...]) -> list[str]:
    """Short names: of the only topic, the numbers."""
    has_one = len(outcome.scenario.topics) == 1
    return [str(each.partition) if has_one else str(each) for each in partitions]


def counter(outcome: Outcome) -> str:
    """The name of the number that rises with each rebalance."""
    return "generation" if outcome.protocol == "classic" else "group epoch"


def describe_group(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None = None) -> str:
    """What has just happened in a frame of an outcome's trace, and the state of the group.

    >>> from kafkalearn.group import simulate
    >>> outcome = simulate("at 0 s: c1 joins")
    >>> describe_group(outcome, outcome.trace[3])
    'At 3.006 s: CompletingRebalance: the join phase ends. Generation 1; 0 of 6 partitions are read.'
    """
    moment = frame.state
    read_count, count = len(moment.readers()), len(moment.partitions)
    what = frame.event or ("nobody has started" if frame.index == 0 else "a member has changed what it does")
    verb = "is" if read_count == 1 else "are"
    group = f"{capitalised(counter(outcome))} {moment.generation}; {read_count} of {count} partitions {verb} read."
    return f"At {time_text(moment.time_ms)}: {what}. {group}{_changes(outcome, frame, before)}"


def _changes(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None) -> str:
    """The partitions that each member has gained and lost since the frame before."""
    if before is None:
        return ""
    changes = []
    for member in frame.state.members:
        had = before.state.member(member.name).owned
        gained = tuple(each for each in member.owned if each not in had)
        lost = tuple(each for each in had if each not in member.owned)
        if gained:
            changes.append(f"{member.name} gains {', '.join(partition_names(outcome, gained))}")
        if lost:
            changes.append(f"{member.name} loses {', '.join(partition_names(outcome, lost))}")
    return f" {'; '.join(changes)}." if changes else ""


def group_text(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None = None) -> str:
    """A frame of an outcome's trace as a few lines of text.

    >>> from kafkalearn.group import simulate
    >>> outcome = simulate("at 0 s: c1, c2 join")
    >>> print(group_text(outcome, outcome.at(10_000)))
    At 6.012 s: c1 is assigned 3 partitions; c2 is assigned 3 partitions. Generation 1; 6 of 6 partitions are read.
    Stable, generation 1, led by c1
      c1 reads: 0 1 2
      c2 reads: 3 4 5
    """
    moment = frame.state
    leader = f", led by {moment.leader}" if moment.leader else ""
    lines = [describe_group(outcome, frame, before), f"{moment.state}, {counter(outcome)} {moment.generation}{leader}"]
    lines += [f"  {member_text(outcome, each)}" for each in moment.members]
    unread = unread_partitions(moment)
    if unread:
        lines.append(f"  read by nobody: {' '.join(partition_names(outcome, unread))}")
    return "\n".join(lines)


def member_text(outcome: Outcome, member: MemberMoment) -> str:
    """One consumer in a line."""
    owned = " ".join(partition_names(outcome, member.owned))
    return f"{member.name} {DOING_WORDS[member.doing]}" + (f": {owned}" if owned else "")


def unread_partitions(moment: Moment) -> tuple[TopicPartition, ...]:
    """The partitions that nobody reads at a moment."""
    readers = moment.readers()
    return tuple(each for each in moment.partitions if each not in readers)
