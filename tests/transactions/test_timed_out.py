"""A producer whose epoch was raised behind its back: what brokers answer, and what Java's client makes of it."""

from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, release_line
from kafkalearn.transactions import Settings, client
from kafkalearn.transactions.client import Arrived, Ended, Sent, Started
from kafkalearn.transactions.client_errors import ABORTABLE, ABORTING, FATAL, RETRIED, kind_of
from kafkalearn.transactions.model import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    EndTxn,
    InitProducerId,
    MarkerArrived,
    Produce,
    TimePassed,
    TxnOffsetCommit,
    start,
)
from kafkalearn.transactions.partition import committed_records
from kafkalearn.transactions.simulator import settled, step
from tests.every import every_case
from tests.recorded import recorded

REAL = recorded("timed-out")
ID = "x"
PRODUCE_BY_NAME = 12  # 13 names topics by their ids, and is answered alike
PLACES = {"other": "t-1"}


def named(case):
    calls = ",".join(each["call"] for each in case["steps"])
    broker = f"{case['broker']} at {case['transaction.version']}"
    return f"{broker}, client {case['client']}, {case['cause']}: {calls}"


def of_today(case):
    """Whether the simulator speaks of this broker: the coordinator before 4.0 is not its."""
    return at_least("4.0", release_line(case["broker"]))


class Player:
    """A cluster and a producer with an open transaction of one record, whose epoch is raised then."""

    def __init__(self, case):
        self.release = release_line(case["broker"]) if of_today(case) else "4.0"
        self.settings = Settings(
            self.release, partitions=("t-0", "t-1"), transaction_version=case["transaction.version"]
        )
        self.cluster = start(self.settings)
        self.sequences = {}
        first = self.ask(InitProducerId(ID))
        self.producer_id, self.epoch = first.producer_id, first.epoch
        if case["transaction.version"] < 2 or not at_least("4.0", release_line(case["client"])):
            self.ask(AddPartitionsToTxn(ID, self.producer_id, self.epoch, ("t-0",), 3))
            self.send("t-0", 0, 11)
        else:
            self.send("t-0", 0, PRODUCE_BY_NAME)
        if case["cause"] == "timeout":
            self.ask(TimePassed(70_000))
        else:
            self.ask(InitProducerId(ID))
            self.ask(InitProducerId(ID))

    def ask(self, event):
        self.cluster = settled(self.settings, step(self.settings, self.cluster, event))
        return self.cluster.effects[0] if self.cluster.effects else None

    def send(self, place, value, version):
        sequence = self.sequences.get(place, 0)
        answer = self.ask(Produce(ID, place, self.producer_id, self.epoch, sequence, (value,), True, version))
        self.sequences[place] = sequence + (answer.error == "NONE")
        return answer

    def answer(self, name, version, call, value):
        """The error of a request as it was recorded, asked of the simulator."""
        who = (ID, self.producer_id, self.epoch)
        if name == "Produce":
            return self.send(PLACES.get(call, "t-0"), value, min(version, PRODUCE_BY_NAME)).error
        if name == "EndTxn":
            answer = self.ask(EndTxn(*who, call == "commit", version))
            if version >= 5 and answer.error == "NONE":
                self.producer_id, self.epoch, self.sequences = answer.producer_id, answer.epoch, {}
            return answer.error
        if name == "AddOffsetsToTxn":
            return self.ask(AddOffsetsToTxn(*who, "g", version)).error
        if name == "AddPartitionsToTxn":
            place = PLACES.get(call, "t-0")
            return dict(self.ask(AddPartitionsToTxn(*who, (place,), version)).partitions)[place]
        assert name == "TxnOffsetCommit"
        return dict(self.ask(TxnOffsetCommit(*who, "g", (("t-0", 7),), version)).partitions)["t-0"]


def class_of(error):
    """The name of the exception of an error.

    >>> class_of("INVALID_TXN_STATE")
    'InvalidTxnStateException'
    """
    return "".join(word.title() for word in error.split("_")) + "Exception"


def kept(error, request, client_release):
    """The error whose exception a client keeps: an old epoch is a fence, but at a partition since 2.7."""
    tells = request == "Produce" and at_least("2.7", client_release)
    return "PRODUCER_FENCED" if error == "INVALID_PRODUCER_EPOCH" and not tells else error


