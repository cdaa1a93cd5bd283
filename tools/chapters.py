"""Runs the chapters from fresh kernels, in place, and keeps their outputs free of what changes by itself.

    python3 run.py chapters          all of them, in order
    python3 run.py chapters 01 07    those whose names hold 01 or 07
    python3 run.py chapters --players    gives the players on show the script and the style of today, and runs nothing
    python3 run.py chapters --times 07   the cells that take a second or more, by clock and processor; writes no chapter

A chapter in which a cell fails is left as it was.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from kafkalearn.drawing.player import player_html

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def chapter_paths(words: list[str] | None = None) -> list[Path]:
    """The chapters in reading order; with words, those whose names hold one of them."""
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    return [path for path in paths if not words or any(word in path.stem for word in words)]


def execute(path: Path, size: str = "class") -> NotebookNode:
    """The chapter as it comes out of a fresh kernel, in the folder that it lies in; the file stays as it is.

    Parameters
    ----------
    path : Path
        The notebook.
    size : str
        What its Spark data is made in: ``"class"``, or ``"small"`` as on a weak machine.

    Raises
    ------
    CellExecutionError
        At the first cell that fails and is not tagged ``raises-exception``.
    """
    return _client(path).execute(env=os.environ | {"KAFKALEARN_LESSON_SIZE": size})


def _client(path: Path) -> NotebookClient:
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    options = {
        "timeout": 1200,  # seconds for one cell: ten million rows take their time on a small machine
        "coalesce_streams": True,  # else one print comes in one piece or in two, as it happens
        "record_timing": False,
        "extra_arguments": ["--log-level=ERROR"],  # it warns of a loopback without encryption
    }
    return NotebookClient(notebook, resources=resources, **options)


def normalise(notebook: NotebookNode) -> NotebookNode:
    """The notebook without what differs from one run, machine or editor to the next; changed in place."""
    notebook.metadata = NotebookNode(kernelspec=dict(KERNELSPEC), language_info={"name": "python"})
    for index, cell in enumerate(notebook.cells):
        cell.metadata = NotebookNode({name: cell.metadata[name] for name in sorted(cell.metadata) if name in KEPT})
        if cell.get("id", "") in {other.get("id") for other in notebook.cells[:index]} | {""}:
            cell.id = f"cell-{index}"
        if "outputs" in cell:  # what this machine had to fetch or prepare first, it says to stderr
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.get("outputs", []):
            _normalise_output(output)
    notebook.nbformat, notebook.nbformat_minor = 4, 5  # since 4.5 cells have ids
    return notebook


# What a chapter says on purpose: tags, folded cells, slides.
KEPT = {"collapsed", "editable", "deletable", "jupyter", "slideshow", "tags"}


def _normalise_output(output: NotebookNode) -> None:
    if output.output_type == "error":
        # The frames above the last line name the folders of this machine, and say nothing to a reader.
        output.traceback = output.traceback[-1:]
    elif WIDGET_VIEW in output.get("data", {}) and len(output.data) > 1:
        # The number of a widget that is gone; a page without a kernel shows the picture beside it instead.
        del output.data[WIDGET_VIEW]


def run(path: Path) -> bool:
    """Execute one chapter in place; False, with the failing cell printed, if it does not run through."""
    started = time.perf_counter()
    try:
        notebook = normalise(execute(path))
    except CellExecutionError as error:
        print(f"{path.name}: failed; the file is as it was\n{error}", file=sys.stderr)
        return False
    nbformat.validate(notebook)
    said = _written(path, nbformat.writes(notebook) + "\n")
    print(f"{said}, {time.perf_counter() - started:.0f} s")
    return True


SHOWN_S = 1.0  # cells below this are only in the sum


def print_times(path: Path) -> bool:
    """Run one chapter, the file stays as it is, and print what its cells take; False if it does not run through."""
    client = _client(path)
    began = (0.0, 0.0)
    sums = [0.0, 0.0]

    def now() -> tuple[float, float]:
        return time.perf_counter(), _cpu_seconds(client.km.provisioner.pid)

    def begin(**_: object) -> None:
        nonlocal began
        began = now()

    def end(cell: NotebookNode, **_: object) -> None:
        took = [after - before for before, after in zip(began, now(), strict=True)]
        sums[:] = [before + more for before, more in zip(sums, took, strict=True)]
        if max(took) >= SHOWN_S:
            print(f"{took[0]:7.1f} s {took[1]:7.1f} s  {cell.id}", flush=True)

    client.on_cell_execute, client.on_cell_executed = begin, end
    print(f"{path.name}: clock, and processor time with Java, workers and brokers")
    try:
        client.execute()
    except CellExecutionError as error:
        print(f"{path.name}: failed\n{error}", file=sys.stderr)
        return False
    print(f"{sums[0]:7.1f} s {sums[1]:7.1f} s  all cells")
    return True


def _cpu_seconds(process_id: int) -> float:
    """Of a process and all that it has started: Java, Python workers, brokers."""
    import psutil  # here: who only asks for the chapters' paths may have no ipykernel, which brings it

    process = psutil.Process(process_id)
    seconds = 0.0
    for each in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            seconds += sum(each.cpu_times()[:4])  # its own, and of its children that have ended
    return seconds


def _written(path: Path, text: str) -> str:
    """Write a chapter that is another than before; whether it is, in words."""
    is_changed = text != path.read_text(encoding="utf-8")
    if is_changed:
        path.write_text(text, encoding="utf-8", newline="\n")
    return f"{path.name}: {'changed' if is_changed else 'as before'}"


_PLAYER = re.compile(r"<style>(?:(?!</style>).)*\.kl-player.*mountAll\(\);\n</script>", re.DOTALL)


def with_todays_players(text: str) -> str:
    """A chapter's file whose players have the script and the style that running it would give them; all else stays."""
    today = _PLAYER.search(player_html("{}", "", 0))
    assert today is not None
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = _PLAYER.sub(lambda _: today[0], output.data["text/html"])
    return nbformat.writes(notebook) + "\n"


def main(words: list[str]) -> int:
    """Execute the chapters named, or all; 1 if one fails or none is so named."""
    if "--players" in words:
        for path in chapter_paths([word for word in words if word != "--players"]):
            print(_written(path, with_todays_players(path.read_text(encoding="utf-8"))))
        return 0
    task = print_times if "--times" in words else run
    words = [word for word in words if word != "--times"]
    paths = chapter_paths(words)
    if not paths:
        names = ", ".join(path.stem for path in chapter_paths()) or "none"
        print(f"no chapter is named {' or '.join(words) or 'at all'}; there are: {names}", file=sys.stderr)
    results = [task(path) for path in paths]
    return 0 if paths and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
