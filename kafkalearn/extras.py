"""What the core does without: the packages that some helpers need, and the extra of kafkalearn that installs each.

`pip install kafkalearn` is the core, and needs nothing but Python. ``kafkalearn[fast]`` reads segment files faster,
``kafkalearn[spark]`` adds what Spark needs, ``kafkalearn[live]`` that and a Kafka client, ``kafkalearn[lab]`` all of it
and the figures, the player and JupyterLab; ``kafkalearn[completion]`` completes the command in a shell.
"""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError

EXTRAS: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["numpy", "pandas", "pyarrow", "pyspark"], "spark"),
        "google_crc32c": "fast",
        "confluent_kafka": "live",
        "shtab": "completion",
        "hypothesis": "live",
        **dict.fromkeys(["anywidget", "ipywidgets", "jupyterlab", "matplotlib", "resvg_py"], "lab"),
    }
)
"""The extra that installs a package, by the name under which the package is imported."""


class MissingExtra(KafkaLearnError, ImportError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """A package is not installed that this part of kafkalearn needs; the message names the extra that installs it."""


def is_installed(package: str) -> bool:
    """Whether a package is there; it is not imported.

    >>> is_installed("no_such_package")
    False
    """
    return find_spec(package) is not None


def require(who: str, *packages: str) -> None:
    """Raise unless all these packages are installed; none of them is imported.

    Parameters
    ----------
    who : str
        The module or function that needs them, as the message names it.
    *packages : str
        Names in `EXTRAS`.

    Raises
    ------
    MissingExtra
        Names the first package that is not there, and the command that installs it.

    Examples
    --------
    >>> require("kafkalearn.views.figure", "matplotlib")
    """
    for package in packages:
        if not is_installed(package):
            raise MissingExtra(
                f"{who} needs {package}, which is not installed: pip install 'kafkalearn[{EXTRAS[package]}]'"
            )
