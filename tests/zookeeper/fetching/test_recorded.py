"""What a real old consumer of 1.1.1 held in its four layers, step by step, against the simulator."""

from kafkalearn.zookeeper.fetching import check, fetcher_id, simulate
from kafkalearn.zookeeper.fetching.cluster import Committed, OffsetsApart
from tests.every import every_case
from tests.recorded import recorded
from tests.zookeeper.fetching.replay import answer_of, events_of, seen

PIPELINE = recorded("fetch-pipeline")


def name_of(script):
    return script["name"]


def effects_of(trace, step):
    """What the events of an operation told, without what threads did afterwards."""
    return [effect for frame in trace[step.begin + 1 : step.own_end + 1] for effect in frame.state.effects]


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_every_layer_holds_what_it_held_in_the_real_consumer(script):
    settings, events, steps = events_of(script)
    trace = simulate(settings, events)
    for before, frame in zip((None, *trace), trace, strict=False):
        check(settings, frame.state, before and before.state)
    for number, step in enumerate(steps):
        if "state" in step.recorded:
            assert seen(trace[step.end].state) == step.recorded["state"], (number, step.recorded["op"])


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_the_application_gets_the_same_records_and_exceptions(script):
    settings, events, steps = events_of(script)
    trace = simulate(settings, events)
    asked = [step for step in steps if step.recorded["op"]["op"] == "next"]
    assert [answer_of(effects_of(trace, step)) for step in asked] == [step.recorded["answer"] for step in asked]


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_what_is_committed_is_what_was_consumed(script):
    settings, events, steps = events_of(script)
    trace = simulate(settings, events)
    stored = {}
    for number, step in enumerate(steps):
        for effect in effects_of(trace, step):
            if isinstance(effect, Committed):
                stored |= {str(each.partition): str(offset) for each, offset in effect.offsets}
        op = step.recorded["op"]
        if op["op"] == "set_offset":
            stored[str(op["partition"])] = str(op["offset"])
        assert stored == step.recorded.get("offsets", {}), (number, op)


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_the_consumer_says_that_it_may_lose_data_where_the_real_one_logged_it(script):
    settings, events, _ = events_of(script)
    told = (effect for frame in simulate(settings, events) for effect in frame.state.effects)
    apart = [effect for effect in told if isinstance(effect, OffsetsApart)]
    assert len(apart) == len(script["errors_logged"])
    for each, line in zip(apart, script["errors_logged"], strict=True):
        said = f"consumed offset: {each.consumed_offset} doesn't match fetch offset: {each.fetch_offset} "
        assert line.startswith(said)


@every_case("vector", recorded("fetcher-ids")["vectors"], ids=str)
def test_a_partition_has_the_fetcher_that_the_real_class_gives_it(vector):
    assert fetcher_id(vector["topic"], vector["partition"], vector["num_consumer_fetchers"]) == vector["fetcher_id"]
