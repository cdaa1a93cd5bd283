"""What a cell imports, name by name: what is not to be had in a page is set down, with what it would need."""

from __future__ import annotations

import ast
from types import MappingProxyType

PACKAGES: MappingProxyType[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["pyspark", "kafkalearn.spark"], "Spark"),
        **dict.fromkeys(["pandas", "numpy", "pyarrow"], "pandas"),
        **dict.fromkeys(["matplotlib", "resvg_py", "PIL"], "figures"),
        **dict.fromkeys(["confluent_kafka", "kafkalearn.live"], "a real Kafka"),
        **dict.fromkeys(["kafkalearn.lab", "ipywidgets", "anywidget", "traitlets", "IPython"], "JupyterLab"),
    }
)
"""What is needed for a package that a page does not have, in words for the reader."""


def import_into(
    namespace: dict[str, object], node: ast.Import | ast.ImportFrom, file: str = "<import>"
) -> dict[str, str]:
    """Import each name of a statement by itself; what is needed for those that are not to be had, by name.

    Raises
    ------
    ImportError, AttributeError
        For what no page, and no notebook either, could import: a misspelt name.

    Examples
    --------
    >>> import_into(names := {}, ast.parse("from math import sqrt, pi").body[0])
    {}
    >>> sorted(names.keys() - {"__builtins__"})
    ['pi', 'sqrt']
    """
    missing = {}
    for alias in node.names:
        try:
            one = ast.Module([_only(node, alias)], [])
            exec(compile(one, file, "exec"), namespace)
        except ImportError as error:
            need = needed_for(error)
            if need is None:
                raise
            missing.update(dict.fromkeys(_bound(node, alias), need))
    return missing


def _only(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.copy_location(ast.Import([alias]), node)
    return ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node)


def _bound(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> list[str]:
    if alias.name == "*":
        return []
    return [alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])]


def needed_for(error: ImportError) -> str | None:
    """What the import would need, from the error or one that led to it."""
    while error is not None:
        # MissingExtra names its package in its message alone; a module that is not there, in `name`.
        name = f"{getattr(error, 'name', None) or ''}."
        for package, need in PACKAGES.items():
            if name.startswith(f"{package}.") or f" needs {package}," in str(error):
                return need
        error = error.__cause__ or error.__context__
    return None
