from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.lookup import look_up
from kafkalearn.partitioning.keyless import Send, SenderLooks, Settings, sends, simulate
from kafkalearn.views import describe_keyless, describe_lookup, keyless_text, lookup_text
from tests.views.golden import expected


def story(trace, *views):
    """A run as a page of text: every frame in the words of each view."""
    frames = zip(trace, (None, *trace), strict=False)
    return "\n\n".join("\n".join(view(frame, before) for view in views) for frame, before in frames)


LOOKUPS = {
    "billing": look_up("billing", round_robin_leaders([1, 2, 3])),
    "the-smallest-hash": look_up("polygenelubricants", round_robin_leaders([1, 2, 3])),
    "a-surrogate-pair": look_up("é 😀\n", leaders=(1, None), partition_count=2),
    "the-empty-id": look_up("", leaders=(7,), partition_count=1),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_lookup_reads_as_expected(name):
    actual = story(LOOKUPS[name], describe_lookup, lookup_text)

    assert actual == expected(f"lookup-{name}.txt", actual)


@pytest.mark.parametrize("release", ["2.3", "2.4", "4.3"])
def test_keyless_records_of_a_release_read_as_expected(release):
    settings = Settings(3, release, batch_size=400)
    trace = simulate(settings, sends(9, drain_every=5))

    actual = story(trace, partial(keyless_text, settings))

    assert actual == expected(f"keyless-{release}.txt", actual)


def test_weights_are_told_once_the_sender_has_looked():
    settings = Settings(2, batch_size=100)
    events = [Send(partition=0), Send(partition=0), Send(partition=1), SenderLooks()]

    last = simulate(settings, events)[-1]

    assert describe_keyless(settings, last) == (
        "The sending thread looks at the queues: weights 1 for partition 0, 2 for partition 1."
    )


@given(st.text(max_size=30))
def test_whatever_the_group_id_a_sentence_is_one_line_and_a_frame_seven(group_id):
    for frame in look_up(group_id, [1, 2, 3], 3):
        assert "\n" not in describe_lookup(frame)
        assert len(lookup_text(frame).split("\n")) == 7
