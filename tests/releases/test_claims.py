"""Every claim names a chapter, and that chapter speaks of it outside the table of claims itself."""

import re
from collections import defaultdict

import nbformat
import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.tables import table
from kafkalearn.releases.claims import all_claims, claims
from tests.every import every_case
from tools import claims as page
from tools.chapters import chapter_paths
from tools.environment import ROOT

WORDS: dict[str, str] = defaultdict(str)  # by lesson; what is claimed of a chapter may stand in any of its lessons
for path in chapter_paths():
    for chapter in {path.stem[:2], path.stem.split("_")[0]}:
        WORDS[chapter] += "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells).lower()


@every_case("claim", all_claims(), ids=lambda claim: f"{claim.chapter} {claim.says[:40]}")
def test_the_chapter_speaks_of_the_subject(claim):
    assert claim.subject.lower() in WORDS[claim.chapter]


def test_no_claim_stands_twice():
    assert len({each.says for each in all_claims()}) == len(all_claims())


def test_a_chapters_own_claims_do_not_name_it_again():
    assert list(claims("09")[0]) == ["you may have read", "true today", "since"]
    assert list(claims()[0]) == ["you may have read", "true today", "since", "chapter"]
    assert sum(len(claims(chapter)) for chapter in {each.chapter for each in all_claims()}) == len(claims())


def test_no_mark_is_left_where_claims_are_shown_or_printed():
    """A claim of one half of a pair, a backtick or a star, would stand there raw."""
    shown = table(claims())
    raw = re.compile(r"`|(?<![\w*])\*\w|\w\*\*?(?!\w)")

    assert [cell for cell in re.findall(r"<td[^>]*>(.*?)</td>", shown._repr_html_()) if raw.search(cell)] == []
    assert [str(cell) for row in claims() for cell in row.values() if raw.search(str(cell))] == []
    assert "<code>Math.abs(groupId.hashCode()) % 50</code>" in shown._repr_html_()


def test_an_unknown_chapter_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown chapter '99'"):
        claims("99")


TEXTS = {
    path.stem.split("_")[0]: " ".join(
        "\n".join(
            cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"
        ).split()
    )
    for path in chapter_paths()
}

CORRECTED = [
    ("01", "says the same and that broker 1 leads it", "prints `Leader: none` and `Replicas: 1`"),
    ("01", "the tools that copy compute partitions", "brokers refuse what a client produces to this topic"),
    ("01", "the usual way, the first consumer's |", "even for a group that is not there (`--list` sends none)"),
    ("02", "each batch is a request", "A request carries the batches of all partitions that one broker leads"),
    ("03", "moves ten or eleven of the twelve", "a restart is 12, 8 or 12 handovers"),
    ("04", "Range is the default of every client", "KafkaJS has round robin, franz-go cooperative sticky"),
    ("04", "so nobody can choose", "which the coordinator makes of their `client.id` and random characters"),
    ("04", "less than a second, in Java as here", "Kafka's own class takes some seconds"),
    ("05b", "So *one* rebalance of any group", "where the leader was cut off just then, one took 344 s"),
    ("01", "", "`__consumer_offsets` was an exception: up to 2.7 a request that names it creates it"),
    ("05b", "for most of that time nobody reads", "**Rebalancing is not standing still:**"),
    ("05b", "The article is right about the hours and", "where one consumer is much slower than the others"),
    ("05b", "hours come from many rebalances in a row. ", "an eager group waits for one that is slower"),
    ("05b", "in every broker since 4.0", "in an upgraded one once its feature `group.version` is set to 1"),
    ("06b", "chapter 07 goes on from here", "section 5 of chapter 13 goes on from here"),
    ("06b", "with a poll of its own choice", "group-metadata-manager-0"),
    ("08", "takes four times as long", "takes about six times as long as the query here"),
    ("09", "how long ago each follower was caught up, not", "How long ago each follower was caught up is no metric"),
    ("09", "its LEO has reached the HW: broker 3", "and the offset at which the leader's epoch began: broker 3"),
    ("10b", "when it started again. Then the leader died", "The leader died first (step 4), then broker 2 (5)"),
    ("12b", "shows both topics byte by byte", "chapter 15 is about the second"),
    ("12b", "new consumer fetches in `poll()`", "with `group.protocol=consumer` a thread of its own"),
    ("12b", "each flushed to the disk of", "a majority of its servers has to have it"),
    ("13", "3.9 the broker's log names it", "the log of a broker with ZooKeeper names it"),
    ("13c", "nearer end, without a word", "warns of it, but on standard error"),
    ("13c", "resets go to the end of the log without a word", "with no more than a warning, and commits"),
    ("14", "They stay until they expire", "the coordinator's next sweep, ten minutes later at most"),
    ("14", "hundreds of groups", "a quarter of an hour later they are gone"),
    ("14", "Chapter 03 has the walk", "Chapter 01 has the walk"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("chapter", "wrong", "right"), CORRECTED, ids=[f"{each[0]} {each[2][:40]}" for each in CORRECTED]
)
def test_what_was_wrong_is_gone_and_what_is_right_stands(chapter, wrong, right):
    assert not wrong or wrong not in TEXTS[chapter]
    assert right in TEXTS[chapter]


def test_the_page_of_all_claims_is_what_the_command_writes():
    written = page.PAGE.read_text(encoding="utf-8")

    assert written == page.text(), f"run {page.COMMAND}"
    assert [each.says for each in all_claims() if written.count(f"| {each.says} |") != 1] == []


GLOSSARY = {
    english: (chinese, meaning)
    for english, chinese, meaning in re.findall(
        r"^\| (.+?) \| (.+?) \| (.+) \|$",
        (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}


def test_the_words_of_chinese_articles_are_in_the_glossary():
    """As they write them, where they have two words for one thing."""
    chinese = " ".join(each[0] for each in GLOSSARY.values())
    words = ["再平衡", "消费组", "日志整理", "延时队列", "消息流", "拉取线程", "消费者连接器", "分区所有权", "水印"]

    assert [word for word in words if word not in chinese] == []


def test_what_chapters_take_for_known_is_in_the_glossary():
    english = ", ".join(GLOSSARY)
    words = ["KRaft", "KIP", "LSO", "ELR", "fenced", "zombie", "transactional id", "marker", "group epoch", "rack"]
    words += ["share group"]

    assert [word for word in words if word not in english] == []


def test_the_chapter_that_is_said_to_have_the_walk_has_it():
    assert "walk" in TEXTS["01"].lower()


def test_a_metadata_request_for_the_offsets_topic_has_a_rule_of_its_own():
    (found,) = (each for each in all_claims() if each.subject == "auto-creation")
    assert "`__consumer_offsets`: always up to 2.7, so since 2.8" in found.true
