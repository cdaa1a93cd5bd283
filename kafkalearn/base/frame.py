"""A pandas DataFrame that looks as our tables do."""

from __future__ import annotations

import pandas as pd

from kafkalearn.base.tables import PlainTable, html_table


class Frame(pd.DataFrame):
    """A DataFrame with all of pandas' methods, shown with words to the left and separators in long numbers."""

    @property
    def _constructor(self) -> type[Frame]:
        return Frame

    def _repr_html_(self) -> str:
        is_count = isinstance(self.index, pd.RangeIndex) and self.index.name is None
        labels = None if is_count else list(self.index)
        return html_table([str(name) for name in self.columns], labels, list(self.itertuples(index=False, name=None)))


def as_frame(plain: PlainTable, name: str | None = None) -> Frame:
    """The same rows as a DataFrame, its index named `name`."""
    rows, columns = list(plain.rows), list(plain.columns)
    try:
        frame = Frame(rows, columns=columns)
    except OverflowError:  # a number too large even for a float stays the object that it is
        frame = Frame(rows, columns=columns, dtype=object)
    return frame if plain.labels is None else frame.set_axis(pd.Index(plain.labels, name=name))
