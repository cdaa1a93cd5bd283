"""Pages of the documentation of which a command writes a part; the words around that part stay."""

from __future__ import annotations

from pathlib import Path

END = "<!-- end -->\n"


def write_part(page: Path, command: str, text: str) -> None:
    """Write anew what stands between the comment that names the command and the next end.

    Raises
    ------
    ValueError
        If the page has no such comment, or no end behind it.
    """
    begin = _begin(command)
    head, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, tail = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{page.name} must have the lines {begin.strip()} and {END.strip()}")
    page.write_text(f"{head}{begin}\n{text}\n\n{END}{tail}", encoding="utf-8")


def _begin(command: str) -> str:
    return f"<!-- written by {command} -->\n"


def part_of(page: Path, command: str) -> str:
    """What stands there."""
    return page.read_text(encoding="utf-8").split(_begin(command))[1].split(END)[0].strip()
