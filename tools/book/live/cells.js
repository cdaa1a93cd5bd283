// The code cells of a chapter: run one, or all to here; change, reset; players and controls that are in the page already.
// The page has its cells as data (#live-cells, made by tools/book/live/alive.py) and each cell's place has data-cell.
// A cell that has data-exercise belongs to another script.

(() => {
  const data = document.getElementById("live-cells");
  if (!data) return;
  const { page, cells: sources } = JSON.parse(data.textContent);
  const { element, mountPlayer, show } = window.kafkalearnOutputs;
  const python = window.kafkalearn;
  const cells = [];
  const byId = new Map();
  let opened = null; // the Promise that the page's values are there, or none yet
  let last = Promise.resolve(); // runs stand in a queue
  let running = null;
  let lost = []; // the cells whose values went with the last Python: they are run again in the next one

  // --- the bar at the head of the page

  const startButton = button("Start Python", "Lets code and controls of this page run, in this browser. Nothing leaves it.", () => open());
  const resetButton = button("Reset the page", "Every cell as it was in the book, and all values gone", resetPage);
  const status = element("span", { role: "status" });
  status.setAttribute("role", "status");
  resetButton.hidden = true;
  const bar = element("div", { className: "live-bar" }, startButton, resetButton, status);
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Python in this page");
  const navigation = document.querySelectorAll("nav.navigation")[0];
  if (navigation) navigation.after(bar);
  else document.body.prepend(bar);

  function button(words, title, action) {
    const made = element("button", { type: "button", textContent: words, title });
    made.addEventListener("click", action);
    return made;
  }

  function say(words) { status.textContent = words; }

  // --- Python, and this page's values in it

  async function start(onProgress = () => {}) {
    startButton.disabled = true;
    try {
      await python.start((words) => { say(`${words} …`); onProgress(`${words} …`); });
    } catch (error) {
      startButton.disabled = false;
      say(error.message);
      throw error;
    }
  }

  async function open(onProgress) {
    await start(onProgress);
    if (opened) return opened;
    await (opened = python.ask("cells.open", { page, cells: sources }));
    const again = lost;
    lost = [];
    for (const cell of again) await runOne(cell);
  }

  addEventListener("kafkalearn:started", () => {
    startButton.hidden = true;
    resetButton.hidden = false;
    say("Python runs in this page.");
  });
  addEventListener("kafkalearn:stopped", () => {
    opened = null;
    lost = cells.filter((each) => each.hasRun && each !== running);
    cells.forEach((each) => { each.hasRun = false; });
    startButton.hidden = startButton.disabled = false;
    resetButton.hidden = true;
    say(`Python was stopped: all values are gone. ${count(lost)} run again when it starts.`);
  });

  // --- running

  function enqueue(job) {
    last = last.then(() => job(), () => job());
    return last;
  }

  async function runOne(cell) {
    await open((words) => cell.say(words));
    running = cell;
    cell.setBusy(true);
    try {
      const { outputs, needs } = await python.ask("cells.run", { page, cell: cell.id, source: cell.text() });
      cell.hasRun = true;
      cell.showOutputs(outputs, needs);
      return !outputs.some((each) => "error" in each);
    } catch (error) {
      if (!error.isStop) cell.say(error.message);
      return false;
    } finally {
      running = null;
      cell.setBusy(false);
    }
  }

  function run(cell) {
    cell.unfold();
    return enqueue(() => runOne(cell)).catch(() => {});
  }

  function runTo(cell) {
    cell.unfold();
    return enqueue(async () => {
      for (const each of cells.slice(0, cells.indexOf(cell) + 1)) {
        if (await runOne(each)) continue;
        if (each !== cell) cell.say("A cell above ended with an error: the cells after it were not run.");
        return;
      }
    }).catch(() => {});
  }

  // What a recorded picture stands on is run unseen, so that its controls can be turned.
  const prepared = new Map();
  function prepare(cell) {
    return async (tell) => {
      await open(tell);
      if (cell.hasRun) return;
      tell("Running the cells that this picture stands on …");
      if (!prepared.has(cell)) prepared.set(cell, runUnseen(cell).finally(() => prepared.delete(cell)));
      await prepared.get(cell);
    };
  }

  async function runUnseen(cell) {
    const texts = Object.fromEntries(cells.map((each) => [each.id, each.text()]));
    const above = await python.ask("cells.before", { page, cell: cell.id, sources: texts });
    for (const id of [...above, cell.id]) {
      const each = byId.get(id);
      if (each.hasRun) continue;
      const { outputs, needs } = await python.ask("cells.run", { page, cell: id, source: texts[id] });
      const failed = outputs.find((output) => "error" in output);
      if (failed) throw new Error(`A cell above does not run. ${failed.error.words}`);
      if (needs && each === cell) throw new Error(`This picture needs ${needs}, which a page does not have: it stays as it was recorded.`);
      each.hasRun = !needs;
    }
  }

  // An end to a cell that does not end: the worker goes, and with it all values; what had been run is run again.
  async function stop(cell) {
    python.stop();
    const again = count(lost);
    cell.say(`Stopped: all values are gone. Python starts anew, and ${again} run again.`);
    await enqueue(() => open((words) => cell.say(`Stopped: all values are gone, and ${again} run again. ${words}`))).then(
      () => cell.say(`Stopped: all values were gone. Python is new, and ${again} were run again; this one was not.`),
      (error) => cell.say(error.message),
    );
  }

  function count(some) { return some.length === 1 ? "1 cell" : `${some.length} cells`; }

  async function resetPage() {
    cells.forEach((each) => each.reset());
    lost = [];
    if (python.isStarted) await enqueue(() => (opened = python.ask("cells.open", { page, cells: sources }))).catch(() => {});
    say("Every cell is as it was in the book, and all values are gone.");
  }

  // --- one cell

  function makeCell({ id, source }) {
    const place = document.querySelector(`[data-cell="${CSS.escape(id)}"]`);
    if (!place) return;
    const input = place.querySelector(".jp-InputArea-editor") ?? place.querySelector(".highlight");
    const outputPlace = place.querySelector("details.prediction") ?? place.querySelector(".jp-Cell");
    const recorded = place.querySelector(".jp-Cell-outputWrapper");
    const fresh = element("div", { className: "live-output", hidden: true });
    fresh.setAttribute("aria-live", "polite");
    outputPlace.append(fresh);
    const note = element("span", { className: "live-note" });
    note.setAttribute("role", "status");
    let editor = null, clock = 0;

    const runButton = button("Run", "Run this cell (Shift+Enter)", () => (running === cell ? stop(cell) : run(cell)));
    const toHere = button("Run to here", "Run every cell above, then this one", () => runTo(cell));
    const change = button("Change", "Change the code of this cell (or click into it)", edit);
    const reset = button("Reset", "This cell as it was in the book", () => cell.reset());
    reset.hidden = true;
    const tools = element("div", { className: "live-tools" }, runButton, toHere, change, reset, note);

    const cell = {
      id,
      hasRun: false,
      text: () => editor?.getValue() ?? source,
      say: (words) => { note.textContent = words; },
      unfold() { if (outputPlace.localName === "details") outputPlace.open = true; },
      setBusy(isBusy) {
        runButton.textContent = isBusy ? "Stop" : "Run";
        runButton.title = isBusy ? "End Python, and with it all values; what had been run is run again" : "Run this cell (Shift+Enter)";
        place.classList.toggle("live-busy", isBusy);
        clearInterval(clock);
        const began = Date.now();
        if (isBusy) clock = setInterval(() => cell.say(`running, ${Math.round((Date.now() - began) / 1000)} s`), 1000);
      },
      showOutputs(outputs, needs) {
        cell.say(needs ? `Needs ${needs}, which a page does not have: shown as it was recorded.` : "");
        fresh.hidden = Boolean(needs);
        if (recorded) recorded.hidden = !needs;
        show(fresh, needs ? [] : outputs, { page, cell: id }, prepare(cell));
        reset.hidden = false;
      },
      reset() {
        editor?.setValue(source, -1);
        fresh.replaceChildren();
        fresh.hidden = reset.hidden = true;
        if (recorded) recorded.hidden = false;
        cell.hasRun = false;
        cell.say("");
      },
    };

    async function edit() {
      if (!editor) {
        editor = await window.kafkalearnEditor(input, source, { onRun: () => run(cell), onLeave: () => runButton.focus() });
        editor.on("change", () => { reset.hidden = editor.getValue() === source && fresh.hidden; });
        change.hidden = true;
      }
      editor.focus();
    }

    input.addEventListener("click", () => { if (!editor && String(getSelection()) === "") edit(); });
    place.querySelector(".jp-Cell-inputWrapper").after(tools);
    cells.push(cell);
    byId.set(id, cell);
    mountRecorded(recorded, cell);
  }

  // Players that the page has from the book: they step at once, and their controls start Python when they are turned.
  function mountRecorded(recorded, cell) {
    recorded?.querySelectorAll("[data-kl-start]").forEach((host, at) => {
      const state = JSON.parse(host.querySelector("script").textContent);
      for (const name of ["_animation", "_controls", "_values"]) state[name] = JSON.stringify(state[name]);
      host.removeAttribute("data-kl-start");
      mountPlayer(host, state, () => ({ page, cell: cell.id, at }), prepare(cell));
    });
  }

  sources.forEach(makeCell);
})();
