"""A share group on a running cluster: its lag, who has its partitions, where its state is kept and what it says."""

import pytest

from kafkalearn.coordinator.share_place import SharePartition, state_partition
from kafkalearn.formats.share_state_log import decode_key
from kafkalearn.live import connect
from kafkalearn.live.errors import wait_for
from kafkalearn.oncall import lag, where, xray

pytestmark = pytest.mark.live


def test_a_share_group_s_lag_is_what_the_tool_prints_and_its_state_is_where_we_say(kafka, new_name):
    topic, group = new_name("jobs"), new_name("workers")
    kafka.create_topic(topic, 2)
    says = ("--entity-type", "groups", "--entity-name", group, "--add-config", "share.auto.offset.reset=earliest")
    kafka.tool("configs", "--alter", *says)
    kafka.send(topic, ["a"] * 2, partition=0)
    kafka.tool("console-share-consumer", "--topic", topic, "--group", group, "--max-messages", "2",
               "--timeout-ms", "60000")  # fmt: skip
    kafka.send(topic, ["a"] * 3, partition=0)
    with connect(kafka.bootstrap) as cluster:
        wait_for(lambda: cluster.group(group).state, "Empty", "the consumer has left:")
        found = {each.at.partition: each for each in lag(cluster=cluster, group=group, apart_s=0).causes}
        places = where(group, "share", topic=topic, cluster=cluster).places
        topic_id = cluster.metadata([topic]).topic_ids[topic]
        count = cluster.topics()["__share_group_state"]
    (printed,) = lag(kafka.tool("share-groups", "--describe", "--group", group), group=group).causes[:1]
    assert (found[0].lag, found[0].name) == (3, "nobody owns it")
    assert printed.lag == found[0].lag
    assert found[1].name == "not begun"

    wanted = [SharePartition(group, topic_id, number) for number in (0, 1)]
    assert [each.partition for each in places] == [state_partition(each, count) for each in wanted]
    for each, place in zip(wanted, places, strict=True):
        written = {decode_key(one.key)[1] for one in kafka.disk(1).records("__share_group_state", place.partition)}
        assert each in written

    folder = kafka.disk(1).folder
    logs = [each for name in ("__consumer_offsets", "__share_group_state", topic) for each in folder.glob(f"{name}-*")]
    of_disk = {each.at: each for each in xray(logs).shares if each.group == group}
    told = {at.partition: (at.topic, each.lag, each.end_offset) for at, each in of_disk.items()}
    assert told == {0: (topic, 3, 5), 1: (topic, None, 0)}
