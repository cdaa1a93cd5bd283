"""Validate arguments: bad input is refused in one sentence that says what came, what is allowed, what to do.

Functions check their arguments one by one. What a field of an event or of settings may hold is said in its annotation,
and checked when one is made (`Checked`): ``ms: Millis`` is a whole number of at least 0, ``isr: tuple[BrokerId, ...]``
any number of brokers, a list of them too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import fields
from functools import cache, partial
from operator import index, is_
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
    overload,
)

from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name

LARGEST_INT = 2**31 - 1  # of 32 bits: partitions, epochs, sizes, most settings
LARGEST_LONG = 2**63 - 1  # of 64 bits: offsets, times, producer ids; Kafka has no larger number


def whole_number(name: str, value: object, at_least: int, at_most: int = LARGEST_LONG) -> int:
    """Return `value` if it is an int of at least `at_least`; True and 3.0 are not ints here.

    `at_most` is where Kafka's own number ends, or what can be computed in the time of a lesson.

    >>> whole_number("partition_count", 50, at_least=1)
    50
    >>> whole_number("partition_count", 0, at_least=1)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: partition_count must be at least 1, got 0
    """
    number = _index(value)
    if number is None:
        raise KafkaLearnError(
            f"{name} must be a whole number of at least {at_least}, got {type(value).__name__} {shown(value)}"
        )
    if number < at_least:
        raise KafkaLearnError(f"{name} must be at least {at_least}, got {shown(number)}")
    if number > at_most:
        raise KafkaLearnError(f"{name} must be at most {at_most:,}, got {shown(number)}")
    return number


def _index(value: Any) -> int | None:
    """Convert a whole number to int, NumPy's integers included; None if it is not one."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None


def number(name: str, value: object, at_least: float = -LARGEST_LONG, at_most: float = LARGEST_LONG) -> float:
    """Return `value` if it is an int or a float within these bounds; NaN and infinity are not.

    >>> number("share", 0.5, at_least=0, at_most=1)
    0.5
    >>> number("records_per_second", float("nan"), at_least=0)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: records_per_second must be a number of at least 0, got nan
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not at_least <= value <= at_most:  # NaN is in no order with any number
        least = "" if at_least == -LARGEST_LONG else f" of at least {at_least:,}"
        most = "" if at_most == LARGEST_LONG else f" {'and' if least else 'of'} at most {at_most:,}"
        raise KafkaLearnError(f"{name} must be a number{least}{most}, got {shown(value)}")
    return value


def flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False; 1, 0 and "false" are not.

    >>> flag("is_commit", "false")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: is_commit must be True or False, got 'false'
    """
    if not isinstance(value, bool):
        raise KafkaLearnError(f"{name} must be True or False, got {shown(value)}")
    return value


def text(name: str, value: object) -> str:
    """Return `value` if it is a str that can be written as UTF-8, as everything Kafka sends must be.

    A lone surrogate (half of a character above U+FFFF) has no UTF-8 form and cannot cross the wire.

    >>> text("group_id", None)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: group_id must be a str, got None; Kafka answers INVALID_GROUP_ID to null
    """
    if value is None and name == "group_id":
        raise KafkaLearnError("group_id must be a str, got None; Kafka answers INVALID_GROUP_ID to null")
    if not isinstance(value, str):
        hint = "; decode it first: value.decode()" if isinstance(value, bytes | bytearray) else ""
        raise KafkaLearnError(f"{name} must be a str, got {type(value).__name__} {shown(value)}{hint}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise KafkaLearnError(
            f"{name} {shown(value)} has a lone surrogate at index {error.start}: it has no UTF-8 form, "
            "so no client can send it; use the whole character"
        ) from None
    return value


