"""The matrix of results: what its searches find, and that each witness shows it."""

from itertools import product

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery import NONE_DOUBLED, NONE_LOST, ORDER_KEPT, SendAgain, broken, record_results
from kafkalearn.delivery.matrix_search import CELL_RESULTS, FAILURES, PRODUCERS, can_be, rows
from kafkalearn.delivery.matrix_search import matrix as search_all
from kafkalearn.delivery.simulator import DOUBLED, LOST, OUT_OF_ORDER, SAFE

BREAKS = {LOST: NONE_LOST, DOUBLED: NONE_DOUBLED, OUT_OF_ORDER: ORDER_KEPT}
DEFAULT, ASIDE = "acks=all, idempotent", "idempotent, puts aside"

CLEAN = {"unclean": (False,), "min_isr": (1,)}
whole = pytest.param({}, marks=pytest.mark.long, id="whole")


@pytest.fixture(scope="module", params=[pytest.param(CLEAN, id="clean elections, one in sync suffices"), whole])
def cells(request):
    """Of each failure and each producer one cell, or all, by failure, producer, the two settings of the topic."""
    return {(cell.failure, cell.producer, *cell[2:4]): cell for cell in search_all(**request.param)}


def test_each_witness_ends_as_its_name_says(cells):
    for cell in cells.values():
        for result, trace in cell.witnesses:
            end = trace[-1].state
            if result in BREAKS:
                assert BREAKS[result] in broken(cell.settings, end), cell[:4]
            elif result == SAFE:
                assert {record.result for record in record_results(end)} == {SAFE}, cell[:4]
            elif result == "given up":
                assert "rejected" in {record.result for record in record_results(end)}, cell[:4]
                assert not end.producer.put_aside
            elif result == "offline":
                assert end.partition.controller.leader is None, cell[:4]
            else:
                assert [request.error for request in end.producer.in_flight] == ["NOT_ENOUGH_REPLICAS"], cell[:4]


def test_each_failure_and_producer_has_a_row_with_the_worst_that_can_happen(cells):
    assert {key[:2] for key in cells} == {*product(FAILURES, PRODUCERS)}
    assert all(cell.results for cell in cells.values())
    assert [row["worst"] for row in rows(cells.values())] == [cell.worst for cell in cells.values()]


@pytest.mark.parametrize("cells", [whole], indirect=True)
def test_the_matrix_is_whole(cells):
    assert len(cells) == len(FAILURES) * len(PRODUCERS) * 4
    assert {result for cell in cells.values() for result in cell.results} == set(CELL_RESULTS)


@pytest.mark.parametrize(
    ("failure", "producer", "is_unclean", "min_isr", "expected"),
    [
        ("the leader dies", "acks=1", False, 1, "lost"),  # L01
        ("the leader dies", "acks=all", False, 1, "doubled"),  # L04
        ("the leader dies", DEFAULT, False, 1, "safe"),  # L05
        ("the followers are away, the leader dies", DEFAULT, True, 1, "lost"),  # L06
        ("the followers are away, the leader dies", DEFAULT, False, 1, "offline"),  # L07
        ("the followers are away, the leader dies", DEFAULT, True, 2, "rejected"),  # L08
        ("the connection breaks", "acks=all", False, 1, "doubled"),  # L10
        ("the connection breaks", DEFAULT, False, 1, "safe"),  # L11
        ("both in sync lose their power", DEFAULT, False, 2, "lost"),  # L14
        ("the time for a batch is over", DEFAULT, False, 1, "given up"),
        ("the time for a batch is over", ASIDE, False, 1, "doubled"),
    ],
)
def test_the_cells_that_were_recorded_say_what_was_recorded(failure, producer, is_unclean, min_isr, expected):
    (cell,) = search_all([producer], [failure], [is_unclean], [min_isr])
    assert cell.worst == expected


def test_idempotence_ends_doubling_and_reordering_and_nothing_else(cells):
    for (failure, producer, *settings), cell in cells.items():
        if producer == DEFAULT:
            other = cells[failure, "acks=all", *settings]
            assert set(cell.results) == set(other.results) - {DOUBLED, OUT_OF_ORDER}


def test_putting_aside_gives_up_nothing_and_writes_twice_where_a_batch_has_failed(cells):
    for (failure, producer, *settings), cell in cells.items():
        if producer == ASIDE:
            other = cells[failure, DEFAULT, *settings]
            if failure == "the time for a batch is over":
                assert (other.results, cell.results) == (("given up",), ("doubled", "safe"))
                assert SendAgain() in [frame.event for frame in cell.witness("doubled")]
            else:
                assert cell.results == other.results


@pytest.mark.parametrize(("release", "expected"), [("3.9", "lost"), ("4.3", "offline")])
def test_eligible_leader_replicas_save_what_the_last_in_sync_loses(release, expected):
    (cell,) = search_all([DEFAULT], ["the last in sync loses its power"], [False], [2], release)
    assert cell.worst == expected


def test_what_cannot_happen_has_no_witness_and_unknown_names_are_refused(cells):
    cell = cells["the leader dies", DEFAULT, False, 1]
    with pytest.raises(KafkaLearnError, match="no schedule of this cell ends lost; what can happen is: safe"):
        cell.witness("lost")
    with pytest.raises(KafkaLearnError, match="unknown result 'gone'"):
        cell.witness("gone")
    with pytest.raises(KafkaLearnError, match="unknown failure 'fire'"):
        search_all(failures=["fire"])
    with pytest.raises(KafkaLearnError, match="unknown producer 'acks=2'"):
        search_all(producers=["acks=2"])


def test_a_search_that_ends_at_the_first_harm_says_the_same_as_the_matrix(cells):
    harms = (LOST, DOUBLED, OUT_OF_ORDER)
    chosen = [each for each in cells.values() if not each.is_unclean_election_enabled]
    found = {each[:4]: can_be(each.settings, each.failure, harms) for each in chosen}

    assert found == {each[:4]: not {*harms}.isdisjoint(each.results) for each in chosen}
    assert {*found.values()} == {True, False}


def test_it_refuses_a_result_that_it_does_not_know(cells):
    with pytest.raises(KafkaLearnError, match="unknown result 'gone'"):
        can_be(next(iter(cells.values())).settings, "the leader dies", ["gone"])
