"""Exercises, progress and the table of a class in the pages, opened as files without a network, in both browsers."""

from __future__ import annotations

import json
import shutil

import pytest

from kafkalearn.exercises.progress.record import Entry, Record
from tests.book.browsers import Shown, wait_for

pytestmark = pytest.mark.browser

COORDINATOR = "c01-005"  # a cell
SAME, WRITE = "01.same_partition", "01.write_offsets_partition"
READY = "() => document.documentElement.dataset.answers"
TYPE = """async (exercise, text) => {
    const box = document.querySelector(`[data-exercise="${exercise}"]`);
    if (!box.querySelector(".ace_editor")) box.querySelector("[data-do=change]").click();
    while (!box.querySelector(".ace_editor")) await new Promise((resolve) => setTimeout(resolve, 20));
    window.ace.edit(box.querySelector(".ace_editor")).setValue(text, 1);
}"""
CHECKED = """(exercise) => {
    const button = document.querySelector(`[data-exercise="${exercise}"] [data-do=run]`);
    if (button.textContent !== "Check") return false;
    button.click();
    return true;
}"""
RESULT = """(exercise, words) => {
    const said = document.querySelector(`[data-exercise="${exercise}"] [data-part=result]`).textContent;
    return said.includes(words) && said;
}"""
TEXT = """(exercise) => {
    const editor = document.querySelector(`[data-exercise="${exercise}"] .ace_editor`);
    return editor && window.ace.edit(editor).getValue();
}"""
NOTE = """(exercise, words) => {
    const said = document.querySelector(`[data-exercise="${exercise}"] [data-part=note]`).textContent;
    return said.includes(words) && said;
}"""
KEPT = """async () => await window.kafkalearnAnswers.read()"""
GIVE = """(selector, name, text) => {
    const input = document.querySelector(selector), given = new DataTransfer();
    given.items.add(new File([text], name));
    input.files = given.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
}"""
SAVED = """(words) => new Promise((done) => {
    window.kafkalearnSave = (name, text) => done({ name, text });
    [...document.querySelectorAll("button")].find((each) => each.textContent.includes(words)).click();
})"""


@pytest.fixture(scope="module")
def reader(shown: Shown, made_book) -> Shown:
    """A reader who goes from page to page; the tests follow each other."""
    go_to(shown, made_book, "01_coordinator.html")
    return shown


def check(reader, exercise, code):
    """Write an answer and press Check, as soon as the answer before it is noted."""
    reader.run(TYPE, exercise, code)
    wait_for(reader, CHECKED, exercise)


def go_to(shown, made_book, page):
    shown.open((made_book / page).as_uri())
    wait_for(shown, READY)


def test_hints_and_solution_unfold_without_python_and_are_counted(reader):
    unfold = """(exercise) => {
        const box = document.querySelector(`[data-exercise="${exercise}"]`);
        const hints = [...box.querySelectorAll("details.hint")];
        const seen = hints.map((each) => each.offsetHeight > 0);
        hints[0].open = true;
        box.querySelector("details.solution").open = true;
        return { seen, words: box.querySelector("details.solution").textContent };
    }"""
    said = reader.run(unfold, "01.hot_broker")

    assert said["seen"] == [True] + [False] * (len(said["seen"]) - 1), "one hint after the other"
    assert len(said["words"]) > 60
    entry = wait_for(
        reader,
        "async () => { const entry = (await window.kafkalearnAnswers.read()).record"
        ".exercises['01.hot_broker']; return entry?.solution && entry; }",
    )
    assert (entry["hints"], entry["solution"], entry["outcome"]) == (1, True, "not attempted")
    assert reader.run("() => window.kafkalearn.isStarted") is False


def test_a_wrong_answer_gets_its_sentence(reader):
    check(reader, SAME, 'group_id = "search"\nexercises.same_partition.check(group_id)')

    assert "It has the same coordinator as billing" in wait_for(reader, RESULT, SAME, "Not right yet.")


def test_code_that_does_not_run_is_explained(reader):
    check(reader, SAME, "group_id = 1 / 0\nexercises.same_partition.check(group_id)")

    assert "Your code ends in line 1" in wait_for(reader, RESULT, SAME, "This cannot be checked.")


