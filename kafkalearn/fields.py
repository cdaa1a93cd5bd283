"""What a field of an event or of settings may hold is said in its annotation, and checked when one is made.

``ms: Millis`` is a whole number of at least 0, ``isr: tuple[BrokerId, ...]`` any number of brokers, a list of them too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from operator import is_
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    NamedTuple,
    Optional,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from kafkalearn.arguments import LARGEST_INT, LARGEST_LONG, flag, key_bytes, number, sequence, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown


class Whole(NamedTuple):
    """The bounds of a whole number; in the annotation of a field it is the check of that field.

    >>> Whole(1, 1000)("replica_count", 3)
    3
    """

    at_least: int = 0
    at_most: int = LARGEST_LONG

    def __call__(self, name: str, value: object) -> int:
        """`value` itself if it is a whole number within the bounds."""
        return whole_number(name, value, self.at_least, self.at_most)


Count: TypeAlias = Annotated[int, Whole(1, LARGEST_INT)]
Index: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]
PartitionCount: TypeAlias = Annotated[int, Whole(1, 10_000)]  # of a topic that is stepped through
MOST_RECORDS = 100_000  # of one event, all of which are in the state; 1 MiB, a batch, has fewer than 150,000
RecordCount: TypeAlias = Annotated[int, Whole(1, MOST_RECORDS)]
BrokerId: TypeAlias = Annotated[int, Whole(1, LARGEST_INT)]
Offset: TypeAlias = Annotated[int, Whole(0)]
Millis: TypeAlias = Annotated[int, Whole(0)]

Held = TypeVar("Held")

if TYPE_CHECKING:

    class FilledIn(Generic[Held]):
        """A field that need not be given: `kafkalearn.arguments.fill_in` gives it a value, so no reader meets None.

        At run time it is the value or None, as any other annotation of a field that may be left away.
        """

        def __get__(self, settings: object, kind: object) -> Held:
            """What readers find."""
            ...

        def __set__(self, settings: object, value: Held | None) -> None:
            """What may be given."""

    NOT_GIVEN: FilledIn[Any]
else:
    FilledIn, NOT_GIVEN = Optional, None


class Checked:
    """A frozen dataclass whose fields hold what their annotations say: `check_fields` sees to it.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class TimePassed(Checked):
    ...     ms: Millis
    >>> TimePassed(-1)
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: ms must be at least 0, got -1
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        """Refuse what a field cannot hold."""
        check_fields(self)


Check: TypeAlias = Callable[[str, object], object]


def check_fields(checked: object) -> None:
    """Pass in silence if every field of a dataclass holds what its annotation says; lists become tuples.

    Whole numbers, texts, flags, bytes, None, tuples of these and classes are checked, and what is ``Annotated`` with
    a check of its own, a function of name and value; other annotations are for readers. A class with a
    ``__post_init__`` of its own calls this first.

    Raises
    ------
    KafkaLearnError
        Of the first field that does not; a bare ``int`` may be any number of 64 bits.
    """
    for name, check in _checks_of(type(checked)):
        given = getattr(checked, name)
        kept = check(name, given)
        if kept is not given:
            object.__setattr__(checked, name, kept)


_OF_PLAIN: dict[object, Check] = {
    int: partial(whole_number, at_least=-LARGEST_LONG - 1),
    float: number,
    bool: flag,
    str: text,
    bytes: key_bytes,
}


@cache
def _checks_of(kind: type) -> tuple[tuple[str, Check], ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple((field.name, _check_of(hints[field.name])) for field in fields(kind) if field.init)


def _check_of(hint: Any) -> Check:
    if get_origin(hint) in (Union, UnionType):
        return _check_of_union(get_args(hint))
    if get_origin(hint) is Annotated:
        return get_args(hint)[1]
    if get_origin(hint) is tuple:
        return _check_of_tuple(get_args(hint))
    if hint in _OF_PLAIN:
        return _OF_PLAIN[hint]
    return partial(_instance, kinds=(hint,)) if isinstance(hint, type) else _as_it_is


def _check_of_union(members: tuple[Any, ...]) -> Check:
    others = tuple(each for each in members if each is not NoneType)
    if len(others) == 1:
        check = _check_of(others[0])
    else:
        check = partial(_instance, kinds=others) if all(isinstance(each, type) for each in others) else _as_it_is
    if len(others) == len(members):
        return check
    return lambda name, value: None if value is None else check(name, value)


def _check_of_tuple(members: tuple[Any, ...]) -> Check:
    is_of_one_kind = len(members) == 2 and members[1] is Ellipsis
    checks = tuple(_check_of(each) for each in members if each is not Ellipsis)

    def check(name: str, value: object) -> tuple[object, ...]:
        given = sequence(name, value)
        if not is_of_one_kind and len(given) != len(checks):
            raise KafkaLearnError(f"{name} must have {len(checks)} members, got {len(given)}: {shown(given)}")
        each_check = checks * len(given) if is_of_one_kind else checks
        try:
            kept = tuple([check_one(name, each) for check_one, each in zip(each_check, given, strict=True)])
        except KafkaLearnError:
            for place, (check_one, each) in enumerate(zip(each_check, given, strict=True)):
                check_one(f"{name}[{place}]", each)  # a name for each place is made only where one is needed
            raise
        return value if isinstance(value, tuple) and all(map(is_, kept, given)) else kept

    return check


def _instance(name: str, value: object, kinds: tuple[type, ...]) -> object:
    if not isinstance(value, kinds):
        allowed = " or ".join(kind.__name__ for kind in kinds)
        raise KafkaLearnError(f"{name} must be {allowed}, got {type(value).__name__} {shown(value)}")
    return text(name, value) if isinstance(value, str) else value


def _as_it_is(_: str, value: object) -> object:
    return value
