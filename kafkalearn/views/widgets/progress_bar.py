"""A progress bar for jobs that take seconds: in a notebook a widget, elsewhere silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, TypeAlias

import ipywidgets
from IPython.core.getipython import get_ipython
from IPython.display import display

Update: TypeAlias = Callable[[int, int], None]


class ProgressBar(ipywidgets.HBox):
    """Words, a bar, and how far the job is; only the words stay in the output, the same in every run."""

    def __init__(self, words: str) -> None:
        """An empty bar."""
        self._words = words
        self._progress = ipywidgets.IntProgress(0, 0, 1, description=words, style={"description_width": "initial"})
        self._count = ipywidgets.Label()
        self._start = monotonic()
        super().__init__([self._progress, self._count])

    def update(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts are finished; the total may grow on the way."""
        self._progress.max = max(total, 1)
        self._progress.value = done
        self._count.value = f"{done} of {total}, {monotonic() - self._start:.0f} s"

    def finish(self, style: str) -> None:
        """Stop where it is and turn green (``"success"``, then also full) or red (``"danger"``)."""
        if style == "success":
            self._progress.value = self._progress.max
        self._progress.bar_style = style
        self._count.value = f"{'done' if style == 'success' else 'failed'}, {monotonic() - self._start:.1f} s"

    def __repr__(self) -> str:
        """The words, and no figure that differs from run to run."""
        return self._words

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return (super()._repr_mimebundle_(**kwargs) or {}) | {"text/plain": self._words}


@contextmanager
def progress_bar(words: str) -> Iterator[Update]:
    """A bar for the time of a ``with``; the value is ``update(done, total)``, which any thread may call.

    Outside a notebook nothing is shown, so that the same function serves a script.

    Parameters
    ----------
    words : str
        What is being done; also what stays in the output as text.

    Examples
    --------
    >>> with progress_bar("hash 10 million group ids") as update:
    ...     update(1, 4)
    """
    if not _is_in_notebook():
        yield _ignore
        return
    bar = ProgressBar(words)
    display(bar)
    try:
        yield bar.update
    except BaseException:
        bar.finish("danger")
        raise
    bar.finish("success")


def _is_in_notebook() -> bool:
    """Whether an IPython kernel runs this, and not a terminal or a script."""
    return hasattr(get_ipython(), "kernel")


def _ignore(done: int, total: int) -> None:
    """Show nothing."""
