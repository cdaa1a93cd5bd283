"""Where this project is, from one place, `[tool.kafkalearn.addresses]` of pyproject.toml: python -m tools.addresses.

`Repository` is the address of the repository, `Documentation` that of the book as a site. While one is empty nothing
points to it: README has no badge, and what a package index shows of README has the words of a link without the link.
hatchling runs this when it builds; the command writes the badges into README.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- written by python -m tools.addresses -->\n", "<!-- end -->\n"
_LINKED_HERE = r"\]\((?!\w+:|#)(?P<path>[^)\s]+)\)"
_PICTURE = re.compile(r"!\[(?P<words>[^\]]*)" + _LINKED_HERE)
_LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]*)" + _LINKED_HERE)


def addresses(root: Path = ROOT) -> dict[str, str]:
    """The addresses that are known, by name, without a slash at the end."""
    read = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["kafkalearn"]["addresses"]
    return {name: address.rstrip("/") for name, address in read.items() if address}


def badges(known: Mapping[str, str]) -> str:
    """The line of badges that README begins with; empty where nothing is known.

    >>> badges({})
    ''
    >>> print(badges({"Documentation": "https://example.org/book"}))
    [Read the book, in which Python runs](https://example.org/book)
    """
    found = []
    if repository := known.get("Repository"):
        tested = f"{repository}/actions/workflows/test.yml"
        found.append(f"[![Tests]({tested}/badge.svg)]({tested})")
    if book := known.get("Documentation"):
        found.append(f"[Read the book, in which Python runs]({book})")
    return " ".join(found)


def with_badges(readme: str, known: Mapping[str, str]) -> str:
    """README with the badges in their place."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"README.md must have the lines {BEGIN.strip()} and {END.strip()}")
    line = badges(known)
    return before + BEGIN + (f"{line}\n" if line else "") + END + after


def elsewhere(readme: str, known: Mapping[str, str]) -> str:
    """README as it can be read without the files beside it: links into the repository, or no links.

    >>> print(elsewhere("![A picture](docs/a.svg)[Install](docs/install.md#one), [Kafka](https://example.org)", {}))
    Install, [Kafka](https://example.org)
    >>> print(elsewhere("![A picture](docs/a.svg)[Install](docs/install.md)", {"Repository": "https://example.org/us"}))
    ![A picture](https://example.org/us/raw/HEAD/docs/a.svg)[Install](https://example.org/us/blob/HEAD/docs/install.md)
    """
    repository = known.get("Repository")
    if repository is None:
        return _LINK.sub(r"\g<words>", _PICTURE.sub("", readme))
    pictured = _PICTURE.sub(rf"![\g<words>]({repository}/raw/HEAD/\g<path>)", readme)
    return _LINK.sub(rf"[\g<words>]({repository}/blob/HEAD/\g<path>)", pictured)


class Addresses(MetadataHookInterface):
    """Gives what is built its addresses, and README with links that lead somewhere."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``urls`` and ``readme`` of the project."""
        known = addresses(Path(self.root))
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = elsewhere(with_badges(readme, known), known)
        metadata["urls"] = known
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def main() -> None:
    """Write the badges into README."""
    path = ROOT / "README.md"
    path.write_text(with_badges(path.read_text(encoding="utf-8"), addresses()), encoding="utf-8")


if __name__ == "__main__":
    main()
