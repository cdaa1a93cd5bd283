"""Kafka's own defects, to be run: the same events in a release that has the fault, and in one that has not.

`DEFECTS` is the table. Each row has Kafka's number, what happens in one sentence, and from which release to which; its
`run` searches, or plays, and hands back the run that shows it in a release, or None where it cannot be shown there
(`kafkalearn.oncall.defect_runs`). A search of all schedules that ends without one says more than a script that does no
harm: the row says which it is.

A fault that is older than the first release that can be asked here has that one as its beginning. A release line stands
for its newest patch, as everywhere here; a fault that went in a patch is shown with the patch before it.

>>> defect = find_defect("KAFKA-6361")
>>> [release for release in ("0.10.2", "0.11.0", "1.1", "2.0", "4.3") if defect.run(release)]
['0.11.0', '1.1']
>>> len(defect.run("1.1"))
9
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalearn.base.checks import one_of
from kafkalearn.releases.lines import RELEASES, at_least, release_line

if TYPE_CHECKING:
    from kafkalearn.oncall.defect_runs import Run


@dataclass(frozen=True, slots=True)
class Defect:
    """One of Kafka's own faults: where it is, and the run that shows it."""

    name: str  # Kafka's number; in words, where it has none
    what: str  # happens, in one sentence
    spans: tuple[tuple[str, str | None], ...]  # the first release that has it, and the first without; None: none yet
    is_searched: bool  # whether all schedules were looked at; else it is one script
    source: str
    side: str = "broker"  # which program has it

    def is_in(self, release: str) -> bool:
        """Whether a release has it, by the table.

        >>> [find_defect("KAFKA-1546").is_in(release) for release in ("0.8.2", "0.9.0")]
        [True, False]
        """
        release_line(release)
        return any(
            at_least(since, release) and (fixed is None or not at_least(fixed, release)) for since, fixed in self.spans
        )

    def is_shown(self, release: str) -> bool:
        """Whether `run` shows it in a release: its simulators answer for that release, and it is there.

        >>> [find_defect("KAFKA-4682").is_shown(release) for release in ("0.10.2", "0.11.0", "2.1")]
        [False, True, False]
        """
        from kafkalearn.oncall.defect_runs import first_asked  # every simulator is behind it

        return self.is_in(release) and at_least(first_asked(self.name), release)

    def run(self, release: str) -> Run | None:
        """The run that shows it in a release, or None.

        >>> find_defect("KAFKA-1546").run("0.9.0") is None
        True
        """
        from kafkalearn.oncall.defect_runs import run

        return run(self.name, release)

    def __str__(self) -> str:
        """Its number, its releases and its sentence."""
        spans = [f"since {since}, {f'fixed in {fixed}' if fixed else 'to this day'}" for since, fixed in self.spans]
        return f"{self.name} ({'; '.join(spans)}): {self.what}"


def find_defect(name: str) -> Defect:
    """The defect of a name.

    Raises
    ------
    KafkaLearnError
        If there is none; the nearest names are given.

    Examples
    --------
    >>> print(find_defect("KAFKA-13194"))
    KAFKA-13194 (since 0.8.2, fixed in 3.1): The cleaner removes a record for one that is not committed yet.
    """
    by_name = {each.name: each for each in DEFECTS}
    one_of("defect", name, by_name)
    return by_name[name]


def between(old: str, new: str) -> tuple[tuple[Defect, ...], tuple[Defect, ...]]:
    """The defects that an upgrade takes away, and those that it brings.

    Parameters
    ----------
    old, new : str
        Release lines, or patches.

    Raises
    ------
    KafkaLearnError
        If one is not known.

    Examples
    --------
    >>> gone, new = between("3.9", "4.3")
    >>> [each.name for each in gone], [each.name for each in new]
    (['KAFKA-15332', 'KAFKA-17803', 'a commit is missing for a moment'], ['KAFKA-15665', 'KAFKA-20785', 'KAFKA-20734'])
    """
    before, after = ({each.name for each in DEFECTS if each.is_in(release)} for release in (old, new))
    gone = tuple(each for each in DEFECTS if each.name in before - after)
    return gone, tuple(each for each in DEFECTS if each.name in after - before)


