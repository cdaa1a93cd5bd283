"""What holds for single chapters: assignors and their laws, reports, old consumers, plans, clusters, games."""

import random
from functools import partial
from itertools import permutations

import pytest

from kafkalearn import delivery, replication
from kafkalearn.assignors import assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.search import explore
from kafkalearn.delivery.search import model as delivery_model
from kafkalearn.exercises import (
    chapter06,
    chapter06b,
    chapter10,
    chapter10b,
    chapter12,
    chapter12b,
    chapter13,
    chapter13b,
    chapter13c,
)
from kafkalearn.exercises.chapter02 import KAFKA_PYTHON, KAFKAJS, REPORTS, SINEK, kafkajs_partition
from kafkalearn.exercises.chapter04 import KeepsLaws
from kafkalearn.exercises.chapter12 import (
    is_soon_replaced,
    nobody_gives_up,
    patient_settings,
    survives_pause,
    who_owns,
)
from kafkalearn.exercises.chapter12b import move_the_group, stand_still, stopped_by_the_first, which_offset
from kafkalearn.exercises.chapter13c import FIRST, TAKEN
from kafkalearn.exercises.chapter16 import BATCH_S, RACKS, ZONES, crossing_count, least_twice, read_twice, share_by_zone
from kafkalearn.exercises.chapter18 import records_of
from kafkalearn.exercises.kit.game import MOST_MOVES, Game, moves_of
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG
from kafkalearn.exercises.progress.record import MOVED
from kafkalearn.operations.faults import KINDS, cluster_logs, find_faults
from kafkalearn.operations.placement import place_shifted
from kafkalearn.operations.reassignment import plan_of, write_plan
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.replication import BrokerCrashed, Fetch, TimePassed
from kafkalearn.replication.search import model as replication_model
from kafkalearn.sharing import work
from kafkalearn.zookeeper import connector
from kafkalearn.zookeeper.commits import CommitOffsets, Crash, Produce, Read, Settings, Shutdown, Start, simulate
from kafkalearn.zookeeper.commits.search import find
from kafkalearn.zookeeper.commits.simulator import NONE_SKIPPED, NONE_TWICE
from kafkalearn.zookeeper.connector import BrokerStarted, CreateMessageStreams, TopicCreated
from kafkalearn.zookeeper.fetching import fetcher_id
from kafkalearn.zookeeper.schedules import play
from kafkalearn.zookeeper.subscriptions import Streams
from tests.exercises.every_exercise import EXERCISES, name_of
from tests.recorded import recorded

JUDGE = KeepsLaws("if alike")


def stub(partition_counts, members):
    return ...


def raises(partition_counts, members):
    return {members[0].name: []}


@pytest.mark.parametrize(
    ("judge", "answer", "outcome"),
    [
        (JUDGE, stub, NOT_ATTEMPTED),
        (JUDGE, ..., NOT_ATTEMPTED),
        (JUDGE, {"m0": []}, ERROR),
        (JUDGE, partial(assign, "roundrobin"), RIGHT),
        (JUDGE, partial(assign, "range"), WRONG),
        (KeepsLaws("group"), partial(assign, "roundrobin"), WRONG),
        (KeepsLaws("each topic"), partial(assign, "range"), RIGHT),
        (KeepsLaws("group", is_sticky=True), partial(assign, "sticky"), RIGHT),
        (KeepsLaws("if alike", is_sticky=True), partial(assign, "roundrobin"), WRONG),
        (JUDGE, raises, WRONG),
    ],
)
def test_an_assignor_is_right_if_it_keeps_the_laws(judge, answer, outcome):
    assert judge.judge(answer).outcome == outcome


def test_what_the_function_raises_is_told_with_the_group():
    law, group = map(str, JUDGE.judge(raises).sentences)
    assert "it ends with AttributeError: 'Member' object has no attribute 'name'" in law
    assert "m0 subscribes to a" in group.splitlines()


def never_ends(partition_counts, members):
    while True:
        pass


def spoils(partition_counts, members):
    partition_counts.clear()
    members.clear()
    return {}


def test_an_assignor_that_never_ends_is_stopped():
    assert repr(JUDGE.judge(never_ends)) == (
        "This cannot be checked. It was stopped after 3,000,000 lines of Python: a loop in it may never end."
    )


def test_an_assignor_that_changes_what_it_is_given_spoils_nothing():
    JUDGE.judge(spoils)

    assert JUDGE.judge(partial(assign, "roundrobin"))


