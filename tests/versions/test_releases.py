from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, Release, at_least, parse_release, release_line

lines = st.sampled_from(RELEASES)
patches = st.integers(0, 30)


def test_the_lines_are_listed_in_the_order_of_their_release():
    assert (RELEASES[0], RELEASES[-1], DEFAULT_RELEASE) == ("0.8.2", "4.3", "4.3")
    assert all(parse_release(before) < parse_release(after) for before, after in pairwise(RELEASES))


@given(lines, patches)
def test_a_patch_belongs_to_its_line_and_reads_back_as_it_was_written(line, patch):
    release = parse_release(f"{line}.{patch}")
    assert (release.line, str(release)) == (line, f"{line}.{patch}")
    assert parse_release(release) is release


@given(lines, patches, lines, patches)
def test_a_patch_comes_after_all_of_an_older_line(line, patch, other, other_patch):
    mine, its = parse_release(f"{line}.{patch}"), parse_release(f"{other}.{other_patch}")
    assert (mine < its) == ((RELEASES.index(line), patch) < (RELEASES.index(other), other_patch))


@given(lines, lines)
def test_a_line_has_what_came_with_it_and_with_every_older_one(since, release):
    assert at_least(since, release) == (RELEASES.index(since) <= RELEASES.index(release))


@given(lines, patches)
def test_a_line_stands_for_its_newest_patch_and_a_patch_only_for_itself(line, patch):
    came_with = f"{line}.{patch}"
    assert at_least(came_with, line)
    assert at_least(came_with, came_with)
    assert not at_least(f"{line}.{patch + 1}", came_with)


def test_without_a_release_the_newest_line_is_asked():
    assert at_least("4.3")
    assert at_least("4.3.9")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("4.4", "unknown release '4.4'; did you mean '4.3'"),
        ("3.10", "unknown release '3.10'; did you mean '3.1'"),
        ("0.10", r"'0.10.2' or '0.10.1'\? \(known: 0.8.2 to 4.3 and their patches\)"),
        ("v4.3", "did you mean '4.3'"),
        (" 4.3", "did you mean '4.3'"),
        ("4.3.", "did you mean '4.3'"),
        ("4.3.x", "did you mean '4.3'"),
        ("4.3.0.1", "did you mean '4.3'"),
        ("4.3.\u0663", "did you mean '4.3'"),
        ("trunk", "unknown release 'trunk'"),
        ("", "unknown release ''"),
        (4.3, "release must be a str, got float 4.3; put it in quotes"),
        (None, "release must be a str, got NoneType None"),
    ],
)
def test_what_is_no_release_is_refused_with_the_nearest_ones(asked, said):
    for ask in (parse_release, release_line, at_least):
        with pytest.raises(KafkaLearnError, match=said):
            ask(asked)


def test_a_release_can_be_kept_in_a_state():
    assert {parse_release("4.3"): 1}[Release((4, 3))] == 1