@every_case("case", REAL["cases"], ids=named)
def test_brokers_and_clients_are_as_the_simulator_and_the_table_of_errors_say(case):
    player, client_release = Player(case), release_line(case["client"])
    state, reason = "", ""  # what the producer is in since its first error
    for number, each in enumerate(case["steps"], 1):
        call, failed = each["call"], state == FATAL or (state == ABORTABLE and each["call"] != "abort")
        for request, version, error in each["requests"]:
            assert player.answer(request, version, call, number) == error, each
            if error != "NONE":
                kind = kind_of(error, ABORTING if (request, call) == ("EndTxn", "abort") else request, client_release)
                assert kind != RETRIED
                state, reason, failed = kind, class_of(kept(error, request, client_release)), True
        assert (each["outcome"] != "done") == failed, each
        if failed:
            assert reason in each["error"].split(" < "), each
        elif call == "abort":
            state = ""
    log = player.cluster.partition("t-0")
    assert [str(each) for each in committed_records(log)] == case["read"]


def test_what_was_recorded_of_a_time_out_is_what_is_told_of_it():
    """Per transaction.version: commit, abort, send and offsets; nobody can tell it from a fence below 2."""
    cases = {named(each): each for each in REAL["cases"]}

    def first_errors(broker, version, cause="timeout", client=None):
        start_of = f"{broker} at {version}, client {client or broker}, {cause}: "
        mine = [each["steps"] for name, each in cases.items() if name.startswith(start_of)]
        assert len(mine) == 7
        return [[(each["call"], each.get("error")) for each in steps] for steps in mine]

    for broker in ("4.4.0", "4.0.2"):
        assert first_errors(broker, 0) == first_errors(broker, 1) == first_errors(broker, 0, "rival")
        found = dict(steps[0] for steps in first_errors(broker, 2))
        assert found == {
            "commit": "InvalidTxnStateException",
            "abort": None,
            "send": "InvalidProducerEpochException",
            "other": "InvalidProducerEpochException",
            "offsets": "ProducerFencedException",
        }
        fenced = dict(steps[0] for steps in first_errors(broker, 2, "rival"))
        assert (fenced["commit"], fenced["abort"]) == ("ProducerFencedException", "ProducerFencedException")
    old_client = first_errors("4.4.0", 2, client="3.9.2")
    assert old_client == first_errors("3.9.2", 0) == first_errors("4.4.0", 0)


def test_the_simulated_client_meets_what_javas_does():
    """commit, abort, send and then abort; by transaction.version."""
    said = {}
    for version in (0, 1, 2):
        settings = client.Settings(Settings(DEFAULT_RELEASE, transaction_version=version))
        lost = [Started(), Sent(), Arrived(), TimePassed(70_000), MarkerArrived("x", "t-0")]
        for name, more in {
            "commit": [Ended()],
            "abort": [Ended(commit=False)],
            "send": [Sent(), Arrived()],
            "send, abort": [Sent(), Arrived(), Ended(commit=False)],
        }.items():
            state = client.simulate(settings, [*lost, *more])[-1].state
            one = state.instance("a")
            said[version, name] = [one.fatal_error, one.must_abort and not one.fatal_error]
    fenced, to_abort, well = ["PRODUCER_FENCED", False], ["", True], ["", False]
    assert said == {
        **{(version, name): fenced for version in (0, 1) for name in ("commit", "abort", "send, abort")},
        **{(version, "send"): to_abort for version in (0, 1, 2)},
        (2, "commit"): ["INVALID_TXN_STATE", False],
        (2, "abort"): well,
        (2, "send, abort"): well,
    }
    recorded_kinds = {"InvalidTxnStateException": "INVALID_TXN_STATE", "ProducerFencedException": "PRODUCER_FENCED"}
    for version in (0, 1, 2):
        for call in ("commit", "abort"):
            (first,) = {
                case["steps"][0].get("error", "").split(" < ")[-1]
                for case in REAL["cases"]
                if named(case).startswith(f"4.4.0 at {version}, client 4.4.0, timeout: ")
                and case["steps"][0]["call"] == call
            }
            assert recorded_kinds.get(first, "") == said[version, call][0], first
