"""The frame of the book's pages that are no chapters: head, links, policy."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tools.book.face import face
from tools.book.live import with_policy

STYLE = Path(__file__).with_name("style.css")
ICON = (
    '<link rel="icon" href="data:image/svg+xml,'
    "%3Csvg xmlns=%27http://www.w3.org/2000/svg%27 viewBox=%270 0 16 16%27%3E"
    "%3Crect y=%273%27 width=%2716%27 height=%2710%27 rx=%272%27 fill=%27%230b5394%27/%3E"
    '%3Cpath d=%27M5.3 3v10M10.7 3v10%27 stroke=%27%23fff%27 stroke-width=%271.4%27/%3E%3C/svg%3E">'
)
"""A log of three records, for the browser's tab."""
LINKS = {
    "index.html": "All chapters",
    "playground.html": "Playground",
    "search.html": "Search",
    "reference/index.html": "Reference",
    "progress.html": "Your progress",
    "class.html": "The table of a class",
    "glossary.html": "The words",
    "claims.html": "Right or dated?",
    "ledger.html": "What holds it",
}
"""The pages of the book that are no chapters."""


def shell_page(
    title: str,
    body: str,
    scripts: Sequence[str] = (),
    *,
    is_alive: bool = True,
    has_navigation: bool = True,
    head: str = "",
) -> str:
    """A page of the book, with its policy.

    Parameters
    ----------
    title, body : str
        The title as text, what stands below it as HTML.
    scripts : sequence of str
        What runs at the end of the page, after the scripts that all live pages share.
    is_alive : bool
        Whether it has `window.kafkalearn` and keeps answers: then ``live/`` lies beside it.
    has_navigation : bool
        Whether it links to the other pages.
    head : str
        Further HTML for the head.
    """
    shared = '<link rel="stylesheet" href="live/page.css">' if is_alive else ""
    live = '<script src="live/page.js"></script>' if is_alive else ""
    own = "\n".join(f"<script>{each}</script>" for each in scripts)
    return with_policy(f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · kafkalearn</title>
{ICON}
<style>{face()}{STYLE.read_text(encoding="utf-8")}</style>
{shared}
{head}
</head>
<body class="plain-page">
{links_bar() if has_navigation else ""}
<main>
<h1>{escape(title)}</h1>
{body}
</main>
{live}
{own}
</body>
</html>
""")


def links_bar() -> str:
    """The links to the pages of the book that are no chapters."""
    links = "".join(f'<a href="{page}">{words}</a>' for page, words in LINKS.items())
    return f'<nav class="navigation" aria-label="Book">{links}</nav>'
