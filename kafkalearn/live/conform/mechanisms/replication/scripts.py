"""Scripts of failures as cases of JSON, and how each of their lines is played until all is quiet.

A case has ``topics``, each its min ISR, whether its elections may be unclean, and its replicas, the preferred leader
first; and ``actions``, each a list of its kind and its words: ``produce`` (records, acks), ``freeze``, ``thaw``,
``kill``, ``stop``, ``restart`` (a broker), ``power`` (a broker, batches that had not reached its disk), and ``race``
(brokers that freeze, records, acks, a broker that is lost then or 0, lost batches): all of it before anybody is missed.
An action that makes no sense where it stands is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Case
from kafkalearn.live.conform.mechanisms.replication.playing import BROKERS, Run, Topic
from kafkalearn.live.kafka import DOWN, FROZEN, RUNNING

MOST_TOPICS = 4
FEWEST_ACTIONS, MOST_ACTIONS = 1, 10
NEEDED = {
    "freeze": (RUNNING,), "thaw": (FROZEN,), "kill": (RUNNING, FROZEN), "stop": (RUNNING,), "restart": (DOWN,),
    "power": (RUNNING, FROZEN),
}  # fmt: skip
LEADS_TO = {"freeze": FROZEN, "thaw": RUNNING, "kill": DOWN, "stop": DOWN, "restart": RUNNING, "power": DOWN}


def topics_of(case: Case) -> list[Topic]:
    """The topics of a case."""
    return [Topic(min_isr, is_unclean, tuple(replicas)) for min_isr, is_unclean, replicas in case["topics"]]


def sensible(case: Case) -> Iterator[list[Any]]:
    """The actions of a case without those that make no sense where they stand."""
    status = dict.fromkeys(BROKERS, RUNNING)
    for action in case["actions"]:
        kind, *words = action
        if kind == "produce":
            yield action
        elif kind == "race":
            frozen, _, _, lost, _ = words
            stays = [each for each in BROKERS if status[each] == RUNNING and each not in frozen]
            if all(status[each] == RUNNING for each in frozen) and (not lost or lost in stays):
                yield action
                status |= {lost: DOWN} if lost else {}
        elif status[words[0]] in NEEDED[kind]:
            yield action
            status[words[0]] = LEADS_TO[kind]


def play(run: Run, action: list[Any], has_state: bool = True) -> None:
    """Play one action, as far as until it is to be waited for; `has_state` as for `Run.produce`."""
    kind, *words = action
    match kind:
        case "produce":
            count, acks = words
            run.produce(count, acks, has_state)
        case "power":
            run.lose_power(*words)
        case "race":
            frozen, count, acks, lost, batches = words
            with run.in_a_hurry():
                for each in frozen:
                    run.freeze(each)
                run.produce(count, acks)
                if lost and batches:
                    run.lose_power(lost, batches)
                elif lost:
                    run.kill(lost)
                run.thaw(*frozen)
        case _:
            getattr(run, kind)(*words)


def topics() -> Any:
    """A strategy of topics."""
    orders = [list(each) for each in permutations(BROKERS)]
    topic = strategies.tuples(strategies.integers(1, 3), strategies.booleans(), strategies.sampled_from(orders))
    return strategies.lists(topic.map(list), min_size=1, max_size=MOST_TOPICS)


def actions(*kinds: str) -> Any:
    """A strategy of the actions of these kinds; half of them produce."""
    broker, count = strategies.sampled_from(BROKERS), strategies.integers(1, 3)
    batches, acks = strategies.integers(0, 2), strategies.sampled_from(["all", 1, 0])
    frozen = strategies.lists(broker, min_size=1, max_size=2, unique=True)
    words: dict[str, tuple[Any, ...]] = {
        "power": (broker, batches),
        "race": (frozen, count, strategies.sampled_from([1, 0]), strategies.sampled_from((0, *BROKERS)), batches),
    }
    produces = line("produce", count, acks)
    failures = strategies.one_of([line(kind, *words.get(kind, (broker,))) for kind in kinds])
    action = strategies.one_of(produces, failures, failures)
    return strategies.lists(action, min_size=FEWEST_ACTIONS, max_size=MOST_ACTIONS)


def line(kind: str, *words: Any) -> Any:
    """A strategy of actions of one kind."""
    return strategies.tuples(strategies.just(kind), *words).map(list)
