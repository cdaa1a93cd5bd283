"""The table of a class: ``python -m kafkalearn.exercises.progress.grades FOLDER``, or ``make grades ARGS=FOLDER``.

FOLDER has the files that were handed in. Each answer is judged again, in processes of its own; of what the files say
of themselves only tries, hints and the mistakes on the way are taken over. A line for each student is printed, one for
each answer is written to ``grades.csv`` in the folder, what the class believed before it was shown to ``beliefs.csv``,
and which misconceptions its wrong answers showed to ``mistakes.csv``. Files that are no hand-in are named, and so are
those that have the same answers, letter by letter. A file that cannot be judged is a line of its own, "trouble".

Functions are run where the kernel confines them (Linux), and never as root. Elsewhere they are "not run", unless
``--run-code`` is said; ``docs/SECURITY.md`` says what that means.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, counted, printable
from kafkalearn.base.files import chapters_folder, written_whole
from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.kit.result import OPEN, RIGHT
from kafkalearn.exercises.progress.confinement import is_root
from kafkalearn.exercises.progress.judging import NOT_RUN, all_exercises, has_function, judge_apart
from kafkalearn.exercises.progress.processes import stop_all
from kafkalearn.exercises.progress.record import Entry, Record, read_file
from kafkalearn.exercises.progress.sandbox import why_none_runs
from kafkalearn.predictions.marking import asked_in
from kafkalearn.predictions.questions import all_predictions

HEAD = ("name", "file", "exercise", "outcome", "the file says", "tries", "hints", "solution seen first", "text")


@dataclass(frozen=True, slots=True)
class Graded:
    """One file that was handed in."""

    path: Path
    record: Record
    outcomes: dict[str, str]  # by exercise, found again
    trouble: str = ""  # why the file could not be judged

    @property
    def name(self) -> str:
        """Whose it is."""
        return self.record.name or self.path.stem

    @property
    def untrue(self) -> list[str]:
        """The exercises that the file says are done, and that are not."""
        return [
            name
            for name, entry in self.record.entries.items()
            if entry.is_done and self.outcomes.get(name) not in (RIGHT, OPEN, NOT_RUN)
        ]

    @property
    def not_run(self) -> list[str]:
        """The exercises whose function was not run."""
        return [name for name, outcome in self.outcomes.items() if outcome == NOT_RUN]

    @property
    def ran(self) -> list[str]:
        """The exercises whose function, of whoever handed it in, was run."""
        return [
            name
            for name, entry in self.record.entries.items()
            if has_function(entry.answer) and name not in self.not_run
        ]

    def done_of(self, chapter: str) -> int:
        """How many exercises of a chapter are done."""
        return sum(
            name.startswith(f"{chapter}.") and outcome in (RIGHT, OPEN) for name, outcome in self.outcomes.items()
        )


def graded(path: Path, *, is_free: bool = False) -> Graded:
    """One file, judged again; whatever is wrong with it, or with judging it, is its own trouble alone.

    Parameters
    ----------
    path : pathlib.Path
        A regular file; a link is not followed.
    is_free : bool
        Whether its functions run also where nothing confines them.
    """
    try:
        record = read_file(path, follow=False)
        return Graded(path, record, judge_apart(record, is_free=is_free))
    except KafkaLearnError as error:
        return Graded(path, Record(), {}, str(error))
    except Exception as error:  # a hand-in must not take the table of the others away
        return Graded(path, Record(), {}, f"judging it ended with {type(error).__name__}: {error}"[:500])


TROUBLE = "trouble"
"""What stands in a table in place of what is done, for a file that could not be judged."""


def class_rows(class_: Sequence[Graded]) -> list[tuple[str, ...]]:
    """The heading, and a row for each student: what is done in each chapter, with how many tries and hints.

    >>> class_rows([])[0][:4], class_rows([])[0][-3:]
    (('name', '00', '00b', '01'), ('done', 'tries', 'hints'))
    """
    chapters = sorted({name.partition(".")[0] for name in all_exercises()})
    rows: list[tuple[str, ...]] = [("name", *chapters, "done", "tries", "hints")]
    for each in class_:
        if each.trouble:
            rows.append((_one_line(each.path.name)[:30], *[""] * len(chapters), TROUBLE, "", ""))
            continue
        done = [each.done_of(chapter) for chapter in chapters]
        entries = each.record.entries.values()
        tries, hints = sum(entry.try_count for entry in entries), sum(entry.hint_count for entry in entries)
        rows.append((each.name[:30], *map(str, done), str(sum(done)), str(tries), str(hints)))
    return rows


BELIEFS = ("asked", "believed", "of the class", "who", "predicted by", "what is so", "cell")
"""The heading of `belief_rows`."""
MOST_SHOWN = 10
"""So many of the beliefs are printed; the file has all."""


@cache
def questions_asked() -> Mapping[str, str]:
    """The words of each question by its cell, from the chapters; none where they are not, as in a page of the book."""
    folder = chapters_folder()
    paths = sorted(folder.glob("*.ipynb")) if folder else []
    return {cell: words for path in paths for cell, words in asked_in(json.loads(path.read_text("utf-8"))).items()}


def belief_rows(class_: Iterable[Graded], asked: Mapping[str, str] | None = None) -> list[tuple[str, ...]]:
    """The wrong predictions of a class, those that most of it shares first, each with what is so, as in `BELIEFS`.

    The share is of those who made a prediction there; who asked to be shown has made none. Predictions are judged
    again: what a file says of them is not believed. `asked` has the words of the questions, `questions_asked` if not
    said.

    >>> from kafkalearn.exercises.progress.record import Made
    >>> made = {"c01-006": Made("`BB`, its letters come later")}
    >>> belief_rows([Graded(Path("anna.json"), Record("Anna", {}, made), {})], {"c01-006": "which?"})[0][:5]
    ('which?', '`BB`, its letters come later', '100%', '1', '1')
    """
    asked = questions_asked() if asked is None else asked
    said: dict[str, Counter[str]] = {}
    for each in class_:
        for cell, made in each.record.predictions.items():
            question = all_predictions().get(cell)
            if made.said is not None and question is not None and question.right is not None:
                said.setdefault(cell, Counter())[made.said] += 1
    found = [
        (count / sum(counts.values()), count, text, cell)
        for cell, counts in said.items()
        for text, count in counts.items()
        if not all_predictions()[cell].is_right(text)
    ]
    return [
        (
            asked.get(cell, ""),
            text,
            f"{share:.0%}",
            str(count),
            str(sum(said[cell].values())),
            "".join(all_predictions()[cell].told),
            cell,
        )
        for share, count, text, cell in sorted(found, key=lambda row: (-row[0], -row[1], row[3], row[2]))
    ]


MISTAKES = ("what cures it", "of those who tried", "who", "tried by", "exercise")
"""The heading of `mistake_rows`."""


def mistake_rows(class_: Iterable[Graded]) -> list[tuple[str, ...]]:
    """The misconceptions that wrong answers of a class showed, most shared first, each by the sentence that cures it.

    One counts once a student, also if a right answer came after it. The share is of those who tried the exercise.

    >>> tried = {"01.same_partition": Entry("right", 2, 0, False, "billing-47", (1,))}
    >>> mistake_rows([Graded(Path("anna.json"), Record("Anna", tried), {})])[0][1:]
    ('100%', '1', '1', '01.same_partition')
    """
    tried: Counter[str] = Counter()
    made: Counter[tuple[str, int]] = Counter()
    for each in class_:
        for name, entry in each.record.entries.items():
            known = all_exercises().get(name)
            if known is not None and (entry.try_count or entry.mistakes):
                tried[name] += 1
                made.update((name, number) for number in entry.mistakes if number <= len(known.misconceptions))
    rows = sorted(made.items(), key=lambda row: (-row[1] / tried[row[0][0]], -row[1], row[0]))
    return [
        (
            all_exercises()[name].misconceptions[number - 1].cure,
            f"{count / tried[name]:.0%}",
            str(count),
            str(tried[name]),
            name,
        )
        for (name, number), count in rows
    ]


LEAST_LETTERS = 60
"""What is a student's own and shorter is the same in two files by chance."""


