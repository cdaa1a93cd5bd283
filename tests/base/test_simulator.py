"""What every simulator has beside its rules: made once, and refusing another simulator's settings in words."""

import pytest

from kafkalearn import delivery, log
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.simulator import simulator
from kafkalearn.groups import classic

SETTINGS = (log.Settings(), delivery.Settings(), classic.Settings("4.4"))


@pytest.mark.parametrize("simulated", [log, delivery, classic], ids=lambda module: module.__name__)
def test_settings_and_states_of_another_simulator_are_refused_in_words(simulated):
    (own,) = (each for each in SETTINGS if isinstance(each, simulated.Settings))
    for other in (*(each for each in SETTINGS if each is not own), 6, None):
        with pytest.raises(KafkaLearnError, match=r"settings must be kafkalearn\.[a-z._]*\.Settings, got "):
            simulated.simulate(other, [])
    first = simulated.simulate(own, [])[0].state
    assert simulated.simulate(own, [], initial=first)[-1].state == first
    with pytest.raises(
        KafkaLearnError, match=rf"initial must be {type(first).__module__}.{type(first).__name__}, got 6"
    ):
        simulated.simulate(own, [], initial=6)


def test_what_start_says_in_other_types_than_classes_is_not_taken_for_one():
    def begun(settings: int | str) -> dict[str, int]:
        return {str(settings): 0}

    simulate, _, _ = simulator(begun, lambda settings, state, event: state | {event: 1}, {}, {})
    assert simulate("a", ["b"], initial={"c": 2})[-1].state == {"c": 2, "b": 1}
    with pytest.raises(KafkaLearnError, match=r"settings must be builtins\.int or builtins\.str, got None"):
        simulate(None, [])
