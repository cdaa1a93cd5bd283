"""Why a lag is what it is: each cause, from what a real broker's tool printed and from that broker's files."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.consuming.describe import DescribedPartition, describe_group
from kafkalearn.oncall import lag
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.lag import OUTCOMES
from kafkalearn.oncall.lag_looks import described_look
from tests.oncall.examples import asked

RECORDED = data_directory("lag")
NAMES = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
FIRST, SECOND = ((RECORDED / name).read_text(encoding="utf-8") for name in ("first.txt", "second.txt"))
TWICE = lag([FIRST, SECOND], apart_s=10)
FILES = lag(paths=RECORDED / "disk")
EXPIRED = lag(paths=data_directory("offsets-topic") / "expiry")


def named(answer, topic, group=None):
    (found,) = [each for each in answer.causes if each.at.topic == topic and group in (None, each.group)]
    return found


@pytest.mark.parametrize(
    ("answer", "topic", "cause", "words"),
    [
        (TWICE, "falling", "falls", "falls by 3.0 records a second, and is gone in 10 s"),
        (TWICE, "growing", "grows", "grows by 10 records, 1.0 a second: 2 records were read"),
        (TWICE, "stuck", "not committing", "stands at 2, the lag grows by 4 records, 0.4 a second"),
        (TWICE, "marker", "stands", "a transaction's marker, which counts for ever"),
        (TWICE, "beyond", "beyond the end", "committed is 40, and the log ends at 5"),
        (TWICE, "unowned", "nobody owns it", "no member"),
        (TWICE, "fresh", "empty", "nothing was ever to be read"),
        (FILES, "marker", "markers", "counts for ever"),
        (FILES, "open", "open transaction", "last stable offset at 3, the high watermark is 7"),
        (FILES, "compacted", "holes", "of its 20 offsets only 6 hold records to read"),
        (FILES, "before", "before the start", "committed is 2, and the log begins at 5: 3 offsets were deleted unread"),
        (FILES, "beyond", "beyond the end", "committed is 40, and the log ends at 5"),
        (FILES, "unowned", "nobody owns it", "no member"),
        (FILES, "stuck", "one look", "9 records wait"),
        (FILES, "fresh", "empty", "nothing was ever to be read"),
    ],
    ids=lambda each: {id(TWICE): "two texts", id(FILES): "files"}.get(id(each)),
)
def test_the_cause_is_named(answer, topic, cause, words):
    """Files of the same broker say what no tool prints."""
    found = named(answer, topic)

    assert found.name == cause
    assert words in found.words


def test_rates_are_those_of_the_time_between():
    assert named(TWICE, "falling").rate == -3.0
    assert named(TWICE, "falling").gone_in_s == 10.0
    assert named(lag([FIRST, SECOND]), "falling").rate is None
    assert "--apart" in named(lag([FIRST, SECOND]), "falling").words


def test_files_and_tool_agree_about_every_number():
    printed = {(each.group, each.at): (each.committed, each.end) for each in described_look(SECOND).partitions}

    for each in FILES.causes:
        committed, end = printed[each.group, each.at]
        assert each.lag == (None if committed is None else end - committed)
    assert len(FILES.causes) == len(printed) == 10


@pytest.mark.parametrize("group", ["classic-leaves", "kip848-leaves"])
def test_an_expired_offset_is_no_offset_that_was_never_committed(group):
    assert named(EXPIRED, "clicks", group).name == "offset removed"
    assert "it expired" in named(EXPIRED, "clicks", group).words
    owned = described_look(SECOND).partitions[0].member
    never = describe_group("g", [DescribedPartition("orders", 0, None, 9, owned or "c-1", "/h", "c")])
    assert named(lag(never), "orders").name == "never committed"


def test_a_share_group_has_no_committed_offset():
    found = lag((RECORDED / "share.txt").read_text(encoding="utf-8"))

    assert found.causes[0].name == "share group"
    assert "3 records are not acknowledged yet" in found.causes[0].words
    assert found.outcome is Outcome.CANNOT_TELL


def test_one_text_claims_no_movement():
    found = named(lag(SECOND), "falling")

    assert found.name == "one look"
    assert found.rate is None


@pytest.mark.parametrize("release", ["0.10.2", "1.0", "1.1", "2.2", "2.3", "3.8", "3.9", "4.0", "4.3"])
def test_what_every_release_prints_is_read(release):
    rows = [
        DescribedPartition("or-ders.x", 0, 5, 9, "c-1", "/10.0.0.7", "my client"),
        DescribedPartition("or-ders.x", 1, None, 3, "c-1", "/10.0.0.7", "my client"),
        DescribedPartition("or-ders.x", 2, 7, 7),
    ]
    seen = described_look(describe_group("my group", rows, release=release), "my group").partitions

    assert [(each.at, each.committed, each.end, each.lag) for each in seen] == [
        (("or-ders.x", 0), 5, 9, 4), (("or-ders.x", 1), None, 3, None), (("or-ders.x", 2), 7, 7, 0),
    ]  # fmt: skip
    assert [each.member for each in seen] == ["c-1", "c-1", None]
    assert {each.group for each in seen} == {"my group"}


def test_commas_of_0_9_are_read():
    text = "GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\nbilling, orders, 0, 5, 7, 2, c1_/h\n"
    (seen,) = described_look(text).partitions

    assert (seen.group, seen.at, seen.committed, seen.end, seen.lag) == ("billing", ("orders", 0), 5, 7, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "give one of describe, paths and cluster"),
        ({"describe": "nothing"}, "has no row"),
        ({"describe": f"{NAMES}\norders 0 5 9 4 c1 /h c1"}, "has no row"),
        ({"describe": "GROUP TOPIC CURRENT-OFFSET LAG PARTITION\nbilling orders 5 4 0"}, "has no row"),
        ({"describe": f"{NAMES}\nbilling orders 0 {'9' * 5000} 9 4 c1 /h c1"}, "at most 19 digits"),
        ({"describe": f"{NAMES}\nbilling orders {'9' * 5000} 5 9 4 c1 /h c1"}, "at most 19 digits"),
        ({"describe": [FIRST] * 3}, "got 3 texts"),
        ({"describe": FIRST, "group": "nobody"}, "no row of group 'nobody'"),
        ({"describe": FIRST, "apart_s": -1}, "apart_s must be a number of at least 0.001 and at most 1,000,000,000"),
        ({"describe": [FIRST, SECOND], "apart_s": float("inf")}, "apart_s must be a number .*, got inf"),
        ({"describe": [FIRST, SECOND], "apart_s": float("nan")}, "apart_s must be a number .*, got nan"),
        ({"describe": [FIRST, SECOND], "apart_s": 5e-324}, "apart_s must be a number .*, got 5e-324"),
        ({"describe": FIRST, "apart_s": 10**5000}, "apart_s must be a number .*, got a whole number of about 5,001"),
        ({"describe": 3}, "describe must be a collection of one or two texts, got int 3"),
        ({"paths": 3}, "paths must be a collection of paths of files and folders, got int 3"),
        ({"paths": [3]}, "paths must be paths of files and folders, and one of them is 3"),
        ({"describe": FIRST.replace(" 3 ", f" {'9' * 5000} ")}, "an offset has at most 19 digits"),
        ({"paths": RECORDED / "disk" / "open-0"}, r"no segment of __consumer_offsets"),
        ({"paths": RECORDED / "disk", "group": "nobody"}, "no group 'nobody'"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(arguments, words):
    with pytest.raises(KafkaLearnError, match=words):
        lag(**arguments)


def test_an_offset_that_mirror_maker_translated_is_none_that_was_copied_literally():
    described = (RECORDED / "mirrored.txt").read_text()
    for seen in (lag(paths=RECORDED / "mirrored"), lag(described)):
        causes = {(each.group, *each.at): each for each in seen.causes}
        translated, literal = causes["billing", "eu.orders", 0], causes["shipping", "eu.orders", 0]
        assert (literal.name, translated.name) == ("beyond the end", "nobody owns it")
        assert "MirrorMaker 2" in literal.words
        assert "MirrorMaker" not in translated.words
    files = {each.group: each for each in lag(paths=RECORDED / "mirrored").causes if each.at[0] == "eu.orders"}
    assert "this cluster has MirrorMaker 2's topics" in files["shipping"].words


def test_a_group_that_went_is_found():
    gone = lag([FIRST, SECOND[SECOND.index("\nGROUP", 5) :]])

    assert gone.gone == ("audit",)
    assert "audit is not there any more" in str(gone)


def test_every_cause_of_the_answers_has_an_outcome_and_the_exit_code_follows():
    for each in (*TWICE.causes, *FILES.causes, *EXPIRED.causes):
        assert each.name in OUTCOMES
    assert asked(["lag", "--describe", str(RECORDED / "second.txt"), "--group", "audit"])[0] == Outcome.FOUND
    assert asked(["lag", "--describe", str(RECORDED / "share.txt")])[0] == Outcome.CANNOT_TELL
    fine = describe_group("g", [DescribedPartition("orders", 0, 9, 9, "c-1", "/h", "c")])
    assert lag(fine).outcome is Outcome.FINE


# Tables of other tools, and what a table does not say.

RPK = """\
GROUP        billing
STATE        Stable
MEMBERS      1
TOPIC   PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  LAG
orders  0          {committed}     0                 90              {lag}
"""
KAFKA = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"


@pytest.mark.parametrize(
    "table",
    [
        "GROUP    TOPIC   PARTITION  LAG  LAG %  COMMITTED OFFSET  LATEST OFFSET  CONSUMER ID\n"
        "billing  orders  3          4    0.1    5                 9              c-1\n",
        "| Group | Topic | Partition | Committed Offset | Log End Offset | Lag | Owner |\n|---|---|---|-:|-:|-:|---|\n"
        "| billing | orders | 3 | 5 | 9 | 4 | c-1 |\n",
        "GROUP \u2502 TOPIC \u2502 PARTITION \u2502 CURRENT-OFFSET \u2502 END OFFSET \u2502 MEMBER-ID\n"
        "billing \u2502 orders \u2502 3 \u2502 5 \u2502 9 \u2502 c-1\n",
        "Group Topic Pid Offset logSize Lag Owner\nbilling orders 3 5 9 4 c-1\n",
        "Group,Topic,Partition,Current Offset,End Offset,Lag,Consumer ID\nbilling,orders,3,5,9,4,c-1\n",
        "GROUP billing\nTOPIC PARTITION CURRENT-OFFSET LOG-START-OFFSET LOG-END-OFFSET LAG MEMBER-ID CLIENT-ID HOST\n"
        "orders 3 5 0 9 4 c-1 rdkafka 10.0.0.7\n",
        "# GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID\n"
        "# billing  orders  3          5               9               4    c-1  \u2190 HOT!\n",
        "Consumer group 'billing' has two members.\nName\tPartition\tMember\tOffset\tLag\norders\t3\tc-1\t5\t4\n",
        '{"error":false,"message":"consumer status returned","status":{"cluster":"local","group":"billing",'
        '"status":"WARN","complete":1,"partitions":[{"topic":"orders","partition":3,"owner":"/10.0.0.7",'
        '"client_id":"c-1","status":"WARN",'
        '"start":{"offset":3,"timestamp":1515609445004,"observedAt":1515609445000,"lag":3},"end":{"offset":5,'
        '"timestamp":1515609490004,"observedAt":1515609490000,"lag":2},"current_lag":4,"complete":1}],'
        '"partition_count":1,"maxlag":null,"totallag":4},"request":{"url":"/v3/kafka/local/consumer/billing/lag"}}',
    ],
    ids=[
        "two words",
        "markdown",
        "bars, no lag",
        "the oldest tool",
        "CSV",
        "a start offset",
        "a comment",
        "AKHQ",
        "Burrow",
    ],
)
def test_columns_are_known_by_their_names(table):
    (seen,) = described_look(table).partitions
    assert (seen.group, seen.at, seen.committed, seen.end, seen.lag, seen.member) == (
        "billing", ("orders", 3), 5, 9, 4, "c-1",
    )  # fmt: skip


IN_JSON = {
    "AKHQ": '{"id": "billing", "state": "STABLE", "members": [{"id": "c-1", "assignments": [{"topic": "orders", '
    '"partition": 3}]}], "offsets": [{"topic": "orders", '
    '"partition": 3, "member": {"id": "c-1"}, "firstOffset": 0, "lastOffset": 9, "lag": 4, "offset": 5}]}',
    "Confluent's REST": '{"kind": "KafkaConsumerLagList", "data": [{"cluster_id": "x", "consumer_group_id": "billing", '
    '"topic_name": "orders", "partition_id": 3, "current_offset": 5, "log_end_offset": 9, "lag": 4, '
    '"consumer_id": "c-1", "instance_id": null, "client_id": "c"}]}',
    "Kafbat UI": '{"groupId": "billing", "partitions": [{"topic": "orders", "partition": 3, "currentOffset": 5, '
    '"endOffset": 9, "messagesBehind": 4, "consumerId": "c-1", "host": "/10.0.0.7"}]}',
    "kafkactl": '{"Group": "billing", "Topics": [{"Name": "orders", "Partitions": [{"Partition": 3, "NewestOffset": 9, '
    '"OldestOffset": 0, "ConsumerOffset": 5, "Lag": 4}], "TotalLag": 4}], "Members": null}',
}


@pytest.mark.parametrize("tool", IN_JSON)
def test_partitions_in_json_are_known_by_their_names(tool):
    (seen,) = described_look(IN_JSON[tool]).partitions
    assert (seen.group, seen.at, seen.committed, seen.end, seen.lag) == ("billing", ("orders", 3), 5, 9, 4)
    assert (seen.member, seen.is_owner_known) == ((None, False) if tool == "kafkactl" else ("c-1", True))


def test_a_partition_in_json_without_an_offset_that_is_known_is_refused():
    with pytest.raises(KafkaLearnError, match="names topic, partition and position, and not a topic, an offset"):
        lag('[{"topic": "orders", "partition": 3, "position": 5}]', group="billing")
    with pytest.raises(KafkaLearnError, match="call them topic, current_offset"):
        lag('[{"partition": 3, "currentOffset": 5, "lag": 4}]', group="billing")


KSQLDB = """\
Consumer Groups summary:

