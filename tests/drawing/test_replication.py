"""A replicated partition, drawn and in words: every frame of every run, what has changed, what is broken."""

from dataclasses import replace
from functools import partial
from io import BytesIO

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.svg import MARK
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    PROMISES,
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerStarted,
    BrokerThawed,
    Consume,
    DeleteRecords,
    Fetch,
    IsrChecked,
    LeaderElected,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    find,
    simulate,
)
from kafkalearn.replication.events import FetchAnswered
from kafkalearn.views import (
    animate,
    describe_replication,
    draw_hw_leo,
    draw_lag,
    draw_replication,
    figure,
    replication_text,
)
from tests.drawing.drawn import words_of
from tests.drawing.test_consuming import story
from tests.recorded import expected, with_before

FALLS = [Produce(2), Fetch(2), Fetch(2), TimePassed(500), Produce(), Fetch(2), Fetch(2), LeaderElected(2, (1, 2))]
LAGS = [Produce(2), Fetch(2), Fetch(3), BrokerFrozen(3), Produce(), Fetch(2), TimePassed(30_001), IsrChecked()]
LOSES = [Produce(acks=1), BrokerCrashed(1), SessionExpired(1), Produce(3), Consume(0), Fetch(3), Consume(2)]
DIVERGES = [Produce(acks=1), Fetch(2), BrokerCrashed(2), BrokerStarted(2), BrokerCrashed(1), SessionExpired(1)]
UP_TO_DATE = [Produce(3), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Fetch(2), Fetch(3)]
STORIES = {
    "a-follower-s-hw-falls": (
        Settings(replica_count=2),
        [*FALLS, Produce(acks=1), Fetch(1), Fetch(1), TimePassed(500)],
    ),
    "a-slow-follower": (Settings(), [*LAGS, AlterPartitionAnswered(), BrokerThawed(3), Fetch(3), Fetch(3)]),
    "acks-1": (Settings(min_insync_replicas=2), [*LOSES, DeleteRecords(-1), BrokerStarted(1), Fetch(1), Fetch(1)]),
    "old-rules": (Settings(replica_count=2, release="0.10.2", fetch_wait_max_ms=0), DIVERGES),
}


def drawn(settings, events):
    shown = animate(simulate(settings, events), settings)
    return shown.trace, shown.pictures


@pytest.mark.parametrize("name", STORIES)
def test_a_run_reads_as_expected(name):
    settings, events = STORIES[name]
    actual = story(simulate(settings, events), partial(replication_text, settings))
    assert actual == expected(f"replication-{name}.txt", actual)


def test_both_copies_of_a_follower_s_leo_are_there():
    _, drawings = drawn(Settings(replica_count=2), [Produce(3, acks=1), Fetch(2)])
    assert [word for word in words_of(drawings[-1]) if word.startswith("LEO")] == ["LEO 3", "LEO 3", "LEO 0"]


def test_what_has_changed_is_marked_and_nothing_else():
    _, drawings = drawn(Settings(replica_count=2), [Produce(acks=1), Consume(0)])
    assert MARK not in drawings[0]
    assert MARK in drawings[1]
    assert MARK not in drawings[2]


def test_a_promise_is_shown_by_name_from_the_step_in_which_it_breaks():
    _, drawings = drawn(Settings(), LOSES)
    is_named = [f"Promise broken: {ACKNOWLEDGED_SURVIVE}" in words_of(drawing) for drawing in drawings]
    assert is_named[:4] == [False, False, False, True]
    assert f"all {len(PROMISES)} promises hold" in words_of(drawings[1])
    assert "nobody leads: no log to judge by" in words_of(drawings[2])


def test_a_run_that_a_search_has_found_can_be_played():
    settings = Settings(fetch_wait_max_ms=0)
    found = find(settings, [Produce(acks=1), Fetch, BrokerCrashed, SessionExpired], (ACKNOWLEDGED_SURVIVE,))
    assert "Promise broken: acknowledged records survive" in draw_replication(
        settings, found.trace[-1], found.trace[-2]
    )


def test_of_a_long_log_the_end_is_shown_and_how_much_is_not():
    _, drawings = drawn(Settings(replica_count=2), [Produce(20, acks=1), Fetch(2), Produce(100, acks=1)])
    words = words_of(drawings[-1])
    assert "106 older not shown" in words
    assert "119" in words
    assert "105" not in words
    assert {"\u25c2 LEO 20", "\u25c2 HW 0", "LEO 120"} <= set(words)


def test_a_cut_record_stays_as_a_ghost_where_it_was():
    settings, events = STORIES["acks-1"]
    trace = simulate(settings, events)
    cut = next(at for at, frame in enumerate(trace) if "cuts its log" in describe_replication(settings, frame))
    ghosts = draw_replication(settings, trace[cut], trace[cut - 1]).count(
        f'stroke="{MARK}" stroke-width="1.25" stroke-dash'
    )
    assert ghosts == 1


def test_an_acknowledged_record_that_the_leader_lost_stays_as_a_ghost_until_another_takes_its_place():
    settings = Settings(replica_count=2)
    trace = simulate(settings, [Produce(acks=1), BrokerCrashed(1), SessionExpired(1), TimePassed(1), Produce(acks=1)])
    drawings = [draw_replication(settings, frame, before) for frame, before in with_before(trace)]

    assert [words_of(drawing).count("m1") for drawing in drawings[1:]] == [1, 1, 2, 2, 1]


