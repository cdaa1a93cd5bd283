"""The exercises in the book: each cell with a check, its hints and its solution, and the reader's answers.

A chapter's cell that ends in ``exercises.NAME.check(...)`` is a cell of the page like the others, which ``cells.js``
runs in the chapter's one namespace, and which is judged. Without a script, or before Python has started, the hints and
the solution unfold all the same: they are in the page.

The answers lie in the browser, in the format of `kafkalearn.exercises.progress`; ``kept.js``, ``answers.js`` and, in a
page of its own, ``store.js`` keep them, ``exercises.js`` is what a chapter does with them.
"""

from tools.book.exercises.boxes import exercises_of, import_statements, script_text, with_exercises

__all__ = ["exercises_of", "import_statements", "script_text", "with_exercises"]
