"""Plans of chapter 13: who inherits from a dead broker, and a third replica for a topic that has two."""

from __future__ import annotations

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.exercises.kit.sentences import Sentence, as_words, say
from kafkalearn.exercises.kit.values import Value
from kafkalearn.operations.placement import heirs, place_rotated, place_shifted, preferred_counts
from kafkalearn.operations.placement.brokers import Placement
from kafkalearn.operations.reassignment import Cluster, plan_of, read_plan, refusal
from kafkalearn.phrases import counted

_SIX, _SIXTY, _DEAD = (1, 2, 3, 4, 5, 6), 60, 4


def _busiest(placement: Placement) -> int:
    """How many partitions the busiest broker leads once one is dead."""
    led = dict(preferred_counts(placement))
    del led[_DEAD]
    for broker, count in heirs(placement, _DEAD).items():
        led[broker] += count
    return max(led.values())


def _inherited() -> dict[str, int]:
    rotated, shifted = (place(_SIX, _SIXTY, 3) for place in (place_rotated, place_shifted))
    return {
        "rotated: heirs": len(heirs(rotated, _DEAD)),
        "rotated: the busiest leads": _busiest(rotated),
        "shifted: heirs": len(heirs(shifted, _DEAD)),
        "shifted: the busiest leads": _busiest(shifted),
    }


who_inherits = Exercise(
    name="who_inherits",
    asks=(
        "A prediction, with a pencil. 60 partitions, three replicas each, on brokers 1 to 6; every broker leads ten. "
        "In one cluster the replicas are rotated by hand (1, 2, 3, then 2, 3, 4, and so on); in another Kafka has "
        "placed them with its growing shift, from `start` 0 and `shift` 0. In both **broker 4 dies**. Among how many "
        "brokers do its ten partitions spread, and how many does the busiest broker lead then?"
    ),
    start=(
        'answer = {\n    "rotated: heirs": ...,\n    "rotated: the busiest leads": ...,\n    "shifted: heirs": ...,\n'
        '    "shifted: the busiest leads": ...,\n}\nexercises.who_inherits.check(answer)'
    ),
    judge=Value(_inherited),
    solve=_inherited,
    hints=(
        "The heir of a partition is its second replica. Write these down for the ten partitions of broker 4.",
        "In the rotation broker 4 leads 4, 5, 6 each time. With the shift the second replica is another one each "
        "round.",
        "Sixty partitions over six brokers are ten rounds; the shift takes five values, and each comes twice.",
    ),
    reasoning=(
        "In the rotation broker 5 is the second replica of all ten: it inherits everything, and leads twice what it "
        "led. With the growing shift the second replica walks over all five others, twice in ten rounds: each gets "
        "two. The rotation is as even as Kafka's placement on every day but the one it was made for."
    ),
    misconceptions=(
        Misconception(
            {"rotated: heirs": 5},
            "Where broker 4 leads, the next in the list is always the same broker, and it takes over.",
        ),
        Misconception(
            {"rotated: heirs": 2},
            "There are two other replicas of each partition, but the first of them that lives is elected.",
        ),
        Misconception(
            {"rotated: the busiest leads": 10},
            "Somebody has to lead the ten partitions of broker 4 on top of its own.",
        ),
        Misconception({"shifted: the busiest leads": 20}, "The shift grows from round to round, so the heirs change."),
    ),
    moral="Judge a placement by the day a broker dies.",
)

_FOUR, _EIGHT, _TOPIC = (1, 2, 3, 4), 8, "orders"
_BEFORE = place_shifted(_FOUR, _EIGHT, 2)
_CLUSTER = Cluster(_FOUR, {_TOPIC: _BEFORE})


def _formed(answer: object) -> object:
    """Lists of brokers by partition, from these, or from the text of a plan that names every partition of orders."""
    if isinstance(answer, str):
        try:
            by_number = {each.partition: [*each.replicas] for each in read_plan(answer) if each.topic == _TOPIC}
        except KafkaLearnError:
            return answer
        return [by_number[number] for number in sorted(by_number)]
    if isinstance(answer, list | tuple):
        return [list(each) if isinstance(each, tuple) else each for each in answer]
    return answer


def _has_three_each(plan: list) -> bool:
    return len(plan) == _EIGHT and all(isinstance(each, list) and len(each) == 3 for each in plan)


