"""A share consumer in Java, told what to do: it prints what was recorded, which the simulator's programs replay."""

import pytest

from tests.live.java import run_java_class
from tests.recorded import recorded

pytestmark = [pytest.mark.live, pytest.mark.nightly]

CASES = recorded("share-members")["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_java_share_consumers_get_what_was_recorded(kafka, new_name, case):
    topic, group = new_name("shared"), new_name("members")
    kafka.create_topic(topic, 1)
    says = ("--entity-type", "groups", "--entity-name", group, "--add-config", "share.auto.offset.reset=earliest")
    kafka.tool("configs", "--alter", *says)
    words = [word for word, _ in case["steps"]]
    printed = run_java_class(kafka.release, "ShareMembers", kafka.bootstrap, topic, group, *words)
    assert printed.split("\n") == [" ".join(filter(None, step)) for step in case["steps"]]
