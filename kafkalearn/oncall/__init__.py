"""Seven questions about your own Kafka, each one function: what ``kafkalearn QUESTION`` asks, for a notebook.

- `where`: the partition of a key or a group, and the broker that leads it
- `why`: what made a group rebalance, from lines of logs
- `lag`: why the lag of a group is what it is
- `xray`: what is in segment files
- `upgrade`: what changes for your own settings between two releases
- `quorum`: who leads the controllers, who lags, how many may still die
- `safe`: whether settings can lose or double a record, with the shortest run that does

Each returns an `kafkalearn.oncall.answer.Answer`: ``str(answer)`` is what the command prints, ``answer.as_data()``
its ``--json``, ``answer.outcome`` its exit code. A function is loaded at its first use, from the module of its name.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["lag", "quorum", "safe", "upgrade", "where", "why", "xray"]


if TYPE_CHECKING:
    from kafkalearn.oncall.lag import lag
    from kafkalearn.oncall.quorum import quorum
    from kafkalearn.oncall.safe import safe
    from kafkalearn.oncall.upgrade import upgrade
    from kafkalearn.oncall.where import where
    from kafkalearn.oncall.why import why
    from kafkalearn.oncall.xray import xray


class _Face(ModuleType):
    """This package: under the name of a question stands its function, never the module that has the function."""

    def __setattr__(self, name: str, value: object) -> None:
        """Importing a module sets its name here; then the function takes that place."""
        is_module_of_question = name in __all__ and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if is_module_of_question else value)


sys.modules[__name__].__class__ = _Face


def __getattr__(name: str) -> object:
    """The question of that name, imported at its first use."""
    if name not in __all__:
        raise AttributeError(f"module 'kafkalearn.oncall' has no attribute {name!r}; it has {', '.join(__all__)}")
    import_module(f"kafkalearn.oncall.{name}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
