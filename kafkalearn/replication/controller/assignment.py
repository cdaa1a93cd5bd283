"""Which brokers hold a replica, and how one assignment becomes another: what is added first, what is removed last."""

from __future__ import annotations

from typing import NamedTuple


class Assignment(NamedTuple):
    """The replicas of a partition as the controller has recorded them.

    While a reassignment is under way the list holds both the old replicas and the new ones. The first is the
    *preferred* leader.

    >>> moving = Assignment((1, 2, 3)).toward((4, 2, 3))
    >>> moving
    Assignment(replicas=(4, 2, 3, 1), adding=(4,), removing=(1,))
    >>> moving.target, moving.original
    ((4, 2, 3), (2, 3, 1))

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``PartitionReassignmentReplicas``; KIP-455.
    """

    replicas: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_changing(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas there are to be in the end."""
        return without(self.replicas, self.removing)

    @property
    def original(self) -> tuple[int, ...]:
        """The replicas that a cancelled reassignment leaves; their order may have changed."""
        return without(self.replicas, self.adding)

    def toward(self, target: tuple[int, ...]) -> Assignment:
        """The assignment once the controller has been asked for `target`.

        What is compared with `target` are all replicas there are, those of an earlier reassignment too. Where nothing
        is to be added, or removed, the list of the earlier one stays, as in Kafka.

        >>> Assignment((1, 2, 3, 4), adding=(4,)).toward((1, 2, 3))
        Assignment(replicas=(1, 2, 3, 4), adding=(4,), removing=(4,))
        """
        removing = tuple(sorted(without(self.replicas, target)))
        adding = tuple(sorted(without(target, self.replicas)))
        return Assignment((*target, *removing), adding or self.adding, removing or self.removing)

    def in_no_order(self) -> Assignment:
        """The same, the replicas by their ids: where a search leaves open whom the controller prefers."""
        return self._replace(replicas=tuple(sorted(self.replicas)))


def without(broker_ids: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """The brokers that are not among `others`, in their order.

    >>> without((3, 1, 2), (1,))
    (3, 2)
    """
    return tuple(each for each in broker_ids if each not in others)


def completed(assignment: Assignment, isr: tuple[int, ...], end: str) -> tuple[Assignment, tuple[int, ...]]:
    """Assignment and ISR once a reassignment that may end has ended; as they are if there is none that may.

    Parameters
    ----------
    assignment : Assignment
        As it is recorded.
    isr : tuple of int
        Who is to be in sync.
    end : str
        Who has to be, a name in `kafkalearn.replication.rules.REASSIGNMENT_ENDS`.

    Examples
    --------
    >>> completed(Assignment((1, 2, 3, 4), (4,), (1,)), (1, 2, 4), "all in sync")[0].is_changing
    True
    >>> completed(Assignment((1, 2, 3, 4), (4,), (1,)), (1, 2, 4), "new in sync")
    (Assignment(replicas=(2, 3, 4), adding=(), removing=()), (2, 4))

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``PartitionReassignmentReplicas.maybeCompleteReassignment``; KAFKA-15665 (3.8).
    """
    kept = without(isr, assignment.removing)
    if not (assignment.is_changing and kept and assignment.target and _may_end(assignment, {*kept}, end)):
        return assignment, isr
    return Assignment(assignment.target), kept


def _may_end(assignment: Assignment, in_sync: set[int], end: str) -> bool:
    is_fewer = len(assignment.adding) < len(assignment.removing)
    if end == "all in sync" or (end == "new in sync, all if fewer" and is_fewer):
        return {*assignment.target, *assignment.adding} <= in_sync
    return {*assignment.adding} <= in_sync


def reverted(assignment: Assignment, isr: tuple[int, ...]) -> tuple[Assignment, tuple[int, ...], bool]:
    """Assignment and ISR of a cancelled reassignment, and whether the ISR has all that was committed.

    If only brokers that were being added are in sync, the first of the others is all there is left.

    >>> reverted(Assignment((4, 2, 3, 1), (4,), (1,)), (1, 2, 4))
    (Assignment(replicas=(2, 3, 1), adding=(), removing=()), (1, 2), True)
    >>> reverted(Assignment((4, 1), (4,), (1,)), (4,))
    (Assignment(replicas=(1,), adding=(), removing=()), (1,), False)

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``PartitionReassignmentRevert``.
    """
    kept = without(isr, assignment.adding)
    return Assignment(assignment.original), kept or assignment.original[:1], bool(kept)
