"""The exercises of chapter 10: how does an acknowledged record get lost?"""

from __future__ import annotations

from kafkalearn.delivery.record_results import DOUBLED, LOST, REJECTED, SAFE, WRITTEN
from kafkalearn.exercises.chapter10.games import lost_with_acks_all
from kafkalearn.exercises.chapter10.incidents import lost_without_a_crash, six_hours, two_faults
from kafkalearn.exercises.chapter10.lost_records import (
    FAILED,
    FIX,
    LOOK,
    STORIES,
    VERDICT_CASES,
    advice,
    result_in,
    takes_records_without_one,
    verdict,
    worst_of,
)
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_settings
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.exercises.kit.values import Value

predict_results = Exercise(
    name="predict_results",
    asks=(
        "A prediction. Two brokers, 1 leads, both in sync; one record. What is its result at the end: "
        "`safe`, `lost`, `doubled`, `rejected` (an error, and not in the log), or `rejected, yet written`?\n\n"
        "- **a** `acks=1`. The record is acknowledged; broker 1 dies before broker 2 has fetched; broker 2 leads.\n"
        "- **b** `acks=all`, not idempotent. The leader writes it, the connection breaks, the producer sends it again, "
        "broker 2 copies.\n"
        "- **c** as b, idempotent.\n"
        "- **d** `acks=all`, `min.insync.replicas=2`, no retries. Broker 2 is dead and out of the ISR; then the record "
        "is sent.\n"
        "- **e** as d, but the record arrives first; then broker 2 dies and leaves the ISR; 30 seconds pass; broker 2 "
        "comes back and copies."
    ),
    start='results = {"a": ..., "b": ..., "c": ..., "d": ..., "e": ...}\nexercises.predict_results.check(results)',
    judge=Value(lambda: {story: result_in(story) for story in STORIES}),
    solve=lambda: {story: result_in(story) for story in STORIES},
    hints=(
        "Ask two questions of each: what did the callback get, and what is in the log of the leader at the end?",
        "In d the leader looks at the ISR before it writes. In e it has written already.",
        "In e the request waits for the high watermark until its time is over. Nobody takes the record out of the log.",
    ),
    reasoning=(
        "a: acknowledged by the leader alone, and the leader is gone: **lost**. b: written, not answered, written "
        "again: **doubled**. c: the second is recognised: **safe**. d: refused before anything is written: "
        "**rejected**.\n\n"
        "e: the append went well, the answer is REQUEST_TIMED_OUT, and later the record is committed: **rejected, yet "
        'written**. An error of this kind says "I do not know", not "no".'
    ),
    misconceptions=(
        Misconception(
            {"a": REJECTED}, "The callback got no error: with acks=1 the leader answers as soon as it has it."
        ),
        Misconception({"b": SAFE}, "Count the appends: what does a broker do with a batch that carries no sequence?"),
        Misconception({"b": REJECTED}, "The connection broke, but the producer sends again, and that is answered."),
        Misconception({"d": LOST}, "Lost is what was acknowledged and is gone. What did the callback get here?"),
        Misconception({"d": SAFE}, "With one broker in the ISR a minimum of two is not there."),
        Misconception({"e": SAFE}, "It is in the log in the end; but what did the callback get after 30 seconds?"),
        Misconception({"e": LOST}, "Broker 2 copies it in the end: it is in the log. And was it acknowledged?"),
        Misconception({"e": REJECTED}, "An error after the append takes nothing back: look at the log of broker 1."),
        Misconception({"d": WRITTEN}, "NOT_ENOUGH_REPLICAS comes before the append: nothing was written."),
        Misconception({"a": SAFE}, "acks=1 was answered before anyone but broker 1 had the record."),
        Misconception({"c": DOUBLED}, "The second request carries the same sequence number, and the leader knows it."),
        Misconception({"b": LOST}, "It was written the first time; only the answer was lost."),
    ),
)


def _what_hurts(answer: object) -> str:
    failure, result = worst_of(answer)
    return f"The search found a schedule: {failure}, and a record is {result}."


