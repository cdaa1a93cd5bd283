"""The records of many batches read side by side: the first record of all of them, then the second, and so on.

Where a record begins is known only when the one before it was read. So one batch gives nothing to do in parallel, but
a thousand batches do: NumPy reads a field of a thousand records at once. A block in which anything is odd (a length
that does not fit, offsets that do not rise, a number of more than nine bytes) is left to the reader in plain Python,
which says what is wrong.
"""

from kafkalearn.segments.census.columns.block import Odd
from kafkalearn.segments.census.columns.reading import column_block

__all__ = ["Odd", "column_block"]
