"""The exercises of chapter 09: what are HW and LEO, exactly?"""

from __future__ import annotations

from kafkalearn.exercises.chapter09.games import lose_a_committed_record
from kafkalearn.exercises.chapter09.high_watermarks import HIGH_WATERMARK_CASES, high_watermark, wrong_by_name
from kafkalearn.exercises.chapter09.incidents import flapping, tighter_lag, when_it_leaves
from kafkalearn.exercises.chapter09.runs import end_of, marks_of
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_events
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.exercises.kit.values import Value
from kafkalearn.replication.events import Fetch, Produce, ReplicationEvent

_SCHEDULE = (Produce(4), Fetch(2), Fetch(3), Fetch(2), Produce(3), Fetch(3))


def _predicted() -> dict[str, int]:
    end = end_of(_SCHEDULE)
    third = end.replica(3)
    return {
        "LEO": end.leader.log_end_offset,
        "HW": end.high_watermark,
        "LEO of 3": third.log_end_offset,
        "LEO of 3, as the leader knows it": end.leader.remotes[2].log_end_offset,
        "HW of 3": third.high_watermark,
    }


predict_marks = Exercise(
    name="predict_marks",
    asks=(
        "A prediction, with a pencil. A new partition, broker 1 leads, 2 and 3 follow, all are in sync. Then:\n\n"
        "1. a producer sends 4 records,\n2. broker 2 fetches,\n3. broker 3 fetches,\n4. broker 2 fetches,\n"
        "5. a producer sends 3 records,\n6. broker 3 fetches.\n\n"
        "No fetch waits: each is answered at once. Where are the marks then?"
    ),
    start=(
        'marks = {\n    "LEO": ...,\n    "HW": ...,\n    "LEO of 3": ...,\n'
        '    "LEO of 3, as the leader knows it": ...,\n    "HW of 3": ...,\n}\n'
        "exercises.predict_marks.check(marks)"
    ),
    judge=Value(_predicted),
    solve=_predicted,
    hints=(
        "Draw a line for each broker, and for the leader two more numbers: what it knows of 2 and of 3.",
        "A fetch asks from the follower's own end. That number, and no other, is what the leader notes down.",
        "In step 6 broker 3 asks from 4. The answer was read before the leader noted that down.",
    ),
    reasoning=(
        "Seven records are in the leader's log: LEO 7. Broker 2 has asked from 0 and from 4, broker 3 from 0 and, in "
        "step 6, from 4. So the leader knows 4 and 4, and with step 6 the HW rises to 4.\n\n"
        "Broker 3 gets offsets 4 to 6 with that fetch: its own LEO is 7, its copy on the leader 4, until it asks "
        "again. And the answer carries the HW of before, 0."
    ),
    misconceptions=(
        Misconception(
            {"LEO of 3, as the leader knows it": 7},
            "The leader does not know what its answer has done: it learns that from the follower's next fetch.",
        ),
        Misconception(
            {"HW of 3": 4},
            "The fetch that raises the HW is answered with the HW of before; the follower learns it one round later.",
        ),
        Misconception(
            {"HW": 7}, "The HW is the smallest LEO that the leader knows of, and what it knows comes from fetches."
        ),
        Misconception({"LEO": 6}, "The LEO is the offset that the next record will get, not that of the last one."),
    ),
)


def _says(events: list[ReplicationEvent]) -> str:
    leo, hw, isr = marks_of(events)
    return f"These events end with LEO {leo}, HW {hw}, and {len(isr)} replicas in the ISR."


def _is_copied(events: object) -> bool:
    """Whether every follower has everything, and the leader's HW has not moved."""
    if not isinstance(events, list):
        return False
    end = end_of(events)
    return end.high_watermark == 0 and all(each.log_end_offset == 5 for each in end.replicas)


