// JupyterLab's side: the marks that kafkalearn/predictions leaves in a copy's metadata are acted upon here.
// A plugin that needs nothing but the application itself: notebooks are met through its document registry.

import { exerciseBar } from "./exercises.js";
import { standIn, staysClean, waitForModules } from "./keeping.js";
import { drawPictures } from "./pictures.js";
import { sayPreparing } from "./preparing.js";
import { resuming } from "./resuming.js";
import { keepStates } from "./states.js";

const { element, form, verdict, fold, bringIntoView } = globalThis.kafkalearnPredictions;
const MARK = "kafkalearn", FILE = "progress.json", WAIT_MS = 2000;
const EMPTY = () => ({ format: "kafkalearn progress", version: 1, name: "", exercises: {}, predictions: {} });

// What a prediction has said has the focus, so that it is read aloud and no key of JupyterLab's deletes its cell; but the keys
// that run a cell or go to another one are for JupyterLab, which asks the element as the key comes. A player's slider has
// the arrow keys for itself.
const goesOn = ({ key, shiftKey, ctrlKey, altKey, metaKey }) =>
  /^Arrow(Up|Down)$/.test(key) || (key === "Enter" && (shiftKey || ctrlKey || altKey || metaKey));
let pressed = ""; // the key that came last: what it leads to comes later than its event
window.addEventListener("pointerdown", () => { pressed = ""; }, true);
window.addEventListener("keydown", (event) => {
  if (!/^(Shift|Control|Alt|Meta)$/.test(event.key)) pressed = event.key;
  const said = goesOn(event) && event.target.closest?.(event.key === "Enter" ? ".kl-said, .kl-player input[data-lm-suppress-shortcuts]" : ".kl-said");
  if (!said) return;
  delete said.dataset.lmSuppressShortcuts;
  setTimeout(() => { said.dataset.lmSuppressShortcuts = "true"; });
}, true);

// --- the file of progress beside the copies, by JupyterLab's own way to files: no kernel is needed

function progressOf(contents, folder) {
  const path = folder ? `${folder}/${FILE}` : FILE;
  let last = Promise.resolve();

  async function read() {
    const listing = await contents.get(folder, { content: true }); // asking for a file that is not there is an error
    if (!listing.content.some((each) => each.name === FILE)) return EMPTY();
    const { content } = await contents.get(path, { type: "file", format: "text", content: true });
    if (!content.trim()) return EMPTY();
    const record = JSON.parse(content);
    if (record.format !== EMPTY().format) throw new Error(`${FILE} is not a progress file`);
    return { ...record, predictions: record.predictions ?? {} };
  }

  const change = (changed) => (last = last.catch(() => {}).then(async () => {
    const record = await read();
    changed(record);
    await contents.save(path, { type: "file", format: "text", content: `${JSON.stringify(record, null, 1)}\n` });
    return record;
  }));
  return { read, change };
}

// --- what all notebooks share

let shared = null;
function theLab(app, { toolbar }) {
  if (shared) return shared;
  let kind = Object.getPrototypeOf(toolbar); // of JupyterLab's own: what all that its toolbars hold is made of
  while (Object.getPrototypeOf(kind) !== Object.prototype) kind = Object.getPrototypeOf(kind);
  const offers = new WeakMap(), execute = app.commands.execute.bind(app.commands);
  const runsOne = /^notebook:run-cell(-and-select-next|-and-insert-below)?$/; // by key, button or menu; "Run All" asks nothing
  app.commands.execute = (id, args) => (runsOne.test(id) && offers.get(app.shell.currentWidget)?.(id) ? Promise.resolve() : execute(id, args));
  return (shared = { Widget: kind.constructor, execute, offers });
}

// --- one notebook

