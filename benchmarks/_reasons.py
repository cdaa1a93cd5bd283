"""Why a way cannot, in a line of a table."""

from __future__ import annotations

import re


def reason_of(error: Exception, longest: int) -> str:
    """The cause of an error, in at most so many characters: the last that Java names, or Python's own."""
    text = str(error).strip()
    causes = re.findall(r"^Caused by: (.*)$", text, re.MULTILINE) or re.findall(
        r"^(?:: )?((?:[\w.$]+)(?:Error|Exception)\b.*)$", text, re.MULTILINE
    )
    own = [type(error).__name__, *text.splitlines()[:1]]
    said = causes[-1] if causes else ": ".join(own)
    said = " ".join(re.sub(r"(?:[a-z_]\w*\.)+(?=[A-Z])", "", said).split())
    return said if len(said) <= longest else said[: longest - 3] + "..."