fix_the_settings = Exercise(
    name="fix_the_settings",
    asks=(
        "Correct the shop's settings. Three brokers hold the partition. Choose the four values so that a search of all "
        "schedules finds neither a lost nor a doubled record when the leader dies, when the followers are away and the "
        "leader dies, and when the last broker in sync loses its power; and so that records are still taken while one "
        "broker of three is down. The check runs the search; it takes a second or two."
    ),
    start=(
        'settings = {\n    "acks": ...,\n    "enable.idempotence": ...,\n    "min.insync.replicas": ...,\n'
        '    "unclean.leader.election.enable": ...,\n}\nexercises.fix_the_settings.check(settings)'
    ),
    judge=Having(
        {},
        (
            Property(
                takes_records_without_one,
                lambda _: "With one broker down, the leader answers NOT_ENOUGH_REPLICAS: nobody can order any more.",
            ),
            Property(lambda answer: worst_of(answer) is None, _what_hurts),
        ),
        form=as_settings,
    ),
    solve=lambda: {
        "acks": "all",
        "enable.idempotence": True,
        "min.insync.replicas": 2,
        "unclean.leader.election.enable": False,
    },
    hints=(
        "Read the matrix: which columns are safe in the first row of each failure?",
        'Begin with `acks`; it is 0, 1 or the text "all".',
        "How small may the ISR become before you would rather be refused? And how many brokers may be down?",
    ),
    reasoning=(
        "`acks=all` so that the answer waits for the ISR; `min.insync.replicas=2` so that the ISR is never the leader "
        "alone when it is given; no unclean election, so that nobody leads who lacks it; idempotence against the "
        "retries. With 3 as minimum one dead broker would stop all orders.\n\n"
        "The power cut is harmless only because this is a cluster of 4.3 with eligible leader replicas (KIP-966, new "
        "clusters since 4.1): up to 4.0 the last member of the ISR would lead again with less than it had.\n\n"
        "Three of the four are defaults of today. `min.insync.replicas` is not: its default is 1."
    ),
    misconceptions=(
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": True,
                "min.insync.replicas": 1,
                "unclean.leader.election.enable": False,
            },
            "The answer waits for the ISR, and an ISR of one is the leader. What keeps the ISR from being that small?",
        ),
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": True,
                "min.insync.replicas": 3,
                "unclean.leader.election.enable": False,
            },
            "More is not safer here: the answer waits for every member of the ISR anyway.",
        ),
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": False,
                "min.insync.replicas": 2,
                "unclean.leader.election.enable": False,
            },
            "A record that was copied but not answered for is sent again. Who would notice?",
        ),
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": True,
                "min.insync.replicas": 2,
                "unclean.leader.election.enable": True,
            },
            "An unclean election elects whoever is up, whatever it lacks.",
        ),
    ),
    moral="Four settings, and the default of one of them is wrong for orders.",
)


