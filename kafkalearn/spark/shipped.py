"""A function of kafkalearn as bytes, with all of kafkalearn that it uses: workers need not have the package.

What a session sends to its workers names modules, and expects them there. `shipped` sends the code instead: its
result is loaded with ``pickle.loads`` by a worker that has PySpark and nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from struct import Struct
from types import MappingProxyType

from pyspark import cloudpickle

import kafkalearn


class _Pickler(cloudpickle.Pickler):
    """Knows two kinds of constants that pickle does not."""

    dispatch_table = cloudpickle.Pickler.dispatch_table.new_child(
        {
            Struct: lambda packed: (Struct, (packed.format,)),
            MappingProxyType: lambda mapping: (MappingProxyType, (dict(mapping),)),
        }
    )


def shipped(function: Callable) -> bytes:
    """A function of this package as bytes for ``pickle.loads``.

    >>> import pickle
    >>> from kafkalearn.hashing import java_string_hash
    >>> pickle.loads(shipped(java_string_hash))("billing")
    -109829509
    """
    target = BytesIO()
    cloudpickle.register_pickle_by_value(kafkalearn)
    try:
        _Pickler(target).dump(function)
    finally:
        cloudpickle.unregister_pickle_by_value(kafkalearn)
    return target.getvalue()
