"""The frame of the book's pages that are no chapters: head, links, policy."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tools.book.face import face
from tools.book.live import with_policy

STYLE = Path(__file__).with_name("style.css")
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
