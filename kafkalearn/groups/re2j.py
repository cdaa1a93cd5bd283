"""What RE2J makes of a pattern, for whole names: an automaton, which needs time in proportion to a name's length.

A pattern is read from left to right into instructions (`Automaton`), as Thompson did in 1968 and RE2 does; a name is
matched by going through its letters once with the set of all places where one may be. So ``(a*)*b`` takes no longer
than ``a*b``, as in a broker, where each of its thousands of topics is matched.

Names of topics have letters, digits, ``.``, ``_`` and ``-`` alone, so that nothing of RE2J's rules for other characters
matters; what RE2J refuses is refused, and what would matter elsewhere is said to be not modelled.

References
----------
RE2J 1.7, 1.8, ``Parser`` and ``Machine``; R. Cox, "Regular Expression Matching Can Be Simple And Fast".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from kafkalearn.base.errors import KafkaLearnError

INVALID = "INVALID_REGULAR_EXPRESSION"
MOST_REPEATS = 1000  # a{1001} is refused
MOST_LETTERS, MOST_NESTED, MOST_STEPS = 10_000, 100, 50_000
"""What is modelled of a pattern: its length, parentheses in each other, and the size of its automaton."""

Ranges: TypeAlias = tuple[tuple[str, str], ...]
_ANY: Ranges = (("\0", "\t"), ("\x0b", "\U0010ffff"))  # all but the line's end
_DIGIT: Ranges = (("0", "9"),)
_LOWER, _UPPER = ("a", "z"), ("A", "Z")
_WORD: Ranges = (*_DIGIT, _UPPER, ("_", "_"), _LOWER)
_SPACE: Ranges = (("\t", "\n"), ("\f", "\r"), (" ", " "))
_PUNCT: Ranges = (("!", "/"), (":", "@"), ("[", "`"), ("{", "~"))
POSIX: MappingProxyType[str, Ranges] = MappingProxyType(
    {
        "alnum": (*_DIGIT, _UPPER, _LOWER),
        "alpha": (_UPPER, _LOWER),
        "ascii": (("\0", "\x7f"),),
        "digit": _DIGIT,
        "lower": (_LOWER,),
        "upper": (_UPPER,),
        "punct": _PUNCT,
        "word": _WORD,
        "xdigit": (*_DIGIT, ("A", "F"), ("a", "f")),
    }
)
_PERL: MappingProxyType[str, Ranges] = MappingProxyType({"d": _DIGIT, "s": _SPACE, "w": _WORD})
_CONTROL: MappingProxyType[str, str] = MappingProxyType(
    {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
)
_REPEAT = re.compile(r"\{(\d{1,9})(?:(,)(\d{0,9}))?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?(P?)<([A-Za-z0-9_]+)>")


@dataclass(frozen=True, slots=True)
class Letters:
    """A step over one letter that lies in one of the ranges, or in none of them."""

    ranges: Ranges
    is_negated: bool = False
    is_folded: bool = False  # a capital letter is as good as a small one

    def has(self, letter: str) -> bool:
        """Whether the step goes over a letter."""
        same = {letter, *((letter.lower(), letter.upper()) if self.is_folded and letter.isascii() else ())}
        return any(low <= each <= high for each in same for low, high in self.ranges) is not self.is_negated


@dataclass(frozen=True, slots=True)
class Between:
    """A step over nothing, where the letters around allow it: a sign of ``^$bBAz``."""

    sign: str

    def holds(self, before: str, after: str) -> bool:
        """Whether it may be taken between two letters; an empty one is an end of the name."""
        match self.sign:
            case "^" | "A":
                return not before
            case "$" | "z":
                return not after
        is_border = _is_word(before) is not _is_word(after)
        return is_border is (self.sign == "b")


def _is_word(letter: str) -> bool:
    return bool(letter) and any(low <= letter <= high for low, high in _WORD)


Step: TypeAlias = Letters | Between | tuple[int, ...]  # the last: go on at each of these, so many steps from here


class Automaton:
    """The steps of a pattern; behind the last one a name is matched.

    Examples
    --------
    >>> automaton = compiled("(a*)*b")
    >>> automaton.matches("a" * 200 + "b"), automaton.matches("a" * 200)
    (True, False)
    """

    def __init__(self, steps: tuple[Step, ...]) -> None:
        """Of all steps, in the order in which they were written."""
        self.steps = steps

    def matches(self, name: str) -> bool:
        """Whether the whole name is matched."""
        places: Iterable[int] = (0,)
        for before, letter in zip(("", *name), name, strict=False):
            stands = self._reached(places, before, letter)
            places = {at + 1 for at in stands if isinstance(step := self._at(at), Letters) and step.has(letter)}
            if not places:
                return False
        return len(self.steps) in self._reached(places, name[-1:], "")

    def _at(self, at: int) -> Step | None:
        return self.steps[at] if at < len(self.steps) else None

    def _reached(self, places: Iterable[int], before: str, after: str) -> set[int]:
        """Where one may be without a further letter."""
        waiting, reached = list(places), set()
        while waiting:
            at = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            step = self._at(at)
            if isinstance(step, tuple):
                waiting += [at + way for way in step]
            elif isinstance(step, Between) and step.holds(before, after):
                waiting.append(at + 1)
        return reached


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Automaton:
    """The automaton of a pattern.

    Raises
    ------
    KafkaLearnError
        If RE2J refuses the pattern, with the reason; or if it has what is not modelled.
    """
    return Automaton(tuple(_Reader(pattern).whole()))


class _Reader:
    """Reads a pattern from left to right and writes its steps."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.depth = pattern, 0, 0
        self.names: set[str] = set()
        self.is_folded = False

    def whole(self) -> list[Step]:
        if len(self.pattern) > MOST_LETTERS:
            raise KafkaLearnError(f"a pattern of more than {MOST_LETTERS:,} letters is not modelled")
        written = self._alternatives()
        if self.at < len(self.pattern):
            raise self._refused("')' without '('")
        return written

    def _alternatives(self) -> list[Step]:
        """All up to the end, or to the parenthesis that closes; flags hold to there."""
        before = self.is_folded
        ways: list[list[Step]] = [[]]
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                ways.append([])
                continue
            flags = _FLAGS.match(self.pattern, self.at)
            if flags and flags[3] == ")":
                self.at = flags.end()
                if self._peek_is_count():
                    raise self._not_modelled("a quantifier behind a flag")
                if self._set(flags) and "|" in self.pattern[self.at :]:
                    raise self._not_modelled("a flag before '|'")
                continue
            ways[-1] += self._repeated()
            self._hold(sum(map(len, ways)))
        self.is_folded = before
        return _either(ways)

    def _set(self, flags: re.Match[str]) -> bool:
        """Take flags over; whether one of them is about capital letters."""
        folded, unfolded = "i" in flags[1], "i" in (flags[2] or "")
        if folded or unfolded:
            self.is_folded = not unfolded
        return folded or unfolded

    def _repeated(self) -> list[Step]:
        """One thing and what says how often."""
        one = self._one()
        count = self._count()
        if count is None:
            return one
        if self.at < len(self.pattern) and self.pattern[self.at] == "?":
            self.at += 1  # fewest first: of a whole name it is the same
        before = self.at
        if self._count() is not None:
            self.at = before
            raise self._refused(f"one quantifier behind another, {self.pattern[before - 1 : before + 1]!r}")
        low, high = count
        self._hold((len(one) + 1) * (low + 1 if high is None else high))
        once_more: list[Step] = [(1, len(one) + 1), *one]
        if high is None:
            return [*one * low, (1, len(one) + 2), *one, (-len(one) - 1,)]
        return [*one * low, *_nested(once_more, high - low)]

    def _count(self) -> tuple[int, int | None] | None:
        """From how often to how often; None for the second: without an end. None: it says nothing of it."""
        rest = self.pattern[self.at : self.at + 1]
        if rest and rest in "*+?":
            self.at += 1
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[rest]
        found = _REPEAT.match(self.pattern, self.at)
        if not found:
            return None
        low, has_more, high = int(found[1]), found[2], found[3]
        top = int(high) if high else low
        if low > MOST_REPEATS or top > MOST_REPEATS or top < low:
            raise self._refused(f"such a count, {found[0]}")
        self.at = found.end()
        return low, None if has_more and not high else top

    def _one(self) -> list[Step]:
        sign = self.pattern[self.at]
        if sign == "(":
            return self._group()
        if sign == "[":
            return [self._class()]
        if sign == "\\":
            return self._escape()
        if sign in "*+?":
            raise self._refused(f"{sign!r} with nothing before it")
        self.at += 1
        if sign == "{" and self._peek_is_count():
            raise self._not_modelled("a quantifier behind '{'")
        if sign in "^$":
            return [Between(sign)]
        return [Letters(_ANY) if sign == "." else self._letter(sign)]

    def _letter(self, letter: str) -> Letters:
        return Letters(((letter, letter),), is_folded=self.is_folded)

    def _group(self) -> list[Step]:
        start, before = self.at, self.is_folded
        named, flags = _NAMED.match(self.pattern, start), _FLAGS.match(self.pattern, start)
        if named and not named[1]:
            raise self._not_modelled("(?<name>, which RE2J knows since 1.8")
        if named:
            if named[2] in self.names:
                raise self._refused(f"a second group {named[2]!r}")
            self.names.add(named[2])
            self.at = named.end()
        elif flags:
            self.at = flags.end()
            self._set(flags)
        elif self.pattern.startswith("(?", start):
            sign = self.pattern[start : start + (4 if self.pattern.startswith("(?<", start) else 3)]
            raise self._refused(repr(sign))
        else:
            self.at += 1
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise self._not_modelled(f"what stands in more than {MOST_NESTED} parentheses")
        inner = self._alternatives()
        self.depth -= 1
        if self.at >= len(self.pattern):
            raise self._refused("'(' without ')'")
        self.at += 1
        self.is_folded = before
        return inner

    def _escape(self) -> list[Step]:
        """What stands behind a backslash, outside a class."""
        sign = self._escaped()
        if sign == "Q":
            end = self.pattern.find("\\E", self.at)
            quoted = self.pattern[self.at :] if end < 0 else self.pattern[self.at : end]
            self.at = len(self.pattern) if end < 0 else end + 2
            if len(quoted) > 1 and self._peek_is_count():
                raise self._not_modelled("a quantifier behind \\Q...\\E")
            return [self._letter(each) for each in quoted]
        if sign in "bBAz":
            return [Between(sign)]
        return [self._shorthand(sign) or self._letter(self._plain(sign, ""))]

    def _escaped(self) -> str:
        self.at += 1
        if self.at >= len(self.pattern):
            raise self._refused("a backslash at the end")
        self.at += 1
        return self.pattern[self.at - 1]

    def _shorthand(self, sign: str) -> Letters | None:
        known = _PERL.get(sign.lower())
        return None if known is None else Letters(known, is_negated=sign.isupper())

    def _plain(self, sign: str, where: str) -> str:
        """The letter that a backslash and a sign stand for."""
        if sign in "pP0x" or (sign in "1234567" and self.pattern[self.at : self.at + 1].isdigit()):
            raise self._not_modelled(f"\\{sign}")
        if sign in _CONTROL:
            return _CONTROL[sign]
        if sign.isascii() and not sign.isalnum():
            return sign
        raise self._refused(f"'\\{sign}'{where}")

    def _peek_is_count(self) -> bool:
        return self.pattern[self.at : self.at + 1] in ("*", "+", "?") or bool(_REPEAT.match(self.pattern, self.at))

    def _class(self) -> Letters:
        self.at += 1
        is_negated = self.pattern.startswith("^", self.at)
        self.at += is_negated
        ranges: list[tuple[str, str]] = []
        is_first = True
        while is_first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise self._refused("'[' without ']'")
            is_first = False
            posix = re.compile(r"\[:(\^?)(\w{0,20}):\]").match(self.pattern, self.at)
            if posix:
                if posix[2] not in POSIX or posix[1]:
                    raise self._not_modelled(posix[0])
                ranges += POSIX[posix[2]]
                self.at = posix.end()
                continue
            low = self._in_class()
            if isinstance(low, Letters):
                ranges += _outside(low.ranges) if low.is_negated else low.ranges
            elif self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
                self.at += 1
                if self.at >= len(self.pattern):
                    raise self._refused("'[' without ']'")
                high = self._in_class()
                if isinstance(high, Letters) or high < low:
                    raise self._refused(f"the range {low}-{'' if isinstance(high, Letters) else high}")
                ranges.append((low, high))
            else:
                ranges.append((low, low))
        self.at += 1
        return Letters(tuple(ranges), is_negated, self.is_folded)

    def _in_class(self) -> str | Letters:
        if self.pattern[self.at] != "\\":
            self.at += 1
            return self.pattern[self.at - 1]
        sign = self._escaped()
        return self._shorthand(sign) or self._plain(sign, " in a class")

    def _hold(self, step_count: int) -> None:
        if step_count > MOST_STEPS:
            raise self._not_modelled(f"an automaton of more than {MOST_STEPS:,} steps")

    def _refused(self, what: str) -> KafkaLearnError:
        return KafkaLearnError(f"{INVALID}: RE2J has no {what}, got {self._shown()}; name what is to match")

    def _not_modelled(self, what: str) -> KafkaLearnError:
        return KafkaLearnError(f"{what} is not modelled, got {self._shown()}; write the letters that a name may have")

    def _shown(self) -> str:
        return repr(self.pattern if len(self.pattern) <= 200 else f"{self.pattern[:200]}...")


def _either(ways: list[list[Step]]) -> list[Step]:
    """Steps that take one of several ways, and meet behind the last."""
    steps = ways[-1]
    for way in reversed(ways[:-1]):
        steps = [(1, len(way) + 2), *way, (len(steps) + 1,), *steps]
    return steps


def _nested(once_more: list[Step], count: int) -> list[Step]:
    """At most so many times: each time may be the last."""
    length = len(once_more) * count
    steps: list[Step] = []
    for number in range(count):
        rest = length - number * len(once_more)
        steps += [(1, rest), *once_more[1:]]
    return steps


def _outside(ranges: Ranges) -> list[tuple[str, str]]:
    """All letters that lie in none of the ranges, which stand in order."""
    found: list[tuple[str, str]] = []
    low = 0
    for first, last in ranges:
        if ord(first) > low:
            found.append((chr(low), chr(ord(first) - 1)))
        low = ord(last) + 1
    return [*found, (chr(low), "\U0010ffff")]
