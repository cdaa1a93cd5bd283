"""Running a cluster, in words and as pictures: leaders, load, plans, a log that is cut, a broker that dies."""

from xml.etree import ElementTree

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import truncation
from kafkalearn.consuming.truncation.search import EPOCHLESS_COMMIT, UNVALIDATED_ASSIGNMENT
from kafkalearn.drawing.svg import SMALL
from kafkalearn.operations import coordinator_life as life
from kafkalearn.operations import leadership
from kafkalearn.operations.failover import BrokerCrashed, BrokerStarted, BrokerStopped, SecondPassed, Settings, simulate
from kafkalearn.operations.failover_picture import describe_failover, draw_load_times, failover_text
from kafkalearn.operations.placement import place_rotated, place_shifted
from kafkalearn.operations.reassignment import plan_of
from kafkalearn.views import (
    animate,
    describe_leadership,
    describe_truncation,
    draw_leadership,
    draw_moves,
    leadership_text,
    truncation_text,
)
from tests.recorded import expected, with_before

THREE = leadership.Settings((1, 2, 3))
PLACED = place_shifted([1, 2, 3], 50, 3)
CLUSTER = leadership.cluster_of(THREE, [leadership.partition_of("orders", *each) for each in enumerate(PLACED)])
RETURN = leadership.simulate(
    THREE,
    [
        leadership.BrokerFenced(2),
        leadership.BrokerFenced(3),
        leadership.BrokerUnfenced(2),
        leadership.TimePassed(299_500),
        leadership.TimePassed(500),
        leadership.BrokerUnfenced(3),
        leadership.ElectLeaders("orders", 2),
        leadership.ElectLeaders(),
        leadership.LeaderImbalanceChecked(),
    ],
    CLUSTER,
)


def found(story):
    return truncation.find(
        story.settings, story.kinds, (truncation.NONE_AGAIN,), initial=story.begun, at_most=story.at_most
    ).trace


