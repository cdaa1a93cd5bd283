"""What a page may do: run the scripts it was made with and Python, and nothing that leaves the page.

The browser enforces it (Content-Security-Policy): no connection, no form, no object, no script but those named.
"""

from __future__ import annotations

import base64
import hashlib
import re

_INLINE = re.compile(r"<script\b(?![^>]*\bsrc=)([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_DATA_TYPE = re.compile(r"""type=["']?(application/json|text/plain)""")
_GIVEN = re.compile('<meta http-equiv="Content-Security-Policy" content="[^"]*">')
_META = '<meta http-equiv="Content-Security-Policy" content="{}">'


def policy(html: str) -> str:
    """The policy of a page: its inline scripts are named by hash, its files by being beside it.

    >>> "connect-src blob:" in policy("") and "'sha256-" in policy("<script>let x = 1;</script>")
    True
    """
    scripts = dict.fromkeys(_hash(text) for head, text in _INLINE.findall(html) if not _DATA_TYPE.search(head))
    sources = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *scripts]),
        "worker-src": "blob:",
        "connect-src": "blob:",  # what the worker hands to itself
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' file: data: blob:",
        "font-src": "data:",
        "frame-src": "'self' file:",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {allowed}" for name, allowed in sources.items())


def with_policy(html: str) -> str:
    """The page with its policy, to be made last: a script changed afterwards is refused by the browser."""
    end = html.index(">", html.index('<meta charset="utf-8"')) + 1
    return html[:end] + _META.format(policy(html)) + html[end:]


def without_policy(html: str) -> str:
    """The page before `with_policy`, to be changed and given its policy again."""
    return _GIVEN.sub("", html, count=1)


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
