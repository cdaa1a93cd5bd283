"""Groups for the tests: read from recordings, or drawn by Hypothesis."""

from hypothesis import strategies as st

from kafkalearn.assignors import Member
from kafkalearn.assignors.registry import BROKER_ASSIGNORS, CLIENT_ASSIGNORS

TODAY = [("client", name) for name in CLIENT_ASSIGNORS] + [("broker", name) for name in BROKER_ASSIGNORS]


def as_lists(assignment) -> dict[str, list]:
    return {member_id: [list(partition) for partition in owned] for member_id, owned in assignment.items()}


def as_sets(assignment) -> dict[str, set]:
    return {member_id: {tuple(partition) for partition in owned} for member_id, owned in assignment.items()}


@st.composite
def partition_counts(draw, most_topics=4, most_partitions=6):
    counts = draw(st.lists(st.integers(1, most_partitions), min_size=1, max_size=most_topics))
    return {f"t{place}": count for place, count in enumerate(counts)}


@st.composite
def fresh_groups(draw, most_members=6, alike=None, **limits):
    """Partition counts, and members who have nothing yet."""
    counts = draw(partition_counts(**limits))
    some_topics = st.lists(st.sampled_from(sorted(counts)), min_size=1, unique=True)
    names = [f"m{number}" for number in range(draw(st.integers(1, most_members)))]
    if draw(st.booleans()) if alike is None else alike:
        topics = draw(some_topics)
        return counts, [Member(name, topics) for name in names]
    return counts, [Member(name, draw(some_topics)) for name in names]


@st.composite
def changes(draw, counts, members):
    """The group after a member left, joined or subscribed anew, or a topic grew."""
    some_topics = st.lists(st.sampled_from(sorted(counts)), min_size=1, unique=True)
    alike = len({member.topics for member in members}) == 1
    what = draw(st.sampled_from(["leave", "join", "subscribe", "grow"]))
    if what == "leave" and len(members) > 1:
        left = draw(st.sampled_from(members))
        return counts, [member for member in members if member is not left]
    if what == "join":
        topics = members[0].topics if alike else draw(some_topics)
        return counts, [*members, Member(f"n{len(members)}{draw(st.uuids())}", topics)]
    if what == "subscribe" and not alike:
        return counts, [Member(members[0].member_id, draw(some_topics)), *members[1:]]
    return {**counts, "t0": counts["t0"] + draw(st.integers(1, 3))}, members
