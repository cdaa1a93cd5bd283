"""A commit's member is checked in four places: the store, both coordinators, and transactions. They say the same."""

from kafkalearn import transactions
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups import classic, consumer
from kafkalearn.offsets import store
from kafkalearn.offsets.replay import Member
from kafkalearn.releases.lines import RELEASES
from kafkalearn.transactions.model import Group, Join, OffsetCommit, TxnOffsetCommit
from tests.every import every_case

PLACE = TopicPartition("t", 0)
NEW = [release for release in RELEASES if RELEASES.index(release) >= RELEASES.index("4.0")]
SENDERS = [
    (member, generation) for member in ("own", "nobody", "") for generation in (None, 0, 1, -1)
]  # who sends it, and by how much its generation or epoch is beside the member's; None: it sends none


def asked(member, beside, own, generation):
    """The member id and the generation of a request."""
    return {"own": own}.get(member, member), -1 if beside is None else generation + beside


def in_the_store(release, kind, member, beside, producer_id=None):
    known = Member("m", epoch=None if kind == "classic" else 3, subscribed=("t",))
    more = {"protocol": "range", "leader": "m"} if kind == "classic" else {}
    group = store.StoreGroup("g", 3, 0, (known,), kind=kind, **more)
    member_id, generation = asked(member, beside, "m", 3)
    commit = store.Commit("g", "t", 0, 7, 1, member_id=member_id, generation=generation, producer_id=producer_id)
    (answer,) = store.simulate(store.Settings(release), [group, commit])[-1].state.effects
    return answer.error or "NONE"


def of_a_classic_coordinator(release, member, beside):
    settings = classic.Settings(release)
    first = classic.JoinGroup("c1", protocols=(("range", b""),), version=3)
    group = classic.simulate(settings, [first, classic.TimePassed(3_000)])[-1].state
    (known,) = group.members
    sync = classic.SyncGroup("c1", known.member_id, group.generation, assignments=((known.member_id, ()),))
    group = classic.step(settings, group, sync)
    assert group.state == "Stable"
    member_id, generation = asked(member, beside, known.member_id, group.generation)
    return classic.step(settings, group, classic.OffsetCommit("c1", member_id, generation)).answers[-1].error


def of_a_consumer_coordinator(release, member, beside):
    settings = consumer.Settings(release, topics={"t": 1})
    group = consumer.simulate(settings, [consumer.join("m", ("t",))])[-1].state
    member_id, epoch = asked(member, beside, "m", group.member("m").epoch)
    group = consumer.step(settings, group, consumer.OffsetCommit(member_id, epoch, (PLACE,)))
    return dict(group.effects[-1].errors)[PLACE]


def of_transactions(release, kind, member, beside, is_transactional=False):
    settings = transactions.Settings(release)
    cluster = transactions.simulate(settings, [Join("g", "m", kind == "consumer")])[-1].state
    group = cluster.group("g") or Group("g")
    member_id, generation = asked(member, beside, "m", group.generation)
    if not is_transactional:
        event = OffsetCommit("g", (("t-0", 7),), generation, member_id, 9)
        return transactions.step(settings, cluster, event).effects[0].partitions[0][1]
    cluster = transactions.step(settings, cluster, transactions.InitProducerId("x"))
    version = 6 if release == "4.4" else 5
    event = TxnOffsetCommit("x", 0, 0, "g", (("t-0", 7),), version, generation, member_id)
    return transactions.step(settings, cluster, event).effects[0].partitions[0][1]


@every_case("kind", ["classic", "consumer"])
@every_case("release", NEW)
@every_case("member, beside", SENDERS)
def test_a_commit_of_any_sender_is_answered_the_same_in_all_places(kind, release, member, beside):
    coordinator = of_a_classic_coordinator if kind == "classic" else of_a_consumer_coordinator
    said = {
        "store": in_the_store(release, kind, member, beside),
        "coordinator": coordinator(release, member, beside),
        "transactions": of_transactions(release, kind, member, beside),
    }
    assert len(set(said.values())) == 1, said


@every_case("kind", ["classic", "consumer"])
@every_case("release", NEW)
@every_case("member, beside", SENDERS)
def test_so_is_a_commit_in_a_transaction(kind, release, member, beside):
    said = {
        "store": in_the_store(release, kind, member, beside, producer_id=0),
        "transactions": of_transactions(release, kind, member, beside, is_transactional=True),
    }
    assert len(set(said.values())) == 1, said