def _refused(plan: list) -> str | None:
    return refusal(plan_of(_TOPIC, plan), _CLUSTER)


def _new_copies(plan: list) -> dict[int, int]:
    """How many new replicas each broker gets."""
    pairs = list(zip(_BEFORE, plan, strict=True))
    return {broker: sum(broker in new and broker not in old for old, new in pairs) for broker in _FOUR}


def _says_refused(plan: list) -> Sentence:
    return say("Kafka's tool answers: {}.", as_words(str(_refused(plan)).rstrip(".")))


def _says_copies(plan: list) -> str:
    return f"It copies {counted(sum(_new_copies(plan).values()), 'replica')}; {_EIGHT} are enough, one a partition."


def _says_uneven(plan: list) -> str:
    counts = ", ".join(f"{count} to broker {broker}" for broker, count in _new_copies(plan).items())
    return f"The new replicas are uneven: {counts}."


def _shares(plan: list) -> bool:
    """Whether no broker inherits all that a dead one led."""
    return all(len(heirs(plan, dead)) > 1 for dead in _FOUR)


def _heir_of_all(plan: list) -> str:
    dead = next(each for each in _FOUR if len(heirs(plan, each)) == 1)
    return f"If broker {dead} dies, one broker alone takes over all that it led."


def _solved() -> list[list[int]]:
    return [[*each] for each in place_shifted(_FOUR, _EIGHT, 3)]


third_replica = Exercise(
    name="third_replica",
    asks=(
        "`orders` has two replicas of each of its eight partitions, on brokers 1 to 4:\n\n"
        + "\n".join(f"- {number}: {', '.join(map(str, each))}" for number, each in enumerate(_BEFORE))
        + "\n\nWrite the plan for **three replicas**: eight lists of brokers, the preferred leader first (or the text "
        "of the JSON). Nothing that is there may be copied again, the preferred leaders stay, every broker gets as "
        "many new replicas as the others, and when a broker dies no single one may inherit all that it led."
    ),
    start="plan = [...]  # eight lists\nexercises.third_replica.check(plan)",
    judge=Having(
        [],
        (
            Property(
                _has_three_each,
                lambda plan: f"{_EIGHT} partitions with three replicas each are wanted; these are {len(plan)} lists.",
            ),
            Property(lambda plan: _refused(plan) is None, _says_refused),
            Property(
                lambda plan: [each[0] for each in plan] == [each[0] for each in _BEFORE],
                lambda plan: (
                    "Another broker is preferred as leader of some partitions now; leave the first in its place."
                ),
            ),
            Property(lambda plan: sum(_new_copies(plan).values()) == _EIGHT, _says_copies),
            Property(lambda plan: {*_new_copies(plan).values()} == {2}, _says_uneven),
            Property(_shares, _heir_of_all),
        ),
        form=_formed,
    ),
    solve=_solved,
    hints=(
        "Keep both brokers of each line, and put a third behind them.",
        "Eight new replicas on four brokers: two for each. For each line two brokers come into question.",
        "Kafka's own placement with factor three begins with the same two brokers: `place_shifted`.",
    ),
    reasoning=(
        "`place_shifted([1, 2, 3, 4], 8, 3)` begins each list as it was with two replicas, and the third walks on by "
        "one each round; there are other ways. `--generate` would have kept two, and a rotation begun anew would have "
        "moved the second replica of four partitions: logs that are there already, copied once more."
    ),
    misconceptions=(
        Misconception(
            [[*each] for each in place_rotated(_FOUR, _EIGHT, 3)],
            "A rotation by hand throws copies away that are there already. Compare each line with what it was.",
            lambda plan: _formed(plan) == [[*each] for each in place_rotated(_FOUR, _EIGHT, 3)],
        ),
        Misconception(
            [[*each] for each in _BEFORE],
            "That is what `--generate` would keep: as many replicas as before.",
            lambda plan: all(len(each) == 2 for each in plan),
        ),
        Misconception(
            [[*each, each[0]] for each in _BEFORE],
            "A broker holds one replica of a partition; twice on the same disk is no second copy.",
            lambda plan: any(len({*each}) < len(each) for each in plan),
        ),
    ),
    moral="A plan is good if it copies little, and spreads what a dead broker led.",
)
