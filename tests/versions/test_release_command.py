"""`run.py release`: its steps, what it says of the files, what it refuses."""

from __future__ import annotations

import sys

import pytest

from tools import release
from tools.release import NotTaken, Step, chosen_steps, difference_of, main, taken_in


def writing(folder, monkeypatch, line):
    """A step whose tool writes one line into its file."""
    (folder / "tool_of_a_step.py").write_text(f"open('a.json', 'w').write({line!r})")
    monkeypatch.setattr(release, "ROOT", folder)
    return Step("jars", "tool_of_a_step", ("a.json",))


def test_the_files_of_every_step_are_there():
    for step in release.STEPS:
        assert all(release.texts_of(step).values()), step.name


def test_a_step_says_what_has_changed_and_that_nothing_has(tmp_path, monkeypatch, capfd):
    step = writing(tmp_path, monkeypatch, "new\n")
    (tmp_path / "a.json").write_text("old\n")

    assert taken_in(step, "4.3=4.3.2")
    assert "a.json: 1 line gone, 1 line new\n  -old\n  +new\n" in capfd.readouterr().out
    assert taken_in(step, "4.3=4.3.2")
    assert "a.json: as it was" in capfd.readouterr().out


def test_a_step_that_fails_is_named(tmp_path, monkeypatch, capfd):
    step = writing(tmp_path, monkeypatch, "new\n")
    (tmp_path / "tool_of_a_step.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(release, "STEPS", (step,))

    assert main(["4.3"]) == 1
    assert "failed: jars of 4.3" in capfd.readouterr().out


def test_what_only_the_newest_line_has_is_left_alone_for_others(monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    (answers,) = chosen_steps(["answers"])
    assert taken_in(answers, "4.0")
    assert "left as it is, as 4.0 is not the newest line" in capfd.readouterr().out


def test_many_changes_are_cut():
    lines = difference_of("a.json", "", "".join(f"{number}\n" for number in range(100)))
    assert lines[0] == "a.json: 0 lines gone, 100 lines new"
    assert lines[-1] == "  and 88 more"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a release"),
        (["9.9"], "'9.9' is not in RELEASES"),
        (["4.3", "--only=jar"], "there is no step 'jar'; there are jars, settings, classes, answers, histories"),
    ],
)
def test_what_cannot_be_meant_is_refused(words, said):
    with pytest.raises(NotTaken, match=said):
        main(words)
