"""The exercises of chapter 13b: how do I move it safely?"""

from __future__ import annotations

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Property
from kafkalearn.exercises.kit.result import Sentence, as_words, say
from kafkalearn.operations import leadership, throttles
from kafkalearn.operations.placement import Broker, Placement, heirs, place_rotated, place_shifted, preferred_counts
from kafkalearn.operations.reassignment import Cluster, plan_of, read_plan, refusal

_SIX, _SIXTY, _DEAD = (1, 2, 3, 4, 5, 6), 60, 4


def _busiest(placement: Placement) -> int:
    """How many partitions the busiest broker leads once one is dead."""
    led: dict[int | None, int] = {**preferred_counts(placement)}
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

_RATE = 10**7
_TWO_TOPICS = throttles.Settings((1, 2, 3, 4), (("big", ((1, 2),)), ("orders", ((1, 2),))))
_BIG, _OTHER = plan_of("big", [(3, 4)]), plan_of("orders", [(2, 3)])


def _limits() -> dict[str, object]:
    begin = [throttles.Execute(_BIG, _RATE), throttles.Execute(_OTHER, _RATE, is_additional=True)]
    ends = {
        "the other is cancelled": throttles.Cancel(_OTHER),
        "it is cancelled, --preserve-throttles": throttles.Cancel(_OTHER, keeps_throttles=True),
    }
    found: dict[str, object] = {}
    for name, event in ends.items():
        limit = throttles.simulate(_TWO_TOPICS, [*begin, event])[-1].state.limit(_BIG[0].at, 3)
        found[name] = 0 if limit is None else limit
    on_disk = [leadership.partition_of("big", 0, (1, 2), size_bytes=4 * 10**9)]
    copied = leadership.moved_bytes(on_disk, plan_of("big", [(1, 2, 3)]))
    for name, written in (("seconds for 4 GB, nobody writes", 0), ("the same, 5 MB a second are written", _RATE // 2)):
        seconds = leadership.move_seconds(copied, _RATE, written)
        found[name] = None if seconds is None else int(seconds)
    return found


what_holds_it_back = Exercise(
    name="what_holds_it_back",
    asks=(
        "Two plans run, each begun with `--throttle 10000000`: a large one, and one for `orders` that was a mistake. "
        "How many bytes a second may broker 3 receive of the large one, 0 for no limit, after the other is cancelled: "
        "by `--cancel` alone, and with `--preserve-throttles`? And how many seconds does one new replica of 4 GB take "
        "under that throttle, if nobody writes into the partition meanwhile, and if producers write 5 MB a second?"
    ),
    start=(
        "answer = {\n" + "".join(f'    "{name}": ...,\n' for name in _limits()) + "}\n"
        "exercises.what_holds_it_back.check(answer)"
    ),
    judge=Value(_limits),
    hints=(
        "On what does the tool set the rate: on a plan, on a topic, or on brokers?",
        "What is written meanwhile has to be copied as well, through the same throttle.",
        "Ten megabytes a second go through, five of them are new: how fast does the rest shrink?",
    ),
    reasoning=(
        "The rates are settings of the brokers, and `--cancel` takes them from all: the large copy runs without a "
        "limit. With `--preserve-throttles` they stay. 4 GB at 10 MB a second are 400 seconds; with 5 MB a second "
        "written meanwhile only 5 are left for what is behind, so 800. With 10 it would never end."
    ),
    misconceptions=(
        Misconception(
            {"the other is cancelled": _RATE},
            "The limit belongs to no plan: `--cancel` of any of them clears it from the brokers.",
        ),
        Misconception(
            {"the same, 5 MB a second are written": 400},
            "New records go through the same throttle: only the rest of the rate catches up.",
        ),
    ),
    moral="A throttle is a broker's, and it must be above what is written.",
)

_RESTARTED = (1, 2, 3)


def _led() -> dict[str, int]:
    settings = leadership.Settings(_RESTARTED)
    spread = [leadership.partition_of("orders", n, each) for n, each in enumerate(place_shifted(_RESTARTED, 30, 3))]
    events = []
    for broker in _RESTARTED:
        events += [leadership.BrokerFenced(broker), leadership.BrokerUnfenced(broker)]
    run = leadership.simulate(settings, events, leadership.cluster_of(settings, spread))
    after = leadership.simulate(settings, [leadership.TimePassed(300_000)], run[-1].state)
    last = _RESTARTED[-1]
    return {
        "right after the last restart": sum(each.leader == last for each in run[-1].state.partitions),
        "five minutes later": sum(each.leader == last for each in after[-1].state.partitions),
    }


who_leads_then = Exercise(
    name="who_leads_then",
    asks=(
        "A prediction. 30 partitions with three replicas each on brokers 1, 2, 3; each broker is preferred as leader "
        "of ten. Somebody restarts them one after the other, 1, then 2, then 3, all within a minute. How many "
        "partitions does **broker 3** lead right after its return, and how many five minutes later, with the settings "
        "as they are by default?"
    ),
    start=(
        'led = {"right after the last restart": ..., "five minutes later": ...}\nexercises.who_leads_then.check(led)'
    ),
    judge=Value(_led),
    hints=(
        "What happens to the partitions that a broker leads when it goes, and does it get them back when it returns?",
        "A broker that comes back follows in all its partitions.",
        "`leader.imbalance.check.interval.seconds` is 300, and `auto.leader.rebalance.enable` is true.",
    ),
    reasoning=(
        "None, then ten. Whoever is restarted gives its partitions away and comes back as a follower; the last one "
        "has had nobody go after it, so nothing has come to it. After 300 seconds the controller gives each partition "
        "back to its preferred leader."
    ),
    misconceptions=(
        Misconception(
            {"right after the last restart": 10},
            "To be preferred is not to lead: a broker that returns follows, until leadership is given back.",
        ),
        Misconception(
            {"five minutes later": 0},
            "The controller looks every 300 seconds, and gives leadership back by itself.",
        ),
    ),
    moral="After a rolling restart the last broker idles: wait five minutes, or run kafka-leader-election.",
)

_FOUR, _EIGHT = (1, 2, 3, 4), 8
_BEFORE = place_shifted(_FOUR, _EIGHT, 2)
_CLUSTER = Cluster(tuple(map(Broker, _FOUR)), {"orders": _BEFORE})


def _formed(answer: object) -> object:
    """Lists of brokers by partition, from these, or from the text of a plan that names every partition of orders."""
    if isinstance(answer, str):
        try:
            by_number = {each.partition: [*each.replicas] for each in read_plan(answer) if each.topic == "orders"}
        except KafkaLearnError:
            return answer
        return [by_number[number] for number in sorted(by_number)]
    if isinstance(answer, list | tuple):
        return [list(each) if isinstance(each, tuple) else each for each in answer]
    return answer


def _has_three_each(plan: list) -> bool:
    return len(plan) == _EIGHT and all(isinstance(each, list) and len(each) == 3 for each in plan)


def _refused(plan: list) -> str | None:
    return refusal(plan_of("orders", plan), _CLUSTER)


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


def _alone(plan: list) -> list[int]:
    """The brokers whose death makes one other inherit all that they led."""
    placement = tuple(map(tuple, plan))
    return [dead for dead in _FOUR if len(heirs(placement, dead)) == 1]


def _heir_of_all(plan: list) -> str:
    dead = _alone(plan)[0]
    return f"If broker {dead} dies, one broker alone takes over all that it led."


third_replica = Exercise(
    name="third_replica",
    asks=(
        "`orders` has two replicas of each of its eight partitions, on brokers 1 to 4:\n\n"
        + "\n".join(f"- {number}: {', '.join(map(str, each))}" for number, each in enumerate(_BEFORE))
        + "\n\nWrite the plan for **three replicas**: eight lists of brokers, the preferred leader first (or the text "
        "of the JSON). Nothing that is there may be copied again, the preferred leaders stay, every broker gets as "
        "many new replicas as the others, and when a broker dies no single one may inherit all that it led."
    ),
    start="lists = [...]  # eight\nexercises.third_replica.check(lists)",
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
            Property(lambda plan: not _alone(plan), _heir_of_all),
        ),
        form=_formed,
    ),
    solve=lambda: [[*each] for each in place_shifted(_FOUR, _EIGHT, 3)],
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

_CHAPTER = Chapter("13b moving", (who_inherits, what_holds_it_back, who_leads_then, third_replica))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
