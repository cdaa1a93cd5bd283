"""An application on the low-level consumer in words: what it asked, and what it was answered."""

from __future__ import annotations

from kafkalearn.phrases import capitalised
from kafkalearn.trace import Frame
from kafkalearn.views.zookeeper.fetching_words import appended_words, broker_words, span
from kafkalearn.zookeeper import simple_consumer as by_hand
from kafkalearn.zookeeper.fetching.cluster import NO_CONNECTION
from kafkalearn.zookeeper.fetching.effects import Appended
from kafkalearn.zookeeper.simple_consumer import effects as answers
from kafkalearn.zookeeper.simple_consumer.events import SimpleConsumerEvent
from kafkalearn.zookeeper.simple_consumer.state import Reader


def describe_simple_consumer(
    frame: Frame[Reader, SimpleConsumerEvent], before: Frame[Reader, SimpleConsumerEvent] | None = None
) -> str:
    """A sentence about a frame of `kafkalearn.zookeeper.simple_consumer`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching import Append, LeaderMoved
    >>> from kafkalearn.zookeeper.simple_consumer import Fetch, FindLeader, FindOffset, Settings, simulate
    >>> events = [Append("orders", 0, 3), FindLeader(2), FindOffset("smallest"), Fetch(), LeaderMoved("orders", 0, 2)]
    >>> for frame in simulate(Settings(), [*events, Fetch()]):
    ...     print(describe_simple_consumer(frame))
    The application knows no leader and no offset.
    Offsets 0 to 2 are new in orders-0.
    The application asks broker 2 who leads: broker 1.
    It asks for the smallest offset: 0.
    It fetches, and gets 0 to 2.
    Broker 2 leads orders-0 now.
    It fetches, and broker 1 answers NOT_LEADER_FOR_PARTITION.
    """
    if frame.event is None:
        return "The application knows no leader and no offset."
    return f"{capitalised(_words(frame))}."


def answer_words(effect: answers.Effect) -> str:
    """What a broker answered, in a few words.

    >>> answer_words(answers.Fetched((3, 4))), answer_words(answers.Refused(1, "OFFSET_OUT_OF_RANGE"))
    ('3 to 4', 'OFFSET_OUT_OF_RANGE')
    """
    match effect:
        case answers.LeaderFound(_, leader):
            return f"broker {leader}"
        case answers.OffsetFound(offset):
            return str(offset)
        case answers.Fetched(offsets):
            return span(offsets) if offsets else "nothing new"
        case answers.TooLarge(offset):
            return f"{offset} is too large"
        case answers.Refused(_, error):
            return error
    return ""


def _words(frame: Frame[Reader, SimpleConsumerEvent]) -> str:
    effect = frame.state.effects[-1] if frame.state.effects else None
    match frame.event:
        case by_hand.FindLeader(broker_id):
            return f"the application asks broker {broker_id} who leads: {_answer(effect)}"
        case by_hand.FindOffset(reset):
            return f"it asks for the {reset} offset: {_answer(effect)}"
        case by_hand.Fetch():
            return f"it fetches, and {_fetched(effect)}"
        case by_hand.Seek(offset):
            return f"it goes on from offset {offset}, as it likes"
        case by_hand.Save():
            return f"it saves offset {frame.state.saved}; no broker hears of it"
        case by_hand.Restart():
            saved = frame.state.saved
            return f"it dies and starts again: {'it saved nothing' if saved is None else f'it saved {saved}'}"
    return appended_words(effect) if isinstance(effect, Appended) else broker_words(frame.event)


def _answer(effect: answers.Effect | None) -> str:
    if effect == answers.Refused(getattr(effect, "broker_id", 0), NO_CONNECTION):
        return "it cannot be reached"
    return "" if effect is None else answer_words(effect)


def _fetched(effect: answers.Effect | None) -> str:
    match effect:
        case answers.Refused(broker_id, error):
            return f"broker {broker_id} {'cannot be reached' if error == NO_CONNECTION else f'answers {error}'}"
        case answers.TooLarge(offset):
            return f"gets no whole record: {offset} is larger than it asked for"
        case answers.Fetched(offsets) if offsets:
            return f"gets {span(offsets)}"
    return "there is nothing new"
