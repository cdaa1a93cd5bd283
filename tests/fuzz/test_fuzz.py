"""Odd input is refused with an error of the library: no other error, no call that never ends, no state changed."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from tests.fuzz.faults import Faults
from tests.fuzz.search import PARTS, fuzz

SEED = 1
ROUNDS = 5  # the night tries other seeds, for ten minutes


AT_ONCE = 12  # parts in one process, which takes longer to begin than to try one part; it may use a gigabyte
LOTS = [(kind, parts[at : at + AT_ONCE]) for kind, parts in PARTS.items() for at in range(0, len(parts), AT_ONCE)]


@pytest.mark.parametrize(("kind", "parts"), LOTS, ids=[f"{kind} from {parts[0]}" for kind, parts in LOTS])
def test_odd_input_is_refused_or_answered(kind, parts):
    is_clean, said = fuzz(kind, parts, SEED, ROUNDS)

    assert is_clean, said


def refuse():
    raise KafkaLearnError("a sentence")


def go_on_for_ever():
    while True:
        pass


def test_what_is_no_error_of_the_library_is_a_fault_and_what_is_documented_is_none():
    faults = Faults()

    assert faults.attempt("refused", refuse) == []
    assert faults.attempt("answered", lambda: iter([1, 2])) == [[1, 2]]
    assert faults.attempt("documented", lambda: 1 // 0, {"ZeroDivisionError"}) == []
    assert (faults.tried, faults.refused, faults.found) == (3, 1, {})
    faults.attempt("raw", lambda: 1 // 0)
    assert list(faults.found.values()) == ["raw: integer division or modulo by zero"]


def test_a_call_that_never_ends_is_a_fault(monkeypatch):
    monkeypatch.setattr("tests.fuzz.faults.PROCESSOR_SECONDS", 0.05)
    faults = Faults()
    faults.attempt("spins", go_on_for_ever)

    (what,) = faults.found
    assert "NeverEnds" in what