def key_bytes(name: str, value: object) -> bytes:
    """Return `value` as bytes; a str is refused, because the same text in two encodings is two keys.

    >>> key_bytes("key", "user-42")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: key must be bytes, got str 'user-42'; encode it first: key.encode()
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if value is None:
        raise KafkaLearnError(
            f"{name} must be bytes, got None; a record without a key has no partition of its own, "
            "see kafkalearn.partitioning.keyless"
        )
    hint = f"; encode it first: {name}.encode()" if isinstance(value, str) else ""
    raise KafkaLearnError(f"{name} must be bytes, got {type(value).__name__} {shown(value)}{hint}")


Name = TypeVar("Name", bound=str)
Member = TypeVar("Member")
Key = TypeVar("Key")


def one_of(kind: str, value: Name, known: Collection[str]) -> Name:
    """Return `value` if it is one of the known names; else the error names the nearest.

    >>> one_of("reset", "latests", ["earliest", "latest"])
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: unknown reset 'latests'; did you mean 'latest'? Known: 'earliest', 'latest'
    """
    if not isinstance(value, str) or value not in known:
        raise unknown_name(kind, value, known)
    return value


@overload
def sequence(name: str, value: Iterable[Member], of: str = "values") -> tuple[Member, ...]: ...
@overload
def sequence(name: str, value: object, of: str = "values") -> tuple[object, ...]: ...
def sequence(name: str, value: object, of: str = "values") -> tuple[object, ...]:
    """Return the members of a list, a tuple or another ordered collection; `of` says what they are.

    A text is no such collection: its letters would be taken for the members.

    >>> sequence("topics", ["orders"])
    ('orders',)
    >>> sequence("topics", "orders", of="names")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: topics must be a list or tuple of names, got str 'orders'
    """
    if type(value) is tuple:
        return value
    is_other = isinstance(value, (str, bytes, bytearray, Mapping, Set))
    if is_other or not isinstance(value, Sequence) or len(value) > LARGEST_INT:
        raise KafkaLearnError(f"{name} must be a list or tuple of {of}, got {type(value).__name__} {shown(value)}")
    return tuple(value)


@overload
def iterable(name: str, value: Iterable[Member], of: str = "values") -> Iterable[Member]: ...
@overload
def iterable(name: str, value: object, of: str = "values") -> Iterable[object]: ...
def iterable(name: str, value: object, of: str = "values") -> Iterable[object]:
    """Return `value` if it is iterable and not a string, whose letters would pass for the members.

    >>> iterable("events", None, of="events")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: events must be a collection of events, got NoneType None
    """
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Iterable):
        raise KafkaLearnError(f"{name} must be a collection of {of}, got {type(value).__name__} {shown(value)}")
    return value


@overload
def mapping(name: str, value: Mapping[Key, Member], of: str) -> Mapping[Key, Member]: ...
@overload
def mapping(name: str, value: object, of: str) -> Mapping[object, object]: ...
def mapping(name: str, value: object, of: str) -> Mapping[object, object]:
    """Return `value` if it is a mapping such as a dict; `of` says from what to what.

    >>> mapping("last_offsets", ["orders-0"], of="partition to offset")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: last_offsets must be a dict from partition to offset, got list ['orders-0']
    """
    if not isinstance(value, Mapping):
        raise KafkaLearnError(f"{name} must be a dict from {of}, got {type(value).__name__} {shown(value)}")
    return value


# Fields: what their annotations may say.


class Whole(NamedTuple):
    """The bounds of a whole number; in the annotation of a field it validates that field.

    >>> Whole(1, 1000)("replica_count", 3)
    3
    """

    at_least: int = 0
    at_most: int = LARGEST_LONG

    def __call__(self, name: str, value: object) -> int:
        """Return `value` if it is a whole number within the bounds."""
        return whole_number(name, value, self.at_least, self.at_most)


Count: TypeAlias = Annotated[int, Whole(1, LARGEST_INT)]
Index: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]
PartitionCount: TypeAlias = Annotated[int, Whole(1, 10_000)]  # of a topic that is stepped through
MOST_RECORDS = 100_000  # of one event, all of which are in the state; 1 MiB, a batch, has fewer than 150,000
RecordCount: TypeAlias = Annotated[int, Whole(1, MOST_RECORDS)]
BrokerId: TypeAlias = Annotated[int, Whole(1, LARGEST_INT)]  # of the clusters here, which count from 1
NodeId: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]  # what Kafka takes as a broker's id
Offset: TypeAlias = Annotated[int, Whole(0)]
Millis: TypeAlias = Annotated[int, Whole(0)]


def fill_in(settings: object, **defaults: object) -> None:
    """Replace fields of a frozen dataclass that are None by their default; the others keep their value.

    To be called in ``__post_init__`` of settings whose defaults depend on the release.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Settings:
    ...     interval_ms: int | None = None
    >>> settings = Settings()
    >>> fill_in(settings, interval_ms=3000)
    >>> settings
    Settings(interval_ms=3000)
    """
    for name, value in defaults.items():
        if getattr(settings, name) is None:
            object.__setattr__(settings, name, value)


Held = TypeVar("Held")

if TYPE_CHECKING:

    class FilledIn(Generic[Held]):
        """An optional field: `kafkalearn.base.checks.fill_in` replaces None by its default, so no reader meets None.

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


# Fields: how they are checked.


class Checked:
    """A frozen dataclass that validates its fields against their annotations (`check_fields`).

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class TimePassed(Checked):
    ...     ms: Millis
    >>> TimePassed(-1)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: ms must be at least 0, got -1
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        """Refuse what a field cannot hold."""
        check_fields(self)


def check_fields(checked: object) -> None:
    """Validate every field of a dataclass against its annotation; lists become tuples.

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


Check: TypeAlias = Callable[[str, object], object]

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
