"""What fills the offsets topic, in words: the counts are those of an x-ray of the same files."""

import pytest

from kafkalearn.oncall import xray
from kafkalearn.spark.offsets import decode_offsets, group_findings
from kafkalearn.spark.offsets.segments import only_committed, segments_df
from tests.segments.disk import FOLDER

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def found(spark):
    decoded = segments_df(spark, FOLDER / "disk").transform(only_committed).transform(decode_offsets)
    return {row.group_id: row for row in group_findings(decoded).collect()}


@pytest.fixture(scope="module")
def of_files():
    return xray(FOLDER / "disk").groups


def test_each_group_has_the_counts_that_an_x_ray_of_the_files_has(found, of_files):
    there = {group_id: row for group_id, row in found.items() if not row.is_gone}

    assert there.keys() == {each.group_id for each in of_files.groups}
    for each in of_files.groups:
        row = there[each.group_id]
        assert (row.size_bytes, row.commit_count) == (each.size_bytes, each.commit_count), each.group_id
        assert (row.offset_count, row.is_dead_but_kept) == (each.offset_count, each.is_dead), each.group_id
        assert row.share == pytest.approx(each.share)


def test_groups_of_which_nothing_counts_are_counted_apart(found, of_files):
    gone = [row for row in found.values() if row.is_gone]

    assert len(gone) == of_files.gone_count > 0
    assert sum(row.size_bytes for row in gone) == of_files.gone_bytes
    assert all("the cleaner takes all of it" in row.words for row in gone)


def test_the_words_say_what_is_counted(found):
    dead = [row for row in found.values() if row.is_dead_but_kept]

    assert dead
    for row in found.values():
        assert row.words.startswith(f"{row.group_id}: {row.share * 100:.1f} % of all bytes, {row.commit_count} commits")
        assert ("nobody is in it" in row.words) == row.is_dead_but_kept
    assert sum(row.share for row in found.values()) == pytest.approx(1)