def test_two_assignors_make_the_same_mistake_if_they_assign_alike_whatever_the_order_of_their_lists():
    def backwards(partition_counts, members):
        return {name: owned[::-1] for name, owned in assign("range", partition_counts, members).items()}

    assert JUDGE.matches(backwards, partial(assign, "range"))
    assert not JUDGE.matches(backwards, partial(assign, "roundrobin"))


KEYS = [bytes.fromhex(key) for key in recorded("keys")["keys"]]
JAVA = recorded("keys")["cases"][0]["partitions"]


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.thread)
def test_a_report_is_reproduced_to_the_digit(report):
    assert report.reproduce(report.key, report.partition_count) == report.seen
    assert partition_for_key(report.key.encode(), report.partition_count, report.expected_rule) == report.expected
    assert report.seen != report.expected


def test_the_floats_give_the_very_hash_that_was_reported():
    assert kafkajs_partition(b"100:48069", 2**31) == 1713501762
    assert KAFKAJS.repaired()(b"100:48069", 2**31) == 1009543857


@pytest.mark.parametrize("code", [KAFKA_PYTHON, KAFKAJS], ids=lambda code: code.function.__name__)
def test_repaired_code_places_every_recorded_key_as_the_java_producer_did(code):
    repaired = code.repaired()

    assert recorded("keys")["cases"][0]["partitioner"] == "java_default"
    for partition_count, observed in JAVA.items():
        assert [repaired(key, int(partition_count)) for key in KEYS] == observed


def test_repaired_code_that_takes_text_places_every_recorded_text_as_the_java_producer_did():
    repaired = SINEK.repaired()
    texts = {index: key.decode(errors="replace") for index, key in enumerate(KEYS)}
    placed = {index: repaired(text, 50) for index, text in texts.items() if text.encode() == KEYS[index]}

    assert len(placed) > 500
    assert placed == {index: JAVA["50"][index] for index in placed}


@pytest.mark.parametrize("code", [KAFKA_PYTHON, SINEK, KAFKAJS], ids=lambda code: code.function.__name__)
def test_each_repair_changes_one_place_of_the_faulty_source(code):
    for faulty, fixed in code.repairs:
        assert code.source.count(faulty) == 1
        assert faulty.strip() in code.diff()
        assert fixed.strip() in code.diff()


NEW = Start("new", "kafka", dual_commit_enabled=False)


def chosen(session_ms, tries, backoff_ms=2000):
    return {
        "zookeeper.session.timeout.ms": session_ms,
        "rebalance.max.retries": tries,
        "rebalance.backoff.ms": backoff_ms,
    }


@pytest.mark.parametrize("fetcher_count", range(1, 9))
def test_those_stand_still_that_share_the_fetcher(fetcher_count):
    ids = [fetcher_id("orders", number, fetcher_count) for number in range(4)]

    assert stopped_by_the_first(fetcher_count) == ids[1:].count(ids[0])


def test_a_group_that_is_played_owns_what_the_exercise_says():
    settings = connector.Settings(partition_assignment_strategy="roundrobin")
    streams = Streams({"orders": 1, "refunds": 1})
    joins = [CreateMessageStreams(name, streams) for name in ("c1", "c2")]
    topics = [TopicCreated("orders", 3), TopicCreated("refunds", 3)]

    end = play(settings, [BrokerStarted(0), *topics, *joins])[-1].state

    assert who_owns.check({f"{each.name}-0": {str(one) for one in each.owned} for each in end.connectors})


def test_the_shops_settings_fail_each_in_its_own_way():
    assert (survives_pause(chosen(6000, 4)), nobody_gives_up(chosen(6000, 4))) == (False, True)
    assert (survives_pause(chosen(30_000, 4)), nobody_gives_up(chosen(30_000, 4))) == (True, False)
    assert nobody_gives_up(chosen(30_000, 20))