def _by_last_alone(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    return verdict(epoch, batches[-1:], batch_epoch, first, last)


def _by_number(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    if batch_epoch == epoch and last <= batches[-1][1]:
        return "duplicate"
    return verdict(epoch, batches, batch_epoch, first, last)


def _by_first(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    if batch_epoch == epoch and any(first == known[0] for known in batches):
        return "duplicate"
    return verdict(epoch, batches, batch_epoch, first, last)


def _without_epoch(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    return verdict(epoch, batches, epoch, first, last)


write_verdict = Exercise(
    name="write_verdict",
    asks=(
        "Write `my_verdict(epoch, batches, batch_epoch, first, last)`: what a broker does with a batch of a producer "
        "that it knows. `epoch` is the producer's epoch as the broker has it; `batches` are the last batches it "
        "remembers, at most five, oldest first, each as (first, last) sequence number; then the epoch and the numbers "
        "of the batch "
        'that comes. The answer is `"write"`, `"duplicate"`, `"OUT_OF_ORDER_SEQUENCE_NUMBER"` or '
        '`"INVALID_PRODUCER_EPOCH"`. Numbers need not wrap.'
    ),
    start=(
        "def my_verdict(epoch, batches, batch_epoch, first, last):\n    return ...\n\n\n"
        "exercises.write_verdict.check(my_verdict)"
    ),
    judge=Function(verdict, ("epoch", "batches", "batch_epoch", "first", "last"), VERDICT_CASES),
    solve=lambda: verdict,
    hints=(
        "Compare the epochs first: same, older, newer.",
        "In the same epoch: is it exactly one of those remembered? If not, does it follow on the newest?",
        "A newer epoch begins at 0.",
    ),
    reasoning=(
        "```python\ndef my_verdict(epoch, batches, batch_epoch, first, last):\n"
        '    if batch_epoch < epoch:\n        return "INVALID_PRODUCER_EPOCH"\n'
        '    if batch_epoch == epoch and (first, last) in batches:\n        return "duplicate"\n'
        "    follows = batches[-1][1] + 1 if batch_epoch == epoch else 0\n"
        '    return "write" if first == follows else "OUT_OF_ORDER_SEQUENCE_NUMBER"\n```\n\n'
        "A batch older than the five is no duplicate but an error: for the broker it looks like a gap. That is why a "
        "producer may have no more than five requests in flight."
    ),
    misconceptions=(
        Misconception(_by_last_alone, "That is 0.11: one batch remembered. Since 1.0 there are five."),
        Misconception(
            _by_number, "A number below the newest is not yet a duplicate: the broker knows only the batches it keeps."
        ),
        Misconception(_by_first, "The same start with another length is another batch, and it does not follow on."),
        Misconception(_without_epoch, "An older epoch is a producer that was replaced: it is fenced."),
    ),
)


send_again = Exercise(
    name="send_again",
    asks=(
        "The order service puts aside what its callback reports as failed. Six orders lie in its store, each with the "
        "error it got after all retries. For each, choose\n\n"
        '- `"again"`: send it again; it cannot be in the log,\n'
        '- `"look"`: it may be in the log; look there first, or be sure that readers know an order that they have,\n'
        '- `"fix"`: sending it again gives the same error; somebody must change something first.'
    ),
    start="advice = {\n"
    + "".join(f'    "{name}": ...,\n' for name in FAILED)
    + "}\nexercises.send_again.check(advice)",
    judge=Value(lambda: {name: advice(name) for name in FAILED}),
    solve=lambda: {name: advice(name) for name in FAILED},
    hints=(
        "Two questions for each error: does its class extend RetriableException? May the record have been written?",
        "Both answers are columns of the tables in section 3.",
        "After a time-out the producer does not know what happened to the request.",
    ),
    reasoning=(
        "NOT_ENOUGH_REPLICAS and UNKNOWN_TOPIC_OR_PARTITION are refusals before anything is written: **again**, when "
        "the cluster is well. NOT_ENOUGH_REPLICAS_AFTER_APPEND says that it is written, and TIMEOUT that nobody knows: "
        "**look**. MESSAGE_TOO_LARGE and TOPIC_AUTHORIZATION_FAILED are fatal: **fix** the size or the right first."
    ),
    misconceptions=(
        Misconception(
            {"TIMEOUT": "again"}, "A time-out says that no answer came; the request may have arrived all the same."
        ),
        Misconception(
            {"NOT_ENOUGH_REPLICAS_AFTER_APPEND": "again"}, "Read the end of its name: when did the leader find out?"
        ),
        Misconception({"NOT_ENOUGH_REPLICAS": LOOK}, "The leader looks at the ISR before it writes anything."),
        Misconception({"NOT_ENOUGH_REPLICAS": FIX}, "When a broker is back in the ISR the same request goes well."),
        Misconception({"MESSAGE_TOO_LARGE": "again"}, "It will be as large tomorrow."),
        Misconception({"TOPIC_AUTHORIZATION_FAILED": "again"}, "Who gives the producer the right meanwhile?"),
    ),
)


_CHAPTER = Chapter(
    "10 durability",
    (
        predict_results,
        lost_without_a_crash,
        fix_the_settings,
        write_verdict,
        two_faults,
        send_again,
        lost_with_acks_all,
        six_hours,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
