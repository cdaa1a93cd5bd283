"""Text in columns, as Java's ``%-15s`` fills them: on the left, never cut, one blank between two."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.group_states import DEAD
from kafkalearn.offsets.groups import CLASSIC, Group
from kafkalearn.versions.releases import Release, at_least

MISSING = "-"

NEW_TEXTS = "4.1"  # since then columns are as wide as they must be, and some sentences are other


def line(cells: Sequence[object], widths: Sequence[int]) -> str:
    """One line; a width of 0 leaves the cell as it is.

    >>> line(["a", 7, None], [3, 2, 0])
    'a   7  -'
    """
    shown = (MISSING if cell is None else str(cell) for cell in cells)
    return " ".join(cell.ljust(width) for cell, width in zip(shown, widths, strict=True))


def widest(least: int, cells: Sequence[object]) -> int:
    """The width of a column that grows with its longest cell.

    >>> widest(15, ["orders", "a-topic-with-a-long-name"])
    24
    """
    return max(least, *(len(str(cell)) for cell in cells)) if cells else least


def table(rows: Sequence[Sequence[object]], widths: Sequence[int], release: str | Release) -> str:
    """Rows below each other; the tool of 3.9 forgets the line breaks, and prints one long line.

    >>> table([["a"], ["b"]], [2], "3.8"), table([["a"], ["b"]], [2], "3.9")
    ('\\na \\nb \\n', '\\na b ')
    """
    lines = [line(row, widths) for row in rows]
    if is_3_9(release):
        return "\n" + "".join(lines)
    return "".join(f"\n{each}" for each in lines) + "\n"


def is_3_9(release: str | Release) -> bool:
    """Whether it is the one release whose tool, just written anew in Java, forgets line breaks."""
    return at_least("3.9", release) and not at_least("4.0", release)


def unknown_group(group_id: str, release: str | Release) -> str:
    """What the tool prints about a group that nobody knows.

    >>> unknown_group("g", "2.2"), unknown_group("g", "3.9")
    ("Error: Consumer group 'g' does not exist.\\n", "\\nError: Consumer group 'g' does not exist.\\n")
    """
    if at_least("4.0", release):
        said = f"Executing consumer group command failed due to {_NOT_FOUND}: Group {group_id} not found."
        return f"\nError: {said}\n"
    blank = "\n" if at_least("2.3", release) else ""
    return f"{blank}Error: Consumer group '{group_id}' does not exist.\n"


_NOT_FOUND = "org.apache.kafka.common.errors.GroupIdNotFoundException"


def is_known(group: Group, release: str | Release) -> bool:
    """Whether a tool finds a group: one of the newer protocol only since 3.8."""
    return group.state != DEAD and (group.kind == CLASSIC or at_least("3.8", release))