def test_what_is_right_keeps_the_rule_of_the_faq():
    """Tries that last longer than the session are enough; the sessions that are right lie between pause and limit."""
    rng = random.Random(12)
    for _ in range(40):
        session_ms, tries, backoff_ms = rng.randrange(4000, 40_001), rng.randint(1, 30), rng.choice([500, 1000, 2000])
        values = chosen(session_ms, tries, backoff_ms)
        if tries * backoff_ms > session_ms + 2000:
            assert nobody_gives_up(values), values
        if survives_pause(values) and nobody_gives_up(values) and is_soon_replaced(values):
            assert 10_000 < session_ms < 40_000, values
            assert patient_settings.check(values).outcome == RIGHT


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        (chosen(20_000, ...), NOT_ATTEMPTED),
        ({"rebalance.max.retries": 4}, ERROR),
        ({**chosen(20_000, 15), "group.id": 1}, ERROR),
        (chosen(20_000, 0), ERROR),
        (chosen(-1, 15), ERROR),
        (chosen(20_000, "many"), ERROR),
        ({"zookeeper_session_timeout_ms": "20000", "REBALANCE.MAX.RETRIES": 15, "rebalance.backoff.ms": 2000}, RIGHT),
        (chosen(20_000, 4), WRONG),
        (chosen(20_000, 4, 200_000), WRONG),  # the rebalance is not over when the story ends
    ],
)
def test_odd_settings_are_explained(values, outcome):
    assert patient_settings.check(values).outcome == outcome


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([Start("dual", "kafka"), Shutdown("dual"), NEW], RIGHT),
        ([Start("dual", "kafka"), Read("dual", 0, 4), Shutdown("dual"), NEW], RIGHT),
        ([Start("dual", "kafka"), CommitOffsets("dual"), Crash("dual"), NEW], RIGHT),
        ([Start("dual", "kafka"), CommitOffsets("dual"), Read("dual", 0, 2), Crash("dual"), NEW], WRONG),
        ([Start("dual", "kafka"), Read("dual", 0, 4), Crash("dual"), NEW], WRONG),
        ([Start("dual", "kafka"), Shutdown("dual")], WRONG),
        ([NEW, Shutdown("new"), NEW], WRONG),
        ([Start("dual", "kafka"), NEW], ERROR),
        ([Shutdown("dual"), NEW], ERROR),
        ([7], ERROR),
        ([], WRONG),
    ],
)
def test_ways_to_the_topic(events, outcome):
    assert move_the_group.check(events).outcome == outcome


def test_after_the_right_move_no_schedule_loses_or_doubles():
    """The search of the library goes on from where the solution ends."""
    before = [Start("old"), Produce(0, 8), Read("old", 0, 8), Shutdown("old"), Produce(0, 4)]
    moved = simulate(Settings(), [*before, *move_the_group.solve()])[-1].state

    events = (Produce(), Read("new"), CommitOffsets("new"), Shutdown("new"), NEW)
    found = find(Settings(), events, [NONE_SKIPPED, NONE_TWICE], depth=6, initial=moved)

    assert found.trace is None


def test_the_larger_offset_wins_and_not_the_newer():
    right = which_offset.solve()

    assert right["dual commit, node set to 15"] > right["dual commit, node set to 3"] == right["kafka, node set to 3"]


def test_more_fetchers_may_bring_nothing():
    right = stand_still.solve()

    assert right["fetchers: 2"] == right["fetchers: 3"] > right["fetchers: 4"]


RIGHT_PLAN = [[*each] for each in place_shifted((1, 2, 3, 4), 8, 3)]


def found_in(seed):
    return list(find_faults(cluster_logs(seed)))


def letters_of(found):
    return {each.kind: FIRST[each.kind][0] for each in found}


@pytest.mark.parametrize("form", [list, tuple])
def test_a_plan_may_be_lists_or_the_text_of_its_json(form):
    assert chapter13b.third_replica.check(form(map(form, RIGHT_PLAN))).outcome == RIGHT
    assert chapter13b.third_replica.check(write_plan(plan_of("orders", RIGHT_PLAN))).outcome == RIGHT


def test_another_plan_that_keeps_to_the_rules_is_right_too():
    other = [[first, third, second] for first, second, third in RIGHT_PLAN]
    assert chapter13b.third_replica.check(other).outcome == RIGHT


