"""The picture of a client's connections: every line between its two ends, all words inside the picture."""

from xml.etree import ElementTree

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.picture import draw_connections
from kafkalearn.coordinator.places import connections
from kafkalearn.drawing.svg import MARK, SMALL

MEMBERS = {"c1": [0, 1], "c2": [2, 3], "c3": [4, 5]}
LEADERS = [1, 2, 3] * 2
FULL = {"consumer-billing-1-a88b-42": [0, 1, 2], "c2": [3, 4, 5], "c3": [6, 7, 8], "c4": [9, 10, 11]}


def shapes(drawing, tag):
    return list(ElementTree.fromstring(drawing).iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def test_each_connection_is_a_line_and_the_coordinator_has_the_marks_border():
    drawing = draw_connections("billing", LEADERS, MEMBERS, brokers=3)
    found = connections("billing", LEADERS, MEMBERS, brokers=3)

    assert len(shapes(drawing, "line")) == len(found) + 3  # and the legend
    assert sum("stroke-dasharray" in each.attrib for each in shapes(drawing, "line")) == 3 + 1
    assert [each.get("stroke") for each in shapes(drawing, "rect")].count(MARK) == 1
    words = [each.text for each in shapes(drawing, "text")]
    assert "broker 1, the coordinator" in words
    assert "leads __consumer_offsets-9" in words
    assert "reads partitions 2 and 3" in words


def test_the_label_says_it_in_words():
    assert draw_connections("billing", LEADERS, MEMBERS, brokers=3).label == (
        "producer: writes to brokers 1, 2 and 3. c1: reads from brokers 1 and 2. c2: reads from brokers 1 and 3. "
        'c3: reads from brokers 2 and 3. All 3 members of "billing": to broker 1, which leads partition 9 of '
        "__consumer_offsets."
    )


@pytest.mark.parametrize("group_id", ["billing", "W" * 60, "订单" * 60, "<b>&"])
def test_it_fits_a_small_window_and_no_heading_reaches_the_edge(group_id):
    drawing = draw_connections(group_id, [1, 2, 3, 4] * 3, FULL, brokers=4)

    assert drawing.size[1] <= 590
    heading = shapes(drawing, "text")[0]
    assert 25 + len(heading.text) * float(heading.get("font-size")) * 0.75 < 1000
    assert all(float(each.get("font-size")) >= SMALL for each in shapes(drawing, "text"))


@pytest.mark.parametrize(
    ("leaders", "members", "brokers"),
    [(LEADERS, MEMBERS, 5), ([1] * 5, {f"c{at}": [at] for at in range(5)}, 1), ([1] * 13, {"c1": range(13)}, 1)],
)
def test_what_has_no_room_is_refused(leaders, members, brokers):
    with pytest.raises(KafkaLearnError, match="the picture has room for 4 brokers, 4 members and 12 partitions"):
        draw_connections("billing", leaders, members, brokers=brokers)