function attend(app, panel, context) {
  const { Widget, execute, offers } = theLab(app, panel);
  const notebook = panel.content, marks = (cell) => cell.model.getMetadata(MARK) ?? {};
  const whole = panel.model?.getMetadata?.(MARK) ?? context.model.getMetadata?.(MARK);
  if (!whole) return; // no copy of a chapter
  const folder = context.path.includes("/") ? context.path.slice(0, context.path.lastIndexOf("/")) : "";
  const progress = progressOf(app.serviceManager.contents, folder);
  const made = {}, forms = new Map(), seen = new WeakSet();

  function close() {
    for (const cell of notebook.widgets) {
      const { after, closed } = marks(cell);
      cell.node.classList.toggle("kl-closed", Boolean(after) && closed === "whole" && !isTold(after));
      cell.node.classList.toggle("kl-closed-outputs", Boolean(after) && closed === "outputs" && !(after in made));
      sayClosed(cell);
    }
    notebook.widgets.forEach(tell);
  }

  // What is so is told below the output of the cell that was asked about, once it has run; words and checks follow it.
  const runFor = (id) => notebook.widgets.find((cell) => marks(cell).verdict === id);
  const hasRun = ({ model }) => model.executionCount !== null && model.executionState !== "running";
  const shownFor = new Set(); // whoever has predicted and does not run it
  function isTold(id) {
    const cell = id in made && !made[id].shown && !shownFor.has(id) && runFor(id);
    return id in made && (!cell || hasRun(cell));
  }
  function tell(cell) {
    const id = marks(cell).verdict;
    if (!id || !made[id] || made[id].shown || !isTold(id) || cell.node.querySelector(".kl-verdict")) return;
    cell.node.append(verdict(forms.get(id).question, made[id]));
    forms.get(id).tell();
  }

  // Who runs a cell whose answer is closed is told so in its place, whoever ran it: it alone, or with all others.
  function sayClosed(cell) {
    const hasRun = cell.model.type === "code" && (cell.model.executionCount !== null || cell.model.executionState === "running");
    const said = cell.node.querySelector(".kl-first");
    if (!cell.node.classList.contains("kl-closed-outputs") || !hasRun) return said?.remove();
    if (said) return;
    const ask = element("button", { type: "button" }, "First your prediction, or “Show me”: what this cell says is closed until then.");
    ask.dataset.lmSuppressShortcuts = "true";
    ask.addEventListener("click", () => {
      notebook.activeCellIndex = askedOf(cell);
      askFirst(notebook.activeCell);
    });
    cell.node.append(element("div", { className: "kl-first" }, ask));
  }
  const askedOf = (cell) => notebook.widgets.findIndex((each) => marks(each).predict?.id === marks(cell).after);

  function decorate(cell) {
    if (seen.has(cell)) return;
    seen.add(cell);
    const { predict, fold: line, exercise } = marks(cell);
    if (exercise) {
      cell.node.append(exerciseBar(cell, exercise, panel, () => {
        notebook.activeCellIndex = notebook.widgets.indexOf(cell);
        return execute("notebook:run-cell");
      }));
    }
    if (predict) {
      const above = notebook.widgets.slice(0, notebook.widgets.indexOf(cell)).reverse();
      const drawn = ".jp-OutputArea :is(.kl-stage svg, .jp-RenderedSVG svg, .jp-RenderedHTMLCommon > svg)";
      const picture = () => above.map((each) => each.node.querySelector(drawn)).find(Boolean); // it may come later
      const see = () => {
        shownFor.add(predict.id);
        close();
      };
      const next = runFor(predict.id) && { words: "Now run the cell.", button: "Show me", see };
      const place = form(predict, { made: made[predict.id], picture, next, keep: (result) => keep(predict.id, result) });
      forms.set(predict.id, Object.assign(place, { question: predict }));
      cell.node.append(place);
    }
    if (line) {
      cell.node.classList.add("kl-folded");
      const button = fold(line, (isOpen) => cell.node.classList.toggle("kl-folded", !isOpen));
      cell.ready.then(() => cell.node.querySelector(".jp-Cell-inputWrapper .jp-InputArea")?.append(button));
    }
    if (cell.model.type === "code") watchWait(cell);
  }

  async function keep(id, result) {
    made[id] = result;
    close();
    try {
      show(await progress.change((record) => { record.predictions[id] ??= result; }));
    } catch (error) {
      forms.get(id)?.append(element("p", { className: "kl-note" }, `This prediction is not kept: ${error.message}`));
    }
  }

  function all() {
    notebook.widgets.forEach(decorate);
    close();
  }

  // --- how far one is, what is next, and handing in

  const bar = element("div", { className: "kl-progress" }), said = element("span");
  said.setAttribute("role", "status");
  const next = element("button", { type: "button", hidden: true });
  const handIn = element("button", { type: "button", title: "Saves your progress as a file, with your name in it" }, "Hand in …");
  bar.append(said, next, handIn);
  next.addEventListener("click", () => app.commands.execute("docmanager:open", { path: next.dataset.path }));
  handIn.addEventListener("click", async () => {
    const record = await progress.read();
    const name = prompt("Your name, as it is to stand in the table of the class:", record.name);
    if (!name?.trim()) return;
    const named = await progress.change((each) => { each.name = name.trim().slice(0, 200); });
    const link = element("a", { href: URL.createObjectURL(new Blob([`${JSON.stringify(named, null, 1)}\n`], { type: "application/json" })) });
    link.download = `report-${name.trim().replace(/[^\p{L}\p{N}]+/gu, "-")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    said.textContent = `${link.download} is saved: hand it in.`;
  });

  function show(record) {
    const isDone = (name) => ["right", "open"].includes(record.exercises?.[name]?.outcome);
    const mine = whole.course?.[whole.chapter] ?? [], stems = Object.keys(whole.course ?? {});
    const asks = notebook.widgets.map((cell) => marks(cell).predict?.id).filter(Boolean);
    const count = asks.filter((id) => id in record.predictions).length;
    said.textContent = `${mine.filter(isDone).length} of ${mine.length} exercises, ${count} of ${asks.length} predictions`;
    const after = stems.slice(stems.indexOf(whole.chapter) + 1).find((stem) => !whole.course[stem].every(isDone));
    next.hidden = !after;
    if (!after) return;
    next.textContent = `chapter ${after.split("_")[0]} next`;
    next.dataset.path = `${folder ? `${folder}/` : ""}${after}.ipynb`;
  }
  const refresh = () => progress.read().then(show, (error) => { said.textContent = error.message; });

  // --- running: what a cell shows comes into view, a wait has a bar; one that only stands in the queue says so

  const resume = resuming(panel, execute, Widget);
  offers.set(panel, (id) => {
    const cell = notebook.activeCell;
    if (cell && cell === waitedFor && !hasRun(cell)) return true; // it runs already; the reader goes on once it has
    if (resume.offer(id)) return true;
    if (cell?.node.classList.contains("kl-closed-outputs")) setTimeout(() => askFirst(notebook.widgets[askedOf(cell)]));
    return false;
  });
  const begins = new Map(); // for each cell under way, what is to be done as the kernel begins it
  panel.sessionContext.iopubMessage.connect((_, message) => {
    if (message.header.msg_type !== "execute_input") return;
    const cell = notebook.widgets.find((each) => each.outputArea?.future?.msg.header.msg_id === message.parent_header.msg_id);
    if (!cell) return;
    begins.get(cell)?.();
    resume.begun(cell);
  });

  const ran = new WeakSet(); // cells whose player is still to come: on a slow machine it is drawn after its kernel idles
  function watchWait(cell) {
    let bar = null, clock = 0, began = 0, isQueued = false;
    const end = () => { clearInterval(clock); clock = 0; bar?.remove(); bar = null; begins.delete(cell); };
    const tick = () => {
      if (cell.isDisposed || Date.now() - began < WAIT_MS) return;
      if (!bar) {
        const line = element("progress"), words = element("span");
        line.setAttribute("aria-label", "This cell runs");
        cell.node.append(bar = element("div", { className: "kl-wait" }, line, words));
      }
      bar.firstChild.hidden = isQueued;
      bar.lastChild.textContent = isQueued ? "queued" : `runs, ${Math.round((Date.now() - began) / 1000)} s`;
    };
    const begin = () => { began = Date.now(); isQueued = false; if (bar) { bar.remove(); bar = null; } };
    cell.model.stateChanged.connect((_, { name }) => {
      if (name !== "executionState") return;
      sayClosed(cell);
      if (marks(cell).verdict in made && hasRun(cell)) {
        close();
        goOnBehind(cell);
      }
      resume.update();
      if (cell.model.executionState !== "running") {
        const answer = cell.node.querySelector(".jp-Cell-outputWrapper");
        if (clock && !answer?.querySelector(".kl-player") && isWhereOneIs(cell)) settleInView(answer);
        return end();
      }
      ran.add(cell);
      if (clock) return;
      began = Date.now();
      isQueued = true;
      begins.set(cell, begin);
      clock = setInterval(tick, 250);
    });
  }

  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) {
      const host = node.nodeType === 1 && node.closest(".jp-CodeCell"); // what is added is a part of it: it is named later
      const player = host && host.querySelector(".jp-OutputArea .kl-stage svg")?.closest(".kl-player");
      if (!player) continue;
      const cell = notebook.widgets.find((each) => each.node === host);
      if (!ran.delete(cell)) continue; // drawn anew by a slider, or as the page opened
      if (isWhereOneIs(cell)) settleInView(player);
    }
  }).observe(notebook.node, { childList: true, subtree: true });
  let quiet = 0;
  panel.sessionContext.statusChanged.connect((_, status) => {
    clearTimeout(quiet);
    if (status !== "busy") quiet = setTimeout(refresh, 1500); // an exercise that was checked has been written by then
  });
  const view = () => notebook.node.querySelector(".jp-WindowedPanel-outer") ?? notebook.node;
  const isWhereOneIs = (cell) => [0, 1].includes(notebook.activeCellIndex - notebook.widgets.indexOf(cell));
  const settleInView = (shown) => { // in steps: a picture grows
    for (const wait of [0, 150, 500]) setTimeout(() => shown.checkVisibility() && bringIntoView(shown, view()), wait);
  };

  // --- going on: a closed cell is nowhere to be, for JupyterLab would scroll to the top of the chapter to show it. Who runs
  // on is asked for the prediction; arrow keys pass by. After words, what comes next is in view, whole or from its top.

  const key = `kafkalearn.at.${context.path}`, stopped = localStorage.getItem(key), first = notebook.activeCellIndex;
  const isClosed = (cell) => cell.node.classList.contains("kl-closed");
  let left = notebook.activeCell;
  notebook.activeCellChanged.connect((_, cell) => {
    if (!cell || resume.isMoving) return;
    const cells = notebook.widgets, at = cells.indexOf(cell), from = left;
    if (isClosed(cell)) {
      const isRead = /^(Arrow|j$|k$)/.test(pressed);
      const asked = askedOf(cell), run = marks(cell).after in made && runFor(marks(cell).after);
      if (run && !isRead && cells.indexOf(from) <= at) { // its question has a prediction: what is closed opens when that cell has run
        waitedFor = run;
        notebook.activeCellIndex = cells.indexOf(run);
        return;
      }
      const isBack = cells.indexOf(from) > at, onward = isBack ? cells.slice(0, at).reverse() : cells.slice(at);
      const open = isRead ? cells.indexOf(onward.find((each) => !isClosed(each)) ?? from) : asked;
      if (open < 0) return;
      notebook.activeCellIndex = open;
      if (!isRead) setTimeout(() => askFirst(cells[open]));
      return;
    }
    left = cell;
    localStorage.setItem(key, cell.model.id);
    const wasRead = from?.model.type === "markdown" || from?.node.classList.contains("kl-folded");
    if (wasRead && pressed === "Enter") setTimeout(() => bringIntoView(cell.node, view()));
  });
  let waitedFor = null;
  function goOnBehind(cell) {
    const isHere = cell === waitedFor && notebook.activeCell === cell;
    if (cell === waitedFor) waitedFor = null;
    if (isHere) notebook.activeCellIndex = notebook.widgets.indexOf(cell) + 1;
  }
  function askFirst(cell) {
    const place = cell && forms.get(marks(cell).predict.id);
    const how = place?.querySelector(".kl-how");
    if (!how) return;
    how.setAttribute("role", "status");
    how.textContent = "First your prediction, or “Show me”: what comes next is closed until then.";
    bringIntoView(place, view());
  }

  // --- where one stopped

  function goOn() {
    const at = notebook.widgets.findIndex((cell) => cell.model.id === stopped);
    if (at <= 0 || notebook.activeCellIndex !== first) return; // nothing is known, or the reader is elsewhere already
    notebook.activeCellIndex = at; // or its question, if it is closed
    const cell = notebook.activeCell;
    let end = Infinity, isElsewhere = false, stood = NaN;
    const leave = () => { isElsewhere = true; };
    for (const kind of ["wheel", "pointerdown", "keydown"]) panel.node.addEventListener(kind, leave, { once: true, passive: true });
    (function come() { // a chapter's cells come one after the other, and what lies above grows as it is drawn
      if (isElsewhere || panel.isDisposed || Date.now() > end) return;
      if (!panel.isVisible) return setTimeout(come, 200); // a tab behind another has no places: it comes once it is shown
      end = Math.min(end, Date.now() + 30_000);
      const { top, height } = cell.node.getBoundingClientRect(), seen = view().getBoundingClientRect();
      if (height && top === stood && top >= seen.top - 1 && top < seen.bottom) return;
      stood = top;
      notebook.scrollToItem(notebook.activeCellIndex, "start").catch(() => {}).then(() => setTimeout(come, 200));
    })();
  }

  panel.toolbar.insertItem(100, "kafkalearn", new Widget({ node: bar }));
  all(); // closed at once, before the file is read
  notebook.model.cells.changed.connect(() => requestAnimationFrame(all));
  progress.read().then((record) => {
    for (const [id, result] of Object.entries(record.predictions)) {
      if (id in made) continue;
      made[id] = result;
      forms.get(id)?.settle(result);
    }
    close();
    show(record);
  }, (error) => { said.textContent = error.message; }).then(goOn);
}

export default {
  id: "kafkalearn-lab:plugin",
  autoStart: true,
  activate(app) {
    for (const sheet of ["face.css", "predictions.css"]) {
      document.head.append(element("link", { rel: "stylesheet", href: new URL(sheet, import.meta.url).href }));
    }
    sayPreparing(app, element);
    waitForModules();
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew(panel, context) {
        keepStates(context);
        staysClean(context);
        standIn(panel.content.rendermime, context.sessionContext);
        drawPictures(panel.content.node);
        Promise.all([context.ready, panel.revealed]).then(() => attend(app, panel, context));
        return { isDisposed: false, dispose() { this.isDisposed = true; } };
      },
    });
  },
};
