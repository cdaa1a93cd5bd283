"""What becomes of the classic protocol's settings: each is one that exists, and what is refused a client refuses."""

from kafkalearn.oncall.upgrade import NOT_WITH_CONSUMER_PROTOCOL, refusals
from kafkalearn.releases.group_protocols import KINDS, MEANINGS, all_moves, moves, rows
from kafkalearn.releases.settings import ABSENT, settings_named
from tests.recorded import recorded


def test_every_entry_is_whole_and_every_setting_is_one_of_a_release():
    assert len({move.name for move in all_moves()}) == len(all_moves()) == len(moves()) == len(rows())
    for move in all_moves():
        assert (move.kind in KINDS, move.what in MEANINGS, bool(move.becomes and move.source)) == (True, True, True)
        if move.kind in ("consumer", "broker"):
            own = [each for each in settings_named(move.name) if each.side == move.kind]
            assert any(each.in_release("4.0") is not ABSENT for each in own), move.name


def test_refused_is_what_the_client_refuses():
    names = [move.name for move in moves("refused")]
    assert set(names) == set(NOT_WITH_CONSUMER_PROTOCOL)
    for name in names:
        value = "org.apache.kafka.clients.consumer.RangeAssignor" if "strategy" in name else "5000"
        assert refusals({"group.protocol": "consumer", name: value}, "consumer", "4.4")
    cases = [
        case for case in recorded("client-settings")["cases"] if case["settings"].get("group.protocol") == "consumer"
    ]
    for case in cases:
        if {*case["settings"]} & {*names}:
            assert "4.0.2" in case["refused"], case
    assert len(cases) >= 3
