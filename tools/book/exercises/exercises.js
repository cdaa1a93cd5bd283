// The exercises of a chapter's page: what stands in the editor is judged by Python; hints and solution are in the page.

(() => {
  const boxes = [...document.querySelectorAll(".exercise[data-exercise]")];
  if (boxes.length === 0) return;
  const answers = window.kafkalearnAnswers;
  const imports = JSON.parse(document.getElementById("exercise-imports").textContent);
  const NEW = { outcome: "not attempted", tries: 0, hints: 0, solution: false, answer: null };
  const isDone = ({ outcome }) => outcome === "right" || outcome === "open";

  const entryIn = (kept, name) => ({ ...NEW, ...kept.record.exercises[name] });
  const part = (box, name) => box.querySelector(`[data-part=${name}]`);

  function fit(editor) {
    editor.style.height = "auto";
    editor.style.height = `${editor.scrollHeight + 2}px`;
  }

  function showEntry(box, entry) {
    box.dataset.outcome = entry.outcome;
    const words = { right: "Right", open: "Noted", wrong: "Not right yet", error: "Could not be checked" }[entry.outcome];
    part(box, "standing").textContent = words ? `${words}, kept from before` : "";
  }

  function sayRefused() {
    const notice = document.getElementById("answers-refused");
    if (notice) notice.hidden = false;
  }

  let noted = Promise.resolve(); // one change after the other: each begins with what the one before has left
  function note(name, change) {
    noted = noted.then(async () => {
      const entry = entryIn(await answers.read(), name);
      const after = await answers.keepEntry(name, { ...entry, ...change(entry) });
      if (after.isRefused) sayRefused();
    });
    return noted;
  }

  async function check(box) {
    const name = box.dataset.exercise, result = part(box, "result"), button = part(box, "check"), stop = part(box, "stop");
    const code = part(box, "code").value;
    const say = (words) => { result.innerHTML = ""; result.textContent = words; };
    button.disabled = true;
    try {
      const kept = await answers.read();
      stop.hidden = false;
      await window.kafkalearn.start(say);
      say("Checking …");
      const record = { ...kept.record, exercises: { [name]: entryIn(kept, name) } };
      const said = await window.kafkalearn.ask("exercises.check", { exercise: name, code, imports, record: JSON.stringify(record) });
      result.innerHTML = said.html; // made of escaped values by Python
      if (said.printed) {
        const printed = document.createElement("pre");
        printed.textContent = said.printed;
        result.append(printed);
      }
      const found = JSON.parse(said.record).exercises[name] ?? NEW;
      box.dataset.outcome = said.outcome;
      part(box, "standing").textContent = "";
      await note(name, (entry) => ({ ...found, hints: entry.hints, solution: entry.solution }));
    } catch (error) {
      say(error.message);
    } finally {
      button.disabled = false;
      stop.hidden = true;
    }
  }

  for (const box of boxes) {
    const name = box.dataset.exercise, editor = part(box, "code"), stub = editor.defaultValue;
    let timer = 0;
    editor.addEventListener("input", () => {
      fit(editor);
      clearTimeout(timer);
      timer = setTimeout(async () => { if ((await answers.keepDraft(name, editor.value)).isRefused) sayRefused(); }, 300);
    });
    editor.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
        event.preventDefault();
        if (!part(box, "check").disabled) check(box);
      }
    });
    part(box, "check").addEventListener("click", () => check(box));
    part(box, "stop").addEventListener("click", () => window.kafkalearn.stop());
    part(box, "reset").addEventListener("click", () => {
      clearTimeout(timer);
      editor.value = stub;
      fit(editor);
      part(box, "result").textContent = "";
      answers.keepDraft(name, null);
    });
    box.querySelectorAll("details.hint").forEach((hint, at) => hint.addEventListener("toggle", () => {
      if (hint.open) note(name, ({ hints }) => ({ hints: Math.max(hints, at + 1) }));
    }));
    box.querySelector("details.solution").addEventListener("toggle", ({ target }) => {
      if (target.open) note(name, (entry) => (isDone(entry) ? {} : { solution: true }));
    });
    part(box, "bar").hidden = false;
    fit(editor);
  }

  answers.read().then((kept) => {
    if (kept.isRefused) sayRefused();
    for (const box of boxes) {
      const draft = kept.drafts[box.dataset.exercise], editor = part(box, "code");
      if (draft !== undefined && editor.value === editor.defaultValue) {
        editor.value = draft;
        fit(editor);
      }
      showEntry(box, entryIn(kept, box.dataset.exercise));
    }
    document.documentElement.dataset.answers = kept.isRefused ? "refused" : "kept";
  });
})();
