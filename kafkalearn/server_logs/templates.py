"""The form of a message, ``Group {group} with generation {generation} is now empty``, and how a line is held to it.

A field ends where the words after it stand first, so that a line is gone through once, whatever it says. The same
form as a regular expression is for engines that take nothing else.
"""

from __future__ import annotations

import re
from functools import cached_property

NUMBERS = frozenset(
    {
        *("generation", "epoch", "count", "static_count", "previous_epoch", "duration_ms", "exceeded_ms"),
        *("session_timeout_ms", "rebalance_timeout_ms", "max_poll_interval_ms"),
    }
)
"""The fields that are whole numbers; all others are text."""

_FIELD = re.compile(r"\{(\w+)\}")
MOST_DIGITS = 18


def key_of(message: str) -> str:
    """The first word of a message, as far as an equals sign: by it a form is looked up.

    >>> key_of("[GroupId=billing] Unloaded"), key_of("Stabilized group")
    ('[GroupId', 'Stabilized')
    """
    return message.partition(" ")[0].partition("=")[0]


class Template:
    """One form of a message.

    Parameters
    ----------
    text : str
        With the names of its fields in braces; two fields never touch.

    Examples
    --------
    >>> form = Template("Group {group} with generation {generation} is now empty")
    >>> form.match("Group billing with generation 7 is now empty")
    {'group': 'billing', 'generation': 7}
    >>> form.match("Group billing with generation x is now empty") is None
    True
    """

    def __init__(self, text: str) -> None:
        """Take the text apart."""
        self.text = text
        pieces = _FIELD.split(text)
        self.first, self.names = pieces[0], tuple(pieces[1::2])
        self._steps = tuple(
            (name, following, name in NUMBERS) for name, following in zip(self.names, pieces[2::2], strict=True)
        )
        self._last = len(self._steps) - 1

    @property
    def key(self) -> str:
        """What `key_of` gives for every message of this form; empty: it begins with a field."""
        return key_of(self.first)

    @property
    def fixed_length(self) -> int:
        """How many characters are the same in every line: of two forms that fit, the one with more says more."""
        return len(_FIELD.sub("", self.text))

    def match(self, message: str) -> dict[str, object] | None:
        """The fields of a message, or None."""
        if not message.startswith(self.first):
            return None
        if not self.names:
            return {} if message == self.first else None
        at = len(self.first)
        found: dict[str, object] = {}
        for place, (name, following, is_number) in enumerate(self._steps):
            if place == self._last:
                end = len(message) - len(following)
                if end < at or not message.endswith(following):
                    return None
            else:
                end = message.find(following, at)
                if end < 0:
                    return None
            value = message[at:end]
            if is_number:
                digits = value[1:] if value[:1] == "-" else value
                if not (digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS):
                    return None
            found[name] = int(value) if is_number else value
            at = end + len(following)
        return found

    @cached_property
    def regex(self) -> str:
        """The same as a regular expression of Java and Python, a group for each field, in order."""
        parts = [re.escape(self.first)]
        for place, (_, following, is_number) in enumerate(self._steps):
            some = ".*" if place == self._last else ".*?"
            parts.append(f"({rf'-?[0-9]{{1,{MOST_DIGITS}}}' if is_number else some}){re.escape(following)}")
        return f"^{''.join(parts)}$"