def test_the_curves_have_one_line_for_each_follower_and_a_gap_without_a_leader():
    trace = simulate(Settings(), [Produce(acks=1), Fetch(2), BrokerCrashed(1), SessionExpired(1)])
    ax = figure(draw_hw_leo, trace, alt="marks").axes[0]
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}

    assert list(lines) == ["LEO of broker 1", "LEO of broker 2", "LEO of broker 3", "LEO of the leader", "HW"]
    assert lines["LEO of the leader"][:3] == [0, 1, 1]
    assert lines["LEO of the leader"][3] != lines["LEO of the leader"][3]  # NaN: broker 1 is down, nobody leads
    assert figure(draw_hw_leo, trace, alt="marks", is_by_time=True).axes[0].get_xlabel() == "seconds"


def test_each_line_of_the_curves_is_seen_also_where_it_has_the_values_of_another():
    """Both followers have all that the leader has: their lines lay below its own, and only the legend had them."""
    chart = figure(draw_hw_leo, simulate(Settings(fetch_wait_max_ms=0), UP_TO_DATE), alt="marks")
    pixels = np.asarray(Image.open(BytesIO(chart._repr_mimebundle_()[0]["image/png"])).convert("RGB")).astype(int)
    named = {line.get_label(): np.array(to_rgb(line.get_color())) * 255 for line in chart.axes[0].get_lines()}
    plot = pixels[pixels.shape[0] * 2 // 5 :]  # below the legend
    seen = {name: int((abs(plot - colour).max(axis=2) < 12).sum()) for name, colour in named.items()}

    assert len(seen) == 4
    assert min(seen.values()) > 100, seen


def test_a_crash_says_what_becomes_of_the_high_watermark():
    settings = Settings(fetch_wait_max_ms=0)
    known, unknown = ([*events, BrokerCrashed(1)] for events in (UP_TO_DATE, [Produce()]))
    said = [describe_replication(settings, *simulate(settings, events)[:-3:-1]) for events in (known, unknown)]

    assert said[0].endswith("keeps what it has. The HW of broker 1 was 3 in memory, and is 0 on its disk.")
    assert said[1] == "Broker 1 crashes; its disk keeps what it has."


def test_a_restart_without_an_election_between_says_who_leads_when():
    run = [BrokerCrashed(2), SessionExpired(2), BrokerCrashed(1), BrokerStarted(1)]
    settings = Settings(replica_count=2, fetch_wait_max_ms=0)
    trace = simulate(settings, run)

    assert describe_replication(settings, trace[-1], trace[-2]) == (
        "Broker 1 starts again. Until it has registered, nobody leads. Broker 1 leads, epoch 2: an unclean election."
    )
    assert words_of(draw_replication(settings, trace[-1], trace[-2]))[0] == (
        "Leader 1 by an unclean election, epoch 2, ISR 1, broker 2 fenced"
    )


def test_lags_are_counted_by_powers_of_two():
    ax = figure(draw_lag, {"in the ISR": [5, 4, 3, 2], "outside": [1, 1, 1, 1]}, alt="lags").axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2+", "4+"]


@pytest.mark.parametrize(("draw", "nothing"), [(draw_hw_leo, ()), (draw_lag, {})])
def test_nothing_cannot_be_drawn(draw, nothing):
    with pytest.raises(KafkaLearnError, match="is empty"):
        figure(draw, nothing, alt="nothing")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            FetchAnswered(2, 0, (), diverging=(0, 1), truncated_from=3, truncated_to=1),
            "ends at 1, and cuts its log to 1",
        ),
        (
            FetchAnswered(2, 0, (), diverging=(0, 1), truncated_from=1, truncated_to=1),
            "ends at 1, and has nothing to cut",
        ),
        (
            FetchAnswered(2, None, (), "OFFSET_OUT_OF_RANGE", truncated_from=3, truncated_to=1),
            "gets OFFSET_OUT_OF_RANGE; its log now ends at 1",
        ),
        (
            FetchAnswered(2, None, (), "OFFSET_OUT_OF_RANGE", truncated_from=1, truncated_to=1),
            "gets OFFSET_OUT_OF_RANGE; it has nothing to cut",
        ),
        (FetchAnswered(2, None, (), "FENCED_LEADER_EPOCH"), "gets FENCED_LEADER_EPOCH"),
    ],
)
def test_nothing_to_cut_is_told_from_no_cut_asked_for(answer, said):
    trace = simulate(Settings(), [Fetch(2)])
    frame = replace(trace[-1], state=replace(trace[-1].state, effects=(answer,)))
    assert said + "." in describe_replication(Settings(), frame)


def test_a_move_shows_the_replicas_there_are_and_which_come_and_go():
    settings = Settings(broker_count=4, fetch_wait_max_ms=0)
    trace = simulate(settings, [AlterPartitionReassignments((4, 2, 3)), Fetch(4), AlterPartitionAnswered()])
    during, after = (draw_replication(settings, trace[at], trace[at - 1]) for at in (1, 3))

    assert "replicas 4, 2, 3, 1; preferred 4; adding 4; removing 1" in during
    assert "  1 leader, epoch 0, removing" in replication_text(settings, trace[1])
    assert "  1 no replica" in replication_text(settings, trace[3])
    assert "Broker 1 deletes its replica." in after.label
    assert after.size[1] <= 590
