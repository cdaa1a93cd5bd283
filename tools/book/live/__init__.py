"""What makes the book's pages alive: Python and the scripts of a page, written into the book's folder ``live``.

- ``runtime.js``: Pyodide, kafkalearn's core and the worker's script, as one classic script that a page can load from
  ``file:`` (`runtime`). Its own words are in ``worker.js``.
- ``snapshot.js``: what Python's memory is once kafkalearn is imported, for a quick start (`snapshot`).
- ``page.js``: the page's own script, of the files in `PAGE_SCRIPTS`; the first gives `window.kafkalearn`, which
  `tools.page` describes. ``page.css`` is its style.
- ``ace/``: the editor of code, as it comes from npm (`packages`).
- ``NOTICES.txt``: what of all that is not ours, with its licences.

`alive` puts these into a chapter's page, `with_script` into any other. `policy` says what a page may do: no connection
at all, and no script but those it was made with.
"""

from tools.book.live.alive import alive, tools, with_script
from tools.book.live.parts import FOLDER, PAGE_SCRIPTS, page_script, page_style, with_shared_parts, write
from tools.book.live.policy import policy, with_policy, without_policy

__all__ = [
    "FOLDER",
    "PAGE_SCRIPTS",
    "alive",
    "page_script",
    "page_style",
    "policy",
    "tools",
    "with_policy",
    "with_script",
    "with_shared_parts",
    "without_policy",
    "write",
]
