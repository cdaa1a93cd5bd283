"""What the members of real groups read of a topic: see tests/vectors/consuming/members-read.json."""

from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, start, step
from kafkalearn.consuming.simulator import Appended, Polled
from tests.every import every_case
from tests.recorded import recorded

CASES = recorded("members-read")["cases"]


@every_case("case", CASES, ids=lambda case: case["name"])
def test_members_own_begin_and_read_as_real_ones_did(case):
    """Of several partitions a poll takes one here, and fills up from others there: what all polls gave is compared."""
    settings = Settings(case["partitions"], case["topic"], case["assignor"], case["reset"])
    topic = start(settings)
    for event, said in zip(case["events"], case["said"], strict=True):
        kind, *rest = event
        if kind == "produce":
            topic = step(settings, topic, Produce())
            assert [each.partition for each in topic.effects if isinstance(each, Appended)] == rest
        elif kind in ("join", "leave"):
            topic = step(settings, topic, (Join if kind == "join" else Leave)(*rest))
            group = topic.group(rest[0])
            owned = {
                each: {str(partition): group.position(partition) for partition in group.owned(each)}
                for each in group.member_ids
            }
            assert owned == said, event
        else:
            polls = []
            while not (kind == "poll" and polls):
                topic = step(settings, topic, Poll(*rest, case["most"]))
                polled = [each for each in topic.effects if isinstance(each, Polled)]
                if not polled:
                    break
                polls += [{str(each.partition): list(each.offsets)} for each in polled]
            assert read_in(polls) == read_in(said), event
            if case["partitions"] == 1:
                assert polls == said, event
    committed = {
        group.group_id: {str(place): offset for place, offset in enumerate(group.committed) if offset is not None}
        for group in topic.groups
    }
    assert committed == case["committed"]


def read_in(polls):
    """The offsets of each partition, over all polls, in their order."""
    read = {}
    for each in polls:
        for partition, offsets in each.items():
            read.setdefault(partition, []).extend(offsets)
    return read
