"""Events of the coordinator's store, generated or given, and the releases to try them on."""

from hypothesis import strategies as st

from kafkalearn.offsets import store
from kafkalearn.offsets.replay import Member
from tests.schedules import sensible_steps

DAY_MS = 86_400_000
ALICE = Member("alice", subscribed=("orders",), assigned=(("orders", 0),))

group_ids, topics, times = st.sampled_from("gh"), st.sampled_from(["orders", "clicks"]), st.integers(0, 20 * DAY_MS)
members = st.sampled_from([(), (ALICE,), (ALICE, Member("bob", "c", "/h", None, subscribed=("clicks",)))])
offsets, of_alice = st.integers(0, 99), {"member_id": st.just("alice"), "generation": st.just(1)}
any_event = (
    st.builds(store.Commit, group_ids, topics, st.integers(0, 1), offsets, times, metadata=st.sampled_from(["", "ü"]))
    | st.builds(store.Commit, group_ids, topics, st.just(0), offsets, times, retention_ms=st.just(DAY_MS))
    | st.builds(store.Commit, group_ids, topics, st.just(0), offsets, times, producer_id=st.integers(1, 2))
    | st.builds(store.Commit, group_ids, topics, st.just(0), offsets, times, **of_alice)
    | st.builds(store.StoreGroup, group_ids, st.integers(1, 2), times, members)
    | st.builds(store.EndTransaction, st.integers(1, 2), st.booleans())
    | st.builds(store.Sweep, times)
    | st.builds(store.DeleteGroup, group_ids)
    | st.builds(store.DeleteOffset, group_ids, topics, st.integers(0, 1))
    | st.builds(store.DeleteTopic, topics)
    | st.builds(store.Fetch, group_ids, topics, st.integers(0, 1))
)
BOB = Member("bob", "c", "/h", None, subscribed=("clicks",))
SUBSCRIBED = Member("alice", subscribed=("orders",))
of_newer = st.sampled_from(["consumer", "streams"])
newer_event = (
    st.builds(
        store.StoreGroup,
        group_ids,
        st.integers(1, 2),
        times,
        st.sampled_from([(), (SUBSCRIBED,), (SUBSCRIBED, BOB)]),
        protocol=st.sampled_from([None, "range"]),
        kind=of_newer,
    )
    | any_event
)
"""Events of groups of all kinds; not all of them make sense one after the other."""

newer_releases = st.sampled_from(["4.1", "4.2", "4.3"])
releases = st.sampled_from(["0.11.0", "2.0", "2.1", "2.4", "3.9", "4.0", "4.1", "4.3"])


def possible(release, events):
    """The events without those that the store refuses: up to 3.9 to delete what an open transaction holds."""
    settings = store.Settings(release)
    return [event for _, event, _ in sensible_steps(store.step, settings, store.start(settings), events)]


def after(*events, release="4.3"):
    """The store after some events, all that must hold checked at every moment."""
    trace = store.simulate(store.Settings(release), events)
    for frame in trace:
        store.check(store.Settings(release), frame.state)
    return trace[-1].state


def lasting(groups):
    """The groups that the log describes too; a blank one is only a name, until the next sweep."""
    return tuple(group for group in groups if not group.is_blank)
