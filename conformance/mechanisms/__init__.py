"""Every kind of question that `make conform` and the judge ask, by name: one module of this folder for each part.

A module joins by being here: each `Mechanism` that it has as a name of its own is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from conformance.mechanism import Mechanism


class _Listed(Mapping[str, Mechanism]):
    """The mechanisms by name; the modules are imported when one is asked for first, not before."""

    def __getitem__(self, name: str) -> Mechanism:
        return _all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


@cache
def _all() -> dict[str, Mechanism]:
    modules = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
    found = {each.name: each for module in modules for each in vars(module).values() if isinstance(each, Mechanism)}
    return {name: found[name] for name in sorted(found)}


MECHANISMS: Mapping[str, Mechanism] = _Listed()
"""What can be asked, by name."""
