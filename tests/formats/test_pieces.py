"""A file that is read in pieces says what it says as a whole."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.formats.disk import parse_segment, transaction_outcomes
from kafkalearn.formats.pieces import index, joined, read_piece, reader, reason_for
from kafkalearn.formats.segments import Span, Unread, damaged_end
from kafkalearn.log import simulate
from tests.formats.disk import FOLDER
from tests.formats.test_segments import mutated
from tests.formats.writing import log_batch
from tests.log.partitions import PASSES
from tests.log.schedules import mixed_schedules, possible, small_settings

READ = reader()


def in_pieces(files, piece_bytes):
    """What the pieces of a log say, from its files as (base offset, bytes): batches, how their transactions ended,
    whether markers have data, and the places that are unread."""
    pieces = [
        (data, piece) for base, data in files for piece in index(data, Span(0, len(data), base), piece_bytes, READ)
    ]
    whole = zip(pieces, joined([piece for _, piece in pieces]), strict=True)
    found = [each for (data, _), piece in whole for each in read_piece(data, piece, READ)]
    batches = [each for each in found if not isinstance(each, Unread)]
    return (
        [each.batch for each in batches],
        [each.in_log.transaction for each in batches],
        [each.in_log.has_data for each in batches],
        [(each.position, each.size_bytes, each.reason) for each in found if isinstance(each, Unread)],
    )


def at_once(files):
    """The same, from the reader of whole files."""
    parts = [parse_segment(data, base_offset=base, skip_damaged=True) for base, data in files]
    batches = [batch for part in parts for batch in part.batches]
    unread = [rest for part in parts for rest in (*part.skipped, *([part.rest] if part.rest else []))]
    outcomes = list(transaction_outcomes(batches))
    with_data, has_data = set(), []
    for batch, outcome in zip(batches, outcomes, strict=True):
        is_marker = batch.is_control and outcome is not None
        has_data.append(batch.producer_id in with_data if is_marker else None)
        if is_marker:
            with_data.discard(batch.producer_id)
        elif batch.is_transactional and not batch.is_control:
            with_data.add(batch.producer_id)
    return batches, outcomes, has_data, [(each.position, each.size_bytes, each.reason) for each in unread]


def recorded_logs():
    found = [[(0, path.read_bytes())] for path in sorted((FOLDER / "disk").rglob("*.log"))]
    for each in PASSES:
        found.append([(int(name[:20]), data) for name, data in sorted(each.before.items())])
    return found


@pytest.mark.parametrize("piece_bytes", [1, 200, 1000, 1 << 30])
def test_pieces_of_recorded_partitions_say_what_the_whole_says(piece_bytes):
    outcomes = Counter()
    for files in recorded_logs():
        found = in_pieces(files, piece_bytes)
        assert found == at_once(files)
        outcomes.update(zip(found[1], found[2], strict=True))
    assert {("ABORT", None), ("COMMIT", None), ("OPEN", None), ("ABORT", False), ("COMMIT", True)} <= outcomes.keys()


@given(small_settings, mixed_schedules, st.sampled_from([1, 150, 400]))
def test_pieces_of_generated_logs_say_what_the_whole_says(log_settings, schedule, piece_bytes):
    log = simulate(log_settings, possible(log_settings, schedule))[-1].state
    files = [(each.base_offset, b"".join(map(log_batch, each.batches))) for each in log.segments]
    assert in_pieces(files, piece_bytes) == at_once(files)


def test_a_piece_is_hardly_larger_than_asked_and_every_byte_is_in_one():
    data = max((path.read_bytes() for path in (FOLDER / "disk").rglob("*.log")), key=len)
    spans = [piece.span for piece in index(data, Span(0, len(data)), 2000, READ)]
    largest = max(each.size_bytes for each in parse_segment(data).batches)

    assert [0, *(each.end for each in spans)] == [*(each.start for each in spans), len(data)]
    assert len(spans) > 5
    assert max(each.end - each.start for each in spans) <= 2000 + largest


@pytest.mark.parametrize("seed", range(3))
def test_pieces_of_damaged_files_hold_what_can_be_read_and_name_the_rest(seed):
    rng, paths = random.Random(seed), sorted((FOLDER / "disk").rglob("*.log"))
    for _ in range(40):
        data, _, _ = mutated(rng, rng.choice(paths).read_bytes())
        batches, _, _, unread = in_pieces([(0, data)], rng.choice((1, 500, 5000)))
        whole, _, _, unread_whole = at_once([(0, data)])
        assert batches == whole
        assert merged(unread) == merged(unread_whole)


def merged(unread):
    """The bytes that were left out, whichever reason they were given."""
    return {at for position, size, _ in unread for at in range(position, position + size)}


@settings(max_examples=20)
@given(st.integers(0, 5), st.booleans())
def test_the_reason_for_a_damaged_batch_is_that_of_the_whole_file(number, is_last):
    path = sorted((FOLDER / "disk").rglob("*.log"))[number]
    data = bytearray(path.read_bytes())
    batch = parse_segment(bytes(data)).batches[number]
    data[batch.position + 70] ^= 1
    data, span = bytes(data), Span(0, len(data), 0, 1 << 40)

    whole = parse_segment(data).rest
    unread = next(
        each
        for piece in index(data, span, 1, READ)
        for each in read_piece(data, piece, READ)
        if isinstance(each, Unread)
    )
    words, is_tail = reason_for(data, unread, span, is_last, READ)
    if whole.behind or is_last:
        assert (words, is_tail) == (whole.reason, whole.behind is None)
    else:
        assert (words, is_tail) == (damaged_end(whole.reason, 1 << 40), False)
