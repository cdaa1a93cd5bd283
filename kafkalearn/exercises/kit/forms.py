"""The reasonable ways to write one answer: yes or True, a name with underscores or dots, a number as text, a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction

_YES_OR_NO = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(?:[ ,_]\d{3})+)(\.\d+)?(e[-+]?\d{1,3})?( ?%)?", re.IGNORECASE)
_LONGEST_NUMBER = 400  # characters; Python itself reads no more than 4,300 digits
_LONGEST_LIST = 10_000  # characters of a text that lists the members of a set


def only_one(value: object) -> object:
    """The one value in a list, tuple or set of one; anything else as it is.

    >>> only_one({"a"}), only_one(["a", "b"])
    ('a', ['a', 'b'])
    """
    if isinstance(value, list | tuple | set | frozenset) and len(value) == 1:
        return next(iter(value))
    return value


def as_number(value: object) -> object:
    """The number that a text says; anything else as it is.

    >>> [as_number(text) for text in ("12", "1,200", "2_500", "0.25", "25 %", "twelve")]
    [12, 1200, 2500, 0.25, 0.25, 'twelve']
    """
    text = value.strip() if isinstance(value, str) and len(value) <= _LONGEST_NUMBER else ""
    if not _NUMBER.fullmatch(text):
        return value
    digits = re.sub("[ ,_%]", "", text)
    if text.endswith("%"):
        return float(Fraction(digits) / 100)
    return int(digits) if re.fullmatch(r"[-+]?\d+", digits) else float(digits)


def as_yes_or_no(value: object) -> object:
    """True or False for a text that says so; anything else as it is.

    >>> as_yes_or_no("Yes"), as_yes_or_no("false"), as_yes_or_no("perhaps")
    (True, False, 'perhaps')
    """
    return _YES_OR_NO.get(value.strip().rstrip(".").lower(), value) if isinstance(value, str) else value


def plain_name(value: object) -> object:
    """A name without what people write differently: upper case, dots, underscores, hyphens, commas, blanks.

    >>> plain_name("max.poll.records") == plain_name("MAX_POLL_RECORDS")
    True
    """
    return re.sub(r"[\s._,'\"`-]", "", value).casefold() if isinstance(value, str) else value


def as_members(value: object, expected: Iterable[object]) -> object:
    """A list of what should be a set: of a text what it lists, of one value that value; a dict as it is.

    So is a text of more characters than any set here needs.

    >>> as_members("a, c and d", {"a", "b"}), as_members("acd", {"a", "b"}), as_members("7 8", {7})
    (['a', 'c', 'd'], ['a', 'c', 'd'], ['7', '8'])
    """
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, str) and len(value) <= _LONGEST_LIST:
        words = [word for word in re.split(r"[\s,;{}\[\]()'\"]+|\band\b", value) if word]
        are_letters = all(isinstance(each, str) and len(each) == 1 for each in expected)
        return [letter for word in words for letter in word] if are_letters else words
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else value


def named(given: Mapping[object, object], known: Iterable[object]) -> dict[object, object]:
    """A dict whose names are those that are known, wherever they are only written differently.

    >>> named({"Empty_Key": 1, "20": 2, "other": 3}, ["empty key", 20])
    {'empty key': 1, 20: 2, 'other': 3}
    """
    by_plain_name = {_as_text(name): name for name in known}
    return {
        name if name in by_plain_name.values() else by_plain_name.get(_as_text(name), name): part
        for name, part in given.items()
    }


def as_events(answer: object) -> object:
    """A list of events, whether it came as a tuple, or with a class where the event is without arguments.

    >>> from kafkalearn.delivery import RequestArrived, Send
    >>> as_events((Send, RequestArrived()))
    [Send(record_count=1, values=()), RequestArrived()]
    """
    if not isinstance(answer, list | tuple):
        return answer
    return [_made(each) for each in answer]


def _made(event: object) -> object:
    if not (isinstance(event, type) and is_dataclass(event)):
        return event
    has_all = all(each.default is not MISSING or each.default_factory is not MISSING for each in fields(event))
    return event() if has_all else event


def as_settings(answer: object) -> object:
    """Settings with Kafka's own names and values, written as in Python or as in a properties file.

    >>> as_settings({"Enable_Idempotence": "true", "min.insync.replicas": "2", "acks": "ALL"})
    {'enable.idempotence': True, 'min.insync.replicas': 2, 'acks': 'all'}
    """
    if not isinstance(answer, dict):
        return answer
    return {_setting_name(name): _setting_value(value) for name, value in answer.items()}


def _setting_name(name: object) -> object:
    return re.sub(r"[\s_-]+", ".", name.strip().lower()) if isinstance(name, str) else name


def _setting_value(value: object) -> object:
    formed = as_yes_or_no(as_number(value))
    return formed.strip().lower() if isinstance(formed, str) else formed


def _as_text(name: object) -> object:
    return plain_name(str(name) if type(name) is int and abs(name) < 10**18 else name)
