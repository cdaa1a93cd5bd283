"""Answers that are made to do harm, or that nobody thought of."""

from enum import Enum
from html.parser import HTMLParser

from nbconvert.filters.markdown_mistune import markdown2html_mistune

MARKUP = (
    "<img src=x onerror=alert(1)> *stars* **bold** $a_b$ `tick` ``two`` \\[x\\] | [link](javascript:alert(1))\n# line"
)


class ReprIsMarkup:
    def __repr__(self):
        return MARKUP


class ReprExits:
    def __repr__(self):
        raise SystemExit(1)


class ReprNeverEnds:
    def __repr__(self):
        while True:
            pass


class EqualToAll:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class HasEveryAttribute:
    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **named):
        return self


class NoAttribute:
    def __getattribute__(self, name):
        raise SystemExit(name)


class TextThatExits(str):
    def __eq__(self, other):
        raise SystemExit

    def __hash__(self):
        raise SystemExit

    def lower(self):
        raise SystemExit

    strip = casefold = __repr__ = __str__ = __len__ = lower


class ListThatExits(list):
    def __iter__(self):
        raise SystemExit

    __len__ = __getitem__ = __contains__ = __eq__ = __iter__


def a_class_of_an_odd_class():
    class OddMeta(type):
        def __getattribute__(cls, name):
            raise SystemExit(name)

    return OddMeta("OfOddMeta", (), {})


class Colour(Enum):
    RED = "red"


def exits(*arguments):
    raise SystemExit("bye")


def never_ends(*arguments):
    while True:
        pass


def prints_for_ever(*arguments):
    while True:
        print("again")


def gives_markup(*arguments):
    return MARKUP


def gives_an_odd_object(*arguments):
    return NoAttribute()


def raises_markup(*arguments):
    raise ValueError(MARKUP)


def raises_something_odd(*arguments):
    class Odd(BaseException):
        def __str__(self):
            raise SystemExit

    raise Odd


def spoils_its_arguments(*arguments):
    for each in arguments:
        if hasattr(each, "clear"):
            each.clear()


def around_itself():
    inside = [1]
    inside.append(inside)
    return inside


def with_itself_as_a_value():
    inside = {}
    inside["all"] = inside
    return inside


def doubled(times):
    """2**times parts, of few objects."""
    inside = [1]
    for _ in range(times):
        inside = [inside, inside]
    return inside


def nested(times):
    inside = []
    for _ in range(times):
        inside = [inside]
    return inside


VALUES = {
    "object": object(),
    "complex": 3 + 4j,
    "nested list": [[1], [2]],
    "NaN": float("nan"),
    "infinite": float("-inf"),
    "markup": MARKUP,
    "markup in its repr": ReprIsMarkup(),
    "markup in a list": [MARKUP],
    "markup as a name": {MARKUP: 1},
    "an object as a name": {ReprIsMarkup(): MARKUP},
    "repr exits": ReprExits(),
    "repr never ends": ReprNeverEnds(),
    "== raises": [EqualToAll()],
    "equal to all": EqualToAll(),
    "has every attribute": HasEveryAttribute(),
    "no attribute": NoAttribute(),
    "text that exits": TextThatExits("right"),
    "list that exits": ListThatExits([1, 2]),
    "odd metaclass": type.__call__(a_class_of_an_odd_class()),
    "odd class": a_class_of_an_odd_class(),
    "enum": Colour.RED,
    "contains itself": around_itself(),
    "dict in itself": with_itself_as_a_value(),
    "doubled": doubled(60),
    "deep": nested(500),
    "5,000 digits": 10**5000 + 1,
    "5,000 digits as text": "9" * 5000,
    "surrogate": "\ud83d",
    "bytes": b"\xff\x00",
    "bool": True,
    "many": list(range(50_000)),
    "exception": ValueError("x"),
}
"""By name: none of them is right for any exercise, but by chance."""

FUNCTIONS = (
    print,
    int,
    exits,
    never_ends,
    prints_for_ever,
    gives_markup,
    gives_an_odd_object,
    raises_markup,
    raises_something_odd,
    spoils_its_arguments,
)
"""None of them does what is asked for."""


# What a browser would make of what a check says.
OURS = {"p", "strong", "em", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "div", "span"}


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text, self.code, self.inside = [], "", "", []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, attributes))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        self.text += data
        if {"code", "pre"} & set(self.inside):
            self.code += data


def elements(html):
    parser = _Elements()
    parser.feed(html)
    parser.close()
    return parser


def strangers(result):
    """The elements of a result, in HTML and in Markdown as a notebook renders it, that are not ours."""
    both = [elements(result._repr_html_()), elements(markdown2html_mistune(result._repr_markdown_()))]
    # A block of code has a class for its language.
    return [
        each for form in both for each in form.found if each[0] not in OURS or any(n != "class" for n, _ in each[1])
    ]
