"""Sandbox a process: the rights it drops for good before it runs a submitted function.

The interpreter that runs code is no boundary to it, whatever it refuses: code can reach into it. So the kernel refuses.
On Linux a filter of system calls (seccomp, mode 2) leaves a process its memory, its open pipes and the clock, and
answers all else with EPERM, for good; where Landlock is there too, it holds no right to any file. Neither needs a
privilege, and both are asked for by `ctypes` alone. Limits of memory, processor time and wall-clock time hold it
besides, and it ends when whoever started it does. If the user is root, it becomes *nobody* first.

macOS and Windows have nothing of the kind that a process may set for itself. There `confine` says so, and a judge then
runs no function that was handed in, unless its user asks for it by name.

Sources: Linux, Documentation/userspace-api/seccomp_filter.rst and landlock.rst, include/uapi/linux/seccomp.h.
"""

from __future__ import annotations

import os
import platform
import signal
import struct
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None

ctypes: Any = import_module("ctypes") if find_spec("_ctypes") else None  # a Python may be built without it

WALL_SECONDS = 120
"""So long a confined process lives at most, whatever it does."""
NOBODY = 65534

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_FILTER = 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # SECCOMP_RET_*; EPERM is 1
_LOAD, _IS, _RETURN = 0x20, 0x15, 0x06  # BPF: load a word, jump if equal, return
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS = {
    # what stays: memory, the open pipes, sleep and clock, locks, random bytes, the end
    "x86_64": {
        **{"read": 0, "write": 1, "close": 3, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigreturn": 15},
        **{"sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "exit": 60},
        **{"gettimeofday": 96, "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202, "restart_syscall": 219},
        **{"clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "getrandom": 318},
        **{"rseq": 334},
    },
    "aarch64": {
        **{"close": 57, "read": 63, "write": 64, "exit": 93, "exit_group": 94, "futex": 98, "nanosleep": 101},
        **{"clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_yield": 124},
        **{"restart_syscall": 128, "sigaltstack": 132, "rt_sigreturn": 139, "gettimeofday": 169, "getpid": 172},
        **{"gettid": 178, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226, "madvise": 233},
        **{"getrandom": 278, "rseq": 293},
    },
}
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446  # the same number on every architecture
_FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # how many bits; 5 and later have 16


def confine(memory_bytes: int, cpu_seconds: int, wall_seconds: int = WALL_SECONDS) -> str:
    """Give up all but memory, open pipes and the clock; what is missing for that, as words, empty if nothing is.

    Limits are set wherever the system has them, also where the words say that something is missing.

    Parameters
    ----------
    memory_bytes : int
        Of address space.
    cpu_seconds : int
        Of processor time, from the process's start.
    wall_seconds : int
        From now on, asleep or not.
    """
    end_with_parent()
    missing = what_is_missing() or (_become_nobody() if is_root() else "")
    libc = None
    if not missing:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # without it both ask for a privilege
        _hold_no_file(libc)  # needs a descriptor for a moment
    limit(memory_bytes, cpu_seconds)
    for name in ("RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_FSIZE"):
        _set(name, 0)
    if resource is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(wall_seconds)
    if libc is None:
        return missing
    return _filter(libc) or ("" if _is_held() else "the kernel took a filter of system calls and does not apply it")


def what_is_missing() -> str:
    """Why this system cannot confine a process, as words; empty if it can, as far as is seen without trying."""
    system, machine = platform.system(), platform.machine()
    if system != "Linux":
        return f"{system} has no filter of system calls that a process may set for itself"
    if machine not in _CALLS or sys.maxsize < 2**32:
        return f"the filter of system calls is known for {' and '.join(_CALLS)}, and this is {machine}"
    if ctypes is None:
        return "this Python was built without ctypes"
    return ""


def is_root() -> bool:
    """Whether this process may do anything."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def end_with_parent() -> None:
    """Be killed when the thread that started this process ends, on Linux; elsewhere nothing."""
    parent = os.getppid()
    if ctypes is None or not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
        if os.getppid() != parent:  # it ended meanwhile
            os._exit(1)


def limit(memory_bytes: int, cpu_seconds: int) -> None:
    """Set the system's limits of memory and processor time, as far as it has them."""
    _set("RLIMIT_CPU", cpu_seconds)
    _set("RLIMIT_AS", memory_bytes)
    _set("RLIMIT_CORE", 0)


def _set(name: str, most: int) -> None:
    if resource is None or not hasattr(resource, name):
        return
    which = getattr(resource, name)
    with suppress(OSError, ValueError):  # macOS knows a limit of memory and does not set it
        _, hard = resource.getrlimit(which)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (allowed, allowed))


def _become_nobody() -> str:
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError as error:
        return f"you are root, and this system does not let root become another user ({error.strerror})"
    end_with_parent()  # the kernel forgets it where the user changes
    return ""


def _hold_no_file(libc: Any) -> None:
    """Landlock: from now on this process has no right to any file. Where it is not there the filter stands alone."""
    abi = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if abi < 1:
        return
    handled = ctypes.c_uint64((1 << _FILE_RIGHTS_BY_ABI.get(abi, 16)) - 1)
    rules = libc.syscall(_LANDLOCK_CREATE, ctypes.byref(handled), ctypes.c_size_t(8), ctypes.c_uint32(0))
    if rules >= 0:
        libc.syscall(_LANDLOCK_RESTRICT, rules, ctypes.c_uint32(0))
        os.close(rules)


def _filter(libc: Any) -> str:
    """Set the filter; words if the kernel does not take it."""
    machine = platform.machine()
    calls = sorted(_CALLS[machine].values())
    lines = [(_LOAD, 0, 0, 4), (_IS, 1, 0, _AUDIT[machine]), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    lines += [(_IS, len(calls) - at, 0, number) for at, number in enumerate(calls)]
    lines += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    code = b"".join(struct.pack("HBBI", *line) for line in lines)
    held = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HP", len(lines), ctypes.addressof(held)))  # struct sock_fprog
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, program, 0, 0):
        return f"this kernel grants no filter of system calls: {os.strerror(ctypes.get_errno())}"
    return ""


def _is_held() -> bool:
    try:
        os.stat(os.sep)
    except PermissionError:
        return True
    return False
