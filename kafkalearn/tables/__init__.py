"""Rows as tables: in a notebook, on a page without pandas, in a terminal."""

from kafkalearn.tables.table import PlainTable, table
from kafkalearn.tables.text import text_table

__all__ = ["PlainTable", "table", "text_table"]
