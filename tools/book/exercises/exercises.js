// What a cell of the page is more than others when it is an exercise: it is judged, and the reader's record is kept.
//   window.kafkalearnExercise(box, cell, stub) -> {record(), note(said), changed(text), reset()} for cells.js
// Hints and the solution are in the page and unfold without Python.

window.kafkalearnExercise = (() => {
  const answers = window.kafkalearnAnswers;
  const NEW = { outcome: "not attempted", tries: 0, hints: 0, solution: false, answer: null };
  const WORDS = { right: "Right", open: "Noted", wrong: "Not right yet", error: "Could not be checked" };
  let noted = Promise.resolve(); // one change after the other: each begins with what the one before has left
  let first = null; // what was kept when the page was opened

  const entryIn = (kept, name) => ({ ...NEW, ...kept.record.exercises[name] });

  function seen(kept) {
    const notice = document.getElementById("answers-refused");
    if (kept.isRefused && notice) notice.hidden = false;
    document.documentElement.dataset.answers = kept.isRefused ? "refused" : "kept";
    return kept;
  }

  return (box, cell, stub) => {
    const name = box.dataset.exercise;
    let timer = 0;

    function change(changed) {
      return (noted = noted.then(async () => {
        const entry = entryIn(await answers.read(), name);
        seen(await answers.keepEntry(name, { ...entry, ...changed(entry) }));
      }));
    }

    box.querySelectorAll("details.hint").forEach((hint, at) => hint.addEventListener("toggle", () => {
      if (hint.open) change(({ hints }) => ({ hints: Math.max(hints, at + 1) }));
    }));
    box.querySelector("details.solution")?.addEventListener("toggle", ({ target }) => {
      if (target.open) change(({ outcome }) => (outcome === "right" || outcome === "open" ? {} : { solution: true }));
    });
    (first ??= answers.read()).then((kept) => {
      const { outcome } = entryIn(kept, name), draft = kept.drafts[name];
      if (draft !== undefined && cell.text() === stub) cell.put(draft);
      box.dataset.outcome = outcome;
      if (WORDS[outcome]) cell.say(`${WORDS[outcome]}, kept from before`);
      seen(kept);
    });

    return {
      async record() {
        const kept = await answers.read();
        return JSON.stringify({ ...kept.record, exercises: { [name]: entryIn(kept, name) } });
      },
      note({ outcome, record }) {
        if (!record) return; // it was not judged
        box.dataset.outcome = outcome;
        const found = JSON.parse(record).exercises[name] ?? NEW;
        change(({ hints, solution }) => ({ ...found, hints, solution }));
      },
      changed(text) {
        clearTimeout(timer);
        timer = setTimeout(async () => seen(await answers.keepDraft(name, text === stub ? null : text)), 300);
      },
      reset() {
        clearTimeout(timer);
        answers.keepDraft(name, null);
      },
    };
  };
})();
