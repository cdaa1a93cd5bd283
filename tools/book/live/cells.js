// The code cells and the exercises of a chapter: run one, or all to here; change, reset; and the players of the book.
// The page has its cells as data (#live-cells, made by tools/book/live/alive.py); the place of each has data-cell.

(() => {
  const data = document.getElementById("live-cells");
  if (!data) return;
  const { page, cells: described } = JSON.parse(data.textContent);
  const { mountPlayer, show } = window.kafkalearnOutputs;
  const python = window.kafkalearn;
  const bar = document.getElementById("live-bar"), status = bar.querySelector("[role=status]");
  const resetButton = bar.querySelector("[data-do=reset-page]");
  const cells = [];
  const ran = new Map(); // the cells whose values are there, each with its text, in the order of running
  let lost = []; // the same, of a Python that was ended: run again in the next one
  let opened = null; // the Promise that this page has its values in Python, or none yet
  let queue = Promise.resolve(), running = null;

  const say = (words) => { status.textContent = words; };
  const count = (some) => (some.length === 1 ? "1 cell" : `${some.length} cells`);
  const texts = () => Object.fromEntries(cells.map((each) => [each.id, each.text()]));

  // --- Python, and this page's values in it

  async function open(tell = () => {}) {
    try {
      await python.start((words) => { say(`${words} …`); tell(`${words} …`); });
    } catch (error) {
      say(error.message);
      throw error;
    }
    if (opened) return opened;
    await (opened = python.ask("cells.open", { page, cells: described }));
    for (const [cell, text] of lost.splice(0)) await runOne(cell, text, true);
  }

  addEventListener("kafkalearn:started", () => {
    resetButton.hidden = false;
    say("Python runs in this page.");
  });
  addEventListener("kafkalearn:stopped", () => {
    opened = null;
    lost = [...ran].filter(([cell]) => cell !== running);
    ran.clear();
    resetButton.hidden = true;
    say(`Python was stopped: all values are gone. ${count(lost)} run again when it starts.`);
  });

  // --- running, one after the other

  const enqueue = (job) => (queue = queue.then(job, job));

  async function runOne(cell, source = cell.text(), isAgain = false) {
    await open(cell.say);
    running = cell;
    cell.setBusy(true);
    try {
      const more = { sources: texts(), record: await cell.exercise?.record() };
      const said = await python.ask("cells.run", { page, cell: cell.id, source, ...more });
      ran.delete(cell);
      ran.set(cell, source);
      cell.show(said);
      if (!isAgain) cell.exercise?.note(said);
      return !said.outputs.some((each) => "error" in each);
    } catch (error) {
      if (!error.isStop) cell.say(error.message);
      return false;
    } finally {
      running = null;
      cell.setBusy(false);
    }
  }

  async function runTo(cell) {
    for (const each of cells.slice(0, cells.indexOf(cell) + 1)) {
      if (await runOne(each)) continue;
      if (each !== cell) cell.say("A cell above ended with an error: the cells after it were not run.");
      return;
    }
  }

  function run(cell, job = runOne) {
    enqueue(() => job(cell)).catch(() => {}); // the page has said it
  }

  // An end to a cell that does not end: the worker goes, and with it all values; what had been run is run again.
  async function stop(cell) {
    python.stop();
    const again = count(lost), gone = "Stopped: all values are gone.";
    cell.say(`${gone} Python starts anew, and ${again} run again.`);
    await enqueue(() => open((words) => cell.say(`${gone} ${words}`))).then(
      () => cell.say(`Stopped: all values were gone. Python is new, and ${again} were run again; this one was not.`),
      (error) => cell.say(error.message),
    );
  }

  async function resetPage() {
    cells.forEach((each) => each.reset());
    lost = [];
    if (python.isStarted) await enqueue(() => (opened = python.ask("cells.open", { page, cells: described }))).catch(() => {});
    say("Every cell is as it was in the book, and all values are gone.");
  }

  // --- one cell

  function makeCell({ id, source }) {
    const place = document.querySelector(`[data-cell="${CSS.escape(id)}"]`);
    if (!place) return;
    const part = (name) => place.querySelector(`[data-part=${name}]`), action = (name) => place.querySelector(`[data-do=${name}]`);
    const runButton = action("run"), reset = action("reset"), note = part("note"), fresh = part("result");
    const recorded = place.querySelector(".jp-Cell-outputWrapper"), code = part("code") ?? place.querySelector(".jp-InputArea-editor");
    const isClosed = () => Boolean(fresh.closest(".kl-closed")), { textContent: runWords, title: runTitle } = runButton;
    let text = source, editor = null, making = null, clock = 0;

    const cell = {
      id,
      text: () => text,
      say: (words) => { note.textContent = words; },
      setBusy(isBusy) {
        runButton.textContent = isBusy ? "Stop" : runWords;
        runButton.title = isBusy ? "End Python, and with it all values; what had been run is run again" : runTitle;
        place.classList.toggle("live-busy", isBusy);
        clearInterval(clock);
        const began = Date.now();
        if (isBusy) clock = setInterval(() => cell.say(`running, ${Math.round((Date.now() - began) / 1000)} s`), 1000);
      },
      show({ outputs, needs, above = 0 }) {
        const first = above ? `${count(Array(above))} above ran first: this one needs ${above === 1 ? "it" : "them"}.` : "";
        const lack = needs ? `Needs ${needs}, which a page does not have${recorded ? ": shown as it was recorded" : ""}.` : "";
        cell.say(lack || first);
        if (isClosed()) note.append(Object.assign(document.createElement("span"), { className: "until-predicted", textContent: " Predict first: what this shows is closed until then." }));
        fresh.hidden = Boolean(needs);
        if (recorded) recorded.hidden = !needs;
        show(fresh, outputs, { page, cell: id }, prepare(text));
        reset.hidden = false;
        const player = fresh.querySelector(".kl-player");
        if (player && !isClosed()) requestAnimationFrame(() => globalThis.kafkalearnPredictions.bringIntoView(player));
      },
      put(value) { // another text, in the editor
        text = value;
        if (editor) editor.setValue(value, -1);
        else if (value !== source) write();
      },
      reset() {
        cell.put(source);
        fresh.replaceChildren();
        fresh.hidden = reset.hidden = true;
        if (recorded) recorded.hidden = false;
        ran.delete(cell);
        cell.say("");
        cell.exercise?.reset();
      },
    };

    // The picture's cell and what it stands on are run unseen, so that its controls can be turned.
    const prepare = (shownOf) => async (tell) => {
      await open(tell);
      await python.ask("cells.prepare", { page, cell: id, sources: { ...texts(), [id]: shownOf } });
    };

    async function write() {
      try {
        editor = await (making ??= window.kafkalearnEditor(code, text, code.dataset.label ?? "Code of this cell", () => run(cell)));
      } catch (error) {
        making = null;
        return cell.say(error.message);
      }
      if (action("change").hidden) return editor;
      action("change").hidden = true;
      reset.hidden = false;
      editor.on("change", () => {
        text = editor.getValue();
        reset.hidden = false;
        cell.exercise?.changed(text);
      });
      return editor;
    }
    const edit = async () => (await write())?.focus();

    runButton.addEventListener("click", () => (running === cell ? stop(cell) : run(cell)));
    action("to-here")?.addEventListener("click", () => run(cell, runTo));
    action("change").addEventListener("click", edit);
    reset.addEventListener("click", () => cell.reset());
    code.addEventListener("click", () => { if (!editor && String(getSelection()) === "") edit(); });
    cell.exercise = place.dataset.exercise ? window.kafkalearnExercise(place, cell, source) : null;
    recorded?.querySelectorAll("[data-kl-start]").forEach((host, at) => { // they step at once
      const state = JSON.parse(host.querySelector("script").textContent);
      for (const name of ["_animation", "_controls", "_values"]) state[name] = JSON.stringify(state[name]);
      host.removeAttribute("data-kl-start");
      mountPlayer(host, state, { page, cell: id, at }, prepare(source));
    });
    note.parentNode.hidden = false;
    cells.push(cell);
  }

  described.forEach(makeCell);
  resetButton.addEventListener("click", resetPage);
  bar.hidden = false;
})();
