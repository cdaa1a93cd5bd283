"""Cases that were drawn at random for real brokers: what each step led to, and what was written of it."""

from conformance.mechanisms import MECHANISMS
from conformance.search import compare
from tests.every import every_case
from tests.recorded import recorded

CASES = recorded("group-cases")["cases"]


def name_of(case):
    return f"{case['mechanism']}, {case['release']}"


@every_case("case", CASES, ids=name_of)
def test_a_real_broker_answered_and_wrote_what_we_answer_and_write(case):
    line = case["release"].rpartition(".")[0]
    assert compare(MECHANISMS[case["mechanism"]], line, case["case"], case["broker"]) is None


def test_every_mechanism_of_groups_has_cases_of_the_first_release_and_of_the_last():
    assert {(each["mechanism"], each["release"]) for each in CASES} >= {
        (name, release)
        for name in ("classic groups", "KIP-848 groups", "records of the offsets topic", "expiry of committed offsets")
        for release in ("4.0.2", "4.3.1")
    }