def test_a_right_answer_made_with_what_the_chapter_imports(reader):
    loop = 'group_id = next(f"x-{n}" for n in range(1000 * len(LEADERS)) if offsets_partition(f"x-{n}") == 9)'
    check(reader, SAME, f"{loop}\nexercises.same_partition.check(group_id)")

    assert wait_for(reader, RESULT, SAME, "Right.")
    entry = wait_for(
        reader,
        """async (name) => {
            const entry = (await window.kafkalearnAnswers.read()).record.exercises[name];
            return entry.outcome === "right" && entry;
        }""",
        SAME,
    )
    assert entry["tries"] == 2


def test_a_loop_without_end_is_ended_by_its_button(reader):
    # A loop in C: one in Python is ended by the judge itself, after three million lines.
    check(reader, WRITE, "sum(iter(int, 1))\nexercises.write_offsets_partition.check(1)")
    wait_for(reader, NOTE, WRITE, "running")
    reader.run("""(exercise) => document.querySelector(`[data-exercise="${exercise}"] [data-do=run]`).click()""", WRITE)

    assert wait_for(reader, NOTE, WRITE, "were run again")


def test_what_an_answer_made_is_there_for_the_cells_after_the_loop_was_ended(reader):
    """One namespace: the answer saw what the chapter's cells make, and was run again with the new Python."""
    press = """(cell) => document.querySelector(`[data-cell="${cell}"] [data-do=run]`).click()"""
    shown = """(cell) => document.querySelector(`[data-cell="${cell}"] .live-output:not([hidden])`)?.textContent"""
    reader.run(TYPE.replace("data-exercise", "data-cell"), COORDINATOR, "group_id[:2], len(LEADERS)")
    reader.run(press, COORDINATOR)

    assert wait_for(reader, shown, COORDINATOR).strip() == "('x-', 50)"


def test_a_reload_keeps_the_answers_and_what_stands_in_the_editors(reader, made_book):
    wait_for(
        reader, """async (name) => (await window.kafkalearnAnswers.read()).drafts[name]?.includes("x-{n}")""", SAME
    )
    go_to(reader, made_book, "01_coordinator.html")

    assert "x-{n}" in wait_for(reader, TEXT, SAME)
    assert wait_for(reader, NOTE, SAME, "Right, kept from before")


def test_reset_gives_the_stub_back(reader):
    wait_for(reader, TEXT, WRITE)
    reader.run("""(name) => document.querySelector(`[data-exercise="${name}"] [data-do=reset]`).click()""", WRITE)

    assert reader.run(TEXT, WRITE).startswith("def my_offsets_partition(group_id, partition_count):\n    return ...")
    wait_for(reader, """async (name) => !(name in (await window.kafkalearnAnswers.read()).drafts)""", WRITE)


def test_the_page_of_progress_knows_what_was_done_in_a_chapter(reader, made_book):
    go_to(reader, made_book, "progress.html")
    row = reader.run("""(name) => document.querySelector(`tr[data-exercise="${name}"]`).textContent""", SAME)

    assert "right" in row
    assert reader.run("() => document.getElementById('total').textContent").startswith("1 of ")


def test_progress_is_saved_as_the_file_that_make_grades_takes(reader):
    reader.run("() => { document.querySelector('input[name=name]').value = 'Anna Berg'; }")
    saved = reader.run(SAVED, "Save as a file")

    assert saved["name"] == "report-Anna-Berg.json"
    record = Record.read(saved["text"])
    assert (record.name, record.entry(SAME).outcome) == ("Anna Berg", "right")


def test_a_file_is_read_and_put_together_with_what_is_there(reader):
    other = Record("", {SAME: Entry("wrong", 7), "02.mask_step": Entry("wrong", 3, 2)}).text()
    reader.run(GIVE, "input[name=file]", "other.json", other)
    wait_for(reader, "() => document.getElementById('said').textContent.includes('is read')")

    entries = reader.run(KEPT)["record"]["exercises"]
    assert (entries[SAME]["outcome"], entries[SAME]["tries"]) == ("right", 7)
    assert entries["02.mask_step"]["hints"] == 2


def test_a_file_that_is_none_is_refused_in_words(reader):
    reader.run(GIVE, "input[name=file]", "photo.json", "{}")

    wait_for(reader, "() => document.getElementById('said').textContent.includes('not a progress file')")
    assert reader.run(KEPT)["record"]["exercises"][SAME]["outcome"] == "right"


