"""What a chapter's page asks about its cells: to begin, to run one, and to make ready what one stands on.

The code cells and the exercises of a chapter have one namespace, as in a notebook; it lasts as long as the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import redirect_stdout

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.page import controls, exercises, widgets
from kafkalearn.page.chapter import Chapter
from kafkalearn.page.display import Outputs, drawn
from kafkalearn.page.names import cells_before, names_of
from kafkalearn.phrases import listed

_chapters: dict[str, Chapter] = {}


def open_chapter(payload: Mapping[str, object]) -> list[str]:
    """Begin a page anew: ``{page, cells: [{id, source, exercise}]}``; the names of its values, none yet.

    ``exercise`` is the name in a record, for the cells that are exercises of the page.
    """
    widgets.stand_in()
    sources = {cell["id"]: cell["source"] for cell in payload["cells"]}
    named = {cell["id"]: cell["exercise"] for cell in payload["cells"] if cell.get("exercise")}
    _chapters[payload["page"]] = Chapter(sources, named)
    controls.forget(payload["page"])
    return []


def run(payload: Mapping[str, object]) -> dict[str, object]:
    """Run a cell, or check the answer in it.

    Parameters
    ----------
    payload : mapping
        ``page``, ``cell``, ``source``: its text. ``sources``: the texts of all cells; if given, those above that this
        one stands on and that have not run yet are run first, unseen. ``record``: the reader's file of progress.

    Returns
    -------
    dict
        ``outputs``, as `kafkalearn.page.display.Outputs` has them, an error as the last of them, each with its
        ``html`` but for players; ``needs``, what the cell would need that no page has, or the empty text: then it was
        not run. For an exercise also ``outcome``, ``record`` and ``trouble``, as `kafkalearn.page.exercises.check`.
    """
    chapter, page, cell, source = _chapter(payload), payload["page"], payload["cell"], payload["source"]
    if "sources" in payload and (fault := _run_above(chapter, page, cell, payload["sources"] | {cell: source})):
        return {"outputs": [_with_html({"error": fault})], "needs": ""}
    outputs, verdict = Outputs(controls.shown_on(page, cell)), {}
    if cell in chapter.exercises:
        needs, verdict = _check(chapter, cell, source, outputs, str(payload.get("record") or ""))
    else:
        needs = chapter.run(cell, source, outputs)
    chapter.ran[cell] = source
    return {"outputs": [] if needs else [_with_html(part) for part in outputs.parts], "needs": needs} | verdict


def prepare(payload: Mapping[str, object]) -> None:
    """Make a recorded picture ready to be turned: run its cell, and what that stands on, unseen.

    ``{page, cell, sources: {id: text}}``; what has run with the same text is not run again.

    Raises
    ------
    KafkaLearnError
        If one of them does not run here.
    """
    chapter, page, cell, sources = _chapter(payload), payload["page"], payload["cell"], payload["sources"]
    if chapter.ran.get(cell) == sources[cell]:
        return
    if fault := _run_above(chapter, page, cell, sources):
        raise KafkaLearnError(fault["words"])
    outputs = Outputs(controls.shown_on(page, cell))
    if needs := chapter.run(cell, sources[cell], outputs):
        raise KafkaLearnError(f"This picture needs {needs}, which a page does not have: it stays as it was recorded.")
    if fault := _fault_in(outputs):
        raise KafkaLearnError(f"The cell of this picture does not run. {fault['words']}")
    chapter.ran[cell] = sources[cell]


def _chapter(payload: Mapping[str, object]) -> Chapter:
    if payload["page"] not in _chapters:
        raise KafkaLearnError(f"page {payload['page']!r} is not open: ask cells.open first")
    return _chapters[payload["page"]]


def _run_above(chapter: Chapter, page: str, cell: str, given: Mapping[str, str]) -> dict[str, object] | None:
    """Run what a cell stands on, from the first that has not run on, so that all is as from top to bottom.

    The fault of the one that ends with one, or None. Of an exercise that is as it was in the book nothing is wanted.
    """
    sources = chapter.sources | given
    ids = list(sources)
    one_of("cell", cell, ids)
    before = [ids[at] for at in cells_before(list(sources.values()), ids.index(cell))]
    wanted = [each for each in before if each not in chapter.exercises or sources[each] != chapter.sources[each]]
    first = next((at for at, each in enumerate(wanted) if each not in chapter.ran), len(wanted))
    for each in wanted[first:]:
        outputs = Outputs(controls.shown_on(page, each))
        if each in chapter.exercises:
            exercises.define(chapter.exercises[each], sources[each], chapter.namespace)
            chapter.is_made(names_of(sources[each]).made)
        else:
            chapter.run(each, sources[each], outputs)
        if fault := _fault_in(outputs):
            return fault | {"words": f"A cell above does not run: {fault['words']}"}
        chapter.ran[each] = sources[each]
    return None


def _check(chapter: Chapter, cell: str, source: str, outputs: Outputs, record: str) -> tuple[str, dict[str, object]]:
    """What the exercise would need that no page has, and what its judge says."""
    names = names_of(source)
    if needs := chapter.needed(names.needed):
        return listed(sorted(needs)), {}
    chapter.namespace["display"] = outputs.show
    with redirect_stdout(outputs):
        exercise = chapter.exercises[cell]
        verdict = exercises.judged(exercise, source, chapter.namespace, record, chapter.reasons(cell))
    chapter.is_made(names.made)
    outputs.parts.append({"shown": {"text/html": verdict["html"], "text/plain": verdict["outcome"]}})
    return "", verdict


def _fault_in(outputs: Outputs) -> dict[str, object] | None:
    return next((part["error"] for part in outputs.parts if "error" in part), None)


def _with_html(part: dict[str, object]) -> dict[str, object]:
    html = drawn(part)
    return part if html is None else part | {"html": html}


ANSWERS = {"open": open_chapter, "run": run, "prepare": prepare}
