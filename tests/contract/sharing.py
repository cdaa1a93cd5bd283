"""Share groups: brokers with what they have in memory and what is stored; and programs that share work."""

from kafkalearn import sharing
from kafkalearn.sharing import events, work
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

EARLIEST = (("g", (("share.auto.offset.reset", "earliest"),)),)
AT_ONCE = {"group_configs": EARLIEST, "assignment_interval_ms": 0}

# Two members: one is slow, one gives back, one leaves; a transaction, deleted records, a restart.
REQUESTS = (
    events.Produce("t-0", 3),
    events.ShareGroupHeartbeat("g", "m1", 0, ("t",)),
    events.ShareGroupHeartbeat("g", "m2", 0, ("t",)),
    events.ShareGroupHeartbeat("g", "m1", 2),
    events.ShareFetch("g", "m1", 0, ("t-0",), max_wait_ms=0),
    events.ShareFetch("g", "m2", 0, ("t-0",), max_wait_ms=900),
    events.Produce("t-0", 2, transaction="x"),
    events.EndTxn("x", commit=False),
    events.ShareAcknowledge("g", "m1", 1, (events.Acknowledgement("t-0", 0, 1, (1, 2)),)),
    events.ShareAcknowledge("g", "m1", 2, (events.Acknowledgement("t-0", 2, 2, (4,)),), is_renew=True),
    events.TimePassed(31_000),
    events.ShareFetch("g", "m2", 1, (), (events.Acknowledgement("t-0", 3, 5, (3,)),), max_wait_ms=0),
    events.ConnectionClosed("m1"),
    events.RecordsCompacted("t-0", (1,)),
    events.DeleteRecords("t-0", 3),
    events.ShareFetch("g", "m2", 2, max_records=1, mode="record_limit", max_wait_ms=0),
    events.AlterGroupConfigs("g", (("share.isolation.level", "read_committed"),)),
    events.LeaderMoved("t-0", 2),
    events.LeaderMoved("t-0", 1),
    events.BrokerRestarted(),
    events.ShareGroupHeartbeat("g", "m1", -1),
    events.ShareGroupHeartbeat("g", "m2", -1),
    events.AlterShareGroupOffsets("g", (("t-0", 1),)),
    events.DescribeShareGroupOffsets("g"),
    events.DeleteShareGroupOffsets("g", ("t",)),
    events.DeleteGroup("g"),
    events.OtherGroupMade("g", "classic"),
    events.CreateTopic("d"),
    events.CreatePartitions("d", 2),
    events.AlterTopicConfigs("d", (("errors.deadletterqueue.group.enable", "true"),)),
    events.InitializeShareGroupState("h", "t-0", 1, 0),
    events.ReadShareGroupState("h", "t-0", 9),
    events.WriteShareGroupState("h", "t-0", 1, 9, 0, 0, ((0, 1, 2, 1),)),
    events.ReadShareGroupStateSummary("h", "t-0"),
    events.DeleteShareGroupState("h", "t-0"),
    events.DeleteTopic("d"),
)
NOWHERE = (
    events.Produce("u-0"),
    events.DeleteRecords("u-0", 1),
    events.LeaderMoved("t-0", 7),
    events.BrokerRestarted(broker=7),
)
SIMULATORS["sharing"] = Simulator(
    home="kafkalearn.sharing",
    runs=(
        Run(sharing.Settings(broker_count=2, **AT_ONCE), REQUESTS),
        Run(sharing.Settings("4.2", broker_count=2, **AT_ONCE), REQUESTS[:10]),
    ),
    senseless=NOWHERE,
)

# Two programs: slow, dead, one that gives up.
WORK = (
    work.Arrive(4),
    work.Poll("c1"),
    work.Accept("c1", (0,)),
    work.Renew("c1"),
    work.Release("c1", (1,)),
    work.Poll("c2"),
    work.Reject("c2"),
    work.TimePassed(30_000),
    work.Poll("c2"),
    work.Accept("c1"),
    work.Keep("c2", 40_000),
    work.Hang("c2"),
    work.Crash("c2"),
    events.DeleteRecords("t-0", 1),
    events.AlterGroupConfigs(work.GROUP, (("share.delivery.count.limit", "2"),)),
    events.BrokerRestarted(),
    work.Poll("c2"),
    work.Close("c2"),
)
SIMULATORS["shared_work"] = Simulator(
    home="kafkalearn.sharing.work",
    runs=(
        Run(work.Settings(), WORK),
        Run(work.settings(acknowledging="implicit"), (work.Arrive(2), work.Poll("c1"), work.Poll("c1"))),
    ),
    senseless=(work.Accept("c1"), work.Crash("c1"), work.Close("c1"), work.Hang("c1"), work.Poll("nobody")),
    effects_in=("kafkalearn.sharing",),
)