FUNCTIONS = ("01.write_offsets_partition", "02.mask_step", "11.write_place")
FORGES = """
import sys
def f(*given):
    from kafkalearn.exercises.progress import judging
    from tools.page import progress
    progress._outcome = judging.outcome_of = lambda *given: "right"
    frame = sys._getframe()
    while frame:
        for name in ("outcomes", "gave"):
            frame.f_locals.get(name, {}).clear()
        frame = frame.f_back
    try:
        import js
        js.postMessage("mine")
    except (ImportError, AttributeError):
        return 12
    raise SystemError("this Python has a hold on the browser")
"""
"""Would make itself right where it is judged, as far as it gets there; it is asked for three exercises."""


def test_the_files_of_a_class_become_one_table(reader, made_book):
    reader.open((made_book / "class.html").as_uri())
    honest = Record("Anna", {SAME: Entry("right", 2, 1, False, "billing")}).text()
    function = {"function": "f", "source": FORGES}
    other = Record("Ben", {name: Entry("right", 1, 0, False, function) for name in FUNCTIONS}).text()
    reader.run(
        """(files) => {
            const said = document.getElementById("said");
            window.heard = [];
            new MutationObserver(() => window.heard.push(said.textContent)).observe(said, { childList: true });
            const input = document.querySelector("input[name=files]"), given = new DataTransfer();
            for (const [name, text] of files) given.items.add(new File([text], name));
            input.files = given.files;
            input.dispatchEvent(new Event("change", { bubbles: true }));
        }""",
        [["torn.json", "{"], ["ben.json", other], ["cleo.json", honest]],
    )
    heard = wait_for(reader, "() => window.heard.at(-1) === '3 files are judged.' && window.heard")
    assert heard == [
        "Judging torn.json, 1 of 3 …",
        "Judging ben.json, 2 of 3 …",
        *(f"Running what ben.json has for {name} …" for name in FUNCTIONS),
        "Judging cleo.json, 3 of 3 …",
        "Making the table …",
        "3 files are judged.",
    ]

    names = reader.run("() => [...document.querySelectorAll('#table tbody th')].map((each) => each.textContent)")
    remarks = reader.run("() => document.getElementById('remarks').textContent")
    assert names == ["Ben", "Anna", "torn.json"]  # by their files
    assert "functions that were handed in ran, of Ben (3)" in remarks
    assert "Anna: the file says done, and that is not so: 01.same_partition" in remarks
    assert "torn.json: not a progress file" in remarks
    saved = reader.run(SAVED, "Save the table")
    assert saved["text"].splitlines()[0].startswith("name,file,exercise,outcome")
    outcomes = [line.split(",")[3] for line in saved["text"].splitlines() if line.startswith("Ben,ben.json,")]
    assert outcomes == ["wrong"] * 3  # a Python with a hold on the browser would have said error
    assert "Anna,cleo.json,01.same_partition,wrong,right," in saved["text"]


def test_answers_can_be_removed(reader, made_book):
    go_to(reader, made_book, "progress.html")
    reader.run("""() => { window.confirm = () => true; document.querySelector("[data-do=forget]").click(); }""")
    wait_for(reader, "() => document.getElementById('said').textContent.includes('none of your answers')")

    assert reader.run(KEPT)["record"]["exercises"] == {}


def test_where_storage_is_refused_the_page_says_so_and_offers_the_file(reader, made_book, tmp_path):
    """A store that refuses, as a private window's may: the same page, and answers.html without its storage."""
    shutil.copyfile(made_book / "01_coordinator.html", tmp_path / "01_coordinator.html")  # Firefox follows a link to it
    (tmp_path / "live").symlink_to(made_book / "live")
    refusing = (
        "<script>parent.postMessage({ kafkalearnAnswers: { isReady: true } }, '*');"
        "onmessage = () => parent.postMessage({ kafkalearnAnswers: { isRefused: true } }, '*');</script>"
    )
    (tmp_path / "answers.html").write_text(refusing)
    go_to(reader, tmp_path, "01_coordinator.html")

    notice = (
        "() => { const said = document.getElementById('answers-refused'); return said.offsetHeight && said.innerHTML; }"
    )
    assert 'href="progress.html"' in wait_for(reader, notice)
    reader.run(TYPE, SAME, "kept while the page is open")
    wait_for(
        reader,
        """async (name) => (await window.kafkalearnAnswers.read()).drafts[name] === "kept while the page is open" """,
        SAME,
    )


def test_nothing_went_out_and_nothing_was_complained_of(reader):
    assert reader.seen.outside == []
    assert reader.seen.errors == []
    assert json.dumps(reader.run(KEPT)["isRefused"]) == "true"  # the last page's