def changed(**lines):
    plan = [[*each] for each in RIGHT_PLAN]
    for number, replicas in lines.items():
        plan[int(number[1:])] = replicas
    return plan


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (RIGHT_PLAN[:7], "these are 7 lists"),
        (changed(p0=[1, 2, 9]), "Unknown broker id 9"),
        (changed(p0=[2, 1, 3]), "Another broker is preferred"),
        (changed(p0=[1, 3, 4]), "It copies 9 replicas"),
        (changed(p0=[1, 2, 4]), "The new replicas are uneven"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(plan, said):
    result = chapter13b.third_replica.check(plan)
    assert result.outcome == WRONG
    assert said in repr(result)


def test_a_plan_by_which_one_broker_inherits_everything_is_wrong():
    # Broker 1 leads 0 and 4; its heir is 3 in both, and the copies are as many and as even as they should be.
    plan = [[1, 3, 2], [2, 3, 4], [3, 4, 1], [4, 1, 2], [1, 3, 4], [2, 4, 1], [3, 1, 2], [4, 2, 3]]
    result = chapter13b.third_replica.check(plan)
    assert result.outcome == WRONG
    assert "If broker 1 dies" in repr(result)


@pytest.mark.parametrize("seed", [7, 20050412, 991])
def test_the_capstone_takes_any_seed_of_ones_own(seed):
    found = found_in(seed)
    answer = {"seed": seed, "findings": found, "first": letters_of(found)}
    assert chapter13c.my_cluster.check(answer).outcome == RIGHT
    assert chapter13c.my_cluster.check(answer | {"findings": found[1:]}).outcome == WRONG
    assert chapter13c.my_cluster.check(answer | {"first": {}}).outcome == WRONG


def test_the_capstone_says_how_many_are_missing_and_does_not_take_the_chapters_seeds():
    found = found_in(8)
    answer = {"seed": 8, "findings": found[2:], "first": letters_of(found)}
    assert "4 faults found, 2 missed, 0 wrong" in repr(chapter13c.my_cluster.check(answer))
    assert "no seed of your own" in repr(chapter13c.my_cluster.check(answer | {"seed": TAKEN[-1]}))
    assert chapter13c.my_cluster.check(answer | {"findings": ...}).outcome == NOT_ATTEMPTED


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        (chapter06, (chapter06b,)),
        (chapter10, (chapter10b,)),
        (chapter12, (chapter12b,)),
        (chapter13, (chapter10b, chapter13b, chapter13c)),
    ],
    ids=("06", "10", "12", "13"),
)
def test_a_copy_of_the_time_when_they_were_one_finds_its_exercises(whole, parts):
    for part in parts:
        moved = [each for each in part.all_exercises() if f"{whole.__name__[-2:]}.{each.name}" in MOVED]
        assert moved
        for each in moved:
            assert getattr(whole, each.name) is each
            assert MOVED[f"{whole.__name__[-2:]}.{each.name}"] == each.progress.exercise


def test_every_kind_of_fault_has_its_own_first_thing_to_do():
    assert {*FIRST} == {*KINDS}
    assert len({letter for letter, _ in FIRST.values()}) == len(KINDS)


GAMES = [(chapter, exercise) for chapter, exercise in EXERCISES if isinstance(exercise.judge, Game)]
each_game = pytest.mark.parametrize("exercise", [exercise for _, exercise in GAMES], ids=name_of)
MODELS = {delivery.step: delivery_model, replication.step: replication_model}


def shortest(game, most):
    """As many moves as a shortest run has, or None: all runs of up to `most` moves, each state once."""
    seen, states = {game.initial}, [game.initial]
    for depth in range(1, most + 1):
        after = []
        for state in states:
            for event in game.moves.values():
                try:
                    new = game.step(game.settings, state, event)
                except KafkaLearnError:
                    continue
                if game.broken(game.settings, new, state, (game.promise,)):
                    return depth
                if new not in seen:
                    seen.add(new)
                    after.append(new)
        states = after
    return None


@each_game
def test_no_run_is_shorter_than_par(exercise):
    game = exercise.judge
    if game.step in MODELS:  # the search of the library is quicker there
        search = explore(
            MODELS[game.step](game.settings, (game.promise,)), game.initial, tuple(game.moves.values()), depth=game.par
        )
        assert (search.outcome, search.depth) == ("found", game.par)
    else:
        assert shortest(game, game.par) == game.par


@each_game
def test_the_question_names_par_and_all_moves(exercise):
    game = exercise.judge

    assert f"**par {game.par}**" in exercise.asks
    assert all(f"`{words}`" in exercise.asks for words in game.moves)
    assert f"`{game.best}`" in exercise.reasoning


@each_game
def test_the_line_that_is_shared_can_be_checked_again(exercise):
    first = exercise.check(exercise.solve())

    line = str(first.sentences[1]).removeprefix("Your run as a line: ")
    assert exercise.check(line)


@each_game
def test_a_run_may_be_events_words_or_a_line(exercise):
    game = exercise.judge
    words = game.best.split(" > ")
    events = [game.moves[each] for each in words]

    for run in (words, tuple(words), events, "\n".join(words), game.best.upper(), game.best.replace(" ", "") + " > "):
        assert game.judge(run), run


