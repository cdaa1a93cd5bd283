"""Events and effects that say themselves."""

import ast
from dataclasses import FrozenInstanceError, fields
from importlib import import_module
from string import Formatter

import pytest

from kafkalearn.base import facts
from tests.project.modules import MODULES, ROOT


class Enqueued(facts.Effect, says="a chunk of {topic:cut 10} has {offsets:of record}: {offsets:span}"):
    topic: str
    offsets: tuple[int, ...]


class LeaderMoved(facts.Event, says="{broker_id:broker} leads, {ms:duration} later"):
    """A partition has another leader."""

    broker_id: int | None
    ms: int = 0


def declared(kind: type = facts.Effect) -> set[type]:
    for module in MODULES:
        if not module.startswith(("kafkalearn.spark", "kafkalearn.oncall", "kafkalearn.lab", "kafkalearn.live")):
            import_module(module)
    below = kind.__subclasses__()
    return {each for each in below if each.__module__.startswith("kafkalearn.")}.union(*map(declared, below))


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (Enqueued("orders", (3,)), "a chunk of orders has 1 record: 3"),
        (Enqueued("orders-of-1999", (3, 4)), "a chunk of order…-1999 has 2 records: 3 to 4"),
        (LeaderMoved(None), "nobody leads, 0 s later"),
        (LeaderMoved(2, 1500), "broker 2 leads, 1,500 ms later"),
        (7, ""),
    ],
)
def test_a_fact_says_its_fields_in_its_sentence(fact, words):
    assert facts.in_words(fact) == words


def test_a_fact_is_a_frozen_value():
    assert LeaderMoved(2) == LeaderMoved(2, ms=0) != LeaderMoved(3)
    assert len({LeaderMoved(2), LeaderMoved(2)}) == 1
    with pytest.raises(FrozenInstanceError):
        LeaderMoved(2).ms = 7


def test_every_sentence_names_fields_of_its_class_and_formats_that_there_are():
    kinds = declared() - {facts.Event}
    assert kinds
    for kind in kinds:
        for _, name, form, _ in Formatter().parse(kind.says):
            assert name is None or name.partition(".")[0] in {each.name for each in fields(kind)}, kind
            is_word = not form or form == "," or form in facts._WORDS or form.partition(" ")[0] in ("of", "cut")
            assert is_word, (kind, form)


def test_every_public_class_has_a_docstring_or_says_itself():
    for path in sorted((ROOT / "kafkalearn").rglob("*.py")):
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                says = [keyword for keyword in each.keywords if keyword.arg == "says"]
                assert ast.get_docstring(each) or says, f"{path.name}: {each.name}"