Consumer Group       : _confluent-ksql-default_query_CTAS_COUNTS_5

Kafka topic          : orders
Max lag              : 17

 Partition | Start Offset | End Offset | Offset | Lag
------------------------------------------------------
 0         | 0            | 169101     | 169101 | 0
 1         | 12           | 169120     | 169103 | 17
------------------------------------------------------

Kafka topic          : payments
Max lag              : 46910

 Partition | Start Offset | End Offset | Offset | Lag
------------------------------------------------------
 0         | 40           | 46910      | 0      | 46910
------------------------------------------------------
"""


def test_what_ksqldb_says_is_of_the_topic_and_the_group_above_it():
    found = described_look(KSQLDB).partitions
    assert {each.group for each in found} == {"_confluent-ksql-default_query_CTAS_COUNTS_5"}
    assert [(each.at, each.start, each.committed, each.end, each.lag) for each in found] == [
        (("orders", 0), 0, 169101, 169101, 0),
        (("orders", 1), 12, 169103, 169120, 17),
        (("payments", 0), 40, 0, 46910, 46910),
    ]
    assert not any(each.is_share or each.is_owner_known for each in found)
    assert [each.name for each in lag(KSQLDB).causes] == ["caught up", "one look", "before the start"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('{"status": {"group": "billing", "partition_count": 18, "partitions": []}}', "0 of 18 partitions .* /status"),
        ('{"status": {"group": "billing", "partition_count": 1, "partitions": [{"topic": 3}]}}', "as Burrow writes"),
        ('{"status": {"group": "other", "partition_count": 0, "partitions": []}}', "has no row of group 'billing'"),
        ('{"error": true, "message": "cluster or consumer not found"}', "has no row of group"),
        ('{"status": ', "has no row of group"),
    ],
)
def test_an_answer_of_burrow_without_all_partitions_is_refused(answer, words):
    with pytest.raises(KafkaLearnError, match=words):
        lag(answer, group="billing")


def test_a_partition_that_burrow_has_no_offset_of_has_none():
    row = '{"topic": "t", "partition": 0, "owner": "", "end": null, "current_lag": 9}'
    (seen,) = described_look(f'{{"status": {{"group": "g", "partitions": [{row}]}}}}').partitions
    assert (seen.committed, seen.lag, seen.member, seen.is_owner_known) == (None, None, None, False)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("TOPIC PARTITION POSITION LOG-END-OFFSET LAG", "lacks CURRENT-OFFSET"),
        ("TOPIC PARTITION CURRENT-OFFSET TAIL", "lacks LOG-END-OFFSET"),
        ("PARTITION CURRENT-OFFSET LAG", "lacks TOPIC"),
        ("TOPIC PARTITION COMMITTED OFFSET LAG", "has CURRENT-OFFSET twice"),
    ],
)
def test_a_column_that_is_not_known_is_refused_and_no_dash(header, words):
    with pytest.raises(KafkaLearnError, match=words):
        lag(f"{header}\norders 0 5 9 4\n", group="billing")


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (RPK.format(committed=30, lag=60), RPK.format(committed=60, lag=30)),
        (f"{KAFKA}billing orders 0 30 90 60 - - -\n", f"{KAFKA}billing orders 0 60 90 30 - - -\n"),
    ],
    ids=["no column", "assign()"],
)
def test_what_moves_is_owned_whatever_the_table_says(then, now):
    (cause,) = lag([then, now], apart_s=10).causes
    assert (cause.name, cause.rate) == ("falls", -3.0)


def test_without_a_column_nobody_can_say_who_owns_it_and_a_dash_says_it():
    assert lag(RPK.format(committed=30, lag=60)).causes[0].name == "one look"
    assert lag(RPK.format(committed=30, lag=60).replace("Stable", "Empty")).causes[0].name == "nobody owns it"
    table = f"{KAFKA}billing orders 0 30 90 60 - - -\n"
    assert "assign()" in lag(table).causes[0].words
    (stands,) = lag([table, table]).causes
    assert (stands.name, "its committed offset stands" in stands.words) == ("nobody owns it", True)


def test_rows_of_another_group_never_count():
    other = RPK.format(committed=30, lag=60).replace("billing", "shipping")
    both = f"{RPK.format(committed=80, lag=10)}\n{other}"
    assert [(each.group, each.lag) for each in lag(both, group="billing").causes] == [("billing", 10)]
    with pytest.raises(KafkaLearnError, match="no row of group 'billing'"):
        lag(other, group="billing")
    with pytest.raises(KafkaLearnError, match=r"orders-0 of group 'billing' twice"):
        lag(RPK.format(committed=30, lag=60) + RPK.format(committed=60, lag=30))


def test_an_offset_below_the_log_start_has_lost_its_records():
    table = RPK.replace("0                 90", "70                70")
    (cause,) = lag(table.format(committed=30, lag=40)).causes
    assert cause.name == "before the start"
    assert "40 offsets were deleted unread" in cause.words
    assert "nothing is left to read" in cause.words


@pytest.mark.parametrize(
    ("row", "group", "topic", "member"),
    [
        ("my  group orders 3 5 9 4 c1-7 /10.0.0.7 my client", "my  group", "orders", "c1-7"),
        ("7 5 orders 3 5 9 4 c1-7 /10.0.0.7 c", "7 5", "orders", "c1-7"),
        ("billing, orders, 3, 5, 9, 4, c1-7, /10.0.0.7, c", "billing", "orders", "c1-7"),
        ("billing orders 3 5 9 4 -", "billing", "orders", None),
    ],
)
def test_a_row_by_blanks_is_parted_at_its_numbers(row, group, topic, member):
    (found,) = described_look(f"{NAMES}\n{row}").partitions

    assert (found.group, found.at, found.committed, found.lag) == (group, (topic, 3), 5, 4)
    assert found.member == member


KAF = """Group ID:        billing
State:           Stable
Protocol:        range
Protocol Type:   consumer
Offsets:
  orders:
    Partition  Group Offset  High Watermark  Lag     Metadata
    ---------  ------------  --------------  ---     --------
    0          985           1035            50
    1          12            12              0       by hand
  payments:
    Partition  Group Offset  High Watermark  Lag     Metadata
    ---------  ------------  --------------  ---     --------
    0          3             10              7
"""
"""After the form of ``kaf group describe``: the topic stands above each table."""


def test_a_topic_above_its_table_and_a_last_column_that_is_empty_are_read_as_kaf_prints_them():
    found = described_look(KAF).partitions

    assert [(each.group, str(each.at), each.committed, each.end, each.lag) for each in found] == [
        ("billing", "orders-0", 985, 1035, 50),
        ("billing", "orders-1", 12, 12, 0),
        ("billing", "payments-0", 3, 10, 7),
    ]


def test_what_ksqldb_says_of_its_topic_behind_the_name_is_no_part_of_it():
    said = """Consumer Group       : billing
Kafka topic          : orders (partitions: 1, replication: 1)
Partition | Offset | End Offset | Lag
----------|--------|------------|----
 0        | 10     | 20         | 10
"""
    (row,) = described_look(said).partitions

    assert (row.group, str(row.at), row.lag) == ("billing", "orders-0", 10)
