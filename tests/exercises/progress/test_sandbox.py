"""What a function may do in its process, and what becomes of what it may not."""

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafkalearn.assignors import Member
from kafkalearn.exercises.kit.given import Raised, Spent
from kafkalearn.exercises.progress import confinement, processes
from kafkalearn.exercises.progress.record import FunctionSource
from kafkalearn.exercises.progress.sandbox import SandboxedFunction
from tests.project.modules import ROOT

posix = pytest.mark.skipif(os.name != "posix", reason="the limits are those of a system with `resource`")
linux = pytest.mark.skipif(sys.platform != "linux", reason="the filter of system calls is Linux's")


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


def test_it_has_an_empty_environment(run, monkeypatch):
    monkeypatch.setenv("SECRET", "x")

    environment = run("import os\ndef f():\n    return sorted(os.environ)")

    assert set(environment) <= {"LC_CTYPE", "SYSTEMROOT"}  # Python itself sets the first


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("open('/etc/hosts')", PermissionError),
        ("open('x', 'w')", PermissionError),
        ("import os; os.listdir('.')", PermissionError),
        ("import os; os.remove('x')", PermissionError),
        ("import os; os.fork()", PermissionError),
        ("import os; os.kill(1, 9)", PermissionError),
        ("import subprocess; subprocess.Popen(['true'])", PermissionError),
        ("import socket", (ImportError, PermissionError)),
        ("import ctypes.util; ctypes.CDLL('libm.so.6')", (ImportError, OSError)),
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


TRY_ALL = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def f(numbers):
    done = []
    for number in numbers:
        ctypes.set_errno(0)
        if libc.syscall(number, -1, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() != errno.EPERM:
            done.append(number)
    return done
"""


@linux
def test_the_kernel_refuses_every_call_but_those_that_stay_inside(run):
    """Asked past Python, by number; the filter is the kernel's, so nothing of Python's is in the way of these."""
    stays = set(confinement._CALLS[platform.machine()].values()) | PROBES
    asked = [number for number in range(600) if number not in stays]
    x32 = [0x40000000 + number for number in range(600)] if platform.machine() == "x86_64" else []

    assert run(TRY_ALL, [*asked, *x32]) == []


PROBES = {335, 336}  # uretprobe and uprobe on x86-64: newer kernels end whoever calls them, before any filter
DO_ALL = """
import os, signal, sys
def f():
    done = []
    for name, *words in (
        ("link", "/etc/hosts", "/tmp/kafkalearn-x"), ("symlink", "/etc/hosts", "/tmp/kafkalearn-x"),
        ("rename", "/tmp/kafkalearn-x", "/tmp/kafkalearn-y"), ("truncate", "/tmp/kafkalearn-x", 0), ("stat", "/"),
        ("unlink", "/tmp/kafkalearn-x"), ("mkdir", "/tmp/kafkalearn-x"), ("rmdir", "/tmp/kafkalearn-x"),
        ("mknod", "/tmp/kafkalearn-x"), ("mkfifo", "/tmp/kafkalearn-x"), ("chmod", "/tmp", 0o777), ("listdir", "/"),
        ("readlink", "/proc/self/exe"), ("getcwd",), ("chdir", "/"), ("chroot", "/"),
        ("open", "/etc/hosts", 0), ("pipe",), ("dup", 0), ("fork",), ("kill", os.getpid(), 0), ("killpg", 0, 0),
        ("setpriority", 0, 0, 5), ("sched_setaffinity", 0, [0]), ("setuid", 0), ("nice", 1), ("uname",),
    ):
        try:
            getattr(os, name)(*words)
        except OSError:
            continue
        done.append(name)
    try:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # or the clock could not end it
    except OSError:
        return done
    return [*done, "signal"]
"""


@linux
def test_nothing_that_leaves_the_process_can_be_done(run):
    assert run(DO_ALL) == []


THREAD = """
import _thread
def f():
    try:
        _thread.start_new_thread(print, ())
    except RuntimeError:
        return "refused"
"""


@linux
def test_no_thread_is_started(run):
    assert run(THREAD) == "refused"


@linux
def test_it_is_never_root(run):
    function = SandboxedFunction(FunctionSource("f", "import os\ndef f():\n    return os.getpid()"))
    try:
        status = Path(f"/proc/{function()}/status").read_text(encoding="utf-8")
    finally:
        function.close()

    has = dict(line.split(":\t", 1) for line in status.splitlines())
    assert "0" not in has["Uid"].split()
    assert (has["Seccomp"], has["NoNewPrivs"]) == ("2", "1")


@linux
def test_the_clock_ends_it_asleep_or_not(monkeypatch):
    code = (
        "import os, sys, time\nfrom kafkalearn.exercises.progress.confinement import confine\n"
        "assert confine(1 << 30, 20, 1) == ''\ntime.sleep(3600)"
    )

    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60)

    assert ended.returncode == -signal.SIGALRM


@linux
def test_it_ends_with_whoever_started_it():
    code = (
        "from kafkalearn.exercises.progress.record import FunctionSource\n"
        "from kafkalearn.exercises.progress.sandbox import SandboxedFunction\n"
        "source = 'import os, time\\nn = []\\ndef f():\\n    n.append(1)\\n"
        "    return os.getpid() if len(n) == 1 else time.sleep(3600)'\n"
        "function = SandboxedFunction(FunctionSource('f', source), 3600)\n"
        "print(function(), flush=True)\nfunction()"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as judge:
        number = int(judge.stdout.readline())
        judge.kill()

    while is_alive(number):
        time.sleep(0.05)


def is_alive(number):
    """Whether a process is there; one that only waits to be collected is not."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


UNKNOWN_SYSTEM = (
    "import platform, sys; platform.system = lambda: 'Darwin'; sys.path.insert(0, sys.argv[1])\n"
    "from kafkalearn.exercises.progress import processes\n"
    "processes._BEGIN = sys.orig_argv[sys.orig_argv.index('-c') + 1]\n"  # what it starts is on that system, too
    "import runpy; runpy.run_module(sys.argv[2], run_name='__main__')"
)


def test_where_no_kernel_confines_it_nothing_runs_but_by_name(monkeypatch):
    monkeypatch.setattr(processes, "_BEGIN", UNKNOWN_SYSTEM)
    function = FunctionSource("f", "def f(n):\n    return n + 1")
    held, free = SandboxedFunction(function), SandboxedFunction(function, is_free=True)
    try:
        with pytest.raises(Spent, match=r"was not run: Darwin has no filter of system calls"):
            held(1)
        assert free(1) == 2
    finally:
        held.close()
        free.close()


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


@pytest.mark.parametrize(
    "body",
    [
        "while True: os.write(1, b'x' * 65536)",  # one line without an end
        "while True: os.write(1, b'[]\\n' * 10000)",  # lines that nobody asked for
    ],
)
def test_what_floods_its_judge_is_heard_no_further(body):
    function = SandboxedFunction(FunctionSource("f", f"import os\ndef f():\n    {body}"), 60)
    try:
        with pytest.raises(Spent):
            function()
    finally:
        function.close()


def test_the_process_is_gone_when_it_is_closed():
    function = SandboxedFunction(FunctionSource("f", "import os\ndef f():\n    return os.getpid()"))
    number = function()

    function.close()

    if os.name == "posix":
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