FIRST = RELEASES[0]
DEFECTS = (
    Defect(
        "KAFKA-1211",
        "A follower that comes back cuts its log at its own HW, is elected, and committed records are gone.",
        ((FIRST, "0.11.0"),), True, "KIP-101; ReplicaFetcherThread",
    ),
    Defect(
        "KAFKA-6361",
        "A leader answers for an epoch that it does not know, a follower cuts too little, and two logs differ.",
        (("0.11.0", "2.0"),), True, "KIP-279; LeaderEpochFileCache.endOffsetFor",
    ),
    Defect(
        "KAFKA-15332",
        "The last in-sync replica comes back from a loss of power without its records, and leads.",
        ((FIRST, "4.1"),), True, "KIP-966, eligible leader replicas",
    ),
    Defect(
        "high watermark behind a dead replica",
        "A dead follower that was caught up a moment ago is waited for; later nobody looks again, and the last "
        "record stays uncommitted until the next one comes.",
        (("0.10.2", None),), True,
        "Partition.maybeIncrementLeaderHW, updateFollowerFetchState; seen on a cluster of 4.4",
    ),
    Defect(
        "KAFKA-1546",
        "A burst of more records than replica.lag.max.messages removes followers that keep up.",
        ((FIRST, "0.9.0"),), False, "KIP-16; Partition.getOutOfSyncReplicas",
    ),
    Defect(
        "KAFKA-15665",
        "A reassignment ends while a replica that stays is out of sync; since 4.3 again, where as many come as go.",
        (("3.3", "3.8"), ("4.3", None)), False, "PartitionReassignmentReplicas",
    ),
    Defect(
        "KAFKA-13194",
        "The cleaner removes a record for one that is not committed yet.",
        ((FIRST, "3.1"),), False, "LogCleanerManager.cleanableOffsets",
    ),
    Defect(
        "KAFKA-8764",
        "The cleaner's checkpoint stays before the start of the log, and each round warns of it and leaves it.",
        (("0.10.1", "2.4.1"),), False, "LogCleanerManager.cleanableOffsets",
    ),
    Defect(
        "KAFKA-17803",
        "Records of an open transaction are deleted, and the last stable offset stands inside a batch; its place in "
        "the file is that of the first record of the batch.",
        (("0.11.0", "4.0"),), False, "LogSegment.read, UnifiedLog.maybeIncrementLogStartOffset",
    ),
    Defect(
        "KAFKA-4682",
        "The offset of a quiet topic expires while its group lives, and the topic is read again from the start.",
        (("0.9.0", "2.1"),), False, "KIP-211; GroupMetadataManager.cleanupGroupMetadata",
    ),
    Defect(
        "KAFKA-10614",
        "An order to resign overtakes a later one to lead, and the leader of an offsets partition answers nobody.",
        (("2.0", "2.8.1"),), True, "GroupCoordinator.onElection, onResignation",
    ),
    Defect(
        "a commit is missing for a moment",
        "Two brokers carry out their orders at different times, and one of them answers without the latest commit.",
        (("0.9.0", "4.0"),), True, "GroupMetadataManager; CoordinatorRuntime since 4.0",
    ),
    Defect(
        "KAFKA-19862",
        "The cleaner takes a record away while a group is loaded, the load fails, and the group cannot be read.",
        (("4.0.0", "4.0.2"), ("4.1.0", "4.1.2")), True, "GroupMetadataManager.replay",
    ),
    Defect(
        "KAFKA-12890",
        "A member that hangs before its SyncGroup is waited for as long as its heartbeats go on, and its group stands.",
        (("2.6.1", "2.8.1"),), True, "GroupCoordinator, the timer of a pending sync",
    ),
    Defect(
        "KAFKA-20640",
        "A group that may not change its protocol takes a classic member in, is mixed, and never goes back.",
        (("4.0", "4.3.1"),), False, "GroupMetadataManager.classicGroupJoinToConsumerGroup; KIP-848",
    ),
    Defect(
        "KAFKA-13598",
        "enable.idempotence is true by default and has no effect: a batch that is sent again is written twice.",
        (("3.0.0", "3.0.1"), ("3.1.0", "3.1.1")), True, "ProducerConfig; KIP-679", "producer",
    ),
    Defect(
        "KAFKA-14397",
        "An error comes as a batch's time is over: an idempotent producer gives what is in flight new numbers, and "
        "writes it twice.",
        (("2.5", None),), True,
        "Sender.completeBatch, TransactionManager.handleFailedBatch; the change of pull request 12922 is in no release "
        "up to 4.4.0",
        "producer",
    ),
    Defect(
        "hanging transaction",
        "A record comes after the abort of its transaction, begins one that no coordinator knows, and readers of "
        "committed records are held back for ever.",
        (("0.11.0", "3.6"),), True, "KIP-664; KIP-890, whose first part verifies each transaction",
    ),
    Defect(
        "KAFKA-9144",
        "Whose transaction its coordinator aborted is forgotten within ten minutes, and a marker of an older "
        "coordinator is written.",
        (("0.11.0", "2.4.1"),), False,
        "ProducerStateEntry.lastTimestamp, ProducerStateManager.isProducerExpired",
    ),
    Defect(
        "KAFKA-19367",
        "InitProducerId raises an epoch twice, beyond the last there is, and its transactional id cannot begin again.",
        (("4.0.0", "4.0.1"),), False, "TransactionCoordinator.handleInitProducerId",
    ),
    Defect(
        "KAFKA-20785",
        "A commit that meets the abort of its coordinator is answered INVALID_TXN_STATE, on which a client gives up.",
        (("4.0", None),), False, "TransactionCoordinator.endTransaction",
    ),
    Defect(
        "KAFKA-20734",
        "A partition without a leader is taken for a deleted one: its marker is given up, the transaction counts as "
        "committed, and its readers are held back.",
        (("4.3", None),), False,
        "KRaftMetadataCache.getPartitionLeaderEndpoint, TransactionMarkerChannelManager; seen on 4.3.1 and 4.4.0",
    ),
    Defect(
        "KAFKA-19902",
        "Offsets committed without their leader epoch let the next owner ask an old leader: all is read again.",
        ((FIRST, None),), True, "SubscriptionState, OffsetFetcherUtils", "consumer",
    ),
    Defect(
        "old consumer that has given up",
        "A consumer fails in all its tries to own a partition, goes on living, and nobody reads the partition.",
        ((FIRST, "2.0"),), True, "ZookeeperConsumerConnector.syncedRebalance; the client went with 2.0",
        "old-consumer",
    ),
    Defect(
        "herd of old consumers",
        "One that joins calls all others, and each of them asks ZooKeeper for everything.",
        ((FIRST, "2.0"),), True, "ZookeeperConsumerConnector.ZKRebalancerListener; the client went with 2.0",
        "old-consumer",
    ),
)  # fmt: skip
"""What can be run here, oldest mechanism first. What the articles know and no simulator here does is not in it.

KAFKA-6189, records that a consumer passes over when its offset is out of range, is not in it either: no change of that
number is in Kafka's history (read up to 3.9), so there is no release without it to compare; that ``auto.offset.reset``
passes over records is a rule, not a fault, and `kafkalearn.consuming.truncation` runs it. KAFKA-14397 has no release
without it since 2.5; what a producer of 2.1 to 2.4 does in its place is not modelled, so it is not asked there.
KAFKA-19999 came and went between two releases: `kafkalearn.transactions.model.DEFECTS` has it. KAFKA-20765 is in the
client of the new consumer, whose requests to the coordinator for offsets no simulator here sends.
"""