RUNS = {
    "leadership": (THREE, RETURN, leadership_text),
    "truncation-bare-commit": (EPOCHLESS_COMMIT.settings, found(EPOCHLESS_COMMIT), truncation_text),
    "truncation-unvalidated": (UNVALIDATED_ASSIGNMENT.settings, found(UNVALIDATED_ASSIGNMENT), truncation_text),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_as_expected(name):
    of_run, trace, in_text = RUNS[name]
    actual = "\n\n".join(in_text(of_run, frame, before) for frame, before in with_before(trace))

    assert actual == expected(f"{name}.txt", actual)


def font_sizes(drawing):
    return [float(each.get("font-size")) for each in ElementTree.fromstring(drawing).iter() if each.get("font-size")]


def test_who_has_a_newer_epoch_than_its_leader_takes_nobody_for_the_leader():
    story = EPOCHLESS_COMMIT
    told = [frame for frame in found(story) if isinstance(frame.event, truncation.RefreshMetadata)]
    assert "broker 2 leads in epoch 1" in describe_truncation(story.settings, told[0])
    validated = truncation.simulate(
        story.settings,
        [
            *(frame.event for frame in found(story)[1:8]),
            truncation.Commit(has_epoch=True),
            truncation.Assign("B"),
            truncation.Poll(),
        ],
        story.begun,
    )
    assert "nobody in epoch 1" in truncation_text(story.settings, validated[-1], validated[-2])
    assert "B has nobody to ask" in describe_truncation(story.settings, validated[-1], validated[-2])


def test_the_words_of_leadership_say_how_many_nobody_leads():
    alone = [leadership.partition_of("orders", 0, [2])]
    lost = leadership.simulate(THREE, [leadership.BrokerFenced(2)], leadership.cluster_of(THREE, alone))
    assert "Nobody leads 1 partition any more." in describe_leadership(THREE, lost[1], lost[0])
    assert "without a leader: 1 partition" in draw_leadership(THREE, lost[1], lost[0])


def of_size(placement, size_bytes=1000):
    return [
        leadership.partition_of("orders", number, replicas, size_bytes=size_bytes)
        for number, replicas in enumerate(placement)
    ]


@pytest.mark.parametrize("place", [place_shifted, place_rotated])
@pytest.mark.parametrize("brokers", [2, 12, 24])
def test_moves_fit_a_screen_for_many_brokers(place, brokers):
    before, after = place(range(1, brokers + 1), 60, 1), place(range(1, brokers + 1), 60, 2)
    drawing = draw_moves(of_size(before), plan_of("orders", after))
    assert min(font_sizes(drawing)) >= SMALL
    assert drawing.size[1] <= 590


def test_a_plan_that_only_turns_replicas_round_copies_nothing():
    assert draw_moves(of_size([(1, 2)]), plan_of("orders", [(2, 1)])).label == "The plan copies nothing."


def test_what_has_no_room_is_refused():
    with pytest.raises(KafkaLearnError, match="has room for 7 brokers, got 8"):
        draw_leadership(leadership.Settings(tuple(range(1, 9))), RETURN[0])
    with pytest.raises(KafkaLearnError, match="has room for 24 brokers, got 29"):
        draw_moves(of_size([(1,)] * 28), plan_of("orders", [(broker,) for broker in range(2, 30)]))


SETTINGS = Settings(load_s=2)
TRACE = simulate(
    SETTINGS, [BrokerCrashed(1), *[SecondPassed()] * 14, BrokerStarted(1), BrokerStopped(2), SecondPassed()]
)


def test_every_second_is_drawn_and_said():
    shown = animate(TRACE, SETTINGS, title="A broker dies")
    assert len(shown.pictures) == len(TRACE)
    assert all(each.size[0] == 1000 and each.size[1] <= 590 for each in shown.pictures)
    assert shown.captions[0] == "The start: nobody asks."
    assert "broker 2 leads the partition; broker 2 begins to load" in shown.captions[10]
    assert "broker 2 has loaded 6 records" in shown.captions[12]


def test_the_pictures_grow_by_what_was_heard():
    shown = animate(TRACE, SETTINGS)
    assert shown.pictures[3].count("<path") < shown.pictures[10].count("<path")
    part = animate(TRACE[5:9], SETTINGS)
    assert part.captions == shown.captions[5:9]


def test_text_and_sentence_say_the_same():
    frame = TRACE[10]
    assert failover_text(SETTINGS, frame).startswith(describe_failover(SETTINGS, frame))
    assert "broker 1: is down, and the cluster knows" in failover_text(SETTINGS, frame)
    assert "COORDINATOR_LOAD_IN_PROGRESS" in describe_failover(SETTINGS, frame)


def test_with_nobody_to_lead_that_is_said():
    alone = Settings(replicas=(1,))
    trace = simulate(alone, [BrokerCrashed(1), *[SecondPassed()] * 10])
    assert "nobody can lead the partition" in describe_failover(alone, trace[10])


def test_a_run_longer_than_a_minute_has_no_room():
    with pytest.raises(KafkaLearnError, match="room for 60 seconds"):
        animate(simulate(SETTINGS, [SecondPassed()] * 61), SETTINGS)


def test_times_of_loads_are_two_bars_a_broker_and_at_most_seven_brokers():
    shown = draw_load_times({2: (4.0, 0.5), 1: (20.0, 0.02)})
    assert shown.label == "Time of a load: broker 1 20.0 s, cleaned 0.02 s; broker 2 4.0 s, cleaned 0.5 s"
    for wrong in ({}, dict.fromkeys(range(1, 9), (1, 1)), {1: (-1, 0)}):
        with pytest.raises(KafkaLearnError):
            draw_load_times(wrong)


MOVES = [life.Request(1, "OffsetCommit", offset=7), life.BrokerFenced(1), life.OrderCarriedOut(2, 1), life.LoadRead(2)]
MOVES += [life.BrokerUnfenced(1), life.CoordinatorStarted(1), life.LeaderImbalanceChecked(), life.OrderCarriedOut(2, 2)]
MOVES += [life.Request(2, "OffsetFetch"), life.OrderCarriedOut(1, 2), life.LoadRead(1)]


@pytest.mark.parametrize("release", ["1.1", "3.9", "4.3"])
def test_a_coordinators_life_is_drawn_and_said(release):
    trace = life.simulate(life.Settings(release), MOVES)
    shown = animate(trace, title="A coordinator resigns")
    for drawing in shown.pictures:
        assert min(font_sizes(drawing)) >= SMALL
        assert drawing.size[1] <= 590
    assert len({drawing.size for drawing in shown.pictures}) == 1
    assert "broker 2 resigns and forgets 1 group" in shown.captions[8]
    assert shown.captions[9].endswith("OffsetFetch: NOT_COORDINATOR.")
    assert ("no task" in shown.pictures[6]) == (release == "4.3")


def test_a_life_of_many_brokers_is_refused():
    with pytest.raises(KafkaLearnError, match="has room for 3 brokers, got 4"):
        animate(life.simulate(life.Settings(broker_ids=(1, 2, 3, 4)), []))
