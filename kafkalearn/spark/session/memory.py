"""How much memory this machine has, and how much of it Spark's Java side may take."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

from kafkalearn.errors import KafkaLearnError

GIB = 2**30

# What a container may use: version 2 of Linux's control groups, then version 1.
CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def machine_memory_bytes() -> int:
    """The memory this process can count on: the machine's, or less if a container allows less."""
    return min([_physical_memory_bytes(), *_container_limits_bytes()])


def default_heap_bytes(memory_bytes: int) -> int:
    """A quarter of the memory, but at least 1 GiB and at most 8 GiB.

    A quarter, because the Python workers, JupyterLab and the browser live on the same machine, and because two
    chapters may be open at once. At most 8 GiB, because no dataset here needs more: Spark spills to disk.

    >>> [default_heap_bytes(gib * GIB) // GIB for gib in (2, 16, 24, 128)]
    [1, 4, 6, 8]
    """
    return max(GIB, min(memory_bytes // 4, 8 * GIB))


def heap_option(size: str) -> str:
    """Java's ``-Xmx`` for a size as Spark writes it (``spark.driver.memory``).

    >>> heap_option("2g"), heap_option("1536 MB"), heap_option("512")
    ('-Xmx2g', '-Xmx1536m', '-Xmx512m')
    """
    match = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)i?b?\s*", size, re.IGNORECASE)
    if not match:
        raise KafkaLearnError(f"spark.driver.memory must be a size like '2g' or '1536m', got {size!r}")
    return f"-Xmx{match[1]}{match[2].lower() or 'm'}"  # Spark reads a bare number as mebibytes


def _physical_memory_bytes() -> int:
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _windows_memory_bytes()


def _windows_memory_bytes() -> int:
    kibibytes = ctypes.c_ulonglong()
    ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kibibytes))
    return kibibytes.value * 1024


def _container_limits_bytes() -> list[int]:
    texts = [path.read_text().strip() for path in CONTAINER_LIMITS if path.is_file()]
    return [int(text) for text in texts if text.isdecimal()]  # "max" is no limit
