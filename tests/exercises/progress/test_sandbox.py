"""What a function may do in its process, and what becomes of what it may not."""

import os
import sys

import pytest

from kafkalearn.assignors import Member
from kafkalearn.exercises.kit.given import Raised, Spent
from kafkalearn.exercises.progress.record import FunctionSource
from kafkalearn.exercises.progress.sandbox import SandboxedFunction

posix = pytest.mark.skipif(os.name != "posix", reason="the limits are those of a system with `resource`")


@pytest.fixture
def run():
    started = []

    def run(source, *arguments, seconds=60):
        started.append(SandboxedFunction(FunctionSource("f", source), seconds))
        return started[-1](*arguments)

    yield run
    for each in started:
        each.close()


def test_it_gives_values_of_every_kind(run):
    source = (
        "from itertools import count\nimport math\ndef f(a, b):\n    return {m.member_id: (a, math.pi) for m in b}, {1}"
    )

    given = run(source, {"orders": 3}, [Member("m0", ["orders"])])

    assert given == ({"m0": ({"orders": 3}, 3.141592653589793)}, {1})


def test_one_process_answers_many_calls_and_remembers_its_globals(run):
    source = "calls = []\ndef f(n):\n    calls.append(n)\n    return len(calls)"
    function = SandboxedFunction(FunctionSource("f", source))
    try:
        assert [function(n) for n in range(3)] == [1, 2, 3]
    finally:
        function.close()


def test_it_has_an_empty_environment_and_folder(run, monkeypatch):
    monkeypatch.setenv("SECRET", "x")

    environment, folder = run("import os\ndef f():\n    return sorted(os.environ), os.path.basename(os.getcwd())[:11]")

    assert set(environment) <= {"LC_CTYPE", "SYSTEMROOT"}  # Python itself sets the first
    assert folder == "kafkalearn-"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("open('/etc/hosts')", PermissionError),
        ("open('x', 'w')", PermissionError),
        ("import os; os.listdir('.')", PermissionError),
        ("import os; os.remove('x')", PermissionError),
        ("import os; os.fork()", PermissionError),
        ("import os; os.kill(1, 9)", PermissionError),
        ("import os; os.system('true')", PermissionError),
        ("import subprocess; subprocess.Popen(['true'])", PermissionError),
        ("import socket", (ImportError, PermissionError)),
        ("import ctypes; ctypes.CDLL(None)", (ImportError, PermissionError)),
        ("import numpy", ImportError),
        ("raise SystemExit(3)", SystemExit),
        ("raise ValueError('<b>')", ValueError),
        ("return undefined", NameError),
    ],
)
def test_what_it_may_not_do_raises(run, body, error):
    with pytest.raises(Raised) as raised:
        run(f"def f():\n    {body}")

    errors = error if isinstance(error, tuple) else (error,)
    assert raised.value.name in {known.__name__ for each in errors for known in (each, *each.__subclasses__())}


@posix
def test_the_system_itself_opens_nothing_for_it(run):
    """Past Python's refusal: no file, no pipe, no socket, no process."""
    source = (
        "import os\n"
        "def f():\n"
        "    import resource\n"
        "    return [resource.getrlimit(getattr(resource, name))\n"
        "            for name in ('RLIMIT_NOFILE', 'RLIMIT_NPROC', 'RLIMIT_FSIZE', 'RLIMIT_CORE')]\n"
    )
    if "resource" not in sys.builtin_module_names:
        source = source.replace("import resource", "import sys; resource = sys.modules['resource']")

    assert run(source) == [(0, 0)] * 4


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: pass", "was stopped after 3,000,000 lines of Python"),
        ("while True: print('x')", "was stopped after it had printed 100,000 characters"),
        ("import os; os._exit(0)", "has not answered within 60 s, or used up its memory, or ended its process"),
    ],
)
def test_what_never_ends_is_ended(run, body, words):
    with pytest.raises(Spent, match=words):
        run(f"def f():\n    {body}")


def test_what_is_stuck_in_c_is_ended_by_the_clock(run):
    with pytest.raises(Spent, match="has not answered within 2 s"):
        run("import time\ndef f():\n    time.sleep(3600)", seconds=2)


@posix
def test_what_takes_all_memory_gets_none(run):
    with pytest.raises(Raised) as raised:
        run("def f():\n    return [0] * 10**9")

    assert raised.value.name == "MemoryError"


def test_what_it_says_past_its_judge_is_a_value_and_no_verdict(run):
    """It may write into the pipe: then that is what it gave, and it is judged as such."""
    source = "import os\ndef f():\n    os.write(1, b'{\"value\": 7}\\n')\n    return 8"

    assert run(source) == 7


@pytest.mark.parametrize("source", ["def f(n) return n", "x = 1", "import no_such_module\ndef f(): return 1"])
def test_a_text_that_defines_no_function_raises(run, source):
    with pytest.raises(Raised):
        run(source)


def test_the_process_is_gone_when_it_is_closed():
    function = SandboxedFunction(FunctionSource("f", "import os\ndef f():\n    return os.getpid(), os.getcwd()"))
    number, folder = function()
    assert os.path.isdir(folder)

    function.close()

    assert not os.path.exists(folder)
    if os.name == "posix":
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