make_marks = Exercise(
    name="make_marks",
    asks=(
        "Make a run of a new partition with three replicas that ends with **LEO 5 and HW 3**, all three in the ISR. "
        "Give a list of `Produce(...)` and `Fetch(...)` events; broker 1 leads. A fetch that finds nothing is answered "
        "at once."
    ),
    start=("from kafkalearn.replication import Fetch, Produce\n\nevents = [...]\nexercises.make_marks.check(events)"),
    judge=Having(
        [],
        (Property(lambda events: marks_of(events) == (5, 3, (1, 2, 3)), _says),),
        form=as_events,
    ),
    solve=lambda: [Produce(3), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Produce(2)],
    hints=(
        "First bring LEO and HW to 3, then let the LEO go on alone.",
        "How many times must each follower fetch before the leader knows that it has three records?",
        "Twice: once to get them, once to ask for what comes next.",
    ),
    reasoning=(
        "Three records; both followers fetch, get them, and fetch again, from 3: now the leader knows, HW 3. Two more "
        "records that nobody fetches move only the LEO. There are other ways: with five records at once, each "
        "follower would have to ask from 3 at some time, and no answer stops there."
    ),
    misconceptions=(
        Misconception(
            [Produce(5), Fetch(2), Fetch(3)],
            "All logs are equal, and yet nothing is committed: the leader learns what an answer brought only when the "
            "follower asks for more.",
            _is_copied,
        ),
        Misconception(
            [Produce(5), Fetch(2), Fetch(3), Fetch(2), Fetch(3)],
            "That commits everything. Stop the followers earlier, or let the leader go on without them.",
            lambda events: isinstance(events, list) and marks_of(events)[:2] == (5, 5),
        ),
    ),
)

write_high_watermark = Exercise(
    name="write_high_watermark",
    asks=(
        "Write `my_high_watermark(...)`: the leader's HW after it has tried to raise it. Broker 1 leads; it gets\n\n"
        "- `leader_end`, its LEO, and `high_watermark`, its HW so far,\n"
        "- `isr`, the ISR as committed, a tuple of broker ids,\n"
        "- `asked`, the ISR it has asked the controller for and not got yet, or None,\n"
        "- `caught_up`, the followers that were caught up within the lag time, in the ISR or not,\n"
        "- `remote_ends`, a dict from follower to the LEO of its last fetch, -1 before the first.\n\n"
        "All brokers are alive, and the ISR is large enough."
    ),
    start=(
        "def my_high_watermark(leader_end, high_watermark, isr, asked, caught_up, remote_ends):\n    return ...\n\n\n"
        "exercises.write_high_watermark.check(my_high_watermark)"
    ),
    judge=Function(
        high_watermark,
        ("leader_end", "high_watermark", "isr", "asked", "caught_up", "remote_ends"),
        HIGH_WATERMARK_CASES,
    ),
    solve=lambda: high_watermark,
    hints=(
        "Whose LEO counts? Collect the smallest, beginning with the leader's own.",
        "A replica that is asked for counts already; one that is to go still counts.",
        "A replica outside the ISR counts too if it is caught up: else the HW would run away from it for ever.",
        "And whatever comes out: a leader's HW does not fall.",
    ),
    reasoning=(
        "```python\ndef my_high_watermark(leader_end, high_watermark, isr, asked, caught_up, remote_ends):\n"
        "    counts = set(isr) | set(asked or ()) | set(caught_up)\n"
        "    ends = [end for broker, end in remote_ends.items() if broker in counts]\n"
        "    return max(high_watermark, min([leader_end, *ends]))\n```\n\n"
        "The union of the ISR and the one asked for is the *maximal ISR* (since 2.7). The third set is there since "
        "0.10.2: a replica that is catching up could otherwise never reach a HW that does not wait for it."
    ),
    misconceptions=tuple(
        Misconception(function, cure)
        for function, cure in (
            (
                wrong_by_name["all replicas"],
                "A replica that is neither in the ISR nor near it holds nothing back: else one dead broker would stop "
                "the partition.",
            ),
            (
                wrong_by_name["majority"],
                "Kafka counts no majority: the slowest member of the ISR decides, and the ISR is what shrinks.",
            ),
            (wrong_by_name["ISR alone"], "So it was up to 0.10.1. Who else counts today, although not in the ISR yet?"),
            (
                wrong_by_name["without the asked"],
                "A replica that the leader has asked for may be a member already, for all it knows: it has to count.",
            ),
            (
                wrong_by_name["asked instead"],
                "A removal takes effect when the controller has answered; asking is not enough.",
            ),
            (wrong_by_name["may fall"], "Within its term a leader's HW stands or rises; it never goes back."),
            (
                wrong_by_name["skips the unknown"],
                "A member of the ISR that has not fetched yet may have nothing at all: until it asks, the HW waits.",
            ),
        )
    ),
)

_CHAPTER = Chapter(
    "09 replication",
    (predict_marks, make_marks, write_high_watermark, when_it_leaves, flapping, lose_a_committed_record, tighter_lag),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
