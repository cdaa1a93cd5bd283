"""Names, values and keys are words wherever they are shown; no picture, player, caption or table makes more of them.

Every view gets a run whose texts were written to do harm. Its pictures may hold shapes and words and nothing else; its
page may hold what the player is made of.
"""

from __future__ import annotations

import json
import re
from functools import partial
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from kafkalearn import commits, consuming, delivery, log, offsets, replication
from kafkalearn.assignors import Member, assign, carrying_out
from kafkalearn.base.tables import PlainTable, table
from kafkalearn.consuming import push
from kafkalearn.coordinator import look_up
from kafkalearn.log import reader
from kafkalearn.offsets import replicated as replicated_store
from kafkalearn.offsets import store
from kafkalearn.purgatory import ConsumerFetch, delayed_produce, operations, requests, wheel
from kafkalearn.views import (
    animation,
    commit_path_text,
    commits_text,
    consuming_text,
    crossing_text,
    delivery_text,
    describe_commit_path,
    describe_commits,
    describe_consuming,
    describe_crossing,
    describe_delivery,
    describe_log,
    describe_lookup,
    describe_purgatory,
    describe_push,
    describe_rebalance,
    describe_record_bytes,
    describe_replication,
    describe_requests,
    describe_store,
    describe_wheels,
    draw_assignment,
    draw_commit_path,
    draw_commits,
    draw_consuming,
    draw_crossing,
    draw_delivery,
    draw_log,
    draw_lookup,
    draw_purgatory,
    draw_push,
    draw_rebalance,
    draw_record_bytes,
    draw_replication,
    draw_requests,
    draw_store,
    draw_wheels,
    log_text,
    lookup_text,
    purgatory_text,
    push_text,
    rebalance_text,
    record_bytes,
    replication_text,
    requests_text,
    store_text,
    wheels_text,
)
from tests.every import every_case

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</script><script>alert(1)</script>",
    "]]><b>&lt;i&gt;",
    "a\x00b\x1b[2J\u202e",
    "`*_|$[x](javascript:alert(1))",
    "line\nbreak\ttab",
)
SHAPES = {"svg", "rect", "path", "text", "tspan", "g", "circle", "line", "polyline", "polygon", "ellipse", "defs"}
SHAPES |= {"pattern", "marker", "title", "clipPath"}
OF_A_PLAYER = {"div", "p", "img", "script", "style"}
OF_A_TABLE = {"table", "thead", "tbody", "tr", "th", "td", "p"}


def lookup(hostile):
    return look_up(hostile[:40], brokers=3), draw_lookup, describe_lookup, lookup_text


def reads(hostile):
    settings = consuming.Settings(2, topic=hostile)
    events = [consuming.Join(hostile, hostile), consuming.Produce(hostile, hostile.encode())]
    trace = consuming.simulate(settings, [*events, consuming.Poll(hostile, hostile), consuming.Leave(hostile, hostile)])
    return trace, partial(draw_consuming, trace), describe_consuming, consuming_text


def replicated(hostile):
    settings = replication.Settings(2)
    events = [replication.Produce(values=(hostile,)), replication.Fetch(2), replication.Fetch(2), replication.Consume()]
    views = (draw_replication, describe_replication, replication_text)
    return (replication.simulate(settings, events), *(partial(view, settings) for view in views))


def delivered(hostile):
    settings = delivery.Settings(delivery.TopicSettings(1))
    events = [delivery.Send(values=(hostile,)), delivery.RequestArrived(), delivery.AnswerArrived()]
    views = (draw_delivery, describe_delivery, delivery_text)
    return (delivery.simulate(settings, events), *(partial(view, settings) for view in views))


def committed(hostile):
    events = [
        commits.Start(hostile),
        commits.Poll(hostile),
        commits.Process(hostile),
        commits.CommitSync(hostile, metadata=hostile),
    ]
    trace = commits.simulate(commits.Settings(3), [*events, commits.Crash(hostile)])
    return trace, draw_commits, describe_commits, commits_text


def rebalanced(hostile):
    before = [Member(hostile, [hostile]), Member("other", [hostile])]
    settings = carrying_out.Settings("range", {hostile: 3}, before)
    trace = carrying_out.simulate(settings, [carrying_out.AllGaveUp()])
    return trace, partial(draw_rebalance, trace), describe_rebalance, rebalance_text


def cleaned(hostile):
    settings = log.Settings(cleanup_policy="compact", segment_ms=1)
    records = [log.NewBatch(((hostile, value, at),)) for at, value in ((0, hostile), (10, "x"), (20, None))]
    events = [*(log.Append((each,)) for each in records), log.Clean(30, is_forced=True)]
    return (log.simulate(settings, events), *(partial(view, settings) for view in (draw_log, describe_log, log_text)))


def crossed(hostile):
    settings = log.Settings(cleanup_policy="compact")
    events = [log.Append((log.NewBatch(((hostile, hostile, 0),)),)), reader.Read(1)]
    views = (draw_crossing, describe_crossing, crossing_text)
    return (reader.simulate(settings, events), *(partial(view, settings) for view in views))


