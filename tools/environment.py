"""The environment everything runs in: .venv, equal to requirements.lock, made from a bare Python.

Only the standard library is imported, and the syntax stays that of Python 3.7, for the reason given in run.py.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import reasons

OLDEST, TOO_NEW = (3, 11), (3, 15)  # requires-python in pyproject.toml says the same, and why

ROOT = Path(__file__).resolve().parent.parent
LOCK, PROJECT = ROOT / "requirements.lock", ROOT / "pyproject.toml"
VENV = ROOT / ".venv"
BOOT = ROOT / ".boot"  # what is needed before .venv is there
PROGRAMS = VENV / ("Scripts" if os.name == "nt" else "bin")
VENV_PYTHON = PROGRAMS / ("python.exe" if os.name == "nt" else "python")
# What makes .venv: this Python, but not .venv's own, which may be thrown away and has no pip.
PYTHON = getattr(sys, "_base_executable", sys.executable) if Path(sys.prefix) == VENV else sys.executable
STAMP = VENV / "kafkalearn-stamp"  # written last: from what it was made, and each entry of its packages
UNFINISHED = BOOT / "unfinished"  # there while an installation runs, and after one that was cut off

# An older uv on PATH is passed over: it may not know --build-constraints or read the lock's markers.
OLDEST_UV = (0, 5, 0)

# A reader's settings that would send the installation elsewhere, put other packages in front of ours, or cost minutes.
UNWANTED = [
    *("PYTHONHOME", "PYTHONPATH"),
    *("PIP_CONSTRAINT", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_TARGET", "PIP_USER"),
    *("UV_CONSTRAINT", "UV_OVERRIDE", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_TARGET"),
    # Images of containers set it: each process, of which tests have hundreds, would compile all that it imports anew.
    "PYTHONDONTWRITEBYTECODE",
]


def say(text):
    """One line about what goes on, apart from what the command itself prints."""
    print("kafkalearn: " + text, file=sys.stderr, flush=True)


def variables(environ):
    """The variables a command gets: its programs are those of .venv, whatever else is activated."""
    kept = {name: value for name, value in environ.items() if name not in UNWANTED}
    if sys.getfilesystemencoding() != "utf-8":  # else a path in Cyrillic has no name
        kept["PYTHONUTF8"] = "1"
    path = [str(PROGRAMS), *filter(None, [environ.get("PATH")])]
    return dict(kept, VIRTUAL_ENV=str(VENV), PATH=os.pathsep.join(path))


def call(*command):
    """True if the command ends well; its output goes to the screen."""
    return subprocess.call([str(word) for word in command], cwd=str(ROOT), env=variables(os.environ)) == 0


def failure_of(*command):
    """None if the command ends well, else what it said; that goes to the screen too, as it comes."""
    words = [str(word) for word in command]
    said = []
    pipes = {"stderr": subprocess.PIPE, "universal_newlines": True, "errors": "replace"}
    with subprocess.Popen(words, cwd=str(ROOT), env=variables(os.environ), **pipes) as process:
        for line in process.stderr:
            sys.stderr.write(line)
            said.append(line)
    return None if process.returncode == 0 else "".join(said)


def answer(*command):
    """What a short command prints, or None where it cannot run or fails."""
    try:
        text = subprocess.check_output(command, stderr=subprocess.DEVNULL, env=variables(os.environ), timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return text.decode(errors="replace").strip()


# --- the Python


def is_suitable(version):
    """True for the Pythons that the locked packages are made for."""
    return OLDEST <= tuple(version[:2]) < TOO_NEW


def version_of(python):
    """(3, 12) of a Python that runs, () of one that does not."""
    printed = answer(str(python), "-c", "import sys; print(*sys.version_info[:2])")
    return tuple(int(number) for number in (printed or "").split())


def require_the_repository():
    """End with a sentence where a file is gone that all of this is made from."""
    for path in (LOCK, PROJECT):
        if not path.is_file():
            sys.exit("kafkalearn: " + reasons.missing(path))


def problem_of_home():
    """Why nothing can be written into the home folder, "" if all is well; uv and Jupyter keep files there."""
    home = os.path.expanduser("~")
    try:
        tempfile.TemporaryFile(dir=home).close()
    except OSError as error:
        return "{}: {}".format(home, error.strerror)
    return ""


def require_home():
    """End with a sentence where Jupyter, which runs the chapters, would have no place for its files."""
    named = all(os.environ.get("JUPYTER_%s_DIR" % kind) for kind in ("CONFIG", "DATA", "RUNTIME"))
    problem = "" if named else problem_of_home()
    if problem:
        sys.exit(
            "kafkalearn: nothing can be written into your home folder (%s), and Jupyter keeps its files there.\n"
            "Name another folder: HOME=/path/to/a/folder make lab" % problem
        )


def go_on_with_a_suitable_python(argv):
    """Start again with another Python of this machine if this one will not do, or say what to do."""
    if is_suitable(sys.version_info):
        return
    for name in ("python3.13", "python3.12", "python3.11", "python3.14"):
        found = shutil.which(name)
        if found and is_suitable(version_of(found)):
            sys.exit(subprocess.call([found, str(ROOT / "run.py"), *argv]))
    sys.exit(
        "kafkalearn needs Python 3.11, 3.12, 3.13 or 3.14; this is {}.{} ({}), and no other is on PATH.\n"
        "Install one (apt install python3, brew install python@3.13, python.org/downloads), or name one that you "
        "have: make lab PYTHON=/path/to/python3.13".format(*sys.version_info[:2], sys.executable)
    )


# --- uv, which installs


def locked_lines(name):
    """The lock's lines for one package, its version and the hash of each of its files; "" if it has none."""
    found = re.search(r"^%s==(?:.*\\\n)*.*" % re.escape(name), LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group() if found else ""


def version_of_uv(program):
    """(0, 13, 8) of a uv that runs, () of one that does not."""
    found = re.match(r"uv (\d+)\.(\d+)\.(\d+)", answer(str(program), "--version") or "")
    return tuple(int(number) for number in found.groups()) if found else ()


def locked_uv():
    """The uv of the lock, in .boot; None where pip cannot bring it.

    ``pip --target`` needs neither the venv module nor the right to write into the system's Python: Debian's
    python3 has neither. What pip has fetched is kept for the next folder, which then needs no network; its hash is
    the lock's each time.
    """
    lines = locked_lines("uv")
    if not lines:
        return None
    home = BOOT / ("uv-" + re.search(r"==(\S+)", lines).group(1))
    program = home / "bin" / ("uv.exe" if os.name == "nt" else "uv")
    if not version_of_uv(program):
        shutil.rmtree(str(home), ignore_errors=True)
        BOOT.mkdir(exist_ok=True)
        wanted, kept = BOOT / "uv.txt", kept_wheels()
        wanted.write_text(lines + "\n", encoding="utf-8")
        pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        exactly = ["--no-deps", "--require-hashes", "-r", wanted]
        install = ["install", "--root-user-action=ignore", "--target", home, "--no-index", "--find-links", kept]
        if not any(kept.glob("uv-*.whl")) or not succeeds(*pip, *install, *exactly):
            shutil.rmtree(str(home), ignore_errors=True)
            call(*pip, "download", "--only-binary", ":all:", "--dest", kept, *exactly)
            call(*pip, *install, *exactly)
    return program if version_of_uv(program) else None


def kept_wheels():
    """The folder of wheels that each checkout of this reader may take; .boot where the home folder cannot have it."""
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    kept = Path(named or os.path.expanduser("~/.cache")) / "kafkalearn-set-up"
    if not problem_of_home():
        with contextlib.suppress(OSError):
            kept.mkdir(parents=True, exist_ok=True)
            return kept
    return BOOT / "wheels"


def pips_index():
    """The registry or mirror in pip's settings, or None; uv does not read pip's settings by itself."""
    settings = dict(re.findall(r"^(\S+)\.index-url='(.+)'", answer(PYTHON, "-m", "pip", "config", "list") or "", re.M))
    return settings.get(":env:") or settings.get("install") or settings.get("global")


def find_uv():
    """A uv to install with: the reader's own if it is new enough, else the lock's; None without either."""
    if problem_of_home():  # it would keep what it fetches there
        os.environ["UV_CACHE_DIR"] = os.environ.get("UV_CACHE_DIR") or str(BOOT / "cache")
    own = shutil.which("uv")
    if own and version_of_uv(own) >= OLDEST_UV:
        return own
    program, index = locked_uv(), pips_index()
    if program and index:
        os.environ.setdefault("UV_DEFAULT_INDEX", index)
    return program


# --- .venv


def fingerprint():
    """What .venv is made from; the folder too, since an editable installation holds its path."""
    digest = hashlib.sha256(str(ROOT).encode("utf-8", "surrogateescape"))
    for path in (LOCK, PROJECT):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(wanted):
    """True if .venv was made from just this, and is still whole."""
    return os.access(str(VENV_PYTHON), os.X_OK) and stamped()[:1] == [wanted] and not missing_packages()


def stamped():
    """The lines of the stamp: the fingerprint, then each entry of the packages' folder; [] without one."""
    try:
        return STAMP.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []


def missing_packages():
    """What was installed and is not there any more."""
    return set(stamped()[1:]) - set(installed())


def installed():
    """The names of all entries of .venv's folder of packages."""
    folders = [*VENV.glob("lib/python*/site-packages"), *VENV.glob("Lib/site-packages")]
    return sorted(path.name for folder in folders for path in folder.iterdir() if path.name != "__pycache__")


@contextlib.contextmanager
def one_at_a_time():
    """Held by one run in this folder; another waits here until it is done."""
    BOOT.mkdir(exist_ok=True)
    with (BOOT / "lock").open("a") as file:
        if not take(file, wait=False):
            say("another run is setting up .venv; waiting for it")
            take(file, wait=True)
        yield  # the system gives the lock back when the file closes, or this process dies


def take(file, wait):
    """Lock an open file; False if another has it and we are not to wait. Where no lock is to be had, go on without."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            while True:
                with contextlib.suppress(OSError if wait else ()):
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                    return True
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
    return True


def set_up():
    """.venv as the lock has it: at once if it is so already, made or repaired if not."""
    require_the_repository()
    wanted = fingerprint()
    if is_current(wanted):
        return
    with one_at_a_time():
        if is_current(wanted):  # made by the run that we waited for
            return
        if missing_packages():
            say("packages of .venv are gone (%s), so it is made anew" % ", ".join(sorted(missing_packages())[:5]))
        fresh = UNFINISHED.exists() or bool(missing_packages()) or not is_suitable(version_of(VENV_PYTHON))
        say("installing the locked packages into .venv" + (": about 700 MB to fetch, 1.5 GB on disk" if fresh else ""))
        UNFINISHED.touch()
        with contextlib.suppress(FileNotFoundError):
            STAMP.unlink()
        install(fresh)
        STAMP.write_text("\n".join([wanted, *installed()]), encoding="utf-8", errors="surrogateescape")
        UNFINISHED.unlink()


def install(fresh):
    """Install with uv, or with pip where uv cannot; end with a sentence where neither can."""
    uv = find_uv()
    failure = install_with_uv(uv, fresh) if uv else ""
    if failure is not None and not reasons.in_output(failure, VENV):  # else pip would fail in the same way
        failure = install_with_pip()
    if failure is not None:
        sys.exit(
            "kafkalearn: the installation failed: %s.\nRun the same command again, it starts afresh."
            % (
                reasons.in_output(failure, VENV)
                or "see above; it needs the Python package registry, or a mirror named in pip's or uv's own settings"
            )
        )


def install_with_uv(uv, fresh):
    """None if all went well, else what was said. What builds the packages that come as source is locked too.

    First with what uv has kept: without a network it would ask for what it has, for twenty seconds, and give up.
    """
    into = ["--python", VENV_PYTHON]
    make = [uv, "venv", "--quiet", "--clear", "--no-project", "--offline", "--python", PYTHON, VENV]
    failure = first_failure(make) if fresh else None
    if failure is not None:
        return failure
    sync = [uv, "pip", "sync", "--quiet", *into, "--require-hashes", "--build-constraints", LOCK, LOCK]
    edit = [uv, "pip", "install", "--quiet", *into, "--no-deps", "--no-build-isolation", "--editable", ROOT]
    return first_failure(*([] if succeeds(*sync, "--offline") else [sync]), edit)


def succeeds(*command):
    """True if a command ends well; what it says of a failure is for nobody: another one is tried then."""
    try:
        return (
            subprocess.run(
                [str(word) for word in command], cwd=str(ROOT), env=variables(os.environ), stderr=subprocess.DEVNULL
            ).returncode
            == 0
        )
    except OSError:
        return False


def install_with_pip():
    """None if all went well, else what was said: the same packages by the same hashes, only slower, in a new .venv."""
    say("this cannot be done with uv here; going on with pip, which takes some minutes")
    failure = failure_of(PYTHON, "-m", "venv", "--clear", VENV)
    if failure is not None:
        if not reasons.in_output(failure, VENV):
            say("this Python has no working venv module: install it (Debian: python3-venv), or install uv")
        return failure
    pip = [VENV_PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    return first_failure(
        [*pip, "--require-hashes", "-r", LOCK],
        [*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT],
    )


def first_failure(*commands):
    """What the first command that failed said; those after it are not run."""
    for command in commands:
        failure = failure_of(*command)
        if failure is not None:
            return failure
    return None
