"""Rows as tables: in a notebook, on a page without pandas, in a terminal, in Markdown."""

from kafkalearn.tables.markdown import markdown_table
from kafkalearn.tables.table import PlainTable, table
from kafkalearn.tables.text import text_table

__all__ = ["PlainTable", "markdown_table", "table", "text_table"]