def stored(hostile):
    settings = store.Settings()
    events = [store.Commit(hostile, hostile, 0, 5, 1000, metadata=hostile), store.Fetch(hostile, hostile, 0)]
    return store.simulate(settings, [*events, store.DeleteGroup(hostile)]), draw_store, describe_store, store_text


def written(hostile):
    settings = replicated_store.Settings()
    events = [store.Commit(hostile, hostile, 0, 5, 1000, metadata=hostile), store.Fetch(hostile, hostile, 0)]
    trace = replicated_store.simulate(settings, [*events, *replicated_store.replicated()])
    return trace, draw_commit_path, describe_commit_path, commit_path_text


def decoded(hostile):
    key = offsets.encode_key("OFFSET_COMMIT", {"group": hostile, "topic": hostile, "partition": 1})
    trace = record_bytes(key, None)
    return trace, draw_record_bytes, describe_record_bytes, lambda frame, before=None: ""


def parked(hostile):
    settings = operations.Settings(purge_interval=1)
    events = [
        operations.TryCompleteElseWatch(delayed_produce(hostile, {hostile: 7})),
        operations.FactChanged(f"HW {hostile}", 8),
        operations.CheckAndComplete(hostile),
    ]
    trace = operations.simulate(settings, events)
    return trace, partial(draw_purgatory, settings), describe_purgatory, purgatory_text


def waited(hostile):
    settings = requests.Settings(2)
    events = [
        ConsumerFetch(hostile, 0),
        replication.Produce(values=(hostile,)),
        replication.Fetch(2),
        replication.Fetch(2),
    ]
    return requests.simulate(settings, events), draw_requests, describe_requests, requests_text


def timed(hostile):
    settings = wheel.Settings()
    trace = wheel.simulate(settings, [wheel.Add(hostile, 45), wheel.Add("b", 3), wheel.Advance(50)])
    return (trace, *(partial(view, settings) for view in (draw_wheels, describe_wheels, wheels_text)))


def pushed(hostile):
    trace = push.simulate(push.Settings((hostile,), queue_limit=2), [*[push.Produce()] * 3, push.Process(hostile)])
    return trace, partial(draw_push, trace), describe_push, push_text


VIEWS = (
    lookup, reads, replicated, delivered, committed, rebalanced, cleaned, crossed, stored, written, decoded, parked,
    waited, timed, pushed,
)  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page and their attributes, as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag

    @property
    def names(self) -> set[str]:
        return {tag for tag, _ in self.found}

    @property
    def handlers(self) -> set[str]:
        return {name for _, attributes in self.found for name in attributes if name.startswith("on")}


def assert_only_shapes_and_words(drawing):
    for element in ElementTree.fromstring(str(drawing)).iter():
        assert element.tag.rpartition("}")[2] in SHAPES
        assert not [name for name in element.attrib if name.lower().startswith("on") or "href" in name]
    shown = Tags(drawing.html)
    assert [tag for tag, _ in shown.found] == ["img"]
    assert {name for _, attributes in shown.found for name in attributes} == {"alt", "style", "src"}


@every_case("hostile", HOSTILE)
@every_case("view", VIEWS, ids=lambda view: view.__name__)
def test_a_picture_holds_shapes_and_words_whatever_the_names_are(view, hostile):
    trace, draw, describe, text = view(hostile)
    before = None
    for frame in trace:
        assert_only_shapes_and_words(draw(frame, before))
        assert isinstance(describe(frame, before) + text(frame, before), str)
        before = frame


@every_case("hostile", HOSTILE)
@every_case("view", VIEWS, ids=lambda view: view.__name__)
def test_a_player_on_a_page_is_made_of_what_players_are_made_of(view, hostile):
    trace, draw, describe, _ = view(hostile)
    page = animation(trace, draw, describe, title=hostile).html()
    seen = Tags(page)

    assert seen.names <= OF_A_PLAYER
    assert seen.handlers == set()
    assert page.lower().count("</script") == 2
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert json.loads(json.dumps(json.loads(data)["_animation"]["title"])) == hostile


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_assignment_and_a_table_show_names_as_words(hostile):
    members = [Member(hostile, [hostile])]
    assert_only_shapes_and_words(draw_assignment(assign("range", {hostile: 2}, members), title=hostile))
    rows = [{hostile: hostile, "lag": 1}]
    for shown in (table(rows), table(rows, label=hostile), PlainTable((hostile,), ((hostile,),), (hostile,))):
        seen = Tags(shown._repr_html_())
        assert seen.names <= OF_A_TABLE
        assert seen.handlers == set()


def test_the_tags_of_hostile_text_would_be_found():
    assert Tags(HOSTILE[0]).handlers == {"onerror"}
    assert "svg" in Tags(HOSTILE[1]).names
    with pytest.raises(AssertionError):
        assert_only_shapes_and_words(type("Bare", (str,), {"html": ""})("<svg><a href='x'/></svg>"))
