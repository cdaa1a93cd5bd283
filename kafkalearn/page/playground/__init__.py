"""The playground, ``playground.html``: each part is a form, and a pure function from what is in it to what is shown.

A function of `ANSWERS` takes the fields of its form by name, as the page has them: text, and true or false for a box.
It gives a dict that JSON can write, of which the page shows

- ``text``: a sentence or several lines, as text; ``html``: tables and pictures, every value in them escaped;
- ``animation``: a drawn run as the player takes it, and ``start``, the step to show first;
- ``steps``: for each step of that run what may come next, ``[{"moves": [...], "broken": [...]}, ...]``;
- ``line``: moves as text, to go on from.

What the reader can put right is a `KafkaLearnError`. Nothing is kept between two questions: the fields are the whole
state, so a link with them in it is the state too.
"""

from kafkalearn.page.playground.assignors import assignment
from kafkalearn.page.playground.groups import cure, scenario
from kafkalearn.page.playground.logs import explain
from kafkalearn.page.playground.partitions import play_moves
from kafkalearn.page.playground.places import coordinator, partition
from kafkalearn.page.playground.records import record, segment
from kafkalearn.page.playground.search import search

__all__ = ["ANSWERS"]

ANSWERS = {
    "assignment": assignment,
    "coordinator": coordinator,
    "cure": cure,
    "explain": explain,
    "moves": play_moves,
    "partition": partition,
    "record": record,
    "scenario": scenario,
    "search": search,
    "segment": segment,
}
"""The parts by name."""
