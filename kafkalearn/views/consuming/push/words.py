"""The same records pulled and pushed, in words: a sentence about a frame, and the whole of it as text."""

from __future__ import annotations

from kafkalearn.consuming.push.effects import (
    Acknowledged,
    Deleted,
    Dropped,
    Missed,
    Pulled,
    Pushed,
    Refused,
    Rewound,
)
from kafkalearn.consuming.push.events import Event, Process, Produce, Rewind
from kafkalearn.consuming.push.load import broker_load, missed_by_pull
from kafkalearn.consuming.push.state import Brokers
from kafkalearn.phrases import counted, listed
from kafkalearn.trace import Frame


def describe_push(frame: Frame[Brokers, Event], before: Frame[Brokers, Event] | None = None) -> str:
    """A sentence or two about a frame of `kafkalearn.consuming.push`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Settings, simulate
    >>> for frame in simulate(Settings(("billing", "search")), [Produce(), Process("billing")]):
    ...     print(describe_push(frame))
    Nothing is written yet: the log is empty, and so are the queues of billing and search.
    Record 0 is written: once to the log, once to each queue. Pushed to billing: 0. Pushed to search: 0.
    billing processes 0: it pulled the record and commits 1; it acknowledges what was pushed, which is forgotten.
    """
    brokers = frame.state
    match frame.event:
        case Produce():
            return " ".join(_produce_words(brokers))
        case Process(consumer):
            return _process_words(brokers, consumer)
        case Rewind(consumer):
            (rewound,) = (each for each in brokers.effects if isinstance(each, Rewound))
            return (
                f"{consumer} goes back to offset {rewound.offset} of the log. The broker that pushes has nothing to "
                "go back to: it has forgotten what was acknowledged."
            )
    names = listed(reader.consumer for reader in brokers.readers)
    return f"Nothing is written yet: the log is empty, and so are the queues of {names}."


def _produce_words(brokers: Brokers) -> list[str]:
    number = brokers.log_end - 1
    words = [f"Record {number} is written: once to the log, once to each queue."]
    for effect in brokers.effects:
        match effect:
            case Refused():
                words[0] = f"Record {number} is written to the log; the broker that pushes refuses it: a queue is full."
            case Deleted(offset):
                words.append(f"Retention deletes record {offset} of the log.")
            case Dropped(consumer, dropped):
                words.append(f"The full queue of {consumer} drops {dropped}.")
            case Pushed(consumer, numbers):
                words.append(f"Pushed to {consumer}: {_numbers(numbers)}.")
    return words


def _process_words(brokers: Brokers, consumer: str) -> str:
    missed = [each.count for each in brokers.effects if isinstance(each, Missed)]
    pulled = [number for each in brokers.effects if isinstance(each, Pulled) for number in each.offsets]
    done = [number for each in brokers.effects if isinstance(each, Acknowledged) for number in each.numbers]
    position = brokers.reader(consumer).position
    were = "was" if missed == [1] else "were"
    gone = f"{counted(missed[0], 'record')} of the log {were} deleted unread. " if missed else ""
    if not pulled and not done:
        return f"{gone}{consumer} has processed all there is."
    if pulled == done:
        it = "the record" if len(pulled) == 1 else "the records"
        return (
            f"{gone}{consumer} processes {_numbers(pulled)}: it pulled {it} and commits {position}; it acknowledges "
            "what was pushed, which is forgotten."
        )
    from_log = f"pulls {_numbers(pulled)} and commits {position}" if pulled else "finds nothing more in the log"
    from_queue = f"of its queue it acknowledges {_numbers(done)}" if done else "its queue is empty"
    return f"{gone}{consumer} {from_log}; {from_queue}."


def _numbers(numbers: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, numbers))


def load_words(brokers: Brokers) -> tuple[str, str]:
    """What each broker keeps, a sentence for each.

    >>> from kafkalearn.consuming.push import Settings, start
    >>> load_words(start(Settings(("billing",))))
    ('the broker keeps 0 records and 1 offset', 'the broker keeps 0 copies, each with its state')
    """
    pull, push = broker_load(brokers)
    return (
        f"the broker keeps {counted(pull['records held'], 'record')} and {counted(pull['remembered'], 'offset')}",
        f"the broker keeps {counted(push['records held'], 'copy', 'copies')}, each with its state",
    )


def push_text(frame: Frame[Brokers, Event], before: Frame[Brokers, Event] | None = None) -> str:
    """A frame of `kafkalearn.consuming.push` in plain text: the log with its readers, and the queues.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Settings, simulate
    >>> print(push_text(simulate(Settings(("billing",), prefetch=1), [Produce(), Produce()])[-1]))
    Record 1 is written: once to the log, once to each queue.
    log: 0 1; the broker keeps 2 records and 1 offset
      billing: offset 0, lag 2, read 0, missed 0
    queues: the broker keeps 2 copies, each with its state
      billing: sent 0, waiting 1, read 0, dropped 0
    """
    brokers = frame.state
    pull, push = load_words(brokers)
    log = " ".join(map(str, range(brokers.log_start, brokers.log_end))) or "empty"
    lines = [describe_push(frame), f"log: {log}; {pull}"]
    for reader in brokers.readers:
        counts = f"read {reader.read_count}, missed {missed_by_pull(brokers, reader)}"
        lag = brokers.log_end - reader.position
        lines.append(f"  {reader.consumer}: offset {reader.position}, lag {lag}, {counts}")
    refused = f"; {counted(brokers.refused_count, 'record')} refused" if brokers.refused_count else ""
    lines.append(f"queues: {push}{refused}")
    for queue in brokers.queues:
        sent, waiting = (_numbers(each) or "nothing" for each in (queue.unacknowledged, queue.waiting))
        counts = f"read {queue.read_count}, dropped {queue.dropped_count}"
        lines.append(f"  {queue.consumer}: sent {sent}, waiting {waiting}, {counts}")
    return "\n".join(lines)
