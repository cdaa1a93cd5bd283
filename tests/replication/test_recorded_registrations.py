"""What the controller wrote when brokers stopped, died and came back: tests/vectors/replication/registrations.json."""

from itertools import groupby
from typing import NamedTuple

import pytest

from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    ControlledShutdownStarted,
    SessionExpired,
    Settings,
    settle,
    simulate,
    step,
)
from tests.recorded import recorded

CASES = recorded("registrations")["cases"]
BROKERS, MIN_ISR = 3, 2
NOBODY = -1


class Written(NamedTuple):
    """What the controller has recorded of the partition and of the brokers."""

    leader: int | None
    isr: frozenset[int]
    eligible: frozenset[int] = frozenset()
    last_known: frozenset[int] = frozenset()
    fenced: frozenset[int] = frozenset()
    stopping: frozenset[int] = frozenset()


def after(written, record):
    """What it has recorded after one record more."""
    kind, broker_id, fields = record
    if kind == "PartitionChangeRecord":
        leader = fields.get("leader", written.leader)
        return written._replace(
            leader=None if leader == NOBODY else leader,
            isr=frozenset(fields.get("isr", written.isr)),
            eligible=frozenset(fields.get("eligibleLeaderReplicas", written.eligible)),
            last_known=frozenset(fields.get("lastKnownElr", written.last_known)),
        )
    its = {broker_id}
    if kind == "RegisterBrokerRecord":
        assert fields == {"fenced": True}
        return written._replace(fenced=written.fenced | its, stopping=written.stopping - its)
    if fields.get("fenced"):
        is_fenced = fields["fenced"] == 1
        fenced = written.fenced | its if is_fenced else written.fenced - its
        return written._replace(fenced=fenced, stopping=written.stopping - its)
    if not fields:  # of its log directories
        return written
    assert fields == {"inControlledShutdown": 1}
    return written._replace(stopping=written.stopping | its)


def ours(state):
    controller = state.controller
    last_known = () if controller.last_known_leader is None else (controller.last_known_leader,)
    some = (controller.isr, controller.elr, last_known, controller.fenced, controller.stopping)
    sets = (frozenset(each) for each in some)
    return Written(controller.leader, *sets)


def steps_of(leader, kind, broker_id, *rest):
    """The events that stand for what was done; None: the followers catch up."""
    match kind:
        case "stop":  # who leads nothing is not asked to give anything up
            return [*([ControlledShutdownStarted(broker_id)] if broker_id == leader else []), BrokerStopped(broker_id)]
        case "kill":
            return [BrokerCrashed(broker_id), *([] if rest else [SessionExpired(broker_id)])]
        case "start":
            return [BrokerRegistered(broker_id), BrokerUnfenced(broker_id), None]
        case "freeze":
            return [BrokerFrozen(broker_id), SessionExpired(broker_id)]
    return [BrokerThawed(broker_id), BrokerReconnected(broker_id), None]


def without_repeats(some):
    return [each for each, _ in groupby(some)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_step_by_step_the_controller_records_the_same(case):
    settings = Settings(BROKERS, min_insync_replicas=MIN_ISR, has_eligible_leader_replicas=case["eligible"])
    trace = settle(settings, simulate(settings, []))
    written = Written(1, frozenset((1, 2, 3)))
    assert ours(trace[-1].state) == written
    for event, batches in zip(case["events"], case["written"], strict=True):
        theirs = [written]
        for batch in batches:
            for record in batch:
                written = after(written, record)
            theirs.append(written)
        before = len(trace) - 1
        for each in steps_of(trace[-1].state.controller.leader, *event):
            trace = settle(settings, trace) if each is None else extend(step, settings, trace, [each])
        mine = [ours(frame.state) for frame in trace[before:]]
        assert without_repeats(mine) == without_repeats(theirs), event