def test_chapters_with_a_game():
    assert {name_of(chapter) for chapter, _ in GAMES} >= {
        f"chapter{number}" for number in ("05", "05b", "09", "10", "13")
    }


GAME = Game(
    replication.step,
    replication.broken,
    replication.Settings(2, fetch_wait_max_ms=0),
    replication.start(replication.Settings(2, fetch_wait_max_ms=0)),
    replication.ACKNOWLEDGED_SURVIVE,
    moves_of(replication.Produce(acks=1), Fetch(2), BrokerCrashed(1), replication.SessionExpired(1), TimePassed(10)),
    "Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)",
)


@pytest.mark.parametrize(
    ("run", "outcome", "said"),
    [
        ("", NOT_ATTEMPTED, "Not attempted yet."),
        ([...], NOT_ATTEMPTED, "Not attempted yet."),
        (
            "Produce(acks=1) > TimePassed(10) > BrokerCrashed(1) > SessionExpired(1) > TimePassed(10)",
            WRONG,
            "Not right yet. The promise is broken in 4 moves; par is 3.\n"
            "Your run as a line: Produce(acks=1) > TimePassed(10) > BrokerCrashed(1) > SessionExpired(1)",
        ),
        (
            [replication.Produce(acks=1), Fetch(2)],
            WRONG,
            "Not right yet. After 2 moves the promise still holds: *acknowledged records survive*.\n"
            "Your run as a line: Produce(acks=1) > Fetch(2)",
        ),
        (
            "Fetch(2) > Fetch(3)",
            ERROR,
            "This cannot be checked. Move 2, 'Fetch(3)', is not a move of this game. The moves are: Produce(acks=1), "
            "Fetch(2), BrokerCrashed(1), SessionExpired(1), TimePassed(10).",
        ),
        (
            "BrokerCrashed(1) > BrokerCrashed(1)",
            ERROR,
            "This cannot be checked. Move 2, BrokerCrashed(1), cannot come there: the broker is down already.",
        ),
        (7, ERROR, "This cannot be checked. 7 is a whole number; give a list of moves, or a line such as "),
        ("Fetch(2) > " * (MOST_MOVES + 1), ERROR, "This cannot be checked. These are 51 moves; more than 50 are not"),
    ],
    ids=["empty", "untouched", "over par", "not broken", "no such move", "senseless move", "number", "too long"],
)
def test_what_is_said_of_a_run(run, outcome, said):
    result = GAME.judge(run)

    assert result.outcome == outcome
    assert repr(result).startswith(said)


def test_at_par_it_is_right():
    assert GAME.judge(GAME.best).outcome == RIGHT
    assert GAME.par == 3


# The game of chapter 16: the par is the least of all orders, and a pod that has just committed costs nothing.


def test_one_order_alone_reads_least_twice():
    costs = sorted(map(read_twice, permutations(BATCH_S)))
    assert costs[:2] == [9_000, 10_000]
    assert least_twice.check("c1 > c4 > c3 > c2 > c5").outcome == RIGHT
    assert least_twice.check(["c1", "c4", "c3", "c5", "c2"]).outcome == WRONG
    assert least_twice.check("c1 > c1 > c2 > c3 > c4").outcome == WRONG


def test_each_sharing_without_a_crossing_is_right():
    right = 0
    for order in permutations(range(len(RACKS))):
        owned = {member: list(order[2 * place : 2 * place + 2]) for place, member in enumerate(ZONES)}
        outcome = share_by_zone.check(owned).outcome
        assert (outcome == RIGHT) == (crossing_count(owned) == 0)
        right += outcome == RIGHT
    assert right > 0
    assert share_by_zone.check({"m1": [0, 1], "m2": [3, 4], "other": [2, 5]}).outcome == ERROR


# The rule of chapter 18 is the simulator's, which answers as brokers do.


@pytest.mark.parametrize(("size", "limit"), [(8, 5), (8, 2), (8, 3), (1, 5), (500, 5), (100, 10), (3, 10)])
def test_the_last_deliveries_are_as_small_as_a_share_group_makes_them(size, limit):
    chosen = work.settings(delivery_limit=limit)
    state = work.simulate(chosen, [work.Arrive(size)])[-1].state
    for count in range(limit):
        state = work.step(chosen, state, work.Poll("c1"))
        assert len(state.program("c1").has) == records_of(size, count, limit)
        state = work.step(chosen, state, work.Release("c1"))