def same_texts(class_: Iterable[Graded]) -> Iterator[str]:
    """Which files have the same text or function, letter by letter, blanks aside: for the instructor to ask about.

    Only open texts and functions are compared, without the lines that the exercise itself has (question, code to
    begin with, solution) and those that name and import.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for each in class_:
        for name, entry in each.record.entries.items():
            text = _own_text(name, entry.answer)
            if text:
                found.setdefault((name, text), []).append(each.path.name)
    shared: dict[tuple[str, ...], list[str]] = {}
    for (name, _), files in sorted(found.items()):
        if len(files) > 1:
            shared.setdefault(tuple(sorted(files)), []).append(name)
    for files, names in sorted(shared.items()):
        yield f"{' and '.join(files)}: the same, letter by letter, in {', '.join(names)}"


def _own_text(name: str, answer: object) -> str:
    """What is a student's own in an open text or a function: its lines without blanks, but for those of the course."""
    known = all_exercises().get(name)
    is_function = isinstance(answer, dict)
    text = answer.get("source") if is_function else answer
    if known is None or not isinstance(text, str) or not (is_function or isinstance(known.judge, Open)):
        return ""  # of a value that is right, all are the same
    course = {_letters(line) for part in (known.asks, known.start, known.reasoning) for line in part.splitlines()}
    lines = [_letters(line) for line in text.removeprefix("from __future__ import annotations").splitlines()]
    own = "".join(line for line in lines if line not in course and not line.startswith(_FORCED))
    return own if len(own) >= LEAST_LETTERS else ""


