"""The formula that counts how long a lesson takes, and that the course says everywhere what it counts."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.chapters import chapter_paths
from tools.minutes import count, first_played, main, together
from tools.timings import shared_out, stale, timed, with_sums, with_times


def page(frame_count, controls=()):
    frames = ",".join(["{}"] * frame_count)
    state = f'{{"_animation":{{"frames":[{frames}]}},"_controls":[{",".join(controls)}]}}'
    return {"text/html": f'<script type="application/json">{state}</script>'}


TABLE, PICTURE = {"text/plain": "a\n" * 4}, {"image/png": "", "text/plain": "a picture"}
COUNTED = {
    "words": (new_markdown_cell("word " * 130), 60),
    "a prediction": (new_markdown_cell("**Predict:** what"), 60 + 2 * 60 / 130),
    "code without imports": (new_code_cell("import os\n\nf(\n    1,\n)"), 12),
    "a player": (new_code_cell("f()", outputs=[new_output("display_data", page(10))]), 4 + 40),
    "a long player": (new_code_cell("f()", outputs=[new_output("display_data", page(100))]), 4 + 180),
    "a player with controls": (new_code_cell("f()", outputs=[new_output("display_data", page(1, ["{}"]))]), 4 + 4 + 60),
    "a table": (new_code_cell("f()", outputs=[new_output("display_data", TABLE)]), 4 + 12),
    "a picture": (new_code_cell("f()", outputs=[new_output("display_data", PICTURE)]), 4 + 20),
    "Spark": (new_code_cell("df.transform(f)"), 4 + 5),
    "the start of Spark": (new_code_cell("spark = get_spark()"), 4 + 30),
    "a check": (new_code_cell("a = 1\nassert a"), 0),
}


@pytest.mark.parametrize("what", COUNTED)
def test_the_formula(what):
    cell, seconds = COUNTED[what]

    assert together(new_notebook(cells=[cell])).seconds == pytest.approx(seconds)


def test_exercises_and_what_is_further_are_left_out():
    cells = [
        new_markdown_cell("# A question"),
        new_markdown_cell("## 1 First"),
        new_code_cell("f()", outputs=[new_output("display_data", page(3))]),
        new_markdown_cell("## Exercises"),
        new_markdown_cell("### Exercise 1"),
        new_markdown_cell("## Further: more"),
        new_code_cell("g()"),
    ]

    found = count(new_notebook(cells=cells))

    assert {name: (each.cell_count, each.player_count) for name, each in found.items()} == {
        "": (1, 0), "1 First": (2, 1),
    }  # fmt: skip
    assert first_played(new_notebook(cells=cells)) == 3


def test_the_command_prints_a_line_for_each_lesson(capsys):
    assert main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(chapter_paths())
    assert main(["99"]) == 1


def test_chapters_notes_and_syllabus_say_the_minutes_that_are_counted():
    """`python3 run.py minutes --write` writes them."""
    assert [path.name for path, _ in stale()] == []


def test_what_is_said_and_not_counted_is_written_anew():
    cells = [new_markdown_cell("# Who?\n\n" + "word " * 195), new_markdown_cell("## 1 Who?\n\n" + "word " * 260)]
    timing = timed(new_notebook(cells=cells), 20)
    notes = with_times("| section | minutes |\n| --- | --- |\n| 1 Whose? | 50 |\n\nIn class: all.\n", timing)
    syllabus = "| for | lessons | minutes | with |\n| --- | --- | --- | --- |\n| a day | 00, 01 | 1 | 1 |\n"

    assert notes.splitlines()[2:-2] == [
        "| the opening | 2 |", "| 1 Who? | 2 |", "| **without exercises** | 4 |", "| exercises | 20 |",
        "| **with exercises** | 24 |",
    ]  # fmt: skip
    assert with_sums(syllabus, {"00": timing, "01": timing}).endswith("| a day | 00, 01 | 8 | 48 |\n")


@pytest.mark.parametrize(("whole", "seconds"), [(10, [200, 200, 185, 20]), (2, [55, 20, 20]), (3, [10, 10, 10])])
def test_sections_add_up_to_the_lesson(whole, seconds):
    assert sum(shared_out(whole, seconds)) == whole
