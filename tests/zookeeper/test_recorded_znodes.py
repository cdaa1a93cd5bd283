"""What a real ZooKeeper answered, and whom it notified: see tests/vectors/zookeeper/znodes.json."""

from kafkalearn.zookeeper.tree import (
    OK,
    Answered,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    SessionClosed,
    SessionExpired,
    SessionOpened,
    SetData,
    Settings,
    WatchFired,
    check,
    start,
    step,
)
from tests.every import every_case
from tests.recorded import recorded

CASES = recorded("znodes")["cases"]
KINDS = {
    "open": SessionOpened, "close": SessionClosed, "expire": SessionExpired, "create": Create, "delete": Delete,
    "set": SetData, "get": GetData, "children": GetChildren, "exists": Exists,
}  # fmt: skip


def in_words(answer):
    """An answer in the form of the recording."""
    if answer is None or answer.result != OK:
        return [OK if answer is None else answer.result]
    brought = [] if answer.version is None else [str(answer.version)]
    brought += [] if answer.data is None else [answer.data]
    return [OK, *brought, *([] if answer.children is None else [",".join(answer.children)])]


@every_case("case", CASES, ids=lambda case: case["name"])
def test_answers_and_watches_are_those_of_the_server(case):
    settings = Settings()
    tree = start(settings)
    for (name, kind, *rest), said in zip(case["requests"], case["said"], strict=True):
        before, tree = tree, step(settings, tree, KINDS[kind](name, *rest))
        check(settings, tree, before)
        answer = next((each for each in tree.effects if isinstance(each, Answered)), None)
        assert in_words(answer) == said["result"], (name, kind, *rest)
        fired = sorted([each.session, each.path, each.what] for each in tree.effects if isinstance(each, WatchFired))
        assert fired == said["watches"], (name, kind, *rest)