_FORCED = ("def", "import", "fromkafkalearn")
"""How a line of a function begins that the exercise leaves no choice about."""


def _letters(text: str) -> str:
    return "".join(text.split())


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines, with names to the left and numbers to the right.

    >>> print(text_table([("name", "done"), ("Anna", "7")]))
    name  done
    Anna     7
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def csv_rows(class_: Iterable[Graded]) -> list[tuple[object, ...]]:
    """A row for each answer, as in `HEAD`."""
    rows: list[tuple[object, ...]] = []
    for each in class_:
        if each.trouble:
            rows.append(("", each.path.name, "", TROUBLE, "", "", "", "", each.trouble))
        for name, entry in each.record.entries.items():
            rows.append((each.name, each.path.name, name, each.outcomes[name], *_said(entry, each.outcomes[name])))
    return [tuple(map(_cell, row)) for row in rows]


def _said(entry: Entry, outcome: str) -> tuple[object, ...]:
    text = entry.answer if outcome == OPEN else ""
    return entry.outcome, entry.try_count, entry.hint_count, "yes" if entry.has_seen_solution else "no", text


def _cell(value: object) -> object:
    """A text that begins like a formula would be one in a spreadsheet."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def remarks(class_: Iterable[Graded]) -> Iterator[str]:
    """Which files could not be judged, which say done of what is not, which functions did not run, what is the same."""
    class_ = list(class_)
    for each in class_:
        if each.trouble:
            yield f"{each.path.name}: {each.trouble}"
        if each.untrue:
            yield f"{each.name}: the file says done, and that is not so: {', '.join(each.untrue)}"
        if each.not_run:
            yield f"{each.name}: {counted(len(each.not_run), 'function')} not run: {', '.join(each.not_run)}"
    yield from same_texts(class_)
    if running := [f"{each.name} ({len(each.ran)})" for each in class_ if each.ran]:
        yield f"functions that were handed in ran, of {', '.join(running)}"


WRITTEN = ("grades.csv", "beliefs.csv", "mistakes.csv")
"""What is written into the folder."""


def passed_over(folder: Path, written: Iterable[Path] = ()) -> Iterator[str]:
    """A sentence for each entry of a folder that is no hand-in by its name: an essay, an archive, a folder."""
    known = {*WRITTEN, *(path.name for path in written)}
    for path in sorted(folder.iterdir()):
        if path.suffix != ".json" and path.name not in known and not path.name.startswith("."):
            kind = "a folder" if path.is_dir() else f"a file that ends in {path.suffix or 'nothing'}"
            yield f"{path.name} is {kind}, and not judged: a hand-in is the .json that `make report` writes"


RUN_CODE = "--run-code"
_WHAT_IT_MEANS = (
    "run functions that were handed in also where nothing confines them (not Linux): such a function can read, change "
    "and send whatever you can. Only for files whose code you have read"
)


def main(words: Sequence[str]) -> int:
    """Judge a folder; the exit code."""
    parser = ArgumentParser("make grades", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with the files that were handed in")
    parser.add_argument("--csv", type=Path, help="the table to write; grades.csv in the folder if not said")
    parser.add_argument(RUN_CODE, action="store_true", help=_WHAT_IT_MEANS)
    given = parser.parse_args(words)
    if given.run_code and is_root():
        return _refused(f"{RUN_CODE} runs what was handed in as you, and you are root: be another user for that")
    if not given.folder.is_dir():
        return _refused(f"{given.folder} is not a folder")
    to = given.csv or given.folder / WRITTEN[0]
    believed, mistaken = (to.with_name(name) for name in WRITTEN[1:])
    others = list(passed_over(given.folder, [to]))
    paths = sorted(given.folder.glob("*.json"))
    if not paths:
        return _refused("\n".join([f"no file ends in .json in {given.folder}", *others]))
    class_ = _judged(paths, given.run_code)
    beliefs, mistakes = belief_rows(class_), mistake_rows(class_)
    tables = {
        to: [HEAD, *csv_rows(class_)],
        believed: [BELIEFS, *(map(_cell, row) for row in beliefs)],
        mistaken: [MISTAKES, *(map(_cell, row) for row in mistakes)],
    }
    try:
        written_whole({path: _as_csv(rows) for path, rows in tables.items()})
    except KafkaLearnError as error:
        return _refused(str(error))
    _print(text_table(class_rows(class_)))
    for remark in [*remarks(class_), *others]:
        _print(_one_line(remark))
    for asked, text, share, count, _, so, cell in beliefs[:MOST_SHOWN]:
        _print(f"{share} ({count}) believed: {text}. Asked in {cell}: {asked} {so}")
    for cure, share, count, _, name in mistakes[:MOST_SHOWN]:
        _print(f"{share} ({count}) went wrong in {name}: {cure}")
    _print(f"every answer is in {to}, every wrong prediction in {believed}, every mistake in {mistaken}")
    if any(each.not_run for each in class_):
        _print(
            f"functions were not run: {why_none_runs()}. The class's table in the book runs them in WebAssembly; "
            f"{RUN_CODE} runs them here, as you (docs/SECURITY.md)"
        )
    return 0


def _judged(paths: Sequence[Path], is_free: bool) -> list[Graded]:
    """All files, several at once; whoever stops this ends the processes that judge, too."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        return list(pool.map(partial(graded, is_free=is_free), paths))
    except KeyboardInterrupt:
        print("kafkalearn: stopped; nothing is written", file=sys.stderr)
        stop_all()
        raise SystemExit(130) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        signal.signal(signal.SIGTERM, before)


def _as_csv(rows: Iterable[Iterable[object]]) -> str:
    table = io.StringIO(newline="")
    csv.writer(table).writerows(rows)
    return table.getvalue()


def _one_line(text: str) -> str:
    return printable(text.replace("\n", " "))


def _print(text: str) -> None:
    """What somebody else wrote moves no cursor, and stops no table where the terminal lacks a letter."""
    encoding = sys.stdout.encoding or "utf-8"
    print(printable(text).encode(encoding, "backslashreplace").decode(encoding))


def _refused(sentence: str) -> int:
    print(printable(f"kafkalearn: {sentence}"), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
